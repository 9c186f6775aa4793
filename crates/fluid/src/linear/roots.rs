//! Zeros of analytic functions, and with them the roots of closed loops and the poles of plants.
//!
//! The argument principle counts the zeros in a rectangle; one with several is cut in two until each
//! has one, which Newton's method polishes (L. M. Delves and J. N. Lyness, "A numerical method for
//! locating the zeros of an analytic function", Math. Comp. 21, 1967; the derivative is a central
//! difference, exact enough for a step). Coefficients are real, so that zeros come in conjugate pairs.

use super::complex::{Complex64, size};
use super::loops::Loop;
use super::plant::Plant;
use super::winding::{Way, rounds};

/// A part of the s plane, 1/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Lower left.
    pub from: Complex64,
    /// Upper right.
    pub to: Complex64,
}

/// The closed loop's rightmost roots.
#[derive(Clone, Debug, PartialEq)]
pub struct Rightmost {
    /// Roots with Im s >= 0, rightmost first, a manifold one as often as it is one, 1/s.
    pub roots: Vec<Complex64>,
    /// All roots with Re s > -complete are among them and their conjugates.
    pub complete: f64,
}

/// At least `wanted` rightmost roots of the closed loop (a pair counts two), where there are so many.
///
/// None where the loop cannot be bounded (its gain does not fall with frequency) or a root cannot be
/// told from the border of where roots are known.
pub fn rightmost(of: &dyn Loop, wanted: usize) -> Option<Rightmost> {
    let f = |s| of.at(s).characteristic();
    let scale = 1.0 / of.delay().max(of.band().map_or(0.0, |band| 1.0 / band));
    let scale = if scale.is_finite() { scale } else { of.reach(1.0, 0.0)? };
    let mut found = Rightmost { roots: Vec::new(), complete: f64::NEG_INFINITY };
    for doubling in -3..40i32 {
        let left = (scale * super::plant::power(2.0, doubling)).min(of.leftmost());
        let Some(corner) = of.reach(1.0, left) else { return (!found.roots.is_empty()).then_some(found) };
        let right = match of.band() {
            Some(_) => right_of_all(of, left)?,
            None => corner,
        };
        let area = Rectangle { from: Complex64::new(-left, 0.0), to: Complex64::new(right, corner) };
        found = Rightmost { roots: upper(&f, area, of.delay())?, complete: left };
        let all = left >= of.leftmost() || (of.delay() == 0.0 && left >= corner);
        if all || number(&found.roots) >= wanted || left * of.delay() > DEEP {
            break;
        }
    }
    Some(found)
}

/// The plant's poles with Re s >= -left, both of a pair; none where they cannot be told.
pub fn poles(plant: &dyn Plant, left: f64) -> Option<Vec<Complex64>> {
    let radius = plant.pole_radius(left)?;
    let area = Rectangle { from: Complex64::new(-left, 0.0), to: Complex64::new(radius, radius) };
    let upper = upper(&|s| plant.at(s).below, area, plant.delay())?;
    let lower: Vec<Complex64> = upper.iter().filter(|s| s.im > 0.0).map(Complex64::conj).collect();
    Some([upper, lower].concat())
}

/// All zeros of `f`, analytic, in `area`; `delay` is how fast it winds. None where one is on the border, or where
/// they cannot be told.
pub fn zeros(f: &impl Fn(Complex64) -> Complex64, area: Rectangle, delay: f64) -> Option<Vec<Complex64>> {
    let mut found = Vec::new();
    let mut open = vec![(area, area.count(f, delay)?)];
    while let Some((part, count)) = open.pop() {
        if count < 0 {
            // A pole, or rounding.
            return None;
        }
        if count == 0 {
            continue;
        }
        if count == 1
            && let Some(zero) = newton(f, part)
        {
            found.push(zero);
            continue;
        }
        if part.size() < SMALLEST * (part.size() + size(part.middle())) {
            found.extend(vec![part.middle(); count as usize]);
            continue;
        }
        open.extend(part.halves(f, delay, count)?);
    }
    Some(found)
}

/// Zeros in the upper half of an area that begins at the real axis, rightmost first. Its borders move out a
/// little where a zero is on them.
fn upper(f: &impl Fn(Complex64) -> Complex64, area: Rectangle, delay: f64) -> Option<Vec<Complex64>> {
    let height = area.to.im - area.from.im;
    let found = (1..=TRIES).find_map(|attempt| {
        let more = 1e-3 * height * f64::from(attempt);
        let from = Complex64::new(area.from.re - 1e-3 * more, -more);
        zeros(f, Rectangle { from, to: area.to + Complex64::new(more, more) }, delay)
    })?;
    let mut above: Vec<Complex64> = found.into_iter().filter_map(|zero| above(zero, height)).collect();
    above.sort_by(|one, other| other.re.total_cmp(&one.re).then(other.im.total_cmp(&one.im)));
    Some(above)
}

