//! Sampled-data loop of a plant with a law that runs every T.
//!
//! With zeta = e^(-sT), the discrete plant is the sum of the aliases of the plant behind a hold (K. J. Åström and
//! B. Wittenmark, "Computer-controlled systems", 3rd ed., 1997, section 7.3):
//!
//! ```text
//! L(s) = -C(zeta) P_T(s),  w_T = 2 pi / T
//! P_T(s) = (1 - zeta) / T  sum over k of P(s + j k w_T) / (s + j k w_T)       (1)
//! ```
//!
//! The slowly falling part of P is a sum of lags e^(-sR) / ((s + a) (s + h)), whose (1) has a closed form: with l =
//! ceil(R / T), phi = l T - R and the lag's step response r_0 + r_1 e^(-at) + r_2 e^(-ht),
//!
//! ```text
//! (1 - zeta) zeta^l sum of r_i e^(-a_i phi) / (1 - e^(-a_i T) zeta)           (2)
//! ```
//!
//! and so has its mean over the delays of a span: e^(-a_i phi) has its mean over those of one l, and the l between the first
//! and the last one are a geometric series.
//!
//! The remainder is summed ([`super::aliases`]) up to a truncation error of 1e-10 of 1 + L; where no K up to 2^14
//! suffices, L is unknown.
//!
//! From a frequency W on |L| < 1, mostly far below pi / T: there 1 + L is right of 0 and needs no steps. With |P| <= c
//! |s|^-m for |s| >= w, on Re s = x and w <= Im s <= pi / T
//!
//! ```text
//! |P_T| <= |1 - zeta| / T (c w^-(m+1) + 2 c w_T^-(m+1) sum over k of (k - 1/2)^-(m+1)),
//! sum <= 2^(m+1) pi^2 / 6                                                    (3)
//! ```
//!
//! and C is bounded on short arcs of |zeta| = e^(-xT) by its value in the middle and the slope of its polynomials.

use super::aliases::{AliasPoint, Aliases, aliases};
use super::bound::{Bound, Outside, power};
use super::complex::{Complex64, Wide, angle, exp, mean_exp, one_minus_exp, polynomial, size};
use super::loops::{Fraction, Loop};
use super::plant::{Lag, LinearPlant};
use super::poles;
use super::winding::{Polyline, rounds};
use sojourn_aqm::linear::InSamples;
use sojourn_units::math;
use std::f64::consts::PI;

/// A loop whose law runs every period.
#[derive(Clone, Debug)]
pub struct Sampled<P> {
    plant: P,
    law: Law,
    lags: Vec<Lag>,
    /// Lags behind a hold.
    held: Vec<Held>,
    /// Delays of the plant, s, and the factor of e^(-s delay) from one alias to the next.
    delays: Vec<(f64, Complex64)>,
    /// Poles of the plant right of -left, where L has poles that are multiplied out.
    poles: Vec<Pole>,
    left: f64,
    /// Bounds of dq/dp less the lags; none where nothing remains.
    rest: Option<Tails>,
    /// Truncation error allowed in (1), relative to the characteristic function.
    exact: f64,
}

impl<P: LinearPlant> Sampled<P> {
    /// Loop of equation (1). Its poles are known as far left as the plant's, [`Loop::leftmost`]; none where these are
    /// unknown.
    pub fn new(plant: P, law: &InSamples) -> Option<Self> {
        let left = LEFT / law.period.seconds().max(plant.delay());
        // Each class has poles of its own.
        let left = left / (plant.delays().len() as f64 / FEW).max(1.0);
        Sampled::within(plant, law, left, EXACT)
    }

    /// The same loop, known right of the imaginary axis and on it alone: without the plant's poles left of it.
    pub fn on_axis(plant: P, law: &InSamples) -> Option<Self> {
        Sampled::within(plant, law, 0.0, EXACT)
    }

    /// Loop accurate enough to count poles right of the imaginary axis, and known there alone.
    pub fn roughly(plant: P, law: &InSamples) -> Option<Self> {
        Sampled::within(plant, law, 0.0, ROUGH)
    }

