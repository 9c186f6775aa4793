//! Members of classes at work: they come, connect, ask, leave, and come again over the same flows.
//!
//! What one flow does is computed ahead of time, so each end finds out by itself where a
//! connection is over: packets carry the number of theirs (`life`). A sender that has
//! everything acknowledged hears nothing more, and begins the next connection with a fresh state; a receiver
//! does when the first packet of it comes. Older packets are thrown away. What concerns
//! a member as a whole waits for its time: events tell it that a sender has ended, or that an answer is there.

use super::Simulation;
use crate::apps::datagrams::Datagrams;
use crate::apps::{Ask, Wish};
use crate::event::{Event, Kind};
use crate::flow::{Connection, Source, State};
use crate::member::{Class, Errand, Member, NOBODY, PATIENCE};
use crate::network::{self, FlowPlan, SourcePlan};
use crate::packet::Packet;
use crate::probe::Probe;
use sojourn_units::{Span, Stream, Time};
use std::cmp::Reverse;

/// Coming and going.
impl<P: Probe> Simulation<P> {
    /// A class begins: its arrivals, and the schedule of its number.
    pub(super) fn open_class(&mut self, class: u32) {
        let Class { plan, .. } = &self.classes[class as usize];
        for (time, _) in &plan.counts {
            self.events.push(*time, Event::new(Kind::Count, class));
        }
        self.schedule_arrival(class);
    }

    fn schedule_arrival(&mut self, class: u32) {
        let Class { plan, schedule, .. } = &mut self.classes[class as usize];
        let next = schedule.as_mut().and_then(|schedule| schedule.next(self.now));
        if let Some(time) = next.filter(|time| *time < plan.stop.unwrap_or(Time::NEVER)) {
            self.events.push(time, Event::new(Kind::Arrival, class));
        }
    }

    /// Some come, as many as there may be.
    pub(super) fn arrival(&mut self, number: u32) {
        let Some(schedule) = &mut self.classes[number as usize].schedule else { return };
        let (count, bytes) = schedule.come();
        for _ in 0..count {
            let class = &mut self.classes[number as usize];
            // Drawn also for those that are turned away: the others' are the same whatever the network does.
            let bytes = bytes.or_else(|| class.draw_size());
            let stays = class.draw_lifetime();
            if class.present >= class.most {
                self.probe.turned_away(self.now, number);
                continue;
            }
            let free = class.free.pop().map(|Reverse(free)| class.members[free as usize]);
            let member = free.unwrap_or_else(|| self.join(number));
            self.begin(member, bytes, stays);
        }
        self.schedule_arrival(number);
    }

    /// The number of members changes: the last ones leave by themselves, others come.
    pub(super) fn count(&mut self, number: u32) {
        let class = &mut self.classes[number as usize];
        let now = class.plan.counts.iter().rev().find(|(time, _)| *time == self.now);
        let (before, most) = (class.most, now.map_or(class.most, |(_, most)| *most));
        class.most = most;
        if class.schedule.is_some() {
            return;
        }
        for place in most..before {
            if let Some(member) = self.classes[number as usize].members.get(place as usize) {
                self.members[*member as usize].recalled = false;
            }
        }
        for place in before..most {
            match self.classes[number as usize].members.get(place as usize).copied() {
                Some(member) if self.members[member as usize].present => {
                    let member = &mut self.members[member as usize];
                    member.recalled = member.until <= self.now;
                }
                Some(member) => self.begin(member, None, None),
                None => {
                    let member = self.join(number);
                    self.begin(member, None, None);
                }
            }
        }
    }

    /// A member is made; gives its number among all.
    fn join(&mut self, number: u32) -> u32 {
        let class = &self.classes[number as usize];
        let place = class.members.len() as u32;
        let joining = class.plan.joining.clone().expect("a class that grows has a plan of what joins");
        let (most, stop) = (class.plan.most, class.plan.stop);
        self.swap_layout();
        let legs = self.layout.join(&joining, (place, most), joining.source.flows());
        self.swap_layout();
        let first = self.flows.len() as u32;
        for legs in legs {
            let plan = FlowPlan {
                class: number,
                member: place,
                source: joining.source.clone(),
                forward: Vec::new(),
                reverse: Vec::new(),
                start: self.now,
                stop,
            };
            self.add_flow(plan, legs);
        }
        self.flows[first as usize].member
    }

