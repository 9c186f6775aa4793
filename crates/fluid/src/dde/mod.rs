//! Delay differential equations: the Runge-Kutta method with a history, and events.
//!
//! ```text
//! y'(t) = f(t, y(t), y at earlier times)
//! ```
//!
//! The classical method of fourth order steps from t to t + h. Each step is kept as the cubic with its values and
//! slopes at both ends (Hermite), whose error is of fourth order too, so that a delayed value is as accurate as a
//! present one. Delays may depend on the state.
//!
//! Where the right-hand side jumps or bends the order would be lost. So a system defines *guards*, functions that are
//! positive until an event: a queue runs empty, a delayed argument passes the time of a jump. A step at whose end a
//! guard is negative is rejected; the guard's zero is found on the step's cubic, a shorter step ends there, the system
//! handles the event, and the remainder of the step follows.
//!
//! A. Bellen, M. Zennaro, Numerical Methods for Delay Differential Equations, Oxford 2003: sections 4.2 (continuous
//! extensions) and 2.3 (breaking points).

mod events;
mod history;

pub use history::{Cubic, Curves, History, Moment, Piece, Step};
use std::ops::{Index, IndexMut};

/// A system of delay differential equations.
pub trait System {
    /// Number of values.
    fn width(&self) -> usize;
    /// Sets the stage of the following evaluations.
    fn at_stage(&mut self, _stage: Stage) {}
    /// f: writes the slopes of `y` at `t`.
    fn slope(&mut self, t: f64, y: &[f64], past: &History, out: &mut [f64]);
    /// A step begins after an event or an external change.
    fn jumped(&mut self, _t: f64, _y: &[f64], _past: &History) {}
    /// Number of events to watch for.
    fn guards(&self) -> usize {
        0
    }
    /// Guard of an event: positive until it happens. At the end of a step the slope there has been evaluated before.
    fn guard(&mut self, _event: usize, _t: f64, _y: &[f64], _past: &History) -> f64 {
        1.0
    }
    /// True if no guard can be negative at the end of a step: a cheaper test than the guards themselves.
    fn is_quiet(&self, _t: f64, _y: &[f64]) -> bool {
        false
    }
    /// Handles an event; `y` may jump.
    fn handle_event(&mut self, _event: usize, _t: f64, _y: &mut [f64], _past: &History) {}
    /// Earliest time of the history that will still be needed.
    fn reach(&self, _t: f64, _y: &[f64]) -> f64 {
        f64::NEG_INFINITY
    }
    /// A step was completed; it is the last one in `past`.
    fn stepped(&mut self, _past: &History) {}
}

/// Stage of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// Beginning.
    Begin,
    /// Middle, from the slope at the beginning.
    Second,
    /// Middle, from the slope at the second stage.
    Third,
    /// End, from the slope at the third.
    Fourth,
    /// End of the step.
    End,
    /// Any point within it.
    Look,
}

/// A value for each stage of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Staged<T>([T; Stage::Look as usize + 1]);

/// Integrator of a system.
#[derive(Clone, Debug)]
pub struct Integrator<S> {
    /// The system.
    pub system: S,
    t: f64,
    y: Vec<f64>,
    past: History,
    /// True if f at the present is known, from the end of the last step.
    is_known: bool,
    scratch: Scratch,
}

#[derive(Clone, Debug)]
struct Scratch {
    k: [Vec<f64>; 4],
    stage: Vec<f64>,
    end: Vec<f64>,
    end_slope: Vec<f64>,
}

impl<S: System> Integrator<S> {
    /// The system at the time `start` with the values `y`, which are constant before.
    pub fn new(system: S, start: f64, y: Vec<f64>) -> Integrator<S> {
        let width = system.width();
        assert_eq!(width, y.len(), "a value for each slope");
        let zeros = || vec![0.0; width];
        Integrator {
            system,
            t: start,
            past: History::new(start, &y),
            y,
            is_known: false,
            scratch: Scratch {
                k: std::array::from_fn(|_| zeros()),
                stage: zeros(),
                end: zeros(),
                end_slope: zeros(),
            },
        }
    }

    /// Present time.
    pub fn now(&self) -> f64 {
        self.t
    }

    /// Present values.
    pub fn values(&self) -> &[f64] {
        &self.y
    }

    /// History.
    pub fn past(&self) -> &History {
        &self.past
    }

    /// Integrates to `until` in equal steps of at most `step`.
    pub fn advance(&mut self, until: f64, step: f64) {
        let from = self.t;
        let steps = ((until - from) / step * (1.0 - 1e-12)).ceil().max(1.0);
        let mut number = 1.0;
        while number <= steps {
            let share = number / steps;
            self.step_to(if number == steps { until } else { from + (until - from) * share });
            number += 1.0;
        }
    }

    /// Changes the system between steps; its values may jump.
    pub fn change(&mut self, apply: impl FnOnce(&mut S, &mut [f64])) {
        apply(&mut self.system, &mut self.y);
        self.is_known = false;
    }

    fn begin(&mut self) {
        let Scratch { k: [first, ..], end_slope, .. } = &mut self.scratch;
        if self.is_known {
            std::mem::swap(first, end_slope);
        } else {
            self.system.at_stage(Stage::Begin);
            self.system.jumped(self.t, &self.y, &self.past);
            self.system.slope(self.t, &self.y, &self.past, first);
        }
    }