    fn within(plant: P, law: &InSamples, left: f64, exact: f64) -> Option<Self> {
        let period = law.period.seconds();
        let poles = poles::poles(&plant, left)?.into_iter().map(|pole| Pole::new(pole, period)).collect();
        let lags = plant.lags();
        let held = lags.iter().map(|lag| Held::new(lag, period)).collect();
        let turn = |delay: f64| (delay, exp(Complex64::new(0.0, -2.0 * PI / period * delay)));
        let delays = plant.delays().into_iter().map(turn).collect();
        let rest = Tails::of(&plant, left, period);
        Some(Sampled { plant, law: Law::of(law), lags, held, delays, poles, left, rest, exact })
    }

    /// P_T(s), equation (1): from the law's p to the backlog it samples; NaN where it is unknown.
    pub fn held(&self, s: Complex64) -> Complex64 {
        self.held_beside(s, 0.0, self.exact)
    }

    /// P_T(s), to be added to a term of size `other`, with this truncation error relative to both.
    fn held_beside(&self, s: Complex64, other: f64, exact: f64) -> Complex64 {
        let period = self.law.period;
        let rest = one_minus_exp(-s * period);
        let closed: Complex64 = self.held.iter().map(|lag| -lag.at(s, rest)).sum();
        let unknown = Complex64::new(f64::NAN, f64::NAN);
        let Some(tails) = &self.rest else {
            return if self.plant.count_evaluation() { closed } else { unknown };
        };
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
        let point = AliasPoint { s, period, scale: size(closed) + other, exact };
        let bound = |place: u32, radius: f64| tails.bound(&self.plant, -s.re, place, radius);
        let sum = aliases(first, pairs, bound, point);
        sum.map_or(unknown, |Aliases { sum, .. }| closed + sum)
    }

    /// dq/dp less the lags, given e^(-s delay) of each of the delays.
    fn beside_lags(&self, s: Complex64, late: &[Complex64]) -> Complex64 {
        self.plant.queue(s, late) + self.plant.lags_at(&self.lags, s, late)
    }

    /// L with this truncation error of 1 + L.
    fn parts(&self, s: Complex64, exact: f64) -> Fraction {
        let [above, below] = self.law.at(s);
        // 1 + L has as many digits as the larger of its two parts: where |L| is small, P_T needs few.
        let held = self.held_beside(s, size(below) / size(above), exact);
        Fraction { above: -above * held, below }
    }

    /// Bound of |L| on Re s = -left between two frequencies, equation (3); none where none is known.
    fn bound_between(&self, left: f64, [from, to]: [f64; 2]) -> Option<f64> {
        let period = self.law.period;
        let [_, plant] = self.plant.bounds(Outside { radius: from, left })?;
        if plant.power > -1 && plant.factor > 0.0 {
            return None;
        }
        let (order, aliased) = (plant.power - 1, 2.0 * PI / period);
        let others = 2.0 * plant.factor * power(0.5 * aliased, order) * (PI * PI / 6.0);
        let grown = math::exp((left * period).max(0.0));
        let held = (1.0 + grown).min(math::hypot(left, to) * period * grown) / period;
        let sum = if plant.factor == 0.0 { 0.0 } else { plant.at(from) / from + others };
        Some(self.law.bound(-left, [from, to])? * held * sum)
    }

    /// True if |L| < `level` between two frequencies on Re s = -left, proven by repeated halving.
    fn is_below(&self, level: f64, left: f64, [from, to]: [f64; 2], depth: u32) -> bool {
        if self.bound_between(left, [from, to]).is_some_and(|bound| bound < level) {
            return true;
        }
        let middle = 0.5 * (from + to);
        depth > 0
            && self.is_below(level, left, [middle, to], depth - 1)
            && self.is_below(level, left, [from, middle], depth - 1)
    }
}

impl<P: LinearPlant> Loop for Sampled<P> {
    fn at(&self, s: Complex64) -> Fraction {
        self.parts(s, self.exact)
    }

    fn value(&self, s: Complex64) -> Complex64 {
        self.parts(s, self.exact).value()
    }

    fn roughly(&self, s: Complex64) -> Fraction {
        self.parts(s, ROUGH)
    }

    fn below(&self, s: Complex64) -> Complex64 {
        self.law.at(s)[1]
    }

