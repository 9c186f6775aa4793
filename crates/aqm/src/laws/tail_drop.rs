//! Tail drop: let everything in until the buffer is full.
//!
//! RFC 7567, section 2. The queue that is there when nobody manages it: it
//! drops only at overflow, so long flows keep the buffer full and every packet
//! waits for all of it. It has no state: the disc's limit does the work.

use crate::law::Law;
use crate::site::Site;
use sojourn_units::Fault;

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

impl Law for TailDrop {}
