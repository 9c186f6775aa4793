//! For which loads and round trips a certificate holds: a map of N flows by the round trip without queueing.
//!
//! The law stays as it was designed for the scenario, its target in packets too; one that adapts has come to what it
//! is at each point's rest, and is frozen there. Every class of the traffic gets as many times more flows, and longer
//! round trips, on the other links of its network too, whose rates are found at each point as for a certificate
//! ([`super::network`]). Axes are logarithmic. Blocks whose corners agree are filled in ([`crate::linear::boundary`]);
//! where nothing rests or nothing is proven, the map has the reason.

use super::Setting;
use super::network::{Net, Obstacle};
use super::standing::Standing;
use crate::linear::boundary::{self, Crossing, Plane, Point, map_within};
use crate::linear::loops::{Continuous, Loop};
use crate::linear::meter::{Meter, Metered};
use crate::linear::plant::Exact;
use crate::linear::sampled::Sampled;
use sojourn_aqm::Law;
use sojourn_units::math;
use std::sync::{Arc, Mutex};

/// From where to where a map goes, and how finely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The least and the greatest N.
    pub flows: [f64; 2],
    /// The shortest and the longest mean round trip without queueing, s.
    pub base_rtt: [f64; 2],
    /// Points of each axis.
    pub points: usize,
    /// Threads that share the work; they never change what comes out.
    pub threads: usize,
}

/// What is so at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Small deviations die out.
    Stable,
    /// They grow.
    Unstable,
    /// It rests, and its roots cannot be counted.
    NotProven,
    /// It does not rest, the law says too little of itself there, other links are full, or the evaluations ran out: the
    /// place of the reason among [`Region::reasons`].
    Untold(usize),
}

/// The map.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// N of each column.
    pub flows: Vec<f64>,
    /// Of each row, s.
    pub base_rtts: Vec<f64>,
    /// Rows of cells.
    pub cells: Vec<Vec<Cell>>,
    /// So many of their points were looked at; blocks whose corners agree are filled in.
    pub counted: usize,
    /// Evaluations that these took, at most [`Region::MOST`].
    pub evaluations: u64,
    /// Curves on which a pair of roots is on the imaginary axis: N, the round trip without queueing, and rad/s.
    pub boundary: Vec<Vec<Crossing>>,
    /// Whether evaluations ran out before these curves were followed to their ends.
    pub is_cut: bool,
    /// What fails somewhere: inequalities without which nothing rests, what a law does not say, other full links,
    /// evaluations that ran out.
    pub reasons: Vec<String>,
}

impl Extent {
    /// A quarter of the scenario's own to four times as much.
    pub fn about(setting: &Setting) -> Extent {
        let about = |value: f64| [value / 4.0, value * 4.0];
        Extent { flows: about(setting.flows()), base_rtt: about(setting.base_rtt()), points: 200, threads: 2 }
    }
}

/// The map of `setting` under its law.
pub(super) fn region(setting: &Setting, law: Box<dyn Law>, net: Net, extent: &Extent) -> Region {
    let field = Field { setting, laws: Mutex::new((law, net)) };
    let [flows, rtts] = [extent.flows, extent.base_rtt].map(|ends| ends.map(math::ln));
    let plane = Plane {
        from: [flows[0], rtts[0]],
        to: [flows[1], rtts[1]],
        points: [extent.points; 2],
        threads: extent.threads,
    };
    let closed = |at: [f64; 2], way: Way, meter: &Arc<Meter>| field.closed(at.map(math::exp), way, meter);
    let loops = boundary::Field {
        counted: &|at, meter| closed(at, Way::Roughly, meter),
        exact: &|at, meter| closed(at, Way::Exactly, meter),
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
        Point::Roots(0) => Cell::Stable,
        Point::Roots(_) => Cell::Unstable,
        Point::Uncounted => Cell::NotProven,
        Point::NoLoop(reason) => Cell::Untold(place(&mut reasons, reason)),
        Point::Spent => Cell::Untold(place(&mut reasons, "its share of the evaluations is spent")),
    };
    let cells = found.points.iter().map(|row| row.iter().map(&mut cell).collect()).collect();
    let unscaled = |crossing: &Crossing| Crossing { at: crossing.at.map(math::exp), ..*crossing };
    let boundary = found.boundary.iter().map(|curve| curve.iter().map(unscaled).collect()).collect();
    let (counted, evaluations, is_cut) = (found.counted, found.spent, found.is_cut);
    Region { flows, base_rtts, cells, counted, evaluations, boundary, is_cut, reasons }
}

