//! The engine: takes the next event and lets the component act.

use crate::events::{Event, EventQueue};
use crate::flow::{Flow, Source, State};
use crate::link::{Link, Queue};
use crate::network::{Change, LinkChange, Network};
use crate::packet::Packet;
use crate::probe::Probe;
use sojourn_aqm::{Cause, Disc, FlowId, Sink};
use sojourn_tcp::Segment;
use sojourn_units::Time;

/// A network at work.
pub struct Simulation<P> {
    now: Time,
    events: EventQueue,
    happened: u64,
    links: Vec<Link>,
    flows: Vec<Flow>,
    changes: Vec<Change>,
    /// When each link's law has its next update in the event queue.
    updates: Vec<Time>,
    probe: P,
}

impl<P: Probe> Simulation<P> {
    /// The network at the start of the run with this seed.
    pub fn new(network: Network, seed: u64, probe: P) -> Simulation<P> {
        let mut events = EventQueue::default();
        for (number, change) in network.changes.iter().enumerate() {
            events.push(change.time, Event::Change(number as u32));
        }
        for (number, flow) in network.flows.iter().enumerate() {
            events.push(flow.start, Event::Start(number as u32));
            if let Some(stop) = flow.stop {
                events.push(stop, Event::Stop(number as u32));
            }
        }
        let links: Vec<Link> = network.links.into_iter().map(Link::new).collect();
        let flows = network.flows.into_iter().enumerate();
        let mut simulation = Simulation {
            now: Time::ZERO,
            events,
            happened: 0,
            updates: vec![Time::NEVER; links.len()],
            links,
            flows: flows.map(|(number, plan)| Flow::new(plan, seed, number)).collect(),
            changes: network.changes,
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
        self.links[link as usize].disc()
    }

    /// Bits that a link has sent since the start.
    pub fn sent_bits(&self, link: u32) -> f64 {
        self.links[link as usize].sent_bits(self.now)
    }

    /// Bits that a link could have sent since the start.
    pub fn capacity_bits(&self, link: u32) -> f64 {
        self.links[link as usize].capacity_bits(self.now)
    }

    /// Application bytes that each flow has delivered since the start.
    pub fn delivered_bytes(&self) -> impl Iterator<Item = u64> + '_ {
        self.flows.iter().map(Flow::delivered_bytes)
    }

    /// The mean congestion window of the TCP flows that send, segments; None without any.
    pub fn mean_window_packets(&self) -> Option<f64> {
        let windows = self.flows.iter().filter_map(Flow::window_packets);
        let (count, sum) = windows.fold((0.0, 0.0), |(count, sum), window| (count + 1.0, sum + window));
        (count > 0.0).then(|| sum / count)
    }

    /// Asserts that every packet is accounted for: offered = delivered + dropped + held.
    pub fn assert_conservation(&self) {
        for (number, link) in self.links.iter().enumerate() {
            if let Some(disc) = link.disc() {
                let (counts, held) = (disc.counts(), disc.backlog().packets);
                assert!(counts.conserve(held), "link {number} lost or made packets: {counts:?}, {held} held");
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Change(number) => self.change(self.changes[number as usize]),
            Event::Update(link) => self.update(link),
            Event::Sent(link) => self.transmit(link),
            Event::Arrival(link) => self.arrive(link),
            Event::Start(flow) => self.start(flow),
            Event::Stop(flow) => self.stop(flow),
            Event::Sender(flow) => self.sender_timer(flow),
            Event::Receiver(flow) => self.receiver_timer(flow),
        }
    }
}

/// Links.
impl<P: Probe> Simulation<P> {
    /// A packet comes to the near end of a link.
    fn offer(&mut self, link: u32, packet: Packet) {
        let now = self.now;
        let at = &mut self.links[link as usize];
        match &mut at.queue {
            Queue::Plain => {
                let (_, arrival) = at.send(now, packet);
                self.expect_arrival(link, arrival);
            }
            Queue::Disc(disc) => {
                self.probe.offered(now, link);
                disc.enqueue(now, packet, &mut Watch { probe: &mut self.probe, link });
                self.probe.backlog(now, link, disc.backlog());
                if at.is_free(now) {
                    self.transmit(link);
                }
            }
        }
    }

    /// The transmitter of a link with a disc is free.
    fn transmit(&mut self, link: u32) {
        let now = self.now;
        let at = &mut self.links[link as usize];
        // A packet that came at the very instant may have taken the transmitter already.
        if !at.is_free(now) {
            return;
        }
        let Queue::Disc(disc) = &mut at.queue else { return };
        let taken = disc.dequeue(now, &mut Watch { probe: &mut self.probe, link });
        let Some((packet, sojourn)) = taken else { return };
        self.probe.delivered(now, link, sojourn);
        self.probe.backlog(now, link, disc.backlog());
        let (free, arrival) = at.send(now, packet);
        self.events.push(free, Event::Sent(link));
        self.expect_arrival(link, arrival);
    }

