//! The responsiveness test: C. Paasch, R. Meyer, S. Cheshire, W. Hawkins, "Responsiveness under Working Conditions",
//! draft-ietf-ippm-responsiveness-09.

use super::{INTERVAL, REQUEST};
use sojourn_params::{Described, EntryParams, Page, params};
use sojourn_units::{Bytes, Span};

params! {
    /// Parameters of a responsiveness test.
    pub struct Rpm {
        /// load-generating connections at most; 0: the load is that of other classes, and there are no self probes
        connections: u32 = 16, in 0 to 64, "the default of the draft", "section 5.2, MNP";
        /// load-generating connections at the start
        initial: u32 = 1, in 1 to 64, "the default of the draft", "section 5.2, INP";
        /// load-generating connections that each interval adds
        increase: u32 = 1, in 1 to 64, "the default of the draft", "section 5.2, INC";
        /// time after which further load-generating connections open
        interval: Span = Span::from_secs(5), within INTERVAL, "the default of the draft", "section 5.2, ID";
        /// time from one pair of probes, a foreign and a self probe, to the next
        every: Span = Span::from_millis(100), within INTERVAL,
            "a pair has 6000 B at most: 5 % of a path of 10 Mbit/s, as PTC limits it; MPS allows one each 10 ms", "section 5.3";
        /// foreign probes under way at most; where all are, a probe is left out
        foreign: u32 = 32, in 1 to 1000, "three seconds of probes";
        /// foreign probes have a TLS handshake
        tls: bool = true, "preferred: typical traffic has one", "section 5.1.4";
        /// size of a request as an IP packet
        request: Bytes = Bytes::new(400), within REQUEST, "as of http and web";
    }
}

impl Rpm {
    /// Number of connections: load-generating ones, and those of foreign probes.
    pub fn slots(&self) -> u32 {
        self.connections + self.foreign
    }
}

impl EntryParams for Rpm {
    const PAGE: Page = Page {
        stem: "rpm",
        summary: "the responsiveness test: load-generating connections, and probes beside and within them",
        idea: "The receiver is the client of draft-ietf-ippm-responsiveness-09, the sender the server, the load a download. \
        Load-generating connections carry data without end: `initial` of them at the start, and `increase` more after each \
        `interval`, up to `connections`. Each `every` there is a foreign probe, over a new connection of its own: the \
        handshake (`tcp_f`), a flight of 3000 B in answer to a TLS hello (`tls_f`), and an answer of 100 B to a request \
        (`http_f`); and half of `every` later a self probe (`http_l`), a request over one of the load-generating connections \
        without a self probe, at random, whose answer of 100 B comes after all data that the server had sent over it before. \
        All times are the client's. The responsiveness of a run is that of all probes answered after the warm-up, which \
        stands for the phase in which the test waits for a stable goodput; in windows of time it is that of their probes. \
        A request is a datagram of `request` bytes on the way back (the first of a handshake: 60 B), repeated after 1 s, \
        2 s more, 4 s more and so on while it is unanswered. The differences from the draft: docs/deviations/rpm.md.",
        equation: "responsiveness = (60 s / mean(TM(tcp_f), TM(tls_f), TM(http_f)) + 60 s / TM(http_l)) / 2, where TM is the \
        mean without the longest 5 %; without TLS, TM(tls_f) is left out",
        source: "draft-ietf-ippm-responsiveness-09, sections 5.1 to 5.4",
        fields: <Rpm as Described>::fields,
    };
}
