//! Slopes of a calibrated window and of its sender's memory: equations (1) to (3) of [`super`].

use super::SenderPoint;
use sojourn_units::math;

/// State of a sender besides its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Memory {
    /// alpha: DCTCP's average of the marked share.
    Signals {
        /// g.
        weight: f64,
    },
    /// h: CUBIC's growth by that at equilibrium, which depends on earlier signals.
    Growth {
        /// c.
        by_signals: f64,
    },
}

/// Inputs of a window's slope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowInputs {
    /// W, packets.
    pub(crate) window: f64,
    /// R, s.
    pub(crate) rtt: f64,
    /// W_d / R_d: acknowledged packets, packets/s.
    pub(crate) acks: f64,
    /// s: share of them with a signal in effect.
    pub(crate) signalled: f64,
}

impl Memory {
    /// Its equilibrium where the share `signals` has a signal.
    pub(crate) fn equilibrium(self, signals: f64) -> f64 {
        match self {
            Memory::Signals { .. } => signals,
            Memory::Growth { .. } => 1.0,
        }
    }
}

impl SenderPoint {
    /// W', packets/s, and the slope of the memory, 1/s; 0 without one. `memory` has its value.
    #[inline]
    pub(crate) fn slopes(&self, of: WindowInputs, memory: Option<(Memory, f64)>) -> [f64; 2] {
        let WindowInputs { window, rtt, acks, signalled } = of;
        match memory {
            None => [self.growth * (1.0 / rtt - acks / window * signalled / self.signals), 0.0],
            Some((Memory::Signals { weight }, alpha)) => {
                let reduced = at_once(signalled / self.signals, self.at_once);
                let reductions = acks / window * (alpha / self.signals) * reduced;
                [self.growth * (1.0 / rtt - reductions), weight / rtt * (signalled - alpha)]
            }
            Some((Memory::Growth { by_signals }, h)) => {
                let y = rtt * acks / window * signalled / self.signals;
                let target = math::exp(by_signals * (1.0 - y));
                [self.growth / rtt * (h - y), self.reductions.rate / rtt * (target - h)]
            }
        }
    }
}

/// f of equation (2): reductions at a constant average, under `signals`, both by those at equilibrium.
pub(crate) fn at_once(signals: f64, elasticity: f64) -> f64 {
    if elasticity > 1.0 {
        math::pow(signals, elasticity)
    } else {
        signals / (elasticity + (1.0 - elasticity) * signals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::{Control, Response, Rules};

    /// Growth without signals tends to e^c times that at equilibrium, and to 0 under many, and is at rest between.
    #[test]
    fn the_growth_of_cubic_follows_signals() {
        let control = Control::Cubic { keeps: 0.7, fast_convergence: true };
        let response = Response::of(Rules { control, ..Rules::default() });
        let (window, rtt) = (12.0, 0.1);
        let point = response.at(window, rtt);
        let memory = response.memory().expect("CUBIC has one");
        let slopes = |y: f64, h: f64| {
            let inputs = WindowInputs { window, rtt, acks: window / rtt, signalled: y * point.signals };
            point.slopes(inputs, Some((memory, h)))
        };
        let [window_slope, memory_slope] = slopes(1.0, memory.equilibrium(point.signals));
        assert!(window_slope.abs() < 1e-9 && memory_slope.abs() < 1e-12);
        let Memory::Growth { by_signals } = memory else { panic!("{memory:?}") };
        assert!(slopes(0.0, math::exp(by_signals))[1].abs() < 1e-12);
        let [falls, forgets] = slopes(80.0, 1e-3);
        assert!(falls < 0.0 && forgets < 0.0 && slopes(80.0, 0.0)[1] > 0.0);
        let rate = point.reductions.rate / rtt;
        assert!((slopes(1.0, 1.0 + 1e-6)[1] / (-1e-6 * rate) - 1.0).abs() < 1e-6);
    }
}
