//! The classes that app = "rrul" expands into.

use super::names::ClassName;
use crate::apps::{App, Rrul};
use crate::scenario::Flows;
use crate::tables::DEFAULT_CONTROL;
use sojourn_tcp::cc::Choice;
use sojourn_tcp::{PROFILES, Profile};
use sojourn_units::Bytes;

/// Bulk flows both ways, and pings between them; a class of another application alone.
pub(super) fn expanded(base: Flows) -> Vec<Flows> {
    let App::Rrul(rrul) = &base.app else { return vec![base] };
    let class_name = ClassName { name: base.name.clone(), stream: base.stream.clone() };
    let parts = rrul.parts().into_iter().map(|(part, app)| {
        let ClassName { name, stream } = class_name.part(part);
        let class = Flows { name, stream, ..base.clone() };
        if !app.is_tcp() {
            // Settings of TCP do not apply to pings.
            let (cc, profile, segment) = (
                Choice::from(DEFAULT_CONTROL),
                Profile::default(),
                Bytes::new(app.packet(base.segment) as u64),
            );
            return Flows {
                count: 1,
                cc,
                profile_name: PROFILES[0],
                profile,
                segment,
                reads: None,
                app,
                ..class
            };
        }
        if part == Rrul::DOWN {
            return Flows { route: base.back.clone(), back: base.route.clone(), app, ..class };
        }
        Flows { app, ..class }
    });
    parts.collect()
}
