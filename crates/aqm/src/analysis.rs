//! Analytical model of a law: targets, steady states and transfer functions.

use crate::gauges::Gauges;
use crate::linear::{Linear, OperatingPoint, Signal};
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
