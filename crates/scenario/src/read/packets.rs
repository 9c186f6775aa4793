//! Packet sizes of groups of flows.

use crate::tables::Group;
use sojourn_units::Bytes;

/// Mean packet size of the greediest flows, bytes, as in `Scenario::context`.
pub(super) fn mean_packet(groups: &[Group]) -> f64 {
    let greed = |group: &Group| (group.app.is_tcp(), group.app.is_greedy() && group.arrivals.is_none());
    let greediest = groups.iter().map(greed).max();
    let (mut flows, mut bytes) = (0.0, 0.0);
    for group in groups.iter().filter(|group| Some(greed(group)) == greediest) {
        let count = f64::from(group.count.unwrap_or(1));
        flows += count;
        bytes += count * packet_of(group);
    }
    bytes / flows
}

/// The mean packet of a group of flows on the wire, bytes.
pub(super) fn packet_of(group: &Group) -> f64 {
    group.app.packet(segment_of(group))
}

/// Segments of a group.
pub(super) fn segment_of(group: &Group) -> Bytes {
    group.segment.unwrap_or(SEGMENT)
}

/// The MTU of Ethernet (IEEE 802.3).
const SEGMENT: Bytes = Bytes::new(1500);
