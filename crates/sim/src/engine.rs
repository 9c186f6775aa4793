//! The engine: takes the next event and lets the component act.
//!
//! Three things are looked at later or earlier than they happen, because
//! nothing that happens in between can change them, and so cost no event:
//!
//! - a private link (see [`crate::leg`]) is computed when a packet enters it;
//! - a disc's departures are looked at when the next packet comes to it, or
//!   when the first of them could reach the far end of the wire;
//! - a receiver, which only its own flow's packets reach, acts on a packet as
//!   soon as its arrival is known, with the time of that arrival.
//!
//! Every component sees its own events in the order of time and with the right
//! time; the result is the same, to the bit, as with an event for each of them
//! ([`Simulation::evented`], the reference).

use crate::event::{Event, Kind, MOST_COMPONENTS};
use crate::event_queue::EventQueue;
use crate::flow::{Flow, Source, State};
use crate::leg::{End, Layout, Leg};
use crate::link::{Link, Managed, Queue, Transmitter};
use crate::network::{Change, LinkChange, Network};
use crate::packet::Packet;
use crate::probe::Probe;
use sojourn_aqm::{Cause, Disc, FlowId, Sink};
use sojourn_tcp::Segment;
use sojourn_units::{Span, Time};

/// A network at work.
pub struct Simulation<P> {
    now: Time,
    events: EventQueue<Event>,
    happened: u64,
    links: Vec<Link>,
    private: Vec<Transmitter>,
    legs: Vec<Leg>,
    flows: Vec<Flow>,
    changes: Vec<Change>,
    /// Whether what can be computed without an event is.
    direct: bool,
    probe: P,
}

impl<P: Probe> Simulation<P> {
    /// The network at the start of the run with this seed.
    pub fn new(network: Network, seed: u64, probe: P) -> Simulation<P> {
        Simulation::build(network, seed, probe, true)
    }

    /// The same with an event for every arrival at every link: slower, and with the same outcome.
    pub fn evented(network: Network, seed: u64, probe: P) -> Simulation<P> {
        Simulation::build(network, seed, probe, false)
    }

    fn build(mut network: Network, seed: u64, probe: P, direct: bool) -> Simulation<P> {
        let Layout { links, private, legs, first } = Layout::new(&mut network, direct);
        assert!(legs.len() < MOST_COMPONENTS, "too large a network: {} legs", legs.len());
        let mut events =
            EventQueue::new(links.iter().map(|link| link.transmitter.gap()).min().unwrap_or_default());
        for (number, change) in network.changes.iter_mut().enumerate() {
            events.push(change.time, Event::change(number as u32));
            change.link = place(&links, change.link).expect("a link that changes is not private") as u32;
        }
        for (number, flow) in network.flows.iter().enumerate() {
            events.push(flow.start, Event::start(number as u32));
            if let Some(stop) = flow.stop {
                events.push(stop, Event::stop(number as u32));
            }
        }
        let flows = network.flows.into_iter().zip(first).enumerate();
        let mut simulation = Simulation {
            now: Time::ZERO,
            events,
            happened: 0,
            links,
            private,
            legs,
            flows: flows.map(|(number, (plan, first))| Flow::new(plan, first, (seed, number))).collect(),
            changes: network.changes,
            direct,
            probe,
        };
        (0..simulation.links.len() as u32).for_each(|link| simulation.schedule_update(link));
        simulation
    }

    /// Lets everything happen that is due by `until`.
    pub fn advance(&mut self, until: Time) {
        while !self.advance_some(until, u64::MAX) {}
    }

