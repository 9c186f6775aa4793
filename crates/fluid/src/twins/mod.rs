//! The fluid twins of laws that live on packets: what such a law does to very many small packets, on average.
//!
//! A law that looks at every packet has no p to ask for. Where its answer depends on the flow in a way that can be
//! averaged it has a twin: a few differential equations with p as their output, made of the law's own parameters
//! and, where that is possible, of its own code. Which laws have none, and why, stands in their pages.

pub mod ared;
pub mod avq;
pub mod blue;
pub mod codel;
pub mod red;

use dyn_clone::DynClone;
use sojourn_aqm::law::Given;
use sojourn_aqm::{Gauges, Site};
use sojourn_units::{Fault, Rate, Time};

/// What a twin sees of the flow over a step; rates are in packets/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// The step's end.
    pub now: Time,
    /// Its length, s.
    pub dt: f64,
    /// The backlog, packets.
    pub backlog: f64,
    /// How long what departs was held, s.
    pub sojourn: f64,
    /// What arrives.
    pub arrival_rate: f64,
    /// What of that is turned away by p.
    pub dropped_rate: f64,
    /// What is lost because the buffer is full.
    pub overflow_rate: f64,
    /// What the link can send.
    pub capacity: f64,
}

/// A law for a fluid.
pub trait Twin: DynClone + Send {
    /// Takes in a step of the flow. Steps are as short as those of the fluid: p is held over each.
    fn step(&mut self, over: &Step);
    /// The share of packets that is marked or dropped.
    fn p(&self) -> f64;
    /// Whether p hits what departs instead of what arrives; always the same.
    fn at_departure(&self) -> bool {
        false
    }
    /// Whether what is ECN-capable is marked at present, instead of dropped; None: as the law does at this p.
    fn marks(&self) -> Option<bool> {
        None
    }
    /// The link has a new rate.
    fn on_link_change(&mut self, _now: Time, _rate: Rate) {}
    /// As [`sojourn_aqm::Law::retune`].
    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault>;
    /// The backlog that the law tries to hold, packets.
    fn target_packets(&self) -> Option<f64> {
        None
    }
    /// Shows its inner values by name, those of the law under the law's names.
    fn gauges(&self, _out: &mut dyn Gauges) {}
}

dyn_clone::clone_trait_object!(Twin);

/// The twin of the law called `stem`, where it has one.
pub fn twin(stem: &str, given: &Given, site: &Site) -> Option<Result<Box<dyn Twin>, Fault>> {
    let built = match stem {
        "red" => red::Red::new(given, site).map(boxed),
        "ared" => ared::Ared::new(given, site).map(boxed),
        "avq" => avq::Avq::new(given, site).map(boxed),
        "blue" => blue::Blue::new(given, site).map(boxed),
        "codel" => codel::Codel::new(given, site).map(boxed),
        _ => return None,
    };
    Some(built)
}

fn boxed(twin: impl Twin + 'static) -> Box<dyn Twin> {
    Box::new(twin)
}
