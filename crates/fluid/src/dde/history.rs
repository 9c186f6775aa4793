//! The steps that were taken, each a cubic, and what can be asked of them.

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
    pub(super) capacity: usize,
}

/// A value in a step: the value and its slope at the beginning, and at the end.
pub(super) type Parts = [f64; 4];

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

impl History {
    pub(super) fn new(start: f64, before: Vec<f64>) -> History {
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
    pub(super) fn push(&mut self, t: f64, length: f64) -> &mut [Parts] {
        if self.is_full() {
            self.grow();
        }
        let place = self.next & (self.capacity - 1);
        self.next += 1;
        self.times[place] = [t, length];
        &mut self.parts[place * self.width..(place + 1) * self.width]
    }

    /// Whether the next step needs more room, unless old ones go.
    pub(super) fn is_full(&self) -> bool {
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
    pub(super) fn forget(&mut self, reach: f64) {
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
pub(super) fn hermite(share: f64, h: f64) -> [f64; 4] {
    let (s, left) = (share, 1.0 - share);
    [(1.0 + 2.0 * s) * left * left, h * s * left * left, s * s * (3.0 - 2.0 * s), -h * s * s * left]
}
