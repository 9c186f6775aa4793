//! What a step has brought, counted by Simpson's rule; what entered a queue as the integration has it, so that what
//! is offered is delivered, lost or held to the last bit.

use super::flow::{Flow, OfClass};
use super::link::Mode;
use super::{Plant, Tally};
use crate::dde::{History, Step, System};

impl Plant {
    /// Counts the last step. What flowed at its beginning is in `before`, what flows at its end in `flow`.
    pub(super) fn account(&mut self, past: &History) {
        let step = past.last();
        let mut y = std::mem::take(&mut self.scratch);
        for (place, value) in y.iter_mut().enumerate() {
            *value = step.middle(place);
        }
        let end = std::mem::replace(&mut self.flow, std::mem::take(&mut self.middle));
        self.flow_at(step.t + step.length / 2.0, &y, past);
        self.count(&step, &end);
        if self.watch.on {
            self.sample(&y, step.length);
        }
        self.middle = std::mem::replace(&mut self.flow, end);
        self.before.copy(&self.flow);
        self.scratch = y;
        self.forget(&step);
    }

    /// Adds the integrals over a step, of which the middle is in `flow`.
    fn count(&mut self, step: &Step<'_>, end: &Flow) {
        let (h, classes) = (step.length, self.classes.len());
        let over = |begin: f64, middle: f64, end: f64| h / 6.0 * (begin + 4.0 * middle + end);
        for (number, link) in self.links.iter_mut().enumerate() {
            let at = [&self.before.links[number], &self.flow.links[number], &end.links[number]];
            let [offered, admitted, marked] =
                [at.map(|at| at.offered), at.map(|at| at.admitted), at.map(|at| at.marked)]
                    .map(|[begin, middle, end]| over(begin, middle, end));
            let ([q0, q1], q) = (step.ends(classes + number), step.middle(classes + number));
            let (could, dropped) = (h * link.capacity(), offered - admitted);
            let (entered, overflowed, left) = match link.mode {
                Mode::Empty => (admitted, 0.0, admitted),
                Mode::Busy => (q1 - q0 + could, 0.0, could),
                Mode::Full => (could, admitted - could, could),
            };
            // What enters at the beginning, in the middle and at the end meets the queue of that time.
            let waiting = match link.mode {
                Mode::Empty => 0.0,
                Mode::Full => left * link.wait(link.buffer),
                Mode::Busy => {
                    link.inverse * over(at[0].admitted * q0, at[1].admitted * q, at[2].admitted * q1)
                }
            };
            link.tally.add(&Tally {
                time: h,
                backlog: over(q0, q, q1),
                backlog_squared: over(q0 * q0, q * q, q1 * q1),
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
                let lost = |admitted: f64| (1.0 - link.capacity() / admitted).max(0.0);
                link.signals.lose(step.t, step.t + h, [lost(at[0].admitted), lost(at[2].admitted)]);
            }
        }
        for (number, hop) in self.hops.iter_mut().enumerate() {
            let at = [&self.before.hops[number], &self.flow.hops[number], &end.hops[number]];
            let [offered, admitted, leaving] =
                [at.map(|at| at.offered), at.map(|at| at.admitted), at.map(|at| at.leaving)]
                    .map(|[begin, middle, end]| over(begin, middle, end));
            let link = &self.links[hop.link];
            let grown = |[begin, end]: [f64; 2]| end - begin;
            let entered = match (link.mode, hop.sum) {
                (Mode::Empty, _) => admitted,
                (_, Some(sum)) => grown(step.ends(sum)),
                (Mode::Busy, None) => {
                    (grown(step.ends(classes + hop.link)) + h * link.capacity()) * hop.per_size
                }
                (Mode::Full, None) => h * link.capacity() * hop.per_size,
            };
            let overflowed = if link.mode == Mode::Full { admitted - entered } else { 0.0 };
            let lost = offered - admitted + overflowed;
            hop.passed.offered += entered + lost;
            hop.passed.lost += lost;
            hop.passed.overflowed += overflowed;
            hop.passed.marked += if hop.ecn { link.p * offered } else { 0.0 };
            hop.passed.delivered += leaving;
        }
        for (class, received) in self.received.iter_mut().enumerate() {
            let of = &self.classes[class];
            let at = [&self.before, &self.flow, end].map(|flow| of.leaving(flow, class));
            received.delivered += (1.0 - of.loss) * over(at[0], at[1], at[2]);
            let [begin, middle, end] = [&self.before, &self.flow, end].map(|flow| flow.classes[class].count);
            received.flows += over(begin, middle, end);
        }
    }

    /// Shows the middle of a step to those who want quantiles.
    fn sample(&mut self, y: &[f64], seconds: f64) {
        let classes = self.classes.len();
        for (number, link) in self.links.iter().enumerate() {
            let backlog = y[classes + number];
            self.watch.backlogs[number].take(backlog, seconds);
            self.watch.sojourns[number].take(link.wait(backlog), seconds * self.flow.links[number].admitted);
        }
        for (class, window) in y[..classes].iter().enumerate() {
            let OfClass { rtt, count } = self.flow.classes[class];
            self.watch.rtts[class].take(rtt, seconds * count * window / rtt);
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
