//! Trigonometric polynomials: a periodic function by its mean and harmonics.

use crate::linear::complex::Complex64;
use sojourn_units::math;

/// mean + the real part of the sum of `harmonics`[k - 1] e^(j k theta), k from 1 on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) mean: f64,
    pub(super) harmonics: Vec<Complex64>,
}

impl Series {
    /// Value at an angle, rad.
    pub(super) fn at(&self, theta: f64) -> f64 {
        self.sum(theta, |_, term| term).re + self.mean
    }

    /// Derivative by the angle.
    pub(super) fn slope(&self, theta: f64) -> f64 {
        self.sum(theta, |order, term| term * Complex64::new(0.0, order)).re
    }

    /// The same harmonics after a linear filter, about another mean.
    pub(super) fn filtered(&self, mean: f64, filter: impl Fn(f64) -> Complex64) -> Series {
        let orders = (1..).map(f64::from);
        let harmonics = self.harmonics.iter().zip(orders).map(|(term, order)| term * filter(order));
        Series { mean, harmonics: harmonics.collect() }
    }

    /// Least and greatest value, among many angles.
    pub(super) fn range(&self) -> [f64; 2] {
        let values =
            (0..SHOWN).map(|place| self.at(std::f64::consts::TAU * f64::from(place) / f64::from(SHOWN)));
        values
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
    }

    fn sum(&self, theta: f64, of: impl Fn(f64, Complex64) -> Complex64) -> Complex64 {
        let (sine, cosine) = math::sin_cos(theta);
        let turn = Complex64::new(cosine, sine);
        let (mut phase, mut order, mut sum) = (Complex64::ONE, 0.0, Complex64::ZERO);
        for term in &self.harmonics {
            phase *= turn;
            order += 1.0;
            sum += of(order, *term) * phase;
        }
        sum
    }
}

/// Angles at which extremes are sought.
const SHOWN: u32 = 240;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_slopes_and_filters_are_those_of_cosines() {
        // 3 + 2 cos x + sin 2 x.
        let series =
            Series { mean: 3.0, harmonics: vec![Complex64::new(2.0, 0.0), Complex64::new(0.0, -1.0)] };
        for x in [0.0, 0.7, 2.0, 5.0_f64] {
            let value = 3.0 + 2.0 * math::sin_cos(x).1 + math::sin_cos(2.0 * x).0;
            let slope = -2.0 * math::sin_cos(x).0 + 2.0 * math::sin_cos(2.0 * x).1;
            assert!((series.at(x) - value).abs() < 1e-14);
            assert!((series.slope(x) - slope).abs() < 1e-14);
        }
        let slope = series.filtered(0.0, |order| Complex64::new(0.0, order));
        assert!((slope.at(1.3) - series.slope(1.3)).abs() < 1e-14);
        let [low, high] = Series { harmonics: vec![Complex64::new(2.0, 0.0)], ..series }.range();
        assert!((low - 1.0).abs() < 1e-12 && (high - 5.0).abs() < 1e-12);
    }
}
