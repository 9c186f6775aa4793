//! Harmonic balance: a periodic solution of the fluid's own equations under the law's transfer function.
//!
//! Windows and backlog are trigonometric polynomials of degree K in theta = omega t. Equations (2) to (4) of
//! [`crate::plant`] hold at 2 K + 1 angles, with the delay that the backlog makes and the mean of signals over their span,
//! and 0 <= q with q' >= net arrivals in complement. The first harmonic of the backlog is `amplitude` cos theta. With K = 1
//! this is the describing function of the fluid, higher K are harmonic balance (A. I. Mees, "Describing functions: ten years
//! on", IMA J. of Applied Mathematics 32, 1984).
//!
//! A law with the transfer function `gain` (n_1 s + n_0) / (d_1 s) moves p by its differential equation and stops at p = 0
//! and 1, as laws that add to p and clamp it do; p is periodic. Any other law has the harmonics of the backlog times its
//! transfer function, and p is cut at 0 and 1. The hold of a sampled law is a delay of half a period.

use super::series::Series;
use crate::linear::complex::{Complex64, exp, one_minus_exp, polynomial};
use crate::linear::equilibrium::{Class, Equilibrium, Link};
use crate::plant::Window;
use crate::response::{Memory, WindowInputs};
use sojourn_aqm::linear::Linear;
use std::f64::consts::TAU;

/// A fluid about an equilibrium, under a law.
pub(super) struct Balance<'a> {
    pub(super) link: &'a Link,
    pub(super) equilibrium: &'a Equilibrium,
    pub(super) linear: &'a Linear,
    /// Wait after which the law sees the backlog, s.
    pub(super) wait: f64,
    /// K.
    pub(super) degree: usize,
}

/// A periodic solution.
pub(super) struct Orbit {
    /// rad/s.
    pub(super) frequency: f64,
    /// Factor of the law's transfer function.
    pub(super) gain: f64,
    pub(super) queue: Series,
    pub(super) windows: Vec<Series>,
    /// Of the classes that have one.
    pub(super) memories: Vec<Series>,
    pub(super) p: Signal,
}

/// p over a period.
pub(super) enum Signal {
    /// Harmonics, cut at 0 and 1.
    Filtered(Series),
    /// Values at equal angles, late by an angle; and the change over a period, 0 where it is periodic.
    Added { values: Vec<f64>, late: f64, change: f64 },
}

