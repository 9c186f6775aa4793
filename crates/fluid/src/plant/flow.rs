//! Who sends how much at a time, what the links let in, and what leaves them.

use super::link::Mode;
use super::{LEAST_WINDOW, Link, Plant, Sender};
use crate::dde::History;

/// What flows at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub(super) links: Vec<AtLink>,
    pub(super) hops: Vec<AtHop>,
    pub(super) classes: Vec<OfClass>,
}

/// What comes to a link, packets/s of its mean size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtLink {
    /// Not dropped by the law.
    pub(super) admitted: f64,
    /// q, and how long it waits, s.
    pub(super) backlog: f64,
    wait: f64,
}

/// What comes of a class to a link, packets/s of the class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtHop {
    pub(super) offered: f64,
    pub(super) admitted: f64,
    pub(super) leaving: f64,
}

/// A class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfClass {
    /// R, s.
    pub(super) rtt: f64,
    /// How many flows.
    pub(super) count: f64,
    /// W' where it is not at its floor.
    pub(super) growth: f64,
}

impl Flow {
    pub(super) fn new(classes: usize, links: usize, hops: usize) -> Flow {
        Flow {
            links: vec![AtLink::default(); links],
            hops: vec![AtHop::default(); hops],
            classes: vec![OfClass::default(); classes],
        }
    }
}

impl Plant {
    /// Computes what flows at `t`, and how windows grow.
    pub(super) fn flow_at(&mut self, t: f64, y: &[f64], past: &History) {
        let Plant { classes, links, hops, flows, stage, .. } = self;
        let flow = &mut flows[*stage];
        for (number, link) in links.iter_mut().enumerate() {
            let backlog = y[link.place];
            flow.links[number] = AtLink { admitted: 0.0, backlog, wait: link.wait(backlog) };
            if !link.mixed.is_empty() && link.mode != Mode::Empty {
                link.find_leaving(y, past);
            }
        }
        for (class, of) in classes.iter_mut().enumerate() {
            let mut rtt = of.base_rtt;
            for link in &of.waits {
                rtt += flow.links[*link].wait;
            }
            let now = OfClass { rtt, count: of.flows.at(t), growth: 0.0 };
            let (mut rate, growth) = match of.sender {
                Sender::Tcp(..) if of.is_stalled => (0.0, 0.0),
                Sender::Tcp(law, most) => {
                    let growth = of.growth((class, law, most), (links, hops), (t, y, past), now);
                    (now.count * (y[class].max(LEAST_WINDOW) / rtt).min(most), growth)
                }
                Sender::Constant(each) => (now.count * each, 0.0),
            };
            flow.classes[class] = OfClass { growth, ..now };
            for number in of.hops() {
                let hop = &hops[number];
                let (link, to) = (&links[hop.link], &mut flow.links[hop.link]);
                let admitted = if hop.ecn && link.marks { rate } else { rate - link.p * rate };
                to.admitted += hop.size * admitted;
                let leaving = match (link.mode, hop.sum) {
                    (Mode::Empty, _) => admitted,
                    (_, None) => link.capacity() * hop.per_size,
                    (_, Some(sum)) => match link.share_leaving(sum, past) {
                        Some(share) => share * link.capacity(),
                        None => (link.capacity() / to.admitted).min(1.0) * admitted,
                    },
                };
                flow.hops[number] = AtHop { offered: rate, admitted, leaving };
                rate = leaving;
            }
        }
    }
}

impl Link {
    /// Finds the step in which the fluid came that now leaves the queue.
    #[inline(never)]
    fn find_leaving(&mut self, y: &[f64], past: &History) {
        // All that has come less what is still there has left.
        let left = self.together(|place| y[place]) - y[self.place];
        let came = past.find_where(self.leaving, |step| self.together(|place| step.begin(place)) > left);
        (self.leaving, self.came) = match came {
            Some(came) => {
                let step = past.step(came);
                (came, Some(self.together(|place| step.grown(place))))
            }
            None => (self.leaving, None),
        };
    }

    /// A value of each class that the link tells apart, summed by size.
    fn together(&self, value: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for (size, place) in &self.mixed {
            sum += size * value(*place);
        }
        sum
    }

    /// The packets of a class in a packet that leaves the queue: its share when those came that now leave. None where
    /// nothing is known of that time.
    #[inline(never)]
    fn share_leaving(&self, sum: usize, past: &History) -> Option<f64> {
        let total = self.came?;
        Some(if total > 0.0 { past.step(self.leaving).grown(sum) / total } else { 0.0 })
    }
}
