//! Starts, stops and timers of flows.

use super::Simulation;
use crate::event::{Event, Kind};
use crate::flow::{Source, State};
use crate::tap::Tap;
use sojourn_measure::Probe;
use sojourn_units::Time;

impl<P: Probe, T: Tap> Simulation<P, T> {
    pub(super) fn start(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        flow.state = State::Sending;
        match &mut flow.source {
            Source::Tcp(connection, _) => {
                connection.sender.supply(u64::MAX);
                connection.sender.open();
                self.pump(self.now, number);
            }
            Source::Datagrams(_) => self.schedule_datagram(number),
        }
    }

    pub(super) fn stop(&mut self, at: Time, number: u32) {
        let flow = &mut self.flows[number as usize];
        if flow.stop != at {
            return;
        }
        flow.stop = Time::NEVER;
        match flow.state {
            State::Waiting if flow.has_user => flow.state = State::Idle,
            State::Waiting | State::Sending => {
                flow.state = if flow.has_user { State::Closing } else { State::Stopped };
                if let Source::Tcp(connection, _) = &mut flow.source {
                    connection.sender.stop();
                    self.probe.stopped(at, number);
                }
                if self.flows[number as usize].state == State::Closing {
                    // FIN is sent even if nothing is in flight.
                    if self.pump(at, number) {
                        self.finish(at, number);
                    }
                }
            }
            State::Stopped | State::Closing | State::Done | State::Idle => {}
        }
    }

    pub(super) fn sender_timer(&mut self, number: u32) {
        let now = self.now;
        let flow = &mut self.flows[number as usize];
        match &mut flow.source {
            Source::Tcp(..) => {
                if flow.sender_timer.is_due(now) {
                    let due = flow.deadline();
                    if due.is_some_and(|due| due <= now) {
                        self.expire(now, number);
                    } else if let Some(time) = flow.sender_timer.needs(due) {
                        self.events.push(time, Event::new(Kind::Sender, number));
                    }
                }
            }
            Source::Datagrams(datagrams) => {
                if !flow.sender_timer.is_due(now) || flow.state != State::Sending {
                    return;
                }
                if datagrams.next() > now {
                    return self.schedule_datagram(number);
                }
                let packet = self.pool.datagram(now, datagrams.send(), number, flow.forward);
                self.schedule_datagram(number);
                self.probe.sent(now, number);
                self.depart_from_end(now, packet);
            }
        }
    }

    /// Schedules the next datagram.
    pub(super) fn schedule_datagram(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        let Source::Datagrams(datagrams) = &flow.source else { return };
        let next = Some(datagrams.next()).filter(|next| *next < Time::NEVER);
        if let Some(time) = flow.sender_timer.needs(next) {
            self.events.push(time, Event::new(Kind::Sender, number));
        }
    }

    pub(super) fn receiver_timer(&mut self, number: u32) {
        let now = self.now;
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection, _) = &mut flow.source else { return };
        if !flow.receiver_timer.is_due(now) {
            return;
        }
        let answer = connection.receiver.on_timeout(now);
        if let Some(time) = flow.receiver_timer.needs(connection.receiver.next_timeout()) {
            self.events.push(time, Event::new(Kind::Receiver, number));
        }
        if let Some(ack) = answer {
            self.send_acknowledgment(now, number, ack);
        }
    }
}
