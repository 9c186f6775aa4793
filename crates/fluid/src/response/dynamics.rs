//! Slopes of a calibrated window, and of what it remembers: equations (1) to (3) of [`super`].

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
    /// h: CUBIC's growth after earlier signals, by that at rest.
    Growth {
        /// c.
        by_signals: f64,
    },
}

/// What a window responds to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    /// W, packets.
    pub(crate) window: f64,
    /// R, s.
    pub(crate) rtt: f64,
    /// W_d / R_d: acknowledged packets, packets/s.
    pub(crate) rate: f64,
    /// s: share of them with a signal in effect.
    pub(crate) signalled: f64,
}

impl Memory {
    /// Its value while the share `signals` has a signal.
    pub(crate) fn at_rest(self, signals: f64) -> f64 {
        match self {
            Memory::Signals { .. } => signals,
            Memory::Growth { .. } => 1.0,
        }
    }
}

impl SenderPoint {
    /// W', packets/s, and the slope of the memory, 1/s, where the sender has one, with its value.
    #[inline]
    pub(crate) fn slopes(&self, of: Acknowledged, memory: Option<(Memory, f64)>) -> [f64; 2] {
        let Acknowledged { window, rtt, rate, signalled } = of;
        match memory {
            None => [self.growth * (1.0 / rtt - rate / window * signalled / self.signals), 0.0],
            Some((Memory::Signals { weight }, alpha)) => {
                let by_rest = at_once(signalled / self.signals, self.at_once);
                let reductions = rate / window * (alpha / self.signals) * by_rest;
                [self.growth * (1.0 / rtt - reductions), weight / rtt * (signalled - alpha)]
            }
            Some((Memory::Growth { by_signals }, h)) => {
                let y = rtt * rate / window * signalled / self.signals;
                let target = math::exp(by_signals * (1.0 - y));
                [self.growth / rtt * (h - y), self.reductions.rate / rtt * (target - h)]
            }
        }
    }
}

/// f of equation (2): reductions at a constant average, by those at rest, under `signals` by those at rest.
pub(crate) fn at_once(signals: f64, elasticity: f64) -> f64 {
    if elasticity > 1.0 {
        math::pow(signals, elasticity)
    } else {
        signals / (elasticity + (1.0 - elasticity) * signals)
    }
}
