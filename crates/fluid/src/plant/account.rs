//! What a step has brought, counted by Simpson's rule.

use super::{Mode, Plant, waiting};
use crate::dde::{History, Step, System};
use crate::plant::tally::Tally;

impl Plant {
    /// Counts the last step.
    pub(super) fn account(&mut self, past: &History) {
        let step = past.last();
        let mut y = std::mem::take(&mut self.scratch);
        for (point, weight) in [(0, 1.0), (1, 4.0), (2, 1.0)] {
            fill(&mut y, &step, point);
            self.flow(step.t + step.length * point as f64 / 2.0, &y, past);
            self.count(&y, step.length * weight / 6.0);
            for link in &mut self.links {
                link.losses[point] = 1.0 - link.capacity() / link.flow.admitted;
            }
            if point == 1 && self.watch.on {
                self.sample(&y, step.length);
            }
        }
        let end = step.t + step.length;
        let reach = self.reach(end, &y);
        for link in &mut self.links {
            if link.mode == Mode::Full {
                link.signals.lose(step.t, end, [link.losses[0], link.losses[2]]);
            }
            link.signals.forget(reach);
        }
        self.scratch = y;
    }

    /// Adds what flows now, for so many seconds.
    fn count(&mut self, y: &[f64], seconds: f64) {
        let classes = self.classes.len();
        for (number, link) in self.links.iter_mut().enumerate() {
            let (capacity, backlog) = (link.capacity(), y[classes + number]);
            let admitted = link.flow.admitted;
            let left = if link.mode == Mode::Empty { admitted } else { capacity };
            let entered = if link.mode == Mode::Full { left } else { admitted };
            link.tally.add(&Tally {
                time: seconds,
                backlog: seconds * backlog,
                backlog_squared: seconds * backlog * backlog,
                offered: seconds * link.flow.offered,
                dropped: seconds * (link.flow.offered - admitted),
                marked: seconds * link.flow.marked,
                overflowed: seconds * (admitted - entered),
                delivered: seconds * left,
                capacity: seconds * capacity,
                sojourn: seconds * entered * waiting(backlog, capacity),
                busy: if link.mode == Mode::Empty { 0.0 } else { seconds },
            });
        }
        for hop in &mut self.hops {
            let link = &self.links[hop.link];
            let kept = if link.mode == Mode::Full { link.capacity() / link.flow.admitted } else { 1.0 };
            let marked = if self.classes[hop.class].ecn { link.p * hop.offered } else { 0.0 };
            let overflowed = (1.0 - kept) * hop.admitted;
            hop.passed.offered += seconds * hop.offered;
            hop.passed.lost += seconds * (hop.offered - hop.admitted + overflowed);
            hop.passed.overflowed += seconds * overflowed;
            hop.passed.marked += seconds * marked;
            hop.passed.delivered += seconds * hop.leaving;
        }
        for (class, received) in self.received.iter_mut().enumerate() {
            let left = self.hops[self.hops_of[class].clone()].last().map_or(0.0, |hop| hop.leaving);
            received.delivered += seconds * left * (1.0 - self.classes[class].loss);
            received.flows += seconds * self.counts[class];
        }
    }

    /// Shows the middle of a step to those who want quantiles.
    fn sample(&mut self, y: &[f64], seconds: f64) {
        let classes = self.classes.len();
        for (number, link) in self.links.iter().enumerate() {
            let backlog = y[classes + number];
            self.watch.backlogs[number].take(backlog, seconds);
            self.watch.sojourns[number].take(waiting(backlog, link.capacity()), seconds * link.flow.admitted);
        }
        for (class, window) in y[..classes].iter().enumerate() {
            let acks = self.counts[class] * window / self.rtts[class];
            self.watch.rtts[class].take(self.rtts[class], seconds * acks);
        }
    }
}

/// The values at the beginning of a step, in its middle or at its end.
fn fill(y: &mut [f64], step: &Step<'_>, point: usize) {
    for (place, value) in y.iter_mut().enumerate() {
        let [begin, end] = step.ends(place);
        *value = [begin, step.middle(place), end][point];
    }
}