impl Balance<'_> {
    /// Unknowns of a small oscillation at this frequency and gain, in the order of [`Balance::orbit`].
    pub(super) fn start(&self, frequency: f64, gain: f64) -> Vec<f64> {
        let mut unknowns = vec![self.equilibrium.p, frequency, gain, self.equilibrium.backlog];
        unknowns.resize(1 + self.angles(), 0.0);
        let memories = self.memories().map(|(_, at_rest)| at_rest);
        for at_rest in self.equilibrium.windows.iter().copied().chain(memories) {
            unknowns.push(at_rest);
            unknowns.resize(unknowns.len() + 2 * self.degree, 0.0);
        }
        unknowns
    }

    /// The solution that unknowns stand for: p at angle 0 of a law that adds to p, frequency, gain, the backlog's mean and
    /// its harmonics from the second on, then each class's mean window and its harmonics, and the same of their memories.
    pub(super) fn orbit(&self, unknowns: &[f64], amplitude: f64) -> Orbit {
        let (frequency, gain, mean) = (unknowns[1], unknowns[2], unknowns[3]);
        let (of_queue, of_windows) = unknowns[4..].split_at(self.angles() - 3);
        let mut harmonics = vec![Complex64::new(amplitude, 0.0)];
        harmonics.extend(pairs(of_queue));
        let queue = Series { mean, harmonics };
        let series = |own: &[f64]| Series { mean: own[0], harmonics: pairs(&own[1..]).collect() };
        let mut windows: Vec<Series> = of_windows.chunks(self.angles()).map(series).collect();
        let memories = windows.split_off(self.link.classes.len());
        let p = self.signal(&queue, frequency, [unknowns[0], gain]);
        Orbit { frequency, gain, queue, windows, memories, p }
    }

    /// The equations' residuals: 0 at a periodic solution.
    pub(super) fn residuals(&self, unknowns: &[f64], amplitude: f64) -> Vec<f64> {
        let orbit = self.orbit(unknowns, amplitude);
        let mut found = vec![match orbit.p {
            Signal::Added { change, .. } => change / self.equilibrium.p,
            Signal::Filtered(_) => unknowns[0] / self.equilibrium.p - 1.0,
        }];
        for place in 0..self.angles() {
            let theta = TAU * place as f64 / self.angles() as f64;
            let (backlog, p) = (orbit.queue.at(theta), orbit.p.at(theta));
            let mut net = self.unresponsive(p) - self.link.capacity;
            let mut memories = self.memories().zip(&orbit.memories);
            for (class, window) in self.link.classes.iter().zip(&orbit.windows) {
                let rtt = self.rtt(class, backlog);
                let memory = class.law.memory().and_then(|of| Some((of, memories.next()?)));
                let value = memory.map(|(of, (_, series))| (of, series.at(theta)));
                let [growth, of_memory] = self.slopes((class, window), value, &orbit, theta);
                let clocked = if matches!(class.law, Window::Calibrated(_)) { growth } else { 0.0 };
                let passes = self.link.signal_of(class.ecn).passes(p);
                net += passes * class.flows * class.size * (window.at(theta) / rtt + clocked);
                found.push((orbit.frequency * window.slope(theta) - growth) * rtt);
                if let Some((_, ((_, at_rest), series))) = memory {
                    found.push((orbit.frequency * series.slope(theta) - of_memory) * rtt / at_rest);
                }
            }
            let excess = (orbit.frequency * orbit.queue.slope(theta) - net) / self.link.capacity;
            found.push(excess.min(backlog / self.equilibrium.backlog));
        }
        found
    }

    /// Memories of the classes' senders, and their equilibria.
    pub(super) fn memories(&self) -> impl Iterator<Item = (Memory, f64)> {
        let of = |class: &Class| Some((class.law.memory()?, class.signal_share(self.equilibrium.p)));
        self.link.classes.iter().filter_map(of).map(|(memory, signals)| (memory, memory.equilibrium(signals)))
    }

    /// W' of a class, and the slope of its memory.
    fn slopes(
        &self,
        (class, window): (&Class, &Series),
        memory: Option<(Memory, f64)>,
        orbit: &Orbit,
        theta: f64,
    ) -> [f64; 2] {
        let rtt = self.rtt(class, orbit.queue.at(theta));
        let before = |round_trips: f64| theta - orbit.frequency * round_trips * rtt;
        let w = window.at(theta).max(LEAST);
        let then = before(1.0);
        let acks = window.at(then).max(LEAST) / self.rtt(class, orbit.queue.at(then));
        let span = class.law.signal_span(w);
        let p = if span > 0.0 {
            let a_round_trip_before =
                |theta: f64| theta - orbit.frequency * self.rtt(class, orbit.queue.at(theta));
            let at = |part: f64| orbit.p.at(a_round_trip_before(before(span * part)));
            GAUSS.iter().map(|[part, weight]| weight * at(*part)).sum()
        } else {
            orbit.p.at(then)
        };
        let s = class.signal_share(p);
        match class.law {
            Window::Mgt => [1.0 / rtt - w * s * acks / 2.0, 0.0],
            Window::Full => [acks * ((1.0 - s) / w - s * w / 2.0), 0.0],
            Window::Calibrated(response) => {
                response.at(w, rtt).slopes(WindowInputs { window: w, rtt, acks, signalled: s }, memory)
            }
        }
    }

    fn unresponsive(&self, p: f64) -> f64 {
        let [markable, others] = self.link.unresponsive;
        self.link.signal_of(true).passes(p) * markable + (1.0 - p) * others
    }

    fn rtt(&self, class: &Class, backlog: f64) -> f64 {
        class.base_rtt + backlog.max(0.0) / self.link.capacity
    }

    fn angles(&self) -> usize {
        2 * self.degree + 1
    }

    /// p of a law that has p at angle 0, at this gain.
    fn signal(&self, queue: &Series, frequency: f64, [first, gain]: [f64; 2]) -> Signal {
        if let Some(rates) = self.adds() {
            let late = frequency * (self.wait + self.period() / 2.0);
            return added(queue, frequency, (first, rates.map(|rate| gain * rate), self.target()), late);
        }
        let level = self.equilibrium.p + gain * self.static_gain() * (queue.mean - self.target());
        Signal::Filtered(queue.filtered(level, |order| gain * self.law(order * frequency)))
    }

    fn target(&self) -> f64 {
        self.equilibrium.backlog
    }

    fn period(&self) -> f64 {
        self.linear.sampled.as_ref().map_or(0.0, |law| law.period.seconds())
    }

    /// n_1 / d_1 and n_0 / d_1 of a law that adds to p.
    pub(super) fn adds(&self) -> Option<[f64; 2]> {
        let law = self.linear.continuous.as_ref()?;
        match (&law.numerator[..], &law.denominator[..]) {
            ([constant, slope], [0.0, below]) => Some([slope / below, constant / below]),
            _ => None,
        }
    }

    /// The law's transfer function at a frequency, with its hold.
    fn law(&self, frequency: f64) -> Complex64 {
        let s = Complex64::new(0.0, frequency);
        let seen = exp(-s * self.wait);
        if let Some(sampled) = &self.linear.sampled {
            let period = self.period();
            let hold = one_minus_exp(-s * period) / (s * period);
            return seen * hold * ratio(&sampled.transfer, exp(-s * period));
        }
        self.linear.continuous.as_ref().map_or(Complex64::ZERO, |law| seen * ratio(law, s))
    }

    /// dp / dq at frequency 0; 0 of a law with integral action, whose backlog has its mean at the target.
    pub(super) fn static_gain(&self) -> f64 {
        let of_samples = self.linear.sampled.as_ref().map(|law| ratio(&law.transfer, Complex64::ONE));
        let found = of_samples.or(self.linear.continuous.as_ref().map(|law| ratio(law, Complex64::ZERO)));
        found.map_or(0.0, |gain| gain.re).clamp(-STEEPEST, STEEPEST)
    }
}

