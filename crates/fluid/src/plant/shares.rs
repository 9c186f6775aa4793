//! First in, first out: in which shares classes leave a queue that they share.
//!
//! With S_i for what of class i has entered the queue so far, A for the sum of all S_i, and q for what is still in
//! it, what has left by t is A(t) - q(t). What leaves at t came at the time t' at which A(t') was that, so that of
//! class i there leaves
//!
//! ```text
//! C S_i'(t') / A'(t'),   A(t') = A(t) - q(t)                                                                 (5)
//! ```
//!
//! S_i are values of the integration, cubics in each step that was taken. Within the step that is being taken they
//! are the parabolas that have value and slope of its beginning and the value at the stage.

use super::flow::Look;
use super::{Link, Member};
use crate::dde::{Stage, Staged, Step};

/// A class at a link that tells classes apart.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Packets of the link's mean size in one of the class.
    pub(super) size: f64,
    /// Its number.
    pub(super) class: usize,
    /// Where the sum of what entered the queue stands, packets of the class.
    pub(super) place: usize,
    /// What enters at each stage, packets of the class/s.
    pub(super) enters: Staged<f64>,
    /// What leaves at each stage, packets of the class/s.
    pub(super) leaving: Staged<f64>,
    /// Packets of the class in a packet that leaves.
    pub(super) leaves: f64,
}

impl Part {
    pub(super) fn new(class: usize, size: f64, place: usize) -> Part {
        Part { size, class, place, enters: Staged::default(), leaving: Staged::default(), leaves: 0.0 }
    }
}

impl Part {
    /// What leaves when so much enters: that, or its share of what a queue sends, packets of the class/s.
    pub(super) fn pass(&mut self, enters: f64, stage: Stage, queue_sends: Option<f64>) -> f64 {
        let leaving = queue_sends.map_or(enters, |capacity| capacity * self.leaves);
        (self.enters[stage], self.leaving[stage]) = (enters, leaving);
        leaving
    }
}

impl Link {
    /// Finds what each class has of what leaves, equation (5).
    pub(super) fn find_shares(&mut self, classes: &[Member], look: Look<'_>) {
        let left = self.entered(|place| look.y[place]) - look.y[self.place];
        let (begun, past) = (self.entered(|place| look.past.latest(place)), look.past);
        let lasts = look.t - past.end();
        if left > begun && lasts > 0.0 {
            return self.leave_of_this_step(left - begun, lasts, look);
        }
        let came = past.find_where(self.leaving, |step| self.entered(|place| step.begin(place)) > left);
        if let Some(came) = came {
            let step = past.step(came);
            (self.leaving, self.came) = (came, step.t);
            self.leave_of_step(left, &step);
        } else {
            // It came before anything is known: as they send now.
            self.came = f64::NEG_INFINITY;
            self.leave_as(|part| classes[part.class].sent(part.class, look));
        }
    }

    /// The fluid came in a step that was taken.
    fn leave_of_step(&mut self, left: f64, step: &Step<'_>) {
        let share = step.share_where(left, self.parts.iter().map(|part| (part.size, part.place)));
        self.leave_as(|part| step.slope(part.place, share));
    }

    /// The fluid came in the step that is being taken: so much of what has come since it began, `lasts` seconds ago.
    fn leave_of_this_step(&mut self, left: f64, lasts: f64, look: Look<'_>) {
        let grown = |place: usize| look.y[place] - look.past.latest(place);
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

    /// They leave in the proportions of these packets of the classes.
    fn leave_as(&mut self, packets: impl Fn(&Part) -> f64) {
        let mut total = 0.0;
        for part in &mut self.parts {
            part.leaves = packets(part).max(0.0);
            total += part.size * part.leaves;
        }
        let inverse = if total > 0.0 { 1.0 / total } else { 0.0 };
        self.parts.iter_mut().for_each(|part| part.leaves *= inverse);
    }

    /// A value of each class, summed by size.
    fn entered(&self, value: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for part in &self.parts {
            sum += part.size * value(part.place);
        }
        sum
    }
}
