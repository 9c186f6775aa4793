//! Legs, and the endpoints behind them. `at` is the time of an event, which may lie ahead.

use super::Simulation;
use crate::event::{Event, Kind};
use crate::flow::{Source, State};
use crate::leg::{End, PRICE_READER, PRICE_WRITER};
use crate::packet::{Carried, Packet};
use crate::tap::{SenderEvent, Tap};
use sojourn_measure::{Probe, RoundTrip, SentAt};
use sojourn_scenario::UDP_HEADER;
use sojourn_tcp::{Segment, Sender};
use sojourn_units::Time;
use sojourn_workload::Requests;

impl<P: Probe, T: Tap> Simulation<P, T> {
    /// An end sends a packet.
    #[expect(clippy::inline_always, reason = "without a tap it is `travel`")]
    #[inline(always)]
    pub(super) fn depart_from_end(&mut self, at: Time, packet: Packet) {
        if T::IS_ON {
            self.tap.sent(at, self.pool.sight(packet));
        }
        self.travel(at, packet);
    }

    /// A packet enters its leg.
    pub(super) fn travel(&mut self, mut at: Time, packet: Packet) {
        let place = packet.leg as usize;
        let (leg, next) = (self.legs[place], self.legs[place + 1]);
        for link in &mut self.private[leg.from as usize..next.from as usize] {
            at = link.send(at, packet.size(), &mut self.speeds);
        }
        match leg.end() {
            End::Link(link) => {
                let next = &mut self.links[link as usize].incoming;
                let earlier = at < next.first();
                next.push(self.now, at, packet);
                if earlier {
                    self.schedule_drain(link);
                }
            }
            End::Receiver => self.receive(at, packet),
            End::Sender => self.acknowledge(at, packet),
            End::Wire(wire) => self.carry(at, wire, packet),
        }
    }

    /// Applies the impairments of a wire to a packet due at its far end at `at`.
    #[cold]
    #[inline(never)]
    fn carry(&mut self, at: Time, wire: u32, packet: Packet) {
        match wire {
            PRICE_WRITER => return self.write_prices(at, packet),
            PRICE_READER => return self.read_prices(at, packet),
            _ => {}
        }
        let (link, wire) = &mut self.wires[wire as usize];
        let fate = wire.carry(at);
        let mut packet = packet.on_next_leg();
        if (fate.lost || fate.corrupt) && !packet.is_damaged() {
            self.probe.lost(fate.at, *link, packet.flow_number());
        }
        if fate.lost {
            return self.pool.free(packet);
        }
        if fate.corrupt {
            packet = self.pool.damage(packet);
        }
        if fate.bleached {
            packet.bleach();
        }
        let copy = fate.twice.then(|| self.pool.copy(packet));
        if T::IS_ON {
            let number = *link;
            self.tap.crossed(fate.at, number, self.pool.sight(packet));
            if let Some(copy) = copy {
                if let (Some(from), Some(to)) = (packet.segment_place(), copy.segment_place()) {
                    self.tap.copied(from as u32, to as u32);
                }
                self.tap.crossed(fate.at, number, self.pool.sight(copy));
            }
        }
        if let (Some(prices), Some(copy)) = (&mut self.prices, copy) {
            prices.copy(packet, copy);
        }
        self.travel(fate.at, packet);
        if let Some(copy) = copy {
            self.travel(fate.at, copy);
        }
    }

