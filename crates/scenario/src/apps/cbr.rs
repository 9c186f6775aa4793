//! Datagrams in even steps: RFC 8085, section 3.1.

use super::datagrams::{DATAGRAM_SIZES, is_datagram};
use crate::ranges::RATES;
use sojourn_params::{Described, EntryParams, Page, SizeDraw, params};
use sojourn_units::LinkRate;

params! {
    /// Parameters of a constant bit rate.
    pub struct Cbr {
        /// rate of each flow, in whole IP packets
        rate: LinkRate, within RATES, where "at most the access link's rate";
        /// size of a datagram, headers (28 B) included, or a distribution; draws are clamped to 28 B and 65535 B
        size: Option<SizeDraw> = None, where DATAGRAM_SIZES if |size| size.as_ref().is_none_or(is_datagram),
            "the class's segment";
    }
}

impl EntryParams for Cbr {
    const PAGE: Page = Page {
        stem: "cbr",
        summary: "UDP datagrams in even steps; does not respond to congestion",
        idea: "A constant bit rate, as of a video or voice stream without adaptation. The first datagram leaves at the \
               flow's start. `rate` counts whole IP packets, `segment` is their size, headers (28 B) included, or `size` \
               a distribution of sizes; the steps stay even, and `rate` is then the mean. With `ecn` they are \
               ECN-capable, and marks change nothing.",
        equation: "gap = 8 segment / rate",
        source: "RFC 8085, section 3.1: traffic that does not respond",
        fields: <Cbr as Described>::fields,
    };
}
