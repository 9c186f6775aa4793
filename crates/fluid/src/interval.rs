//! Intervals of real numbers, for bounds over boxes.

use sojourn_units::math;

/// All numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl Interval {
    /// From the first to the second.
    pub fn of([low, high]: [f64; 2]) -> Interval {
        Interval { low, high }
    }

    /// The smallest one that has all of `values`.
    pub fn around(values: &[f64]) -> Interval {
        let [low, high] = [f64::INFINITY, f64::NEG_INFINITY];
        Interval::of([
            values.iter().copied().fold(low, f64::min),
            values.iter().copied().fold(high, f64::max),
        ])
    }

    /// Middle.
    pub fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    /// Half of its width.
    pub fn radius(self) -> f64 {
        0.5 * (self.high - self.low)
    }

    /// Greatest size of its numbers.
    pub fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// ln of the ratio of its ends, both above 0.
    pub fn spread(self) -> f64 {
        math::ln(self.high / self.low)
    }

    /// Both halves of the logarithms, the ends above 0.
    pub fn halves(self) -> [Interval; 2] {
        let middle = (self.low * self.high).sqrt();
        [Interval { high: middle, ..self }, Interval { low: middle, ..self }]
    }

    /// Sums with a number.
    pub fn plus(self, term: f64) -> Interval {
        Interval::of([self.low + term, self.high + term])
    }

    /// Products with a factor above 0.
    pub fn scaled(self, factor: f64) -> Interval {
        Interval::of([self.low * factor, self.high * factor])
    }

    /// Products of numbers above 0.
    pub fn times(self, other: Interval) -> Interval {
        Interval::of([self.low * other.low, self.high * other.high])
    }

    /// Quotients of numbers above 0.
    pub fn over(self, other: Interval) -> Interval {
        Interval::of([self.low / other.high, self.high / other.low])
    }
}
