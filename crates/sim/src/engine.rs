//! The engine: links and flows act in the order of what can reach whom.
//!
//! Only where flows meet does it matter who comes first: at the shared links.
//! Between them everything is a function of one flow alone, so it is computed
//! as soon as a packet has left a shared link: the private links behind it (see
//! [`crate::leg`]), the receiver, the acknowledgment, the sender, what it sends
//! in answer, up to the inbox of the next shared link, each with its own time,
//! which may lie ahead of the present. A shared link works its inbox off in the
//! order of time, in batches: what leaves it arrives at the other end of the
//! wire a propagation delay later, so that long it may wait.
//!
//! ```text
//!  inbox -> |bottleneck| -> private links -> receiver -> private links -> inbox of the return link
//! ```
//!
//! The event queue holds what happens by itself: changes, updates of laws,
//! timers, starts and stops, and when an inbox must be looked at. The outcome is
//! to the bit that of an event for every arrival at every link and endpoint
//! ([`Simulation::stepwise`], the reference).

mod members;

use crate::event::{Event, Kind, MOST_COMPONENTS};
use crate::event_queue::EventQueue;
use crate::flow::{Flow, Source, State};
use crate::inbox::Entry;
use crate::leg::{End, Layout, Leg};
use crate::link::{Link, Managed, Private, Queue, Speed};
use crate::member::{Class, Member, NOBODY};
use crate::network::{Change, FlowPlan, LinkChange, Network};
use crate::packet::{Packet, Pool};
use crate::probe::Probe;
use crate::wire::Wire;
use sojourn_aqm::{Cause, Disc, Given, Sink};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;
use std::hint::black_box;

/// A network at work.
pub struct Simulation<P> {
    now: Time,
    events: EventQueue<Event>,
    counts: Counts,
    links: Vec<Link>,
    /// The wires that do something to packets, each with its link's number.
    wires: Vec<(u32, Wire)>,
    private: Vec<Private>,
    /// The speeds of the private links.
    speeds: Vec<Speed>,
    legs: Vec<Leg>,
    flows: Vec<Flow>,
    classes: Vec<Class>,
    /// What comes and goes over some of the flows.
    members: Vec<Member>,
    /// What links and legs are added with; it has none itself.
    layout: Layout,
    seed: u64,
    /// The flows whose applications read at rates of their own, and until when the probe was told of it.
    readers: BTreeMap<u32, Time>,
    pool: Pool,
    changes: Vec<Change>,
    /// Whether every arrival waits for its time.
    stepwise: bool,
    /// The memory of the batch at work.
    batch: Vec<Entry>,
    /// What has left a shared link, and when it arrives behind it.
    departed: Vec<Entry>,
    probe: P,
}

/// What the engine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events taken from the queue.
    pub events: u64,
    /// Packets that came to a shared link.
    pub arrivals: u64,
}

impl<P: Probe> Simulation<P> {
    /// The network at the start of the run with this seed.
    pub fn new(network: Network, seed: u64, probe: P) -> Simulation<P> {
        Simulation::build(network, seed, probe, false)
    }

    /// The same with an event for every arrival at every link and endpoint: slower, and with the same outcome.
    pub fn stepwise(network: Network, seed: u64, probe: P) -> Simulation<P> {
        Simulation::build(network, seed, probe, true)
    }

    fn build(mut network: Network, seed: u64, probe: P, stepwise: bool) -> Simulation<P> {
        let (mut layout, first) = Layout::new(&mut network, stepwise);
        let links = std::mem::take(&mut layout.links);
        let most = links.len().max(network.flows.len()).max(network.changes.len());
        assert!(most < MOST_COMPONENTS, "too large a network: {most} links, flows or changes");
        let gap = links.iter().filter(|link| !link.is_station).map(|link| link.transmitter.gap()).min();
        let mut events = EventQueue::new(gap.unwrap_or_default());
        for (number, change) in network.changes.iter_mut().enumerate() {
            events.push(change.time, Event::new(Kind::Change, number as u32));
            change.link = place(&links, change.link).expect("a link that changes is shared") as u32;
        }
        let mut simulation = Simulation {
            now: Time::ZERO,
            events,
            counts: Counts::default(),
            links,
            wires: std::mem::take(&mut layout.wires),
            private: std::mem::take(&mut layout.private),
            speeds: std::mem::take(&mut layout.speeds),
            legs: std::mem::take(&mut layout.legs),
            flows: Vec::with_capacity(network.flows.len()),
            classes: network.classes.into_iter().map(|plan| Class::new(plan, seed)).collect(),
            members: Vec::new(),
            layout,
            seed,
            readers: BTreeMap::new(),
            pool: Pool::default(),
            changes: network.changes,
            stepwise,
            batch: Vec::new(),
            departed: Vec::new(),
            probe,
        };
        for (plan, first) in network.flows.into_iter().zip(first) {
            simulation.add_planned(plan, first);
        }
        (0..simulation.classes.len() as u32).for_each(|class| simulation.open_class(class));
        (0..simulation.links.len() as u32).for_each(|link| simulation.schedule_update(link));
        simulation
    }