    /// A packet arrives at the receiver, which may answer.
    #[expect(clippy::inline_always, reason = "every packet calls it once")]
    #[inline(always)]
    pub(super) fn receive(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        let flow = &self.flows[number as usize];
        let timer = flow.receiver_timer;
        if flow.requests != Requests::None && !self.admit(at, packet) {
            return;
        }
        if timer.may_be_before(at) {
            self.acknowledge_before(at, number);
        }
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection, ids) = &mut flow.source else { return self.receive_datagram(at, packet) };
        let Some(Carried { segment, left_at, .. }) = self.pool.take(packet, ids.receiver) else {
            return self.receive_other(at, packet);
        };
        if segment.len > 0 {
            connection.transits.arrive(at, *left_at);
        }
        let receiver = &mut connection.receiver;
        let slow = receiver.read_by(at).is_some();
        if slow {
            let since = self.readers.insert(number, at).unwrap_or(Time::ZERO);
            self.probe.read(since, at, number, &|time| receiver.read_by(time).unwrap_or_default());
        }
        let before = receiver.delivered();
        let answer = receiver.on_segment(at, segment);
        let left = if answer.is_some() { connection.transits.answer(at) } else { SentAt::of_data(at) };
        let end = receiver.delivered();
        if let Some(time) = flow.receiver_timer.needs(receiver.next_timeout()) {
            self.events.push(time, Event::new(Kind::Receiver, number));
        }
        if !slow {
            self.probe.received(at, number, end - before);
        }
        let (reverse, connection_id) = (flow.reverse, ids.receiver);
        if flow.is_pending && end > before {
            self.delivered(at, number, end);
        }
        if let Some(ack) = answer {
            let packet = self.pool.of_segment(ack, left, connection_id, [number, reverse]);
            self.depart_from_end(at, packet);
        }
    }

    /// Sends a delayed acknowledgment.
    pub(super) fn send_acknowledgment(&mut self, at: Time, number: u32, ack: Segment) {
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection, ids) = &mut flow.source else { return };
        let left = connection.transits.answer(at);
        let packet = self.pool.of_segment(ack, left, ids.receiver, [number, flow.reverse]);
        self.depart_from_end(at, packet);
    }

    /// Sends the delayed acknowledgments that are due before `at`.
    pub(super) fn acknowledge_before(&mut self, at: Time, number: u32) {
        loop {
            let flow = &mut self.flows[number as usize];
            let Source::Tcp(connection, _) = &mut flow.source else { return };
            let receiver = &mut connection.receiver;
            let Some(due) = receiver.next_timeout().filter(|due| *due < at) else { return };
            if let Some(ack) = receiver.on_timeout(due) {
                self.send_acknowledgment(due, number, ack);
            }
        }
    }

    /// A datagram arrives at the receiver, which may send it back.
    fn receive_datagram(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        // A damaged one fails its checksum.
        let Some(sent) = self.pool.take_datagram(packet) else { return };
        let payload = packet.size().saturating_sub(UDP_HEADER);
        self.probe.received(at, number, u64::from(payload));
        self.probe.datagram(at, number, at.since(sent));
        let flow = &self.flows[number as usize];
        let Source::Datagrams(datagrams) = &flow.source else { return };
        if let Some(answer) = datagrams.answer(packet.size() as u16) {
            // It carries the send time of the datagram that it answers.
            let packet = self.pool.datagram(sent, answer, number, flow.reverse);
            self.depart_from_end(at, packet);
        }
    }

    /// An acknowledgment arrives at the sender, or a request, or a datagram that was sent back.
    fn acknowledge(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        // Timers that are due before expire before.
        loop {
            let flow = &self.flows[number as usize];
            let Source::Tcp(..) = &flow.source else {
                let Some(sent) = self.pool.take_datagram(packet) else { return };
                return self.probe.came_back(at, number, at.since(sent));
            };
            let stop = flow.stop;
            let due = if flow.sender_timer.may_be_before(at) { flow.deadline() } else { None };
            if let Some(due) = due.filter(|due| *due < at && *due <= stop) {
                self.expire(due, number);
            } else if stop < at {
                self.stop(stop, number);
            } else {
                return self.take_acknowledgment(at, packet);
            }
        }
    }

    /// An acknowledgment of the open connection arrives at the sender.
    #[expect(clippy::inline_always, reason = "every packet calls it once")]
    #[inline(always)]
    pub(super) fn take_acknowledgment(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection, ids) = &mut flow.source else { return };
        if T::IS_ON && flow.state.is_open() {
            self.tap.came_back(at, self.pool.sight(packet));
        }
        let carried = if flow.state.is_open() { self.pool.take(packet, ids.sender) } else { None };
        let Some(carried) = carried else { return self.take_request(at, packet) };
        let left = carried.left();
        on_segment(&mut connection.sender, at, &carried.segment);
        if T::IS_ON {
            self.tap.sender(at, number, SenderEvent::Progress, &connection.sender);
        }
        if left.packets > 0 {
            self.note_round_trip(at, number, left);
        }
        if self.pump(at, number) {
            self.finish(at, number);
        }
    }

    /// The acknowledgment of timed packets is back; `left` is its departure.
    #[inline(never)]
    fn note_round_trip(&mut self, at: Time, number: u32, left: SentAt) {
        let Source::Tcp(connection, _) = &self.flows[number as usize].source else { return };
        let (path, smoothed) = (at.since(left.at), connection.sender.smoothed());
        self.probe.round_trip(at, number, RoundTrip { path, smoothed, packets: left.packets });
    }

    /// Sends the segments that the sender may send; returns whether all data that
    /// an application has are acknowledged.
    pub(super) fn pump(&mut self, at: Time, number: u32) -> bool {
        loop {
            let flow = &mut self.flows[number as usize];
            let Source::Tcp(connection, ids) = &mut flow.source else { return true };
            let Some(segment) = connection.sender.poll_transmit(at) else {
                if let Some(time) = flow.sender_timer.needs(connection.sender.next_timeout()) {
                    self.events.push(time, Event::new(Kind::Sender, number));
                }
                if T::IS_ON {
                    self.tap.sender(at, number, SenderEvent::Progress, &connection.sender);
                }
                if flow.state == State::Sending {
                    self.probe.window(at, number, connection.window());
                }
                return flow.has_user && connection.sender.is_done();
            };
            let (connection_id, left) = (ids.sender, SentAt::of_data(at));
            let packet = self.pool.of_segment(segment, left, connection_id, [number, flow.forward]);
            self.depart_from_end(at, packet);
        }
    }

    /// The sender's timer expires.
    pub(super) fn expire(&mut self, at: Time, number: u32) {
        if let Source::Tcp(connection, _) = &mut self.flows[number as usize].source {
            connection.sender.on_timeout(at);
            if T::IS_ON {
                self.tap.sender(at, number, SenderEvent::Timer, &connection.sender);
            }
            self.pump(at, number);
        }
    }
}

/// A function of its own: inlined, it would spill the registers of the path around it.
#[inline(never)]
fn on_segment(sender: &mut Sender, at: Time, segment: &Segment) {
    sender.on_segment(at, segment);
}