    /// 1 - e^(pT) zeta of each pole p of the plant.
    fn factors(&self, s: Complex64) -> Wide {
        let zeta = exp(-s * self.law.period);
        let rest = one_minus_exp(-s * self.law.period);
        self.poles.iter().fold(Wide::ONE, |product, pole| product.times(pole.at(zeta, rest)))
    }

    fn real_zeros_of_factors(&self) -> Vec<f64> {
        self.poles.iter().filter(|pole| pole.at.im == 0.0).map(|pole| pole.at.re).collect()
    }

    /// Turn of the law's denominator and of each pole's factor.
    fn turn_of_below(&self, way: [Complex64; 2]) -> Option<f64> {
        let poles: f64 = self.poles.iter().map(|pole| pole.turn(way, self.law.period)).sum();
        Some(self.law.turn(way)? + poles)
    }

    /// Delays of the plant; the law's from its denominator's turn.
    fn open_poles(&self, limit: f64) -> Option<i64> {
        let place = Complex64::new;
        let of_law = rounds(2.0 * self.law.turn([place(limit, PI / self.law.period), place(limit, 0.0)])?);
        Some(of_law + self.poles.iter().filter(|pole| pole.at.re > limit).count() as i64)
    }

    fn delay(&self) -> f64 {
        self.plant.delay() + self.delay_of_below()
    }

    fn delay_of_below(&self) -> f64 {
        (self.law.taps() + self.poles.len()) as f64 * self.law.period
    }

    /// Downwards from pi / T, as long as bounds hold.
    fn reach(&self, level: f64, left: f64) -> Option<f64> {
        let band = PI / self.law.period;
        let mut to = band;
        while to > LOWEST * band && self.is_below(level, left, [to / INTERVAL, to], HALVINGS) {
            to /= INTERVAL;
        }
        Some(to)
    }

    fn band(&self) -> Option<f64> {
        Some(PI / self.law.period)
    }

    fn leftmost(&self) -> f64 {
        self.left
    }
}

/// A pole of the plant behind a hold.
#[derive(Clone, Copy, Debug)]
struct Pole {
    /// p, 1/s.
    at: Complex64,
    /// 1 - e^(pT).
    rest: Complex64,
}

impl Pole {
    fn new(at: Complex64, period: f64) -> Pole {
        Pole { at, rest: one_minus_exp(at * period) }
    }

    /// Its factor, given zeta and 1 - zeta.
    fn at(&self, zeta: Complex64, rest: Complex64) -> Complex64 {
        rest + zeta * self.rest
    }

    /// Growth of the angle of its factor 1 - e^((p - s)T) between two points above each other, rad. Right of the pole
    /// the factor is right of 0; left of it the remainder after taking out -e^((p - s)T) is.
    fn turn(&self, [from, to]: [Complex64; 2], period: f64) -> f64 {
        let factor = |s: Complex64| {
            let away = (self.at - s) * period;
            angle(one_minus_exp(if away.re < 0.0 { away } else { -away }))
        };
        let outside = if self.at.re < from.re { 0.0 } else { -(to.im - from.im) * period };
        factor(to) - factor(from) + outside
    }
}

/// A sampled law, its polynomials in zeta and in 1 - zeta: near zeta = 1 an integrator suffers from cancellation.
#[derive(Clone, Debug)]
pub(super) struct Law {
    /// T, s.
    period: f64,
    /// Numerator and denominator, ascending powers of zeta.
    far: [Vec<f64>; 2],
    /// The same by powers of 1 - zeta.
    near: [Vec<f64>; 2],
}

impl Law {
    pub(super) fn of(law: &InSamples) -> Law {
        let far = [law.transfer.numerator.clone(), law.transfer.denominator.clone()];
        let near = [about_one(&far[0]), about_one(&far[1])];
        Law { period: law.period.seconds(), far, near }
    }

    /// Numerator and denominator at `s`.
    pub(super) fn at(&self, s: Complex64) -> [Complex64; 2] {
        let rest = one_minus_exp(-s * self.period);
        if rest.norm_sqr() < NEAR * NEAR {
            return [0, 1].map(|part| polynomial(&self.near[part], rest));
        }
        let zeta = exp(-s * self.period);
        [0, 1].map(|part| polynomial(&self.far[part], zeta))
    }

