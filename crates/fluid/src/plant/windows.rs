//! How windows grow, and what they feel.

use super::{Hop, LEAST_WINDOW, Link, Plant, Sender, Window};
use crate::dde::History;

impl Plant {
    /// W' of a class, equations (2) and (3); what flows now has been computed.
    pub(super) fn growth(&mut self, class: usize, t: f64, y: &[f64], past: &History) -> f64 {
        let Plant { classes, links, hops, flow, hints, .. } = self;
        let of = &classes[class];
        let Sender::Tcp(law, most) = of.sender else { return 0.0 };
        if of.is_stalled {
            return 0.0;
        }
        let (w, rtt) = (y[class].max(LEAST_WINDOW), flow.classes[class].rtt);
        let then = t - rtt;
        let moment = past.at(then, &mut hints[class]);
        let mut rtt_then = of.base_rtt;
        for link in of.waits.iter().map(|link| &links[*link]) {
            rtt_then += link.wait_then(then, moment.value(link.place));
        }
        let acks = (moment.value(class).max(LEAST_WINDOW) / rtt_then).min(most);
        let mut passed = 1.0 - of.loss;
        for hop in &hops[of.hops.clone()] {
            let link = &links[hop.link];
            passed *= 1.0 - hop.felt_at(link, then, y);
            if link.signals.lose_any() {
                passed *= 1.0 - link.signals.lost(then, (!link.smooth).then_some(hop.felt));
            }
        }
        let grown = match law {
            Window::Mgt => 1.0 / rtt - w * (1.0 - passed) * acks / 2.0,
            Window::Full => acks * (passed / w - (1.0 - passed) * w / 2.0),
        };
        // Who comes now comes with the least window.
        if of.flows.growth > 0.0 && flow.classes[class].count > 0.0 {
            grown - of.flows.growth / flow.classes[class].count * (w - LEAST_WINDOW)
        } else {
            grown
        }
    }

    /// When the signal was given that a class feels at `t`.
    pub(super) fn given_at(&self, hop: &Hop, t: f64, y: &[f64]) -> f64 {
        let (link, backlogs) = (&self.links[hop.link], &y[self.classes.len()..]);
        link.given_at(t - self.classes[hop.class].rtt(&self.links, backlogs), y[link.place])
    }

    /// Looks up again which signal each class feels at each of its links.
    pub(super) fn seat(&mut self, t: f64, y: &[f64]) {
        for number in 0..self.hops.len() {
            let hop = &self.hops[number];
            let given = self.given_at(hop, t, y);
            let signals = &self.links[hop.link].signals;
            let felt = signals.seat(given, hop.felt);
            let felt_p = signals.p(felt);
            let hop = &mut self.hops[number];
            (hop.felt, hop.felt_p) = (felt, felt_p);
        }
    }
}

impl Hop {
    /// p of the signal that is felt of a packet sent at `then`.
    fn felt_at(&self, link: &Link, then: f64, y: &[f64]) -> f64 {
        if link.smooth { self.smooth_p(link, then, y) } else { self.felt_p }
    }

    #[inline(never)]
    fn smooth_p(&self, link: &Link, then: f64, y: &[f64]) -> f64 {
        let given = link.given_at(then, y[link.place]);
        link.signals.p(link.signals.seat(given, self.felt))
    }
}
