//! Small datagrams that the receiver sends back: RFC 862.

use super::datagrams::{DATAGRAM_SIZES, is_datagram};
use super::{INTERVAL, bytes};
use sojourn_params::{Described, EntryParams, Page, SizeDraw, params};
use sojourn_units::Span;

params! {
    /// Parameters of pings.
    pub struct Ping {
        /// size of a datagram, headers (28 B) included, or a distribution; draws are clamped to 28 B and 65535 B
        size: SizeDraw = bytes(84.0), where DATAGRAM_SIZES if is_datagram,
            "56 B of data, as of ping, and the headers", "ping(8)";
        /// time from one datagram to the next
        every: Span = Span::from_millis(200), within INTERVAL,
            "as of the RRUL test of flent",
            "T. Hoiland-Jorgensen et al., Flent: The Flexible Network Tester, ValueTools 2017";
    }
}

impl EntryParams for Ping {
    const PAGE: Page = Page {
        stem: "ping",
        summary: "a small datagram at intervals, which the receiver sends back: the round-trip time of the path",
        idea: "The receiver returns each datagram at once, of the same size; the sender measures the time from one to the \
        other, which is the class's round-trip time. Datagrams that do not return are lost and measure nothing. The default, \
        84 B each 200 ms, is too little to affect the measurement.",
        equation: "",
        source: "RFC 862",
        fields: <Ping as Described>::fields,
    };
}
