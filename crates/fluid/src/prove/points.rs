//! Margins of one law over many loads and round trips: what a design of gains evaluates.
//!
//! As on a map ([`super::region`]) the law keeps its design for the scenario, an adaptive law has adapted to each point's
//! equilibrium, and every class of the traffic is multiplied by the same factors.

use super::network::Net;
use super::region::{Accuracy, Copies, Field};
use super::{EVALUATIONS, Request, Setting, link_law, shares_its_link};
use crate::linear::equilibrium::Equilibrium;
use crate::linear::margins::Margins;
use crate::linear::meter::Meter;
use crate::linear::{nyquist, poles};
use sojourn_params::{ErrorKind, InputError};

/// Points at which a law is judged.
pub struct Points<'a> {
    /// N and the mean base RTT, s, of each.
    pub at: &'a [[f64; 2]],
    /// True if the rightmost poles are wanted, too; they take more evaluations than the margins.
    pub with_poles: bool,
    /// True if a model that is only part of the law's behaviour at equilibrium counts.
    pub accepts_partial: bool,
    /// Evaluations that a point may take; none: those of a certificate.
    pub evaluations: Option<u64>,
    /// Threads that share the work; the result does not depend on them.
    pub threads: usize,
}

/// A law at a point: its equilibrium, and the judged loop there.
#[derive(Clone, Debug, PartialEq)]
pub struct AtPoint {
    /// Equilibrium probability.
    pub p: f64,
    /// Backlog, packets.
    pub backlog: f64,
    /// Least window of a class, packets.
    pub window: f64,
    /// Longest round trip of a class, s.
    pub rtt: f64,
    /// Unstable poles by Nyquist's count.
    pub unstable: i64,
    /// Least destabilising lag, rad; of an unstable loop minus the least lead that stabilises it. None: unlimited, or for
    /// an unstable loop no lead does.
    pub phase_margin: Option<f64>,
    /// Factor of the gain that destabilises; None: none does, or the loop is unstable.
    pub gain_margin: Option<f64>,
    /// Frequency of the phase margin, rad/s.
    pub crossover: Option<f64>,
    /// Real part of the rightmost pole, 1/s, where it is wanted and known.
    pub rightmost: Option<f64>,
}

/// The law of a request at each point; the reason where there is no equilibrium, or no loop that can be followed.
pub fn at_points(
    request: &Request<'_>,
    points: &Points<'_>,
) -> Result<Vec<Result<AtPoint, String>>, InputError> {
    let mut setting = Setting::of(request.scenario, request.link)?;
    if shares_its_link(request, &setting) {
        let problem = "its queues share the link";
        return Err(InputError::new(ErrorKind::Conflict, problem, "a law alone").at(&setting.name));
    }
    setting.split_by_rtt(request.scenario);
    let law = link_law(request, &setting)?.law;
    let net = Net::about(request.scenario, &setting, request.own.as_ref());
    let mut found: Vec<Option<Result<AtPoint, String>>> = vec![None; points.at.len()];
    let share = points.at.len().div_ceil(points.threads.max(1)).max(1);
    let field =
        Field { setting: &setting, copies: Copies::of(law, net), accepts_partial: points.accepts_partial };
    std::thread::scope(|scope| {
        for (at, into) in points.at.chunks(share).zip(found.chunks_mut(share)) {
            let field = &field;
            scope.spawn(move || {
                for (at, into) in at.iter().zip(into) {
                    *into = Some(judged(field, *at, points));
                }
            });
        }
    });
    Ok(found.into_iter().flatten().collect())
}

/// The law at one point.
fn judged(field: &Field<'_>, at: [f64; 2], points: &Points<'_>) -> Result<AtPoint, String> {
    let meter = Meter::new(points.evaluations.unwrap_or(EVALUATIONS));
    let unknown = |reason: Option<String>| reason.unwrap_or_else(|| UNFOLLOWED.into());
    let accuracy = if points.with_poles { Accuracy::Poles } else { Accuracy::Axis };
    let (equilibrium, of) = field.loop_there(at, accuracy, &meter).map_err(unknown)?;
    let unfollowed =
        || if meter.is_used_up() { super::assess::spent(&meter, "its margins") } else { UNFOLLOWED.into() };
    let count = nyquist::count(&of).ok_or_else(unfollowed)?;
    let margins = Margins::of(&of).ok_or_else(unfollowed)?;
    let rightmost = if points.with_poles {
        poles::rightmost(&of, 1).and_then(|found| Some(found.poles.first()?.re))
    } else {
        None
    };
    if meter.is_used_up() {
        return Err(super::assess::spent(&meter, "its margins"));
    }
    let point = of_equilibrium(&equilibrium);
    let lag = margins.lag();
    Ok(if count.closed == 0 {
        AtPoint {
            phase_margin: lag.map(|at| at.lag()),
            gain_margin: margins.gain_up(),
            crossover: lag.map(|at| at.frequency),
            rightmost,
            ..point
        }
    } else {
        let lacking = margins.lacking().filter(|_| count.open == 0);
        AtPoint {
            unstable: count.closed,
            phase_margin: lacking.map(|(_, lead)| -lead),
            crossover: lacking.map(|(at, _)| at.frequency),
            rightmost,
            ..point
        }
    })
}

fn of_equilibrium(of: &Equilibrium) -> AtPoint {
    AtPoint {
        p: of.p,
        backlog: of.backlog,
        window: of.windows.iter().copied().fold(f64::INFINITY, f64::min),
        rtt: of.rtts.iter().copied().fold(0.0, f64::max),
        unstable: 0,
        phase_margin: None,
        gain_margin: None,
        crossover: None,
        rightmost: None,
    }
}

/// Reason of a loop without a verdict.
const UNFOLLOWED: &str = "its frequency response cannot be followed";
