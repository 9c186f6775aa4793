//! Winding number of an analytic function along a path: the argument principle.
//!
//! A step from a to b is accepted where the function is nearly linear on it: its value at the midpoint differs from
//! the mean of the ends' by up to a fifth of the distance of the chords from zero. Then it passes zero on the same
//! side as they do. Delays turn e^(-sR) by R |b - a|, so that no first step is longer than 1/R.

use super::complex::{Complex64, Wide, angle};
use std::f64::consts::PI;

/// A path of straight lines.
pub(super) struct Polyline<'a> {
    /// Its corners.
    pub(super) corners: &'a [Complex64],
    /// Rate at which the function winds along the path, s.
    pub(super) delay: f64,
}

impl Polyline<'_> {
    /// Growth of the angle of `f` along it, rad; none where `f` is zero on it or the path is too long.
    pub(super) fn turn<V: Into<Wide>>(&self, f: &(impl Fn(Complex64) -> V + ?Sized)) -> Option<f64> {
        let mut total = 0.0;
        for ends in self.corners.windows(2) {
            total += self.line(f, ends[0], ends[1])?;
        }
        Some(total)
    }

    /// True if a line of it takes more steps than are made.
    pub(super) fn is_too_long(&self) -> bool {
        self.corners.windows(2).any(|ends| self.steps(ends[0], ends[1]) > MOST_STEPS)
    }

    fn steps(&self, from: Complex64, to: Complex64) -> f64 {
        (super::complex::size(to - from) * self.delay).ceil().max(LEAST_STEPS)
    }

    fn line<V: Into<Wide>>(
        &self,
        f: &(impl Fn(Complex64) -> V + ?Sized),
        from: Complex64,
        to: Complex64,
    ) -> Option<f64> {
        let steps = self.steps(from, to);
        if steps > MOST_STEPS {
            return None;
        }
        let at = |step: f64| from + (to - from) * (step / steps);
        let (mut total, mut step, mut pieces) = (0.0, 0.0, MOST_PIECES);
        let mut left = Point::of(f, from);
        while step < steps {
            step += 1.0;
            let right = Point::of(f, if step == steps { to } else { at(step) });
            total += between(f, left, right, (DEEPEST, &mut pieces))?;
            left = right;
        }
        Some(total)
    }
}

/// Winding number of a closed path on which the angle grows by so many radians.
pub(super) fn rounds(turned: f64) -> i64 {
    (turned / (2.0 * PI)).round() as i64
}

#[derive(Clone, Copy)]
struct Point {
    at: Complex64,
    value: Wide,
}

impl Point {
    fn of<V: Into<Wide>>(f: &(impl Fn(Complex64) -> V + ?Sized), at: Complex64) -> Point {
        Point { at, value: f(at).into() }
    }
}

fn between<V: Into<Wide>>(
    f: &(impl Fn(Complex64) -> V + ?Sized),
    from: Point,
    to: Point,
    (depth, pieces): (u32, &mut u32),
) -> Option<f64> {
    *pieces = pieces.checked_sub(1)?;
    let middle = Point::of(f, (from.at + to.at) / 2.0);
    // By the largest: their squares may be out of range.
    let values = Wide::alike([from, middle, to].map(|point| point.value));
    let bend = (values[1] - (values[0] + values[2]) / 2.0).norm_sqr();
    let least = passed(values[0], values[1]).min(passed(values[1], values[2]));
    if bend <= LINEAR * LINEAR * least && least > 0.0 {
        return Some(angle(values[1] / values[0]) + angle(values[2] / values[1]));
    }
    if depth == 0 || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    Some(between(f, from, middle, (depth - 1, pieces))? + between(f, middle, to, (depth - 1, pieces))?)
}

/// The square of the distance at which the line from `one` to `other` passes zero.
pub(super) fn passed(one: Complex64, other: Complex64) -> f64 {
    let way = other - one;
    let along = (-(one * way.conj()).re / way.norm_sqr()).clamp(0.0, 1.0);
    if way.norm_sqr() > 0.0 { (one + way * along).norm_sqr() } else { one.norm_sqr() }
}

/// Relative bend of a nearly linear step.
const LINEAR: f64 = 0.2;
/// Halvings of a step.
const DEEPEST: u32 = 44;
const LEAST_STEPS: f64 = 4.0;
/// Longest path that may be needed for a verdict.
const MOST_STEPS: f64 = 1e6;
const MOST_PIECES: u32 = 4_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// A zero is counted whatever the size of the function.
    #[test]
    fn values_whose_squares_are_out_of_range_turn_as_others_do() {
        let corners = [(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
            .map(|(re, im)| Complex64::new(re, im));
        for factor in [1.0, 1e200, 1e300, 1e-200, 1e-290] {
            let turned = Polyline { corners: &corners, delay: 0.0 }.turn(&|s: Complex64| s * s * factor);
            assert_eq!(turned.map(rounds), Some(2), "{factor}");
        }
    }
}
