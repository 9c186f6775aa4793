//! Loops of a plant and a law, broken at one place.
//!
//! With P_F = dF/dp, P = dq/dp of the plant (both negative at low frequencies), a law C from q to p,
//! or a cascade of C_o (from the backlog's error to F_ref) and C_i (from F - F_ref to p):
//!
//! ```text
//! one law:               L = -C P                                             (1)
//! inner loop:            L = -C_i P_F                                         (2)
//! outer, broken at F_ref with the inner one closed:
//!                        L = -C_o C_i P / (1 - C_i P_F)                       (3)
//! both, broken at p:     L = -C_i (P_F + C_o P)                               (4)
//! ```
//!
//! [`super::sampled`] closes the plant with a law that runs every T.

use super::bound::{Bound, Outside, doubled};
use super::complex::{Complex64, Wide, exp, polynomial, ratio};
use super::plant::LinearPlant;
use super::winding::Polyline;
use sojourn_aqm::linear::{Cascade, Rational};

/// L at one s: a quotient of parts that are analytic once multiplied by [`Loop::factors`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction {
    /// Numerator.
    pub above: Complex64,
    /// Denominator: with the factors its zeros are the open loop's poles.
    pub below: Complex64,
}

/// A loop L; the closed loop is 1 + L = 0.
pub trait Loop: Sync {
    /// L at `s`, 1/s; NaN where it is unknown.
    fn at(&self, s: Complex64) -> Fraction;

    /// L itself, where that is faster or has more digits than the quotient.
    fn value(&self, s: Complex64) -> Complex64 {
        self.at(s).value()
    }

    /// The parts of 1 + L to six digits, where that is faster.
    fn roughly(&self, s: Complex64) -> Fraction {
        self.at(s)
    }

    /// The denominator at `s`, where that alone is faster.
    fn below(&self, s: Complex64) -> Complex64 {
        self.roughly(s).below
    }

    /// Product of analytic factors that the parts of L are divided by: that of a hundred classes leaves the range of numbers.
    fn factors(&self, _s: Complex64) -> Wide {
        Wide::ONE
    }

    /// Real zeros of the factors, 1/s: poles of many classes are beside them.
    fn real_zeros_of_factors(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Growth of the angle of 1 + L along straight lines from corner to corner, rad; none where it is unknown.
    fn turn_of_closed(&self, corners: &[Complex64]) -> Option<f64> {
        Polyline { corners, delay: self.delay_of_closed() }.turn(&|s| 1.0 + self.value(s))
    }

    /// Delay by which the angle of 1 + L winds at high frequencies, s.
    fn delay_of_closed(&self) -> f64 {
        self.delay()
    }

    /// Growth of the denominator's angle between two points, its factors included, rad; none where it is unknown.
    fn turn_of_below(&self, way: [Complex64; 2]) -> Option<f64> {
        let below = |s: Complex64| self.factors(s).times(self.below(s));
        Polyline { corners: &way, delay: self.delay_of_below() }.turn(&below)
    }

    /// Number of poles of L with Re s > `limit`, 1/s, where they are known individually.
    fn open_poles(&self, _limit: f64) -> Option<i64> {
        None
    }

    /// Rate at which L winds along the imaginary axis, s: the greatest delay in it.
    fn delay(&self) -> f64;

    /// The same for its parts, s, in which delays may be multiplied.
    fn delay_of_parts(&self) -> f64 {
        self.delay()
    }

    /// The same for the denominator, s.
    fn delay_of_below(&self) -> f64 {
        self.delay_of_parts()
    }

    /// A radius beyond which |L| < `level` for Re s >= -left; none where none is known. Of a sampled-data loop: the
    /// frequency from which on that holds up to pi / T on the line Re s = -left.
    fn reach(&self, level: f64, left: f64) -> Option<f64>;

    /// pi / T of a sampled-data loop, rad/s: its strip ends there.
    fn band(&self) -> Option<f64> {
        None
    }

    /// Distance left of the imaginary axis within which the parts are known to be analytic, 1/s.
    fn leftmost(&self) -> f64 {
        f64::INFINITY
    }
}

/// A loop in continuous time.
#[derive(Clone, Debug)]
pub struct Continuous<P> {
    plant: P,
    path: Path,
}

/// A loop multiplied by `gain`.
#[derive(Clone, Debug)]
pub struct Scaled<L> {
    /// The loop.
    pub inner: L,
    /// Factor.
    pub gain: f64,
}

/// Law that closes the loop, and the point at which it is broken.
#[derive(Clone, Debug)]
enum Path {
    Law(Rational),
    Inner(Cascade),
    Outer(Cascade),
    Whole(Cascade),
}

impl Fraction {
    /// L.
    pub fn value(self) -> Complex64 {
        ratio(self.above, self.below)
    }