    /// Lets at most `most` events happen that are due by `until`; says whether that was all of them.
    pub fn advance_some(&mut self, until: Time, most: u64) -> bool {
        for _ in 0..most {
            let Some((time, event)) = self.events.pop_by(until) else {
                self.now = self.now.max(until);
                (0..self.links.len() as u32).for_each(|link| self.catch_up(link, just_after(until)));
                return true;
            };
            debug_assert!(time >= self.now, "time runs back");
            self.now = time;
            self.happened += 1;
            self.handle(event);
        }
        false
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many events have happened.
    pub fn events(&self) -> u64 {
        self.happened
    }

    /// The probe.
    pub fn probe(&mut self) -> &mut P {
        &mut self.probe
    }

    /// The disc in front of a link.
    pub fn disc(&self, link: u32) -> Option<&dyn Disc<Packet>> {
        self.link(link)?.disc()
    }

    /// Bits that a link has sent since the start; None for a link that one flow has to itself.
    pub fn sent_bits(&self, link: u32) -> Option<f64> {
        Some(self.link(link)?.sent_bits(self.now))
    }

    /// Bits that a link could have sent since the start; None for a link that one flow has to itself.
    pub fn capacity_bits(&self, link: u32) -> Option<f64> {
        Some(self.link(link)?.capacity_bits(self.now))
    }

    /// The mean congestion window of the flows that are sending, segments; None where there is none.
    pub fn mean_window_packets(&self) -> Option<f64> {
        let windows = self.flows.iter().filter_map(Flow::window_packets);
        let (count, sum) = windows.fold((0.0, 0.0), |(count, sum), window| (count + 1.0, sum + window));
        (count > 0.0).then(|| sum / count)
    }

    /// Asserts that every packet is accounted for: offered = delivered + dropped + held.
    pub fn assert_conservation(&self) {
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

    fn handle(&mut self, event: Event) {
        match event.parts() {
            (Kind::Change, number) => self.change(self.changes[number as usize]),
            (Kind::Update, link) => self.update(link),
            (Kind::Drain, link) => self.drain(link),
            (Kind::Arrival, leg) => self.arrive(leg),
            (Kind::Sender, flow) => self.sender_timer(flow),
            (Kind::Receiver, flow) => self.receiver_timer(flow),
            (Kind::Start, flow) => self.start(flow),
            (Kind::Stop, flow) => self.stop(flow),
        }
    }
}

/// Legs.
impl<P: Probe> Simulation<P> {
    /// A packet enters its leg at `at`, which may lie ahead.
    fn travel(&mut self, at: Time, packet: Packet) {
        let number = packet.leg;
        let leg = &mut self.legs[number as usize];
        let mut at = at;
        for link in &mut self.private[leg.private()] {
            at = link.send(at, packet.len);
        }
        if self.direct && leg.end == End::Receiver {
            self.receive(at, &packet);
        } else if leg.push(at, packet) {
            self.events.push(at, Event::arrival(number));
        }
    }

    /// The first packet of a leg comes to its end.
    fn arrive(&mut self, number: u32) {
        let leg = &mut self.legs[number as usize];
        let end = leg.end;
        let Some((packet, next)) = leg.pop() else { return };
        if let Some(next) = next {
            self.events.push(next, Event::arrival(number));
        }
        match end {
            End::Link(link) => self.offer(link, packet),
            End::Receiver => self.receive(self.now, &packet),
            End::Sender => self.acknowledge(&packet),
        }
    }
}

/// Links that have events of their own.
impl<P: Probe> Simulation<P> {
    /// A packet comes to the near end of a link.
    fn offer(&mut self, link: u32, packet: Packet) {
        let now = self.now;
        self.catch_up(link, just_after(now));
        let at = &mut self.links[link as usize];
        let Queue::Managed(Managed { disc, asking, drain, .. }) = &mut at.queue else {
            let arrival = at.send(now, packet.len);
            return self.travel(arrival, packet.on_next_leg());
        };
        self.probe.offered(now, at.number);
        disc.enqueue(now, packet, &mut Watch { probe: &mut self.probe, link: at.number });
        self.probe.backlog(now, at.number, disc.backlog());
        if !*asking {
            self.transmit(now, link);
        } else if let Some(time) = drain.needs(Some(at.transmitter.horizon())) {
            self.events.push(time, Event::drain(link));
        }
    }

    /// Lets the disc's departures before `end` happen.
    fn catch_up(&mut self, link: u32, end: Time) {
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
        let taken = disc.dequeue(now, &mut Watch { probe: &mut self.probe, link: at.number });
        *asking = taken.is_some();
        if let Some((_, sojourn)) = &taken {
            self.probe.delivered(now, at.number, *sojourn);
        }
        self.probe.backlog(now, at.number, disc.backlog());
        if let Some((packet, _)) = taken {
            let arrival = at.send(now, packet.len);
            self.travel(arrival, packet.on_next_leg());
            if !self.direct {
                self.schedule_drain(link);
            }
        }
    }

    /// What leaves the disc later than now arrives later than now, too.
    fn drain(&mut self, link: u32) {
        let now = self.now;
        let Queue::Managed(managed) = &mut self.links[link as usize].queue else { return };
        if managed.drain.is_due(now) {
            self.catch_up(link, just_after(now));
            self.schedule_drain(link);
        }
    }

    fn schedule_drain(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        let Queue::Managed(managed) = &mut at.queue else { return };
        let due = if self.direct { at.transmitter.horizon() } else { at.transmitter.free() };
        let wanted = managed.asking && (managed.disc.backlog().packets > 0 || !self.direct);
        if let Some(time) = managed.drain.needs(wanted.then_some(due)) {
            self.events.push(time, Event::drain(link));
        }
    }

    fn update(&mut self, link: u32) {
        // Updates due at an instant come before its packets.
        let now = self.now;
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
            self.events.push(due, Event::update(link));
        }
    }

    fn change(&mut self, change: Change) {
        let now = self.now;
        self.catch_up(change.link, now);
        let link = &mut self.links[change.link as usize];
        match change.what {
            LinkChange::Delay(delay) => link.change_delay(delay),
            LinkChange::Rate(rate) => link.change_rate(now, rate),
        }
        self.schedule_drain(change.link);
    }
}

/// Flows.
impl<P: Probe> Simulation<P> {
    fn start(&mut self, flow: u32) {
        let at = &mut self.flows[flow as usize];
        at.state = State::Sending;
        match &mut at.source {
            Source::Tcp(connection) => {
                connection.sender.supply(u64::MAX);
                connection.sender.open();
                self.pump(flow);
            }
            Source::Datagrams(datagrams) => {
                let first = self.now + datagrams.gap();
                self.events.push(first, Event::sender(flow));
            }
        }
    }

