//! TCP that always has data to send: RFC 7928, section 5.1.

use crate::ranges::RATES;
use sojourn_params::{Described, EntryParams, Page, params};
use sojourn_units::LinkRate;

params! {
    /// Parameters of bulk flows.
    pub struct Bulk {
        /// read rate of the application at each receiver, payload; the window closes where it is slow
        reads: Option<LinkRate> = None, within RATES, "all data at once: the network alone limits the flow";
    }
}

impl EntryParams for Bulk {
    const PAGE: Page = Page {
        stem: "bulk",
        summary: "always has data to send, over TCP, from its start to its stop",
        idea: "The sender always has data: its window alone limits what it sends.",
        equation: "",
        source: "RFC 7928, section 5.1",
        fields: <Bulk as Described>::fields,
    };
}
