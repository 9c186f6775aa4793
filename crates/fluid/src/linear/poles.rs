//! Zeros of analytic functions, and with them the poles of closed loops and of plants.
//!
//! The argument principle counts the zeros in a rectangle. Newton's method finds them one after another, with the
//! known ones divided out (H. J. Maehly, "Zur iterativen Auflösung algebraischer Gleichungen", ZAMP 5, 1954; the
//! derivative is a central difference, accurate enough for a step). If it does not find as many as were counted, the
//! rectangle is bisected until each part has one (L. M. Delves and J. N. Lyness, "A numerical method for locating the
//! zeros of an analytic function", Math. Comp. 21, 1967). Coefficients are real, so that zeros come in conjugate
//! pairs.

use super::complex::{Complex64, size};
use super::loops::Loop;
use super::plant::LinearPlant;
use super::winding::{Polyline, rounds};
use sojourn_units::math;

/// A rectangle of the s plane, 1/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Lower left.
    pub from: Complex64,
    /// Upper right.
    pub to: Complex64,
}

/// Rightmost poles of a closed loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Rightmost {
    /// Poles with Im s >= 0, rightmost first, repeated by multiplicity, 1/s.
    pub poles: Vec<Complex64>,
    /// All poles with Re s > -complete are among them and their conjugates.
    pub complete: f64,
}

/// At least `wanted` rightmost poles of the closed loop (a pair counts two), if there are so many.
///
/// None where the loop has no bound (its gain does not fall with frequency) or a pole cannot be separated from the
/// border of the region searched.
pub fn rightmost(of: &dyn Loop, wanted: usize) -> Option<Rightmost> {
    let scale = 1.0 / of.delay().max(of.band().map_or(0.0, |band| 1.0 / band));
    let scale = if scale.is_finite() { scale } else { of.reach(1.0, 0.0)? };
    let right = match of.band() {
        Some(band) => Some(right_of_all(of, band)?),
        None => None,
    };
    // A failure farther left leaves the poles known so far valid.
    let mut found: Option<Rightmost> = None;
    for doubling in -3..40i32 {
        let left = (scale * super::plant::power(2.0, doubling)).min(of.leftmost());
        let Some(corner) = of.reach(1.0, left) else { break };
        if found.is_some() && corner * of.delay_of_parts() > TALLEST {
            break;
        }
        let known = found.as_ref().map_or(Vec::new(), |found: &Rightmost| found.poles.clone());
        let right = right.unwrap_or(corner);
        let Some(poles) = up_to(of, [left, right], corner, &known) else { break };
        let all = left >= of.leftmost() || (of.delay() == 0.0 && left >= corner);
        let enough = all || number(&poles) >= wanted || left * of.delay() > DEEP;
        found = Some(Rightmost { poles, complete: left });
        if enough {
            break;
        }
    }
    found
}

/// Poles between Re s = -left and `right`, given some known ones. Poles of a sampled-data loop are above its `corner`
/// only where L, less than 1 on the line, is larger right of it: then the strip's count has more of them.
fn up_to(of: &dyn Loop, [left, right]: [f64; 2], corner: f64, known: &[Complex64]) -> Option<Vec<Complex64>> {
    let (f, roughly) = (|s| of.at(s).characteristic(), |s| of.roughly(s).characteristic());
    let below = |height: f64| {
        let area = Rectangle { from: Complex64::new(-left, 0.0), to: Complex64::new(right, height) };
        upper([&f, &roughly], area, of.delay_of_parts(), known)
    };
    let found = below(corner)?;
    let Some(band) = of.band().filter(|band| corner < *band) else { return Some(found) };
    let inside: Vec<Complex64> = found.iter().copied().filter(|pole| pole.re > -left).collect();
    if super::nyquist::right_of(of, -left) == Some(number(&inside) as i64) {
        Some(found)
    } else {
        below(band)
    }
}

/// Poles of the plant with Re s >= -left, both of a pair; none where they cannot be separated.
pub fn poles(plant: &dyn LinearPlant, left: f64) -> Option<Vec<Complex64>> {
    let radius = plant.pole_radius(left)?;
    let area = Rectangle { from: Complex64::new(-left, 0.0), to: Complex64::new(radius, radius) };
    let f = |s| plant.at(s).below;
    let upper = upper([&f, &f], area, plant.delay_of_parts(), &[])?;
    let lower: Vec<Complex64> = upper.iter().filter(|s| s.im > 0.0).map(Complex64::conj).collect();
    Some([upper, lower].concat())
}

/// All zeros of `f`, analytic, in `area`; `delay` is the rate at which it winds. None where one is on the border, or
/// where they cannot be separated.
pub fn zeros(f: &impl Fn(Complex64) -> Complex64, area: Rectangle, delay: f64) -> Option<Vec<Complex64>> {
    all([f, f], area, delay, &[])
}

/// A function.
type Of<'a> = &'a dyn Fn(Complex64) -> Complex64;

