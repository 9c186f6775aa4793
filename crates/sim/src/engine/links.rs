//! Shared links: arrivals, departures, updates and changes.

use super::coordinator::announce;
use super::{Simulation, just_after};
use crate::calendar_queue::Entry;
use crate::event::{Event, Kind};
use crate::flow::Source;
use crate::impairments::Wire;
use crate::leg::End;
use crate::link::{Managed, Private, Queue};
use crate::network::{Change, LinkChange};
use crate::packet::{NO_PLACE, Packet, Pool};
use crate::tap::Tap;
use sojourn_aqm::{Ack, Cause, Sink};
use sojourn_measure::Probe;
use sojourn_params::Given;
use sojourn_units::{Span, Time};
use std::hint::black_box;

impl<P: Probe, T: Tap> Simulation<P, T> {
    /// Processes all arrivals and departures of a link before `end`.
    pub(super) fn catch_up(&mut self, link: u32, end: Time) {
        let mut batch = std::mem::take(&mut self.batch);
        self.links[link as usize].incoming.take_before(end, &mut batch);
        self.counts.arrivals += batch.len() as u64;
        for entry in batch.drain(..) {
            // At one instant departures come before arrivals.
            self.depart(link, just_after(entry.time));
            self.offer(entry.time, link, entry.packet);
            if self.departed.len() >= TOGETHER {
                self.travel_on();
            }
        }
        self.batch = batch;
        self.depart(link, end);
        self.travel_on();
        self.schedule_drain(link);
    }

    /// Sends the packets that have left a shared link along their next legs.
    ///
    /// With thousands of flows the memory of each is far away. It is prefetched some packets ahead, by reads that
    /// complete while other packets are processed.
    fn travel_on(&mut self) {
        let mut departed = std::mem::take(&mut self.departed);
        for (number, entry) in departed.iter().enumerate() {
            if let Some(later) = departed.get(number + 2 * AHEAD) {
                black_box(self.nearby(later.packet));
                black_box(self.near_ends(departed[number + AHEAD].packet));
            }
            self.travel(entry.time, entry.packet);
        }
        departed.clear();
        self.departed = departed;
    }

    /// Touches the memory that holds the addresses of a packet's other memory.
    fn nearby(&self, packet: Packet) -> u64 {
        let flow = &self.flows[packet.flow_number() as usize];
        flow.stop.nanos() ^ u64::from(flow.forward) ^ self.pool.begins(packet)
    }

    /// Touches the memory of the end at which a packet arrives.
    fn near_ends(&self, packet: Packet) -> u64 {
        let leg = self.legs[packet.leg as usize];
        let private = self.private.get(leg.from as usize).map_or(0, Private::nearby);
        private
            ^ match (&self.flows[packet.flow_number() as usize].source, leg.end()) {
                (Source::Tcp(connection, _), End::Receiver) => connection.receiver.nearby(),
                (Source::Tcp(connection, _), End::Sender) => connection.sender.nearby(),
                _ => 0,
            }
    }

    /// A packet arrives at the near end of a link.
    fn offer(&mut self, now: Time, link: u32, mut packet: Packet) {
        let at = &mut self.links[link as usize];
        if T::IS_ON && !at.is_station {
            self.tap.offered(now, at.number, self.pool.sight(packet));
        }
        let Queue::Managed(managed) = &mut at.queue else {
            let starts = at.transmitter.free().max(now);
            let time = if at.is_station { now } else { at.send(now, packet.size()) };
            if T::IS_ON && !at.is_station {
                let arrival = arrival(&self.wires, at.number, time);
                let (number, waited) = (at.number, starts.since(now));
                self.tap.transmitted(starts, number, self.pool.sight(packet), waited, arrival);
            }
            return self.departed.push(Entry { time, packet: packet.on_next_leg() });
        };
        let Managed { qdisc, is_divided, is_priced, dequeues_when_free, is_waiting, .. } = managed;
        if *is_divided {
            packet = packet.in_queue(qdisc.queue_of(&packet));
            if *is_priced {
                announce(&mut self.prices, packet, qdisc.as_mut());
            }
        }
        self.probe.offered(now, at.number, packet.queued());
        qdisc.enqueue(
            now,
            packet,
            &mut QdiscSink {
                probe: &mut self.probe,
                tap: &mut self.tap,
                pool: &mut self.pool,
                link: at.number,
                arriving: packet.place(),
            },
        );
        if P::NEEDS_BACKLOG {
            self.probe.backlog(now, at.number, qdisc.backlog());
        }
        if !*dequeues_when_free {
            *dequeues_when_free = true;
            if at.transmitter.is_ready(now) {
                self.transmit(now, link);
            }
        } else if *is_waiting {
            let not_before = qdisc.not_before().max(now);
            // Where the arrival has made the wait longer, the dequeue at its former end gives none, and begins another.
            if not_before < at.transmitter.free() {
                at.transmitter.wait(not_before);
                self.depart(link, just_after(now));
            }
        }
    }

    /// Processes the qdisc's departures before `end`.
    fn depart(&mut self, link: u32, end: Time) {
        loop {
            let at = &self.links[link as usize];
            let free = at.transmitter.free();
            match &at.queue {
                Queue::Managed(managed) if managed.dequeues_when_free && free < end => {
                    self.transmit(free, link);
                }
                _ => return,
            }
        }
    }

