//! The network between both ends, without I/O: access delays, and a link with a qdisc, in nominal time.
//!
//! A driver reports packets with their times of arrival and takes everything up to the present. Packets leave
//! with nominal times, which depend on arrivals alone: a driver that is late writes them late, and the next ones are no
//! later for it.

use crate::ip;
use sojourn_aqm::{Cause, FlowId, Qdisc, Sink};
use sojourn_measure::{Probe, Queued};
use sojourn_units::{Bytes, Ecn, Rate, Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// From the IP header on.
    pub bytes: Vec<u8>,
    /// Number of its flow.
    pub flow: u32,
    /// Number of its queue among those that the qdisc names.
    queue: u8,
}

impl Packet {
    /// A packet of a flow.
    pub fn new(bytes: Vec<u8>, flow: u32) -> Packet {
        Packet { bytes, flow, queue: 0 }
    }

    fn queued(&self) -> Queued {
        Queued { flow: self.flow, queue: self.queue }
    }
}

impl sojourn_aqm::Packet for Packet {
    fn len(&self) -> u32 {
        self.bytes.len() as u32
    }
    fn ecn(&self) -> Ecn {
        ip::ecn(&self.bytes)
    }
    fn set_ce(&mut self) {
        ip::set_ce(&mut self.bytes);
    }
    fn flow(&self) -> FlowId {
        FlowId(self.flow)
    }
}

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Through the qdisc.
    Forward,
    /// Back, past it.
    Back,
}

/// The link between both ends.
pub struct Link {
    /// Its rate, bits on its wire.
    pub rate: Rate,
    /// Delay one way.
    pub delay: Span,
    /// The qdisc in front of it.
    pub qdisc: Box<dyn Qdisc<Packet>>,
}

/// A packet at the far end.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    /// Nominal time.
    pub at: Time,
    /// Its direction.
    pub way: Way,
    /// The packet.
    pub packet: Packet,
}

/// The number of the link in reports to the probe.
const LINK: u32 = 0;

/// The network between both ends.
pub struct Bottleneck<P> {
    link: Link,
    /// Delay of the access links of each flow, at each end.
    access: Vec<Span>,
    /// The transmitter is free from this time on.
    free: Time,
    /// The time of the next dequeue; None: the qdisc is empty.
    next: Option<Time>,
    /// Packets on their way, by time and order.
    travelling: BinaryHeap<Reverse<Travelling>>,
    order: u64,
    probe: P,
}

#[derive(Debug, PartialEq, Eq)]
struct Travelling {
    at: Time,
    order: u64,
    to: Place,
    way: Way,
    packet: Packet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Qdisc,
    End,
}

impl Ord for Travelling {
    fn cmp(&self, other: &Travelling) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl PartialOrd for Travelling {
    fn partial_cmp(&self, other: &Travelling) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P: Probe> Bottleneck<P> {
    /// A network at rest, with the delay of the access links of each flow, at each end.
    pub fn new(link: Link, access: Vec<Span>, probe: P) -> Bottleneck<P> {
        let (free, next, travelling) = (Time::ZERO, None, BinaryHeap::new());
        Bottleneck { link, access, free, next, travelling, order: 0, probe }
    }

    /// A packet is read at an end. Times of packets must not fall behind those of [`Bottleneck::advance`].
    pub fn arrive(&mut self, at: Time, way: Way, packet: Packet) {
        let access = self.access_of(&packet);
        let (at, to) = match way {
            Way::Forward => (at + access, Place::Qdisc),
            Way::Back => (at + access + self.link.delay + access, Place::End),
        };
        self.travel(at, to, way, packet);
    }

    /// The time of the next event.
    pub fn next_event(&self) -> Option<Time> {
        let travelling = self.travelling.peek().map(|Reverse(first)| first.at);
        [travelling, self.next, self.link.qdisc.next_update()].into_iter().flatten().min()
    }

    /// Everything up to `now`, in the order of time; the packets that leave are appended to `left`.
    pub fn advance(&mut self, now: Time, left: &mut Vec<Left>) {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            // At one instant updates come before departures, and these before arrivals.
            if self.link.qdisc.next_update() == Some(at) {
                self.link.qdisc.on_update(at, at);
            } else if self.next == Some(at) {
                self.transmit(at);
            } else if let Some(Reverse(first)) = self.travelling.pop() {
                match first.to {
                    Place::Qdisc => self.offer(at, first.packet),
                    Place::End => left.push(Left { at, way: first.way, packet: first.packet }),
                }
            }
        }
    }

    /// The qdisc.
    pub fn qdisc(&self) -> &dyn Qdisc<Packet> {
        self.link.qdisc.as_ref()
    }

    /// The probe.
    pub fn probe(&mut self) -> &mut P {
        &mut self.probe
    }

    /// The probe, at the end.
    pub fn into_probe(self) -> P {
        self.probe
    }

    fn offer(&mut self, now: Time, mut packet: Packet) {
        let qdisc = &mut self.link.qdisc;
        packet.queue = qdisc.queue_of(&packet);
        self.probe.offered(now, LINK, packet.queued());
        qdisc.enqueue(now, packet, &mut Reports { probe: &mut self.probe });
        self.probe.backlog(now, LINK, qdisc.backlog());
        self.schedule(now);
    }

    fn transmit(&mut self, now: Time) {
        let qdisc = &mut self.link.qdisc;
        let taken = qdisc.dequeue(now, &mut Reports { probe: &mut self.probe });
        if let Some((packet, sojourn)) = &taken {
            self.probe.delivered(now, LINK, packet.queued(), *sojourn);
        }
        self.probe.backlog(now, LINK, qdisc.backlog());
        let Some((packet, _)) = taken else {
            // It waits for a time of its own, or for an arrival.
            let not_before = qdisc.not_before();
            self.next = (not_before > now && qdisc.backlog().packets > 0).then_some(not_before);
            return;
        };
        self.free = now + self.link.rate.time_for(Bytes::new(packet.bytes.len() as u64));
        let at = self.free + self.link.delay + self.access_of(&packet);
        self.travel(at, Place::End, Way::Forward, packet);
        self.schedule(now);
    }

    /// The next dequeue: as soon as the transmitter is free and the qdisc gives a packet.
    fn schedule(&mut self, now: Time) {
        let qdisc = &self.link.qdisc;
        let is_empty = qdisc.backlog().packets == 0;
        self.next = (!is_empty).then(|| self.free.max(qdisc.not_before()).max(now));
    }

    fn travel(&mut self, at: Time, to: Place, way: Way, packet: Packet) {
        self.travelling.push(Reverse(Travelling { at, order: self.order, to, way, packet }));
        self.order += 1;
    }

    fn access_of(&self, packet: &Packet) -> Span {
        self.access.get(packet.flow as usize).copied().unwrap_or_default()
    }
}

/// Reports of a qdisc to the probe.
struct Reports<'a, P> {
    probe: &'a mut P,
}

impl<P: Probe> Sink<Packet> for Reports<'_, P> {
    fn dropped(&mut self, now: Time, packet: Packet, cause: Cause) {
        self.probe.dropped(now, LINK, packet.queued(), cause);
    }
    fn marked(&mut self, now: Time, packet: &Packet) {
        self.probe.marked(now, LINK, packet.queued());
    }
}