/// All zeros of a function, given some, and given an approximation that suffices to count them. None where the number
/// found and the count do not agree; a zero that both miss is left to the other counts of a verdict: Nyquist's, and that
/// of the strip ([`up_to`]).
fn all(
    [f, roughly]: [Of<'_>; 2],
    area: Rectangle,
    delay: f64,
    known: &[Complex64],
) -> Option<Vec<Complex64>> {
    divided_out([f, roughly], area, area.count(roughly, delay)?, known)
        .or_else(|| cut_out([f, roughly], area, delay, area.count(f, delay)?))
}

/// All `count` zeros in `area` by Newton's method, first on the approximation, known ones divided out; none where it misses any.
fn divided_out(
    [f, roughly]: [Of<'_>; 2],
    area: Rectangle,
    count: i64,
    known: &[Complex64],
) -> Option<Vec<Complex64>> {
    let mut found = known.to_vec();
    let within = |found: &[Complex64]| found.iter().filter(|&&zero| area.has(zero)).count() as i64;
    for start in (0..STARTS * count).map(|number| area.start(number)) {
        if within(&found) == count {
            break;
        }
        let near = polish(roughly, start, area.size(), (&found, NEARLY));
        let zero = near.and_then(|near| polish(f, near, area.size(), (&found, SETTLED)));
        let Some(zero) = zero else { continue };
        let apart = |other: &Complex64| size(other - zero) > APART * (size(zero) + 1e-3 * area.size());
        if !found.iter().all(apart) {
            return None;
        }
        found.push(zero);
    }
    let inside = within(&found) == count;
    found.retain(|&zero| area.has(zero));
    inside.then_some(found)
}

/// All `count` zeros in `area`, bisected until each part has one; on the approximation, as long as parts are large.
fn cut_out([f, roughly]: [Of<'_>; 2], area: Rectangle, delay: f64, count: i64) -> Option<Vec<Complex64>> {
    let mut found = Vec::new();
    let mut open = vec![(area, count)];
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
        if part.size() < smallest(count) * (part.size() + size(part.middle())) {
            // Numbers of parts are differences, those of large ones of an approximation: here the function has the word.
            if part.around().count(f, delay)? < count {
                return None;
            }
            found.extend(vec![part.middle(); count as usize]);
            continue;
        }
        let is_large = part.size() > LARGE * (part.size() + size(part.middle()));
        open.extend(part.halves(if is_large { roughly } else { f }, delay, count)?);
    }
    Some(found)
}

/// Relative size of the smallest rectangle with so many zeros that is still cut: a function falls towards a zero of
/// order m as the power m of the distance, so that rounding hides a rectangle of its m-th root.
fn smallest(count: i64) -> f64 {
    SMALLEST.max(math::pow(ROUNDED, 1.0 / count.min(MOST_ALIKE) as f64))
}

/// Zeros in the upper half of an area that begins at the real axis, rightmost first, given some known ones. Its
/// borders move out slightly where a zero is on them.
fn upper(f: [Of<'_>; 2], area: Rectangle, delay: f64, known: &[Complex64]) -> Option<Vec<Complex64>> {
    let height = area.to.im - area.from.im;
    let found = (1..=TRIES).find_map(|attempt| {
        let more = 1e-3 * height * f64::from(attempt);
        let from = Complex64::new(area.from.re - 1e-3 * more, -more);
        all(f, Rectangle { from, to: area.to + Complex64::new(more, more) }, delay, known)
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

/// Number of these poles with their conjugates.
fn number(upper: &[Complex64]) -> usize {
    upper.iter().map(|zero| if zero.im > 0.0 { 2 } else { 1 }).sum()
}

/// A real part right of all poles of a sampled-data loop.
fn right_of_all(of: &dyn Loop, band: f64) -> Option<f64> {
    let first = of.reach(1.0, 0.0)?;
    let places = (0..60).map(|power| first * super::plant::power(2.0, power) / 4.0);
    let mut places = places.take_while(|right| *right < band * FARTHEST);
    places.find(|&right| super::nyquist::right_of(of, right) == Some(0))
}

impl Rectangle {
    fn count(&self, f: Of<'_>, delay: f64) -> Option<i64> {
        let Rectangle { from, to } = *self;
        let corners = [from, Complex64::new(to.re, from.im), to, Complex64::new(from.re, to.im), from];
        Polyline { corners: &corners, delay }.turn(f).map(rounds)
    }

    /// Cuts across the longer side where no zero is on the cut; gives the parts with their numbers of zeros, `count`
    /// in all.
    fn halves(&self, f: Of<'_>, delay: f64, count: i64) -> Option<[(Rectangle, i64); 2]> {
        let Rectangle { from, to } = *self;
        CUTS.iter().find_map(|cut| {
            let at = from + (to - from) * *cut;
            let [mut one, mut other] = [*self, *self];
            if to.re - from.re > to.im - from.im {
                (one.to.re, other.from.re) = (at.re, at.re);
            } else {
                (one.to.im, other.from.im) = (at.im, at.im);
            }
            let first = one.count(f, delay)?;
            Some([(one, first), (other, count - first)])
        })
    }

    /// The rectangle widened about its middle, so that no zero inside is on the border.
    fn around(&self) -> Rectangle {
        let more = (self.to - self.from) * WIDER;
        Rectangle { from: self.from - more, to: self.to + more }
    }

    fn middle(&self) -> Complex64 {
        self.spread(0.0)
    }

    /// Starts of Newton's method: in turn in the rectangle and in ever smaller ones at its corner near 0, where zeros are
    /// that a rough bound encloses. Far out a function grows like s^n, and a step is an n-th of the way.
    fn start(&self, number: i64) -> Complex64 {
        let share = super::plant::power(0.25, (number % SIZES) as i32);
        Rectangle { to: self.from + (self.to - self.from) * share, ..*self }.spread(number as f64)
    }

    /// Low-discrepancy points of the rectangle, the middle first: fractions of multiples of powers of the plastic
    /// number.
    fn spread(&self, number: f64) -> Complex64 {
        let [x, y] = PLASTIC.map(|share| (0.5 + number * share).fract());
        let way = self.to - self.from;
        self.from + Complex64::new(way.re * x, way.im * y)
    }

    fn size(&self) -> f64 {
        size(self.to - self.from)
    }

    fn has(&self, s: Complex64) -> bool {
        (self.from.re..=self.to.re).contains(&s.re) && (self.from.im..=self.to.im).contains(&s.im)
    }
}

/// Zero that Newton's method reaches from the middle, if it stays inside.
fn newton(f: Of<'_>, area: Rectangle) -> Option<Complex64> {
    polish(f, area.middle(), area.size(), (&[], SETTLED)).filter(|&zero| area.has(zero))
}

/// Newton's method from `start`, in a region as large as `extent`, with the `known` zeros divided out, until a step is as small as
/// `settled` by the zero; none where it does not converge.
fn polish(
    f: Of<'_>,
    start: Complex64,
    extent: f64,
    (known, settled): (&[Complex64], f64),
) -> Option<Complex64> {
    let mut at = start;
    let mut step = extent;
    for _ in 0..STEPS {
        let reach = DIFFERENCE * size(at).max(1e-3 * step);
        let (value, slope) = (f(at), (f(at + reach) - f(at - reach)) / (2.0 * reach));
        let divided: Complex64 = known.iter().map(|zero| 1.0 / (at - zero)).sum();
        let change = value / (slope - value * divided);
        if !change.is_finite() || size(change) > 2.0 * extent {
            return None;
        }
        at -= change;
        // Steps that no longer shrink are rounding errors.
        if size(change) <= settled * size(at) || (size(change) >= step && step <= ROUNDING * size(at)) {
            return Some(at);
        }
        step = size(change);
    }
    None
}

/// Limit to the right of the search for poles of a sampled-data loop, relative to its band.
const FARTHEST: f64 = 1e3;
/// Limits of the search for poles: to the left, relative to 1 / delay, e^20; and of the height of a further strip, which grows as
/// the exponential of the delay does, where L falls as 1 / s, in turns of that exponential, rad.
const DEEP: f64 = 20.0;
const TALLEST: f64 = 1e4;
/// Positions of cuts: off the symmetry of zeros.
const CUTS: [f64; 4] = [0.483, 0.527, 0.431, 0.571];
/// Relative size of the smallest rectangle that is cut, and rounding error of a function, relative to its terms.
const SMALLEST: f64 = 1e-9;
/// The same of one whose zeros an approximation counts.
const LARGE: f64 = 1e-2;
const ROUNDED: f64 = 1e-12;
/// Widening of a part at each side before its zeros are counted again, in its sizes.
const WIDER: f64 = 2.0;
/// Greatest multiplicity.
const MOST_ALIKE: i64 = 3;
const TRIES: u32 = 6;
/// Starts of Newton's method for each zero, and sizes of the rectangles in which they are.
const STARTS: i64 = 6;
const SIZES: i64 = 4;
/// Relative distance below which zeros may coincide.
const APART: f64 = 1e-6;
/// Inverse of the plastic number, and of its square.
const PLASTIC: [f64; 2] = [0.754_877_666_246_692_7, 0.569_840_290_998_053_2];
const STEPS: usize = 60;
const SETTLED: f64 = 4e-16;
/// The same on an approximation.
const NEARLY: f64 = 1e-4;
const ROUNDING: f64 = 1e-9;
/// Step of the central difference, relative to the point.
const DIFFERENCE: f64 = 1e-5;

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros of an approximation alone are not reported, however small the parts to which they are followed.
    #[test]
    fn zeros_that_the_function_does_not_have_are_not_found() {
        let [own, other] = [Complex64::new(0.7, 0.7), Complex64::new(0.2, 0.2)];
        let double = |zero: Complex64| move |s: Complex64| (s - zero) * (s - zero);
        let (f, wrong) = (double(own), double(other));
        let area = Rectangle { from: Complex64::ZERO, to: Complex64::new(1.0, 1.0) };
        assert_eq!(cut_out([&f, &wrong], area, 0.0, 2), None);
        let found = cut_out([&f, &f], area, 0.0, 2).unwrap();
        assert!(found.len() == 2 && found.iter().all(|zero| size(zero - own) < 1e-5), "{found:?}");
    }
}
