//! Who sends how much at a time, what the links let in, and what leaves them.

use super::link::Mode;
use super::{LEAST_WINDOW, Link, Member, Plant, Sender};
use crate::dde::{History, Stage};

/// When and where it is asked what flows.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) stage: Stage,
    pub(super) t: f64,
    pub(super) y: &'a [f64],
    pub(super) past: &'a History,
}

/// What comes to a link, packets/s of its mean size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtLink {
    /// Not dropped by the law.
    pub(super) admitted: f64,
    /// q.
    pub(super) backlog: f64,
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
    /// What they send, packets/s.
    pub(super) sent: f64,
    /// W' where it is not at its floor.
    pub(super) growth: f64,
}

impl Plant {
    /// Computes what flows, and how windows grow.
    #[inline]
    pub(super) fn flow_at(&mut self, t: f64, y: &[f64], past: &History) {
        let look = Look { stage: self.stage, t, y, past };
        let Plant { classes, links, mixes, .. } = self;
        for link in links.iter_mut() {
            link.at[look.stage] = AtLink { admitted: 0.0, backlog: look.y[link.place] };
        }
        for (class, of) in classes.iter_mut().enumerate() {
            of.send(class, links, look);
            if !*mixes {
                of.pass(links, look.stage);
            }
        }
        if *mixes {
            pass_together(classes, links, look);
        }
    }
}

/// What of each class comes to its links, where they leave some of them in shares.
#[inline(never)]
fn pass_together(classes: &mut [Member], links: &mut [Link], look: Look<'_>) {
    for link in links.iter_mut().filter(|link| link.tells_apart()) {
        link.find_shares(classes, look);
    }
    for of in classes {
        of.pass(links, look.stage);
    }
}

/// The smaller one of two numbers.
#[inline]
pub(super) fn at_most(most: f64, value: f64) -> f64 {
    if value < most { value } else { most }
}

impl Member {
    /// What it sends.
    #[inline]
    fn send(&mut self, class: usize, links: &[Link], look: Look<'_>) {
        let rtt = self.rtt(|wait| look.y[wait.place]);
        let count = self.flows.at(look.t);
        let (each, growth) = match self.sender {
            Sender::Tcp(..) if self.is_stalled => (0.0, 0.0),
            Sender::Tcp(law, most) => {
                let window = look.y[class].max(LEAST_WINDOW);
                (at_most(most, window / rtt), self.growth((class, law, most), links, look, [rtt, count]))
            }
            Sender::Constant(each) => (each, 0.0),
        };
        self.at[look.stage] = OfClass { rtt, count, sent: count * each, growth };
    }

    /// What of it comes to its links, one after the other.
    #[inline]
    fn pass(&mut self, links: &mut [Link], stage: Stage) {
        let mut rate = self.at[stage].sent;
        for hop in &mut self.hops {
            let link = &mut links[hop.link];
            let admitted = if hop.ecn && link.marks { rate } else { rate - link.p * rate };
            link.at[stage].admitted += hop.size * admitted;
            let mut share = hop.per_size;
            if let Some(part) = hop.part {
                let part = &mut link.parts[part];
                (part.enters[stage], share) = (admitted, part.leaves);
            }
            let leaving = if link.mode == Mode::Empty { admitted } else { link.capacity() * share };
            hop.at[stage] = AtHop { offered: rate, admitted, leaving };
            rate = leaving;
        }
    }
}
