//! Probabilities.

use std::fmt;

/// A probability: a number in [0, 1], never NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Prob(f64);

impl Prob {
    /// Probability 0.
    pub const ZERO: Prob = Prob(0.0);
    /// Probability 1.
    pub const ONE: Prob = Prob(1.0);

    /// `value`, if it is in [0, 1].
    pub fn new(value: f64) -> Option<Prob> {
        (0.0..=1.0).contains(&value).then_some(Prob(value))
    }

    /// `value` clamped to [0, 1]; NaN becomes 0.
    pub fn clamped(value: f64) -> Prob {
        Prob(if value > 0.0 { value.min(1.0) } else { 0.0 })
    }

    /// The value.
    pub fn get(self) -> f64 {
        self.0
    }

    /// True if a uniform draw from [0, 1) falls below this probability.
    pub fn happens(self, uniform: f64) -> bool {
        uniform < self.0
    }
}

impl fmt::Display for Prob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zero_to_one() {
        assert_eq!(Prob::new(1.5), None);
        assert_eq!(Prob::new(f64::NAN), None);
        assert_eq!(Prob::clamped(f64::NAN), Prob::ZERO);
        assert_eq!(Prob::clamped(-1.0), Prob::ZERO);
        assert_eq!(Prob::clamped(7.0), Prob::ONE);
        assert!(!Prob::ZERO.happens(0.0) && Prob::ONE.happens(1.0 - f64::EPSILON));
    }
}
