//! Bounds of functions of s far from 0: a factor by a power of |s|.

use sojourn_units::math;

/// The part of the s plane with |s| >= radius and Re s >= -left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outside {
    /// 1/s.
    pub radius: f64,
    /// 1/s.
    pub left: f64,
}

/// |f(s)| <= factor |s|^power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// At |s| = 1.
    pub factor: f64,
    /// Power of the growth.
    pub power: i32,
}

impl Bound {
    /// f = 0.
    pub const NONE: Bound = Bound { factor: 0.0, power: i32::MIN };

    /// Bound of a constant.
    pub fn flat(factor: f64) -> Bound {
        Bound { factor, power: 0 }
    }

    /// Bound of 1 / (s + x), |x| <= `most`, from `radius` on; none where the radius is too small.
    pub fn over(most: f64, radius: f64) -> Option<Bound> {
        (most < radius).then(|| Bound { factor: 1.0 / (1.0 - most / radius), power: -1 })
    }

    /// Bound of a product.
    pub fn with(self, other: Bound) -> Bound {
        Bound { factor: self.factor * other.factor, power: self.power.saturating_add(other.power) }
    }

    /// Bound of a sum, from `radius` on.
    pub fn plus(self, other: Bound, radius: f64) -> Bound {
        if self.factor == 0.0 || other.factor == 0.0 {
            return if self.factor == 0.0 { other } else { self };
        }
        let power = self.power.max(other.power);
        let factor = |bound: Bound| bound.factor * self::power(radius, bound.power - power);
        Bound { factor: factor(self) + factor(other), power }
    }

    /// Bound of a multiple.
    pub fn times(self, factor: f64) -> Bound {
        Bound { factor: self.factor * factor, ..self }
    }

    /// Value at `radius`, and beyond if the bound does not grow.
    pub fn at(self, radius: f64) -> f64 {
        if self.factor == 0.0 { 0.0 } else { self.factor * power(radius, self.power) }
    }
}

/// Integer powers, negative ones included.
pub(super) fn power(base: f64, exponent: i32) -> f64 {
    let size = math::pow_int(base, u64::from(exponent.unsigned_abs()));
    if exponent < 0 { 1.0 / size } else { size }
}

/// The first radius of 2^-30, 2^-29 ... that satisfies `will_do`, 1/s.
pub(super) fn doubled(will_do: impl Fn(f64) -> bool) -> Option<f64> {
    (-30..90).map(|exponent| power(2.0, exponent)).find(|&radius| will_do(radius))
}

/// Bound of |e^(-s delay)|.
pub(super) fn grown(left: f64, delay: f64) -> f64 {
    math::exp(left.max(0.0) * delay)
}
