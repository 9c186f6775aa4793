//! How windows grow, and what they feel.

use super::{Hop, LEAST_WINDOW, Plant, Sender, Window};
use crate::dde::History;

impl Plant {
    /// W' of a class, equations (2) and (3); what flows now has been computed.
    pub(super) fn growth(&mut self, class: usize, t: f64, y: &[f64], past: &History) -> f64 {
        let of = &self.classes[class];
        let Sender::Tcp(law, most) = of.sender else { return 0.0 };
        if of.is_stalled {
            return 0.0;
        }
        let (w, rtt, count) = (y[class].max(LEAST_WINDOW), self.flow.rtts[class], self.flow.counts[class]);
        let then = t - rtt;
        let moment = past.at(then, &mut self.hints[class]);
        let classes = self.classes.len();
        let waits =
            of.waits.iter().map(|link| self.links[*link].wait_then(then, moment.value(classes + *link)));
        let rtt_then = of.base_rtt + waits.sum::<f64>();
        let acks = (moment.value(class).max(LEAST_WINDOW) / rtt_then).min(most);
        let passed = (1.0 - of.loss) * self.passed_signals(class, then, y);
        let signalled = 1.0 - passed;
        let grown = match law {
            Window::Mgt => 1.0 / rtt - w * signalled * acks / 2.0,
            Window::Full => acks * (passed / w - signalled * w / 2.0),
        };
        // Who comes now comes with the least window.
        let joining = if of.flows.growth > 0.0 && count > 0.0 { of.flows.growth / count } else { 0.0 };
        grown - joining * (w - LEAST_WINDOW)
    }

    /// The share of packets of a class, sent at `then`, that no link signalled.
    fn passed_signals(&self, class: usize, then: f64, y: &[f64]) -> f64 {
        let classes = self.classes.len();
        let mut passed = 1.0;
        for hop in &self.hops[self.classes[class].hops.clone()] {
            let link = &self.links[hop.link];
            let p = if link.smooth {
                let given = link.given_at(then, y[classes + hop.link]);
                link.signals.p(link.signals.seat(given, hop.felt), given)
            } else {
                hop.felt_p
            };
            passed *= (1.0 - p) * (1.0 - link.signals.lost(then));
        }
        passed
    }

    /// When the signal was given that a class feels at `t`.
    pub(super) fn given_at(&self, hop: &Hop, t: f64, y: &[f64]) -> f64 {
        let (of, classes) = (&self.classes[hop.class], self.classes.len());
        let waits: f64 = of.waits.iter().map(|link| self.links[*link].wait(y[classes + *link])).sum();
        self.links[hop.link].given_at(t - of.base_rtt - waits, y[classes + hop.link])
    }

    /// Looks up again which signal each class feels at each of its links.
    pub(super) fn seat(&mut self, t: f64, y: &[f64]) {
        for number in 0..self.hops.len() {
            let hop = &self.hops[number];
            let given = self.given_at(hop, t, y);
            let signals = &self.links[hop.link].signals;
            let felt = signals.seat(given, hop.felt);
            let felt_p = signals.p(felt, given);
            let hop = &mut self.hops[number];
            (hop.felt, hop.felt_p) = (felt, felt_p);
        }
    }
}
