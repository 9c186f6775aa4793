//! Packet sizes of groups of flows.

use super::reader::Section;
use crate::app::App;
use crate::keys::AppName;
use crate::udp::{PING_PACKET, VOICE_PACKET, mean_size};
use sojourn_params::SizeDraw;
use sojourn_units::Bytes;

/// Mean packet size of the greediest flows, bytes, as in `Scenario::context`.
pub(super) fn mean_packet(groups: &[Section<'_>]) -> Option<f64> {
    let greed = |group: &Section<'_>| {
        let app = group.get::<AppName>("app").map_or("", |AppName(app)| app);
        (App::is_tcp_named(app), App::is_greedy_named(app) && !group.given("arrivals"))
    };
    let greediest = groups.iter().map(greed).max();
    let (mut flows, mut bytes) = (0.0, 0.0);
    for group in groups.iter().filter(|group| Some(greed(group)) == greediest) {
        let count = group.get::<u64>("count")? as f64;
        flows += count;
        bytes += count * packet_of(group)?;
    }
    (flows > 0.0).then(|| bytes / flows)
}

/// The mean packet of a group of flows on the wire, bytes.
pub(super) fn packet_of(group: &Section<'_>) -> Option<f64> {
    let AppName(name) = group.get("app")?;
    // The size of an application over TCP is that of its transfers.
    if group.given("size") && !App::is_tcp_named(name) && App::has_key(name, "size") {
        return group.get::<SizeDraw>("size").map(|size| mean_size(&size));
    }
    match name {
        "voip" => Some(VOICE_PACKET),
        "ping" => Some(PING_PACKET),
        _ => group.get::<Bytes>("segment").map(|size| size.get() as f64),
    }
}