impl Signal {
    /// p at an angle, rad.
    pub(super) fn at(&self, theta: f64) -> f64 {
        match self {
            Signal::Filtered(series) => series.at(theta).clamp(0.0, 1.0),
            Signal::Added { values, late, .. } => {
                let place = ((theta - late) / TAU).rem_euclid(1.0) * values.len() as f64;
                let (below, part) = (place as usize, place.fract());
                let [low, high] = [below, below + 1].map(|place| values[place % values.len()]);
                low + part * (high - low)
            }
        }
    }

    /// Least and greatest p.
    pub(super) fn range(&self) -> [f64; 2] {
        match self {
            Signal::Filtered(series) => series.range(),
            Signal::Added { values, .. } => {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                [least, values.iter().copied().fold(0.0, f64::max)]
            }
        }
    }
}

/// p over a period, from its first value on, by the rates of its proportional and its integral action about a target.
fn added(queue: &Series, frequency: f64, law: (f64, [f64; 2], f64), late: f64) -> Signal {
    let (first, [proportional, integral], target) = law;
    let angle = TAU / STEPS as f64;
    let backlogs: Vec<f64> = (0..=STEPS).map(|step| queue.at(angle * step as f64)).collect();
    let mut values = Vec::with_capacity(STEPS + 1);
    values.push(first);
    for pair in backlogs.windows(2) {
        let moved = proportional * (pair[1] - pair[0])
            + integral * (f64::midpoint(pair[0], pair[1]) - target) * angle / frequency;
        values.push((values[values.len() - 1] + moved).clamp(0.0, 1.0));
    }
    let change = values[STEPS] - first;
    values.truncate(STEPS);
    Signal::Added { values, late, change }
}

fn ratio(law: &sojourn_aqm::linear::Rational, variable: Complex64) -> Complex64 {
    polynomial(&law.numerator, variable) / polynomial(&law.denominator, variable)
}

/// Pairs of numbers as the parts of harmonics.
fn pairs(numbers: &[f64]) -> impl Iterator<Item = Complex64> {
    numbers.chunks_exact(2).map(|part| Complex64::new(part[0], part[1]))
}

/// Gauss and Legendre's points of an integral from 0 to 1, with their weights.
const GAUSS: [[f64; 2]; 5] = [
    [0.046_910_077_030_668, 0.118_463_442_528_094_5],
    [0.230_765_344_947_158_5, 0.239_314_335_249_683_2],
    [0.5, 0.284_444_444_444_444_4],
    [0.769_234_655_052_841_5, 0.239_314_335_249_683_2],
    [0.953_089_922_969_332, 0.118_463_442_528_094_5],
];
/// Least window, packets.
pub(super) const LEAST: f64 = 1.0;
/// Steps of p in a period.
const STEPS: usize = 360;
/// Largest static gain: a law with more has integral action.
pub(super) const STEEPEST: f64 = 1e6;
