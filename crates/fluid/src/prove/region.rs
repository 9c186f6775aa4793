//! Stability region of a certificate: a map over N flows and the base RTT.
//!
//! The law keeps its design for the scenario, its target in packets included; an adaptive law has adapted to each
//! point's equilibrium, and is frozen there. Every class of the traffic is multiplied by the same factors of flows and
//! round trips, on the other links of its network too, whose rates are found at each point as for a certificate
//! ([`super::network`]). Axes are logarithmic. Blocks whose corners agree are filled in ([`crate::linear::boundary`]);
//! where there is no equilibrium or nothing is proven, the map has the reason.

use super::Setting;
use super::law_equilibrium::{LawEquilibrium, Unproven};
use super::network::{Congested, Net, Obstacle};
use crate::linear::boundary::{self, Crossing, Plane, Point, map_within};
use crate::linear::equilibrium::Equilibrium;
use crate::linear::loops::{Continuous, Loop};
use crate::linear::meter::{Meter, Metered};
use crate::linear::plant::{Exact, LinearPlant, Seen};
use crate::linear::sampled::Sampled;
use sojourn_aqm::Law;
use sojourn_aqm::linear::Linear;
use sojourn_units::math;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Extent and resolution of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Least and greatest N.
    pub flows: [f64; 2],
    /// Shortest and longest mean base RTT, s.
    pub base_rtt: [f64; 2],
    /// Points of each axis.
    pub points: usize,
    /// Threads that share the work; the result does not depend on them.
    pub threads: usize,
}

/// Result at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Small deviations decay.
    Stable,
    /// Small deviations grow.
    Unstable,
    /// There is an equilibrium, but its unstable poles cannot be counted.
    NotProven,
    /// There is no equilibrium, the law declares too little there, other links are full, or the evaluations ran out:
    /// index of the reason in [`Region::reasons`].
    NoVerdict(usize),
}

/// Stability region as a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// N of each column.
    pub flows: Vec<f64>,
    /// Base RTT of each row, s.
    pub base_rtts: Vec<f64>,
    /// Rows of cells.
    pub cells: Vec<Vec<Cell>>,
    /// Number of points that were analysed; blocks whose corners agree are filled in.
    pub counted: usize,
    /// Evaluations that the points took, at most [`Region::MOST`].
    pub evaluations: u64,
    /// Curves on which a pair of poles is on the imaginary axis: N, the base RTT, and rad/s.
    pub boundary: Vec<Vec<Crossing>>,
    /// True if evaluations ran out before these curves were followed to their ends.
    pub is_cut: bool,
    /// Reasons of [`Cell::NoVerdict`]: violated inequalities, missing models, other full links, spent evaluations.
    pub reasons: Vec<String>,
}

impl Extent {
    /// A quarter to four times the scenario's own values.
    pub fn about(setting: &Setting) -> Extent {
        let about = |value: f64| [value / 4.0, value * 4.0];
        Extent { flows: about(setting.flows()), base_rtt: about(setting.base_rtt()), points: 200, threads: 2 }
    }
}

/// Map of `setting` under its law.
pub(super) fn region(setting: &Setting, law: Box<dyn Law>, net: Net, extent: &Extent) -> Region {
    let field = Field { setting, copies: Copies::of(law, net), accepts_partial: false };
    let [flows, rtts] = [extent.flows, extent.base_rtt].map(|ends| ends.map(math::ln));
    let plane = Plane {
        from: [flows[0], rtts[0]],
        to: [flows[1], rtts[1]],
        points: [extent.points; 2],
        threads: extent.threads,
    };
    let closed = |at: [f64; 2], accuracy: Accuracy, meter: &Arc<Meter>| {
        field.closed(at.map(math::exp), accuracy, meter)
    };
    let loops = boundary::Field {
        counted: &|at, meter| closed(at, Accuracy::Count, meter),
        exact: &|at, meter| closed(at, Accuracy::Axis, meter),
        evaluations: Region::MOST,
    };
    let found = map_within(&loops, plane);
    let axis = |[from, to]: [f64; 2]| -> Vec<f64> {
        let share = |k: usize| k as f64 / (extent.points - 1) as f64;
        (0..extent.points).map(|k| math::exp(from + share(k) * (to - from))).collect()
    };
    let (flows, base_rtts) = (axis(flows), axis(rtts));
    let mut reasons = Vec::new();
    let mut cell = |point: &Point<String>| match point {
        Point::UnstablePoles(0) => Cell::Stable,
        Point::UnstablePoles(_) => Cell::Unstable,
        Point::Uncounted => Cell::NotProven,
        Point::NoLoop(reason) => Cell::NoVerdict(place(&mut reasons, reason)),
        Point::Spent => Cell::NoVerdict(place(&mut reasons, "its share of the evaluations is spent")),
    };
    let cells = found.points.iter().map(|row| row.iter().map(&mut cell).collect()).collect();
    let unscaled = |crossing: &Crossing| Crossing { at: crossing.at.map(math::exp), ..*crossing };
    let boundary = found.boundary.iter().map(|curve| curve.iter().map(unscaled).collect()).collect();
    let (counted, evaluations, is_cut) = (found.counted, found.spent, found.is_cut);
    Region { flows, base_rtts, cells, counted, evaluations, boundary, is_cut, reasons }
}

/// Index of a reason, which is added where it is new.
fn place(reasons: &mut Vec<String>, reason: &str) -> usize {
    reasons.iter().position(|known| *known == reason).unwrap_or_else(|| {
        reasons.push(reason.into());
        reasons.len() - 1
    })
}

