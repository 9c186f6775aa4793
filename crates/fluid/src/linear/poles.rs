//! Zeros of analytic functions, and with them the poles of closed loops and of plants.
//!
//! The argument principle counts the zeros in a rectangle. Newton's method finds them one after another, with the
//! known ones divided out (H. J. Maehly, "Zur iterativen Auflösung algebraischer Gleichungen", ZAMP 5, 1954; the
//! derivative is a central difference, accurate enough for a step). If it does not find as many as were counted, the
//! rectangle is bisected until each part has one (L. M. Delves and J. N. Lyness, "A numerical method for locating the
//! zeros of an analytic function", Math. Comp. 21, 1967). Coefficients are real, so that zeros come in conjugate
//! pairs.

use super::complex::{Complex64, Wide, size};
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
        let left = (scale * super::bound::power(2.0, doubling)).min(of.leftmost());
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

/// An analytic function whose zeros are searched for.
trait Analytic {
    /// Its value: the function itself, or an approximation that suffices to count its zeros.
    fn at(&self, s: Complex64, accuracy: Accuracy) -> Wide;

    /// Rate at which it winds, s.
    fn delay(&self) -> f64;

    /// Real points between which, and near which, it may have many real zeros.
    fn marks(&self) -> Vec<f64> {
        Vec::new()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accuracy {
    Exact,
    Rough,
}

/// A function, an approximation of it, and the rate at which they wind, s.
struct Plain<'a> {
    of: &'a dyn Fn(Complex64) -> Complex64,
    roughly: &'a dyn Fn(Complex64) -> Complex64,
    delay: f64,
}

impl Analytic for Plain<'_> {
    fn at(&self, s: Complex64, accuracy: Accuracy) -> Wide {
        Wide::from(if accuracy == Accuracy::Exact { (self.of)(s) } else { (self.roughly)(s) })
    }

    fn delay(&self) -> f64 {
        self.delay
    }
}

/// The characteristic function of a loop.
struct Characteristic<'a>(&'a dyn Loop);

impl Analytic for Characteristic<'_> {
    fn at(&self, s: Complex64, accuracy: Accuracy) -> Wide {
        let Characteristic(of) = self;
        let parts = if accuracy == Accuracy::Exact { of.at(s) } else { of.roughly(s) };
        of.factors(s).times(parts.characteristic())
    }

    fn delay(&self) -> f64 {
        self.0.delay_of_parts()
    }

    fn marks(&self) -> Vec<f64> {
        self.0.real_zeros_of_factors()
    }
}

/// The denominator of a plant.
struct Denominator<'a>(&'a dyn LinearPlant);

impl Analytic for Denominator<'_> {
    fn at(&self, s: Complex64, _: Accuracy) -> Wide {
        self.0.factors(s).times(self.0.at(s).below)
    }

    fn delay(&self) -> f64 {
        self.0.delay_of_parts()
    }

    fn marks(&self) -> Vec<f64> {
        self.0.real_zeros_of_factors()
    }
}

