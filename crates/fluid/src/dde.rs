//! Delay differential equations: Runge and Kutta's method over a history, and events.
//!
//! ```text
//! y'(t) = f(t, y(t), y at earlier times)
//! ```
//!
//! The classical method of fourth order goes from t to t + h. Each step is kept as the cubic that has its values
//! and slopes at both ends (Hermite), whose error is of fourth order too, so that a delayed value is as good as a
//! present one. Delays may depend on the state.
//!
//! Where the right-hand side jumps or bends the order would be lost. So a system names *guards*, functions that
//! stay above 0 until something happens: a queue is empty, a delayed argument passes the time of a jump. A step
//! that ends below 0 is taken back; the zero is found on its cubic, a shorter step goes there, the system
//! *strikes*, that is, changes what it must, and the rest of the step follows.
//!
//! A. Bellen, M. Zennaro, Numerical Methods for Delay Differential Equations, Oxford 2003: sections 4.2 (continuous
//! extensions) and 2.3 (breaking points).

/// A system of delay differential equations.
pub trait System {
    /// How many values it has.
    fn width(&self) -> usize;
    /// What follows is about this stage of a step: 0 is its beginning, 1 to 3 lead to its end, 4 is its end. In the
    /// integral over the step they weigh 1, 2, 2, 1 and 0 sixths.
    fn at_stage(&mut self, _stage: usize) {}
    /// f: writes the slopes of `y` at `t`.
    fn slope(&mut self, t: f64, y: &[f64], past: &History, out: &mut [f64]);
    /// Something has happened, an event or a change from outside; the next step begins here.
    fn jumped(&mut self, _t: f64, _y: &[f64], _past: &History) {}
    /// How many events there are to watch for.
    fn guards(&self) -> usize {
        0
    }
    /// What is above 0 as long as this event has not happened.
    fn guard(&mut self, _event: usize, _t: f64, _y: &[f64], _past: &History) -> f64 {
        1.0
    }
    /// The event happens now; `y` may jump.
    fn strike(&mut self, _event: usize, _t: f64, _y: &mut [f64], _past: &History) {}
    /// No time before this one will be asked for any more.
    fn reach(&self, _t: f64, _y: &[f64]) -> f64 {
        f64::NEG_INFINITY
    }
    /// A step has been taken; it is the last one in `past`.
    fn stepped(&mut self, _past: &History) {}
}

/// A system on its way through time.
#[derive(Clone, Debug)]
pub struct Integrator<S> {
    /// The system.
    pub system: S,
    t: f64,
    y: Vec<f64>,
    past: History,
    /// Whether f at the present is known: as it was at the end of the last step.
    is_known: bool,
    scratch: Scratch,
}

/// The steps that were taken, each a cubic.
#[derive(Clone, Debug)]
pub struct History {
    width: usize,
    start: f64,
    /// The values before the start.
    before: Vec<f64>,
    /// Number of the oldest step that is kept, and of the next one to come.
    first: usize,
    next: usize,
    /// Rings: when each step begins and how long it is, and what it is made of, value by value.
    times: Vec<[f64; 2]>,
    parts: Vec<Parts>,
    /// Steps that the rings hold; a power of two.
    capacity: usize,
}

/// A value in a step: the value and its slope at the beginning, and at the end.
type Parts = [f64; 4];

/// A time in the past, found.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The step's values; none before the start.
    parts: &'a [Parts],
    before: &'a [f64],
    weights: Parts,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Its beginning.
    pub t: f64,
    /// Its length.
    pub length: f64,
    parts: &'a [Parts],
}

#[derive(Clone, Debug)]
struct Scratch {
    k: [Vec<f64>; 4],
    stage: Vec<f64>,
    end: Vec<f64>,
    end_slope: Vec<f64>,
}

