//! Windows of a class about an equilibrium: the coefficients of equation (3) of [`super::plant`], its factors (5) and (6), and
//! bounds of them.

use super::bound::{Bound, Outside, grown, power};
use super::complex::{Complex64, exp, mean_exp, scale};
use super::equilibrium::Class;
use crate::plant::Window;
use crate::response::{Memory, SenderPoint};
use sojourn_units::math;

/// Coefficients of equation (3), and of the class in (4).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Windows {
    /// Of its ACKs, s.
    pub(super) delay: f64,
    /// Time over which its signals take effect after that, s.
    pub(super) span: f64,
    /// a and b, 1/s.
    pub(super) now: f64,
    pub(super) then: f64,
    /// g, packets/s.
    pub(super) fall: f64,
    /// k, 1/s.
    pub(super) slow: f64,
    /// k x, 1/s.
    pub(super) by_rtt: f64,
    /// m of a memory of signals, 1/s; 0: none.
    pub(super) memory: f64,
    /// Factor of the memory m / (s + m) in the response to signals: 1 of DCTCP, c of CUBIC.
    pub(super) remembered: f64,
    /// c of (6); 0 of other windows.
    pub(super) growth_memory: f64,
    /// z: that of [`crate::response::SenderPoint`].
    pub(super) at_once: f64,
    /// n s, the link's packets per window.
    pub(super) flight: f64,
    /// theta n s / R, packets/s per window.
    pub(super) rate: f64,
    /// theta n s where the queue follows the windows at once, packets per window; else 0.
    pub(super) clock: f64,
    /// Reductions of one window, by the second: sum of their squares, packets^2/s, sum, packets/s, and number, 1/s.
    pub(super) reductions: [f64; 3],
    /// Mean growth that a reduction discards, packets.
    pub(super) lost_growth: f64,
    /// Variance of the signals of a packet that a window averages; 0: none.
    pub(super) draws: f64,
    /// Variance of the packets of a flow that wait for a delayed acknowledgment.
    pub(super) unacknowledged: f64,
    /// W, its packets.
    pub(super) window: f64,
    /// n, number of flows.
    pub(super) flows: f64,
}

/// True if ACKs clock the packets of a class in its model.
pub(crate) fn is_clocked(class: &Class) -> bool {
    matches!(class.law, Window::Calibrated(_))
}

/// Equilibrium of a class's windows.
pub(super) struct State {
    pub(super) window: f64,
    pub(super) rtt: f64,
    /// s.
    pub(super) signals: f64,
    /// C; 1 where queues are counted in seconds.
    pub(super) capacity: f64,
}

impl State {
    /// Equation (3).
    pub(super) fn linear(self, class: &Class) -> Windows {
        let State { window, rtt, signals, capacity } = self;
        let square = window * window;
        let (mut by_rtt, mut memory, mut at_once) = (0.0, 0.0, 1.0);
        let (mut remembered, mut growth_memory, mut averages) = (0.0, 0.0, false);
        // Windows that random signals halve: E(W^3) = (8 / 3) E(W) / p (T. J. Ott, J. H. B. Kemperman and M. Mathis, 1996).
        let mut reductions = [2.0 / 3.0 * window, 1.0, SIGNALS / window];
        let (mut lost_growth, mut unacknowledged) = (0.0, 0.0);
        let (now, then, fall, slow) = match class.law {
            Window::Mgt => {
                let half = window * signals / (2.0 * rtt);
                (half, half, square / (2.0 * rtt), square * signals / (2.0 * rtt * rtt * capacity))
            }
            Window::Full => (signals * window / rtt, 0.0, (1.0 + square / 2.0) / rtt, 0.0),
            Window::Calibrated(response) => {
                let SenderPoint {
                    growth,
                    elasticity,
                    by_rtt: slope,
                    at_once: directly,
                    reductions: of_chain,
                    ..
                } = response.at(window, rtt);
                let then = growth / (rtt * window);
                let slow = growth / (rtt * rtt * capacity);
                by_rtt = slow * slope;
                reductions = [of_chain.squares, growth, of_chain.rate];
                (lost_growth, unacknowledged) = (response.lost_growth(), response.unacknowledged());
                match response.memory() {
                    Some(Memory::Signals { weight }) => {
                        (memory, remembered, averages) = (weight / rtt, 1.0, true);
                    }
                    Some(Memory::Growth { by_signals }) => {
                        (memory, remembered) = (of_chain.rate / rtt, by_signals);
                        growth_memory = by_signals;
                    }
                    None => {}
                }
                at_once = directly;
                let of_signals = if averages { 1.0 + at_once } else { 1.0 };
                ((of_signals * elasticity - 1.0) * then, then, growth / (rtt * signals), slow)
            }
        };
        let fall = (1.0 - class.loss) * fall;
        let span = class.law.signal_span(window) * rtt;
        let of = Windows { delay: rtt, span, now, then, fall, slow, by_rtt, ..Windows::default() };
        // Each packet is a draw of its signal, a loss behind the queue or p; `fall` is by p alone.
        let by_p = 1.0 - class.loss;
        let draws = if averages { signals * (1.0 - signals) / (by_p * by_p) } else { 0.0 };
        Windows {
            memory,
            remembered,
            growth_memory,
            at_once,
            reductions: reductions.map(|each| each / rtt),
            lost_growth,
            draws,
            unacknowledged,
            window,
            ..of
        }
    }
}

impl Windows {
    /// Time from a signal to the last of its effect, s.
    pub(super) fn longest_delay(&self) -> f64 {
        self.delay + self.span
    }

    /// Mean of e^(-s delay) over the delays of signals, given that of ACKs.
    pub(super) fn late_signals(&self, s: Complex64, late: Complex64) -> Complex64 {
        if self.span == 0.0 { late } else { late * mean_exp(s * self.span) }
    }

