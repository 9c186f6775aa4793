//! Datagrams at random times: L. Kleinrock, "Queueing Systems I", 1975, section 2.4.

use super::datagrams::{DATAGRAM_SIZES, is_datagram};
use crate::ranges::RATES;
use sojourn_params::{Described, EntryParams, Page, SizeDraw, params};
use sojourn_units::LinkRate;

params! {
    /// Parameters of a Poisson process.
    pub struct Poisson {
        /// mean rate of each flow, in whole IP packets
        rate: LinkRate, within RATES, where "at most the access link's rate";
        /// size of a datagram, headers (28 B) included, or a distribution; draws are clamped to 28 B and 65535 B
        size: Option<SizeDraw> = None, where DATAGRAM_SIZES if |size| size.as_ref().is_none_or(is_datagram),
            "the class's segment";
    }
}

impl EntryParams for Poisson {
    const PAGE: Page = Page {
        stem: "poisson",
        summary: "UDP datagrams at random times; does not respond to congestion",
        idea: "Gaps are independent and exponential, so arrivals look the same at every moment: the traffic of queueing \
               theory. `rate` is the mean, of whole IP packets; `segment` is their size, headers (28 B) included, or \
               `size` a distribution of sizes, which makes any M/G/1 queue. With `ecn` they are ECN-capable, and marks \
               change nothing.",
        equation: "P(gap > t) = exp(-t / m),   m = 8 segment / rate",
        source: "L. Kleinrock, Queueing Systems I, 1975, section 2.4",
        fields: <Poisson as Described>::fields,
    };
}
