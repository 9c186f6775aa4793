//! Unit step response of a loop: the backlog when, from time 0 on, the law sees one packet less than there is.
//!
//! That is T = L / (1 + L), the response to a step of the target where the law depends on nothing but its error. With
//! samples it is y(k) = (1 / 2 pi j) of the integral of T(z) / (1 - 1/z) z^(k-1) dz, taken round a circle of n points
//! outside of all poles, so far out that the alias n samples later is negligible. In s it is inverted by Euler's
//! summation (J. Abate and W. Whitt, "Numerical inversion of Laplace transforms of probability distributions", ORSA J.
//! on Computing 7(1), 1995, equations (13) to (15)), shifted right where the loop is unstable. A response with more
//! samples than are worth summing is inverted in s too: it changes little from one sample to the next.

use super::Assessed;
use crate::linear::complex::{Complex64, exp, one_minus_exp};
use crate::linear::loops::Loop;
use sojourn_units::math;
use std::f64::consts::PI;

/// Points of a response.
#[derive(Clone, Debug, PartialEq)]
pub struct StepResponse {
    /// s.
    pub times: Vec<f64>,
    /// Packets.
    pub values: Vec<f64>,
}

impl StepResponse {
    /// Response of a loop until it has settled or visibly diverged; none where its poles are not known.
    pub fn of(assessed: &Assessed) -> Option<StepResponse> {
        let right = assessed.rightmost()?;
        let until = horizon(assessed)?;
        let (of, right) = (assessed.drawn(), right.max(0.0));
        match assessed.of.band() {
            Some(band) if until * band / PI > MOST as f64 => Some(in_s(&slow(of, PI / band), until, right)),
            Some(band) => Some(in_samples(of, PI / band, until, right)),
            None => Some(in_s(&|s| closed(of, s) / s, until, right)),
        }
    }
}

/// Time until a loop has settled or visibly diverged, s; none where its poles are not known.
pub(super) fn horizon(of: &Assessed) -> Option<f64> {
    let right = of.rightmost()?;
    let delay = of.of.delay();
    let floor = if delay > 0.0 { 1.0 / (SLOWEST * delay) } else { NEVER };
    let slowest = right.abs().max(floor);
    Some(if right < 0.0 { SETTLED / slowest } else { GROWN / slowest })
}

/// T, to six digits.
fn closed(of: &dyn Loop, s: Complex64) -> Complex64 {
    let part = of.roughly(s);
    part.above / part.characteristic()
}

/// Transform in s of a step response whose samples change little from one to the next.
fn slow(of: &dyn Loop, period: f64) -> impl Fn(Complex64) -> Complex64 {
    move |s| closed(of, s) * period / one_minus_exp(-s * period)
}

fn in_samples(of: &dyn Loop, period: f64, until: f64, right: f64) -> StepResponse {
    let last = ((until / period).ceil() as usize).clamp(FEWEST, MOST);
    let points = 2 * (last + 1);
    // r^-points is the aliasing error, r^last the growth of rounding.
    let rate = right * period + LEFT_OUT / points as f64;
    let answer = |m: usize| {
        let z = Complex64::new(rate, 2.0 * PI * m as f64 / points as f64);
        closed(of, z / period) / one_minus_exp(-z)
    };
    let answers: Vec<Complex64> = (0..=points / 2).map(answer).collect();
    let turns: Vec<Complex64> =
        (0..points).map(|m| exp(Complex64::new(0.0, 2.0 * PI * m as f64 / points as f64))).collect();
    let stride = last.div_ceil(SHOWN);
    let instants = (0..=last).step_by(stride);
    let value = |k: usize| {
        // The other half of the circle is the mirror image.
        let ends = answers[0].re + (answers[points / 2] * turns[points / 2 * k % points]).re;
        let between: f64 = (1..points / 2).map(|m| 2.0 * (answers[m] * turns[m * k % points]).re).sum();
        (ends + between) / points as f64 * math::exp(rate * k as f64)
    };
    StepResponse {
        times: instants.clone().map(|k| k as f64 * period).collect(),
        values: instants.map(value).collect(),
    }
}

/// Function of time whose transform is `answer`, from 0 to `until`, with no pole right of `right`.
pub(super) fn in_s(answer: &dyn Fn(Complex64) -> Complex64, until: f64, right: f64) -> StepResponse {
    let times: Vec<f64> = (0..=SHOWN).map(|k| until * k as f64 / SHOWN as f64).collect();
    let values = times.iter().map(|&t| if t > 0.0 { inverted(answer, t, right) } else { 0.0 });
    StepResponse { values: values.collect(), times }
}

/// Step response, inverted at `t`.
fn inverted(answer: &dyn Fn(Complex64) -> Complex64, t: f64, right: f64) -> f64 {
    let at = |k: usize| {
        let s = Complex64::new(LEFT_OUT / (2.0 * t), k as f64 * PI / t) + right;
        answer(s).re
    };
    let mut sum = at(0) / 2.0;
    let mut partial = Vec::with_capacity(EULER + 1);
    for k in 1..=TERMS + EULER {
        sum += if k % 2 == 0 { at(k) } else { -at(k) };
        if k >= TERMS {
            partial.push(sum);
        }
    }
    // Means of means: the binomial weights of Euler's summation.
    while partial.len() > 1 {
        partial = partial.windows(2).map(|two| f64::midpoint(two[0], two[1])).collect();
    }
    math::exp(LEFT_OUT / 2.0 + right * t) / t * partial[0]
}

/// Time constants of the rightmost pole until a loop has settled, or has grown.
const SETTLED: f64 = 6.0;
const GROWN: f64 = 2.0;
/// Longest time constant to wait for, relative to the delay.
const SLOWEST: f64 = 100.0;
/// Least rate where there is no delay, 1/s.
const NEVER: f64 = 1e-3;
/// ln of the inverse of the error.
const LEFT_OUT: f64 = 18.4;
/// Samples on half of the circle, at least and at most.
const FEWEST: usize = 64;
const MOST: usize = 1 << 15;
/// Points of the result.
const SHOWN: usize = 600;
/// Terms before Euler's means, and terms of the means.
const TERMS: usize = 40;
const EULER: usize = 14;
