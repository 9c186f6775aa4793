//! Head drop: let everything in; when the buffer is full, the oldest packet goes.
//!
//! T. Lakshman, A. Neidhardt, T. Ott, "The Drop from Front Strategy in TCP and
//! in TCP over ATM", IEEE INFOCOM, 1996; RFC 7567, section 2. The queue is as
//! long as under tail drop. But the packet that is lost is the one that was to
//! leave next, so the sender hears of it a whole buffer's delay earlier.

use crate::catalogue::Entry;
use crate::law::{Given, Law, Overflow};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Fault, Page, Time};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "head_drop",
        summary: "drop the oldest packet when the buffer is full: the same queue, an earlier signal",
        idea: "Everything is let in. When a packet does not fit, the one at the head is dropped to make room. Its \
               sender hears of the loss one buffer's delay earlier than under tail drop, and the packet that \
               has waited longest is the one that is worth least.",
        equation: "",
        source: "T. Lakshman, A. Neidhardt, T. Ott, IEEE INFOCOM, 1996; RFC 7567, section 2",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(HeadDrop::new(Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Head drop has no parameters; the limit is the disc's.
    #[derive(Copy)]
    pub struct Params {}
}

/// Head drop.
#[derive(Clone, Copy, Debug)]
pub struct HeadDrop;

impl HeadDrop {
    /// The law; never refuses.
    pub fn new(_params: Params, _site: &Site) -> Result<HeadDrop, Fault> {
        Ok(HeadDrop)
    }
}

impl Law for HeadDrop {
    fn retune(&mut self, _now: Time, given: &Given, _site: &Site) -> Result<(), Fault> {
        Params::from_values(given).map(drop)
    }

    fn overflow(&self) -> Overflow {
        Overflow::Head
    }
}
