//! History of the integration: the completed steps, each a cubic.

/// Completed steps, each a cubic.
#[derive(Clone, Debug)]
pub struct History {
    width: usize,
    start: f64,
    /// Values before the start, constant.
    before: Vec<Parts>,
    /// Numbers of the oldest step kept, and of the next one.
    first: usize,
    next: usize,
    /// Rings: the beginning and end of each step, and its cubics, value by value.
    times: Vec<[f64; 2]>,
    parts: Vec<Parts>,
    /// Capacity of the rings, steps; a power of two.
    pub(super) capacity: usize,
}

/// Cubic of a value in a step: value and slope at the beginning, value and slope at the end.
pub(super) type Parts = [f64; 4];

/// A located time of the history.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    curves: Curves<'a>,
    share: f64,
}

/// A piece of the history on which every value is a polynomial: a step, or the time before the first one. It is
/// immutable, so that callers may reuse it for all times that it contains.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    holds: Range,
    origin: f64,
    inverse: f64,
}

/// Values over a piece.
#[derive(Clone, Copy, Debug)]
pub struct Curves<'a> {
    length: f64,
    parts: &'a [Parts],
    side: Side,
}

/// Position of a piece by the steps that are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    /// Before the oldest step kept: values are those of its beginning.
    Before,
    Within,
    /// After the last step: values follow its tangent.
    Beyond,
}

/// An interval of time.
#[derive(Clone, Copy, Debug)]
struct Range {
    from: f64,
    until: f64,
}

/// A value over a piece: coefficients of the powers of the elapsed share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cubic([f64; 4]);

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Beginning of the step, s.
    pub t: f64,
    /// Length, s.
    pub length: f64,
    parts: &'a [Parts],
}

impl History {
    pub(super) fn new(start: f64, before: &[f64]) -> History {
        let (width, capacity) = (before.len(), 64);
        let before = before.iter().map(|value| [*value, 0.0, *value, 0.0]).collect();
        let (times, parts) = (vec![[0.0; 2]; capacity], vec![[0.0; 4]; capacity * width]);
        History { width, start, before, first: 0, next: 0, times, parts, capacity }
    }

