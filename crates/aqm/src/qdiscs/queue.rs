//! One queue under its law, without the packets: verdicts, backlog, and the counts that an update needs.

use crate::law::{Arrival, Backlog, Departure, Law, Observation, Verdict};
use crate::link_context::LinkContext;
use crate::qdisc::Counts;
use sojourn_units::{Prob, Span, Time};

/// A queue under the law `L`; the qdisc holds its packets.
#[derive(Clone)]
pub(super) struct Queue<L> {
    pub(super) law: L,
    backlog: Backlog,
    counts: Counts,
    since_update: SinceUpdate,
}

/// Counts since the law's last update.
#[derive(Clone, Copy, Debug, Default)]
struct SinceUpdate {
    start: Time,
    counts: Counts,
    arrived_bytes: u64,
    departed_bytes: u64,
    busy: Span,
    /// Start of the part of the present busy period that `busy` does not include.
    backlog_since: Time,
}

impl<L: Law> Queue<L> {
    /// An empty queue.
    pub(super) fn new(law: L) -> Queue<L> {
        Queue {
            law,
            backlog: Backlog::default(),
            counts: Counts::default(),
            since_update: SinceUpdate::default(),
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    pub(super) fn is_empty(&self) -> bool {
        self.backlog.packets == 0
    }

    /// The law's verdict on an arrival.
    pub(super) fn judge_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.counts.offered += 1;
        self.since_update.arrived_bytes += u64::from(arrival.len);
        self.law.on_arrival(arrival)
    }

    /// The law's verdict on a packet that has left the queue for the link.
    pub(super) fn judge_departure(&mut self, departure: &Departure) -> Verdict {
        self.law.on_departure(departure)
    }

    /// A packet of `len` bytes is appended.
    pub(super) fn add(&mut self, now: Time, len: u32) {
        if self.is_empty() {
            self.since_update.backlog_since = now;
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(len);
    }

    /// A packet of `len` bytes has left the queue, for the link or dropped.
    pub(super) fn remove(&mut self, now: Time, len: u32) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(len);
        if self.is_empty() {
            self.since_update.busy += now.since(self.since_update.backlog_since);
        }
    }

    pub(super) fn count_mark(&mut self) {
        self.counts.marked += 1;
    }

    pub(super) fn count_drop(&mut self) {
        self.counts.dropped_by_law += 1;
    }

    pub(super) fn count_delivery(&mut self, len: u32) {
        self.counts.delivered += 1;
        self.since_update.departed_bytes += u64::from(len);
    }

    /// A packet was dropped as one did not fit.
    pub(super) fn overflow(&mut self, now: Time) {
        self.counts.overflowed += 1;
        self.law.on_overflow(now);
    }

    /// The law's update; `head` is the arrival time of the packet at the head.
    pub(super) fn update(&mut self, due: Time, now: Time, head: Option<Time>, context: &LinkContext) {
        let observed = self.observe(now, head, context);
        self.law.on_update(due, &observed);
        self.since_update =
            SinceUpdate { start: now, counts: self.counts, backlog_since: now, ..SinceUpdate::default() };
    }

    fn observe(&mut self, now: Time, head: Option<Time>, context: &LinkContext) -> Observation {
        if !self.is_empty() {
            self.since_update.busy += now.since(self.since_update.backlog_since);
            self.since_update.backlog_since = now;
        }
        let (before, counts) = (self.since_update.counts, self.counts);
        let arrived = (counts.offered - before.offered) as f64;
        let marked = (counts.marked - before.marked) as f64;
        let dropped_by_law = (counts.dropped_by_law - before.dropped_by_law) as f64;
        Observation {
            now,
            elapsed: now.since(self.since_update.start).seconds(),
            backlog_packets: f64::from(self.backlog.packets),
            backlog_bytes: self.backlog.bytes as f64,
            head_sojourn: head.map_or(0.0, |since| now.since(since).seconds()),
            arrived_packets: arrived,
            arrived_bytes: self.since_update.arrived_bytes as f64,
            departed_packets: (counts.delivered - before.delivered) as f64,
            departed_bytes: self.since_update.departed_bytes as f64,
            dropped_packets: (counts.dropped() - before.dropped()) as f64,
            marked_packets: marked,
            busy: self.since_update.busy.seconds(),
            capacity: Some(context.rate),
            base_rtt: context.base_rtt,
            mean_packet: context.packet,
            limit: context.limit,
            applied: Prob::clamped(if arrived > 0.0 { (marked + dropped_by_law) / arrived } else { 0.0 }),
        }
    }
}
