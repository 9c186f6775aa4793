//! What members are about: applications are asked what they want, and connections carry it.
//!
//! What one flow does is computed ahead of time, so each end finds out by itself where a
//! connection is over: packets carry the number of theirs (`life`). A sender that has
//! everything acknowledged hears nothing more, and begins the next connection with a fresh state; a receiver
//! does when the first packet of it comes. Older packets are thrown away. What concerns
//! a member as a whole waits for its time: events tell it that a sender has ended, or that an answer is there.

use super::{Simulation, just_after};
use crate::apps::datagrams::Datagrams;
use crate::apps::{Ask, Wish};
use crate::event::{Event, Kind};
use crate::flow::{Connection, Source, State};
use crate::member::{Errand, PATIENCE};
use crate::network::{DatagramsPlan, SourcePlan};
use crate::packet::Packet;
use crate::probe::Probe;
use crate::round_trip::Transits;
use sojourn_units::Time;
use std::cmp::Ordering;

/// What applications want.
impl<P: Probe> Simulation<P> {
    /// An application is asked what it wants done.
    pub(super) fn serve(&mut self, number: u32) {
        let now = self.now;
        loop {
            let member = &mut self.members[number as usize];
            if now >= member.until {
                return;
            }
            match member.app.next(now) {
                Some(Wish::Send(bytes)) => self.connect(number, bytes),
                Some(Wish::Ask(ask)) => self.ask(number, ask),
                Some(Wish::Complete(began)) => self.probe.completed(now, member.first, began),
                Some(Wish::Played(played, stood)) => self.probe.played(now, member.first, played, stood),
                Some(Wish::Leave) => {
                    member.until = now;
                    return self.vacate(number);
                }
                None if member.app.wakes_at() <= now => member.app.wake(now),
                None => return self.schedule_act(number),
            }
        }
    }

    fn schedule_act(&mut self, number: u32) {
        let member = &mut self.members[number as usize];
        let acts_at = Some(member.acts_at()).filter(|time| *time < member.until);
        if let Some(time) = member.timer.needs(acts_at) {
            self.events.push(time, Event::new(Kind::Act, number));
        }
    }

    /// A member's application is due, or a request of its.
    pub(super) fn act(&mut self, number: u32) {
        let now = self.now;
        let member = &mut self.members[number as usize];
        if !member.timer.is_due(now) || now >= member.until {
            return;
        }
        for flow in member.flows() {
            self.repeat_until(now, flow);
        }
        let member = &mut self.members[number as usize];
        if member.app.wakes_at() <= now {
            member.app.wake(now);
        }
        self.serve(number);
    }

    /// A member's sender has data, and connects.
    fn connect(&mut self, number: u32, bytes: u64) {
        let member = &mut self.members[number as usize];
        let (class, flow) = (member.class, member.first);
        let errand = member.errand(flow);
        errand.life += 1;
        (errand.began, errand.end, errand.awaited) = (self.now, bytes, true);
        let life = errand.life;
        let at_work = &mut self.flows[flow as usize];
        at_work.stop = member.until;
        self.probe.began(self.now, flow, class);
        if let (Source::Datagrams(datagrams), SourcePlan::Datagrams(plan)) =
            (&mut at_work.source, &member.source)
        {
            // Each stream of them has draws of its own.
            let class = &self.classes[class as usize].plan.name;
            let name = format!("{class}/{}/{}", member.number, member.streams);
            member.streams += 1;
            **datagrams = Datagrams::new(DatagramsPlan { name, ..plan.clone() }, self.seed, self.now);
            at_work.state = State::Sending;
            return self.schedule_datagram(flow);
        }
        self.open(self.now, flow, life, bytes);
    }

