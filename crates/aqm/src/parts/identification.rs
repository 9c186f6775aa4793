//! Identification of a model of TCP and queue from p and the backlog.
//!
//! Recursive least squares over the parameters theta = (n_1, n_2, m_1, m_2) of
//! equation (12) of the ARM-PFC paper, taken on increments, where the operating
//! point vanishes:
//!
//! ```text
//! dy(k) = -n_1 dy(k-1) - n_2 dy(k-2) + m_1 du(k-d-1) + m_2 du(k-d-2)          (1)
//! L     = P phi / (lambda + phi' P phi)                                       (2)
//! theta <- theta + L (dy(k) - phi' theta),  P <- (P - L phi' P) / lambda      (3)
//! ```
//!
//! y and u are scaled to the order of 1. There is no update within a dead zone of the increments or across a gap, and
//! the trace of P is capped, so that forgetting without excitation does no harm. The estimate is projected onto the
//! models that TCP can have: real poles within bounds, and a backlog that falls when p rises, with a gain near that
//! of theory.

use crate::parts::prediction::SampledPlant;

/// Recursive least-squares estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Identification {
    /// Scale of y, packets, and of u.
    scale: [f64; 2],
    forgetting: f64,
    most_trace: f64,
    theta: [f64; 4],
    covariance: [[f64; 4]; 4],
    /// Last y and u since the last gap.
    last: Option<[f64; 2]>,
    /// Scaled increments dy(k-1), dy(k-2), du(k-d-2), if known.
    increments: [Option<f64>; 3],
}

impl Identification {
    /// Starts at `model` with the variance `doubt` of each scaled parameter. `scale` has the units of y and u;
    /// `forgetting` is lambda of (3).
    pub fn new(model: &SampledPlant, doubt: f64, scale: [f64; 2], forgetting: f64) -> Identification {
        let unit = scale[1] / scale[0];
        let theta = [model.n[0], model.n[1], model.m[0] * unit, model.m[1] * unit];
        let mut covariance = [[0.0; 4]; 4];
        (0..4).for_each(|i| covariance[i][i] = doubt);
        Identification {
            scale,
            forgetting,
            most_trace: 4.0 * doubt * MOST_DOUBT,
            theta,
            covariance,
            last: None,
            increments: [None; 3],
        }
    }

    /// Sets lambda of (3).
    pub fn forgetting(self, forgetting: f64) -> Identification {
        Identification { forgetting, ..self }
    }

    /// Updates the estimate with the output y(k) and the input u(k-d-1).
    pub fn update(&mut self, y: f64, u: f64) {
        let Some([last_y, last_u]) = self.last.replace([y, u]) else { return };
        let dy = (y - last_y) / self.scale[0];
        let du = (u - last_u) / self.scale[1];
        if let [Some(dy1), Some(dy2), Some(du1)] = self.increments {
            self.correct(dy, [-dy1, -dy2, du, du1]);
        }
        self.increments = [Some(dy), self.increments[0], Some(du)];
    }

    /// Marks a gap: the next sample does not follow the last one.
    pub fn gap(&mut self) {
        self.last = None;
        self.increments = [None; 3];
    }

    /// The estimate, projected onto the models that TCP can have; `model` is that of theory.
    pub fn projected(&self, model: &SampledPlant) -> SampledPlant {
        let (alpha, n) = sound_poles(self.theta[0], self.theta[1]);
        let unit = self.scale[0] / self.scale[1];
        let m = [self.theta[2] * unit, self.theta[3] * unit];
        let rest = (1.0 - alpha[0]) * (1.0 - alpha[1]);
        SampledPlant { alpha, n, m: sound_gains(m, -model.gain() * rest) }
    }

    /// Equations (2) and (3).
    fn correct(&mut self, dy: f64, phi: [f64; 4]) {
        if phi.iter().chain([&dy]).all(|moved| moved.abs() < DEAD_ZONE) {
            return;
        }
        let error = dy - dot(&phi, &self.theta);
        let p_phi: [f64; 4] = std::array::from_fn(|i| dot(&self.covariance[i], &phi));
        let weight = 1.0 / (self.forgetting + dot(&phi, &p_phi));
        for i in 0..4 {
            self.theta[i] += weight * p_phi[i] * error;
            // Keeps P exactly symmetric.
            for j in 0..=i {
                let value = (self.covariance[i][j] - weight * p_phi[i] * p_phi[j]) / self.forgetting;
                (self.covariance[i][j], self.covariance[j][i]) = (value, value);
            }
        }
        self.cap();
    }

    fn cap(&mut self) {
        let trace: f64 = (0..4).map(|i| self.covariance[i][i]).sum();
        if trace > self.most_trace {
            let share = self.most_trace / trace;
            self.covariance.iter_mut().flatten().for_each(|value| *value *= share);
        }
    }
}

/// Poles of z^2 + n_1 z + n_2, made real and clamped to [`POLES`], and their n_1, n_2.
fn sound_poles(n1: f64, n2: f64) -> ([f64; 2], [f64; 2]) {
    let middle = -n1 / 2.0;
    // A complex pair keeps its real part.
    let half = (middle * middle - n2).max(0.0).sqrt();
    let alpha = [middle - half, middle + half].map(|pole| pole.clamp(POLES[0], POLES[1]));
    (alpha, [-(alpha[0] + alpha[1]), alpha[0] * alpha[1]])
}