    /// The layout has the links and legs while it works on them.
    fn swap_layout(&mut self) {
        std::mem::swap(&mut self.links, &mut self.layout.links);
        std::mem::swap(&mut self.private, &mut self.layout.private);
        std::mem::swap(&mut self.speeds, &mut self.layout.speeds);
        std::mem::swap(&mut self.legs, &mut self.layout.legs);
    }

    /// A new flow belongs to a member, the last one or one more; gives that one's number.
    pub(super) fn add_member(&mut self, plan: &FlowPlan, flow: u32) -> u32 {
        let class = &mut self.classes[plan.class as usize];
        let app = match &plan.source {
            SourcePlan::App(_, app) => Some(app),
            _ if class.comes_and_goes() => None,
            _ => return NOBODY,
        };
        if (plan.member as usize) < class.members.len() {
            let member = class.members[plan.member as usize];
            self.members[member as usize].errands.push(Errand::none());
            return member;
        }
        let name = format!("{}/{}", class.plan.name, plan.member);
        class.members.push(self.members.len() as u32);
        self.members.push(Member {
            class: plan.class,
            number: plan.member,
            first: flow,
            errands: vec![Errand::none()],
            app: crate::apps::of_plan(app, self.seed, &name),
            asks: plan.source.asks(),
            source: plan.source.clone(),
            streams: 0,
            present: false,
            recalled: false,
            stop: plan.stop.unwrap_or(Time::NEVER),
            until: Time::ZERO,
            stop_timer: crate::flow::Timer::OFF,
            timer: crate::flow::Timer::OFF,
            lifetimes: Stream::named(self.seed, &format!("{name}/lifetime")),
        });
        self.members.len() as u32 - 1
    }

    /// The start of a member that there is from the beginning, if it is not there already and still wanted.
    pub(super) fn start_member(&mut self, number: u32) {
        let member = &self.members[number as usize];
        let class = &self.classes[member.class as usize];
        if !member.present && member.number < class.most {
            self.begin(number, None, None);
        }
    }

    /// A member comes, to transfer `bytes` and to stay so long, where that is told.
    fn begin(&mut self, number: u32, bytes: Option<u64>, stays: Option<Span>) {
        let now = self.now;
        let member = &mut self.members[number as usize];
        let class = &mut self.classes[member.class as usize];
        let own = class.plan.lifetime.as_ref().filter(|_| class.schedule.is_none());
        let own = own.map(|draw| Span::from_seconds(draw.sample(&mut member.lifetimes)));
        let stays = stays.or(own).map_or(Time::NEVER, |stays| now + stays);
        // Where they arrive, the number only says who is let in.
        let fewer = if class.schedule.is_some() { Time::NEVER } else { class.fewer_from(now, member.number) };
        member.until = member.stop.min(stays).min(fewer);
        if member.until <= now {
            if class.schedule.is_some() {
                class.free.push(Reverse(member.number));
            }
            return;
        }
        member.present = true;
        class.present += 1;
        if member.asks {
            for flow in member.flows() {
                let flow = &mut self.flows[flow as usize];
                (flow.state, flow.stop) = (State::Waiting, member.until);
            }
            for errand in &mut member.errands {
                // What was asked for before is not answered any more.
                (errand.awaited, errand.life) = (false, errand.life.wrapping_add(1));
            }
        }
        let until = (member.until < Time::NEVER).then_some(member.until);
        if let Some(time) = member.stop_timer.needs(until) {
            self.events.push(time, Event::new(Kind::Stop, member.first));
        }
        member.app.start(now, bytes);
        self.serve(number);
    }

    /// A member's time is over: its senders send nothing new.
    pub(super) fn leave(&mut self, number: u32) {
        let member = &mut self.members[number as usize];
        if !member.stop_timer.is_due(self.now) {
            return;
        }
        if member.until > self.now {
            if let Some(time) =
                member.stop_timer.needs(Some(member.until).filter(|until| *until < Time::NEVER))
            {
                self.events.push(time, Event::new(Kind::Stop, member.first));
            }
            return;
        }
        for flow in member.flows() {
            self.stop(self.now, flow);
        }
        self.vacate(number);
    }

    /// A member whose time is over is gone as soon as all its senders have everything acknowledged.
    fn vacate(&mut self, number: u32) {
        let member = &mut self.members[number as usize];
        let gone = |flow: u32| matches!(self.flows[flow as usize].state, State::Waiting | State::Idle);
        if !member.present || !member.flows().all(gone) {
            return;
        }
        member.present = false;
        let class = &mut self.classes[member.class as usize];
        class.present -= 1;
        if class.schedule.is_some() {
            class.free.push(Reverse(member.number));
        } else if std::mem::take(&mut member.recalled) {
            self.begin(number, None, None);
        }
    }
}

