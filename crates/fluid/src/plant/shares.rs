//! First in, first out: the shares of classes in the departures of a shared queue.
//!
//! With S_i for the cumulative arrivals of class i at the queue, A for the sum of all S_i, and q for the backlog, the
//! cumulative departures at t are A(t) - q(t). The fluid that leaves at t arrived at the time t' at which A(t') was
//! that, so that class i leaves at the rate
//!
//! ```text
//! C S_i'(t') / A'(t'),   A(t') = A(t) - q(t)                                                                 (5)
//! ```
//!
//! S_i are values of the integration, cubics in each completed step. Within the present step they are the parabolas
//! with the value and slope of its beginning and the value at the stage.

use super::rates::Evaluation;
use super::{ClassState, Link};
use crate::dde::{Stage, Staged, Step};

/// A class at a shared link.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Size of its packets, in packets of the link's mean size.
    pub(super) size: f64,
    /// Number of the class.
    pub(super) class: usize,
    /// Index of its cumulative arrivals among the values, packets of the class.
    pub(super) place: usize,
    /// Arrivals at each stage, packets of the class/s.
    pub(super) enters: Staged<f64>,
    /// Departures at each stage, packets of the class/s.
    pub(super) leaving: Staged<f64>,
    /// Packets of the class per packet that leaves.
    pub(super) leaves: f64,
}

impl Part {
    pub(super) fn new(class: usize, size: f64, place: usize) -> Part {
        Part { size, class, place, enters: Staged::default(), leaving: Staged::default(), leaves: 0.0 }
    }
}

impl Part {
    /// Departures, packets of the class/s: the arrivals, or its share of the rate of a queue.
    pub(super) fn pass(&mut self, enters: f64, stage: Stage, queue_sends: Option<f64>) -> f64 {
        let leaving = queue_sends.map_or(enters, |capacity| capacity * self.leaves);
        (self.enters[stage], self.leaving[stage]) = (enters, leaving);
        leaving
    }
}

impl Link {
    /// Finds the share of each class in the departures, equation (5).
    pub(super) fn find_shares(&mut self, classes: &[ClassState], at: Evaluation<'_>) {
        let left = self.entered(|place| at.y[place]) - at.y[self.place];
        let (begun, past) = (self.entered(|place| at.past.latest(place)), at.past);
        let lasts = at.t - past.end();
        if left > begun && lasts > 0.0 {
            return self.leave_of_this_step(left - begun, lasts, at);
        }
        let came = past.find_where(self.leaving, |step| self.entered(|place| step.begin(place)) > left);
        if let Some(came) = came {
            let step = past.step(came);
            (self.leaving, self.came) = (came, step.t);
            self.leave_of_step(left, &step);
        } else {
            // It arrived before the history begins: shares of the present rates.
            self.came = f64::NEG_INFINITY;
            self.leave_as(|part| classes[part.class].sent(part.class, at));
        }
    }

    /// Shares of fluid that arrived in a completed step.
    fn leave_of_step(&mut self, left: f64, step: &Step<'_>) {
        let share = step.share_where(left, self.parts.iter().map(|part| (part.size, part.place)));
        self.leave_as(|part| step.slope(part.place, share));
    }

    /// Shares of fluid that arrived in the present step, `lasts` seconds long so far: `left` of the arrivals since its
    /// beginning.
    fn leave_of_this_step(&mut self, left: f64, lasts: f64, at: Evaluation<'_>) {
        let grown = |place: usize| at.y[place] - at.past.latest(place);
        let came = self.entered(grown);
        let evenly: f64 = self.parts.iter().map(|part| part.size * part.enters[Stage::Begin] * lasts).sum();
        // The positive root of (came - evenly) s^2 + evenly s = left.
        let root = (evenly * evenly + 4.0 * (came - evenly) * left).max(0.0).sqrt();
        let share = (2.0 * left / (evenly + root)).clamp(0.0, 1.0);
        self.leave_as(|part| {
            let evenly = part.enters[Stage::Begin] * lasts;
            evenly + 2.0 * (grown(part.place) - evenly) * share
        });
    }

    /// Sets the shares in proportion to these packets of the classes.
    fn leave_as(&mut self, packets: impl Fn(&Part) -> f64) {
        let mut total = 0.0;
        for part in &mut self.parts {
            part.leaves = packets(part).max(0.0);
            total += part.size * part.leaves;
        }
        let inverse = if total > 0.0 { 1.0 / total } else { 0.0 };
        self.parts.iter_mut().for_each(|part| part.leaves *= inverse);
    }

    /// Sum over classes of a value, weighted by size.
    fn entered(&self, value: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for part in &self.parts {
            sum += part.size * value(part.place);
        }
        sum
    }
}
