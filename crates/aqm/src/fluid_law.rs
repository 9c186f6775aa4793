//! Fluid counterparts of laws whose verdicts depend on single packets.
//!
//! Such a law has no probability for the fluid plant to apply. Where its verdict can be averaged over the flow, a
//! fluid law takes its place: a few differential equations with p as their output, built from the law's own
//! parameters and, where possible, from its code. It is in the folder of its law; the page of a law without one gives
//! the reason.

use crate::gauges::Gauges;
use crate::link_context::LinkContext;
use dyn_clone::DynClone;
use sojourn_params::{Given, InputError};
use sojourn_units::{Rate, Time};

/// The flow through a queue over one integration step; rates in packets/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FluidStep {
    /// End of the step.
    pub now: Time,
    /// Length of the step, s.
    pub dt: f64,
    /// Backlog, packets.
    pub backlog: f64,
    /// Sojourn time of the departing fluid, s.
    pub sojourn: f64,
    /// Arrival rate.
    pub arrival_rate: f64,
    /// Arrival rate dropped by the law.
    pub dropped_rate: f64,
    /// Rate lost to a full buffer.
    pub overflow_rate: f64,
    /// Link capacity.
    pub capacity: f64,
    /// Of one of several queues: backlog of all queues of the link, packets, and the link's capacity.
    pub link: Option<[f64; 2]>,
}

/// Share of a link that a price keeps to the queue of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PricedShare {
    /// C_i; 0: none yet.
    pub rate: f64,
    /// D, the round-trip time without queueing, s.
    pub delay: f64,
    /// sigma, the packets for a price of 1 in proportion to the backlog.
    pub scale: f64,
}

/// A law for the fluid plant.
pub trait FluidLaw: DynClone + Send {
    /// Advances by one integration step; p is constant over each.
    fn step(&mut self, over: &FluidStep);
    /// Share of packets marked or dropped.
    fn p(&self) -> f64;
    /// p applies to departures, not to arrivals; constant.
    fn at_departure(&self) -> bool {
        false
    }
    /// True if ECN-capable packets are at present marked, not dropped; None: as the law's
    /// [`Analysis::marks_at`](crate::Analysis::marks_at) has it for this p.
    fn marks(&self) -> Option<bool> {
        None
    }
    /// The link's rate has changed.
    fn on_link_change(&mut self, _now: Time, _rate: Rate) {}
    /// The queue has another share of its link.
    fn on_share(&mut self, _share: &PricedShare) {}
    /// As [`Law::set_params`](crate::Law::set_params).
    fn set_params(&mut self, now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError>;
    /// Reports the inner values by name; those of the law under the law's names.
    fn gauges(&self, _out: &mut dyn Gauges) {}
}

dyn_clone::clone_trait_object!(FluidLaw);
