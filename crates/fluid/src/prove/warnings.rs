//! What makes a certificate weak: a law that is another one near its rest, a queue that noise empties or fills, margins
//! that are small.
//!
//! The noise is that of n windows that signals at random halve, each by itself: their mean is 1.31 / sqrt(p), and that of
//! their squares 2 / p (T. J. Ott, J. H. B. Kemperman and M. Mathis, "The stationary behavior of ideal TCP congestion
//! avoidance", 1996), so that about their mean W
//!
//! ```text
//! sigma^2 = sum over classes of n (0.407 s W)^2,  0.407^2 = 2 / 1.31^2 - 1              (1)
//! ```

use super::standing::resting;
use super::{Certificate, Verdict, words};
use crate::linear::equilibrium::Equilibrium;
use crate::linear::margins::GainCrossover;
use sojourn_aqm::Law;
use sojourn_aqm::linear::{Linear, Rational, Rest};
use sojourn_units::{Prob, math};

/// All of them, a sentence each.
pub(super) fn of(certificate: &Certificate, stem: &str) -> Vec<String> {
    let mut found = small_margins(certificate);
    if let Some(rest) = certificate.rest.as_ref().filter(|_| !certificate.loops.is_empty()) {
        let law = &certificate.own;
        let around = Around {
            certificate,
            stem,
            at: resting(&certificate.setting, rest),
            is_curve: law.settled(0.0).is_some(),
            marks: certificate.setting.link.can_mark() && law.marks_at(Prob::clamped(rest.p)),
        };
        found.extend(around.warnings());
        found.extend(noise(certificate, rest));
    }
    found
}

/// Of a stable loop alone: what margins are of another one is no room.
fn small_margins(certificate: &Certificate) -> Vec<String> {
    let stable = certificate.judged().filter(|judged| judged.verdict() == Verdict::Stable);
    let Some(margins) = stable.and_then(|judged| judged.margins.as_ref()) else { return Vec::new() };
    let degrees = |at: Option<GainCrossover>, of: fn(&GainCrossover) -> f64| {
        at.as_ref().map(of).map(f64::to_degrees).filter(|degrees| *degrees < LEAST_PHASE)
    };
    let told = |what: &str, value: f64, least: &str| {
        format!(
            "The {what} of {} is small: below {least} a change of load may be too much.",
            words::short(value)
        )
    };
    let lag = degrees(margins.lag(), GainCrossover::lag);
    let lead = degrees(margins.lead(), GainCrossover::lead);
    let up = margins.gain_up().filter(|gain| *gain < LEAST_GAIN);
    let down = margins.gain_down().filter(|gain| *gain > 1.0 / LEAST_GAIN);
    let phase = |what: &str, value: f64| told(what, value, "30 degrees");
    let found = [
        lag.map(|value| phase("phase margin (degrees of lag)", value)),
        lead.map(|value| phase("phase margin (degrees of lead)", value)),
        up.map(|value| told("gain margin", value, "2")),
        down.map(|value| told("gain margin downwards, 1 over", 1.0 / value, "2")),
    ];
    found.into_iter().flatten().collect()
}

/// Equation (1), beside an empty and a full queue.
fn noise(certificate: &Certificate, rest: &Equilibrium) -> Option<String> {
    let setting = &certificate.setting;
    let classes = setting.link.classes.iter().zip(&rest.windows);
    let variance: f64 = classes
        .map(|(class, window)| {
            let swing = SPREAD * class.size * window;
            class.flows * swing * swing
        })
        .sum();
    let (sigma, full) = (variance.sqrt(), setting.site.limit);
    let near = [(rest.backlog, "an empty"), (full - rest.backlog, "a full")];
    let (_, which) = near.into_iter().find(|(room, _)| *room < TIMES * sigma)?;
    Some(format!(
        "Its rest of {} packets is within the noise of {which} queue: by themselves the windows of {} move it by {} \
         packets (one standard deviation).",
        words::short(rest.backlog),
        words::count(setting.flows(), "flow"),
        words::short(sigma)
    ))
}

/// A law about its rest.
struct Around<'a> {
    certificate: &'a Certificate,
    stem: &'a str,
    at: Rest,
    /// Whether the law is a curve.
    is_curve: bool,
    /// Whether it marks at its rest.
    marks: bool,
}

/// What a law is at a place near its rest.
#[derive(Clone, Copy, PartialEq)]
struct There {
    /// The largest coefficient of its transfer function; none where it declares none.
    gain: Option<f64>,
    marks: bool,
}