/// A zero in the closed upper half, up to `height`; on the axis where only rounding keeps it off.
fn above(zero: Complex64, height: f64) -> Option<Complex64> {
    let off = ROUNDING * (size(zero) + 1e-3 * height);
    let zero = if zero.im.abs() <= off { Complex64::new(zero.re, 0.0) } else { zero };
    (zero.im >= 0.0 && zero.im <= height + off).then_some(zero)
}

/// How many roots these are with their conjugates.
fn number(upper: &[Complex64]) -> usize {
    upper.iter().map(|zero| if zero.im > 0.0 { 2 } else { 1 }).sum()
}

/// A real part right of all roots of a sampled loop.
fn right_of_all(of: &dyn Loop, left: f64) -> Option<f64> {
    let band = of.band()?;
    (0..12)
        .map(|power| band * super::plant::power(2.0, power) / 4.0)
        .find(|&right| right > -left && super::nyquist::right_of(of, right) == Some(0))
}

impl Rectangle {
    fn count(&self, f: &impl Fn(Complex64) -> Complex64, delay: f64) -> Option<i64> {
        let Rectangle { from, to } = *self;
        let corners = [from, Complex64::new(to.re, from.im), to, Complex64::new(from.re, to.im), from];
        Way { corners: &corners, delay }.turn(f).map(rounds)
    }

    /// Cut across the longer side where no zero is on the cut, with the numbers of zeros, `count` in all.
    fn halves(
        &self,
        f: &impl Fn(Complex64) -> Complex64,
        delay: f64,
        count: i64,
    ) -> Option<[(Rectangle, i64); 2]> {
        let Rectangle { from, to } = *self;
        CUTS.iter().find_map(|cut| {
            let at = from + (to - from) * *cut;
            let [mut one, mut other] = [*self, *self];
            if to.re - from.re > to.im - from.im {
                (one.to.re, other.from.re) = (at.re, at.re);
            } else {
                (one.to.im, other.from.im) = (at.im, at.im);
            }
            let counts = [one.count(f, delay)?, other.count(f, delay)?];
            (counts[0] + counts[1] == count).then_some([(one, counts[0]), (other, counts[1])])
        })
    }

    fn middle(&self) -> Complex64 {
        (self.from + self.to) / 2.0
    }

    fn size(&self) -> f64 {
        size(self.to - self.from)
    }

    fn has(&self, s: Complex64) -> bool {
        (self.from.re..=self.to.re).contains(&s.re) && (self.from.im..=self.to.im).contains(&s.im)
    }
}

/// The zero that Newton's method reaches from the middle, if it stays inside.
fn newton(f: &impl Fn(Complex64) -> Complex64, area: Rectangle) -> Option<Complex64> {
    polish(f, area.middle(), area.size()).filter(|&zero| area.has(zero))
}

/// Newton's method from `start`, in a region as large as `extent`; none where it does not settle.
pub(super) fn polish(
    f: &impl Fn(Complex64) -> Complex64,
    start: Complex64,
    extent: f64,
) -> Option<Complex64> {
    let mut at = start;
    let mut step = extent;
    for _ in 0..STEPS {
        let reach = DIFFERENCE * size(at).max(1e-3 * step);
        let slope = (f(at + reach) - f(at - reach)) / (2.0 * reach);
        let change = f(at) / slope;
        if !change.is_finite() || size(change) > 2.0 * extent {
            return None;
        }
        at -= change;
        // Steps that no longer shrink are rounding.
        if size(change) <= SETTLED * size(at) || (size(change) >= step && step <= ROUNDING * size(at)) {
            return Some(at);
        }
        step = size(change);
    }
    None
}

/// Roots farther left than this by the delay are of no use: e^20.
const DEEP: f64 = 20.0;
/// Where to cut: never where symmetry puts zeros.
const CUTS: [f64; 4] = [0.483, 0.527, 0.431, 0.571];
/// A rectangle that is cut no more, by its place.
const SMALLEST: f64 = 1e-9;
const TRIES: u32 = 6;
const STEPS: usize = 60;
const SETTLED: f64 = 4e-16;
const ROUNDING: f64 = 1e-9;
/// The difference that is taken for a derivative, by the place.
const DIFFERENCE: f64 = 1e-5;
