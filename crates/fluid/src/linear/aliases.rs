//! Sums over the aliases of a plant behind a hold.
//!
//! ```text
//! P_T(s) = (1 - zeta) / T  sum over k of P(s + j k w_T) / (s + j k w_T)       (1)
//! ```
//!
//! Up to |k| = K; if P is at most c |s|^-m from there on, what is left out is at most
//! |1 - zeta| / T  2 c w_T^-(m+1) / (m (K - 1/2)^m).

use super::complex::{Complex64, rest_of_exp, size};
use super::plant::Bound;
use std::f64::consts::PI;

/// A place in the strip |Im s| <= pi / T, and what the sum is to be exact beside.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// 1/s.
    pub s: Complex64,
    /// T, s.
    pub period: f64,
    /// What else is added to the sum.
    pub scale: f64,
    /// What may be left out, by both.
    pub exact: f64,
}

/// Equation (1), summed.
#[derive(Clone, Copy, Debug)]
pub struct Aliases {
    /// Up to |k| = K.
    pub sum: Complex64,
    /// A bound of what was left out.
    pub tail: f64,
}

/// Equation (1) for a plant with these values at s and, for k = 1, 2 ..., at s + j k w_T and s - j k w_T, bounded by
/// `bound` (of log2 k, and from which radius on), falling; none where the bound of what is left out never comes down
/// to what is asked, or where a value is no number.
pub fn aliases(
    first: Complex64,
    pairs: impl Iterator<Item = [Complex64; 2]>,
    bound: impl Fn(u32, f64) -> Option<Bound>,
    asked: Asked,
) -> Option<Aliases> {
    let Asked { s, period, scale, exact } = asked;
    let step = 2.0 * PI / period;
    let hold = rest_of_exp(-s * period) / period;
    let mut sum = first * held_back(s, period);
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

/// (1 - e^(-sT)) / (sT).
fn held_back(s: Complex64, period: f64) -> Complex64 {
    let turn = s * period;
    if size(turn) > 1e-3 {
        return rest_of_exp(-turn) / turn;
    }
    1.0 - turn / 2.0 * (1.0 - turn / 3.0 * (1.0 - turn / 4.0 * (1.0 - turn / 5.0)))
}

/// Sums end at 2^14 aliases.
pub(super) const DOUBLINGS: i32 = 14;
const MOST_ALIASES: u32 = 1 << DOUBLINGS;
