//! Rates of packets at a stage of a step, and the point at which they are evaluated.

use crate::dde::{History, Stage};

/// Point at which rates are evaluated.
#[derive(Clone, Copy)]
pub(super) struct Evaluation<'a> {
    pub(super) stage: Stage,
    pub(super) t: f64,
    pub(super) y: &'a [f64],
    pub(super) past: &'a History,
}

/// Arrivals at a link, packets/s of its mean size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkRates {
    /// Not dropped by the law.
    pub(super) admitted: f64,
    /// q.
    pub(super) backlog: f64,
    /// C, and 1 / C.
    pub(super) capacity: f64,
    pub(super) inverse: f64,
    /// Growth of q in a full buffer.
    pub(super) climb: f64,
}

/// Arrivals of a class at a link, packets/s of the class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HopRates {
    pub(super) offered: f64,
    pub(super) admitted: f64,
}

/// Round trip and window of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClassRates {
    /// R, s.
    pub(super) rtt: f64,
    /// W' where it is not at its floor.
    pub(super) growth: f64,
}