/// Accuracy of a sampled-data loop.
#[derive(Clone, Copy)]
pub(super) enum Accuracy {
    /// For a count of poles.
    Count,
    /// For a response on the imaginary axis, such as margins and a boundary.
    Axis,
    /// For poles left of it, too.
    Poles,
}

/// Loops of a plane.
pub(super) struct Field<'a> {
    pub(super) setting: &'a Setting,
    /// The law and the network.
    pub(super) copies: Copies,
    /// True if a model that is only part of the law's behaviour at equilibrium counts.
    pub(super) accepts_partial: bool,
}

/// A law and its network, copied for each thread that evaluates them at the same time: a law is `Send` but not `Sync`.
pub(super) struct Copies {
    original: Mutex<(Box<dyn Law>, Net)>,
    /// Copies that no thread evaluates.
    idle: Mutex<Vec<(Box<dyn Law>, Net)>>,
}

impl Copies {
    pub(super) fn of(law: Box<dyn Law>, net: Net) -> Copies {
        Copies { original: Mutex::new((law, net)), idle: Mutex::default() }
    }

    /// Evaluates a copy.
    fn with<T>(&self, evaluate: impl FnOnce(&dyn Law, &mut Net) -> T) -> T {
        let taken = locked(&self.idle).pop();
        let (law, mut net) = taken.unwrap_or_else(|| locked(&self.original).clone());
        let found = evaluate(law.as_ref(), &mut net);
        locked(&self.idle).push((law, net));
        found
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Field<'_> {
    /// The loop at N and R; the reason where no loop there is that of the law.
    fn closed(
        &self,
        at: [f64; 2],
        accuracy: Accuracy,
        meter: &Arc<Meter>,
    ) -> Result<Box<dyn Loop>, Option<String>> {
        self.loop_there(at, accuracy, meter).map(|(_, of)| of)
    }

    /// The same with the equilibrium about which it is closed.
    pub(super) fn loop_there(
        &self,
        at: [f64; 2],
        accuracy: Accuracy,
        meter: &Arc<Meter>,
    ) -> Result<(Equilibrium, Box<dyn Loop>), Option<String>> {
        let found = self.equilibrium(at, meter)?;
        let LawEquilibrium { setting, equilibrium: Some(equilibrium), linear: Some(law), .. } = found else {
            return Err(None);
        };
        let plant = Exact::new(&setting.link, &equilibrium);
        let meter = Arc::clone(meter);
        let of = match super::wait_seen(&setting, &equilibrium, &law) {
            Some(wait) => closed(Metered::new(Seen { plant, wait }, meter), law, accuracy),
            None => closed(Metered::new(plant, meter), law, accuracy),
        }?;
        Ok((equilibrium, of))
    }

    /// Equilibrium of the law there, where its model is complete and no other link is full: checks in the order of a
    /// certificate.
    fn equilibrium(&self, at: [f64; 2], meter: &Meter) -> Result<LawEquilibrium, Option<String>> {
        let setting = Setting { link: self.setting.scaled(at), ..self.setting.clone() };
        self.copies.with(|law, net| {
            let has_others = net.has_others();
            if has_others {
                net.scale(self.setting.factors(at));
                net.loads(meter).map_err(obstacle)?;
            }
            if !meter.spend(EQUILIBRIUM_COST * setting.link.classes.len() as u64) {
                return Err(None);
            }
            let found = LawEquilibrium::of(&setting, law).map_err(|limit| Some(limit.short.into()))?;
            let is_accepted =
                |reason: &Unproven| self.accepts_partial && matches!(reason, Unproven::Partial(_));
            if let Some(reason) = found.unproven().filter(|reason| !is_accepted(reason)) {
                return Err(Some(reason.short().into()));
            }
            if let Some(equilibrium) = found.equilibrium.as_ref().filter(|_| has_others) {
                net.loads_at(equilibrium, found.setting.link.signal, meter).map_err(obstacle)?;
            }
            Ok(found)
        })
    }
}

/// The loop of a plant under a law: as it runs, or else in s.
fn closed<P: LinearPlant + 'static>(
    plant: P,
    law: Linear,
    accuracy: Accuracy,
) -> Result<Box<dyn Loop>, Option<String>> {
    match (law.sampled, law.continuous) {
        (Some(law), _) => {
            let of = match accuracy {
                Accuracy::Count => Sampled::roughly(plant, &law),
                Accuracy::Axis => Sampled::on_axis(plant, &law),
                Accuracy::Poles => Sampled::new(plant, &law),
            };
            of.map(|of| Box::new(of) as Box<dyn Loop>).ok_or(None)
        }
        (None, Some(law)) => Ok(Box::new(Continuous::new(plant, law))),
        (None, None) => Err(None),
    }
}

/// Short form of the reason; none where the evaluations ran out.
fn obstacle(of: Obstacle) -> Option<String> {
    match of {
        Obstacle::Spent => None,
        Obstacle::NoEquilibrium(reason, _) | Obstacle::Unproven(reason) => Some(reason),
        Obstacle::Together(Congested { words, .. }) => Some(words),
    }
}

impl Region {
    /// Evaluations that the points of a map may take; a quarter as many again follow its boundary.
    pub const MOST: u64 = 40_000_000;
}

/// Evaluations that an equilibrium takes, per class.
const EQUILIBRIUM_COST: u64 = 100;
