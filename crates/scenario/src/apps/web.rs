//! Web pages of many objects over several TCP connections: RFC 7928, section 7.2.

use super::{REQUEST, VOLUMES, bytes, is_volume};
use sojourn_params::{Described, EntryParams, Page, SizeDraw, TimeDraw, params};
use sojourn_random::Draw;
use sojourn_units::Bytes;

params! {
    /// Parameters of web users.
    pub struct Web {
        /// objects of a page
        objects: u32 = 50, in 1 to 10000, "the least of a page in the tests of AQM", "RFC 7928, section 7.2";
        /// payload of an object, or a distribution of it, in bytes or in full packets
        size: SizeDraw = bytes(10_000.0), where VOLUMES if is_volume,
            "ten times the least in the tests of AQM, so that an object takes several packets", "RFC 7928, section 7.2";
        /// concurrent connections that fetch them, new ones for each page
        connections: u32 = 6, in 1 to 64, "as in the tests of AQM, and in browsers", "RFC 7928, section 7.2";
        /// pause from the end of one page to the start of the next, or a distribution of it
        idle: TimeDraw = TimeDraw::of_seconds(Draw::constant(0.0).expect("a time is finite")),
            "the load follows from `count`";
        /// size of a request as an IP packet
        request: Bytes = Bytes::new(400), within REQUEST,
            "350 B as in the traffic model of 3GPP, with headers in round numbers",
            "The ns-3 Model Library, 3GPP HTTP applications";
    }
}

impl EntryParams for Web {
    const PAGE: Page = Page {
        stem: "web",
        summary: "pages of many objects over several TCP connections, one page after the other",
        idea: "The receiver sends requests, the sender answers: `connections` at a time, new ones for each page, fetch its \
        `objects` of `size`, each requesting the next one when the last has arrived. The next page begins `idle` after the \
        last object of all. The flow completion time is the page's, from its first request. A request is a datagram of \
        `request` bytes on the way back, repeated after 1 s, 2 s more, 4 s more and so on while it is unanswered; the \
        first over a connection replaces the first half of the handshake, so that an object takes as many round \
        trips as by HTTP. `count` is the number of users.",
        equation: "",
        source: "RFC 7928, section 7.2: at least 50 objects of at least 1 KB, six connections, initial window 10",
        fields: <Web as Described>::fields,
    };
}
