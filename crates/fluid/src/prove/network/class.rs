//! A class on its path: its rate, and what it brings to a link.

use super::{NetClass, NetLink, State};
use crate::plant::Sender;

impl NetClass {
    /// True if it responds to signals.
    pub(in crate::prove) fn is_responsive(&self) -> bool {
        matches!(self.sends, Sender::Tcp(..))
    }

    /// Rate of all its flows, packets/s, equations (1) and (2).
    pub(in crate::prove) fn rate(&self, states: &[State], links: &[NetLink]) -> f64 {
        let each = match self.sends {
            Sender::Constant(rate) => rate,
            Sender::Tcp(_, most) => {
                let rtt = self.rtt(states, links);
                (self.class.window(self.lost(states), rtt).max(1.0) / rtt).min(most)
            }
        };
        self.class.flows * each
    }

    /// W at equilibrium, packets.
    pub(in crate::prove) fn window(&self, states: &[State], links: &[NetLink]) -> f64 {
        self.class.window(self.lost(states), self.rtt(states, links))
    }

    /// R, s.
    pub(in crate::prove) fn rtt(&self, states: &[State], links: &[NetLink]) -> f64 {
        let waits = self.data.iter().chain(&self.back);
        let waits = waits.map(|(place, _)| states[*place].backlog / links[*place].capacity);
        self.class.base_rtt + waits.sum::<f64>()
    }

    /// s: the share of its packets with a signal.
    pub(in crate::prove) fn signals(&self, states: &[State]) -> f64 {
        self.class.signal_share(self.lost(states))
    }

    /// Share of its packets with a signal of a law.
    pub(super) fn lost(&self, states: &[State]) -> f64 {
        1.0 - self.data.iter().map(|(place, _)| 1.0 - states[*place].p).product::<f64>()
    }

    /// Links of its data, then those of its ACKs, each with its share of the link: true if of data.
    pub(in crate::prove) fn hops(&self) -> impl Iterator<Item = (bool, (usize, f64))> + '_ {
        let data = self.data.iter().map(|hop| (true, *hop));
        data.chain(self.back.iter().map(|hop| (false, *hop)))
    }

    /// Load that it puts on a link, without the packets that earlier links drop or do not carry.
    pub(super) fn brings(&self, place: usize, states: &[State], links: &[NetLink]) -> f64 {
        let mut comes = self.rate(states, links);
        let mut share = 0.0;
        for (at, one) in &self.data {
            comes *= self.passes(states[*at]);
            if *at == place {
                share += comes * one;
            }
            comes *= states[*at].carries;
        }
        share
    }

    /// Load by its ACKs, without those of data that do not arrive and those that links on the way back drop or do not
    /// carry.
    pub(super) fn brings_acks(&self, place: usize, states: &[State], links: &[NetLink]) -> f64 {
        if !self.is_responsive() {
            return 0.0;
        }
        let carried = |at: &usize| self.passes(states[*at]) * states[*at].carries;
        let received: f64 = self.data.iter().map(|(at, _)| carried(at)).product();
        let mut comes = self.rate(states, links) * received * (1.0 - self.class.loss);
        let mut share = 0.0;
        for (at, one) in &self.back {
            comes *= 1.0 - states[*at].p;
            if *at == place {
                share += comes * one;
            }
            comes *= states[*at].carries;
        }
        share
    }

    /// theta of a link.
    pub(in crate::prove) fn passes(&self, at: State) -> f64 {
        if self.class.ecn && at.marks { 1.0 } else { 1.0 - at.p }
    }
}
