//! A link with its queue in the fluid model.

use super::rates::LinkRates;
use super::shares::Part;
use super::signals::Signals;
use crate::dde::{Stage, Staged};
use sojourn_measure::Totals;

/// A link with its queue.
#[derive(Clone, Debug)]
pub struct Link {
    /// Mean packet, bytes: the unit of the queue.
    pub packet: f64,
    /// B, packets; infinite where there is no limit.
    pub buffer: f64,
    /// C from each of these times on, packets/s.
    rates: Vec<(f64, f64)>,
    /// C now, and 1 / C; both 0 while the rate is 0.
    pub(super) capacity: f64,
    pub(super) inverse: f64,
    /// Least C above 0, so far or to come.
    least: f64,
    /// p in force.
    pub(super) p: f64,
    /// True if the law marks packets that can be marked.
    pub(super) marks: bool,
    /// True if changes of p are no events: p changes in every step, or very many classes respond to it.
    pub(super) smooth: bool,
    /// True if packets are signalled at departure, not on arrival; implies `smooth`.
    pub(super) at_departure: bool,
    pub(super) mode: Mode,
    /// Time at which the queue last reached a limit by itself.
    pub(super) turned: f64,
    pub(super) signals: Signals,
    pub(super) totals: Totals,
    /// Arrivals summed so far at the present stage, packets/s.
    pub(super) arriving: f64,
    /// Rates at each stage of the present step.
    pub(super) at: Staged<LinkRates>,
    /// Classes that share it, if there are several.
    pub(super) parts: Vec<Part>,
    /// Step in which the fluid leaving now arrived, and its beginning.
    pub(super) leaving: usize,
    pub(super) came: f64,
    /// Arrivals in the present step so far.
    pub(super) arrivals: StepArrivals,
    /// Index of its backlog among the values.
    pub(super) place: usize,
    /// Growth of its backlog while a full buffer is that of several queues, packets/s.
    pub(super) climb: f64,
    /// Of one of several queues: the number of their link, and the index of its cumulative service among the values.
    pub(super) shared: Option<(usize, usize)>,
}

/// Arrivals of a step at a link, packets of its mean size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepArrivals {
    pub(super) admitted: f64,
    pub(super) dropped: f64,
    pub(super) marked: f64,
}

/// State of the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Empty,
    Busy,
    Full,
}

impl Link {
    /// An empty queue in front of a link of `capacity` packets/s.
    pub fn new(capacity: f64, buffer: f64, packet: f64) -> Link {
        let mut link = Link {
            packet,
            buffer,
            rates: Vec::new(),
            capacity,
            inverse: 0.0,
            least: f64::INFINITY,
            p: 0.0,
            marks: true,
            smooth: false,
            at_departure: false,
            mode: Mode::Empty,
            turned: f64::NEG_INFINITY,
            signals: Signals::new(),
            totals: Totals::default(),
            arriving: 0.0,
            at: Staged::default(),
            parts: Vec::new(),
            leaving: 0,
            came: f64::NEG_INFINITY,
            arrivals: StepArrivals::default(),
            place: 0,
            climb: 0.0,
            shared: None,
        };
        link.set_capacity(f64::NEG_INFINITY, capacity);
        link
    }

    /// C at the start, packets/s.
    pub fn nominal(&self) -> f64 {
        self.rates[0].1
    }

    /// C, packets/s.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// p in force.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// True if the law marks packets that can be marked.
    pub fn marks(&self) -> bool {
        self.marks
    }

    /// Totals since the start.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    pub(super) fn set_capacity(&mut self, now: f64, capacity: f64) {
        self.rates.push((now, capacity));
        self.capacity = capacity;
        self.inverse = inverse(capacity);
        self.expect_capacity(capacity);
    }

    /// C will be this one at some time.
    pub(super) fn expect_capacity(&mut self, capacity: f64) {
        if capacity > 0.0 {
            self.least = self.least.min(capacity);
        }
    }

    /// Sets its share of a link, packets/s.
    pub(super) fn set_share(&mut self, rate: f64) {
        (self.capacity, self.inverse) = (rate, inverse(rate));
    }

    /// Packets that it could have sent in the last step.
    pub(super) fn could(&self, seconds: f64) -> f64 {
        match self.shared {
            Some(_) => self.at.over(seconds, |at| at.capacity),
            None => seconds * self.capacity,
        }
    }

    /// Sets the state of the queue. Where the buffer begins or ceases to overflow the losses jump, which takes effect
    /// one round trip later like a change of p.
    pub(super) fn set_mode(&mut self, now: f64, mode: Mode) {
        if (mode == Mode::Full) != (self.mode == Mode::Full) {
            self.signals.hold(now, self.p);
        }
        self.mode = mode;
        if mode != Mode::Full {
            self.climb = 0.0;
        }
    }

    /// True if the shares of classes in its departures are needed.
    pub(super) fn has_shares(&self) -> bool {
        !self.parts.is_empty() && self.mode != Mode::Empty
    }

    /// True if arrivals may change the state of the queue.
    pub(super) fn may_turn(&self, backlog: f64) -> bool {
        self.mode != Mode::Busy || backlog <= 0.0 || backlog >= self.buffer
    }

    /// True if the queue can have neither reached a limit nor left one by the end of a step.
    #[inline]
    pub(super) fn is_quiet(&self, stage: Stage, backlog: f64) -> bool {
        match self.mode {
            Mode::Busy => backlog >= 0.0 && backlog <= self.buffer,
            Mode::Empty => self.at[stage].admitted <= self.capacity,
            Mode::Full => self.at[stage].admitted >= self.capacity + self.climb,
        }
    }

    /// Queueing delay of a backlog, s. Before a link with rate 0 it is 0: windows do not change then.
    #[inline]
    pub(super) fn wait(&self, backlog: f64) -> f64 {
        backlog.max(0.0) * self.inverse
    }

    /// The same at an earlier time.
    pub(super) fn wait_then(&self, then: f64, backlog: f64) -> f64 {
        let rate = self.rates.iter().rev().find(|(since, _)| *since <= then);
        backlog.max(0.0) * inverse(rate.unwrap_or(&self.rates[0]).1)
    }

    /// True if C has never changed.
    pub(super) fn has_one_rate(&self) -> bool {
        self.rates.len() == 1 && self.shared.is_none()
    }

    /// True if steps of p are its only signals until the next event.
    pub(super) fn signals_steps(&self) -> bool {
        !self.smooth && self.mode != Mode::Full && !self.signals.lose_any()
    }

    /// Longest queueing delay so far or to come, s; `backlog` is the present one.
    pub(super) fn longest_wait(&self, backlog: f64) -> f64 {
        // Without a limit the queue may have been at twice what it is.
        let most = if self.buffer.is_finite() { self.buffer } else { 2.0 * backlog };
        most / self.least
    }

    /// Time at which the signal of a packet sent at `then` was given.
    pub(super) fn given_at(&self, then: f64, backlog: f64) -> f64 {
        if self.at_departure { then + self.wait(backlog) } else { then }
    }
}

pub(super) fn inverse(rate: f64) -> f64 {
    if rate > 0.0 { 1.0 / rate } else { 0.0 }
}