/// The place of a reason, which is added where it is new.
fn place(reasons: &mut Vec<String>, reason: &str) -> usize {
    reasons.iter().position(|known| *known == reason).unwrap_or_else(|| {
        reasons.push(reason.into());
        reasons.len() - 1
    })
}

/// How a loop in samples is summed.
#[derive(Clone, Copy)]
enum Way {
    /// As a count needs it.
    Roughly,
    /// As a boundary needs it.
    Exactly,
}

/// The loops of a plane.
struct Field<'a> {
    setting: &'a Setting,
    /// The law and the network. Laws may go from thread to thread, and only one may look at them at a time.
    laws: Mutex<(Box<dyn Law>, Net)>,
}

impl Field<'_> {
    /// The loop at N and R, or why no loop there is one of the law.
    fn closed(&self, at: [f64; 2], way: Way, meter: &Arc<Meter>) -> Result<Box<dyn Loop>, Option<String>> {
        let standing = self.standing(at, meter)?;
        let Standing { setting, rest: Some(rest), linear: Some(law), .. } = standing else {
            return Err(None);
        };
        let plant = Metered::new(Exact::new(&setting.link, &rest), Arc::clone(meter));
        match (law.sampled, law.continuous) {
            (Some(law), _) => {
                let of = match way {
                    Way::Roughly => Sampled::roughly(plant, &law),
                    Way::Exactly => Sampled::new(plant, &law),
                };
                of.map(|of| Box::new(of) as Box<dyn Loop>).ok_or(None)
            }
            (None, Some(law)) => Ok(Box::new(Continuous::new(plant, law))),
            (None, None) => Err(None),
        }
    }

    /// The law at rest there, where its loop is all of it and no other link is full: in the order of a certificate.
    fn standing(&self, at: [f64; 2], meter: &Meter) -> Result<Standing, Option<String>> {
        let setting = Setting { link: self.setting.scaled(at), ..self.setting.clone() };
        let mut laws = self.laws.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (law, net) = &mut *laws;
        let has_others = net.has_others();
        if has_others {
            net.scale(self.setting.factors(at));
            net.loads(meter).map_err(obstacle)?;
        }
        if !meter.spend(RESTING * setting.link.classes.len() as u64) {
            return Err(None);
        }
        let standing = Standing::of(&setting, law.as_ref()).map_err(|limit| Some(limit.short.into()))?;
        if let Some(reserve) = standing.reserve() {
            return Err(Some(reserve.short().into()));
        }
        if let Some(rest) = standing.rest.as_ref().filter(|_| has_others) {
            net.loads_at(rest, standing.setting.link.signal, meter).map_err(obstacle)?;
        }
        Ok(standing)
    }
}

/// In a few words; none where the evaluations ran out.
fn obstacle(of: Obstacle) -> Option<String> {
    match of {
        Obstacle::Spent => None,
        Obstacle::Held(reason, _) | Obstacle::Together(reason) | Obstacle::Unproven(reason) => Some(reason),
    }
}

impl Region {
    /// Evaluations that the points of a map may take; a quarter as many again follow its boundary.
    pub const MOST: u64 = 40_000_000;
}

/// Evaluations that a rest takes, by its classes.
const RESTING: u64 = 100;