    /// The first packet on a link's wire comes to its far end.
    fn arrive(&mut self, link: u32) {
        let Some((mut packet, next)) = self.links[link as usize].arrive() else { return };
        self.expect_arrival(link, next);
        let flow = &self.flows[packet.flow.0 as usize];
        let route = if packet.reverse { &flow.reverse } else { &flow.forward };
        packet.hop += 1;
        match route.get(usize::from(packet.hop)) {
            Some(next) => self.offer(*next, packet),
            None => self.receive(packet),
        }
    }

    fn expect_arrival(&mut self, link: u32, arrival: Option<Time>) {
        if let Some(time) = arrival {
            self.events.push(time, Event::Arrival(link));
        }
    }

    fn update(&mut self, link: u32) {
        let now = self.now;
        if let Queue::Disc(disc) = &mut self.links[link as usize].queue {
            disc.on_update(self.updates[link as usize], now);
        }
        self.updates[link as usize] = Time::NEVER;
        self.schedule_update(link);
    }

    fn schedule_update(&mut self, link: u32) {
        if let Some(due) = self.links[link as usize].disc().and_then(Disc::next_update) {
            self.updates[link as usize] = due;
            self.events.push(due, Event::Update(link));
        }
    }

    fn change(&mut self, change: Change) {
        let link = &mut self.links[change.link as usize];
        match change.what {
            LinkChange::Delay(delay) => link.delay = delay,
            LinkChange::Rate(rate) => link.change_rate(self.now, rate),
        }
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
                self.events.push(first, Event::Sender(flow));
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

    /// A packet has come to the end of its route.
    fn receive(&mut self, packet: Packet) {
        let now = self.now;
        let number = packet.flow.0;
        let flow = &mut self.flows[number as usize];
        match &mut flow.source {
            Source::Datagrams(datagrams) => datagrams.delivered_bytes += u64::from(packet.len),
            Source::Tcp(connection) if packet.reverse => {
                let progress = connection.sender.on_segment(now, &packet.segment);
                if let Some(rtt) = progress.rtt {
                    self.probe.rtt(now, rtt);
                }
                self.pump(number);
            }
            Source::Tcp(connection) => {
                let answer = connection.receiver.on_segment(now, &packet.segment);
                if let Some(time) = flow.receiver_timer.needs(connection.receiver.next_timeout()) {
                    self.events.push(time, Event::Receiver(number));
                }
                if let Some(ack) = answer {
                    self.dispatch(number, ack, true);
                }
            }
        }
    }

    /// Sends what the sender may send now.
    fn pump(&mut self, flow: u32) {
        let now = self.now;
        loop {
            let at = &mut self.flows[flow as usize];
            let Source::Tcp(connection) = &mut at.source else { return };
            let Some(segment) = connection.sender.poll_transmit(now) else {
                if let Some(time) = at.sender_timer.needs(connection.sender.next_timeout()) {
                    self.events.push(time, Event::Sender(flow));
                }
                return;
            };
            self.dispatch(flow, segment, false);
        }
    }

    /// Puts a segment on the first link of its route.
    fn dispatch(&mut self, flow: u32, segment: Segment, reverse: bool) {
        let packet = Packet { segment, flow: FlowId(flow), len: segment.wire_len(), hop: 0, reverse };
        let at = &self.flows[flow as usize];
        let route = if reverse { &at.reverse } else { &at.forward };
        self.offer(route[0], packet);
    }

    fn sender_timer(&mut self, flow: u32) {
        let now = self.now;
        let at = &mut self.flows[flow as usize];
        match &mut at.source {
            Source::Tcp(connection) => {
                if at.sender_timer.is_due(now) {
                    connection.sender.on_timeout(now);
                    self.pump(flow);
                }
            }
            Source::Datagrams(datagrams) => {
                if at.state == State::Stopped {
                    return;
                }
                let (len, next, route) = (datagrams.len(), now + datagrams.gap(), at.forward[0]);
                self.events.push(next, Event::Sender(flow));
                let segment = Segment::default();
                self.offer(route, Packet { segment, flow: FlowId(flow), len, hop: 0, reverse: false });
            }
        }
    }

    fn receiver_timer(&mut self, flow: u32) {
        let now = self.now;
        let at = &mut self.flows[flow as usize];
        let Source::Tcp(connection) = &mut at.source else { return };
        if !at.receiver_timer.is_due(now) {
            return;
        }
        let answer = connection.receiver.on_timeout(now);
        if let Some(time) = at.receiver_timer.needs(connection.receiver.next_timeout()) {
            self.events.push(time, Event::Receiver(flow));
        }
        if let Some(ack) = answer {
            self.dispatch(flow, ack, true);
        }
    }
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