    /// Characteristic function: with the factors analytic, with its zeros at the closed loop's poles.
    pub fn characteristic(self) -> Complex64 {
        self.above + self.below
    }

    fn times(self, gain: f64) -> Fraction {
        Fraction { above: self.above * gain, ..self }
    }
}

impl<P: LinearPlant> Continuous<P> {
    /// Equation (1): a law in s, from backlog to p.
    pub fn new(plant: P, law: Rational) -> Self {
        Continuous { plant, path: Path::Law(law) }
    }

    /// Equation (2).
    pub fn inner(plant: P, cascade: Cascade) -> Self {
        Continuous { plant, path: Path::Inner(cascade) }
    }

    /// Equation (3).
    pub fn outer(plant: P, cascade: Cascade) -> Self {
        Continuous { plant, path: Path::Outer(cascade) }
    }

    /// Equation (4).
    pub fn whole(plant: P, cascade: Cascade) -> Self {
        Continuous { plant, path: Path::Whole(cascade) }
    }

    /// A bound of |L|.
    fn bound(&self, at: Outside) -> Option<f64> {
        let [flight, backlog] = self.plant.bounds(at)?;
        let of = |law| rational_bound(law, at.radius);
        let bound = match &self.path {
            Path::Law(law) => of(law)?.with(backlog),
            Path::Inner(Cascade { inner, .. }) => of(inner)?.with(flight),
            Path::Outer(Cascade { inner, outer }) => {
                let inner = of(inner)?;
                let back = falling(inner.with(flight), at.radius)?;
                if back >= 1.0 {
                    return None;
                }
                inner.with(of(outer)?).with(backlog).times(1.0 / (1.0 - back))
            }
            Path::Whole(Cascade { inner, outer }) => {
                of(inner)?.with(flight.plus(of(outer)?.with(backlog), at.radius))
            }
        };
        falling(bound, at.radius)
    }
}

impl<P: LinearPlant> Loop for Continuous<P> {
    /// Value under one law, of the classes' sum alone.
    fn value(&self, s: Complex64) -> Complex64 {
        let Path::Law(law) = &self.path else { return self.at(s).value() };
        let [above, below] = parts(law, s);
        let late: Vec<Complex64> = self.plant.delays().iter().map(|delay| exp(-s * delay)).collect();
        -above / below * self.plant.queue(s, &late)
    }

    fn at(&self, s: Complex64) -> Fraction {
        let plant = self.plant.at(s);
        match &self.path {
            Path::Law(law) => {
                let [above, below] = parts(law, s);
                Fraction { above: -above * plant.backlog, below: below * plant.below }
            }
            Path::Inner(Cascade { inner, .. }) => {
                let [above, below] = parts(inner, s);
                Fraction { above: -above * plant.flight, below: below * plant.below }
            }
            Path::Outer(Cascade { inner, outer }) => {
                let ([inner, under], [outer, below]) = (parts(inner, s), parts(outer, s));
                let closed = under * plant.below - inner * plant.flight;
                Fraction { above: -outer * inner * plant.backlog, below: below * closed }
            }
            Path::Whole(Cascade { inner, outer }) => {
                let ([inner, under], [outer, below]) = (parts(inner, s), parts(outer, s));
                let both = below * plant.flight + outer * plant.backlog;
                Fraction { above: -inner * both, below: under * below * plant.below }
            }
        }
    }

    fn delay(&self) -> f64 {
        self.plant.delay()
    }

    fn delay_of_parts(&self) -> f64 {
        self.plant.delay_of_parts()
    }

    fn factors(&self, s: Complex64) -> Wide {
        self.plant.factors(s)
    }

    fn real_zeros_of_factors(&self) -> Vec<f64> {
        self.plant.real_zeros_of_factors()
    }

    fn reach(&self, level: f64, left: f64) -> Option<f64> {
        doubled(|radius| self.bound(Outside { radius, left }).is_some_and(|bound| bound < level))
    }
}
impl<L: Loop> Loop for Scaled<L> {
    fn at(&self, s: Complex64) -> Fraction {
        self.inner.at(s).times(self.gain)
    }

    fn value(&self, s: Complex64) -> Complex64 {
        self.inner.value(s) * self.gain
    }

    fn roughly(&self, s: Complex64) -> Fraction {
        self.inner.roughly(s).times(self.gain)
    }