    /// The transmitter of a link with a qdisc is free at `now` and dequeues a packet.
    fn transmit(&mut self, now: Time, link: u32) {
        let at = &mut self.links[link as usize];
        let Queue::Managed(Managed { qdisc, dequeues_when_free, is_waiting, .. }) = &mut at.queue else {
            return;
        };
        if std::mem::take(is_waiting) && !at.transmitter.is_ready(now) {
            return;
        }
        let taken = qdisc.dequeue(
            now,
            &mut QdiscSink {
                probe: &mut self.probe,
                tap: &mut self.tap,
                pool: &mut self.pool,
                link: at.number,
                arriving: NO_PLACE,
            },
        );
        *dequeues_when_free = taken.is_some();
        if let Some((packet, sojourn)) = &taken {
            self.probe.delivered(now, at.number, packet.queued(), *sojourn);
        }
        if P::NEEDS_BACKLOG {
            self.probe.backlog(now, at.number, qdisc.backlog());
        }
        let not_before = qdisc.not_before();
        if taken.is_none() && not_before > now && qdisc.backlog().packets > 0 {
            (*dequeues_when_free, *is_waiting) = (true, true);
            at.transmitter.wait(not_before);
        }
        if let Some((packet, sojourn)) = taken {
            let time = at.send(now, packet.size());
            if T::IS_ON {
                let arrival = arrival(&self.wires, at.number, time);
                self.tap.transmitted(now, at.number, self.pool.sight(packet), sojourn, arrival);
            }
            self.departed.push(Entry { time, packet: packet.on_next_leg() });
        }
    }

    /// Processes the arrivals of a link, which must not be late at the next one.
    pub(super) fn drain(&mut self, link: u32) {
        let now = self.now;
        if self.links[link as usize].drain.is_due(now) {
            self.catch_up(link, just_after(now));
        }
    }

    pub(super) fn schedule_drain(&mut self, link: u32) {
        let stepwise = self.stepwise;
        let at = &mut self.links[link as usize];
        let next = at.incoming.first().min(at.next_departure(stepwise));
        let wait = if stepwise { Span::ZERO } else { at.transmitter.delay() };
        if let Some(time) = at.drain.needs((next < Time::NEVER).then(|| next + wait)) {
            let kind = if at.is_station { Kind::Arrive } else { Kind::Drain };
            self.events.push(time, Event::new(kind, link));
        }
    }

    pub(super) fn update(&mut self, link: u32) {
        // Updates due at an instant come before its packets.
        let now = self.now;
        if !matches!(&self.links[link as usize].queue, Queue::Managed(managed) if managed.update == now) {
            // Parameters set meanwhile have moved the update.
            return;
        }
        self.catch_up(link, now);
        if let Queue::Managed(managed) = &mut self.links[link as usize].queue {
            managed.qdisc.on_update(managed.update, now);
            managed.update = Time::NEVER;
        }
        self.schedule_update(link);
    }

    pub(super) fn schedule_update(&mut self, link: u32) {
        let Queue::Managed(managed) = &mut self.links[link as usize].queue else { return };
        if let Some(due) = managed.qdisc.next_update() {
            managed.update = due;
            self.events.push(due, Event::new(Kind::Update, link));
        }
    }

    pub(super) fn change(&mut self, number: u32) {
        let now = self.now;
        let Change { every, until, link, ref set, .. } = self.changes[number as usize];
        let set = set.clone();
        if let Some(next) = every.map(|every| now + every).filter(|next| *next <= until) {
            self.events.push(next, Event::new(Kind::Change, number));
        }
        self.catch_up(link, now);
        let at = &mut self.links[link as usize];
        match set {
            LinkChange::Delay(delay) => at.transmitter.change_delay(delay),
            LinkChange::Rate(rate) => at.change_rate(now, rate),
            LinkChange::Law(change) => self.set_params(link, &change),
        }
        self.schedule_drain(link);
    }

    /// Sets parameters of the law in front of a link.
    fn set_params(&mut self, link: u32, change: &Given) {
        let at = &mut self.links[link as usize];
        let Queue::Managed(managed) = &mut at.queue else { return };
        let taken = managed.qdisc.set_params(self.now, change);
        assert!(taken.is_ok(), "unchecked parameters: {taken:?}");
        if managed.is_waiting {
            // The rate of a shaper may be another now.
            at.transmitter.wait(managed.qdisc.not_before().max(self.now));
        }
        if managed.qdisc.next_update().unwrap_or(Time::NEVER) != managed.update {
            managed.update = Time::NEVER;
            self.schedule_update(link);
        }
    }
}

/// Arrival time at the far end of a link; None: its wire has impairments, which decide.
fn arrival(wires: &[(u32, Wire)], link: u32, time: Time) -> Option<Time> {
    wires.iter().all(|(number, _)| *number != link).then_some(time)
}

/// Reports drops and marks of a qdisc to the probe and the tap.
struct QdiscSink<'a, P, T> {
    probe: &'a mut P,
    tap: &'a mut T,
    pool: &'a mut Pool,
    link: u32,
    /// Place of the packet that the qdisc is offered.
    arriving: u32,
}

impl<P: Probe, T: Tap> Sink<Packet> for QdiscSink<'_, P, T> {
    fn dropped(&mut self, now: Time, packet: Packet, cause: Cause) {
        if T::IS_ON {
            self.tap.dropped(now, self.link, self.pool.sight(packet), cause);
        }
        self.pool.free(packet);
        if packet.place() == self.arriving {
            self.probe.refused(now, self.link);
        }
        self.probe.dropped(now, self.link, packet.queued(), cause);
    }
    fn marked(&mut self, now: Time, packet: &Packet) {
        if T::IS_ON {
            self.tap.marked(now, self.link, self.pool.sight(*packet));
        }
        self.probe.marked(now, self.link, packet.queued());
    }
    fn ack(&self, packet: &Packet) -> Option<Ack> {
        self.pool.ack(*packet)
    }
}

/// Packets sent on together: few enough to stay in the cache.
const TOGETHER: usize = 256;
/// Distance of prefetches, packets; twice that for memory that holds addresses.
const AHEAD: usize = 16;
