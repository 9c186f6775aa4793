//! Limit cycles of the fluid under a law: the branch of periodic solutions that begins where the linearised loop has
//! poles on the imaginary axis, continued along its length.
//!
//! The branch is that of the loop with a factor on its gain, which is the gain margin at amplitude 0. Where it passes 1
//! the scenario's own loop has the cycle. If the factor rises with the amplitude, cycles are stable and grow softly out
//! of an unstable equilibrium; if it falls, they are unstable, and bound the deviations from which a stable loop returns.

mod balance;
mod newton;
mod series;

use super::{Certificate, Verdict, law_equilibrium};
use balance::{Balance, LEAST, Orbit, STEEPEST};
use sojourn_units::math;
use std::f64::consts::TAU;

/// A periodic solution of the fluid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// Factor on the loop's gain with which it is a solution.
    pub gain: f64,
    /// First harmonic of the backlog, packets.
    pub amplitude: f64,
    /// s.
    pub period: f64,
    /// Least and greatest backlog, packets.
    pub queue: [f64; 2],
    /// Least and greatest p.
    pub p: [f64; 2],
    /// True if windows fall below a packet, p reaches 1, or 0 under a law with integral action whose response at that limit
    /// is not known: the fluid or the law then differs from its equations.
    pub is_limited: bool,
}

/// Periodic solutions by amplitude.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// In order of the amplitude.
    pub cycles: Vec<Cycle>,
    /// The scenario's own cycle, with a gain of 1.
    pub own: Option<Cycle>,
}

impl Branch {
    /// True if the gain rises with the amplitude at the beginning of the branch: an oscillation begins softly.
    pub fn is_soft(&self) -> bool {
        let small = self.cycles.iter().take(SMALL);
        small
            .clone()
            .next_back()
            .zip(small.clone().next())
            .is_some_and(|(last, first)| last.gain > first.gain)
    }
}

impl Certificate {
    /// Limit cycles with `harmonics` harmonics, 1 for a describing function; none without a judged loop that crosses the
    /// negative axis.
    pub fn cycles(&self, harmonics: usize) -> Option<Branch> {
        let (judged, equilibrium) = (self.judged()?, self.equilibrium.as_ref()?);
        let crossovers = &judged.margins.as_ref()?.phase_crossovers;
        // Of a stable loop the nearest gain, of an unstable one the least: there its oscillations have begun.
        let off = |gain: f64| if judged.verdict() == Verdict::Unstable { gain } else { math::ln(gain).abs() };
        let begin = crossovers.iter().min_by(|a, b| off(a.gain_margin).total_cmp(&off(b.gain_margin)))?;
        let point = law_equilibrium::operating_point(&self.setting, equilibrium);
        let linear = self.own.analysis().linear(&point)?;
        let wait = super::wait_seen(&self.setting, equilibrium, &linear).unwrap_or(0.0);
        let balance = Balance {
            link: &self.setting.link,
            equilibrium,
            linear: &linear,
            wait,
            degree: harmonics.max(1),
        };
        Some(branch(&balance, begin.frequency, begin.gain_margin))
    }
}

/// The branch that begins at this frequency and gain, by pseudo-arclength continuation (H. B. Keller, 1977): the amplitude
/// may have folds along it.
fn branch(balance: &Balance<'_>, frequency: f64, gain: f64) -> Branch {
    let path = Path { balance, scales: scales(balance, frequency, gain) };
    let mut found = Branch { cycles: Vec::new(), own: None };
    let whole = math::ln(balance.equilibrium.backlog.max(1.0));
    let mut start = balance.start(frequency, gain);
    start.push(whole + math::ln(LEAST_SHARE));
    let mut points: Vec<Vec<f64>> = Vec::new();
    for grown in [0.0, LONGEST / 2.0] {
        start[path.last()] += grown;
        let amplitude = start[path.last()];
        let Some(next) = path.point(&start, &|at| at[path.last()] - amplitude) else { return found };
        found.cycles.push(path.cycle(&next));
        points.push(next);
    }
    let mut length = LONGEST / 2.0;
    while let [.., before, last] = &points[..] {
        let Some(next) = path.next(before, last, length) else {
            length /= 2.0;
            if length < SHORTEST {
                break;
            }
            continue;
        };
        length = (1.3 * length).min(LONGEST);
        let [here, there] = [last, &next].map(|point| point[GAIN] - 1.0);
        if here * there <= 0.0 {
            let part = here / (here - there);
            let near: Vec<f64> = last.iter().zip(&next).map(|(a, b)| a + part * (b - a)).collect();
            found.own = path.point(&near, &|at| at[GAIN] - 1.0).map(|own| path.cycle(&own));
        }
        found.cycles.push(path.cycle(&next));
        let is_over = next[path.last()] > whole + MOST || !RANGE.contains(&next[GAIN]);
        if found.own.is_some() || is_over || found.cycles.len() >= MOST_POINTS {
            break;
        }
        points.push(next);
    }
    found
}

