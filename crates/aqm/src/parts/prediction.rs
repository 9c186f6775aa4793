//! Linear model of TCP and a queue, sampled, and its predictor.
//!
//! Equation numbers are those of the ARM-PFC paper ([`crate::laws::arm_pfc`]).

use crate::link_context::Network;
use sojourn_units::math;

/// TCP and queue about an operating point, equation (11): the gain is -k_t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpQueue {
    /// Marking probability at the operating point, p_0.
    pub p: f64,
    /// k_t, packets.
    pub gain: f64,
    /// tau_1, time constant of the queue, s.
    pub tau1: f64,
    /// tau_2, time constant of the windows, s.
    pub tau2: f64,
}

/// The model sampled every period, equation (12) without its delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledPlant {
    /// exp(-T / tau_i).
    pub alpha: [f64; 2],
    /// n_1 and n_2.
    pub n: [f64; 2],
    /// m_1 and m_2, packets.
    pub m: [f64; 2],
}

/// Equation (21): the output h periods ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictor {
    /// h.
    pub horizon: u64,
    /// beta_1 and beta_2, coefficients of the present and the last output.
    pub beta: [f64; 2],
    /// G, coefficient of this period's input, held constant.
    pub gain: f64,
    /// Coefficient of the input's rise in each later period.
    pub slope: f64,
    /// c_1 to c_d, coefficients of the inputs of the last d periods, latest first.
    pub past: Vec<f64>,
    /// eta, coefficient of the input before those.
    pub eta: f64,
}

impl TcpQueue {
    /// About the equilibrium of `network`: W_0 = R C / N, p_0 = 2 / W_0^2.
    pub fn of(network: Network) -> TcpQueue {
        let window = network.rtt * network.capacity / network.flows;
        TcpQueue::at(2.0 / (window * window), network.capacity, network.rtt)
    }

    /// About the equilibrium at probability `p`, on a link of `capacity` packets/s.
    pub fn at(p: f64, capacity: f64, rtt: f64) -> TcpQueue {
        TcpQueue { p, gain: rtt * capacity / (2.0 * p), tau1: rtt, tau2: rtt / (2.0 * p).sqrt() }
    }

    /// Euclidean norm of both time constants, s.
    pub fn time(&self) -> f64 {
        math::hypot(self.tau1, self.tau2)
    }

    /// Response to a unit step after `period`, without delay and gain.
    fn step(&self, period: f64) -> f64 {
        let (tau1, tau2) = (self.tau1, self.tau2);
        let difference = tau1 - tau2;
        if difference.abs() >= NEAR * tau1.max(tau2) {
            let [left, right] = [tau1, tau2].map(|tau| tau * math::exp(-period / tau));
            return 1.0 - (left - right) / difference;
        }
        // The divided difference of tau e^(-T/tau) as a series about the mean of the time constants.
        let middle = f64::midpoint(tau1, tau2);
        let x = period / middle;
        let third = x * x * (x - 3.0) / (middle * middle);
        1.0 - math::exp(-x) * (1.0 + x + third * difference * difference / 24.0)
    }
}

impl SampledPlant {
    /// Equations (12) and (13): zero-order hold with this period, s.
    pub fn of(plant: &TcpQueue, period: f64) -> SampledPlant {
        let alpha = [plant.tau1, plant.tau2].map(|tau| math::exp(-period / tau));
        let n = [-(alpha[0] + alpha[1]), alpha[0] * alpha[1]];
        let first = -plant.gain * plant.step(period);
        let sum = -plant.gain * (1.0 - alpha[0]) * (1.0 - alpha[1]);
        SampledPlant { alpha, n, m: [first, sum - first] }
    }

    /// Static gain.
    pub fn gain(&self) -> f64 {
        (self.m[0] + self.m[1]) / (1.0 + self.n[0] + self.n[1])
    }
}

impl Predictor {
    /// Predictor of `model` with its delay, `horizon` periods ahead.
    pub fn new(model: &SampledPlant, delay: u64, horizon: u64) -> Predictor {
        let mut predictor = Predictor { horizon, ..Predictor::default() };
        predictor.fill(model, delay);
        predictor
    }

    /// Computes the coefficients of (21) from the impulse response f_i = m_1 S_i + m_2 S_(i-1), where
    /// S_0 = 0, S_1 = 1, S_(i+1) = -n_1 S_i - n_2 S_(i-1).
    pub(crate) fn fill(&mut self, model: &SampledPlant, delay: u64) {
        let (mut before, mut s) = (0.0, 1.0);
        let free = self.horizon - delay;
        (self.gain, self.slope) = (0.0, 0.0);
        self.past.clear();
        for i in 1..=self.horizon {
            let impulse = model.m[0] * s + model.m[1] * before;
            if i <= free {
                self.gain += impulse;
                self.slope += (free - i) as f64 * impulse;
            } else {
                self.past.push(impulse);
            }
            if i == self.horizon {
                self.eta = model.m[1] * s;
                self.beta[1] = -model.n[1] * s;
            }
            (before, s) = (s, -model.n[0] * s - model.n[1] * before);
        }
        self.beta[0] = s;
    }
}

/// Relative difference of the time constants below which the series is used.
const NEAR: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_time_constants_give_the_step_of_equal_ones() {
        let m =
            |p: f64| SampledPlant::of(&TcpQueue { gain: 1.0, ..TcpQueue::at(p, 1250.0, 0.28) }, 0.056).m[0];
        let equal = -(1.0 - 1.2 * math::exp(-0.2));
        assert!((m(0.5) - equal).abs() < 1e-15, "{} {equal}", m(0.5));
        // On both sides of the border between formula and series.
        for near in [0.4991, 0.4989] {
            let slope = (m(near) - equal) / (near - 0.5);
            assert!((slope / ((m(0.49) - equal) / -0.01) - 1.0).abs() < 0.02, "{near}: {slope}");
        }
    }
}
