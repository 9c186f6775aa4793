//! Who sends how much at a time, what the links let in, and what leaves them.

use super::link::Mode;
use super::{LEAST_WINDOW, Plant, Sender};
use crate::dde::History;

/// What flows at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// To each link, packets/s of its mean size.
    pub(super) links: Vec<AtLink>,
    /// Of each class at each of its links, packets/s of the class.
    pub(super) hops: Vec<AtHop>,
    /// R of each class, s.
    pub(super) rtts: Vec<f64>,
    /// Flows of each class.
    pub(super) counts: Vec<f64>,
}

/// What comes to a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtLink {
    pub(super) offered: f64,
    /// Not dropped by the law.
    pub(super) admitted: f64,
    /// Marked by it.
    pub(super) marked: f64,
}

/// What comes of a class to a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtHop {
    pub(super) offered: f64,
    pub(super) admitted: f64,
    pub(super) leaving: f64,
}

impl Flow {
    pub(super) fn new(classes: usize, links: usize, hops: usize) -> Flow {
        Flow {
            links: vec![AtLink::default(); links],
            hops: vec![AtHop::default(); hops],
            rtts: vec![0.0; classes],
            counts: vec![0.0; classes],
        }
    }

    /// Becomes as another one of the same network.
    pub(super) fn copy(&mut self, other: &Flow) {
        self.links.copy_from_slice(&other.links);
        self.hops.copy_from_slice(&other.hops);
        self.rtts.copy_from_slice(&other.rtts);
        self.counts.copy_from_slice(&other.counts);
    }
}

impl Plant {
    /// Computes what flows at `t`.
    pub(super) fn flow_at(&mut self, t: f64, y: &[f64], past: &History) {
        let classes = self.classes.len();
        for class in 0..classes {
            let of = &self.classes[class];
            let waits: f64 = of.waits.iter().map(|link| self.links[*link].wait(y[classes + *link])).sum();
            let (rtt, count) = (of.base_rtt + waits, of.flows.at(t));
            (self.flow.rtts[class], self.flow.counts[class]) = (rtt, count);
            let mut rate = match of.sender {
                _ if of.is_stalled => 0.0,
                Sender::Tcp(_, most) => count * (y[class].max(LEAST_WINDOW) / rtt).min(most),
                Sender::Constant(each) => count * each,
            };
            for number in of.hops.clone() {
                rate = self.through(number, rate, (y, past));
            }
        }
    }

    #[inline]
    /// A class comes to a link at `rate`, packets/s of its own; gives what leaves.
    fn through(&mut self, number: usize, rate: f64, state: (&[f64], &History)) -> f64 {
        let hop = &self.hops[number];
        let (link, to) = (&self.links[hop.link], &mut self.flow.links[hop.link]);
        let (admitted, marked) = if hop.ecn { (rate, link.p * rate) } else { (rate - link.p * rate, 0.0) };
        let before = if hop.is_first { AtLink::default() } else { *to };
        to.offered = before.offered + hop.size * rate;
        to.admitted = before.admitted + hop.size * admitted;
        to.marked = before.marked + hop.size * marked;
        let leaving = match (link.mode, hop.sum) {
            (Mode::Empty, _) => admitted,
            (_, None) => link.capacity() * hop.per_size,
            (_, Some(sum)) => self.share_leaving(number, sum, state),
        };
        self.flow.hops[number] = AtHop { offered: rate, admitted, leaving };
        leaving
    }

    /// The packets/s of a class that leave a queue: in the share in which it came with those that now leave.
    fn share_leaving(&mut self, number: usize, sum: usize, (y, past): (&[f64], &History)) -> f64 {
        let at = self.hops[number].link;
        let together = |values: &dyn Fn(usize) -> f64| -> f64 {
            let hops = self.hops.iter().filter(|hop| hop.link == at);
            hops.filter_map(|hop| hop.sum.map(|sum| hop.size * values(sum))).sum()
        };
        let left = together(&|place| y[place]) - y[self.classes.len() + at];
        let is_past = |step: &crate::dde::Step<'_>| together(&|place| step.ends(place)[0]) > left;
        let Some(came) = past.find_where(self.links[at].leaving, is_past) else {
            return self.present_share(number);
        };
        let step = past.step(came);
        let grown = |place: usize| {
            let [begin, end] = step.ends(place);
            end - begin
        };
        let (total, size) = (together(&grown), self.hops[number].size);
        let share = if total > 0.0 { size * grown(sum) / total } else { 0.0 };
        let link = &mut self.links[at];
        link.leaving = came;
        share * link.capacity() * self.hops[number].per_size
    }

    /// The same where nothing is known of earlier times.
    fn present_share(&self, number: usize) -> f64 {
        let hop = &self.hops[number];
        let (capacity, together) = (self.links[hop.link].capacity(), self.flow.links[hop.link].admitted);
        let share = if together > 0.0 { (capacity / together).min(1.0) } else { 0.0 };
        self.flow.hops[number].admitted * share
    }
}
