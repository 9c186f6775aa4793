//! Totals of a step, integrated with the weights of its method. Arrivals at a queue are those of the integration, so
//! that offered = delivered + lost + held to the last bit.

use super::link::{Mode, StepArrivals};
use super::{Hop, Link, Plant, Sender, Watch};
use crate::dde::{History, Stage, Step, System};
use sojourn_measure::Totals;

impl Plant {
    /// Counts the last step.
    pub(super) fn account(&mut self, past: &History) {
        let step = past.last();
        self.count(&step);
        let mut watches = std::mem::take(&mut self.watches);
        for watch in watches.values_mut() {
            self.sample(watch, &step);
        }
        self.watches = watches;
        self.forget(&step);
    }

    /// Adds the integrals over a step.
    fn count(&mut self, step: &Step<'_>) {
        let Plant { classes, links, received, .. } = self;
        for (of, received) in classes.iter_mut().zip(received) {
            // The number of flows is linear in time.
            let flows = step.length * of.flows.at(step.t + step.length / 2.0);
            let mut leaving = match of.sender {
                Sender::Tcp(_, each) | Sender::Constant(each) => flows * each,
            };
            for hop in &mut of.hops {
                leaving = hop.count(&mut links[hop.link], step);
            }
            for hop in &mut of.ack_hops {
                hop.count(&mut links[hop.link], step);
            }
            received.delivered += (1.0 - of.loss) * leaving;
            received.flows += flows;
        }
        for link in &mut *links {
            link.count(step);
        }
        for link in &mut self.shared {
            link.account(&self.links, step);
        }
    }

    /// Samples the middle of a step for quantiles.
    fn sample(&self, watch: &mut Watch, step: &Step<'_>) {
        let seconds = step.length;
        for (number, link) in self.links.iter().enumerate() {
            let backlog = step.middle(link.place);
            watch.backlogs[number].take(backlog, seconds);
            watch.sojourns[number].take(link.wait(backlog), seconds * link.at[Stage::Third].admitted);
        }
        for (shared, [backlogs, sojourns]) in self.shared.iter().zip(&mut watch.shared) {
            let queues = || shared.queues().map(|queue| &self.links[queue]);
            backlogs.take(queues().map(|link| step.middle(link.place)).sum(), seconds);
            for link in queues() {
                sojourns.take(link.wait(step.middle(link.place)), seconds * link.at[Stage::Third].admitted);
            }
        }
        for (class, of) in self.classes.iter().enumerate() {
            let (rtt, count) = (of.at[Stage::Third].rtt, of.flows.at(step.t + step.length / 2.0));
            watch.rtts[class].take(rtt, seconds * count * step.middle(class) / rtt);
        }
    }

    /// Drops signals beyond the reach of the delays, once in [`KEPT_STEPS`] steps.
    fn forget(&mut self, step: &Step<'_>) {
        self.steps += 1;
        if self.steps.is_multiple_of(KEPT_STEPS) {
            let ends: Vec<f64> = (0..self.width).map(|place| step.ends(place)[1]).collect();
            let reach = self.reach(step.t + step.length, &ends);
            self.links.iter_mut().for_each(|link| link.signals.forget(reach));
        }
    }
}

impl Hop {
    /// Adds the totals of a class over a step at a link; returns its departures, packets.
    fn count(&mut self, link: &mut Link, step: &Step<'_>) -> f64 {
        let offered = self.at.over(step.length, |at| at.offered);
        let admitted =
            if self.ecn && link.marks { offered } else { self.at.over(step.length, |at| at.admitted) };
        let could = link.could(step.length) * self.per_size;
        let (entered, leaving) = match (link.mode, self.part) {
            (Mode::Empty, _) => (admitted, admitted),
            (_, Some(part)) => (
                step.grown(link.parts[part].place),
                link.parts[part].leaving.over(step.length, |leaving| *leaving),
            ),
            (Mode::Busy | Mode::Full, None) => (step.grown(link.place) * self.per_size + could, could),
        };
        let overflowed = if link.mode == Mode::Full { admitted - entered } else { 0.0 };
        let lost = offered - admitted + overflowed;
        let marked = if self.ecn && link.marks { link.p * offered } else { 0.0 };
        self.passed.offered += entered + lost;
        self.passed.lost += lost;
        self.passed.overflowed += overflowed;
        self.passed.marked += marked;
        self.passed.delivered += leaving;
        link.arrivals.admitted += self.size * admitted;
        link.arrivals.dropped += self.size * (offered - admitted);
        link.arrivals.marked += self.size * marked;
        self.at.turn_over();
        leaving
    }
}

impl Link {
    /// Adds the totals of a step.
    fn count(&mut self, step: &Step<'_>) {
        let StepArrivals { admitted, dropped, marked } = std::mem::take(&mut self.arrivals);
        let could = self.could(step.length);
        let grown = step.grown(self.place);
        let (entered, overflowed, left) = match self.mode {
            Mode::Empty => (admitted, 0.0, admitted),
            Mode::Busy => (grown + could, 0.0, could),
            Mode::Full => (grown + could, admitted - could - grown, could),
        };
        // The sojourn time of an arrival is that of the backlog at its time.
        let sojourn = match self.mode {
            Mode::Empty => 0.0,
            Mode::Full if self.shared.is_none() => left * self.wait(self.buffer),
            Mode::Full => {
                self.at.over(step.length, |at| (at.capacity + at.climb) * at.backlog.max(0.0) * at.inverse)
            }
            Mode::Busy if self.shared.is_none() => {
                self.inverse * self.at.over(step.length, |at| at.admitted * at.backlog)
            }
            Mode::Busy => self.at.over(step.length, |at| at.admitted * at.backlog.max(0.0) * at.inverse),
        };
        self.totals.add(&Totals {
            time: step.length,
            backlog: self.at.over(step.length, |at| at.backlog),
            backlog_squared: self.at.over(step.length, |at| at.backlog * at.backlog),
            offered: entered + overflowed + dropped,
            dropped,
            marked,
            overflowed,
            delivered: left,
            capacity: could,
            sojourn,
            busy: if self.mode == Mode::Empty { 0.0 } else { step.length },
        });
        if self.mode == Mode::Full {
            let lost = [Stage::Begin, Stage::End].map(|stage| {
                let at = self.at[stage];
                (1.0 - (at.capacity + at.climb) / at.admitted).max(0.0)
            });
            self.signals.lose(step.t, step.t + step.length, lost);
        }
        self.at.turn_over();
        for part in &mut self.parts {
            part.enters.turn_over();
            part.leaving.turn_over();
        }
    }
}

/// Steps between two removals of old signals.
const KEPT_STEPS: u64 = 64;
