//! Elementary functions that give the same bits on every machine.
//!
//! The standard library forwards `ln`, `exp` and others to the platform's C library, whose last bit differs between
//! systems. Runs must not differ: these forward to the `libm` crate, whose code is fixed.

/// e to the power `x`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// e to the power `x`, less 1; accurate also near 0.
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Natural logarithm of 1 + `x`; accurate also near 0.
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// `x` to the power `y`.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// `x` to the integer power `n`, by repeated squaring.
pub fn pow_int(x: f64, n: u64) -> f64 {
    let (mut result, mut base, mut left) = (1.0, x, n);
    while left > 0 {
        if left & 1 == 1 {
            result *= base;
        }
        base *= base;
        left >>= 1;
    }
    result
}

/// The complement of the error function: 2 / sqrt(pi) times the integral of exp(-t^2) from `x` on.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// Cube root.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// Sine and cosine of `x` radians.
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// Angle of the vector (x, y) with the x axis, in (-pi, pi].
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// Length of the vector (x, y).
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_powers_agree_with_repeated_products() {
        assert_eq!(pow_int(0.5, 0), 1.0);
        assert_eq!(pow_int(0.5, 10), 1.0 / 1024.0);
        assert!((pow_int(0.998, 1234) - pow(0.998, 1234.0)).abs() < 1e-13);
    }
}