/// Branch of solutions; a point has the unknowns of the balance, and ln of the amplitude last.
struct Path<'a> {
    balance: &'a Balance<'a>,
    /// Size of each of a point's numbers.
    scales: Vec<f64>,
}

impl Path<'_> {
    fn last(&self) -> usize {
        self.scales.len() - 1
    }

    /// The solution near a point that satisfies one more equation.
    fn point(&self, near: &[f64], equation: &dyn Fn(&[f64]) -> f64) -> Option<Vec<f64>> {
        let raw =
            |scaled: &[f64]| -> Vec<f64> { scaled.iter().zip(&self.scales).map(|(x, by)| x * by).collect() };
        let residuals = |scaled: &[f64]| {
            let point = raw(scaled);
            let mut found = self.balance.residuals(&point[..self.last()], math::exp(point[self.last()]));
            found.push(equation(&point));
            found
        };
        let start: Vec<f64> = near.iter().zip(&self.scales).map(|(x, by)| x / by).collect();
        let found = raw(&newton::zero(&residuals, &start)?);
        (found[FREQUENCY] > 0.0 && found[GAIN] > 0.0).then_some(found)
    }

    /// The next point at a distance from the last one, on the plane across the way from the one before.
    fn next(&self, before: &[f64], last: &[f64], length: f64) -> Option<Vec<f64>> {
        let way: Vec<f64> =
            last.iter().zip(before).zip(&self.scales).map(|((b, a), by)| (b - a) / by).collect();
        let whole = way.iter().map(|part| part * part).sum::<f64>().sqrt();
        let ahead: Vec<f64> = last
            .iter()
            .zip(&way)
            .zip(&self.scales)
            .map(|((x, part), by)| x + part / whole * length * by)
            .collect();
        let across = |at: &[f64]| -> f64 {
            let parts = at.iter().zip(&ahead).zip(&way).zip(&self.scales);
            parts.map(|(((x, there), part), by)| (x - there) / by * part / whole).sum()
        };
        let found = self.point(&ahead, &across)?;
        let parts = found.iter().zip(last).zip(&self.scales);
        let moved = parts.map(|((x, was), by)| ((x - was) / by) * ((x - was) / by)).sum::<f64>().sqrt();
        // A solution far from the prediction is one of another branch.
        (moved < FARTHEST * length).then_some(found)
    }

    fn cycle(&self, point: &[f64]) -> Cycle {
        let amplitude = math::exp(point[self.last()]);
        described(self.balance, &self.balance.orbit(&point[..self.last()], amplitude), amplitude)
    }
}

/// Typical sizes of a point's numbers.
fn scales(balance: &Balance<'_>, frequency: f64, gain: f64) -> Vec<f64> {
    let rest = balance.equilibrium;
    let angles = 2 * balance.degree + 1;
    let mut found = vec![rest.p, frequency, gain, rest.backlog.max(1.0)];
    found.resize(1 + angles, rest.backlog.max(1.0));
    for at_rest in rest.windows.iter().copied().chain(balance.memories().map(|(_, at_rest)| at_rest)) {
        found.resize(found.len() + angles, at_rest);
    }
    found.push(1.0);
    found
}

fn described(balance: &Balance<'_>, of: &Orbit, amplitude: f64) -> Cycle {
    let (queue, p) = (of.queue.range(), of.p.range());
    let small = of.windows.iter().any(|window| window.range()[0] < LEAST);
    Cycle {
        gain: of.gain,
        amplitude,
        period: TAU / of.frequency,
        queue,
        p,
        is_limited: small || p[1] >= 1.0 || (p[0] < 0.0 && balance.static_gain() >= STEEPEST),
    }
}

/// Places of the frequency and of the gain in a point.
const FREQUENCY: usize = 1;
const GAIN: usize = 2;
/// The first amplitude relative to the backlog at equilibrium, and ln of the last one.
const LEAST_SHARE: f64 = 0.01;
const MOST: f64 = 1.0;
/// Gains of a branch, and most points.
const RANGE: std::ops::Range<f64> = 0.05..20.0;
const MOST_POINTS: usize = 400;
/// Longest and shortest step along a branch, and the distance of a point from the last one, in steps.
const LONGEST: f64 = 0.25;
const SHORTEST: f64 = 1e-4;
const FARTHEST: f64 = 2.0;
/// Cycles whose gains show how a branch begins.
const SMALL: usize = 6;
