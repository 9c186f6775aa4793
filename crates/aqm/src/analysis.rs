//! Analytical model of a law: targets, steady states and transfer functions.

use crate::gauges::Gauges;
use crate::linear::{Linear, OperatingPoint, Rational, Signal};
use sojourn_units::Prob;

/// Closed-form properties of a law, for certificates and descriptions; no plant needs them to run a law.
pub trait Analysis {
    /// Target backlog, packets.
    fn target_packets(&self) -> Option<f64> {
        None
    }
    /// Equilibrium backlog at probability `p`, packets; negative: none. It is the target unless another input of
    /// the law is nonzero at equilibrium.
    fn equilibrium_backlog(&self, _p: Prob, _signal: Signal) -> Option<f64> {
        self.target_packets()
    }
    /// Steady-state probability at a constant backlog, packets, of a law without a target: its equilibrium is the
    /// intersection of this curve with that of the traffic.
    fn steady_state_p(&self, _backlog: f64) -> Option<Prob> {
        None
    }
    /// Transfer functions about an operating point.
    fn linear(&self, _point: &OperatingPoint) -> Option<Linear> {
        None
    }
    /// Random signals and limits about an operating point.
    fn noise(&self, _point: &OperatingPoint) -> NoiseModel {
        NoiseModel::default()
    }
    /// True if ECN-capable packets are marked, not dropped, at probability `p`.
    fn marks_at(&self, _p: Prob) -> bool {
        true
    }
    /// Operating range, at any operating point.
    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
    /// Reports the parameters derived from the link, by key.
    fn derived(&self, _out: &mut dyn Gauges) {}
}

/// Random signals of a law about an operating point, and the limits that noise may reach.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseModel {
    /// Index of dispersion of the number of signals, variance by mean: 1 where each packet is a draw of its own.
    pub dispersion: f64,
    /// k, where p is the k-th power of what the law moves, and clamps at 0.
    pub power: f64,
    /// True if what the law moves is an integral that stops at 0.
    pub integrates: bool,
    /// State of the law that has limits of its own.
    pub limited: Option<Limited>,
}

/// State of a law between limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    /// Name of the state.
    pub name: &'static str,
    /// From the deviation of the backlog to that of the state: in powers of z^-1 where the law has a sampled-data form, else in
    /// s.
    pub transfer: Rational,
    /// Distances of the limits from the state at equilibrium, below and above; in its unit.
    pub room: [f64; 2],
}

impl Default for NoiseModel {
    fn default() -> NoiseModel {
        NoiseModel { dispersion: 1.0, power: 1.0, integrates: false, limited: None }
    }
}

/// Operating range of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Largest probability.
    pub most_p: f64,
    /// Largest backlog at which no packet is marked or dropped, packets.
    pub spared: f64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { most_p: 1.0, spared: 0.0 }
    }
}

/// The analysis of a law without an analytical model.
#[derive(Clone, Copy, Debug)]
pub struct NoModel;

impl Analysis for NoModel {}
