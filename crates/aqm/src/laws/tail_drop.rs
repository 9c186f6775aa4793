//! Tail drop: a full buffer drops arrivals.
//!
//! RFC 7567, section 2. The unmanaged queue: it drops only at overflow, so that
//! long flows keep the buffer full and every packet has the delay of the whole
//! buffer. The law has no state; the qdisc enforces the limit.

use crate::entry::{Designed, Entry};
use crate::law::Law;
use crate::link_context::LinkContext;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Prob, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "tail_drop",
        summary: "drop arrivals that do not fit: the unmanaged queue",
        idea: "Every packet is accepted until the buffer is full. Long flows fill it and keep it full, so every \
               packet has the delay of the whole buffer: bufferbloat.",
        equation: "",
        source: "RFC 7567, section 2",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |_params, _context| Ok(Designed::new(TailDrop)),
};

sojourn_params::params! {
    /// Tail drop has no parameters; the limit is the qdisc's.
    #[derive(Copy)]
    pub struct Params {}
}

/// Tail drop.
#[derive(Clone, Copy, Debug)]
pub struct TailDrop;

impl Law for TailDrop {
    fn probability(&self) -> Option<Prob> {
        Some(Prob::ZERO)
    }

    fn set_params(&mut self, _now: Time, _given: &Given, _context: &LinkContext) -> Result<(), InputError> {
        Ok(())
    }
}
