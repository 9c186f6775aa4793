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
//! A law that runs every T sees and answers sequences. With zeta = e^(-sT), the discrete plant is the
//! sum of the aliases of the plant behind a hold (K. J. Åström and B. Wittenmark, "Computer-controlled
//! systems", 3rd ed., 1997, section 7.3):
//!
//! ```text
//! L(s) = -C(zeta) P_T(s),  w_T = 2 pi / T
//! P_T(s) = (1 - zeta) / T  sum over k of P(s + j k w_T) / (s + j k w_T)       (5)
//! ```
//!
//! The slowly falling part of P is a sum of lags e^(-sR) / ((s + a) (s + h)), whose (5) is closed:
//! with l = ceil(R / T), phi = l T - R and the lag's step response r_0 + r_1 e^(-at) + r_2 e^(-ht),
//!
//! ```text
//! (1 - zeta) zeta^l sum of r_i e^(-a_i phi) / (1 - e^(-a_i T) zeta)           (6)
//! ```
//!
//! What is left is summed up to |k| = K; if it is at most c |s|^-m, what is not summed is at most
//! |1 - zeta| / T  2 c w_T^-(m+1) / (m (K - 1/2)^m), and K makes that 1e-12 of 1 + L; where no K up to 2^14 does,
//! L is not told.

use super::complex::{Complex64, exp, polynomial, size};
use super::plant::{Bound, Lag, Outside, Plant, doubled};
use super::roots;
use sojourn_aqm::linear::{Cascade, InSamples, Rational};
use sojourn_units::math;
use std::f64::consts::PI;

/// L at one s: a quotient whose parts are analytic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction {
    /// Numerator.
    pub above: Complex64,
    /// Denominator: its zeros are the open loop's poles.
    pub below: Complex64,
}

/// A loop L; the closed one is 1 + L = 0.
pub trait Loop: Sync {
    /// L at `s`, 1/s; not a number where it cannot be told.
    fn at(&self, s: Complex64) -> Fraction;

    /// The same to six digits of 1 + L, where that is quicker.
    fn roughly(&self, s: Complex64) -> Fraction {
        self.at(s)
    }

    /// The greatest delay in it, s: how fast it winds.
    fn delay(&self) -> f64;

    /// A radius beyond which |L| < `level` for Re s >= -left; none where there is none.
    fn reach(&self, level: f64, left: f64) -> Option<f64>;

    /// pi / T of a sampled loop, rad/s: there is nothing beyond.
    fn band(&self) -> Option<f64> {
        None
    }

    /// How far left of the imaginary axis the parts are known to be analytic, 1/s.
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

/// A loop whose law runs every period.
#[derive(Clone, Debug)]
pub struct Sampled<P> {
    plant: P,
    law: InSamples,
    lags: Vec<Lag>,
    /// The lags behind a hold.
    held: Vec<Held>,
    /// The plant's delays, s, and by what e^(-s delay) turns from one alias to the next.
    delays: Vec<(f64, Complex64)>,
    /// e^(sT) at the plant's poles right of -left, where L has poles that are multiplied out.
    poles: Vec<Complex64>,
    left: f64,
    /// What may be left out of (5), by the characteristic function.
    exact: f64,
}

/// A loop with `gain` times as much of everything.
#[derive(Clone, Debug)]
pub struct Scaled<L> {
    /// The loop.
    pub inner: L,
    /// Times this.
    pub gain: f64,
}

/// What closes the loop, and where it is broken.
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
        self.above / self.below
    }

    /// What is zero at the closed loop's roots, and analytic.
    pub fn characteristic(self) -> Complex64 {
        self.above + self.below
    }

    fn times(self, gain: f64) -> Fraction {
        Fraction { above: self.above * gain, ..self }
    }
}

impl<P: Plant> Continuous<P> {
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

impl<P: Plant> Loop for Continuous<P> {
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

    fn reach(&self, level: f64, left: f64) -> Option<f64> {
        doubled(|radius| self.bound(Outside { radius, left }).is_some_and(|bound| bound < level))
    }
}

impl<P: Plant> Sampled<P> {
    /// Equation (5). Roots are known as far left as the plant's poles are looked for, [`Loop::leftmost`]; none where
    /// these cannot be told.
    pub fn new(plant: P, law: InSamples) -> Option<Self> {
        let left = LEFT / law.period.seconds().max(plant.delay());
        Sampled::within(plant, law, left, EXACT)
    }

    /// The same as exact as a count of roots right of the imaginary axis needs it, and known there alone.
    pub fn roughly(plant: P, law: InSamples) -> Option<Self> {
        Sampled::within(plant, law, 0.0, ROUGH)
    }

    fn within(plant: P, law: InSamples, left: f64, exact: f64) -> Option<Self> {
        let period = law.period.seconds();
        let poles = roots::poles(&plant, left)?.iter().map(|pole| exp(pole * period)).collect();
        let lags = plant.lags();
        let held = lags.iter().map(|lag| Held::new(lag, period)).collect();
        let turn = |delay: f64| (delay, exp(Complex64::new(0.0, -2.0 * PI / period * delay)));
        let delays = plant.delays().into_iter().map(turn).collect();
        Some(Sampled { plant, law, lags, held, delays, poles, left, exact })
    }

