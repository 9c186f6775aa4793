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
}

/// A class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfClass {
    /// R, s.
    pub(super) rtt: f64,
    /// W' where it is not at its floor.
    pub(super) growth: f64,
}

impl Plant {
    /// Computes what flows at `t`, and writes how windows and backlogs grow.
    #[inline]
    pub(super) fn flow(&mut self, t: f64, y: &[f64], past: &History, out: &mut [f64]) {
        if self.mixes {
            self.find_shares(t, y, past);
        }
        let Plant { classes, links, stage, .. } = self;
        let look = Look { stage: *stage, t, y, past };
        for (class, of) in classes.iter_mut().enumerate() {
            let (sent, slope) = of.send(class, links, look);
            out[class] = slope;
            of.pass(sent, links, look.stage);
        }
        for link in links {
            link.fill(look, out);
        }
    }

    /// In which shares classes leave the links that tell them apart.
    #[inline(never)]
    fn find_shares(&mut self, t: f64, y: &[f64], past: &History) {
        let look = Look { stage: self.stage, t, y, past };
        for link in self.links.iter_mut().filter(|link| link.tells_apart()) {
            link.find_shares(&self.classes, look);
        }
    }
}

/// The smaller one of two numbers.
#[inline]
pub(super) fn at_most(most: f64, value: f64) -> f64 {
    if value < most { value } else { most }
}

impl Member {
    /// What it sends, packets/s.
    pub(super) fn sent(&self, class: usize, look: Look<'_>) -> f64 {
        self.flows.at(look.t) * self.each(look.y[class], self.rtt(|wait| look.y[wait.place]))
    }

    /// What each of its flows sends, packets/s.
    #[inline]
    fn each(&self, window: f64, rtt: f64) -> f64 {
        match self.sender {
            Sender::Tcp(..) if self.is_stalled => 0.0,
            Sender::Tcp(_, most) => at_most(most, window.max(LEAST_WINDOW) / rtt),
            Sender::Constant(each) => each,
        }
    }

    /// What it sends, packets/s, and the slope of its window.
    #[inline]
    fn send(&mut self, class: usize, links: &[Link], look: Look<'_>) -> (f64, f64) {
        let rtt = self.rtt(|wait| look.y[wait.place]);
        let each = self.each(look.y[class], rtt);
        let growth = match self.sender {
            Sender::Tcp(law, most) if !self.is_stalled => self.growth((class, law, most), links, look, rtt),
            _ => 0.0,
        };
        let sent = self.flows.at(look.t) * each;
        self.at[look.stage] = OfClass { rtt, growth };
        (sent, if self.is_floored { 0.0 } else { growth })
    }

    /// What of it comes to its links, one after the other.
    #[inline]
    fn pass(&mut self, sent: f64, links: &mut [Link], stage: Stage) {
        let mut rate = sent;
        for hop in &mut self.hops {
            let link = &mut links[hop.link];
            let admitted = if hop.ecn && link.marks { rate } else { rate - link.p * rate };
            link.coming += hop.size * admitted;
            hop.at[stage] = AtHop { offered: rate, admitted };
            let queues = link.mode != Mode::Empty;
            rate = if queues { link.capacity * hop.per_size } else { admitted };
            if let Some(part) = hop.part {
                rate = link.parts[part].pass(admitted, stage, queues.then_some(link.capacity));
            }
        }
    }
}

impl Link {
    /// Writes the slopes of its backlog, and of what entered it.
    #[inline]
    fn fill(&mut self, look: Look<'_>, out: &mut [f64]) {
        let (admitted, capacity) = (std::mem::take(&mut self.coming), self.capacity);
        self.at[look.stage] = AtLink { admitted, backlog: look.y[self.place] };
        out[self.place] = if self.mode == Mode::Busy { admitted - capacity } else { 0.0 };
        for part in &mut self.parts {
            let enters = &mut part.enters[look.stage];
            if self.mode == Mode::Full {
                *enters *= capacity / admitted;
            }
            out[part.place] = *enters;
        }
    }
}
