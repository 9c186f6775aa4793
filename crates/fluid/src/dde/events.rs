//! Steps that end at events.

use super::history::hermite;
use super::{Integrator, Scratch, Stage, System};

impl<S: System> Integrator<S> {
    /// Integrates to `target`, with all events on the way.
    pub(super) fn step_to(&mut self, target: f64) {
        let mut at_once = 0;
        for _ in 0..MOST_EVENTS {
            let whole = target - self.t;
            if whole <= 0.0 {
                return;
            }
            // Zeno guard: take a short step that ignores events.
            let stuck = at_once > 0 && at_once > 2 * self.system.guards();
            let length = if stuck { LITTLE * whole } else { whole };
            self.begin();
            self.try_step(length);
            let first = if stuck { None } else { self.first_event(length, None) };
            let from = self.t;
            match first {
                None if stuck => self.take(from + length),
                None => return self.take(target),
                Some(first) => {
                    if let Some(event) = self.meet(first, length) {
                        self.system.handle_event(event, self.t, &mut self.y, &self.past);
                        self.is_known = false;
                    }
                }
            }
            at_once = if self.t > from { 0 } else { at_once + 1 };
        }
        // Too many events in a step: finish it without them.
        self.begin();
        self.try_step(target - self.t);
        self.take(target);
    }

    /// Takes a step to the first event in the tried one; gives the event, if it occurs. Where the shorter step passes
    /// another event, it ends there instead.
    fn meet(&mut self, mut found: Crossing, mut length: f64) -> Option<usize> {
        for left in (0..MOST_EVENTS).rev() {
            if found.share <= SHORTEST {
                break;
            }
            let (end, is_met) = self.approach(&found, length);
            match self.first_event(end, Some(found.event)) {
                Some(earlier) if left > 0 && earlier.share < 1.0 - NEAR => {
                    (found, length) = (earlier, end);
                }
                _ => {
                    self.take(self.t + end);
                    return is_met.then_some(found.event);
                }
            }
        }
        Some(found.event)
    }

    /// First event in the tried step, except `but`.
    fn first_event(&mut self, h: f64, but: Option<usize>) -> Option<Crossing> {
        self.system.at_stage(Stage::End);
        if self.system.is_quiet(self.t + h, &self.scratch.end) {
            return None;
        }
        let mut first: Option<Crossing> = None;
        for event in 0..self.system.guards() {
            if but == Some(event) {
                continue;
            }
            let end = self.guard_at_end(event, h);
            if end < 0.0 {
                let found = self.zero_of(event, h, end);
                self.system.at_stage(Stage::End);
                first = first.filter(|first| first.share <= found.share).or(Some(found));
            }
        }
        first
    }

    /// Zero of a guard that is negative at the end of the step: regula falsi (Illinois) on the cubic.
    #[inline(never)]
    fn zero_of(&mut self, event: usize, h: f64, end: f64) -> Crossing {
        let begin = self.guard_within(event, 0.0, h);
        let found = |share: f64| Crossing { event, share, begin, end };
        if begin <= 0.0 {
            return found(0.0);
        }
        let (mut low, mut high) = ((0.0, begin), (1.0, end));
        let mut was_below = None;
        for _ in 0..MOST_TRIALS {
            let middle = low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1);
            let value = self.guard_within(event, middle, h);
            if value.abs() <= NEAR * begin {
                return found(middle);
            }
            let is_below = value < 0.0;
            let (moved, stays) = if is_below { (&mut high, &mut low) } else { (&mut low, &mut high) };
            *moved = (middle, value);
            if was_below == Some(is_below) {
                stays.1 /= 2.0;
            }
            was_below = Some(is_below);
            if high.0 - low.0 < SHORTEST {
                break;
            }
        }
        found(high.0)
    }

    /// Tries the step that ends at the event; gives its length, and whether the event occurs there. The cubic of a
    /// shorter step is a different one, so the zero is found by trial steps. A step that jumps over zero, because the
    /// slope jumps within it, ends before the jump.
    fn approach(&mut self, found: &Crossing, whole: f64) -> (f64, bool) {
        let &Crossing { event, share, begin, end } = found;
        let (mut low, mut high) = ((0.0, begin), (whole, end));
        let mut length = share * whole;
        for trial in 0..MOST_TRIALS {
            self.try_step(length);
            let value = self.guard_at_end(event, length);
            if value.abs() <= NEAR * begin {
                return (length, true);
            }
            *(if value < 0.0 { &mut high } else { &mut low }) = (length, value);
            let width = high.0 - low.0;
            if width < SHORTEST * whole {
                break;
            }
            // Secants find the zero in a few trials if there is one.
            let part = if trial < MOST_SECANTS { low.1 / (low.1 - high.1) } else { 0.5 };
            length = low.0 + width * part;
        }
        let end = if low.0 > SHORTEST * whole { low } else { high };
        self.try_step(end.0);
        (end.0, end.0 == high.0)
    }

    /// Value of a guard at the end of the tried step.
    fn guard_at_end(&mut self, event: usize, h: f64) -> f64 {
        self.system.guard(event, self.t + h, &self.scratch.end, &self.past)
    }

    /// Value of a guard within the tried step, on its cubic.
    fn guard_within(&mut self, event: usize, share: f64, h: f64) -> f64 {
        let Scratch { k, stage, end, end_slope } = &mut self.scratch;
        let weights = hermite(share, h);
        for place in 0..stage.len() {
            let parts = [self.y[place], k[0][place], end[place], end_slope[place]];
            stage[place] = weights.iter().zip(parts).map(|(weight, part)| weight * part).sum();
        }
        self.system.at_stage(Stage::Look);
        self.system.guard(event, self.t + share * h, stage, &self.past)
    }
}