    /// P_T(s), equation (5): what the law finds in the queue by what it answers; not a number where it cannot be told.
    pub fn held(&self, s: Complex64) -> Complex64 {
        self.held_beside(s, 0.0, self.exact)
    }

    /// The same where it is added to something as large as `other`, and so much of both may be left out.
    fn held_beside(&self, s: Complex64, other: f64, exact: f64) -> Complex64 {
        let period = self.law.period.seconds();
        let zeta = exp(-s * period);
        let closed: Complex64 = self.held.iter().map(|lag| -lag.at(s, zeta)).sum();
        let left = (-s.re).max(0.0);
        let bound = |radius| self.plant.remainder(Outside { radius, left });
        if bound(FAR).is_some_and(|bound| bound.factor == 0.0) {
            return closed;
        }
        let late: Vec<Complex64> = self.delays.iter().map(|(delay, _)| exp(-s * delay)).collect();
        let first = self.beside_lags(s, &late);
        let mut around = [late.clone(), late];
        let pairs = (1..).map(|k| {
            for (place, (_, turn)) in self.delays.iter().enumerate() {
                around[0][place] *= turn;
                around[1][place] *= turn.conj();
            }
            let away = Complex64::new(0.0, 2.0 * PI / period * f64::from(k));
            [self.beside_lags(s + away, &around[0]), self.beside_lags(s - away, &around[1])]
        });
        let asked = Asked { s, period, scale: size(closed) + other, exact };
        let rest = aliases(first, pairs, bound, asked);
        rest.map_or(Complex64::new(f64::NAN, f64::NAN), |rest| closed + rest.sum)
    }

    /// What of dq/dp the lags leave, where e^(-s delay) is known of each of the delays.
    fn beside_lags(&self, s: Complex64, late: &[Complex64]) -> Complex64 {
        let late_of = late.iter().copied().chain(std::iter::repeat(Complex64::ONE));
        let lags: Complex64 = self.lags.iter().zip(late_of).map(|(lag, late)| late * lag.undelayed(s)).sum();
        self.plant.queue(s, late) + lags
    }

    /// L with so much of 1 + L left out.
    fn within_a_share(&self, s: Complex64, exact: f64) -> Fraction {
        let zeta = exp(-s * self.law.period.seconds());
        let [above, below] = parts(&self.law.transfer, zeta);
        let poles: Complex64 = self.poles.iter().map(|pole| 1.0 - pole * zeta).product();
        // 1 + L has as many digits as the larger of its two parts: where |L| is small, P_T needs few.
        let held = self.held_beside(s, size(below) / size(above), exact);
        Fraction { above: -above * held * poles, below: below * poles }
    }
}

impl<P: Plant> Loop for Sampled<P> {
    fn at(&self, s: Complex64) -> Fraction {
        self.within_a_share(s, self.exact)
    }

    fn roughly(&self, s: Complex64) -> Fraction {
        self.within_a_share(s, ROUGH)
    }

    fn delay(&self) -> f64 {
        let taps = self.law.transfer.numerator.len() + self.law.transfer.denominator.len();
        self.plant.delay() + taps as f64 * self.law.period.seconds()
    }

    fn reach(&self, _: f64, _: f64) -> Option<f64> {
        self.band()
    }

    fn band(&self) -> Option<f64> {
        Some(PI / self.law.period.seconds())
    }

    fn leftmost(&self) -> f64 {
        self.left
    }
}

impl<L: Loop> Loop for Scaled<L> {
    fn at(&self, s: Complex64) -> Fraction {
        self.inner.at(s).times(self.gain)
    }

    fn roughly(&self, s: Complex64) -> Fraction {
        self.inner.roughly(s).times(self.gain)
    }

