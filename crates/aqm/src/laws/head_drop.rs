//! Head drop: a full buffer drops its oldest packet.
//!
//! T. Lakshman, A. Neidhardt, T. Ott, "The Drop from Front Strategy in TCP and
//! in TCP over ATM", IEEE INFOCOM, 1996; RFC 7567, section 2. The queue is as
//! long as under tail drop, but the lost packet is the next to depart, so that the
//! sender detects the loss earlier by the delay of the whole buffer.

use crate::entry::{Designed, Entry};
use crate::law::{Law, Overflow, Properties};
use crate::link_context::LinkContext;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::Time;

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "head_drop",
        summary: "drop the oldest packet when the buffer is full: the same queue, an earlier signal",
        idea: "Every packet is accepted. When one does not fit, the packet at the head is dropped. Its \
               sender detects the loss one buffer's delay earlier than under tail drop, and the oldest packet \
               is the least useful one.",
        equation: "",
        source: "T. Lakshman, A. Neidhardt, T. Ott, IEEE INFOCOM, 1996; RFC 7567, section 2",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |_params, _context| Ok(Designed::new(HeadDrop)),
};

sojourn_params::params! {
    /// Head drop has no parameters; the limit is the qdisc's.
    #[derive(Copy)]
    pub struct Params {}
}

/// Head drop.
#[derive(Clone, Copy, Debug)]
pub struct HeadDrop;

impl Law for HeadDrop {
    fn set_params(&mut self, _now: Time, _given: &Given, _context: &LinkContext) -> Result<(), InputError> {
        Ok(())
    }

    fn properties(&self) -> Properties {
        Properties { overflow: Overflow::Head, ..Properties::default() }
    }
}
