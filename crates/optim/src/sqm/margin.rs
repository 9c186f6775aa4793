//! The loop of one queue, and its stability margins.
//!
//! About the equilibrium a flow and its queue follow, while the queue is not empty and its price not 0,
//!
//! ```text
//! dx' = -a dx - kappa dq(t - D),   dq' = dx                                    (ii)
//! a = alpha k / x,   kappa = k x^alpha / (w sigma)
//! ```
//!
//! which, broken anywhere, is the loop
//!
//! ```text
//! L(s) = kappa e^(-s D) / (s (s + a))                                          (iii)
//! ```
//!
//! |L| and its phase fall with the frequency, so there is one crossover and one limit, and the phase margin is
//! sufficient. With the margin PM the crossover w solves
//!
//! ```text
//! atan(w / a) + w D = pi/2 - PM,   kappa = w sqrt(w^2 + a^2)                   (iv)
//! ```
//!
//! whose left side rises; PM = 0 is the exact limit of stability. Conversely w^2 = 2 kappa^2 / (a^2 + sqrt(a^4 + 4
//! kappa^2)). Relation of the units: sigma = k x^alpha / (w kappa), so that a twofold sigma is half the gain.
//!
//! The paper's linearisation has (16) dq' = dx - b dq, b = 1 / D, instead. Its loop kappa e^(-sD) / ((s + a)(s + b))
//! has the exact limit
//!
//! ```text
//! atan(w / a) + atan(w / b) + w D = pi,   kappa = sqrt((w^2 + a^2)(w^2 + b^2)) (v)
//! ```
//!
//! at a gain several times as high: loops that are stable there oscillate here.

use super::{Flow, Link};
use crate::root;
use sojourn_units::math;
use std::f64::consts::{FRAC_PI_2, PI};

/// The loop (iii).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueLoop {
    /// kappa, 1/s^2.
    pub gain: f64,
    /// a, 1/s.
    pub pole: f64,
    /// D, s.
    pub delay: f64,
}

impl QueueLoop {
    /// The loop whose phase margin is `margin` degrees, at least 0 and less than 90.
    pub fn with_phase_margin(pole: f64, delay: f64, margin: f64) -> QueueLoop {
        let angle = FRAC_PI_2 - margin.to_radians();
        let phase = |w: f64| math::atan2(w, pole) + w * delay - angle;
        // Equation (iv).
        let crossover = root::between(0.0, angle / delay, phase);
        QueueLoop { gain: crossover * math::hypot(crossover, pole), pole, delay }
    }

    /// The frequency at which |L| = 1, rad/s.
    pub fn crossover(&self) -> f64 {
        let square = self.pole * self.pole;
        std::f64::consts::SQRT_2 * self.gain / (square + math::hypot(square, 2.0 * self.gain)).sqrt()
    }

    /// Phase margin, degrees; below 0 where the loop is unstable.
    pub fn phase_margin(&self) -> f64 {
        let w = self.crossover();
        (FRAC_PI_2 - math::atan2(w, self.pole) - w * self.delay).to_degrees()
    }

    /// Gain margin: the factor of the gain at the limit of stability; below 1 where the loop is unstable.
    pub fn gain_margin(&self) -> f64 {
        QueueLoop::with_phase_margin(self.pole, self.delay, 0.0).gain / self.gain
    }

    /// Delay margin: the added delay at the limit of stability, s.
    pub fn delay_margin(&self) -> f64 {
        self.phase_margin().to_radians() / self.crossover()
    }
}

impl Link {
    /// Loop of each flow's queue with prices of these sigmas.
    pub fn loops(&self, scales: &[f64]) -> Vec<QueueLoop> {
        let gains = self.price_gains().into_iter().zip(scales).map(|(price_gain, scale)| price_gain / scale);
        gains.zip(self.lags()).map(|(gain, [pole, delay])| QueueLoop { gain, pole, delay }).collect()
    }

    /// sigma of each flow whose loop has `margin` degrees of phase margin; 0 is the exact limit.
    pub fn scales_of_margin(&self, margin: f64) -> Vec<f64> {
        let gain = |[pole, delay]: [f64; 2]| QueueLoop::with_phase_margin(pole, delay, margin).gain;
        self.price_gains()
            .into_iter()
            .zip(self.lags())
            .map(|(price_gain, lags)| price_gain / gain(lags))
            .collect()
    }

    /// Equation (v): sigma of each flow at the limit of the paper's linearisation (16), for comparison.
    pub fn scales_of_the_printed_limit(&self) -> Vec<f64> {
        let gain = |[pole, delay]: [f64; 2]| {
            let other = 1.0 / delay;
            let phase = |w: f64| math::atan2(w, pole) + math::atan2(w, other) + w * delay - PI;
            let w = root::between(0.0, PI / delay, phase);
            math::hypot(w, pole) * math::hypot(w, other)
        };
        self.price_gains()
            .into_iter()
            .zip(self.lags())
            .map(|(price_gain, lags)| price_gain / gain(lags))
            .collect()
    }

    /// a and D of each flow.
    fn lags(&self) -> Vec<[f64; 2]> {
        let lag = |(flow, rate): (&Flow, f64)| [self.alpha * flow.gain / rate, flow.delay];
        self.flows.iter().zip(self.rates()).map(lag).collect()
    }
}