impl Around<'_> {
    /// Steps on both sides, the nearest of each.
    fn warnings(&self) -> Vec<String> {
        let sides = [1.0 / FARTHEST, FARTHEST].into_iter();
        let mut found: Vec<String> = sides.filter_map(|end| self.step(end)).collect();
        found.dedup();
        found
    }

    /// The nearest step from the rest to `end` times its p, or its backlog where the law is a curve.
    fn step(&self, end: f64) -> Option<String> {
        let place = |step: u32| math::pow(end, f64::from(step) / f64::from(PLACES));
        let at = |factor: f64| self.there(factor);
        let pair = (0..PLACES).map(|step| [place(step), place(step + 1)]);
        let (mut near, mut far) =
            pair.map(|[near, far]| (near, far)).find(|(near, far)| at(*near).is_off(at(*far)))?;
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(near, far);
            if at(near).is_off(at(middle)) { far = middle } else { near = middle }
        }
        // What changes all the way is no step.
        at(near).is_off(at(far)).then(|| self.told(far, at(near), at(far)))
    }

    fn there(&self, factor: f64) -> There {
        // A copy for each place: one that fails answers no more.
        let law: Box<dyn Law> = self.certificate.own.clone();
        let rest = if self.is_curve {
            let backlog = self.at.backlog * factor;
            let Some(p) = law.settled(backlog) else { return There { gain: None, marks: self.marks } };
            Rest { p: p.get(), backlog, ..self.at }
        } else {
            Rest { p: Prob::clamped(self.at.p * factor).get(), ..self.at }
        };
        let ecn = self.certificate.setting.link.can_mark();
        There {
            gain: law.linear(&rest).as_ref().and_then(gain),
            marks: ecn && law.marks_at(Prob::clamped(rest.p)),
        }
    }

    fn told(&self, factor: f64, near: There, far: There) -> String {
        let (stem, way) = (self.stem, if factor > 1.0 { "above" } else { "below" });
        let away = words::percent((factor - 1.0).abs());
        let curve = self.is_curve;
        let (rest, unit) = if curve { (self.at.backlog, " packets") } else { (self.at.p, "") };
        let about = if curve { "" } else { "p = " };
        let [there, here] =
            [rest * factor, rest].map(|value| format!("{about}{}{unit}", words::short(value)));
        let what = match (near.gain, far.gain) {
            (Some(near), Some(far)) if (near / far - 1.0).abs() > 1e-9 => {
                format!("the gain of {stem} is {} times as large {way} {there}", words::short(far / near))
            }
            (Some(_), None) => format!("{stem} declares no transfer function {way} {there}"),
            _ if far.marks => format!("{stem} marks {way} {there}, and drops here"),
            _ => format!("{stem} drops {way} {there}, and marks here"),
        };
        format!("Near its rest another loop begins: {what}, {away} {way} its rest of {here}.")
    }
}

impl There {
    /// Whether the other place has another law.
    fn is_off(self, other: There) -> bool {
        let jumps = match (self.gain, other.gain) {
            (Some(one), Some(other)) => math::ln(one / other).abs() > math::ln(STEP),
            (one, other) => one.is_some() != other.is_some(),
        };
        jumps || self.marks != other.marks
    }
}

/// The size of a law's transfer function.
fn gain(of: &Linear) -> Option<f64> {
    let transfer: &Rational = match (&of.sampled, &of.continuous) {
        (Some(law), _) => &law.transfer,
        (None, Some(law)) => law,
        (None, None) => return None,
    };
    let largest = |of: &[f64]| of.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    Some(largest(&transfer.numerator) / largest(&transfer.denominator))
}

/// That the law marks where it would drop and drops where it would mark: between both it goes to and fro.
pub(super) fn to_and_fro(law: &dyn Law, [marked, dropped]: [f64; 2]) -> String {
    let (mut low, mut high) = (dropped, marked);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if law.marks_at(Prob::clamped(middle)) { low = middle } else { high = middle }
    }
    format!(
        "the law marks below p = {} and drops from there on; the flows need p = {} of what is marked and p = {} of what \
         is dropped, so that p goes to and fro between both",
        words::short(high),
        words::short(marked),
        words::short(dropped)
    )
}

/// Margins below which a certificate is weak: degrees, and a factor.
const LEAST_PHASE: f64 = 30.0;
const LEAST_GAIN: f64 = 2.0;
/// The standard deviation of a window that random signals halve, by its mean.
const SPREAD: f64 = 0.4072;
/// Standard deviations.
const TIMES: f64 = 2.0;
/// How far from its rest a law is looked at, by its p or its backlog, and in how many places on each side.
const FARTHEST: f64 = 2.0;
const PLACES: u32 = 64;
const HALVINGS: u32 = 50;
/// By what a gain steps at least.
const STEP: f64 = 1.1;