    /// Tries a step by the classical method, with its end in `scratch`.
    fn try_step(&mut self, h: f64) {
        let Integrator { system, t, y, past, scratch, .. } = self;
        let Scratch { k: [k1, k2, k3, k4], stage, end, end_slope } = scratch;
        // Slices of equal length let the compiler drop bounds checks in the loops below.
        let (y, width) = (&y[..], y.len());
        let (k1, stage, end) = (&k1[..width], &mut stage[..width], &mut end[..width]);
        let (k2, k3, k4) = (&mut k2[..width], &mut k3[..width], &mut k4[..width]);
        let half = h / 2.0;
        weigh(stage, y, k1, half);
        system.at_stage(Stage::Second);
        system.slope(*t + half, stage, past, k2);
        weigh(stage, y, k2, half);
        system.at_stage(Stage::Third);
        system.slope(*t + half, stage, past, k3);
        weigh(stage, y, k3, h);
        system.at_stage(Stage::Fourth);
        system.slope(*t + h, stage, past, k4);
        let sixth = h / 6.0;
        for place in 0..width {
            let sum = k1[place] + 2.0 * (k2[place] + k3[place]) + k4[place];
            end[place] = y[place] + sixth * sum;
        }
        system.at_stage(Stage::End);
        system.slope(*t + h, end, past, end_slope);
    }

    /// Accepts the tried step, which ends at `end`.
    fn take(&mut self, end: f64) {
        if self.past.is_full() {
            self.past.forget(self.system.reach(self.t, &self.y));
        }
        let Scratch { k: [first, ..], end: values, end_slope, .. } = &mut self.scratch;
        let parts = self.past.push(self.t, end);
        let begin = self.y.iter().zip(&*first);
        let last = values.iter().zip(&*end_slope);
        for ((parts, (y0, f0)), (y1, f1)) in parts.iter_mut().zip(begin).zip(last) {
            *parts = [*y0, *f0, *y1, *f1];
        }
        self.t = end;
        std::mem::swap(&mut self.y, values);
        self.is_known = true;
        self.system.stepped(&self.past);
    }
}

impl<T> Index<Stage> for Staged<T> {
    type Output = T;

    #[inline]
    fn index(&self, stage: Stage) -> &T {
        &self.0[stage as usize]
    }
}

impl<T> IndexMut<Stage> for Staged<T> {
    #[inline]
    fn index_mut(&mut self, stage: Stage) -> &mut T {
        &mut self.0[stage as usize]
    }
}

impl<T: Copy> Staged<T> {
    /// Starts the next step at the end of this one.
    #[inline]
    pub fn turn_over(&mut self) {
        self[Stage::Begin] = self[Stage::End];
    }

    /// Integral over a step of length `h`, with the weights of the method.
    #[inline]
    pub fn over(&self, h: f64, value: impl Fn(&T) -> f64) -> f64 {
        let [begin, second, third, fourth, ..] = &self.0;
        h / 6.0 * (value(begin) + 2.0 * (value(second) + value(third)) + value(fourth))
    }
}

/// y + h k.
#[inline]
fn weigh(out: &mut [f64], y: &[f64], k: &[f64], h: f64) {
    let width = out.len();
    let (y, k) = (&y[..width], &k[..width]);
    for place in 0..width {
        out[place] = y[place] + h * k[place];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::math;

    /// y' = -y(t - 1), y = 1 before 0: on [0, 1] y = 1 - t, on [1, 2] y = 1 - t + (t - 1)^2 / 2, and so on.
    #[derive(Clone)]
    struct Lagged(usize);

    impl System for Lagged {
        fn width(&self) -> usize {
            1
        }
        fn slope(&mut self, t: f64, _y: &[f64], past: &History, out: &mut [f64]) {
            out[0] = -past.at(t - 1.0, &mut self.0).value(0);
        }
        fn reach(&self, t: f64, _y: &[f64]) -> f64 {
            t - 1.0
        }
    }

    /// The method of steps, summed: y(t) = sum over k of (-1)^k (t - (k - 1))^k / k!, as far as t > k - 1.
    fn exact(t: f64) -> f64 {
        let term = |k: i32| {
            let factorial: f64 = (1..=k).map(f64::from).product();
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sign * math::pow_int((f64::from(1 - k) + t).max(0.0), k as u64) / factorial
        };
        (0..=12).map(|k| if k == 0 { 1.0 } else { term(k) }).sum()
    }

    #[test]
    fn the_error_is_of_fourth_order() {
        // Steps that divide the delay: no step contains a bend.
        let error = |steps: u32| {
            let mut run = Integrator::new(Lagged(0), 0.0, vec![1.0]);
            run.advance(6.0, 1.0 / f64::from(steps));
            (run.values()[0] - exact(6.0)).abs()
        };
        let [coarse, fine] = [error(8), error(16)];
        assert!(fine < 2e-6 && (14.0..40.0).contains(&(coarse / fine)), "{coarse} {fine}");
    }

    #[test]
    fn history_beyond_the_reach_is_dropped() {
        let mut run = Integrator::new(Lagged(0), 0.0, vec![1.0]);
        run.advance(100.0, 0.01);
        assert!(run.past.capacity <= 128, "{}", run.past.capacity);
    }
}
