//! Exact solution of the queue under a constant input.
//!
//! With an inner time s defined by dt = (a + x) ds the queue is linear, and so is the costate:
//!
//! ```text
//! dx/ds = (a + x) (c - g(x)) = k x + c a,   k = c - mu                                (A1)
//! dl/ds = -(a + x) + l a mu / (a + x)
//! ```
//!
//! for the input c and the costate l. So with E(y) = (e^y - 1) / y and f = k x_0 + c a, from x_0 on,
//!
//! ```text
//! x(s) = x_0 + f s E(k s)                                                             (A2)
//! l(0) = (a + x_0) [ l(s) e^(k s) / (a + x(s)) + s E(k s) ]                           (A3)
//! ```
//!
//! Time is the integral of a + x over s, and the area under the queue that of x (a + x). Both are written as sums of
//! terms of one sign: about the initial point where the queue rises,
//!
//! ```text
//! t = (a + x_0) s + f s^2 E_2(k s),   E_2(y) = (e^y - 1 - y) / y^2                    (A4)
//! area = x_0 (a + x_0) s + (a + 2 x_0) f s^2 E_2(k s) + f^2 s^3 E_3(k s)
//! E_3(y) = integral of (v E(y v))^2 over v from 0 to 1
//! ```
//!
//! and about the equilibrium x_e = -c a / k, with d = x_0 - x_e, where it falls:
//!
//! ```text
//! t = (a + x_e) s + d s E(k s)                                                        (A5)
//! area = x_e (a + x_e) s + (a + 2 x_e) d s E(k s) + d^2 s E(2 k s)
//! ```
//!
//! So there is no cancellation near equilibrium, near an empty queue, or where c is mu.

use super::Queue;
use crate::root;
use sojourn_units::math;

/// A time interval with constant input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arc {
    queue: Queue,
    input: f64,
    /// x_0, packets.
    from: f64,
    /// s at its end, s/packet.
    length: f64,
}

impl Arc {
    /// Arc from the backlog `from` under `input`, for `time` seconds.
    pub(crate) fn lasting(queue: Queue, input: f64, from: f64, time: f64) -> Arc {
        let start = Arc { queue, input, from, length: 0.0 };
        let bounds = [from, start.x_e()].map(|x| time / (queue.half + x));
        // Where it rises, a + x is at least its initial value; where it falls, at least that at x_e.
        let [slow, fast] = if start.falls() { bounds } else { [0.0, bounds[0]] };
        let length = root::of_rising(time, slow, fast, |length| {
            let arc = Arc { length, ..start };
            (arc.time(), queue.half + arc.end())
        });
        Arc { length, ..start }
    }

    /// Arc from the backlog `from` under `input` to the backlog `to`; none if it never gets there.
    pub(crate) fn leading(queue: Queue, input: f64, from: f64, to: f64) -> Option<Arc> {
        let arc = Arc { queue, input, from, length: 0.0 };
        if to == from {
            return Some(arc);
        }
        let (rate, drive) = (arc.rate(), arc.drive());
        let step = (to - from) / drive;
        // Equation (A2) for s; near the equilibrium the remaining distance counts, not the one covered.
        let log = if rate * step > -0.5 {
            math::ln_1p(rate * step)
        } else {
            math::ln((to - arc.x_e()) / (from - arc.x_e()))
        };
        let length = if rate * step == 0.0 { step } else { log / rate };
        (length.is_finite() && length >= 0.0).then_some(Arc { length, ..arc })
    }

    /// c, packets/s.
    pub(crate) fn input(&self) -> f64 {
        self.input
    }

    /// Initial backlog, packets.
    pub(crate) fn from(&self) -> f64 {
        self.from
    }

    /// Length in the inner time, s/packet.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// First part, up to the inner time `length`.
    pub(crate) fn before(&self, length: f64) -> Arc {
        Arc { length, ..*self }
    }

    /// Remaining part from the inner time `length` on.
    pub(crate) fn after(&self, length: f64) -> Arc {
        Arc { from: self.before(length).end(), length: self.length - length, ..*self }
    }

    /// Equation (A2): final backlog, packets.
    pub(crate) fn end(&self) -> f64 {
        let grown = self.rate() * self.length;
        if self.falls() {
            return self.x_e() + (self.from - self.x_e()) * math::exp(grown);
        }
        self.from + self.drive() * self.length * relative(grown)
    }

    /// Equations (A4) and (A5): duration, s.
    pub(crate) fn time(&self) -> f64 {
        let (half, length, grown) = (self.queue.half, self.length, self.rate() * self.length);
        if self.falls() {
            let x_e = self.x_e();
            return (half + x_e) * length + (self.from - x_e) * length * relative(grown);
        }
        (half + self.from) * length + self.drive() * length * length * second(grown)
    }