/// Zero of a guard in a step, as a share of the step, and the guard's values at both ends.
struct Crossing {
    event: usize,
    share: f64,
    begin: f64,
    end: f64,
}

/// Events that may interrupt one step.
const MOST_EVENTS: usize = 1000;
/// Share of a step to take where no event can be located.
const LITTLE: f64 = 1e-3;
/// Trials to find an event.
const MOST_TRIALS: usize = 60;
/// Trials by secants, where steps are taken; bisection after that.
const MOST_SECANTS: usize = 8;
/// Tolerance of a guard at its event, relative to its value before.
const NEAR: f64 = 1e-10;
/// Least share of a step that is resolved.
const SHORTEST: f64 = 1e-10;

#[cfg(test)]
mod tests {
    use super::super::History;
    use super::*;

    /// A bouncing ball: y'' = -10, each impact halves its speed.
    #[derive(Clone)]
    struct Ball {
        impacts: Vec<f64>,
    }

    impl System for Ball {
        fn width(&self) -> usize {
            2
        }
        fn slope(&mut self, _t: f64, y: &[f64], _past: &History, out: &mut [f64]) {
            (out[0], out[1]) = (y[1], -10.0);
        }
        fn guards(&self) -> usize {
            1
        }
        fn guard(&mut self, _event: usize, _t: f64, y: &[f64], _past: &History) -> f64 {
            y[0]
        }
        fn handle_event(&mut self, _event: usize, t: f64, y: &mut [f64], _past: &History) {
            self.impacts.push(t);
            (y[0], y[1]) = (0.0, -y[1] / 2.0);
        }
    }

    #[test]
    fn an_event_that_the_first_trial_meets_to_the_last_bit_is_met_there() {
        // Without acceleration it falls along a straight line: half of the step, a binary fraction.
        let mut run = Integrator::new(Falling { met: Vec::new() }, 0.0, vec![0.25]);
        run.advance(0.5, 0.5);
        assert_eq!(run.system.met, [0.25]);
    }

    /// y' = -1; the event at 0 occurs once.
    struct Falling {
        met: Vec<f64>,
    }

    impl System for Falling {
        fn width(&self) -> usize {
            1
        }
        fn slope(&mut self, _t: f64, _y: &[f64], _past: &History, out: &mut [f64]) {
            out[0] = -1.0;
        }
        fn guards(&self) -> usize {
            1
        }
        fn guard(&mut self, _event: usize, _t: f64, y: &[f64], _past: &History) -> f64 {
            if self.met.is_empty() { y[0] } else { 1.0 }
        }
        fn handle_event(&mut self, _event: usize, t: f64, _y: &mut [f64], _past: &History) {
            self.met.push(t);
        }
    }

    #[test]
    fn an_event_is_met_where_it_happens() {
        let mut run = Integrator::new(Ball { impacts: Vec::new() }, 0.0, vec![5.0, 0.0]);
        run.advance(2.6, 0.07);
        // From 5 m it falls for 1 s, comes up again with 5 m/s for 1 s, then with 2.5 m/s for 0.5 s.
        let expected = [1.0, 2.0, 2.5];
        assert_eq!(run.system.impacts.len(), 3);
        for (impact, expected) in run.system.impacts.iter().zip(expected) {
            assert!((impact - expected).abs() < 1e-9, "{impact}");
        }
    }
}
