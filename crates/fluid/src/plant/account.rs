//! What a step has brought, counted with the weights of its method; what entered a queue as the integration has it, so
//! that what is offered is delivered, lost or held to the last bit.

use super::flow::{Flow, OfClass};
use super::link::{Brought, Mode};
use super::{Plant, Sender, Tally};
use crate::dde::{History, Step, System};

/// What flows at the stages of a step.
struct Stages<'a> {
    flows: &'a [Flow; 5],
    /// Of its length.
    sixth: f64,
}

impl Stages<'_> {
    /// The integral over the step.
    fn over(&self, value: impl Fn(&Flow) -> f64) -> f64 {
        let [begin, second, third, fourth, _] = self.flows;
        self.sixth * (value(begin) + 2.0 * (value(second) + value(third)) + value(fourth))
    }
}

impl Plant {
    /// Counts the last step.
    pub(super) fn account(&mut self, past: &History) {
        let step = past.last();
        self.count(&step);
        if self.watch.on {
            self.sample(&step);
        }
        // The next step begins where this one ends.
        self.flows.swap(0, 4);
        self.forget(&step);
    }

    /// Adds the integrals over a step.
    fn count(&mut self, step: &Step<'_>) {
        let Plant { classes, links, hops, flows, received, .. } = self;
        let h = step.length;
        let stages = Stages { flows, sixth: h / 6.0 };
        for ((class, of), received) in classes.iter().enumerate().zip(received) {
            let flows = stages.over(|flow| flow.classes[class].count);
            let mut leaving = match of.sender {
                Sender::Tcp(_, each) | Sender::Constant(each) => flows * each,
            };
            for number in of.hops() {
                let hop = &mut hops[number];
                let link = &mut links[hop.link];
                let offered = stages.over(|flow| flow.hops[number].offered);
                let admitted = stages.over(|flow| flow.hops[number].admitted);
                leaving = stages.over(|flow| flow.hops[number].leaving);
                let could = h * link.capacity();
                let entered = match (link.mode, hop.sum) {
                    (Mode::Empty, _) => admitted,
                    (_, Some(sum)) => step.grown(sum),
                    (Mode::Busy, None) => (step.grown(link.place) + could) * hop.per_size,
                    (Mode::Full, None) => could * hop.per_size,
                };
                let overflowed = if link.mode == Mode::Full { admitted - entered } else { 0.0 };
                let lost = offered - admitted + overflowed;
                let marked = if hop.ecn && link.marks { link.p * offered } else { 0.0 };
                hop.passed.offered += entered + lost;
                hop.passed.lost += lost;
                hop.passed.overflowed += overflowed;
                hop.passed.marked += marked;
                hop.passed.delivered += leaving;
                link.brought.admitted += hop.size * admitted;
                link.brought.dropped += hop.size * (offered - admitted);
                link.brought.marked += hop.size * marked;
            }
            received.delivered += (1.0 - of.loss) * leaving;
            received.flows += flows;
        }
        for (number, link) in links.iter_mut().enumerate() {
            let Brought { admitted, dropped, marked } = std::mem::take(&mut link.brought);
            let could = h * link.capacity();
            let (entered, overflowed, left) = match link.mode {
                Mode::Empty => (admitted, 0.0, admitted),
                Mode::Busy => (step.grown(link.place) + could, 0.0, could),
                Mode::Full => (could, admitted - could, could),
            };
            // What enters at a time meets the queue of that time.
            let waiting = match link.mode {
                Mode::Empty => 0.0,
                Mode::Full => left * link.wait(link.buffer),
                Mode::Busy => {
                    link.inverse
                        * stages.over(|flow| flow.links[number].admitted * flow.links[number].backlog)
                }
            };
            link.tally.add(&Tally {
                time: h,
                backlog: stages.over(|flow| flow.links[number].backlog),
                backlog_squared: stages.over(|flow| flow.links[number].backlog * flow.links[number].backlog),
                offered: entered + overflowed + dropped,
                dropped,
                marked,
                overflowed,
                delivered: left,
                capacity: could,
                sojourn: waiting,
                busy: if link.mode == Mode::Empty { 0.0 } else { h },
            });
            if link.mode == Mode::Full {
                let lost =
                    [&flows[0], &flows[4]].map(|flow| 1.0 - link.capacity() / flow.links[number].admitted);
                link.signals.lose(step.t, step.t + h, lost.map(|lost| lost.max(0.0)));
            }
        }
    }

    /// Shows the middle of a step to those who want quantiles.
    fn sample(&mut self, step: &Step<'_>) {
        let (middle, seconds) = (&self.flows[2], step.length);
        for ((number, link), at) in self.links.iter().enumerate().zip(&middle.links) {
            let backlog = step.middle(link.place);
            self.watch.backlogs[number].take(backlog, seconds);
            self.watch.sojourns[number].take(link.wait(backlog), seconds * at.admitted);
        }
        for (class, OfClass { rtt, count, .. }) in middle.classes.iter().enumerate() {
            self.watch.rtts[class].take(*rtt, seconds * count * step.middle(class) / rtt);
        }
    }

    /// Lets go of signals that nobody will ask for any more; now and then is enough.
    fn forget(&mut self, step: &Step<'_>) {
        self.steps += 1;
        if self.steps.is_multiple_of(KEPT_STEPS) {
            let ends: Vec<f64> = (0..self.width).map(|place| step.ends(place)[1]).collect();
            let reach = self.reach(step.t + step.length, &ends);
            self.links.iter_mut().for_each(|link| link.signals.forget(reach));
        }
    }
}

/// Steps between two looks at what can be forgotten.
const KEPT_STEPS: u64 = 64;