    /// Equations (A4) and (A5): the integral of the backlog over time, packets s.
    pub(crate) fn area(&self) -> f64 {
        let (half, length, grown) = (self.queue.half, self.length, self.rate() * self.length);
        if self.falls() {
            let (x_e, away) = (self.x_e(), self.from - self.x_e());
            let first = (half + 2.0 * x_e) * relative(grown) + away * relative(2.0 * grown);
            return length * (x_e * (half + x_e) + away * first);
        }
        let (from, step) = (self.from, self.drive() * length);
        let first = (half + 2.0 * from) * second(grown) + step * third(grown);
        length * (from * (half + from) + step * first)
    }

    /// Equation (A3): initial costate, s, given the final one.
    pub(crate) fn costate(&self, costate: f64) -> f64 {
        let (half, grown) = (self.queue.half, self.rate() * self.length);
        let carried = costate * math::exp(grown) / (half + self.end());
        (half + self.from) * (carried + self.length * relative(grown))
    }

    /// Integral over time of `f`, a function of the backlog and the costate; `costate` is the final one.
    pub(crate) fn integral(&self, costate: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
        let edges = self.panels();
        let over = |low: f64, high: f64| {
            let (middle, reach) = (f64::midpoint(low, high), (high - low) / 2.0);
            let node = |(place, weight): (f64, f64)| {
                let left = self.after(middle + reach * place);
                weight * f(left.from, left.costate(costate)) * (self.queue.half + left.from)
            };
            let pairs = GAUSS.iter().flat_map(|&(place, weight)| [(-place, weight), (place, weight)]);
            reach * pairs.map(node).sum::<f64>()
        };
        edges.windows(2).map(|edge| over(edge[0], edge[1])).sum()
    }

    /// k, packets/s.
    fn rate(&self) -> f64 {
        self.input - self.queue.service
    }

    /// f, packets^2/s.
    fn drive(&self) -> f64 {
        self.rate() * self.from + self.input * self.queue.half
    }

    fn falls(&self) -> bool {
        self.drive() < 0.0
    }

    /// x_e, packets; it exists where the queue falls.
    fn x_e(&self) -> f64 {
        -self.input * self.queue.half / self.rate()
    }

    /// Inner times between which everything changes by a factor of about e. All changes are e^(k s) from either end;
    /// where both are negligible, one panel suffices.
    fn panels(&self) -> Vec<f64> {
        let folds = self.rate().abs() * self.length;
        let even = |from: f64, to: f64, parts: f64| {
            (0..parts as u32).map(move |part| from + (to - from) * f64::from(part) / parts)
        };
        let mut edges: Vec<f64> = if folds <= 2.0 * SPENT {
            even(0.0, self.length, folds.ceil().max(1.0)).collect()
        } else {
            let near = self.length * SPENT / folds;
            let far = self.length - near;
            even(0.0, near, SPENT).chain([near]).chain(even(far, self.length, SPENT)).collect()
        };
        edges.push(self.length);
        edges
    }
}

/// E(y) = (e^y - 1) / y.
fn relative(y: f64) -> f64 {
    if y == 0.0 { 1.0 } else { math::exp_m1(y) / y }
}

/// E_2(y) = (e^y - 1 - y) / y^2.
fn second(y: f64) -> f64 {
    if y.abs() > SMALL {
        return (math::exp_m1(y) - y) / (y * y);
    }
    series(y, |n| 1.0 / ((n + 1.0) * (n + 2.0)))
}

/// E_3(y) = [ E(2 y) - 2 E(y) + 1 ] / y^2.
fn third(y: f64) -> f64 {
    if y.abs() > SMALL {
        return (relative(2.0 * y) - 2.0 * relative(y) + 1.0) / (y * y);
    }
    let mut twos = 2.0;
    series(y, |n| {
        twos *= 2.0;
        (twos - 2.0) / ((n + 1.0) * (n + 2.0) * (n + 3.0))
    })
}

/// The sum of `factor(n)` y^n / n!, for a small y.
fn series(y: f64, mut factor: impl FnMut(f64) -> f64) -> f64 {
    let (mut power, mut sum) = (1.0, 0.0);
    for n in 0..TERMS {
        let n = f64::from(n);
        sum += factor(n) * power;
        power *= y / (n + 1.0);
    }
    sum
}

/// Least |y| of the closed forms, which lose digits below it.
const SMALL: f64 = 0.5;
/// Terms after which the series of a y up to 1/2 no longer changes.
const TERMS: u32 = 20;
/// Exponent beyond which e^-y is negligible beside 1.
const SPENT: f64 = 40.0;
/// Gauss and Legendre's eight points and weights on [-1, 1], the positive half.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];
