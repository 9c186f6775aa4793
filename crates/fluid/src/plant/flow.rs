//! Who sends how much at a time, what the links let in, and what leaves them.

use super::link::Mode;
use super::{Hop, LEAST_WINDOW, Link, Plant, Sender};
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
        let Plant { classes, links, hops, flow, .. } = self;
        let backlogs = &y[classes.len()..classes.len() + links.len()];
        for (class, of) in classes.iter().enumerate() {
            let (rtt, count) = (of.rtt(links, backlogs), of.flows.at(t));
            (flow.rtts[class], flow.counts[class]) = (rtt, count);
            let mut rate = match of.sender {
                Sender::Tcp(..) if of.is_stalled => 0.0,
                Sender::Tcp(_, most) => count * (y[class].max(LEAST_WINDOW) / rtt).min(most),
                Sender::Constant(each) => count * each,
            };
            let range = of.hops.clone();
            for (hop, at) in hops[range.clone()].iter().zip(&mut flow.hops[range]) {
                let link = &mut links[hop.link];
                let to = &mut flow.links[hop.link];
                let (admitted, marked) =
                    if hop.ecn { (rate, link.p * rate) } else { (rate - link.p * rate, 0.0) };
                let before = if hop.is_first { AtLink::default() } else { *to };
                to.offered = before.offered + hop.size * rate;
                to.admitted = before.admitted + hop.size * admitted;
                to.marked = before.marked + hop.size * marked;
                let leaving = match (link.mode, hop.sum) {
                    (Mode::Empty, _) => admitted,
                    (_, None) => link.capacity() * hop.per_size,
                    (_, Some(sum)) => {
                        let share = share_leaving(hops, (hop.link, sum), link, (y, past));
                        let present = || (link.capacity() / to.admitted).min(1.0) * admitted;
                        share.map_or_else(present, |share| share * link.capacity())
                    }
                };
                *at = AtHop { offered: rate, admitted, leaving };
                rate = leaving;
            }
        }
    }
}

/// The packets of a class in a packet that leaves a queue: its share when those came that now leave. None where nothing
/// is known of that time.
#[inline(never)]
fn share_leaving(
    hops: &[Hop],
    (at, sum): (usize, usize),
    link: &mut Link,
    (y, past): (&[f64], &History),
) -> Option<f64> {
    let sums = || hops.iter().filter(|hop| hop.link == at).filter_map(|hop| Some((hop.size, hop.sum?)));
    let together =
        |values: &dyn Fn(usize) -> f64| -> f64 { sums().map(|(size, sum)| size * values(sum)).sum() };
    // All that has come less what is still there has left.
    let left = together(&|place| y[place]) - y[link.place];
    let came = past.find_where(link.leaving, |step| together(&|place| step.ends(place)[0]) > left)?;
    link.leaving = came;
    let step = past.step(came);
    let grown = |place: usize| {
        let [begin, end] = step.ends(place);
        end - begin
    };
    let total = together(&grown);
    Some(if total > 0.0 { grown(sum) / total } else { 0.0 })
}
