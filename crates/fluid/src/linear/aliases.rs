//! Sums over the aliases of a plant behind a hold.
//!
//! ```text
//! P_T(s) = (1 - zeta) / T  sum over k of P(s + j k w_T) / (s + j k w_T)       (1)
//! ```
//!
//! Up to |k| = K; if P is at most c |s|^-m from there on, the truncation error is at most |1 - zeta| / T  2 c
//! w_T^-(m+1) / (m (K - 1/2)^m).

use super::bound::Bound;
use super::complex::{Complex64, mean_exp, one_minus_exp, size};
use std::f64::consts::PI;

/// A point in the strip |Im s| <= pi / T, and the tolerance of the sum there.
#[derive(Clone, Copy, Debug)]
pub struct AliasPoint {
    /// 1/s.
    pub s: Complex64,
    /// T, s.
    pub period: f64,
    /// Size of the terms that the sum is added to.
    pub scale: f64,
    /// Truncation error allowed, relative to both together.
    pub exact: f64,
}

/// Equation (1), summed.
#[derive(Clone, Copy, Debug)]
pub struct Aliases {
    /// Up to |k| = K.
    pub sum: Complex64,
    /// Bound of the truncation error.
    pub tail: f64,
}

/// Equation (1) for a plant with these values at s and, for k = 1, 2 ..., at s + j k w_T and s - j k w_T, bounded by
/// `bound` (of log2 k, and of the radius from which it holds), falling; none where the bound of the truncation error
/// never meets the tolerance, or where a value is NaN.
pub fn aliases(
    first: Complex64,
    pairs: impl Iterator<Item = [Complex64; 2]>,
    bound: impl Fn(u32, f64) -> Option<Bound>,
    point: AliasPoint,
) -> Option<Aliases> {
    let AliasPoint { s, period, scale, exact } = point;
    let step = 2.0 * PI / period;
    let hold = one_minus_exp(-s * period) / period;
    let mut sum = first * mean_exp(s * period);
    for (k, [up, down]) in (1..=MOST_ALIASES).zip(pairs) {
        let away = Complex64::new(0.0, step * f64::from(k));
        sum += hold * (up / (s + away) + down / (s - away));
        if k.is_power_of_two() {
            if !sum.is_finite() {
                return None;
            }
            let inside = f64::from(k) - 0.5;
            let falling = bound(k.ilog2(), (inside + 1.0) * step).filter(|bound| bound.power < 0);
            let tail = falling.map_or(f64::INFINITY, |bound| {
                2.0 * size(hold) * bound.at(inside * step) / (-f64::from(bound.power) * step)
            });
            if tail <= exact * (size(sum) + scale) {
                return Some(Aliases { sum, tail });
            }
        }
    }
    None
}

/// Sums are truncated at 2^14 aliases.
pub(super) const DOUBLINGS: i32 = 14;
const MOST_ALIASES: u32 = 1 << DOUBLINGS;
