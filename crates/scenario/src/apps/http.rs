//! A request over a new connection, or over the first free one of its class, and its answer: RFC 9110, section 3.3.

use super::{REQUEST, VOLUMES, is_volume};
use sojourn_params::{Described, EntryParams, Page, SizeDraw, params};
use sojourn_units::Bytes;

params! {
    /// Parameters of a request.
    pub struct Http {
        /// payload of the answer, or a distribution of it, in bytes or in full packets
        size: SizeDraw, where VOLUMES if is_volume;
        /// size of the request as an IP packet
        request: Bytes = Bytes::new(400), within REQUEST,
            "350 B as in the traffic model of 3GPP, with headers in round numbers",
            "The ns-3 Model Library, 3GPP HTTP applications";
        /// a request goes over the first connection of its class that is free: its own, once that is established, or one whose
        /// answer has arrived
        late_binding: bool = false, "a connection for each request",
            "Go, net/http, Transport; Chromium, Connection Management";
    }
}

impl EntryParams for Http {
    const PAGE: Page = Page {
        stem: "http",
        summary: "one request over a new TCP connection, and its answer; then the user leaves",
        idea: "The receiver opens a connection and sends a request, the sender answers with `size` and closes. The flow \
        completion time is from the receiver's SYN until its application has the whole answer: a round trip for the handshake, \
        another one from the request to the first byte, and the rounds of slow start. As of the other applications that \
        request, the request is a datagram of `request` bytes on the way back, repeated after 1 s, 2 s more, 4 s more and so \
        on while it is unanswered; it replaces the first half of the handshake, the sender's SYN and its answer the second half \
        and the request, so that the answer begins after as many round trips. With `arrivals` users arrive during the \
        run, each with a size of its own. With `late_binding` a request opens a connection and waits for it or for one that another request \
        of the class has finished with, whichever comes first, so that it may find a large window. A connection that nobody waits for \
        closes after its answer, and what opens it or closes it is a datagram of `request` bytes, too. A request ends with the stay \
        of its own user, though its answer is sent to the end; where the user whose connection carries it leaves sooner, it waits \
        again, before all others. As in Go, a new connection serves the request that has opened it, if that still waits, and two are \
        idle at most.",
        equation: "FCT = 2 RTT + the time of all rounds but the last, on an idle path",
        source: "RFC 9110, section 3.3; RFC 9112, section 9.3; RFC 9293, section 3.5",
        fields: <Http as Described>::fields,
    };
}
