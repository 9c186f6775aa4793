//! A game over TCP: a request at each tick and an answer. Its packets are small and periodic, as those of games are: W.
//! Feng, F. Chang, W. Feng, J. Walpole, "Provisioning On-line Games: A Traffic Analysis of a Busy Counter-Strike Server",
//! IMW 2002.

use super::{INTERVAL, REQUEST, VOLUMES, bytes, is_volume};
use sojourn_params::{Described, EntryParams, Page, SizeDraw, params};
use sojourn_units::{Bytes, Span};

params! {
    /// Parameters of games.
    pub struct Game {
        /// time from tick to tick
        every: Span = Span::from_millis(50), within INTERVAL,
            "periodic and frequent, as the packets of games are: twenty a second", "W. Feng et al., IMW 2002";
        /// payload of an answer, or a distribution of it, in bytes or in full packets
        size: SizeDraw = bytes(200.0), where VOLUMES if is_volume,
            "small, as the packets of games are: one segment", "W. Feng et al., IMW 2002";
        /// size of a request as an IP packet
        request: Bytes = Bytes::new(100), within REQUEST,
            "small, as the packets of games are: 72 B, and 28 B of headers", "W. Feng et al., IMW 2002";
    }
}

impl EntryParams for Game {
    const PAGE: Page = Page {
        stem: "game",
        summary: "a request at each tick and an answer, over one TCP connection",
        idea: "At each tick the receiver sends a request of `request` bytes, and the sender answers with `size`. Where the \
        last answer is still missing at a tick, that tick has no request. The flow completion time is that from \
        request to answer: the lag of players.",
        equation: "",
        source: "RFC 7928, section 2.6: latency of applications",
        fields: <Game as Described>::fields,
    };
}
