//! Rates of senders, of admission at links, and of departures.

use super::link::Mode;
use super::rates::{ClassRates, Evaluation, HopRates, LinkRates};
use super::{ClassState, LEAST_WINDOW, Link, Plant, Sender};
use crate::dde::{History, Stage};

impl Plant {
    /// Evaluates the rates at `t`, and writes the slopes of windows and backlogs.
    #[inline]
    pub(super) fn flow(&mut self, t: f64, y: &[f64], past: &History, out: &mut [f64]) {
        if self.mixes {
            self.find_shares(t, y, past);
        }
        if !self.shared.is_empty() {
            self.find_rates(t, y, past);
        }
        let Plant { classes, links, stage, .. } = self;
        let at = Evaluation { stage: *stage, t, y, past };
        for (class, of) in classes.iter_mut().enumerate() {
            let (sent, slope) = of.send(class, links, at);
            out[class] = slope;
            if let Some(memory) = &of.memory {
                out[memory.place] = if of.is_stalled { 0.0 } else { memory.slope };
            }
            if let Some(sum) = &of.signal_sum {
                out[sum.place] = if of.is_stalled { 0.0 } else { sum.slope };
            }
            of.pass(sent, links, at.stage);
        }
        for link in &mut *links {
            link.fill(at, out);
        }
        for link in &mut self.shared {
            link.sum_up(&self.links, y, self.stage);
        }
    }

    /// Finds the rates of queues that share a link. That of a queue depends on the arrivals at the empty ones, which may
    /// come from another such link: each pass settles one more of them.
    #[inline(never)]
    fn find_rates(&mut self, t: f64, y: &[f64], past: &History) {
        let Plant { classes, links, shared, stage, .. } = self;
        let at = Evaluation { stage: *stage, t, y, past };
        for _ in 0..=shared.len() {
            for link in &mut *links {
                link.arriving = 0.0;
            }
            for (class, of) in classes.iter_mut().enumerate() {
                let sent = if of.is_clocked { of.send(class, links, at).0 } else { of.sent(class, at) };
                of.pass(sent, links, *stage);
            }
            for link in &mut *shared {
                link.serve(links, classes, t);
            }
            for wait in classes.iter_mut().flat_map(|of| &mut of.waits) {
                wait.inverse = links[wait.link].inverse;
            }
        }
        for link in &mut *links {
            link.arriving = 0.0;
        }
    }

    /// Finds the shares of classes in the departures of shared links.
    #[inline(never)]
    fn find_shares(&mut self, t: f64, y: &[f64], past: &History) {
        let at = Evaluation { stage: self.stage, t, y, past };
        for link in self.links.iter_mut().filter(|link| link.has_shares()) {
            link.find_shares(&self.classes, at);
        }
    }
}

/// The smaller one of two numbers.
#[inline]
pub(super) fn at_most(most: f64, value: f64) -> f64 {
    if value < most { value } else { most }
}

impl ClassState {
    /// Rate of the class, packets/s.
    pub(super) fn sent(&self, class: usize, at: Evaluation<'_>) -> f64 {
        self.flows.at(at.t) * self.each(at.y[class], self.rtt(|wait| at.y[wait.place]))
    }

    /// Rate of each of its flows, packets/s.
    #[inline]
    fn each(&self, window: f64, rtt: f64) -> f64 {
        match self.sender {
            Sender::Tcp(..) if self.is_stalled => 0.0,
            Sender::Tcp(_, most) => at_most(most, window.max(LEAST_WINDOW) / rtt),
            Sender::Constant(each) => each,
        }
    }

    /// Rate of the class, packets/s, and the slope of its window.
    #[inline]
    fn send(&mut self, class: usize, links: &[Link], at: Evaluation<'_>) -> (f64, f64) {
        let rtt = self.rtt(|wait| at.y[wait.place]);
        let mut each = self.each(at.y[class], rtt);
        let mut growth = 0.0;
        if let (Sender::Tcp(law, most), false) = (self.sender, self.is_stalled) {
            growth = self.growth((class, law, most), links, at, rtt);
            if self.is_clocked && !self.is_floored {
                each = at_most(most, (each + growth).max(0.0));
            }
            if self.flows.growth > 0.0 {
                growth -= self.dilution(at.y[class].max(LEAST_WINDOW), at.t);
            }
        }
        let sent = self.flows.at(at.t) * each;
        self.at[at.stage] = ClassRates { rtt, growth };
        (sent, if self.is_floored { 0.0 } else { growth })
    }

    /// Adds the class to the arrivals of its links, one after the other.
    #[inline]
    fn pass(&mut self, sent: f64, links: &mut [Link], stage: Stage) {
        let mut rate = sent;
        for hop in self.hops.iter_mut().chain(&mut self.ack_hops) {
            let link = &mut links[hop.link];
            let admitted = if hop.ecn && link.marks { rate } else { rate - link.p * rate };
            link.arriving += hop.size * admitted;
            hop.at[stage] = HopRates { offered: rate, admitted };
            let queues = link.mode != Mode::Empty;
            rate = if queues { link.capacity * hop.per_size } else { admitted };
            if let Some(part) = hop.part {
                rate = link.parts[part].pass(admitted, stage, queues.then_some(link.capacity));
            }
        }
    }
}

impl Link {
    /// Writes the slopes of its backlog, and of the cumulative arrivals of its classes.
    #[inline]
    fn fill(&mut self, at: Evaluation<'_>, out: &mut [f64]) {
        let (admitted, capacity) = (std::mem::take(&mut self.arriving), self.capacity);
        let (inverse, climb, backlog) = (self.inverse, self.climb, at.y[self.place]);
        self.at[at.stage] = LinkRates { admitted, backlog, capacity, inverse, climb };
        out[self.place] = match self.mode {
            Mode::Empty => 0.0,
            Mode::Busy => admitted - capacity,
            Mode::Full => climb,
        };
        if let Some((_, served)) = self.shared {
            out[served] = capacity;
        }
        for part in &mut self.parts {
            let enters = &mut part.enters[at.stage];
            if self.mode == Mode::Full {
                *enters *= (capacity + climb) / admitted;
            }
            out[part.place] = *enters;
        }
    }
}
