//! A link with its queue, as the fluid meets it.

use super::flow::AtLink;
use super::shares::Part;
use super::signals::Signals;
use super::tally::Tally;
use crate::dde::{Stage, Staged};

/// A link with its queue.
#[derive(Clone, Debug)]
pub struct Link {
    /// Bytes of a mean packet: what the queue is counted in.
    pub packet: f64,
    /// B, packets; infinite where there is no limit.
    pub buffer: f64,
    /// C from each of these times on, packets/s.
    rates: Vec<(f64, f64)>,
    /// C now, and 1 / C; both 0 while it stands still.
    pub(super) capacity: f64,
    pub(super) inverse: f64,
    /// p in force.
    pub(super) p: f64,
    /// Whether the law marks what can be marked.
    pub(super) marks: bool,
    /// Whether no events are made of the changes of p: it moves in every step, or very many classes feel it.
    pub(super) smooth: bool,
    /// Whether packets are signalled as they leave, not as they come; then it is smooth.
    pub(super) at_departure: bool,
    pub(super) mode: Mode,
    /// When the queue last came to a limit by itself.
    pub(super) turned: f64,
    pub(super) signals: Signals,
    pub(super) tally: Tally,
    /// What has come so far of the classes at the stage that is asked for, packets/s.
    pub(super) coming: f64,
    /// What flows at each stage of the present step.
    pub(super) at: Staged<AtLink>,
    /// The classes that it tells apart, where several cross it.
    pub(super) parts: Vec<Part>,
    /// The step in which the fluid came that leaves now, and when that began.
    pub(super) leaving: usize,
    pub(super) came: f64,
    /// What the present step has brought so far.
    pub(super) brought: Brought,
    /// Where its backlog stands among the values.
    pub(super) place: usize,
}

/// What a step brings to a link, packets of its mean size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Brought {
    pub(super) admitted: f64,
    pub(super) dropped: f64,
    pub(super) marked: f64,
}

/// What the queue is doing.
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
            p: 0.0,
            marks: true,
            smooth: false,
            at_departure: false,
            mode: Mode::Empty,
            turned: f64::NEG_INFINITY,
            signals: Signals::new(),
            tally: Tally::default(),
            coming: 0.0,
            at: Staged::default(),
            parts: Vec::new(),
            leaving: 0,
            came: f64::NEG_INFINITY,
            brought: Brought::default(),
            place: 0,
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

    /// Whether the law marks what can be marked.
    pub fn marks(&self) -> bool {
        self.marks
    }

    /// What has gone through since the start.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    pub(super) fn set_capacity(&mut self, now: f64, capacity: f64) {
        self.rates.push((now, capacity));
        self.capacity = capacity;
        self.inverse = inverse(capacity);
    }

    /// What the queue does from now on. Where the buffer begins or ceases to overflow the losses jump, which is felt a
    /// round trip later like a change of p.
    pub(super) fn set_mode(&mut self, now: f64, mode: Mode) {
        if (mode == Mode::Full) != (self.mode == Mode::Full) {
            self.signals.hold(now, self.p);
        }
        self.mode = mode;
    }

    /// Whether it has to be known in which shares the classes leave its queue.
    pub(super) fn tells_apart(&self) -> bool {
        !self.parts.is_empty() && self.mode != Mode::Empty
    }

    /// Whether what comes may begin or end what the queue does.
    pub(super) fn may_turn(&self, backlog: f64) -> bool {
        self.mode != Mode::Busy || backlog <= 0.0 || backlog >= self.buffer
    }

    /// Whether the queue can have neither come to a limit nor left one by a step's end.
    #[inline]
    pub(super) fn is_quiet(&self, stage: Stage, backlog: f64) -> bool {
        match self.mode {
            Mode::Busy => backlog >= 0.0 && backlog <= self.buffer,
            Mode::Empty => self.at[stage].admitted <= self.capacity,
            Mode::Full => self.at[stage].admitted >= self.capacity,
        }
    }

    /// How long a backlog waits, s. Before a link that stands still it is not counted: windows stand still then.
    #[inline]
    pub(super) fn wait(&self, backlog: f64) -> f64 {
        backlog.max(0.0) * self.inverse
    }

    /// The same at an earlier time.
    pub(super) fn wait_then(&self, then: f64, backlog: f64) -> f64 {
        let rate = self.rates.iter().rev().find(|(since, _)| *since <= then);
        backlog.max(0.0) * inverse(rate.unwrap_or(&self.rates[0]).1)
    }

    /// Whether C has always been the same.
    pub(super) fn has_one_rate(&self) -> bool {
        self.rates.len() == 1
    }

    /// Whether nothing but steps of p is felt of it until the next event.
    pub(super) fn signals_steps(&self) -> bool {
        !self.smooth && self.mode != Mode::Full && !self.signals.lose_any()
    }

    /// The longest that anything has waited or may wait, s; `backlog` is the present one.
    pub(super) fn longest_wait(&self, backlog: f64) -> f64 {
        let rates = self.rates.iter().map(|(_, rate)| *rate).filter(|rate| *rate > 0.0);
        // Without a limit the queue may have been at twice what it is.
        let most = if self.buffer.is_finite() { self.buffer } else { 2.0 * backlog };
        most * inverse(rates.fold(f64::INFINITY, f64::min))
    }

    /// When a signal was given of a packet that was sent at `then`.
    pub(super) fn given_at(&self, then: f64, backlog: f64) -> f64 {
        if self.at_departure { then + self.wait(backlog) } else { then }
    }
}

fn inverse(rate: f64) -> f64 {
    if rate > 0.0 { 1.0 / rate } else { 0.0 }
}