/// Applications.
impl<P: Probe> Simulation<P> {
    /// An application is asked what it wants done.
    fn serve(&mut self, number: u32) {
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
        errand.life = errand.life.wrapping_add(1);
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
            **datagrams = Datagrams::new(network::Datagrams { name, ..plan.clone() }, self.seed, self.now);
            at_work.state = State::Sending;
            return self.schedule_datagram(flow);
        }
        self.open(self.now, flow, life, bytes);
    }

    /// A sender begins a connection, with data up to byte `end`.
    fn open(&mut self, at: Time, number: u32, life: u8, end: u64) {
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection) = &mut flow.source else { return };
        if flow.life != life {
            if let Some(config) = self.members[flow.member as usize].source.config() {
                connection.sender = Connection::sender(config.clone());
            }
            flow.life = life;
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
            errand.life = errand.life.wrapping_add(1);
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
        let packet = self.pool.request(end, len, number, reverse, life);
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
        let flow = &self.flows[number as usize];
        let heard = flow.heard;
        let now = self.now;
        let member = &mut self.members[flow.member as usize];
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
        self.is_of_this_life(at, packet, heard)
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
    fn is_of_this_life(&mut self, at: Time, packet: Packet, heard: u8) -> bool {
        let number = packet.flow_number();
        let newer = packet.life.wrapping_sub(heard).cast_signed();
        if newer < 0 {
            self.pool.free(packet);
            return false;
        }
        // Requests and acknowledgments that are due before go before.
        if let Some(before) = at.nanos().checked_sub(1) {
            self.repeat_until(Time::from_nanos(before), number);
        }
        if newer > 0 {
            self.acknowledge_before(at, number);
            let flow = &mut self.flows[number as usize];
            if let Source::Tcp(connection) = &mut flow.source {
                let receiver = &mut connection.receiver;
                if let Some(since) = self.readers.remove(&number) {
                    self.probe.read(since, at, number, &|time| receiver.read_by(time).unwrap_or_default());
                }
                if let Some(config) = self.members[flow.member as usize].source.config() {
                    *receiver = Connection::receiver(config.clone());
                }
                flow.heard = packet.life;
            }
        }
        true
    }

    /// A member's receiver has got in order all up to byte `end`.
    #[cold]
    pub(super) fn note_delivered(&mut self, at: Time, number: u32, end: u64) {
        let flow = &self.flows[number as usize];
        let heard = flow.heard;
        let member = &mut self.members[flow.member as usize];
        let asks = member.asks;
        let errand = member.errand(number);
        if errand.life != heard {
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
        let newer = packet.life.wrapping_sub(flow.life).cast_signed();
        let is_up = matches!(flow.state, State::Sending | State::Stopped);
        match self.pool.asked(packet) {
            None if newer == 0 && is_up => {
                self.take_acknowledgment(at, packet);
                return self.note_acknowledged(at, number);
            }
            Some(end) => self.answer(at, packet, (end, newer)),
            None => {}
        }
        self.pool.free(packet);
    }

    /// A sender is asked for data up to byte `end` of a connection that is newer than its own by so much.
    fn answer(&mut self, at: Time, packet: Packet, (end, newer): (u64, i8)) {
        let number = packet.flow_number();
        let flow = &mut self.flows[number as usize];
        if packet.life != self.members[flow.member as usize].errand(number).life {
            return;
        }
        match (flow.state, &mut flow.source) {
            (State::Waiting | State::Sending, _) if newer > 0 => self.open(at, number, packet.life, end),
            (State::Waiting, _) if newer == 0 => self.open(at, number, packet.life, end),
            // A request that comes again says nothing new.
            (State::Sending, Source::Tcp(connection)) if newer == 0 && end > connection.sender.supplied() => {
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
}

impl Class {
    /// How much an arrival has to transfer, where it is one transfer.
    fn draw_size(&mut self) -> Option<u64> {
        let SourcePlan::App(_, app) = &self.plan.joining.as_ref()?.source else { return None };
        app.transfer().map(|size| size.draw(&mut self.sizes))
    }

    /// How long an arrival stays.
    fn draw_lifetime(&mut self) -> Option<Span> {
        Some(Span::from_seconds(self.plan.lifetime.as_ref()?.sample(&mut self.lifetimes)))
    }
}

impl Member {
    fn flows(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.errands.len() as u32
    }
}
