//! The inverse root of a count without a root: one step of Newton's method for each change of the count.

/// One step from `x` towards 1 / sqrt(count), which solves x^-2 = count.
pub(crate) fn newton(x: f64, count: f64) -> f64 {
    x * (3.0 - count * x * x) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_exact_at_the_root_and_coarse_far_from_it() {
        assert_eq!(newton(0.25, 16.0), 0.25);
        assert_eq!(newton(0.25, 17.0), 0.242_187_5, "0.25 (3 - 17/16) / 2 by hand");
        assert_eq!(newton(1.0, 2.0), 0.5, "where the root is 0.7071");
    }
}
