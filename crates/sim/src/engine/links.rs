//! Shared links at work: what comes to them, what leaves them, and what changes about them.

use super::{Simulation, just_after};
use crate::event::{Event, Kind};
use crate::flow::Source;
use crate::inbox::Entry;
use crate::leg::End;
use crate::link::{Managed, Private, Queue};
use crate::network::{Change, LinkChange};
use crate::packet::{Packet, Pool};
use crate::probe::Probe;
use sojourn_aqm::{Cause, Given, Sink};
use sojourn_units::{Span, Time};
use std::hint::black_box;

impl<P: Probe> Simulation<P> {
    /// Lets everything happen at a link that happens there before `end`.
    pub(super) fn catch_up(&mut self, link: u32, end: Time) {
        let mut batch = std::mem::take(&mut self.batch);
        self.links[link as usize].inbox.take_before(end, &mut batch);
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

    /// What has left a shared link travels on.
    ///
    /// With thousands of flows the memory of each is far away. So it is called for some packets ahead, by reading
    /// here and there, and comes while others are at work.
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

    /// Something of the memory that tells where the rest of a packet's is.
    fn nearby(&self, packet: Packet) -> u64 {
        let flow = &self.flows[packet.flow_number() as usize];
        flow.stop.nanos() ^ u64::from(flow.forward) ^ self.pool.begins(packet)
    }

    /// Something of the memory of the ends that a packet comes to.
    fn near_ends(&self, packet: Packet) -> u64 {
        let leg = self.legs[packet.leg as usize];
        let private = self.private.get(leg.from as usize).map_or(0, Private::nearby);
        private
            ^ match (&self.flows[packet.flow_number() as usize].source, leg.end()) {
                (Source::Tcp(connection), End::Receiver) => connection.receiver.nearby(),
                (Source::Tcp(connection), End::Sender) => connection.sender.nearby(),
                _ => 0,
            }
    }

    /// A packet comes to the near end of a link.
    fn offer(&mut self, now: Time, link: u32, packet: Packet) {
        let at = &mut self.links[link as usize];
        let Queue::Managed(Managed { disc, asking, .. }) = &mut at.queue else {
            let time = if at.is_station { now } else { at.send(now, packet.size()) };
            return self.departed.push(Entry { time, packet: packet.on_next_leg() });
        };
        self.probe.offered(now, at.number, packet.flow_number());
        disc.enqueue(
            now,
            packet,
            &mut DiscSink { probe: &mut self.probe, pool: &mut self.pool, link: at.number },
        );
        if P::ASKS_FOR_BACKLOG {
            self.probe.backlog(now, at.number, disc.backlog());
        }
        if !*asking {
            *asking = true;
            if at.transmitter.is_ready(now) {
                self.transmit(now, link);
            }
        }
    }

    /// Lets the disc's departures before `end` happen.
    fn depart(&mut self, link: u32, end: Time) {
        loop {
            let at = &self.links[link as usize];
            let free = at.transmitter.free();
            match &at.queue {
                Queue::Managed(managed) if managed.asking && free < end => self.transmit(free, link),
                _ => return,
            }
        }
    }

    /// The transmitter of a link with a disc is free at `now`, and asks for a packet.
    fn transmit(&mut self, now: Time, link: u32) {
        let at = &mut self.links[link as usize];
        let Queue::Managed(Managed { disc, asking, .. }) = &mut at.queue else { return };
        let taken = disc
            .dequeue(now, &mut DiscSink { probe: &mut self.probe, pool: &mut self.pool, link: at.number });
        *asking = taken.is_some();
        if let Some((packet, sojourn)) = &taken {
            self.probe.delivered(now, at.number, packet.flow_number(), *sojourn);
        }
        if P::ASKS_FOR_BACKLOG {
            self.probe.backlog(now, at.number, disc.backlog());
        }
        if let Some((packet, _)) = taken {
            let time = at.send(now, packet.size());
            self.departed.push(Entry { time, packet: packet.on_next_leg() });
        }
    }

    /// What came to a link must be looked at now, so that it is not late at the next one.
    pub(super) fn drain(&mut self, link: u32) {
        let now = self.now;
        if self.links[link as usize].drain.is_due(now) {
            self.catch_up(link, just_after(now));
        }
    }

    pub(super) fn schedule_drain(&mut self, link: u32) {
        let stepwise = self.stepwise;
        let at = &mut self.links[link as usize];
        let next = at.inbox.first().min(at.next_departure(stepwise));
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
            // Meanwhile the law has taken parameters that want it at another time.
            return;
        }
        self.catch_up(link, now);
        if let Queue::Managed(managed) = &mut self.links[link as usize].queue {
            managed.disc.on_update(managed.update, now);
            managed.update = Time::NEVER;
        }
        self.schedule_update(link);
    }

    pub(super) fn schedule_update(&mut self, link: u32) {
        let Queue::Managed(managed) = &mut self.links[link as usize].queue else { return };
        if let Some(due) = managed.disc.next_update() {
            managed.update = due;
            self.events.push(due, Event::new(Kind::Update, link));
        }
    }

    pub(super) fn change(&mut self, number: u32) {
        let now = self.now;
        let Change { every, until, link, ref what, .. } = self.changes[number as usize];
        let what = what.clone();
        if let Some(next) = every.map(|every| now + every).filter(|next| *next <= until) {
            self.events.push(next, Event::new(Kind::Change, number));
        }
        self.catch_up(link, now);
        let at = &mut self.links[link as usize];
        match what {
            LinkChange::Delay(delay) => at.transmitter.change_delay(delay),
            LinkChange::Rate(rate) => at.change_rate(now, rate),
            LinkChange::Law(given) => self.retune(link, &given),
        }
        self.schedule_drain(link);
    }

    /// Gives the law in front of a link these parameters.
    fn retune(&mut self, link: u32, given: &Given) {
        let Queue::Managed(managed) = &mut self.links[link as usize].queue else { return };
        let taken = managed.disc.retune(self.now, given);
        assert!(taken.is_ok(), "parameters that nobody has checked: {taken:?}");
        if managed.disc.next_update().unwrap_or(Time::NEVER) != managed.update {
            managed.update = Time::NEVER;
            self.schedule_update(link);
        }
    }
}

/// Passes on to the probe what a disc does with packets.
struct DiscSink<'a, P> {
    probe: &'a mut P,
    pool: &'a mut Pool,
    link: u32,
}

impl<P: Probe> Sink<Packet> for DiscSink<'_, P> {
    fn dropped(&mut self, now: Time, packet: Packet, cause: Cause) {
        self.pool.free(packet);
        self.probe.dropped(now, self.link, packet.flow_number(), cause);
    }
    fn marked(&mut self, now: Time, packet: &Packet) {
        self.probe.marked(now, self.link, packet.flow_number());
    }
}

/// So many packets travel on together: few enough to stay near.
const TOGETHER: usize = 256;
/// So many packets ahead memory is called for; twice as many, where it tells of more.
const AHEAD: usize = 16;