    fn stop(&mut self, flow: u32) {
        let at = &mut self.flows[flow as usize];
        at.state = State::Stopped;
        if let Source::Tcp(connection) = &mut at.source {
            connection.sender.stop();
        }
    }

    /// An acknowledgment comes to the sender.
    fn acknowledge(&mut self, packet: &Packet) {
        let (now, number) = (self.now, packet.flow.0);
        let Source::Tcp(connection) = &mut self.flows[number as usize].source else { return };
        let progress = connection.sender.on_segment(now, &packet.segment);
        if let Some(rtt) = progress.rtt {
            self.probe.rtt(now, rtt);
        }
        self.pump(number);
    }

    /// Sends what the sender may send now.
    fn pump(&mut self, number: u32) {
        let now = self.now;
        loop {
            let flow = &mut self.flows[number as usize];
            let Source::Tcp(connection) = &mut flow.source else { return };
            let Some(segment) = connection.sender.poll_transmit(now) else {
                if let Some(time) = flow.sender_timer.needs(connection.sender.next_timeout()) {
                    self.events.push(time, Event::sender(number));
                }
                return;
            };
            let packet = Packet::of_segment(segment, FlowId(number), flow.forward);
            self.travel(now, packet);
        }
    }

    /// A packet comes to the receiver at `at`, which may lie ahead.
    fn receive(&mut self, at: Time, packet: &Packet) {
        let number = packet.flow.0;
        let flow = &mut self.flows[number as usize];
        let Source::Tcp(connection) = &mut flow.source else {
            return self.probe.received(at, number, u64::from(packet.len));
        };
        let reverse = flow.reverse;
        let receiver = &mut connection.receiver;
        // An acknowledgment that is due before is on its way before.
        let due = receiver.next_timeout().filter(|due| *due < at);
        let late = due.and_then(|due| Some((due, receiver.on_timeout(due)?)));
        let before = receiver.delivered();
        let answer = receiver.on_segment(at, &packet.segment);
        let delivered = receiver.delivered() - before;
        if let Some(time) = flow.receiver_timer.needs(receiver.next_timeout()) {
            self.events.push(time, Event::receiver(number));
        }
        self.probe.received(at, number, delivered);
        if let Some((due, ack)) = late {
            self.travel(due, Packet::of_segment(ack, FlowId(number), reverse));
        }
        if let Some(ack) = answer {
            self.travel(at, Packet::of_segment(ack, FlowId(number), reverse));
        }
    }

    fn sender_timer(&mut self, number: u32) {
        let now = self.now;
        let flow = &mut self.flows[number as usize];
        match &mut flow.source {
            Source::Tcp(connection) => {
                if flow.sender_timer.is_due(now) {
                    connection.sender.on_timeout(now);
                    self.pump(number);
                }
            }
            Source::Datagrams(datagrams) => {
                if flow.state == State::Stopped {
                    return;
                }
                let (len, next) = (datagrams.len(), now + datagrams.gap());
                self.events.push(next, Event::sender(number));
                let packet =
                    Packet { segment: Segment::default(), flow: FlowId(number), len, leg: flow.forward };
                self.travel(now, packet);
            }
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
            self.events.push(time, Event::receiver(number));
        }
        if let Some(ack) = answer {
            let packet = Packet::of_segment(ack, FlowId(number), flow.reverse);
            self.travel(now, packet);
        }
    }
}

/// Where the link with this number is, if it is not private.
fn place(links: &[Link], number: u32) -> Option<usize> {
    links.binary_search_by_key(&number, |link| link.number).ok()
}

/// The end of what happens at `time`.
fn just_after(time: Time) -> Time {
    time + Span::from_nanos(1)
}

/// Passes on to the probe what a disc does with packets.
struct Watch<'a, P> {
    probe: &'a mut P,
    link: u32,
}

impl<P: Probe> Sink<Packet> for Watch<'_, P> {
    fn dropped(&mut self, now: Time, _packet: Packet, cause: Cause) {
        self.probe.dropped(now, self.link, cause);
    }
    fn marked(&mut self, now: Time, _packet: &Packet) {
        self.probe.marked(now, self.link);
    }
}
