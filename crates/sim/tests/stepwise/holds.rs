//! A qdisc that holds the packets of some flows for a time, so that an arrival of another may end its wait.

use sojourn_aqm::{Backlog, Counts, FlowId, Gauges, Packet as _, Qdisc, Sink};
use sojourn_params::{Given, InputError};
use sojourn_sim::Packet;
use sojourn_units::{Rate, Span, Time};
use std::collections::VecDeque;

/// Packets of flows with even numbers wait for a time, those of the others do not.
pub(crate) struct Holds {
    wait: Span,
    /// Packets with their arrival times, of flows with even numbers and of the others.
    queues: [VecDeque<(Packet, Time)>; 2],
    backlog: Backlog,
    counts: Counts,
}

impl Holds {
    pub(crate) fn new(wait: Span) -> Holds {
        Holds { wait, queues: Default::default(), backlog: Backlog::default(), counts: Counts::default() }
    }
}

impl Qdisc<Packet> for Holds {
    fn enqueue(&mut self, now: Time, packet: Packet, _: &mut dyn Sink<Packet>) {
        let FlowId(flow) = packet.flow();
        self.counts.offered += 1;
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.len());
        self.queues[flow as usize % 2].push_back((packet, now));
    }

    fn dequeue(&mut self, now: Time, _: &mut dyn Sink<Packet>) -> Option<(Packet, Span)> {
        if now < self.not_before() {
            return None;
        }
        let [held, others] = &mut self.queues;
        let (packet, since) = others.pop_front().or_else(|| held.pop_front())?;
        self.counts.delivered += 1;
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.len());
        Some((packet, now.since(since)))
    }

    fn not_before(&self) -> Time {
        let [held, others] = &self.queues;
        held.front().filter(|_| others.is_empty()).map_or(Time::ZERO, |(_, since)| *since + self.wait)
    }

    fn next_update(&self) -> Option<Time> {
        None
    }

    fn on_update(&mut self, _: Time, _: Time) {}

    fn link_changed(&mut self, _: Time, _: Rate) {}

    fn set_params(&mut self, _: Time, _: &Given) -> Result<(), InputError> {
        Ok(())
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn target_packets(&self) -> Option<f64> {
        None
    }

    fn gauges(&self, _: &mut dyn Gauges) {}
}