/// m_1 and m_2 made nonpositive, with a sum within a factor of [`MOST_OFF`] of -`theory`.
fn sound_gains(m: [f64; 2], theory: f64) -> [f64; 2] {
    let [first, second] = m.map(|m| (-m).max(0.0));
    let sum = first + second;
    let share = if sum > 0.0 { (first / sum).max(LEAST_SHARE) } else { 0.5 };
    let sum = sum.clamp(theory / MOST_OFF, theory * MOST_OFF);
    [-sum * share, -sum * (1.0 - share)]
}

fn dot(left: &[f64; 4], right: &[f64; 4]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Largest ratio of the covariance's trace to its initial value.
const MOST_DOUBT: f64 = 1e4;
/// Largest scaled increment without an update: at equilibrium there is no excitation.
const DEAD_ZONE: f64 = 0.01;
/// Range of the poles of TCP and queue.
const POLES: [f64; 2] = [0.02, 0.995];
/// Largest ratio of the estimated static gain to that of theory, and of theory to estimate. Noise biases the poles to
/// be too fast and the gain too small; the law would then drive p from 0 to 1 and back, and the estimate would not
/// recover.
const MOST_OFF: f64 = 2.0;
/// Least share of m_1 in m_1 + m_2: a near coincidence point divides by it.
const LEAST_SHARE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::prediction::TcpQueue;
    use sojourn_random::Stream;

    const SCALE: [f64; 2] = [10.0, 0.01];

    fn of(p: f64) -> SampledPlant {
        SampledPlant::of(&TcpQueue::at(p, 1250.0, 0.28), 0.056)
    }

    /// The estimate after the response of `truth` to random inputs.
    fn identified(truth: &SampledPlant, mut estimator: Identification, samples: usize) -> Identification {
        let mut draws = Stream::named(1, "inputs");
        let (mut y, mut u) = ([0.0; 2], [0.0; 2]);
        for _ in 0..samples {
            u = [0.2 * (draws.uniform() - 0.5), u[0]];
            let next = truth.m[0] * u[0] + truth.m[1] * u[1] - truth.n[0] * y[0] - truth.n[1] * y[1];
            y = [next, y[0]];
            estimator.update(next, u[0]);
        }
        estimator
    }

    fn off(model: &SampledPlant, truth: &SampledPlant) -> f64 {
        let pairs = model.n.iter().chain(&model.m).zip(truth.n.iter().chain(&truth.m));
        pairs.map(|(ours, true_)| (ours / true_ - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn without_noise_the_estimate_of_another_load_is_within_a_hundredth_after_600_samples() {
        for forgetting in [0.99, 0.995] {
            for (begin, truth) in [(of(0.16), of(0.04)), (of(0.04), of(0.65)), (of(0.02), of(0.16))] {
                let estimator =
                    identified(&truth, Identification::new(&begin, 100.0, SCALE, forgetting), 600);
                let off = off(&estimator.projected(&truth), &truth);
                assert!(off < 0.01, "{begin:?} -> {truth:?}: {off}");
            }
        }
    }

    #[test]
    fn the_model_is_valid_for_any_inputs() {
        let mut draws = Stream::named(2, "noise");
        let begin = of(0.16);
        let mut estimator = Identification::new(&begin, 1e-3, SCALE, 0.99);
        for k in 0..3000 {
            let scale = if k % 500 < 100 { 0.0 } else { 300.0 };
            estimator.update(scale * draws.uniform(), draws.uniform());
            if k % 97 == 0 {
                estimator.gap();
            }
            let model = estimator.projected(&begin);
            assert!(model.alpha.iter().all(|pole| (POLES[0]..=POLES[1]).contains(pole)), "{model:?}");
            assert!((model.n[0] + model.alpha[0] + model.alpha[1]).abs() < 1e-15, "{model:?}");
            assert!(model.m.iter().all(|m| *m <= 0.0), "{model:?}");
            let off = model.gain() / begin.gain();
            assert!((0.499..2.001).contains(&off) && model.m[0] < 0.0, "{model:?}");
            let trace: f64 = (0..4).map(|i| estimator.covariance[i][i]).sum();
            assert!(trace > 0.0 && trace <= estimator.most_trace * (1.0 + 1e-12), "{trace}");
        }
    }

    #[test]
    fn without_excitation_the_estimate_is_constant() {
        let begin = of(0.16);
        let mut estimator = Identification::new(&begin, 1e-3, SCALE, 0.99);
        let before = estimator.covariance;
        (0..1000).for_each(|_| estimator.update(100.0, 0.16));
        assert!(off(&estimator.projected(&begin), &begin) < 1e-12);
        assert_eq!(estimator.covariance, before, "no forgetting");
    }

    #[test]
    fn poles_that_tcp_cannot_have_are_moved() {
        // z^2 - 1.8 z + 0.9 has the poles 0.9 +- 0.3j.
        assert_eq!(sound_poles(-1.8, 0.9).0, [0.9, 0.9]);
        // (z + 0.5)(z - 1.2)
        assert_eq!(sound_poles(-0.7, -0.6).0, POLES);
        assert_eq!(sound_gains([-3.0, -5.0], 8.0), [-3.0, -5.0]);
        assert_eq!(sound_gains([1.0, 2.0], 8.0), [-2.0, -2.0]);
        assert_eq!(sound_gains([-30.0, -90.0], 8.0), [-4.0, -12.0]);
    }
}