    /// A sender begins a connection, with data up to byte `end`.
    fn open(&mut self, at: Time, number: u32, life: u32, end: u64) {
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection) = &mut flow.source else { return };
        let member = &mut self.members[flow.member as usize];
        if std::mem::replace(&mut member.errand(number).sends, life) != life
            && let Some(config) = member.source.config()
        {
            connection.sender = Connection::sender(config.clone());
        }
        flow.state = State::Sending;
        connection.sender.supply(end);
        connection.sender.open();
        self.pump(at, number);
    }

    /// A member's receiver asks for data.
    fn ask(&mut self, number: u32, ask: Ask) {
        let now = self.now;
        let member = &mut self.members[number as usize];
        let (class, flow) = (member.class, member.first + ask.connection);
        let errand = member.errand(flow);
        if ask.anew {
            errand.life += 1;
            errand.end = 0;
            self.probe.began(now, flow, class);
        }
        errand.end = errand.end.saturating_add(ask.bytes);
        (errand.began, errand.awaited, errand.request) = (now, true, ask.request);
        (errand.heard, errand.repeat, errand.patience) = (Time::NEVER, now + PATIENCE, PATIENCE);
        self.request(now, flow);
    }

    fn request(&mut self, at: Time, number: u32) {
        let flow = &self.flows[number as usize];
        let reverse = flow.reverse;
        let errand = self.members[flow.member as usize].errand(number);
        let (end, len, life) = (errand.end, errand.request, errand.life);
        let packet = self.pool.request(at, end, len, [number, reverse]);
        self.pool.set_life(packet, life);
        self.travel(at, packet);
    }

    /// Repeats a request as often as that is due by `end`, as long as nothing is heard.
    fn repeat_until(&mut self, end: Time, number: u32) {
        loop {
            let member = &mut self.members[self.flows[number as usize].member as usize];
            let until = member.until;
            let errand = member.errand(number);
            let at = errand.repeat;
            // What is known to come later has not been heard yet.
            if at > end || at >= until || errand.heard <= at {
                return;
            }
            errand.put_off();
            // Over the same links, where what goes first comes first; at one instant timers of receivers do.
            self.acknowledge_before(just_after(at), number);
            self.request(at, number);
        }
    }
}

/// What comes to a member's endpoints. `at` is when it happens, which may lie ahead.
impl<P: Probe> Simulation<P> {
    /// Looks at a packet that comes to a receiver; says whether that takes it in.
    #[cold]
    pub(super) fn admits(&mut self, at: Time, packet: Packet) -> bool {
        let number = packet.flow_number();
        if packet.is_damaged() {
            return false;
        }
        let now = self.now;
        let member = &mut self.members[self.flows[number as usize].member as usize];
        let (asks, until) = (member.asks, member.until);
        if asks {
            let errand = member.errand(number);
            // Once nothing is awaited, the application may ask at any time, and that goes first.
            let waits = !errand.late.is_empty() || !errand.awaited || at > until;
            if waits && at > now {
                errand.late.push_back((at, packet));
                self.events.push(at, Event::new(Kind::Late, number));
                return false;
            }
        }
        self.is_of_this_life(at, packet)
    }

    /// The first packet that had to wait has its time.
    pub(super) fn late(&mut self, number: u32) {
        let member = self.flows[number as usize].member;
        let waited = self.members[member as usize].errand(number).late.pop_front();
        if let Some((at, packet)) = waited {
            self.receive(at, packet);
        }
    }

    /// Throws away a packet of an earlier connection; at one of the next the receiver begins anew.
    fn is_of_this_life(&mut self, at: Time, packet: Packet) -> bool {
        // Datagrams have no connection.
        let Some(life) = self.pool.life(packet) else { return true };
        let number = packet.flow_number();
        let member = self.flows[number as usize].member;
        let newer = life.cmp(&self.members[member as usize].errand(number).hears);
        if newer.is_lt() {
            self.pool.free(packet);
            return false;
        }
        // Requests and acknowledgments that are due before go before.
        if let Some(before) = at.nanos().checked_sub(1) {
            self.repeat_until(Time::from_nanos(before), number);
        }
        if newer.is_gt() {
            self.acknowledge_before(at, number);
            let flow = &mut self.flows[number as usize];
            if let Source::Tcp(connection) = &mut flow.source {
                connection.transits = Transits::new();
                let receiver = &mut connection.receiver;
                if let Some(since) = self.readers.remove(&number) {
                    self.probe.read(since, at, number, &|time| receiver.read_by(time).unwrap_or_default());
                }
                let member = &mut self.members[member as usize];
                if let Some(config) = member.source.config() {
                    *receiver = Connection::receiver(config.clone());
                }
                member.errand(number).hears = life;
            }
        }
        true
    }