    fn factors(&self, s: Complex64) -> Wide {
        self.inner.factors(s)
    }

    fn real_zeros_of_factors(&self) -> Vec<f64> {
        self.inner.real_zeros_of_factors()
    }

    fn turn_of_below(&self, way: [Complex64; 2]) -> Option<f64> {
        self.inner.turn_of_below(way)
    }

    fn open_poles(&self, limit: f64) -> Option<i64> {
        self.inner.open_poles(limit)
    }

    fn below(&self, s: Complex64) -> Complex64 {
        self.inner.below(s)
    }

    fn delay(&self) -> f64 {
        self.inner.delay()
    }

    fn delay_of_parts(&self) -> f64 {
        self.inner.delay_of_parts()
    }

    fn delay_of_below(&self) -> f64 {
        self.inner.delay_of_below()
    }

    fn reach(&self, level: f64, left: f64) -> Option<f64> {
        self.inner.reach(level / self.gain, left)
    }

    fn band(&self) -> Option<f64> {
        self.inner.band()
    }

    fn leftmost(&self) -> f64 {
        self.inner.leftmost()
    }
}

/// Implements `Loop` for a pointer to a loop.
macro_rules! behind_a_pointer {
    ($pointer:ty) => {
        impl<L: Loop + ?Sized> Loop for $pointer {
            fn at(&self, s: Complex64) -> Fraction {
                (**self).at(s)
            }

            fn value(&self, s: Complex64) -> Complex64 {
                (**self).value(s)
            }

            fn roughly(&self, s: Complex64) -> Fraction {
                (**self).roughly(s)
            }

            fn factors(&self, s: Complex64) -> Wide {
                (**self).factors(s)
            }

            fn real_zeros_of_factors(&self) -> Vec<f64> {
                (**self).real_zeros_of_factors()
            }

            fn turn_of_closed(&self, corners: &[Complex64]) -> Option<f64> {
                (**self).turn_of_closed(corners)
            }

            fn delay_of_closed(&self) -> f64 {
                (**self).delay_of_closed()
            }

            fn turn_of_below(&self, way: [Complex64; 2]) -> Option<f64> {
                (**self).turn_of_below(way)
            }

            fn open_poles(&self, limit: f64) -> Option<i64> {
                (**self).open_poles(limit)
            }

            fn below(&self, s: Complex64) -> Complex64 {
                (**self).below(s)
            }

            fn delay(&self) -> f64 {
                (**self).delay()
            }

            fn delay_of_parts(&self) -> f64 {
                (**self).delay_of_parts()
            }

            fn delay_of_below(&self) -> f64 {
                (**self).delay_of_below()
            }

            fn reach(&self, level: f64, left: f64) -> Option<f64> {
                (**self).reach(level, left)
            }

            fn band(&self) -> Option<f64> {
                (**self).band()
            }

            fn leftmost(&self) -> f64 {
                (**self).leftmost()
            }
        }
    };
}

behind_a_pointer!(Box<L>);
behind_a_pointer!(&L);

/// Numerator and denominator of a law at `at`.
pub(super) fn parts(law: &Rational, at: Complex64) -> [Complex64; 2] {
    [polynomial(&law.numerator, at), polynomial(&law.denominator, at)]
}

/// A bound of |C(s)| from `radius` on; none where the denominator may be zero there.
pub(super) fn rational_bound(law: &Rational, radius: f64) -> Option<Bound> {
    let terms = |coefficients: &[f64]| -> Vec<Bound> {
        let bounds = coefficients.iter().enumerate();
        bounds.map(|(power, x)| Bound { factor: x.abs(), power: power as i32 }).collect()
    };
    let above = terms(&law.numerator).into_iter().fold(Bound::NONE, |sum, term| sum.plus(term, radius));
    let mut below = terms(&law.denominator);
    while below.last().is_some_and(|term| term.factor == 0.0) {
        below.pop();
    }
    let highest = below.pop()?;
    let others = below.into_iter().fold(Bound::NONE, |sum, term| sum.plus(term, radius));
    let share = others.at(radius) / highest.at(radius);
    let inverse = Bound { factor: 1.0 / (highest.factor * (1.0 - share)), power: -highest.power };
    (share < 1.0).then(|| above.with(inverse))
}

/// Value of the bound, where it holds from `radius` on.
pub(super) fn falling(bound: Bound, radius: f64) -> Option<f64> {
    (bound.factor == 0.0 || bound.power <= 0).then(|| bound.at(radius))
}
