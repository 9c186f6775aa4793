//! The realtime response under load: D. Taht's test of flent (T. Hoiland-Jorgensen, C. A. Grazia, P. Hurtig,
//! A. Brunstrom, "Flent: The Flexible Network Tester", ValueTools 2017).

use super::{App, Bulk, Echo, Ping};
use crate::ranges::RATES;
use sojourn_params::{Described, EntryParams, Page, params};
use sojourn_units::LinkRate;

params! {
    /// Parameters of the realtime response under load.
    pub struct Rrul {
        /// read rate of the application at each receiver of its bulk flows, payload; the window closes where it is slow
        reads: Option<LinkRate> = None, within RATES, "all data at once: the network alone limits the flows";
    }
}

impl Rrul {
    /// Bulk flows each way, unless their number is given.
    pub const FLOWS: u32 = 4;
    /// Suffix of the name of the class in the other direction.
    pub const DOWN: &str = "down";

    /// The classes that it expands into: the suffixes of their names, and their applications.
    pub fn parts(&self) -> [(&'static str, App); 6] {
        let bulk = || App::Bulk(Bulk { reads: self.reads });
        let ping = |protocol| App::Ping(Ping { protocol, ..Ping::default() });
        [
            ("up", bulk()),
            (Rrul::DOWN, bulk()),
            ("ping", ping(Echo::Icmp)),
            ("ping-be", ping(Echo::Udp)),
            ("ping-bk", ping(Echo::Udp)),
            ("ping-ef", ping(Echo::Udp)),
        ]
    }
}

impl EntryParams for Rrul {
    const PAGE: Page = Page {
        stem: "rrul",
        summary: "the realtime response under load: bulk flows both ways, and pings between them",
        idea: "Expands into several classes: NAME-up, `count` bulk flows (4 by default) along the route of the class; \
        NAME-down, as many in the other direction; NAME-ping and NAME-ping-be, NAME-ping-bk, NAME-ping-ef, a ping \
        each 200 ms, of ICMP and of UDP. In Flent those of UDP have the code points best effort, background and \
        expedited forwarding. Here all classes have the code point of the group (`dscp`), best effort by default: \
        the pings differ in name alone, and live in protocol.",
        equation: "",
        source: "D. Taht, the RRUL test of flent (T. Hoiland-Jorgensen et al., Flent: The Flexible Network Tester, ValueTools 2017)",
        fields: <Rrul as Described>::fields,
    };
}