/// Poles between Re s = -left and `right`, given some known ones. Poles of a sampled-data loop are above its `corner`
/// only where L, less than 1 on the line, is larger right of it: then the strip's count has more of them.
fn up_to(of: &dyn Loop, [left, right]: [f64; 2], corner: f64, known: &[Complex64]) -> Option<Vec<Complex64>> {
    let below = |height: f64| {
        let area = Rectangle { from: Complex64::new(-left, 0.0), to: Complex64::new(right, height) };
        upper(&Characteristic(of), area, known)
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
    let upper = upper(&Denominator(plant), area, &[])?;
    let lower: Vec<Complex64> = upper.iter().filter(|s| s.im > 0.0).map(Complex64::conj).collect();
    Some([upper, lower].concat())
}

/// All zeros of `f`, analytic, in `area`; `delay` is the rate at which it winds. None where one is on the border, or
/// where they cannot be separated.
pub fn zeros(f: &impl Fn(Complex64) -> Complex64, area: Rectangle, delay: f64) -> Option<Vec<Complex64>> {
    all(&Plain { of: f, roughly: f, delay }, area, &[])
}

/// All zeros of a function, given some. None where the number found and the count do not agree; a zero that both miss is left to the other counts of a verdict: Nyquist's, and that
/// of the strip ([`up_to`]).
fn all(f: &dyn Analytic, area: Rectangle, known: &[Complex64]) -> Option<Vec<Complex64>> {
    divided_out(f, area, area.count(f, Accuracy::Rough)?, known)
        .or_else(|| cut_out(f, area, area.count(f, Accuracy::Exact)?))
}

/// All `count` zeros in `area`: real ones between marks, and the others by Newton's method, first on the approximation,
/// known ones divided out; none where it misses any.
fn divided_out(f: &dyn Analytic, area: Rectangle, count: i64, known: &[Complex64]) -> Option<Vec<Complex64>> {
    let mut found = known.to_vec();
    let within = |found: &[Complex64]| found.iter().filter(|&&zero| area.has(zero)).count() as i64;
    let is_apart = |found: &[Complex64], zero: Complex64| {
        found.iter().all(|other| size(other - zero) > APART * (size(zero) + 1e-3 * area.size()))
    };
    let marks = if count == 0 { Vec::new() } else { area.marks(f) };
    // Across a mark itself signs have no digits.
    let gaps = marks.windows(2).filter(|ends| ends[1] - ends[0] > 4.0 * BESIDE * ends[0].abs());
    for zero in gaps.filter_map(|ends| between(f, [ends[0], ends[1]])) {
        let zero = Complex64::from(zero);
        let is_new = found.iter().all(|other| size(other - zero) > ROUNDING * size(zero));
        if is_new {
            found.push(zero);
        }
    }
    if within(&found) > count {
        found.truncate(known.len());
    }
    let marks = marks.iter().map(|mark| Complex64::from(*mark));
    for start in marks.chain((0..STARTS * count).map(|number| area.start(number))) {
        if within(&found) == count {
            break;
        }
        let near = polish((f, Accuracy::Rough), start, area.size(), (&found, NEARLY));
        let zero = near.and_then(|near| polish((f, Accuracy::Exact), near, area.size(), (&found, SETTLED)));
        let Some(zero) = zero else { continue };
        if !is_apart(&found, zero) {
            return None;
        }
        found.push(zero);
    }
    let inside = within(&found) == count;
    found.retain(|&zero| area.has(zero));
    inside.then_some(found)
}

/// Real zero between two points where a function with real coefficients has different signs (C. J. F. Ridders, "A new
/// algorithm for computing a single root of a real continuous function", IEEE Transactions on Circuits and Systems 26, 1979):
/// its factor takes exponential growth out, and the bracket is at least halved.
fn between(f: &dyn Analytic, [left, right]: [f64; 2]) -> Option<f64> {
    let at = |s: f64| (s, f.at(Complex64::from(s), Accuracy::Exact));
    let opposite = |one: (f64, Wide), other: (f64, Wide)| {
        let [one, other] = Wide::alike([one.1, other.1]).map(|value| value.re.signum());
        one * other < 0.0
    };
    let [mut left, mut right] = [at(left), at(right)];
    for _ in 0..STEPS {
        if !opposite(left, right) {
            return None;
        }
        let middle = at(f64::midpoint(left.0, right.0));
        let [below, value, above] = Wide::alike([left.1, middle.1, right.1]).map(|value| value.re);
        let root = (value * value - below * above).sqrt();
        let off = if root > 0.0 { (middle.0 - left.0) * below.signum() * value / root } else { 0.0 };
        let next = at(middle.0 + off);
        if right.0 - left.0 <= ROUNDED * next.0.abs() || next.1.is_zero() {
            return Some(next.0);
        }
        let [low, high] = if next.0 < middle.0 { [next, middle] } else { [middle, next] };
        if opposite(left, low) {
            right = low;
        } else if opposite(low, high) {
            (left, right) = (low, high);
        } else {
            left = high;
        }
        // Near the zero the bracket shrinks from one side alone.
        let step = ROUNDED * next.0.abs();
        let across = at(if left.0 == next.0 { next.0 + step } else { next.0 - step });
        if (left.0 == next.0 || right.0 == next.0) && opposite(next, across) {
            return Some(next.0);
        }
    }
    None
}

/// All `count` zeros in `area`, bisected until each part has one; on the approximation, as long as parts are large.
fn cut_out(f: &dyn Analytic, area: Rectangle, count: i64) -> Option<Vec<Complex64>> {
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
            if part.around().count(f, Accuracy::Exact)? < count {
                return None;
            }
            found.extend(vec![part.middle(); count as usize]);
            continue;
        }
        let is_large = part.size() > LARGE * (part.size() + size(part.middle()));
        let accuracy = if is_large { Accuracy::Rough } else { Accuracy::Exact };
        open.extend(part.halves((f, accuracy), count)?);
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
fn upper(f: &dyn Analytic, area: Rectangle, known: &[Complex64]) -> Option<Vec<Complex64>> {
    let height = area.to.im - area.from.im;
    let found = (1..=TRIES).find_map(|attempt| {
        let more = 1e-3 * height * f64::from(attempt);
        let from = Complex64::new(area.from.re - 1e-3 * more, -more);
        all(f, Rectangle { from, to: area.to + Complex64::new(more, more) }, known)
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
    let places = (0..60).map(|power| first * super::bound::power(2.0, power) / 4.0);
    let mut places = places.take_while(|right| *right < band * FARTHEST);
    places.find(|&right| super::nyquist::right_of(of, right) == Some(0))
}

impl Rectangle {
    fn count(&self, f: &dyn Analytic, accuracy: Accuracy) -> Option<i64> {
        let Rectangle { from, to } = *self;
        let corners = [from, Complex64::new(to.re, from.im), to, Complex64::new(from.re, to.im), from];
        Polyline { corners: &corners, delay: f.delay() }.turn(&|s| f.at(s, accuracy)).map(rounds)
    }

    /// Cuts across the longer side where no zero is on the cut; gives the parts with their numbers of zeros, `count`
    /// in all.
    fn halves(&self, (f, accuracy): (&dyn Analytic, Accuracy), count: i64) -> Option<[(Rectangle, i64); 2]> {
        let Rectangle { from, to } = *self;
        CUTS.iter().find_map(|cut| {
            let at = from + (to - from) * *cut;
            let [mut one, mut other] = [*self, *self];
            if to.re - from.re > to.im - from.im {
                (one.to.re, other.from.re) = (at.re, at.re);
            } else {
                (one.to.im, other.from.im) = (at.im, at.im);
            }
            let first = one.count(f, accuracy)?;
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
        let share = super::bound::power(0.25, (number % SIZES) as i32);
        Rectangle { to: self.from + (self.to - self.from) * share, ..*self }.spread(number as f64)
    }

    /// Low-discrepancy points of the rectangle, the middle first: fractions of multiples of powers of the plastic
    /// number.
    fn spread(&self, number: f64) -> Complex64 {
        let [x, y] = PLASTIC.map(|share| (0.5 + number * share).fract());
        let way = self.to - self.from;
        self.from + Complex64::new(way.re * x, way.im * y)
    }

    /// Points beside the marks of a function, where a factor may cancel against a part, in order, between the borders.
    fn marks(&self, f: &dyn Analytic) -> Vec<f64> {
        let [left, right] = [self.from.re, self.to.re];
        let marks = f.marks();
        if marks.len() < MANY {
            return Vec::new();
        }
        let beside = |mark: f64| [mark * (1.0 - BESIDE), mark * (1.0 + BESIDE)];
        let mut marks: Vec<f64> = marks.into_iter().flat_map(beside).collect();
        marks.retain(|mark| (left..right).contains(mark));
        marks.extend([left, right]);
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        marks
    }

    fn size(&self) -> f64 {
        size(self.to - self.from)
    }

    fn has(&self, s: Complex64) -> bool {
        (self.from.re..=self.to.re).contains(&s.re) && (self.from.im..=self.to.im).contains(&s.im)
    }
}

/// Zero that Newton's method reaches from the middle, if it stays inside.
fn newton(f: &dyn Analytic, area: Rectangle) -> Option<Complex64> {
    polish((f, Accuracy::Exact), area.middle(), area.size(), (&[], SETTLED)).filter(|&zero| area.has(zero))
}

/// Newton's method from `start`, in a region as large as `extent`, with the `known` zeros divided out, until a step is as small as
/// `settled` by the zero; none where it does not converge.
fn polish(
    (f, accuracy): (&dyn Analytic, Accuracy),
    start: Complex64,
    extent: f64,
    (known, settled): (&[Complex64], f64),
) -> Option<Complex64> {
    let mut at = start;
    let mut step = extent;
    for _ in 0..STEPS {
        let reach = DIFFERENCE * size(at).max(1e-3 * step);
        let values = [at, at + reach, at - reach].map(|s| f.at(s, accuracy));
        let [value, right, left] = Wide::alike(values);
        let slope = (right - left) / (2.0 * reach);
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
/// Number of marks from which on they are worth their evaluations.
const MANY: usize = 12;
/// Relative distance from a mark at which a function has digits.
const BESIDE: f64 = 1e-7;
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

    /// However much larger a function is on one side.
    #[test]
    fn real_zeros_are_bracketed() {
        for (zero, growth) in [(0.3, 0.0), (0.3, 400.0), (-0.7, -400.0), (1e-6, 30.0)] {
            let f = |s: Complex64| (s - zero) * super::super::complex::exp(s * growth);
            let found = between(&Plain { of: &f, roughly: &f, delay: 0.0 }, [-1.0, 1.0]);
            assert!(
                found.is_some_and(|found| (found / zero - 1.0).abs() < 1e-11),
                "{zero} {growth}: {found:?}"
            );
        }
        let f = |s: Complex64| s * s + 1.0;
        assert_eq!(between(&Plain { of: &f, roughly: &f, delay: 0.0 }, [-1.0, 1.0]), None);
    }

    /// Zeros of an approximation alone are not reported, however small the parts to which they are followed.
    #[test]
    fn zeros_that_the_function_does_not_have_are_not_found() {
        let [own, other] = [Complex64::new(0.7, 0.7), Complex64::new(0.2, 0.2)];
        let double = |zero: Complex64| move |s: Complex64| (s - zero) * (s - zero);
        let (f, wrong) = (double(own), double(other));
        let area = Rectangle { from: Complex64::ZERO, to: Complex64::new(1.0, 1.0) };
        assert_eq!(cut_out(&Plain { of: &f, roughly: &wrong, delay: 0.0 }, area, 2), None);
        let found = cut_out(&Plain { of: &f, roughly: &f, delay: 0.0 }, area, 2).unwrap();
        assert!(found.len() == 2 && found.iter().all(|zero| size(zero - own) < 1e-5), "{found:?}");
    }
}