impl<S: System> Integrator<S> {
    /// The system at the time `start` with the values `y`, which it has had for ever before.
    pub fn new(system: S, start: f64, y: Vec<f64>) -> Integrator<S> {
        let width = system.width();
        assert_eq!(width, y.len(), "a value for each slope");
        let zeros = || vec![0.0; width];
        Integrator {
            system,
            t: start,
            past: History::new(start, y.clone()),
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

    /// The present.
    pub fn now(&self) -> f64 {
        self.t
    }

    /// The present values.
    pub fn values(&self) -> &[f64] {
        &self.y
    }

    /// The past.
    pub fn past(&self) -> &History {
        &self.past
    }

    /// Goes on to `until` in equal steps of at most `step`.
    pub fn advance(&mut self, until: f64, step: f64) {
        let from = self.t;
        let steps = ((until - from) / step * (1.0 - 1e-12)).ceil().max(1.0) as u64;
        for number in 1..=steps {
            let share = number as f64 / steps as f64;
            self.step_to(if number == steps { until } else { from + (until - from) * share });
        }
    }

    /// Lets something happen to the system from outside; its values may jump.
    pub fn change(&mut self, what: impl FnOnce(&mut S, &mut [f64])) {
        what(&mut self.system, &mut self.y);
        self.is_known = false;
    }

    fn step_to(&mut self, target: f64) {
        let mut at_once = 0;
        for _ in 0..MOST_EVENTS {
            let whole = target - self.t;
            if whole <= 0.0 {
                return;
            }
            // Events that call each other for ever: a little on without them.
            let stuck = at_once > 2 * self.system.guards();
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
                        self.system.strike(event, self.t, &mut self.y, &self.past);
                        self.is_known = false;
                    }
                }
            }
            at_once = if self.t > from { 0 } else { at_once + 1 };
        }
        // More events in a step than anybody looks at: go on without them.
        self.begin();
        self.try_step(target - self.t);
        self.take(target);
    }

    fn begin(&mut self) {
        let Scratch { k: [first, ..], end_slope, .. } = &mut self.scratch;
        if self.is_known {
            std::mem::swap(first, end_slope);
        } else {
            self.system.at_stage(0);
            self.system.jumped(self.t, &self.y, &self.past);
            self.system.slope(self.t, &self.y, &self.past, first);
        }
    }

    /// The classical method; the step's end is left in `scratch`.
    fn try_step(&mut self, h: f64) {
        let Integrator { system, t, y, past, scratch, .. } = self;
        let Scratch { k, stage, end, end_slope } = scratch;
        let [k1, k2, k3, k4] = k;
        let half = h / 2.0;
        weigh(stage, y, k1, half);
        system.at_stage(1);
        system.slope(*t + half, stage, past, k2);
        weigh(stage, y, k2, half);
        system.at_stage(2);
        system.slope(*t + half, stage, past, k3);
        weigh(stage, y, k3, h);
        system.at_stage(3);
        system.slope(*t + h, stage, past, k4);
        for place in 0..y.len() {
            let sum = k1[place] + 2.0 * (k2[place] + k3[place]) + k4[place];
            end[place] = y[place] + h / 6.0 * sum;
        }
        system.at_stage(4);
        system.slope(*t + h, end, past, end_slope);
    }

    /// Takes a step to the event that was found first in the one that was tried; gives the event, if it is met. Where the
    /// shorter step passes another one, it goes there.
    fn meet(&mut self, (mut event, mut share): (usize, f64), mut length: f64) -> Option<usize> {
        for left in (0..MOST_EVENTS).rev() {
            if share <= SHORTEST {
                break;
            }
            let (end, is_met) = self.approach(event, share, length);
            match self.first_event(end, Some(event)) {
                Some(earlier) if left > 0 && earlier.1 < 1.0 - NEAR => {
                    ((event, share), length) = (earlier, end);
                }
                _ => {
                    self.take(self.t + end);
                    return is_met.then_some(event);
                }
            }
        }
        Some(event)
    }

    /// The first event in the step that was tried, and at which share of it; `but` is known.
    fn first_event(&mut self, h: f64, but: Option<usize>) -> Option<(usize, f64)> {
        let mut first: Option<(usize, f64)> = None;
        for event in 0..self.system.guards() {
            if but == Some(event) {
                continue;
            }
            if self.system.guard(event, self.t + h, &self.scratch.end, &self.past) >= 0.0 {
                continue;
            }
            let share = self.zero_of(event, h);
            if first.is_none_or(|(_, found)| share < found) {
                first = Some((event, share));
            }
        }
        first
    }

    /// Where a guard that is below 0 at the end passes it, as a share of the step: regula falsi (Illinois).
    fn zero_of(&mut self, event: usize, h: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        let (mut at_low, mut at_high) = (self.guard_at(event, 0.0, h), self.guard_at(event, 1.0, h));
        if at_low <= 0.0 {
            return 0.0;
        }
        for _ in 0..MOST_TRIALS {
            let middle = low + (high - low) * at_low / (at_low - at_high);
            let value = self.guard_at(event, middle, h);
            if value == 0.0 {
                return middle;
            }
            if value < 0.0 {
                (high, at_high) = (middle, value);
                at_low /= 2.0;
            } else {
                (low, at_low) = (middle, value);
                at_high /= 2.0;
            }
            if high - low < SHORTEST {
                break;
            }
        }
        high
    }

    /// Tries the step that ends at the event; gives its length, and whether the event is there. The cubic of a shorter step
    /// is another one, so that the zero is found on steps. One that jumps over zero, where the slope jumps
    /// within it, ends before that.
    fn approach(&mut self, event: usize, share: f64, whole: f64) -> (f64, bool) {
        let begin = self.guard_at(event, 0.0, whole);
        let (mut low, mut high) = ((0.0, begin), (whole, self.guard_at(event, 1.0, whole)));
        let mut length = share * whole;
        for trial in 0..MOST_TRIALS {
            self.try_step(length);
            let value = self.system.guard(event, self.t + length, &self.scratch.end, &self.past);
            if value.abs() <= NEAR * begin {
                return (length, true);
            }
            *(if value < 0.0 { &mut high } else { &mut low }) = (length, value);
            let width = high.0 - low.0;
            if width < SHORTEST * whole {
                break;
            }
            // Secants find it in a few trials where there is one.
            let part = if trial < MOST_SECANTS { low.1 / (low.1 - high.1) } else { 0.5 };
            length = low.0 + width * part;
        }
        let end = if low.0 > SHORTEST * whole { low } else { high };
        self.try_step(end.0);
        (end.0, end.0 == high.0)
    }

    fn guard_at(&mut self, event: usize, share: f64, h: f64) -> f64 {
        let Scratch { k, stage, end, end_slope } = &mut self.scratch;
        let weights = hermite(share, h);
        for place in 0..stage.len() {
            let parts = [self.y[place], k[0][place], end[place], end_slope[place]];
            stage[place] = weights.iter().zip(parts).map(|(weight, part)| weight * part).sum();
        }
        self.system.guard(event, self.t + share * h, stage, &self.past)
    }

    /// Takes the step that was tried, which ends at `end`.
    fn take(&mut self, end: f64) {
        if self.past.is_full() {
            self.past.forget(self.system.reach(self.t, &self.y));
        }
        let Scratch { k: [first, ..], end: values, end_slope, .. } = &mut self.scratch;
        let parts = self.past.push(self.t, end - self.t).iter_mut();
        let begin = self.y.iter().zip(first);
        for ((parts, (y0, f0)), (y1, f1)) in parts.zip(begin).zip(values.iter().zip(end_slope)) {
            *parts = [*y0, *f0, *y1, *f1];
        }
        self.t = end;
        std::mem::swap(&mut self.y, values);
        self.is_known = true;
        self.system.stepped(&self.past);
    }
}