    /// Values at `t`: before the start, or the oldest step kept, those of its beginning; beyond the last step on its
    /// tangent. `hint` is the number of the step found last; the search starts there.
    pub fn at(&self, t: f64, hint: &mut usize) -> Moment<'_> {
        let (piece, curves) = self.piece(t, hint);
        Moment { curves, share: piece.share(t) }
    }

    /// Piece of the history that contains `t`, and the values there; `hint` as above.
    #[inline]
    pub fn piece(&self, t: f64, hint: &mut usize) -> (Piece, Curves<'_>) {
        if t <= self.start || self.next == 0 {
            let still = Range { from: f64::NEG_INFINITY, until: self.start };
            let curves = Curves { length: 0.0, parts: &self.before, side: Side::Before };
            return (Piece { holds: still, origin: self.start, inverse: 0.0 }, curves);
        }
        *hint = self.find(t, *hint);
        let place = *hint & (self.capacity - 1);
        let ([begin, end], parts) = (self.times[place], &self.parts[place * self.width..]);
        let length = end - begin;
        let (side, holds, origin, inverse) = if t > end {
            // The piece ends wherever the next step will.
            (Side::Beyond, Range::NONE, end, 1.0)
        } else if t < begin {
            (Side::Before, Range { from: f64::NEG_INFINITY, until: begin }, begin, 0.0)
        } else {
            (Side::Within, Range { from: begin, until: end }, begin, 1.0 / length)
        };
        (Piece { holds, origin, inverse }, Curves { length, parts, side })
    }

    /// Number of the last step at whose beginning `is_past` is false; None where no step is kept or it is true from
    /// the first one on. `is_past` must be monotonic.
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

    /// Number of steps so far.
    pub fn steps(&self) -> u64 {
        self.next as u64
    }

    /// End of the last step.
    pub fn end(&self) -> f64 {
        if self.next == 0 {
            return self.start;
        }
        self.times[(self.next - 1) & (self.capacity - 1)][1]
    }

    /// Value at the end of the last step.
    pub fn latest(&self, place: usize) -> f64 {
        let parts = if self.next == 0 { &self.before } else { self.last().parts };
        parts[place][2]
    }

    /// The last step.
    pub fn last(&self) -> Step<'_> {
        self.step(self.next - 1)
    }

    /// A step by its number.
    #[inline]
    pub fn step(&self, number: usize) -> Step<'_> {
        let place = number & (self.capacity - 1);
        let [t, end] = self.times[place];
        Step { t, length: end - t, parts: &self.parts[place * self.width..] }
    }

    /// Number of the step that contains `t`, or of the nearest one.
    #[inline]
    fn find(&self, t: f64, hint: usize) -> usize {
        let times = |number: usize| self.times[number & (self.capacity - 1)];
        let last = self.next - 1;
        let mut number = hint.max(self.first).min(last);
        while number < last && t > times(number)[1] {
            number += 1;
        }
        while number > self.first && t < times(number)[0] {
            number -= 1;
        }
        number
    }

    /// Appends a step, and gives its cubics to be filled.
    #[inline]
    pub(super) fn push(&mut self, begin: f64, end: f64) -> &mut [Parts] {
        if self.is_full() {
            self.grow();
        }
        let place = self.next & (self.capacity - 1);
        self.next += 1;
        self.times[place] = [begin, end];
        &mut self.parts[place * self.width..][..self.width]
    }

    /// True if the next step needs more capacity, unless old ones are dropped.
    pub(super) fn is_full(&self) -> bool {
        self.next - self.first == self.capacity
    }

    /// Doubles the capacity.
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

    /// Drops the steps that end before `reach`.
    pub(super) fn forget(&mut self, reach: f64) {
        let mut first = self.first;
        while first + 1 < self.next && self.times[(first + 1) & (self.capacity - 1)][0] <= reach {
            first += 1;
        }
        self.first = first;
    }
}

impl Moment<'_> {
    /// Value at that time.
    pub fn value(&self, place: usize) -> f64 {
        self.curves.cubic(place).at(self.share)
    }
}

impl Range {
    const NONE: Range = Range { from: f64::INFINITY, until: f64::NEG_INFINITY };
}

impl Piece {
    /// The empty piece.
    pub const NONE: Piece = Piece { holds: Range::NONE, origin: 0.0, inverse: 0.0 };

    /// True if it contains a time.
    #[inline]
    pub fn holds(&self, t: f64) -> bool {
        self.holds.from <= t && t <= self.holds.until
    }

    /// Elapsed share at `t`, the argument of a cubic.
    #[inline]
    pub fn share(&self, t: f64) -> f64 {
        (t - self.origin) * self.inverse
    }
}

impl Curves<'_> {
    /// Value over the piece.
    #[inline]
    pub fn cubic(&self, place: usize) -> Cubic {
        let ([y0, f0, y1, f1], length) = (self.parts[place], self.length);
        match self.side {
            Side::Within => (),
            Side::Before => return Cubic([y0, 0.0, 0.0, 0.0]),
            Side::Beyond => return Cubic([y1, f1, 0.0, 0.0]),
        }
        let (grown, first, last) = (y1 - y0, length * f0, length * f1);
        Cubic([y0, first, 3.0 * grown - 2.0 * first - last, first + last - 2.0 * grown])
    }

    /// Slope of a value over the piece.
    #[inline]
    pub fn slope(&self, place: usize) -> Cubic {
        let ([y0, f0, y1, f1], length) = (self.parts[place], self.length);
        match self.side {
            Side::Within => (),
            Side::Before => return Cubic::default(),
            Side::Beyond => return Cubic([f1, 0.0, 0.0, 0.0]),
        }
        // What bends it is lost in the rounding of the values where the step is short.
        let bend = (y1 - y0) - length * f64::midpoint(f0, f1);
        let is_known = bend.abs() > ROUNDING * y1.abs();
        let bend = if is_known { 6.0 * bend / length } else { 0.0 };
        Cubic([f0, f1 - f0 + bend, -bend, 0.0])
    }
}

