//! Law of one link in the loop of a network: a quotient of analytic functions of s.
//!
//! A law that runs every T holds its p in between. Laws of several links have periods of their own, so that their loop
//! has no discrete plant. To the accuracy of the plant's gain at the sampling frequency 2 pi / T a law is
//!
//! ```text
//! H(s) = C(zeta) (1 - zeta) / (s T),  zeta = e^(-sT)                          (1)
//! ```
//!
//! of which 1 - zeta is divided out where C has an integrator. In a second integrator 1 / (1 - zeta) is 1 / (s T) + 1 / 2,
//! its value to (s T)^2 / 12. [`super::sampled`] has the exact loop of one link.

use super::bound::{Outside, power};
use super::complex::{Complex64, angle, exp, mean_exp, size};
use super::loops::{falling, parts, rational_bound};
use super::sampled::{Law, slope};
use super::winding::rounds;
use sojourn_aqm::linear::{InSamples, Rational};
use sojourn_units::math;
use std::f64::consts::PI;

/// A law, from the backlog, packets, to p.
#[derive(Clone, Debug)]
pub struct Transfer {
    form: Form,
    /// Delay with which it sees the backlog, s.
    wait: f64,
}

#[derive(Clone, Debug)]
enum Form {
    Continuous(Rational),
    Held(Held),
}

/// A sampled law behind a hold.
#[derive(Clone, Debug)]
struct Held {
    law: Law,
    transfer: Rational,
    period: f64,
    /// Number of integrators, whose factors 1 - zeta the denominator is without.
    integrators: i32,
}

impl Transfer {
    /// Law in s that sees the backlog of `wait` s ago.
    pub fn continuous(law: &Rational, wait: f64) -> Transfer {
        Transfer { form: Form::Continuous(law.clone()), wait }
    }

    /// Law whose p does not respond.
    pub fn none() -> Transfer {
        Transfer::continuous(&Rational { numerator: vec![0.0], denominator: vec![1.0] }, 0.0)
    }

    /// Law that runs every period, and sees the backlog of `wait` s ago.
    pub fn held(law: &InSamples, wait: f64) -> Transfer {
        let mut transfer = law.transfer.clone();
        let mut integrators = 0;
        while is_zero_at_one(&transfer.denominator) {
            transfer.denominator = without_integrator(&transfer.denominator);
            integrators += 1;
        }
        let own = Law::of(&InSamples { transfer: transfer.clone(), period: law.period });
        let held = Held { law: own, transfer, period: law.period.seconds(), integrators };
        Transfer { form: Form::Held(held), wait }
    }

    /// T, s; none of a law in s.
    pub fn period(&self) -> Option<f64> {
        match &self.form {
            Form::Continuous(_) => None,
            Form::Held(held) => Some(held.period),
        }
    }

    /// Numerator and denominator at `s`.
    pub(super) fn at(&self, s: Complex64) -> [Complex64; 2] {
        let [above, below] = match &self.form {
            Form::Continuous(law) => parts(law, s),
            Form::Held(held) => held.at(s),
        };
        [above * exp(-s * self.wait), below]
    }

    /// A bound of |H|; none where its denominator may be zero there.
    pub(super) fn bound(&self, at: Outside) -> Option<f64> {
        let law = match &self.form {
            Form::Continuous(law) => falling(rational_bound(law, at.radius)?, at.radius)?,
            Form::Held(held) => held.bound(at)?,
        };
        Some(law * math::exp(at.left.max(0.0) * self.wait))
    }

    /// Rate at which its parts wind along the imaginary axis, s.
    pub(super) fn delay(&self) -> f64 {
        let own = match &self.form {
            Form::Continuous(_) => 0.0,
            Form::Held(held) => held.law.taps() as f64 * held.period,
        };
        own + self.wait
    }
}

impl Held {
    /// Equation (1).
    fn at(&self, s: Complex64) -> [Complex64; 2] {
        let [above, below] = self.law.at(s);
        let turns = s * self.period;
        match self.integrators {
            0 => [above * mean_exp(turns), below],
            // Of the first one the hold has divided out the same factor.
            count => [above * (1.0 + turns * 0.5).powi(count - 1), below * turns.powi(count)],
        }
    }

    /// With |zeta| <= rho: |1 - zeta| is at most |s| T max(1, rho), and the numerator at most its value at zeta = 1 and
    /// so many times its slope.
    fn bound(&self, Outside { radius, left }: Outside) -> Option<f64> {
        let rho = math::exp(left.max(0.0) * self.period);
        let turns = radius * self.period;
        let Rational { numerator, denominator } = &self.transfer;
        let below = least_within_circle(denominator, rho)?;
        let rough: f64 = numerator.iter().rev().fold(0.0, |sum, x| sum * rho + x.abs());
        let above = if self.integrators == 0 {
            rough * rho.min((1.0 + rho) / turns)
        } else {
            let at_one: f64 = numerator.iter().sum();
            let first = (at_one.abs() / turns + slope(numerator, rho) * rho).min(rough / turns);
            first * power(1.0 / turns + 0.5, self.integrators - 1)
        };
        Some(above / below)
    }
}

/// True if a polynomial is zero at 1, to rounding.
fn is_zero_at_one(coefficients: &[f64]) -> bool {
    let sum: f64 = coefficients.iter().sum();
    let terms: f64 = coefficients.iter().map(|x| x.abs()).sum();
    coefficients.len() > 1 && sum.abs() <= INTEGRAL * terms
}

/// The polynomial without its factor 1 - x.
fn without_integrator(coefficients: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = coefficients.iter().map(|x| {
        sum += x;
        sum
    });
    sums.take(coefficients.len() - 1).collect()
}

/// A lower bound of a polynomial's size where |x| <= `radius`: that on the circle; none where it has a zero within.
fn least_within_circle(coefficients: &[f64], radius: f64) -> Option<f64> {
    let place = |step: u32| 2.0 * PI * f64::from(step) / f64::from(ROUND);
    let value = |step: u32| {
        let (sine, cosine) = math::sin_cos(place(step));
        super::complex::polynomial(coefficients, Complex64::new(cosine, sine) * radius)
    };
    let between = slope(coefficients, radius) * radius * PI / f64::from(ROUND);
    let (mut least, mut turned, mut last) = (f64::INFINITY, 0.0, value(0));
    for step in 1..=ROUND {
        let next = value(step);
        least = least.min(size(next) - between);
        turned += angle(next / last);
        last = next;
    }
    (least > 0.0 && rounds(turned) == 0).then_some(least)
}

/// Sum of the coefficients of a denominator with a zero at 1, relative to the sum of their sizes.
const INTEGRAL: f64 = 1e-9;
/// Points of a circle on which a polynomial is bounded.
const ROUND: u32 = 512;
