//! How windows grow, and what they feel.

use super::flow::OfClass;
use super::{Hop, LEAST_WINDOW, Link, Member, Plant, Window};
use crate::dde::{History, Moment};

impl Plant {
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
    /// W', equations (2) and (3).
    #[inline]
    pub(super) fn growth(
        &mut self,
        (class, law, most): (usize, Window, f64),
        (links, hops): (&[Link], &[Hop]),
        (t, y, past): (f64, &[f64], &History),
        now: OfClass,
    ) -> f64 {
        let (w, then) = (y[class].max(LEAST_WINDOW), t - now.rtt);
        let moment = past.at(then, &mut self.hint);
        let (rtt_then, passed) = if self.is_calm {
            let mut rtt = self.base_rtt;
            for link in &self.waits {
                let link = &links[*link];
                rtt += link.wait(moment.value(link.place));
            }
            (rtt, self.passed)
        } else {
            self.felt((links, hops), then, &moment, y)
        };
        let acks = (moment.value(class).max(LEAST_WINDOW) / rtt_then).min(most);
        let grown = match law {
            Window::Mgt => 1.0 / now.rtt - w * (1.0 - passed) * acks / 2.0,
            Window::Full => acks * (passed / w - (1.0 - passed) * w / 2.0),
        };
        if self.flows.growth > 0.0 { grown - self.thinned(w, now.count) } else { grown }
    }

    /// By how much newcomers make the mean window smaller: who comes now comes with the least one.
    #[inline(never)]
    fn thinned(&self, w: f64, count: f64) -> f64 {
        if count > 0.0 { self.flows.growth / count * (w - LEAST_WINDOW) } else { 0.0 }
    }

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