    /// Growth of the angle of its denominator, rad.
    fn turn(&self, way: [Complex64; 2]) -> Option<f64> {
        Polyline { corners: &way, delay: self.taps() as f64 * self.period }.turn(&|s| self.at(s)[1])
    }

    /// Number of its coefficients: the periods it depends on.
    pub(super) fn taps(&self) -> usize {
        self.far[0].len() + self.far[1].len()
    }

    /// Bound of |C| on the arc of |zeta| = e^(-re T) between two frequencies; none where the denominator may be 0.
    fn bound(&self, re: f64, [from, to]: [f64; 2]) -> Option<f64> {
        let [above, below] = self.at(Complex64::new(re, 0.5 * (from + to))).map(size);
        let radius = math::exp(-re * self.period);
        let off = 0.5 * (to - from) * self.period * radius;
        let [above_off, below_off] = [0, 1].map(|part| off * slope(&self.far[part], radius));
        (below > below_off).then(|| (above + above_off) / (below - below_off))
    }
}

/// A polynomial by powers of 1 - x: its Taylor series about 1, by repeated Horner's scheme.
pub(crate) fn about_one(coefficients: &[f64]) -> Vec<f64> {
    let mut shifted = coefficients.to_vec();
    for start in 0..shifted.len() {
        for place in (start..shifted.len() - 1).rev() {
            shifted[place] += shifted[place + 1];
        }
    }
    shifted.iter().enumerate().map(|(power, x)| if power % 2 == 0 { *x } else { -x }).collect()
}

/// Bound of the derivative's size where |x| = `radius`.
pub(super) fn slope(coefficients: &[f64], radius: f64) -> f64 {
    let terms = coefficients.iter().enumerate().skip(1);
    terms.map(|(order, x)| order as f64 * x.abs() * power(radius, order as i32 - 1)).sum()
}

/// Bounds of dq/dp less the lags, at the distances at which sums of aliases may be truncated.
#[derive(Clone, Debug)]
struct Tails {
    /// The farthest left of them, 1/s.
    left: f64,
    /// By shares of that, and by powers of two of aliases.
    known: Vec<Vec<Option<Bound>>>,
}

impl Tails {
    /// Bounds of a plant; none where the lags are all of it.
    fn of(plant: &impl LinearPlant, left: f64, period: f64) -> Option<Tails> {
        let of = |radius, left| plant.remainder(Outside { radius, left });
        if of(FAR, left).is_some_and(|bound| bound.factor == 0.0) {
            return None;
        }
        let step = 2.0 * PI / period;
        let radii = || (0..=super::aliases::DOUBLINGS).map(|place| (power(2.0, place) + 0.5) * step);
        let row = |share: u32| {
            radii().map(|radius| of(radius, left * f64::from(share) / f64::from(SHARES))).collect()
        };
        Some(Tails { left, known: (0..=if left > 0.0 { SHARES } else { 0 }).map(row).collect() })
    }

    /// Bound at a point so far left, 2^`place` aliases out.
    fn bound(&self, plant: &impl LinearPlant, left: f64, place: u32, radius: f64) -> Option<Bound> {
        let share = if left > 0.0 { (left / self.left * f64::from(SHARES)).ceil() } else { 0.0 };
        match self.known.get(share as usize) {
            Some(row) if left <= self.left => row[place as usize],
            _ => plant.remainder(Outside { radius, left: left.max(0.0) }),
        }
    }
}

impl Lag {
    /// Without its shortest delay.
    pub(super) fn undelayed(&self, s: Complex64) -> Complex64 {
        mean_exp(s * self.span) * self.at_once(s)
    }

    /// Gain / product of (s + rate).
    pub(super) fn at_once(&self, s: Complex64) -> Complex64 {
        let below: Complex64 = self.rates.iter().map(|&rate| s + rate).product();
        self.gain / below
    }

    /// Equation (2).
    pub fn held(&self, s: Complex64, period: f64) -> Complex64 {
        Held::new(self, period).at(s, one_minus_exp(-s * period))
    }

    /// Exponentials of the step response: residue and rate.
    fn residues(&self) -> Vec<(Complex64, Complex64)> {
        let of = |index: usize| {
            let rate = self.rates[index];
            let others = self.rates.iter().enumerate().filter(|&(other, _)| other != index);
            let apart: Complex64 = others.map(|(_, other)| other - rate).product();
            (-1.0 / (rate * apart), rate)
        };
        (0..self.rates.len()).map(of).collect()
    }
}

