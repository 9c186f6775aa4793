//! Elementary functions of a complex number that give the same bits on every machine.

pub use num_complex::Complex64;
use sojourn_units::math;

/// A complex number with an exponent of its own, so that products of hundreds stay in range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    value: Complex64,
    /// Of 2.
    exponent: i64,
}

impl Wide {
    /// 1.
    pub const ONE: Wide = Wide { value: Complex64::ONE, exponent: 0 };

    /// Its product with a number.
    pub fn times(self, by: Complex64) -> Wide {
        let product = Wide { value: self.value * by, ..self };
        let is_in_range = |z: Complex64| (NARROW..1.0 / NARROW).contains(&scale(z));
        if is_in_range(by) && is_in_range(product.value) {
            return product;
        }
        let by = Wide::from(by);
        let product = Wide::from(Wide::from(self.value).value * by.value);
        let exponents = self.exponent + Wide::from(self.value).exponent + by.exponent;
        Wide { exponent: product.exponent + exponents, ..product }
    }

    /// True if it is 0.
    pub fn is_zero(self) -> bool {
        self.value == Complex64::ZERO
    }

    /// It by another one, as far as that is in range.
    pub fn over(self, other: Wide) -> Complex64 {
        ratio(self.value, other.value) * two_to(self.exponent - other.exponent)
    }

    /// The values of several by the largest of them.
    pub fn alike<const N: usize>(of: [Wide; N]) -> [Complex64; N] {
        let of = of.map(|each| {
            let value = Wide::from(each.value);
            Wide { exponent: value.exponent + each.exponent, ..value }
        });
        let largest = of.iter().filter(|each| each.value != Complex64::ZERO).map(|each| each.exponent).max();
        of.map(|each| each.value * largest.map_or(1.0, |most| two_to(each.exponent - most)))
    }
}

impl From<Complex64> for Wide {
    fn from(value: Complex64) -> Wide {
        let of = scale(value);
        if !of.is_normal() {
            return Wide { value, exponent: 0 };
        }
        let exponent = (of.to_bits() >> 52) as i64 - 1023;
        // Twice, as 2^1023 has no normal inverse.
        let half = exponent / 2;
        Wide { value: value * two_to(-half) * two_to(half - exponent), exponent }
    }
}

/// A power of 2; 0 or infinite out of range.
fn two_to(exponent: i64) -> f64 {
    match exponent {
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        1024.. => f64::INFINITY,
        _ => 0.0,
    }
}

/// Size of a value from which on, and beyond whose inverse, its exponent is taken out: products of two are in range.
const NARROW: f64 = 1e-100;

/// e to the power `z`.
pub fn exp(z: Complex64) -> Complex64 {
    let (sine, cosine) = math::sin_cos(z.im);
    Complex64::new(cosine, sine) * math::exp(z.re)
}

/// 1 - e to the power `z`, without cancellation where `z` is small.
pub fn one_minus_exp(z: Complex64) -> Complex64 {
    let (sine, cosine) = math::sin_cos(z.im);
    let (half, _) = math::sin_cos(0.5 * z.im);
    let (grown, more) = (math::exp(z.re), math::exp_m1(z.re));
    Complex64::new(2.0 * half * half - more * cosine, -grown * sine)
}

/// (1 - e^(-z)) / z: mean of e^(-uz) over u from 0 to 1.
pub fn mean_exp(z: Complex64) -> Complex64 {
    if size(z) > 1e-3 {
        return one_minus_exp(-z) / z;
    }
    1.0 - z / 2.0 * (1.0 - z / 3.0 * (1.0 - z / 4.0 * (1.0 - z / 5.0)))
}

/// |z|.
pub fn size(z: Complex64) -> f64 {
    z.norm_sqr().sqrt()
}

/// The larger of the two parts of `z` in size: |z| within a root of 2, of any number in range.
pub fn scale(z: Complex64) -> f64 {
    z.re.abs().max(z.im.abs())
}

/// `above` by `below`, whose squares need not be in range.
pub fn ratio(above: Complex64, below: Complex64) -> Complex64 {
    let of = scale(below);
    if of.is_normal() { (above / of) / (below / of) } else { above / below }
}

/// The angle of `z`, rad, in (-pi, pi].
pub fn angle(z: Complex64) -> f64 {
    math::atan2(z.im, z.re)
}

/// A polynomial with real coefficients, ascending, at `z`.
pub fn polynomial(coefficients: &[f64], z: Complex64) -> Complex64 {
    coefficients.iter().rev().fold(Complex64::ZERO, |sum, coefficient| sum * z + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A product and its quotients, though the product itself is out of range.
    #[test]
    fn products_of_hundreds_stay_in_range() {
        for factor in [Complex64::new(3e200, -1e200), Complex64::new(0.0, 2e-290), Complex64::new(1e-3, 2.0)]
        {
            let product = (0..300).fold(Wide::ONE, |product, _| product.times(factor));
            let quotient = ratio(product.times(factor).over(product), factor);
            assert!(size(quotient - 1.0) < 1e-12, "{factor}: {quotient}");
            let [one, other] = Wide::alike([product, product.times(Complex64::new(0.0, 0.5))]);
            assert!(size(other / one - Complex64::new(0.0, 0.5)) < 1e-12, "{factor}");
        }
    }
}