impl History {
    fn new(start: f64, before: Vec<f64>) -> History {
        let (width, capacity) = (before.len(), 64);
        let (times, parts) = (vec![[0.0; 2]; capacity], vec![[0.0; 4]; capacity * width]);
        History { width, start, before, first: 0, next: 0, times, parts, capacity }
    }

    /// The values at `t`: those of the start before it, and beyond the last step on its tangent. `hint` is the number of
    /// the step that was found last; the next one is near.
    #[inline]
    pub fn at(&self, t: f64, hint: &mut usize) -> Moment<'_> {
        if t <= self.start || self.next == 0 {
            return Moment { parts: &[], before: &self.before, weights: [1.0, 0.0, 0.0, 0.0] };
        }
        let number = self.find(t, *hint);
        *hint = number;
        let Step { t: begin, length, parts } = self.step(number);
        let share = (t - begin) / length;
        let weights =
            if share > 1.0 { [0.0, 0.0, 1.0, t - begin - length] } else { hermite(share.max(0.0), length) };
        Moment { parts, before: &self.before, weights }
    }

    /// The number of the last step at whose beginning `is_past` does not hold yet; None where no step is kept or it
    /// holds from the first one on. It never holds and then not.
    pub fn find_where(&self, hint: usize, is_past: impl Fn(&Step<'_>) -> bool) -> Option<usize> {
        if self.next == 0 {
            return None;
        }
        let mut number = hint.clamp(self.first, self.next - 1);
        while is_past(&self.step(number)) {
            if number == self.first {
                return None;
            }
            number -= 1;
        }
        while number + 1 < self.next && !is_past(&self.step(number + 1)) {
            number += 1;
        }
        Some(number)
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.next as u64
    }

    /// The last step.
    pub fn last(&self) -> Step<'_> {
        self.step(self.next - 1)
    }

    /// A step that is kept, by its number.
    #[inline]
    pub fn step(&self, number: usize) -> Step<'_> {
        let place = number & (self.capacity - 1);
        let [t, length] = self.times[place];
        Step { t, length, parts: &self.parts[place * self.width..(place + 1) * self.width] }
    }

    /// The number of the step in which `t` lies, or of the nearest one.
    #[inline]
    fn find(&self, t: f64, hint: usize) -> usize {
        let begin = |number: usize| self.times[number & (self.capacity - 1)][0];
        let mut number = hint.clamp(self.first, self.next - 1);
        while number > self.first && t < begin(number) {
            number -= 1;
        }
        while number + 1 < self.next && t > begin(number + 1) {
            number += 1;
        }
        number
    }

    /// Takes in a step that begins at `t`, and gives its values to be filled.
    fn push(&mut self, t: f64, length: f64) -> &mut [Parts] {
        if self.is_full() {
            self.grow();
        }
        let place = self.next & (self.capacity - 1);
        self.next += 1;
        self.times[place] = [t, length];
        &mut self.parts[place * self.width..(place + 1) * self.width]
    }

    /// Whether the next step needs more room, unless old ones go.
    fn is_full(&self) -> bool {
        self.next - self.first == self.capacity
    }

    /// Makes room for twice as many steps.
    fn grow(&mut self) {
        let (width, more) = (self.width, 2 * self.capacity);
        let (mut times, mut parts) = (vec![[0.0; 2]; more], vec![[0.0; 4]; more * width]);
        for number in self.first..self.next {
            let (from, to) = (number & (self.capacity - 1), number & (more - 1));
            times[to] = self.times[from];
            parts[to * width..(to + 1) * width]
                .copy_from_slice(&self.parts[from * width..(from + 1) * width]);
        }
        (self.times, self.parts, self.capacity) = (times, parts, more);
    }

    /// Forgets the steps that end before `reach`.
    fn forget(&mut self, reach: f64) {
        while self.first + 1 < self.next && self.step(self.first + 1).t <= reach {
            self.first += 1;
        }
    }
}

