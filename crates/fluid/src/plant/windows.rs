//! How windows grow, and what they feel.

use super::flow::{Look, at_most};
use super::{Hop, LEAST_WINDOW, Link, Member, Plant, Window};
use crate::dde::History;

impl Plant {
    /// Looks up again which signal each class feels at each of its links.
    pub(super) fn seat(&mut self, t: f64, y: &[f64]) {
        let Plant { classes, links, .. } = self;
        for of in classes {
            for number in 0..of.hops.len() {
                let given = of.given_at(number, links, t, y);
                let hop = &mut of.hops[number];
                hop.seat(&links[hop.link], given);
            }
            // What signals as packets leave makes no events, so that all of these are given as packets come.
            of.until = of.hops.iter().fold(f64::INFINITY, |until, hop| until.min(hop.until));
            of.is_calm = of.waits.iter().all(|wait| links[wait.link].has_one_rate())
                && of.hops.iter().all(|hop| links[hop.link].signals_steps());
            of.passed = of.hops.iter().fold(1.0 - of.loss, |passed, hop| passed * (1.0 - hop.felt_p));
        }
    }
}

impl Member {
    /// W', equations (2) and (3).
    #[inline]
    pub(super) fn growth(
        &mut self,
        (class, law, most): (usize, Window, f64),
        links: &[Link],
        look: Look<'_>,
        rtt: f64,
    ) -> f64 {
        let then = look.t - rtt;
        if !self.sent.holds(then) {
            self.find_sent(class, then, look.past);
        }
        let (w, share) = (look.y[class].max(LEAST_WINDOW), self.sent.share(then));
        let (rtt_then, passed) = if self.is_calm {
            (self.rtt(|wait| wait.then.at(share)), self.passed)
        } else {
            self.felt(links, then, share, look.y)
        };
        let acks = at_most(most, self.window.at(share).max(LEAST_WINDOW) / rtt_then);
        let grown = match law {
            Window::Mgt => 1.0 / rtt - w * (1.0 - passed) * acks / 2.0,
            Window::Full => acks * (passed / w - (1.0 - passed) * w / 2.0),
        };
        if self.flows.growth > 0.0 { grown - self.thinned(w, look.t) } else { grown }
    }

    /// Finds the piece of the past in which what is felt now was sent.
    #[inline(never)]
    fn find_sent(&mut self, class: usize, then: f64, past: &History) {
        let (sent, curves) = past.piece(then, &mut self.hint);
        (self.sent, self.window) = (sent, curves.cubic(class));
        for wait in &mut self.waits {
            wait.then = curves.cubic(wait.place);
        }
    }

    /// By how much newcomers make the mean window smaller: who comes now comes with the least one.
    #[inline(never)]
    fn thinned(&self, w: f64, t: f64) -> f64 {
        let count = self.flows.at(t);
        if count > 0.0 { self.flows.growth / count * (w - LEAST_WINDOW) } else { 0.0 }
    }

    /// What a packet sent at `then` met: its round trip, and the share that no signal hit. This is the long way, where
    /// rates of links changed, or signals do not hold from one event to the next.
    #[inline(never)]
    fn felt(&self, links: &[Link], then: f64, share: f64, y: &[f64]) -> (f64, f64) {
        let (mut rtt, mut passed) = (self.base_rtt, 1.0 - self.loss);
        for wait in &self.waits {
            rtt += links[wait.link].wait_then(then, wait.then.at(share));
        }
        for hop in &self.hops {
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
    /// Looks up which signal is felt that was given at `given`.
    fn seat(&mut self, link: &Link, given: f64) {
        self.felt = link.signals.seat(given, self.felt);
        self.felt_p = link.signals.p(self.felt);
        self.until = if link.smooth { f64::INFINITY } else { link.signals.next(self.felt) };
    }

    /// p of the signal that is felt of a packet sent at `then`.
    fn felt_at(&self, link: &Link, then: f64, y: &[f64]) -> f64 {
        if !link.smooth {
            return self.felt_p;
        }
        let given = link.given_at(then, y[link.place]);
        link.signals.p(link.signals.seat(given, self.felt))
    }
}
