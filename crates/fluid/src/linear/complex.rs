//! Elementary functions of a complex number that give the same bits on every machine.

pub use num_complex::Complex64;
use sojourn_units::math;

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