    /// Adds a flow that starts and stops as planned.
    fn add_planned(&mut self, plan: FlowPlan, first: [u32; 2]) {
        let number = self.flows.len() as u32;
        let (start, stop) = (plan.start, plan.stop);
        self.add_flow(plan, first);
        let flow = &self.flows[number as usize];
        if flow.member == NOBODY {
            self.events.push(start, Event::new(Kind::Start, number));
            if let Some(stop) = stop {
                self.events.push(stop, Event::new(Kind::Stop, number));
            }
        } else if self.members[flow.member as usize].first == number {
            self.events.push(start, Event::new(Kind::Start, number));
        }
    }

    fn add_flow(&mut self, plan: FlowPlan, first: [u32; 2]) {
        let number = self.flows.len() as u32;
        let member = self.add_member(&plan, number);
        self.probe.joined(number, plan.class);
        self.flows.push(Flow::new(plan, first, member, self.seed));
    }

    /// Lets everything happen that is due by `until`.
    pub fn advance(&mut self, until: Time) {
        while !self.advance_some(until, u64::MAX) {}
    }

    /// Lets things happen that are due by `until`, not much more than `most` of them; says whether that was all.
    pub fn advance_some(&mut self, until: Time, most: u64) -> bool {
        let enough = self.work().saturating_add(most);
        while self.work() < enough {
            let Some((time, event)) = self.events.pop_by(until) else {
                self.now = self.now.max(until);
                (0..self.links.len() as u32).for_each(|link| self.catch_up(link, just_after(until)));
                self.links.iter_mut().for_each(|link| link.count_capacity(until));
                return true;
            };
            debug_assert!(time >= self.now, "time runs back");
            self.now = time;
            self.counts.events += 1;
            self.handle(event);
        }
        false
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What has been done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The probe.
    pub fn probe(&mut self) -> &mut P {
        &mut self.probe
    }

    /// The disc in front of a link.
    pub fn disc(&self, link: u32) -> Option<&dyn Disc<Packet>> {
        self.link(link)?.disc()
    }

    /// Bits on the wire that a shared link has sent since the start; None for a private link.
    pub fn sent_bits(&self, link: u32) -> Option<f64> {
        Some(self.link(link)?.sent_bits(self.now))
    }

    /// Bits that a shared link could have sent since the start; None for a private link.
    pub fn capacity_bits(&self, link: u32) -> Option<f64> {
        Some(self.link(link)?.capacity_bits(self.now))
    }

    /// Tells what applications that read at rates of their own have read up to the end of the run.
    pub fn finish_reading(&mut self, end: Time) {
        for (number, since) in &self.readers {
            if let Source::Tcp(connection) = &self.flows[*number as usize].source {
                let by = |time| connection.receiver.read_by(time).unwrap_or_default();
                self.probe.read(*since, end, *number, &by);
            }
        }
    }

    /// Asserts that every packet is accounted for: offered = delivered + dropped + held, and no segment is held but by
    /// a packet on its way.
    pub fn assert_conservation(&self) {
        let on_their_way = self
            .links
            .iter()
            .map(|link| link.inbox.len() + link.disc().map_or(0, |disc| disc.backlog().packets as usize));
        let late = self.members.iter().map(Member::late);
        let (segments, packets) = (self.pool.held(), on_their_way.chain(late).sum::<usize>());
        assert!(segments <= packets, "{segments} segments and datagrams of {packets} packets");
        for link in &self.links {
            if let Some(disc) = link.disc() {
                let (counts, held, number) = (disc.counts(), disc.backlog().packets, link.number);
                assert!(counts.conserve(held), "link {number} lost or made packets: {counts:?}, {held} held");
            }
        }
    }

    fn link(&self, number: u32) -> Option<&Link> {
        place(&self.links, number).map(|place| &self.links[place])
    }

    fn work(&self) -> u64 {
        self.counts.events + self.counts.arrivals
    }

    fn handle(&mut self, event: Event) {
        match event.parts() {
            (Kind::Change, number) => self.change(number),
            (Kind::Update, link) => self.update(link),
            (Kind::Arrive | Kind::Drain, link) => self.drain(link),
            (Kind::Receiver, flow) => self.receiver_timer(flow),
            (Kind::Sender, flow) => self.sender_timer(flow),
            (Kind::Start, flow) => self.start(flow),
            (Kind::Stop, flow) => match self.flows[flow as usize].member {
                NOBODY => self.stop(self.now, flow),
                member => self.leave(member),
            },
            (Kind::Count, class) => self.count(class),
            (Kind::Arrival, class) => self.arrival(class),
            (Kind::Late, flow) => self.late(flow),
            (Kind::Told, flow) => self.told(flow),
            (Kind::Act, member) => self.act(member),
            (Kind::Ended, flow) => self.ended(flow),
        }
    }
}

/// Shared links.
impl<P: Probe> Simulation<P> {
    /// Lets everything happen at a link that happens there before `end`.
    fn catch_up(&mut self, link: u32, end: Time) {
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
            &mut Watch { probe: &mut self.probe, pool: &mut self.pool, link: at.number },
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
        let taken =
            disc.dequeue(now, &mut Watch { probe: &mut self.probe, pool: &mut self.pool, link: at.number });
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
    fn drain(&mut self, link: u32) {
        let now = self.now;
        if self.links[link as usize].drain.is_due(now) {
            self.catch_up(link, just_after(now));
        }
    }

    fn schedule_drain(&mut self, link: u32) {
        let stepwise = self.stepwise;
        let at = &mut self.links[link as usize];
        let next = at.inbox.first().min(at.next_departure(stepwise));
        let wait = if stepwise { Span::ZERO } else { at.transmitter.delay() };
        if let Some(time) = at.drain.needs((next < Time::NEVER).then(|| next + wait)) {
            let kind = if at.is_station { Kind::Arrive } else { Kind::Drain };
            self.events.push(time, Event::new(kind, link));
        }
    }

    fn update(&mut self, link: u32) {
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

    fn schedule_update(&mut self, link: u32) {
        let Queue::Managed(managed) = &mut self.links[link as usize].queue else { return };
        if let Some(due) = managed.disc.next_update() {
            managed.update = due;
            self.events.push(due, Event::new(Kind::Update, link));
        }
    }

    fn change(&mut self, number: u32) {
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

/// Legs, and the endpoints behind them. `at` is when it happens, which may lie ahead.
impl<P: Probe> Simulation<P> {
    /// A packet enters its leg.
    fn travel(&mut self, mut at: Time, packet: Packet) {
        let place = packet.leg as usize;
        let (leg, next) = (self.legs[place], self.legs[place + 1]);
        for link in &mut self.private[leg.from as usize..next.from as usize] {
            at = link.send(at, packet.size(), &mut self.speeds);
        }
        match leg.end() {
            End::Link(link) => {
                let next = &mut self.links[link as usize].inbox;
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

    /// A packet that would come to the far end of a link at `at` meets what the wire does to it.
    #[cold]
    #[inline(never)]
    fn carry(&mut self, at: Time, wire: u32, packet: Packet) {
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
        self.travel(fate.at, packet);
        if let Some(copy) = copy {
            self.travel(fate.at, copy);
        }
    }

    /// A packet comes to the receiver, which may answer.
    #[expect(clippy::inline_always, reason = "every packet calls it once")]
    #[inline(always)]
    fn receive(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        let flow = &self.flows[number as usize];
        let timer = flow.receiver_timer;
        if flow.member != NOBODY && !self.admits(at, packet) {
            return;
        }
        if timer.may_be_before(at) {
            self.acknowledge_before(at, number);
        }
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection) = &mut flow.source else { return self.receive_datagram(at, packet) };
        // Its checksum gives a damaged one away.
        let Some(segment) = self.pool.take(packet) else { return };
        let (reverse, life, member) = (flow.reverse, flow.heard, flow.member);
        let receiver = &mut connection.receiver;
        let slow = receiver.read_by(at).is_some();
        if slow {
            let since = self.readers.insert(number, at).unwrap_or(Time::ZERO);
            self.probe.read(since, at, number, &|time| receiver.read_by(time).unwrap_or_default());
        }
        let before = receiver.delivered();
        let answer = receiver.on_segment(at, segment);
        let end = receiver.delivered();
        if let Some(time) = flow.receiver_timer.needs(receiver.next_timeout()) {
            self.events.push(time, Event::new(Kind::Receiver, number));
        }
        if !slow {
            self.probe.received(at, number, end - before);
        }
        if member != NOBODY && end > before {
            self.note_delivered(at, number, end);
        }
        if let Some(ack) = answer {
            let packet = self.pool.of_segment(ack, number, reverse, life);
            self.travel(at, packet);
        }
    }

    /// An acknowledgment that is due before `at` is on its way before.
    fn acknowledge_before(&mut self, at: Time, number: u32) {
        loop {
            let flow = &mut self.flows[number as usize];
            let Source::Tcp(connection) = &mut flow.source else { return };
            let receiver = &mut connection.receiver;
            let Some(due) = receiver.next_timeout().filter(|due| *due < at) else { return };
            if let Some(ack) = receiver.on_timeout(due) {
                let packet = self.pool.of_segment(ack, number, flow.reverse, flow.heard);
                self.travel(due, packet);
            }
        }
    }

    /// A datagram comes to the receiver, which may send it back.
    fn receive_datagram(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        // Its checksum gives a damaged one away.
        let Some(sent) = self.pool.take_datagram(packet) else { return };
        let payload = packet.size().saturating_sub(UDP_HEADER);
        self.probe.received(at, number, u64::from(payload));
        self.probe.datagram(at, number, at.since(sent));
        let flow = &self.flows[number as usize];
        let Source::Datagrams(datagrams) = &flow.source else { return };
        if let Some(answer) = datagrams.answer(packet.size() as u16) {
            // It carries the time of the question.
            let packet = self.pool.datagram(sent, answer, number, flow.reverse);
            self.travel(at, packet);
        }
    }

    /// An acknowledgment comes to the sender, or a request, or a datagram that was sent back.
    fn acknowledge(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        // What is due before happens before.
        loop {
            let flow = &self.flows[number as usize];
            let Source::Tcp(_) = &flow.source else {
                let Some(sent) = self.pool.take_datagram(packet) else { return };
                return self.probe.rtt(at, number, at.since(sent));
            };
            let stop = flow.stop;
            let due = if flow.sender_timer.may_be_before(at) { flow.deadline() } else { None };
            if let Some(due) = due.filter(|due| *due < at && *due <= stop) {
                self.expire(due, number);
            } else if stop < at {
                self.stop(stop, number);
            } else if flow.member == NOBODY {
                return self.take_acknowledgment(at, packet);
            } else {
                return self.hear(at, packet);
            }
        }
    }

    /// An acknowledgment comes to the sender.
    #[expect(clippy::inline_always, reason = "every packet calls it once")]
    #[inline(always)]
    fn take_acknowledgment(&mut self, at: Time, packet: Packet) {
        let number = packet.flow_number();
        let Source::Tcp(connection) = &mut self.flows[number as usize].source else { return };
        let Some(segment) = self.pool.take(packet) else { return };
        let progress = connection.sender.on_segment(at, segment);
        if let Some(rtt) = progress.rtt {
            self.probe.rtt(at, number, rtt);
        }
        self.pump(at, number);
    }

    /// Sends what the sender may send.
    fn pump(&mut self, at: Time, number: u32) {
        loop {
            let flow = &mut self.flows[number as usize];
            let Source::Tcp(connection) = &mut flow.source else { return };
            let Some(segment) = connection.sender.poll_transmit(at) else {
                if let Some(time) = flow.sender_timer.needs(connection.sender.next_timeout()) {
                    self.events.push(time, Event::new(Kind::Sender, number));
                }
                if flow.state == State::Sending {
                    self.probe.window(at, number, connection.window());
                }
                return;
            };
            let packet = self.pool.of_segment(segment, number, flow.forward, flow.life);
            self.travel(at, packet);
        }
    }

    /// The sender's timer expires.
    fn expire(&mut self, at: Time, number: u32) {
        if let Source::Tcp(connection) = &mut self.flows[number as usize].source {
            connection.sender.on_timeout(at);
            self.pump(at, number);
        }
    }
}

/// What flows do by themselves.
impl<P: Probe> Simulation<P> {
    fn start(&mut self, number: u32) {
        let member = self.flows[number as usize].member;
        if member != NOBODY {
            return self.start_member(member);
        }
        let flow = &mut self.flows[number as usize];
        flow.state = State::Sending;
        match &mut flow.source {
            Source::Tcp(connection) => {
                connection.sender.supply(u64::MAX);
                connection.sender.open();
                self.pump(self.now, number);
            }
            Source::Datagrams(_) => self.schedule_datagram(number),
        }
    }

    fn stop(&mut self, at: Time, number: u32) {
        let flow = &mut self.flows[number as usize];
        if flow.stop != at {
            return;
        }
        flow.stop = Time::NEVER;
        match flow.state {
            State::Waiting if flow.member != NOBODY => flow.state = State::Idle,
            State::Waiting | State::Sending => {
                flow.state = State::Stopped;
                let member = flow.member;
                if let Source::Tcp(connection) = &mut flow.source {
                    connection.sender.stop();
                    self.probe.stopped(at, number);
                }
                if member != NOBODY {
                    // FIN goes out also where nothing is under way.
                    self.pump(at, number);
                    self.note_acknowledged(at, number);
                }
            }
            State::Stopped | State::Done | State::Idle => {}
        }
    }

    fn sender_timer(&mut self, number: u32) {
        let now = self.now;
        let flow = &mut self.flows[number as usize];
        match &mut flow.source {
            Source::Tcp(_) => {
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
                self.travel(now, packet);
            }
        }
    }

    /// Asks the source of datagrams again when the next one is due.
    fn schedule_datagram(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        let Source::Datagrams(datagrams) = &flow.source else { return };
        let next = Some(datagrams.next()).filter(|next| *next < Time::NEVER);
        if let Some(time) = flow.sender_timer.needs(next) {
            self.events.push(time, Event::new(Kind::Sender, number));
        }
    }

    fn receiver_timer(&mut self, number: u32) {
        let now = self.now;
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection) = &mut flow.source else { return };
        if !flow.receiver_timer.is_due(now) {
            return;
        }
        let answer = connection.receiver.on_timeout(now);
        if let Some(time) = flow.receiver_timer.needs(connection.receiver.next_timeout()) {
            self.events.push(time, Event::new(Kind::Receiver, number));
        }
        if let Some(ack) = answer {
            let packet = self.pool.of_segment(ack, number, flow.reverse, flow.heard);
            self.travel(now, packet);
        }
    }
}

/// The end of what happens at `time`.
fn just_after(time: Time) -> Time {
    time + Span::from_nanos(1)
}

/// So many packets travel on together: few enough to stay near.
const TOGETHER: usize = 256;
/// So many packets ahead memory is called for; twice as many, where it tells of more.
const AHEAD: usize = 16;
/// The headers of a datagram, bytes: IPv4 and UDP (RFC 791, RFC 768).
const UDP_HEADER: u32 = 28;

/// Where the link with this number is, if it is not private.
fn place(links: &[Link], number: u32) -> Option<usize> {
    links.binary_search_by_key(&number, |link| link.number).ok()
}

/// Passes on to the probe what a disc does with packets.
struct Watch<'a, P> {
    probe: &'a mut P,
    pool: &'a mut Pool,
    link: u32,
}

impl<P: Probe> Sink<Packet> for Watch<'_, P> {
    fn dropped(&mut self, now: Time, packet: Packet, cause: Cause) {
        self.pool.free(packet);
        self.probe.dropped(now, self.link, packet.flow_number(), cause);
    }
    fn marked(&mut self, now: Time, packet: &Packet) {
        self.probe.marked(now, self.link, packet.flow_number());
    }
}
