//! A volume over TCP, once: RFC 7928, section 2.1.

use super::{VOLUMES, is_volume};
use sojourn_params::{Described, EntryParams, Page, SizeDraw, params};

params! {
    /// Parameters of a transfer.
    pub struct Transfer {
        /// payload, or a distribution of it, in bytes or in full packets
        size: SizeDraw, where VOLUMES if is_volume;
    }
}

impl EntryParams for Transfer {
    const PAGE: Page = Page {
        stem: "transfer",
        summary: "a fixed volume over TCP, once; then the flow is over",
        idea: "`size` counts payload; in packets it counts full segments. The flow completion time is from the flow's \
               start, its SYN included, until the receiver's application has all of it. With `arrivals` flows arrive during \
               the run, each with a size of its own.",
        equation: "FCT = 8 size / goodput",
        source: "RFC 7928, section 2.1",
        fields: <Transfer as Described>::fields,
    };
}