impl Moment<'_> {
    /// A value then.
    #[inline]
    pub fn value(&self, place: usize) -> f64 {
        let Some([y0, f0, y1, f1]) = self.parts.get(place) else { return self.before[place] };
        let [a, b, c, d] = self.weights;
        a * y0 + b * f0 + c * y1 + d * f1
    }
}

impl Step<'_> {
    /// A value at the beginning.
    #[inline]
    pub fn begin(&self, place: usize) -> f64 {
        self.parts[place][0]
    }

    /// By how much a value grows.
    #[inline]
    pub fn grown(&self, place: usize) -> f64 {
        self.parts[place][2] - self.parts[place][0]
    }

    /// A value at the beginning and at the end.
    pub fn ends(&self, place: usize) -> [f64; 2] {
        let [begin, _, end, _] = self.parts[place];
        [begin, end]
    }

    /// A value in the middle.
    pub fn middle(&self, place: usize) -> f64 {
        let [y0, f0, y1, f1] = self.parts[place];
        f64::midpoint(y0, y1) + self.length / 8.0 * (f0 - f1)
    }
}

/// The weights of value and slope at the beginning, and of those at the end, at this share of a step of length h.
fn hermite(share: f64, h: f64) -> [f64; 4] {
    let (s, left) = (share, 1.0 - share);
    [(1.0 + 2.0 * s) * left * left, h * s * left * left, s * s * (3.0 - 2.0 * s), -h * s * s * left]
}

