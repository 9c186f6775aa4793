//! A model of TCP and queue, learnt from what p does to the backlog.
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
//! y and u are scaled to numbers about 1. Nothing is learnt while nothing moves
//! (within a dead zone) or across a gap, and the trace of P is capped, so that
//! forgetting without news does no harm. What is learnt is used only after it was
//! moved to a model that TCP could have: real poles within bounds, and a backlog
//! that falls when p rises, by about as much as theory says.

use crate::parts::prediction::Model;

/// The estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Identification {
    /// What an error of 1 stands for: packets, and probability.
    scale: [f64; 2],
    forgetting: f64,
    most_trace: f64,
    theta: [f64; 4],
    covariance: [[f64; 4]; 4],
    /// The last y and u, where there was one since the last gap.
    last: Option<[f64; 2]>,
    /// The increments dy(k-1), dy(k-2), du(k-d-2), scaled, where they are known.
    increments: [Option<f64>; 3],
}

impl Identification {
    /// Begins at `model`, of which each scaled parameter has the variance `doubt`. `scale` is what y and u
    /// are measured in; `forgetting` is lambda of (3).
    pub fn new(model: &Model, doubt: f64, scale: [f64; 2], forgetting: f64) -> Identification {
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

    /// The same with another lambda of (3).
    pub fn forgetting(self, forgetting: f64) -> Identification {
        Identification { forgetting, ..self }
    }

    /// Takes in the output y(k) and the input u(k-d-1) that reaches it.
    pub fn learn(&mut self, y: f64, u: f64) {
        let Some([last_y, last_u]) = self.last.replace([y, u]) else { return };
        let dy = (y - last_y) / self.scale[0];
        let du = (u - last_u) / self.scale[1];
        if let [Some(dy1), Some(dy2), Some(du1)] = self.increments {
            self.correct(dy, [-dy1, -dy2, du, du1]);
        }
        self.increments = [Some(dy), self.increments[0], Some(du)];
    }

    /// What comes next does not follow from what was seen.
    pub fn gap(&mut self) {
        self.last = None;
        self.increments = [None; 3];
    }

    /// The model learnt so far, moved to one that TCP could have whom theory gives `model`.
    pub fn near(&self, model: &Model) -> Model {
        let (alpha, n) = sound_poles(self.theta[0], self.theta[1]);
        let unit = self.scale[0] / self.scale[1];
        let m = [self.theta[2] * unit, self.theta[3] * unit];
        let rest = (1.0 - alpha[0]) * (1.0 - alpha[1]);
        Model { alpha, n, m: sound_gains(m, -model.gain() * rest) }
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
            // P is symmetric, and stays so to the last bit.
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

/// The poles of z^2 + n_1 z + n_2, made real and kept within [`POLES`], and n_1, n_2 of those.
fn sound_poles(n1: f64, n2: f64) -> ([f64; 2], [f64; 2]) {
    let middle = -n1 / 2.0;
    // Of a complex pair the real part is kept.
    let half = (middle * middle - n2).max(0.0).sqrt();
    let alpha = [middle - half, middle + half].map(|pole| pole.clamp(POLES[0], POLES[1]));
    (alpha, [-(alpha[0] + alpha[1]), alpha[0] * alpha[1]])
}

/// m_1 and m_2, neither above 0, and their sum within a factor of [`MOST_OFF`] of -`theory`.
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

/// The covariance's trace is at most so many times what it is at the start.
const MOST_DOUBT: f64 = 1e4;
/// Scaled increments that are none: at rest there is nothing to learn, only to forget.
const DEAD_ZONE: f64 = 0.01;
/// Where the poles of TCP and queue may lie.
const POLES: [f64; 2] = [0.02, 0.995];
/// What p does to the backlog at rest is off from theory's by this factor at most. Noise makes the poles too
/// fast, and p seem to have little effect; then the law drives it from 0 to 1 and back and learns no better.
const MOST_OFF: f64 = 2.0;
/// The least share of m_1 in that sum: a near coincidence point divides by it.
const LEAST_SHARE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::prediction::Plant;
    use sojourn_units::Stream;

    const SCALE: [f64; 2] = [10.0, 0.01];

    fn of(p: f64) -> Model {
        Model::sampled(&Plant::at(p, 1250.0, 0.28), 0.056)
    }

    /// What `truth` answers to inputs that jump about, each learnt with the input that reached it.
    fn taught(truth: &Model, mut pupil: Identification, samples: usize) -> Identification {
        let mut draws = Stream::named(1, "inputs");
        let (mut y, mut u) = ([0.0; 2], [0.0; 2]);
        for _ in 0..samples {
            u = [0.2 * (draws.uniform() - 0.5), u[0]];
            let next = truth.m[0] * u[0] + truth.m[1] * u[1] - truth.n[0] * y[0] - truth.n[1] * y[1];
            y = [next, y[0]];
            pupil.learn(next, u[0]);
        }
        pupil
    }

    fn off(model: &Model, truth: &Model) -> f64 {
        let pairs = model.n.iter().chain(&model.m).zip(truth.n.iter().chain(&truth.m));
        pairs.map(|(ours, true_)| (ours / true_ - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn without_noise_it_learns_another_load_to_a_hundredth_in_600_samples() {
        for forgetting in [0.99, 0.995] {
            for (begin, truth) in [(of(0.16), of(0.04)), (of(0.04), of(0.65)), (of(0.02), of(0.16))] {
                let pupil = taught(&truth, Identification::new(&begin, 100.0, SCALE, forgetting), 600);
                let off = off(&pupil.near(&truth), &truth);
                assert!(off < 0.01, "{begin:?} -> {truth:?}: {off}");
            }
        }
    }

    #[test]
    fn the_model_is_sound_whatever_was_learnt() {
        let mut draws = Stream::named(2, "noise");
        let begin = of(0.16);
        let mut pupil = Identification::new(&begin, 1e-3, SCALE, 0.99);
        for k in 0..3000 {
            let scale = if k % 500 < 100 { 0.0 } else { 300.0 };
            pupil.learn(scale * draws.uniform(), draws.uniform());
            if k % 97 == 0 {
                pupil.gap();
            }
            let model = pupil.near(&begin);
            assert!(model.alpha.iter().all(|pole| (POLES[0]..=POLES[1]).contains(pole)), "{model:?}");
            assert!((model.n[0] + model.alpha[0] + model.alpha[1]).abs() < 1e-15, "{model:?}");
            assert!(model.m.iter().all(|m| *m <= 0.0), "{model:?}");
            let off = model.gain() / begin.gain();
            assert!((0.499..2.001).contains(&off) && model.m[0] < 0.0, "{model:?}");
            let trace: f64 = (0..4).map(|i| pupil.covariance[i][i]).sum();
            assert!(trace > 0.0 && trace <= pupil.most_trace * (1.0 + 1e-12), "{trace}");
        }
    }

    #[test]
    fn it_begins_at_its_model_and_stays_there_while_nothing_moves() {
        let begin = of(0.16);
        let mut pupil = Identification::new(&begin, 1e-3, SCALE, 0.99);
        let before = pupil.covariance;
        (0..1000).for_each(|_| pupil.learn(100.0, 0.16));
        assert!(off(&pupil.near(&begin), &begin) < 1e-12);
        assert_eq!(pupil.covariance, before, "nothing was forgotten");
    }

    #[test]
    fn poles_that_are_no_tcps_are_moved() {
        // z^2 - 1.8 z + 0.9 has the poles 0.9 +- 0.3j.
        assert_eq!(sound_poles(-1.8, 0.9).0, [0.9, 0.9]);
        // (z + 0.5)(z - 1.2)
        assert_eq!(sound_poles(-0.7, -0.6).0, POLES);
        assert_eq!(sound_gains([-3.0, -5.0], 8.0), [-3.0, -5.0]);
        assert_eq!(sound_gains([1.0, 2.0], 8.0), [-2.0, -2.0]);
        assert_eq!(sound_gains([-30.0, -90.0], 8.0), [-4.0, -12.0]);
    }
}