    /// A member's receiver has got in order all up to byte `end`.
    #[cold]
    pub(super) fn note_delivered(&mut self, at: Time, number: u32, end: u64) {
        let member = &mut self.members[self.flows[number as usize].member as usize];
        let asks = member.asks;
        let errand = member.errand(number);
        if errand.life != errand.hears {
            return;
        }
        errand.heard = errand.heard.min(at);
        if errand.awaited && end >= errand.end {
            errand.awaited = false;
            if asks {
                self.events.push(at, Event::new(Kind::Told, number));
            } else {
                self.probe.completed(at, number, errand.began);
            }
        }
    }

    /// A receiver has all that it asked for.
    pub(super) fn told(&mut self, flow: u32) {
        let number = self.flows[flow as usize].member;
        let member = &mut self.members[number as usize];
        if self.now < member.until {
            member.app.answered(self.now, flow - member.first);
            self.serve(number);
        }
    }

    /// A packet comes to a member's sender.
    #[cold]
    pub(super) fn hear(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        let flow = &self.flows[number as usize];
        let errand = self.members[flow.member as usize].errand(number);
        let Some(life) = self.pool.life(packet) else { return };
        let newer = life.cmp(&errand.sends);
        let is_up = matches!(flow.state, State::Sending | State::Stopped);
        match self.pool.asked(packet) {
            None if newer.is_eq() && is_up => {
                self.take_acknowledgment(at, packet);
                return self.note_acknowledged(at, number);
            }
            Some(end) if life == errand.life => self.answer(at, number, (life, newer), end),
            _ => {}
        }
        self.pool.free(packet);
    }

    /// A sender is asked for data up to byte `end` of the newest connection; `newer` is what that is to its own.
    fn answer(&mut self, at: Time, number: u32, (life, newer): (u32, Ordering), end: u64) {
        let flow = &mut self.flows[number as usize];
        match (flow.state, &mut flow.source) {
            (State::Waiting, _) if newer.is_ge() => self.open(at, number, life, end),
            (State::Sending, _) if newer.is_gt() => self.open(at, number, life, end),
            // A request that comes again says nothing new.
            (State::Sending, Source::Tcp(connection))
                if newer.is_eq() && end > connection.sender.supplied() =>
            {
                connection.sender.supply(end);
                self.pump(at, number);
            }
            _ => {}
        }
    }

    /// A member's sender has acted: it may have everything acknowledged.
    #[cold]
    pub(super) fn note_acknowledged(&mut self, at: Time, number: u32) {
        let flow = &mut self.flows[number as usize];
        let done = match (&flow.source, flow.state) {
            (Source::Datagrams(_), state) => state == State::Stopped,
            (Source::Tcp(connection), State::Sending) => {
                !self.members[flow.member as usize].asks && connection.sender.is_done()
            }
            (Source::Tcp(connection), State::Stopped) => connection.sender.is_done(),
            _ => false,
        };
        if !done {
            return;
        }
        if flow.state == State::Sending {
            self.probe.stopped(at, number);
        }
        // What its next connection has to do before is not known yet.
        (flow.state, flow.stop) = (State::Done, Time::NEVER);
        self.events.push(at, Event::new(Kind::Ended, number));
    }

    /// A sender has everything acknowledged.
    pub(super) fn ended(&mut self, flow: u32) {
        self.flows[flow as usize].state = State::Idle;
        let number = self.flows[flow as usize].member;
        let member = &mut self.members[number as usize];
        if self.now < member.until {
            member.app.acknowledged(self.now);
            self.serve(number);
        } else {
            self.vacate(number);
        }
    }

    /// A packet that leaves an end is told of which of its connections that is.
    #[cold]
    pub(super) fn label(&mut self, packet: Packet, of: impl Fn(&Errand) -> u32) {
        let number = packet.flow_number();
        let member = self.flows[number as usize].member;
        let life = of(self.members[member as usize].errand(number));
        self.pool.set_life(packet, life);
    }
}
