//! Connections: segments carry a connection number, by which each end detects the start of the next connection.
//!
//! A flow carries one connection after the other. Since it is computed ahead of time, its ends cannot be reset
//! together: a sender with all data acknowledged accepts nothing more and starts the next connection with fresh
//! state; a receiver does when the first segment of it arrives. Older packets are discarded. `at` is the time of an
//! event, which may lie ahead.

use super::Simulation;
use crate::event::{Event, Kind};
use crate::flow::{Connection, ConnectionIds, Source, State};
use crate::packet::Packet;
use crate::tap::Tap;
use sojourn_measure::Probe;
use sojourn_measure::Transits;
use sojourn_units::Time;
use sojourn_workload::Requests;
use std::cmp::Ordering;

impl<P: Probe, T: Tap> Simulation<P, T> {
    /// Opens a connection at the sender, with data up to byte `end`.
    pub(super) fn open(&mut self, at: Time, number: u32, connection_id: u16, end: u64) {
        let first_ssthresh = self.first_ssthresh(number);
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection, ids) = &mut flow.source else { return };
        if std::mem::replace(&mut ids.sender, connection_id) != connection_id
            && let Some(config) = &self.users[flow.user as usize].config
        {
            connection.sender = Connection::sender(config.clone());
        }
        if let Some(ssthresh) = first_ssthresh {
            connection.sender.set_first_ssthresh(ssthresh);
        }
        flow.state = State::Sending;
        connection.sender.supply(end);
        connection.sender.open();
        self.pump(at, number);
    }

    /// Checks a packet that arrives at the receiver of a requester; returns whether the receiver accepts it now.
    #[cold]
    pub(super) fn admit(&mut self, at: Time, packet: Packet) -> bool {
        if packet.is_damaged() {
            return false;
        }
        let number = packet.flow_number();
        if at > self.now {
            let (user, connection) = self.slot(number);
            let until = self.workload.until(user);
            let held = &mut self.users[user as usize].held[connection as usize];
            // With nothing pending, the application may send a request at any time, which comes first.
            if !held.is_empty() || at > until || !self.workload.transaction(user, connection).is_pending {
                held.push_back((at, packet));
                self.events.push(at, Event::new(Kind::Held, number));
                return false;
            }
        }
        self.accept(at, packet)
    }

    /// A packet arrives that is damaged or of another connection than the receiver's.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_other(&mut self, at: Time, packet: Packet) {
        if !packet.is_damaged() && self.accept(at, packet) {
            self.receive(at, packet);
        }
    }

    /// The first held packet has arrived.
    pub(super) fn receive_held(&mut self, number: u32) {
        let (user, connection) = self.slot(number);
        let held = self.users[user as usize].held[connection as usize].pop_front();
        if let Some((at, packet)) = held {
            self.receive(at, packet);
        }
    }

    /// Discards a packet of an earlier connection; a packet of the next one resets the receiver.
    fn accept(&mut self, at: Time, packet: Packet) -> bool {
        let (number, connection_id) = (packet.flow_number(), self.pool.connection_id(packet) as u16);
        let Source::Tcp(_, ids) = &self.flows[number as usize].source else { return true };
        let newer = ConnectionIds::order(connection_id, ids.receiver);
        if newer.is_lt() {
            self.pool.free(packet);
            return false;
        }
        // Requests and acknowledgments that are due before come first.
        if let Some(before) = at.nanos().checked_sub(1) {
            self.retry_until(Time::from_nanos(before), number);
        }
        if newer.is_gt() {
            self.acknowledge_before(at, number);
            let flow = &mut self.flows[number as usize];
            let Source::Tcp(connection, ids) = &mut flow.source else { return true };
            connection.transits = Transits::default();
            let receiver = &mut connection.receiver;
            if let Some(since) = self.readers.remove(&number) {
                self.probe.read(since, at, number, &|time| receiver.read_by(time).unwrap_or_default());
            }
            if let Some(config) = &self.users[flow.user as usize].config {
                *receiver = Connection::receiver(config.clone());
            }
            ids.receiver = connection_id;
            self.connected(at, number);
        }
        true
    }

    /// A receiver has the first packet of a connection: an event where its user waits for the connection alone.
    fn connected(&mut self, at: Time, number: u32) {
        if self.flows[number as usize].requests != Requests::Several {
            return;
        }
        let (user, connection) = self.slot(number);
        if self.workload.transaction(user, connection).connected(at) {
            self.events.push(at, Event::new(Kind::Answered, number));
        }
    }

    /// A packet arrives at a sender that is no acknowledgment of its open connection: a request, or nothing.
    #[cold]
    pub(super) fn take_request(&mut self, at: Time, packet: Packet) {
        if let Some((connection_id, end)) = self.pool.requested(packet) {
            let number = packet.flow_number();
            let (user, connection) = self.slot(number);
            let transaction = self.workload.transaction(user, connection);
            if connection_id == transaction.connection_id as u16 {
                if let Source::Tcp(connection, ids) = &self.flows[number as usize].source
                    && connection_id == ids.sender
                {
                    transaction.interleave(self.pool.serial(packet), connection.sender.sent());
                }
                match end {
                    Some(end) => self.answer(at, number, connection_id, end),
                    None => self.close(at, number),
                }
            }
        }
        self.pool.free(packet);
    }

    /// Closes the open connection.
    fn close(&mut self, at: Time, number: u32) {
        self.flows[number as usize].stop = at;
        self.stop(at, number);
    }

    /// Sends data up to byte `end` of the newest connection.
    fn answer(&mut self, at: Time, number: u32, connection_id: u16, end: u64) {
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection, ids) = &mut flow.source else { return };
        match (flow.state, ConnectionIds::order(connection_id, ids.sender)) {
            (State::Waiting, Ordering::Equal | Ordering::Greater) | (State::Sending, Ordering::Greater) => {
                self.open(at, number, connection_id, end);
            }
            // A retransmitted request has been answered already.
            (State::Sending, Ordering::Equal) if end > connection.sender.supplied() => {
                connection.sender.supply(end);
                self.pump(at, number);
            }
            _ => {}
        }
    }

    /// A flow's sender has all data acknowledged: reports the end of its connection.
    #[cold]
    pub(super) fn finish(&mut self, at: Time, number: u32) {
        let flow = &mut self.flows[number as usize];
        match flow.state {
            State::Sending if flow.requests != Requests::Several => self.probe.stopped(at, number),
            State::Closing => {}
            _ => return,
        }
        // The stop time of the next connection is not known yet.
        (flow.state, flow.stop) = (State::Done, Time::NEVER);
        self.events.push(at, Event::new(Kind::Acknowledged, number));
    }
}
