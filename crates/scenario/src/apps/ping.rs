//! Small datagrams that the receiver sends back: RFC 862.

use super::datagrams::is_datagram;
use super::{bytes, is_interval};
use sojourn_params::{Described, Page, SizeDraw, params};
use sojourn_units::Span;

params! {
    /// Parameters of pings.
    pub struct Ping {
        /// size of a datagram, headers (28 B) included, or a distribution; draws are clamped to 28 B and 65535 B
        size: SizeDraw = bytes(84.0), "28 B to 65535 B on average, not in packets" if is_datagram,
            "56 B of data, as of ping, and the headers", "ping(8)";
        /// time from one datagram to the next
        every: Span = Span::from_millis(200), "1 us to 1 h" if |time| is_interval(*time), "as of the RRUL test of flent",
            "T. Hoiland-Jorgensen et al., Flent: The Flexible Network Tester, ValueTools 2017";
    }
}

pub(super) const PAGE: Page = Page {
    stem: "ping",
    summary: "a small datagram at intervals, which the receiver sends back: the round-trip time of the path",
    idea: "The receiver returns each datagram at once, of the same size; the sender measures the time from one to the \
    other, which is the class's round-trip time. Datagrams that do not return are lost and measure nothing. The default, \
    84 B each 200 ms, is too little to affect the measurement.",
    equation: "",
    source: "RFC 862",
    fields: <Ping as Described>::fields,
};