/// A lag behind a hold, equation (2).
#[derive(Clone, Debug)]
struct Held {
    gain: Complex64,
    /// r_0 of the step response.
    constant: Complex64,
    /// 1 - e^(-a T) of each exponential.
    lost: Vec<Complex64>,
    cells: Vec<Cell>,
}

/// Delays within the same period, or within each of several periods in a row.
#[derive(Clone, Debug)]
struct Cell {
    /// l T, s.
    delay: f64,
    /// Number of periods, and all of them, s.
    count: f64,
    all: f64,
    /// Share of the delays in each of them.
    share: f64,
    /// r e^(-a phi) of each exponential, the mean over the delays, times the share.
    exponentials: Vec<Complex64>,
}

impl Held {
    fn new(lag: &Lag, period: f64) -> Held {
        let (from, until) = (lag.delay, lag.delay + lag.span);
        let [first, last] = [from, until].map(|delay| (delay / period).ceil());
        let residues = lag.residues();
        let cell = |number: f64, count: f64| {
            let delay = number * period;
            let (begin, end) = (from.max(delay - period), until.min(delay));
            let share = if first == last { 1.0 } else { (end - begin) / lag.span };
            let exponential = |(residue, rate): &(Complex64, Complex64)| {
                let turn = rate * (end - begin);
                let mean = if turn == Complex64::ZERO { Complex64::ONE } else { one_minus_exp(-turn) / turn };
                residue * exp(-rate * (delay - end)) * mean * share
            };
            Cell {
                delay,
                count,
                all: count * period,
                share,
                exponentials: residues.iter().map(exponential).collect(),
            }
        };
        let mut cells = vec![cell(first, 1.0)];
        if last > first + 1.0 {
            cells.push(cell(first + 1.0, last - first - 1.0));
        }
        if last > first {
            cells.push(cell(last, 1.0));
        }
        Held {
            gain: lag.gain,
            constant: lag.rates.iter().map(|rate| 1.0 / rate).product(),
            lost: lag.rates.iter().map(|rate| one_minus_exp(-rate * period)).collect(),
            cells,
        }
    }

    /// At `s`, where `rest` is 1 - e^(-sT).
    fn at(&self, s: Complex64, rest: Complex64) -> Complex64 {
        let sum: Complex64 =
            self.cells.iter().map(|cell| cell.at(s, rest, (self.constant, &self.lost))).sum();
        sum * self.gain
    }
}

impl Cell {
    fn at(&self, s: Complex64, rest: Complex64, (constant, lost): (Complex64, &[Complex64])) -> Complex64 {
        // 1 - e^(-aT) zeta of each exponential.
        let responses =
            self.exponentials.iter().zip(lost).map(|(now, lost)| now / (rest + (1.0 - rest) * lost));
        // At zeta = 1 only the constant remains; elsewhere 1 - zeta cancels in it.
        let sum = self.share * constant + rest * responses.sum::<Complex64>();
        let first = exp(-s * self.delay) * sum;
        if self.count == 1.0 {
            return first;
        }
        // 1 + zeta + ... of as many periods.
        if rest == Complex64::ZERO { first * self.count } else { first * one_minus_exp(-s * self.all) / rest }
    }
}

/// Limit to the left of the search for the plant's poles, relative to the longest time in the loop.
const LEFT: f64 = 3.0;
/// Number of delays from which on it is nearer.
const FEW: f64 = 20.0;
/// Radius at which a bound exists if there is one, 1/s.
const FAR: f64 = 1e12;
/// Truncation error of a sum, relative to the sum.
const EXACT: f64 = 1e-10;
const ROUGH: f64 = 1e-6;
/// Least |1 - zeta| at which powers of zeta lose no digits.
const NEAR: f64 = 0.05;
/// Steps of bounds along the line, halvings of each, and the lowest of them relative to pi / T.
const INTERVAL: f64 = 1.25;
const HALVINGS: u32 = 5;
const LOWEST: f64 = 1e-12;
/// Points on the way left at which bounds are kept.
const SHARES: u32 = 8;
