//! How windows grow, and what they feel.

use super::flow::OfClass;
use super::{Hop, LEAST_WINDOW, Link, Member, Plant, Sender, Window};
use crate::dde::{History, Moment};

impl Plant {
    /// W' of a class, equations (2) and (3); what flows now has been computed.
    pub(super) fn growth(&mut self, class: usize, t: f64, y: &[f64], past: &History) -> f64 {
        let Plant { classes, links, hops, flow, .. } = self;
        let of = &mut classes[class];
        let Sender::Tcp(law, most) = of.sender else { return 0.0 };
        if of.is_stalled {
            return 0.0;
        }
        let OfClass { rtt, count } = flow.classes[class];
        let (w, then) = (y[class].max(LEAST_WINDOW), t - rtt);
        let moment = past.at(then, &mut of.hint);
        let (rtt_then, passed) = if of.is_calm {
            let mut rtt = of.base_rtt;
            for link in &of.waits {
                let link = &links[*link];
                rtt += link.wait(moment.value(link.place));
            }
            (rtt, of.passed)
        } else {
            of.felt((links, hops), then, &moment, y)
        };
        let acks = (moment.value(class).max(LEAST_WINDOW) / rtt_then).min(most);
        let grown = match law {
            Window::Mgt => 1.0 / rtt - w * (1.0 - passed) * acks / 2.0,
            Window::Full => acks * (passed / w - (1.0 - passed) * w / 2.0),
        };
        // Who comes now comes with the least window.
        if of.flows.growth > 0.0 && count > 0.0 {
            grown - of.flows.growth / count * (w - LEAST_WINDOW)
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
            let (given, link) = (self.given_at(hop, t, y), &self.links[hop.link]);
            let felt = link.signals.seat(given, hop.felt);
            let felt_p = link.signals.p(felt);
            let until = if link.smooth { f64::INFINITY } else { link.signals.next(felt) };
            let hop = &mut self.hops[number];
            (hop.felt, hop.felt_p, hop.until) = (felt, felt_p, until);
        }
        let Plant { classes, links, hops, .. } = self;
        for of in classes {
            let hops = &hops[of.hops()];
            of.is_calm = of.waits.iter().all(|link| links[*link].has_one_rate())
                && hops.iter().all(|hop| links[hop.link].signals_steps());
            of.passed = hops.iter().fold(1.0 - of.loss, |passed, hop| passed * (1.0 - hop.felt_p));
        }
    }
}

impl Member {
    /// What a packet sent at `then` met: its round trip, and the share that no signal hit. This is the long way, where
    /// rates of links changed, or signals do not hold from one event to the next.
    #[inline(never)]
    fn felt(
        &self,
        (links, hops): (&[Link], &[Hop]),
        then: f64,
        moment: &Moment<'_>,
        y: &[f64],
    ) -> (f64, f64) {
        let (mut rtt, mut passed) = (self.base_rtt, 1.0 - self.loss);
        for link in self.waits.iter().map(|link| &links[*link]) {
            rtt += link.wait_then(then, moment.value(link.place));
        }
        for hop in &hops[self.hops()] {
            let link = &links[hop.link];
            passed *= 1.0 - hop.felt_at(link, then, y);
            if link.signals.lose_any() {
                passed *= 1.0 - link.signals.lost(then, (!link.smooth).then_some(hop.felt));
            }
        }
        (rtt, passed)
    }
}

impl Hop {
    /// p of the signal that is felt of a packet sent at `then`.
    fn felt_at(&self, link: &Link, then: f64, y: &[f64]) -> f64 {
        if !link.smooth {
            return self.felt_p;
        }
        let given = link.given_at(then, y[link.place]);
        link.signals.p(link.signals.seat(given, self.felt))
    }
}