/// y + h k.
fn weigh(out: &mut [f64], y: &[f64], k: &[f64], h: f64) {
    for ((out, y), k) in out.iter_mut().zip(y).zip(k) {
        *out = y + h * k;
    }
}

/// Events that one step may be interrupted by.
const MOST_EVENTS: usize = 1000;
/// The share of a step that is taken where no event can be met.
const LITTLE: f64 = 1e-3;
/// Trials to find an event.
const MOST_TRIALS: usize = 60;
/// Of them those by secants, where steps are taken; then halves.
const MOST_SECANTS: usize = 8;
/// What a guard may be at its event, as a share of what it was.
const NEAR: f64 = 1e-10;
/// A share of a step below which nothing is told apart.
const SHORTEST: f64 = 1e-10;

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
        // Steps that divide the delay: no step lies across a bend.
        let error = |steps: u32| {
            let mut run = Integrator::new(Lagged(0), 0.0, vec![1.0]);
            run.advance(6.0, 1.0 / f64::from(steps));
            (run.values()[0] - exact(6.0)).abs()
        };
        let [coarse, fine] = [error(8), error(16)];
        assert!(fine < 2e-6 && (14.0..40.0).contains(&(coarse / fine)), "{coarse} {fine}");
    }

    #[test]
    fn only_what_is_asked_for_is_kept() {
        let mut run = Integrator::new(Lagged(0), 0.0, vec![1.0]);
        run.advance(100.0, 0.01);
        assert!(run.past.capacity <= 128, "{}", run.past.capacity);
    }

    /// A ball on a table: y'' = -10, each impact halves its speed.
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
        fn strike(&mut self, _event: usize, t: f64, y: &mut [f64], _past: &History) {
            self.impacts.push(t);
            (y[0], y[1]) = (0.0, -y[1] / 2.0);
        }
    }

    #[test]
    fn an_event_that_the_first_trial_meets_to_the_last_bit_is_met_there() {
        // Without weight it comes down on a straight line: half of the step, a binary fraction.
        let mut run = Integrator::new(Falling { met: Vec::new() }, 0.0, vec![0.25]);
        run.advance(0.5, 0.5);
        assert_eq!(run.system.met, [0.25]);
    }

    /// y' = -1; what happens at 0 happens once.
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
        fn strike(&mut self, _event: usize, t: f64, _y: &mut [f64], _past: &History) {
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
