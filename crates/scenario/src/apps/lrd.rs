//! Datagrams of many on/off sources, long-range dependent: W. Willinger, M. S. Taqqu, R. Sherman, D. V. Wilson,
//! "Self-Similarity Through High-Variability", IEEE/ACM Transactions on Networking 5, 1997.

use super::datagrams::{DATAGRAM_SIZES, is_datagram};
use crate::ranges::RATES;
use sojourn_params::{Described, EntryParams, Page, SizeDraw, params};
use sojourn_units::{LinkRate, Span};

params! {
    /// Parameters of long-range dependent traffic.
    pub struct Lrd {
        /// mean rate of each flow, all its sources together, in whole IP packets
        rate: LinkRate, within RATES, where "at most the access link's rate";
        /// size of a datagram, headers (28 B) included, or a distribution; draws are clamped to 28 B and 65535 B
        size: Option<SizeDraw> = None, where DATAGRAM_SIZES if |size| size.as_ref().is_none_or(is_datagram),
            "the class's segment";
        /// mean on-period of a source; periods are Pareto distributed
        on: Span = Span::from_millis(500), above "0 s",
            "as of the Pareto source of ns-2", "The ns Manual, traffic generators";
        /// mean pause of a source; pauses are Pareto distributed
        off: Span = Span::from_millis(500), above "0 s",
            "as of the Pareto source of ns-2", "The ns Manual, traffic generators";
        /// the Hurst parameter; the tail index of the periods is 3 - 2 hurst
        hurst "H": f64 = 0.8, in 0.55 to 0.95,
            "as measured on an Ethernet",
            "W. E. Leland, M. S. Taqqu, W. Willinger, D. V. Wilson, IEEE/ACM Transactions on Networking 2, 1994";
        /// number of on/off sources of a flow
        sources: u32 = 50, in 1 to 10000, "one that is on adds 4 % of the rate, so that none is a burst alone";
    }
}

impl EntryParams for Lrd {
    const PAGE: Page = Page {
        stem: "lrd",
        summary: "UDP datagrams of many on/off sources, bursty on all time scales (long-range dependent)",
        idea: "The sum of `sources` on/off sources whose periods are Pareto distributed with tail index 3 - 2H, means `on` \
               and `off`; each sends at rate (on + off) / (on sources) while it is on. Their periods have no finite \
               variance, and the sum keeps its bursts however long it is averaged: its variance over a time t falls as \
               t^(2H - 2), for other traffic as 1/t. That holds for times well above the mean periods. The sources start in \
               their stationary state.",
        equation: "H = (3 - a) / 2,   P(period > x) ~ x^-a",
        source: "W. Willinger, M. S. Taqqu, R. Sherman, D. V. Wilson, Self-Similarity Through High-Variability, IEEE/ACM \
                 Transactions on Networking 5, 1997",
        fields: <Lrd as Described>::fields,
    };
}