impl Cubic {
    /// Value at an elapsed share.
    #[inline]
    pub fn at(&self, share: f64) -> f64 {
        let Cubic([a, b, c, d]) = self;
        a + share * (b + share * (c + share * d))
    }
}

impl Step<'_> {
    /// Value at the beginning.
    #[inline]
    pub fn begin(&self, place: usize) -> f64 {
        self.parts[place][0]
    }

    /// Growth of a value over the step.
    #[inline]
    pub fn grown(&self, place: usize) -> f64 {
        self.parts[place][2] - self.parts[place][0]
    }

    /// Value at the beginning and at the end.
    pub fn ends(&self, place: usize) -> [f64; 2] {
        let [begin, _, end, _] = self.parts[place];
        [begin, end]
    }

    /// Slope of a value at a share of the step.
    pub fn slope(&self, place: usize, share: f64) -> f64 {
        weighed(&hermite_slope(share, self.length), &self.parts[place])
    }

    /// Share of the step at which a weighted sum of values, which grows, reaches `level`.
    pub fn share_where(&self, level: f64, values: impl Iterator<Item = (f64, usize)>) -> f64 {
        let (mut begin, mut sum) = (0.0, [0.0; 4]);
        for (weight, place) in values {
            let [y0, f0, y1, f1] = self.parts[place];
            begin += weight * y0;
            for (sum, part) in sum.iter_mut().zip([0.0, f0, y1 - y0, f1]) {
                *sum += weight * part;
            }
        }
        let wanted = level - begin;
        let (mut low, mut high) = (0.0, 1.0);
        let mut share = (wanted / sum[2]).clamp(0.0, 1.0);
        // Newton's method; bisection where it would leave the bounds.
        for _ in 0..MOST_TRIALS {
            let off = weighed(&hermite(share, self.length), &sum) - wanted;
            *(if off > 0.0 { &mut high } else { &mut low }) = share;
            let slope = weighed(&hermite_slope(share, self.length), &sum) * self.length;
            let next = share - off / slope;
            let next = if next >= low && next <= high { next } else { f64::midpoint(low, high) };
            if (next - share).abs() < NEAR {
                return next;
            }
            share = next;
        }
        share
    }

    /// Value in the middle.
    pub fn middle(&self, place: usize) -> f64 {
        let [y0, f0, y1, f1] = self.parts[place];
        f64::midpoint(y0, y1) + self.length / 8.0 * (f0 - f1)
    }
}

/// Weights of value and slope at the beginning and at the end, at this share of a step of length h.
pub(super) fn hermite(share: f64, h: f64) -> Parts {
    let (s, left) = (share, 1.0 - share);
    [(1.0 + 2.0 * s) * left * left, h * s * left * left, s * s * (3.0 - 2.0 * s), -h * s * s * left]
}

/// Derivatives of these weights.
fn hermite_slope(share: f64, h: f64) -> Parts {
    let (s, left) = (share, 1.0 - share);
    let change = 6.0 * s * left / h;
    [-change, left * (1.0 - 3.0 * s), change, s * (3.0 * s - 2.0)]
}

#[inline]
fn weighed(weights: &Parts, parts: &Parts) -> f64 {
    let ([a, b, c, d], [y0, f0, y1, f1]) = (weights, parts);
    a * y0 + b * f0 + c * y1 + d * f1
}

/// Relative rounding error of the growth of a value over a step.
const ROUNDING: f64 = 1e-13;
/// Trials to find the level of a sum, and the tolerance.
const MOST_TRIALS: usize = 60;
const NEAR: f64 = 1e-13;