    /// The same, given that of the longest delay, too.
    pub(super) fn late_signals_between(&self, s: Complex64, [late, last]: [Complex64; 2]) -> Complex64 {
        let turn = s * self.span;
        if scale(turn) < NEAR { self.late_signals(s, late) } else { (late - last) / turn }
    }

    /// Denominator, and the window's coefficients of p and of q, given e^(-s delay) of ACKs and of signals.
    pub(super) fn at(&self, s: Complex64, [late, late_signals]: [Complex64; 2]) -> [Complex64; 3] {
        let itself = self.now + late * self.then;
        let (fall, slow) = (late_signals * self.fall, (1.0 - late) * self.slow - self.by_rtt);
        if self.memory == 0.0 {
            return [nonzero(s + itself), fall, slow];
        }
        // Multiplied by the memory's denominator.
        let memory = s / self.memory + 1.0;
        let growth = memory + self.growth_memory;
        [
            nonzero(s * memory + itself * growth),
            fall * (memory * self.at_once + self.remembered),
            slow * growth,
        ]
    }

    /// Denominator.
    pub(super) fn own(&self, s: Complex64) -> Complex64 {
        self.at(s, [exp(-s * self.delay), Complex64::ZERO])[0]
    }

    /// mu of (6).
    pub(super) fn growth(&self, s: Complex64) -> Complex64 {
        if self.growth_memory == 0.0 {
            return Complex64::ONE;
        }
        1.0 + self.growth_memory * self.memory / (s + self.memory)
    }

    /// Its real zeros, 1/s: of s + a + b e^(-sR), which is convex, by Newton's method from either side, and that of
    /// DCTCP's average. Most of those of CUBIC's windows with their memory are not real.
    pub(super) fn real_zeros(&self) -> Vec<f64> {
        let Windows { delay, now, then, memory, .. } = *self;
        if self.growth_memory > 0.0 {
            return Vec::new();
        }
        let of_average = (memory > 0.0).then_some(-memory);
        if then <= 0.0 {
            return std::iter::once(-now).chain(of_average).collect();
        }
        let late = |s: f64| then * math::exp(-s * delay);
        let lowest = math::ln(then * delay) / delay;
        if lowest + now + late(lowest) >= 0.0 {
            return of_average.into_iter().collect();
        }
        let from = |away: f64| {
            let places = (0..60).map(|doubling| lowest + away * power(2.0, doubling));
            let start = places.into_iter().find(|s| s + now + late(*s) > 0.0)?;
            let step = |s: f64| s - (s + now + late(s)) / (1.0 - delay * late(s));
            Some((0..CONVEX).fold(start, |s, _| step(s)))
        };
        [-1.0, 1.0].into_iter().filter_map(|side| from(side / delay)).chain(of_average).collect()
    }

    /// The queue's growth by the window, over the window's denominator, given e^(-s delay) of ACKs.
    pub(super) fn queue_by_window(&self, s: Complex64, late: Complex64) -> Complex64 {
        (s * self.clock + self.rate) / (s + (self.now + late * self.then) * self.growth(s))
    }

    /// Rate of the lag that approximates it, 1/s: a, or b where windows hardly respond to themselves.
    pub(super) fn lagging(&self) -> f64 {
        if self.now > 0.1 * self.then { self.now } else { self.then }
    }

    /// Bound of the queue's growth by window.
    pub(super) fn rates(&self, radius: f64) -> Bound {
        let growing = Bound { factor: self.clock, power: 1 };
        if self.clock == 0.0 { Bound::flat(self.rate) } else { Bound::flat(self.rate).plus(growing, radius) }
    }

    /// Bounds of one over the denominator, and of the two others.
    pub(super) fn bounds(&self, at: Outside) -> Option<[Bound; 3]> {
        let late = grown(at.left, self.delay);
        let growth = 1.0 + self.grown_by_memory(at.radius)?.at(at.radius);
        let own = Bound::over((self.now.abs() + self.then * late) * growth, at.radius)?;
        let [at_once, averaged] = self.signal_bounds(at)?;
        let slow = Bound::flat((self.slow * (1.0 + late) + self.by_rtt.abs()) * growth);
        Some([own, at_once.plus(averaged, at.radius), slow])
    }

    /// Bounds of the coefficient of p: of the signals themselves, and of their average.
    pub(super) fn signal_bounds(&self, at: Outside) -> Option<[Bound; 2]> {
        let fall = self.fall * grown(at.left, self.longest_delay());
        let at_once = Bound::flat(fall * self.at_once);
        if self.memory == 0.0 {
            return Some([at_once, Bound::NONE]);
        }
        let memory = Bound::over(self.memory, at.radius)?.times(self.memory * self.remembered);
        Some([at_once, memory.times(fall)])
    }

    /// Bound of mu - 1.
    pub(super) fn grown_by_memory(&self, radius: f64) -> Option<Bound> {
        if self.growth_memory == 0.0 {
            return Some(Bound::NONE);
        }
        Some(Bound::over(self.memory, radius)?.times(self.memory * self.growth_memory))
    }
}

/// A divisor: where it is 0, a number so small that its products with what it divides are those of the limit.
fn nonzero(own: Complex64) -> Complex64 {
    if own == Complex64::ZERO { Complex64::new(SMALL, 0.0) } else { own }
}

/// Steps of Newton's method on a convex function.
const CONVEX: usize = 30;
/// Angle of a span below which the difference of its ends loses digits, rad.
const NEAR: f64 = 0.1;
/// In place of 0 in a divisor.
const SMALL: f64 = 1e-150;
/// p W^2 of windows that random signals halve, 1.31^2.
const SIGNALS: f64 = 1.716;
