//! Tail drop: let everything in until the buffer is full.
//!
//! RFC 7567, section 2. The queue that is there when nobody manages it: it
//! drops only at overflow, so long flows keep the buffer full and every packet
//! waits for all of it. It has no state: the disc's limit does the work.

use crate::catalogue::Entry;
use crate::law::{Given, Law};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Fault, Page, Prob, Time};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "tail_drop",
        summary: "drop what does not fit: the queue that nobody manages",
        idea: "Everything is let in until the buffer is full. Long flows fill it and keep it full, so every \
               packet waits for the whole buffer: bufferbloat.",
        equation: "",
        source: "RFC 7567, section 2",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(TailDrop::new(Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Tail drop has no parameters; the limit is the disc's.
    #[derive(Copy)]
    pub struct Params {}
}

/// Tail drop.
#[derive(Clone, Copy, Debug)]
pub struct TailDrop;

impl TailDrop {
    /// The law; never refuses.
    pub fn new(_params: Params, _site: &Site) -> Result<TailDrop, Fault> {
        Ok(TailDrop)
    }
}

impl Law for TailDrop {
    fn probability(&self) -> Option<Prob> {
        Some(Prob::ZERO)
    }

    fn retune(&mut self, _now: Time, given: &Given, _site: &Site) -> Result<(), Fault> {
        Params::from_values(given).map(drop)
    }
}