    fn delay(&self) -> f64 {
        self.inner.delay()
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

impl<L: Loop + ?Sized> Loop for Box<L> {
    fn at(&self, s: Complex64) -> Fraction {
        (**self).at(s)
    }

    fn roughly(&self, s: Complex64) -> Fraction {
        (**self).roughly(s)
    }

    fn delay(&self) -> f64 {
        (**self).delay()
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

impl<L: Loop + ?Sized> Loop for &L {
    fn at(&self, s: Complex64) -> Fraction {
        (**self).at(s)
    }

    fn roughly(&self, s: Complex64) -> Fraction {
        (**self).roughly(s)
    }

    fn delay(&self) -> f64 {
        (**self).delay()
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

/// A place in the strip |Im s| <= pi / T, and what the sum is to be exact beside.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// 1/s.
    pub s: Complex64,
    /// T, s.
    pub period: f64,
    /// What else is added to the sum.
    pub scale: f64,
    /// What may be left out, by both.
    pub exact: f64,
}

/// Equation (5), summed.
#[derive(Clone, Copy, Debug)]
pub struct Aliases {
    /// Up to |k| = K.
    pub sum: Complex64,
    /// A bound of what was left out.
    pub tail: f64,
}

/// Equation (5) for a plant with these values at s and, for k = 1, 2 ..., at s + j k w_T and s - j k w_T, bounded by
/// `bound` from a radius on, falling; none where the bound of what is left out never comes down to what is asked.
pub fn aliases(
    first: Complex64,
    pairs: impl Iterator<Item = [Complex64; 2]>,
    bound: impl Fn(f64) -> Option<Bound>,
    asked: Asked,
) -> Option<Aliases> {
    let Asked { s, period, scale, exact } = asked;
    let step = 2.0 * PI / period;
    let hold = (1.0 - exp(-s * period)) / period;
    let mut sum = first * held_back(s, period);
    for (k, [up, down]) in (1..=MOST_ALIASES).zip(pairs) {
        let away = Complex64::new(0.0, step * f64::from(k));
        sum += hold * (up / (s + away) + down / (s - away));
        if k.is_power_of_two() {
            let inside = f64::from(k) - 0.5;
            let falling = bound((inside + 1.0) * step).filter(|bound| bound.power < 0);
            let tail = falling.map_or(f64::INFINITY, |bound| {
                2.0 * size(hold) * bound.at(inside * step) / (-f64::from(bound.power) * step)
            });
            if tail <= exact * (size(sum) + scale) {
                return Some(Aliases { sum, tail });
            }
        }
    }
    None
}

impl Lag {
    /// Its gain / product of (s + rate).
    fn undelayed(&self, s: Complex64) -> Complex64 {
        let below: Complex64 = self.rates.iter().map(|&rate| s + rate).product();
        self.gain / below
    }

    /// Equation (6).
    pub fn held(&self, s: Complex64, period: f64) -> Complex64 {
        Held::new(self, period).at(s, exp(-s * period))
    }

    /// The step response's exponentials: residue and rate.
    fn residues(&self) -> Vec<(f64, f64)> {
        let of = |index: usize| {
            let rate = self.rates[index];
            let others = self.rates.iter().enumerate().filter(|&(other, _)| other != index);
            let apart: f64 = others.map(|(_, other)| other - rate).product();
            (-1.0 / (rate * apart), rate)
        };
        (0..self.rates.len()).map(of).collect()
    }
}

/// A lag behind a hold, equation (6).
#[derive(Clone, Debug)]
struct Held {
    gain: f64,
    /// l T, s.
    delay: f64,
    /// The step response's r_0, and of each exponential r e^(-a phi) and e^(-a T).
    constant: f64,
    exponentials: Vec<[f64; 2]>,
}

impl Held {
    fn new(lag: &Lag, period: f64) -> Held {
        let delay = (lag.delay / period).ceil() * period;
        let exponential = |(residue, rate): (f64, f64)| {
            [residue * math::exp(-rate * (delay - lag.delay)), math::exp(-rate * period)]
        };
        Held {
            gain: lag.gain,
            delay,
            constant: lag.rates.iter().map(|rate| 1.0 / rate).product(),
            exponentials: lag.residues().into_iter().map(exponential).collect(),
        }
    }

    /// At `s`, where `zeta` is e^(-sT).
    fn at(&self, s: Complex64, zeta: Complex64) -> Complex64 {
        let responses = self.exponentials.iter().map(|[now, kept]| now / (1.0 - zeta * kept));
        // Where zeta = 1 the constant is all there is; elsewhere (1 - zeta) cancels in it.
        let sum = self.constant + (1.0 - zeta) * responses.sum::<Complex64>();
        exp(-s * self.delay) * sum * self.gain
    }
}

/// Numerator and denominator of a law at `at`: s, or zeta.
fn parts(law: &Rational, at: Complex64) -> [Complex64; 2] {
    [polynomial(&law.numerator, at), polynomial(&law.denominator, at)]
}

/// A bound of |C(s)| from `radius` on; none where the denominator may be zero there.
fn rational_bound(law: &Rational, radius: f64) -> Option<Bound> {
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

/// The bound's value, where it holds from `radius` on.
fn falling(bound: Bound, radius: f64) -> Option<f64> {
    (bound.factor == 0.0 || bound.power <= 0).then(|| bound.at(radius))
}

/// (1 - e^(-sT)) / (sT).
fn held_back(s: Complex64, period: f64) -> Complex64 {
    let turn = s * period;
    if size(turn) > 1e-3 {
        return (1.0 - exp(-turn)) / turn;
    }
    1.0 - turn / 2.0 * (1.0 - turn / 3.0 * (1.0 - turn / 4.0 * (1.0 - turn / 5.0)))
}

/// The plant's poles are looked for to the left as far as this by the longest time in the loop.
const LEFT: f64 = 3.0;
/// A radius where a bound that is ever going to exist does, 1/s.
const FAR: f64 = 1e12;
/// What is left out of a sum, by the sum.
const EXACT: f64 = 1e-12;
const ROUGH: f64 = 1e-6;
const MOST_ALIASES: u32 = 1 << 14;
