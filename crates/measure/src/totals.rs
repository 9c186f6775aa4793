//! Sums over time, in fractions of packets.

use std::iter::Sum;
use std::ops::Sub;

/// Sums over time at a link, packets of the link's mean size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Seconds.
    pub time: f64,
    /// Integral of the backlog, packets s.
    pub backlog: f64,
    /// Integral of the squared backlog, packets^2 s.
    pub backlog_squared: f64,
    /// Packets that arrived at the queue.
    pub offered: f64,
    /// Packets dropped by the law.
    pub dropped: f64,
    /// Packets marked.
    pub marked: f64,
    /// Packets dropped because the buffer was full.
    pub overflowed: f64,
    /// Packets handed to the link.
    pub delivered: f64,
    /// Packets that the link could have sent.
    pub capacity: f64,
    /// Sum of the sojourn times of admitted packets, packets s.
    pub sojourn: f64,
    /// Seconds with a backlog.
    pub busy: f64,
}

/// Packets at a queue over a stretch of time: all of them, or those of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packets {
    /// Packets that arrived at the queue.
    pub offered: f64,
    /// Packets dropped, by the law or by overflow.
    pub lost: f64,
    /// Packets dropped because the buffer was full.
    pub overflowed: f64,
    /// ACKs removed by a filter.
    pub filtered: f64,
    /// Packets marked by the law.
    pub marked: f64,
    /// Packets handed to the link.
    pub delivered: f64,
}

/// Data that reached the receivers of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Received {
    /// Packets of the class.
    pub delivered: f64,
    /// Integral of the number of flows, flows s.
    pub flows: f64,
}

impl Totals {
    /// Packets dropped, whatever the cause.
    pub fn lost(&self) -> f64 {
        self.dropped + self.overflowed
    }

    /// Adds the sums of a later stretch.
    pub fn add(&mut self, more: &Totals) {
        self.time += more.time;
        self.backlog += more.backlog;
        self.backlog_squared += more.backlog_squared;
        self.offered += more.offered;
        self.dropped += more.dropped;
        self.marked += more.marked;
        self.overflowed += more.overflowed;
        self.delivered += more.delivered;
        self.capacity += more.capacity;
        self.sojourn += more.sojourn;
        self.busy += more.busy;
    }

    /// This part of all sums but those of time, as of one of several equal queues.
    pub fn part(&self, part: f64) -> Totals {
        Totals {
            time: self.time,
            backlog: part * self.backlog,
            backlog_squared: part * part * self.backlog_squared,
            offered: part * self.offered,
            dropped: part * self.dropped,
            marked: part * self.marked,
            overflowed: part * self.overflowed,
            delivered: part * self.delivered,
            capacity: part * self.capacity,
            sojourn: part * self.sojourn,
            busy: self.busy,
        }
    }

    /// The packets among the sums.
    pub fn packets(&self) -> Packets {
        let Totals { offered, overflowed, marked, delivered, .. } = *self;
        Packets { offered, lost: self.lost(), overflowed, filtered: 0.0, marked, delivered }
    }

    /// Mean sojourn time of admitted packets, s.
    pub fn mean_sojourn(&self) -> Option<f64> {
        finite_ratio(self.sojourn, self.offered - self.lost())
    }
}

impl Sub for Totals {
    type Output = Totals;

    /// Sums since `before`.
    fn sub(self, before: Totals) -> Totals {
        Totals {
            time: self.time - before.time,
            backlog: self.backlog - before.backlog,
            backlog_squared: self.backlog_squared - before.backlog_squared,
            offered: self.offered - before.offered,
            dropped: self.dropped - before.dropped,
            marked: self.marked - before.marked,
            overflowed: self.overflowed - before.overflowed,
            delivered: self.delivered - before.delivered,
            capacity: self.capacity - before.capacity,
            sojourn: self.sojourn - before.sojourn,
            busy: self.busy - before.busy,
        }
    }
}

impl Sub for Packets {
    type Output = Packets;

    /// Packets since `before`.
    fn sub(self, before: Packets) -> Packets {
        Packets {
            offered: self.offered - before.offered,
            lost: self.lost - before.lost,
            overflowed: self.overflowed - before.overflowed,
            filtered: self.filtered - before.filtered,
            marked: self.marked - before.marked,
            delivered: self.delivered - before.delivered,
        }
    }
}

impl Sum for Packets {
    fn sum<I: Iterator<Item = Packets>>(each: I) -> Packets {
        each.fold(Packets::default(), |all, of| Packets {
            offered: all.offered + of.offered,
            lost: all.lost + of.lost,
            overflowed: all.overflowed + of.overflowed,
            filtered: all.filtered + of.filtered,
            marked: all.marked + of.marked,
            delivered: all.delivered + of.delivered,
        })
    }
}

impl Sub for Received {
    type Output = Received;

    /// Totals since `before`.
    fn sub(self, before: Received) -> Received {
        Received { delivered: self.delivered - before.delivered, flows: self.flows - before.flows }
    }
}

/// `part / whole`; None where that is no finite number.
pub fn finite_ratio(part: f64, whole: f64) -> Option<f64> {
    let ratio = part / whole;
    ratio.is_finite().then_some(ratio)
}
