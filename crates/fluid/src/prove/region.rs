//! For which loads and round trips a certificate holds: a map of N flows by the round trip without queueing.
//!
//! The law stays as it was designed for the scenario, its target in packets too; one that adapts has come to what it
//! is at each point's rest, and is frozen there. Every class of the traffic gets as many times more flows, and longer
//! round trips. Axes are logarithmic. Blocks whose corners agree are filled in ([`crate::linear::boundary`]); where
//! nothing rests, the map has the inequality that fails.

use super::Setting;
use super::standing::Standing;
use crate::linear::boundary::{self, Crossing, Plane, map_within};
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
    /// It does not rest, or the law says too little of itself there: the place of the reason among
    /// [`Region::reasons`].
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
    /// At so many of their points roots were counted; blocks whose corners agree are filled in.
    pub counted: usize,
    /// Curves on which a pair of roots is on the imaginary axis: N, the round trip without queueing, and rad/s.
    pub boundary: Vec<Vec<Crossing>>,
    /// Whether evaluations ran out before these curves were followed to their ends.
    pub is_cut: bool,
    /// What fails somewhere: inequalities without which nothing rests, and what a law does not say.
    pub reasons: Vec<&'static str>,
}

impl Extent {
    /// A quarter of the scenario's own to four times as much.
    pub fn about(setting: &Setting) -> Extent {
        let about = |value: f64| [value / 4.0, value * 4.0];
        Extent { flows: about(setting.flows()), base_rtt: about(setting.base_rtt()), points: 200, threads: 2 }
    }
}

/// The map of `setting` under its law.
pub(super) fn region(setting: &Setting, law: Box<dyn Law>, extent: &Extent) -> Region {
    let field = Field { setting, law: Mutex::new(law) };
    let [flows, rtts] = [extent.flows, extent.base_rtt].map(|ends| ends.map(math::ln));
    let plane = Plane {
        from: [flows[0], rtts[0]],
        to: [flows[1], rtts[1]],
        points: [extent.points; 2],
        threads: extent.threads,
    };
    let closed = |at: [f64; 2], way: Way, meter: &Arc<Meter>| {
        field.closed(at.map(math::exp), way, meter).ok().flatten()
    };
    let loops = boundary::Field {
        counted: &|at, meter| closed(at, Way::Roughly, meter),
        exact: &|at, meter| closed(at, Way::Exactly, meter),
        evaluations: EVALUATIONS,
    };
    let found = map_within(&loops, plane);
    let axis = |[from, to]: [f64; 2]| -> Vec<f64> {
        let share = |k: usize| k as f64 / (extent.points - 1) as f64;
        (0..extent.points).map(|k| math::exp(from + share(k) * (to - from))).collect()
    };
    let (flows, base_rtts) = (axis(flows), axis(rtts));
    let mut reasons = Vec::new();
    let mut cell = |count: Option<i64>, at: [f64; 2]| match count {
        Some(0) => Cell::Stable,
        Some(_) => Cell::Unstable,
        None => field.why(at).map_or(Cell::NotProven, |reason| Cell::Untold(place(&mut reasons, reason))),
    };
    let mut row = |(counts, &rtt): (&Vec<Option<i64>>, &f64)| -> Vec<Cell> {
        counts.iter().zip(&flows).map(|(count, &flows)| cell(*count, [flows, rtt])).collect()
    };
    let cells = found.unstable.iter().zip(&base_rtts).map(&mut row).collect();
    let unscaled = |crossing: &Crossing| Crossing { at: crossing.at.map(math::exp), ..*crossing };
    let boundary = found.boundary.iter().map(|curve| curve.iter().map(unscaled).collect()).collect();
    let (counted, is_cut) = (found.counted, found.is_cut);
    Region { flows, base_rtts, cells, counted, boundary, is_cut, reasons }
}

/// The place of a reason, which is added where it is new.
fn place(reasons: &mut Vec<&'static str>, reason: &'static str) -> usize {
    reasons.iter().position(|known| *known == reason).unwrap_or_else(|| {
        reasons.push(reason);
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
    /// A law may go from thread to thread, and only one may look at it at a time.
    law: Mutex<Box<dyn Law>>,
}

impl Field<'_> {
    /// The loop at N and R, where it is known, or why no loop there is one of the law.
    fn closed(
        &self,
        at: [f64; 2],
        way: Way,
        meter: &Arc<Meter>,
    ) -> Result<Option<Box<dyn Loop>>, &'static str> {
        let standing = self.standing(at)?;
        let Standing { setting, rest: Some(rest), linear: Some(law), .. } = standing else { return Ok(None) };
        let plant = Metered::new(Exact::new(&setting.link, &rest), Arc::clone(meter));
        Ok(match (law.sampled, law.continuous) {
            (Some(law), _) => {
                let of = match way {
                    Way::Roughly => Sampled::roughly(plant, &law),
                    Way::Exactly => Sampled::new(plant, &law),
                };
                of.map(|of| Box::new(of) as Box<dyn Loop>)
            }
            (None, Some(law)) => Some(Box::new(Continuous::new(plant, law))),
            (None, None) => None,
        })
    }

    /// Why no loop there is one of the law.
    fn why(&self, at: [f64; 2]) -> Option<&'static str> {
        self.standing(at).err()
    }

    /// The law at rest there, where its loop is all of it.
    fn standing(&self, at: [f64; 2]) -> Result<Standing, &'static str> {
        let setting = Setting { link: self.setting.scaled(at), ..self.setting.clone() };
        let standing = {
            let law = self.law.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Standing::of(&setting, law.as_ref()).map_err(|limit| limit.short)?
        };
        standing.reserve().map_or(Ok(standing), |reserve| Err(reserve.short()))
    }
}

/// Evaluations that the counts of a map may take.
const EVALUATIONS: u64 = 80_000_000;
