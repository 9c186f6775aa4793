//! One queue under its law, without the packets: verdicts, backlog, and what an update of the law needs.

use crate::law::{Arrival, Backlog, Departure, Law, Observation, Verdict};
use crate::link_context::LinkContext;
use sojourn_units::{Prob, Span, Time};

/// A queue under the law `L`; the qdisc holds its packets.
#[derive(Clone)]
pub(super) struct Queue<L> {
    pub(super) law: L,
    backlog: Backlog,
    /// What happened since the law's last update; None: the law has none, and thousands of such queues fit in a cache.
    since_update: Option<Box<SinceUpdate>>,
}

/// Counts since the law's last update.
#[derive(Clone, Copy, Debug, Default)]
struct SinceUpdate {
    start: Time,
    arrived: u64,
    arrived_bytes: u64,
    departed: u64,
    departed_bytes: u64,
    marked: u64,
    dropped_by_law: u64,
    overflowed: u64,
    busy: Span,
    /// Start of the part of the present busy period that `busy` does not include.
    backlog_since: Time,
}

impl<L: Law> Queue<L> {
    /// An empty queue.
    pub(super) fn new(law: L) -> Queue<L> {
        let mut queue = Queue { law, backlog: Backlog::default(), since_update: None };
        queue.watch(Time::ZERO);
        queue
    }

    /// Counts from `now` on, if the law has updates and nothing is counted yet.
    pub(super) fn watch(&mut self, now: Time) {
        if self.since_update.is_none() && self.law.next_update().is_some() {
            self.since_update =
                Some(Box::new(SinceUpdate { start: now, backlog_since: now, ..SinceUpdate::default() }));
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    pub(super) fn is_empty(&self) -> bool {
        self.backlog.packets == 0
    }

    /// The law's verdict on an arrival.
    pub(super) fn judge_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Some(since) = &mut self.since_update {
            since.arrived += 1;
            since.arrived_bytes += u64::from(arrival.len);
        }
        self.law.on_arrival(arrival)
    }

    /// The law's verdict on a packet that has left the queue for the link.
    pub(super) fn judge_departure(&mut self, departure: &Departure) -> Verdict {
        self.law.on_departure(departure)
    }

    /// A packet of `len` bytes is appended.
    pub(super) fn add(&mut self, now: Time, len: u32) {
        if let (true, Some(since)) = (self.backlog.packets == 0, &mut self.since_update) {
            since.backlog_since = now;
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(len);
    }

    /// A packet of `len` bytes has left the queue, for the link or dropped.
    pub(super) fn remove(&mut self, now: Time, len: u32) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(len);
        if let (true, Some(since)) = (self.backlog.packets == 0, &mut self.since_update) {
            since.busy += now.since(since.backlog_since);
        }
    }

    pub(super) fn count_mark(&mut self) {
        if let Some(since) = &mut self.since_update {
            since.marked += 1;
        }
    }

    pub(super) fn count_drop(&mut self) {
        if let Some(since) = &mut self.since_update {
            since.dropped_by_law += 1;
        }
    }

    pub(super) fn count_delivery(&mut self, len: u32) {
        if let Some(since) = &mut self.since_update {
            since.departed += 1;
            since.departed_bytes += u64::from(len);
        }
    }

    /// A packet was dropped as one did not fit.
    pub(super) fn overflow(&mut self, now: Time) {
        if let Some(since) = &mut self.since_update {
            since.overflowed += 1;
        }
        self.law.on_overflow(now);
    }

    /// The law's update; `head` is the arrival time of the packet at the head.
    pub(super) fn update(&mut self, due: Time, now: Time, head: Option<Time>, context: &LinkContext) {
        let observed = self.observe(now, head, context);
        self.law.on_update(due, &observed);
        if let Some(since) = &mut self.since_update {
            **since = SinceUpdate { start: now, backlog_since: now, ..SinceUpdate::default() };
        }
    }

    fn observe(&mut self, now: Time, head: Option<Time>, context: &LinkContext) -> Observation {
        let mut since = self.since_update.as_deref().copied().unwrap_or_default();
        if !self.is_empty() {
            since.busy += now.since(since.backlog_since);
        }
        let arrived = since.arrived as f64;
        let (marked, dropped_by_law) = (since.marked as f64, since.dropped_by_law as f64);
        Observation {
            now,
            elapsed: now.since(since.start).seconds(),
            backlog_packets: f64::from(self.backlog.packets),
            backlog_bytes: self.backlog.bytes as f64,
            head_sojourn: head.map_or(0.0, |since| now.since(since).seconds()),
            arrived_packets: arrived,
            arrived_bytes: since.arrived_bytes as f64,
            departed_packets: since.departed as f64,
            departed_bytes: since.departed_bytes as f64,
            dropped_packets: (since.dropped_by_law + since.overflowed) as f64,
            marked_packets: marked,
            busy: since.busy.seconds(),
            capacity: Some(context.rate),
            base_rtt: context.base_rtt,
            mean_packet: context.packet,
            limit: context.limit,
            applied: Prob::clamped(if arrived > 0.0 { (marked + dropped_by_law) / arrived } else { 0.0 }),
        }
    }
}
