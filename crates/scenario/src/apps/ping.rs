//! Small datagrams that the receiver sends back: RFC 792 and RFC 862.

use super::datagrams::{DATAGRAM_SIZES, is_datagram};
use super::{INTERVAL, bytes};
use sojourn_params::{Described, EntryParams, Page, SizeDraw, choice, params};
use sojourn_units::Span;

choice! {
    /// Protocol of pings.
    pub enum Echo {
        /// The receiver's kernel answers.
        Icmp = "icmp",
        /// Its application does.
        Udp = "udp",
    }
}

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
        /// protocol in live runs: echo requests that the receiver's kernel answers, or UDP datagrams that its application
        /// returns; sizes are the same
        protocol: Echo = Echo::Icmp, "as ping", "ping(8)";
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
        source: "RFC 792, RFC 862",
        fields: <Ping as Described>::fields,
    };
}
