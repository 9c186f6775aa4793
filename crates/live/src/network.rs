//! The network between both ends, without I/O: links and their qdiscs, in nominal time.
//!
//! A driver reports packets with their times of arrival and takes everything up to the present. Packets leave
//! with nominal times, which depend on arrivals alone: a driver that is late writes them late, and the next ones are no
//! later for it.

use crate::ip;
use crate::link::{Link, Sent};
use sojourn_aqm::{Cause, FlowId, FlowTag, Qdisc, Sink};
use sojourn_measure::{Probe, RoundTrip, SentAt, Transits};
use sojourn_sim::Packet;
use sojourn_sim::network::{Change, LinkChange, LinkPlan};
use sojourn_trace::QdiscLog;
use sojourn_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// From the sender of its flow to the receiver.
    Forward,
    /// Back.
    Back,
}

/// A flow of the network.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its properties for classifiers; of packets on the way back with the hosts exchanged.
    pub tag: FlowTag,
    /// Numbers of the links on the way of its data, and back.
    pub routes: [Vec<u32>; 2],
}

/// A packet at the far end.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    /// Nominal time.
    pub at: Time,
    /// Its direction.
    pub way: Way,
    /// Number of its flow.
    pub flow: u32,
    /// The packet, from the IP header on.
    pub bytes: Vec<u8>,
}

/// The network between both ends.
pub struct Network<P> {
    links: Vec<Link>,
    /// The links with a qdisc.
    managed: Vec<usize>,
    flows: Vec<State>,
    changes: Vec<Change>,
    /// Changes to come, by time and number.
    due: BinaryHeap<Reverse<(Time, usize)>>,
    /// Packets on their way, by time and order: each with its place.
    travelling: BinaryHeap<Reverse<(Time, u64, u32)>>,
    order: u64,
    held: Held,
    work: u64,
    probe: P,
    /// The trace of the qdisc of a link.
    trace: Option<(u32, QdiscLog)>,
}

/// A flow and its measurements.
struct State {
    routes: [Vec<u32>; 2],
    transits: Transits,
    /// The kernel's own estimate of the round trip.
    smoothed: Option<Span>,
}

/// Packets on their way, by place.
#[derive(Default)]
struct Held {
    packets: Vec<Kept>,
    free: Vec<u32>,
    next_id: u64,
}

/// A packet on its way.
#[derive(Default)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    /// Its number among all packets.
    pub(crate) id: u64,
    flow: u32,
    is_back: bool,
    /// Links of its route that it has left.
    hop: u32,
    read: Time,
    /// Of an acknowledgment: the packets that it answers.
    answered: Option<SentAt>,
    has_data: bool,
    /// Bytes of data of an echo request, which the receiver's kernel answers: nobody there reports it.
    echoed: Option<u64>,
}

impl<P: Probe> Network<P> {
    /// A network at rest.
    pub fn new(links: Vec<LinkPlan>, flows: Vec<Flow>, changes: Vec<Change>, probe: P) -> Network<P> {
        let links: Vec<Link> = links.into_iter().map(Link::new).collect();
        let managed = (0..links.len()).filter(|link| links[*link].qdisc.is_some()).collect();
        let mut network = Network {
            due: changes.iter().enumerate().map(|(number, change)| Reverse((change.time, number))).collect(),
            links,
            managed,
            flows: Vec::with_capacity(flows.len()),
            changes,
            travelling: BinaryHeap::new(),
            order: 0,
            held: Held::default(),
            work: 0,
            probe,
            trace: None,
        };
        for flow in flows {
            network.join(flow);
        }
        network
    }

    /// Adds a flow; its number is the next one.
    pub fn join(&mut self, flow: Flow) -> u32 {
        let number = self.flows.len() as u32;
        let back = FlowTag { from_host: flow.tag.to_host, to_host: flow.tag.from_host, ..flow.tag };
        for (route, tag) in flow.routes.iter().zip([flow.tag, back]) {
            for link in route {
                if let Some(qdisc) = &mut self.links[*link as usize].qdisc {
                    qdisc.flow_joined(FlowId(number), tag);
                }
            }
        }
        self.flows.push(State { routes: flow.routes, transits: Transits::default(), smoothed: None });
        number
    }

    /// Writes the calls of the qdisc of a link, and its answers.
    pub fn record(&mut self, link: u32, log: QdiscLog) {
        self.trace = Some((link, log));
    }

    /// The trace so far.
    pub fn take_trace(&mut self) -> Option<QdiscLog> {
        self.trace.take().map(|(_, log)| log)
    }

    /// A packet is read at an end. Times of packets must not fall behind those of [`Network::advance`].
    pub fn arrive(&mut self, at: Time, way: Way, flow: u32, bytes: &[u8]) {
        self.work += 1;
        let segment = ip::segment(bytes);
        let state = &mut self.flows[flow as usize];
        let is_back = way == Way::Back;
        let answers = segment.filter(|segment| is_back && segment.is_ack && !segment.is_syn);
        let answered = answers.map(|_| state.transits.answer(at)).filter(|sent| sent.packets > 0);
        if segment.is_some_and(|segment| segment.is_syn && !segment.is_ack) {
            state.transits = Transits::default();
            self.announce(at, flow);
        }
        let has_data = segment.is_some_and(|segment| segment.payload > 0);
        let echoed = ip::echo(bytes).filter(|_| !is_back).map(|echo| echo.payload as u64);
        let kept = Kept { flow, is_back, read: at, answered, has_data, echoed, ..Kept::default() };
        let place = self.held.keep(bytes, kept);
        self.travel(at, place);
    }

    /// The kernel's own estimate of a flow's round trip.
    pub fn smoothed(&mut self, flow: u32, rtt: Span) {
        self.flows[flow as usize].smoothed = Some(rtt);
    }

    /// The time of the next event.
    pub fn next_event(&self) -> Option<Time> {
        let travelling = self.travelling.peek().map(|Reverse((at, ..))| *at);
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let links = self.managed.iter().filter_map(|link| self.links[*link].next_event());
        links.chain(travelling).chain(due).min()
    }

    /// Everything up to `now`, in the order of time; the packets that leave are appended to `left`.
    pub fn advance(&mut self, now: Time, left: &mut Vec<Left>) {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            // At one instant changes come before updates, these before departures, and these before arrivals.
            if self.due.peek().is_some_and(|Reverse((time, _))| *time == at) {
                self.change(at);
            } else if let Some(link) = self.link_where(|link| link.next_update() == Some(at)) {
                self.update(at, link);
            } else if let Some(link) = self.link_where(|link| link.next == Some(at)) {
                self.transmit(at, link);
            } else if let Some(Reverse((_, _, place))) = self.travelling.pop() {
                self.hop(at, place, left);
            }
        }
    }

    /// The qdisc of a link.
    pub fn qdisc(&self, link: u32) -> Option<&dyn Qdisc<Packet>> {
        self.links.get(link as usize)?.qdisc.as_deref()
    }

    /// Bits that a link has sent by `now`, and that it could have sent.
    pub fn bits(&self, link: u32, now: Time) -> Option<(f64, f64)> {
        Some(self.links.get(link as usize)?.bits(now))
    }

    /// Packets read, so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The probe.
    pub fn probe(&mut self) -> &mut P {
        &mut self.probe
    }

    /// Asserts that every packet of the qdiscs is accounted for.
    pub fn assert_conservation(&self) {
        for link in &self.managed {
            let Some(qdisc) = &self.links[*link].qdisc else { continue };
            let (counts, held) = (qdisc.counts(), qdisc.backlog().packets);
            assert!(counts.conserve(held), "link {link} lost or created packets: {counts:?}, {held} held");
        }
    }

    fn link_where(&self, is: impl Fn(&Link) -> bool) -> Option<usize> {
        self.managed.iter().copied().find(|link| is(&self.links[*link]))
    }

    /// A flow begins a connection.
    fn announce(&mut self, now: Time, flow: u32) {
        for route in &self.flows[flow as usize].routes {
            for link in route {
                if let Some(qdisc) = &mut self.links[*link as usize].qdisc {
                    qdisc.connection_began(now, FlowId(flow));
                    if let Some(log) = log_of(&mut self.trace, *link) {
                        log.connection(now, flow);
                    }
                }
            }
        }
    }

    /// A packet is at the end of a link, or of its route.
    fn hop(&mut self, at: Time, place: u32, left: &mut Vec<Left>) {
        let kept = &mut self.held.packets[place as usize];
        let route = &self.flows[kept.flow as usize].routes[usize::from(kept.is_back)];
        match route.get(kept.hop as usize).copied() {
            Some(link) => {
                kept.hop += 1;
                self.offer(at, link as usize, place);
            }
            None => self.leave(at, place, left),
        }
    }

    fn offer(&mut self, now: Time, number: usize, place: u32) {
        let kept = &self.held.packets[place as usize];
        let (flow, len) = (kept.flow, kept.bytes.len() as u16);
        let link = &mut self.links[number];
        let mut packet = Packet::kept_at(place, FlowId(flow), len, ip::ecn(&kept.bytes));
        if link.qdisc.is_none() {
            let sent = link.send(now.max(link.free), u32::from(len));
            return self.cross(number, place, &sent);
        }
        let Some(qdisc) = &mut link.qdisc else { return };
        if link.is_divided {
            packet = packet.in_queue(qdisc.queue_of(&packet));
        }
        self.probe.offered(now, number as u32, packet.queued());
        let (id, ecn) = (kept.id, ip::ecn(&kept.bytes));
        let mut reports = Reports::new(&mut self.probe, &mut self.held, number as u32);
        qdisc.enqueue(now, packet, &mut reports);
        let (dropped, marked) = (reports.dropped, reports.marked);
        self.probe.backlog(now, number as u32, qdisc.backlog());
        link.schedule(now);
        if let Some(log) = log_of(&mut self.trace, number as u32) {
            log.enqueue(now, (id, len.into(), ecn, flow), [&dropped, &marked]);
        }
    }

    fn transmit(&mut self, now: Time, number: usize) {
        let link = &mut self.links[number];
        let Some(qdisc) = &mut link.qdisc else { return };
        let mut reports = Reports::new(&mut self.probe, &mut self.held, number as u32);
        let taken = qdisc.dequeue(now, &mut reports);
        let (dropped, marked) = (reports.dropped, reports.marked);
        if let Some((packet, sojourn)) = &taken {
            self.probe.delivered(now, number as u32, packet.queued(), *sojourn);
        }
        self.probe.backlog(now, number as u32, qdisc.backlog());
        let taken = taken.map(|(packet, _)| packet);
        if let Some(log) = log_of(&mut self.trace, number as u32) {
            let id = taken.map(|packet| self.held.packets[packet.place() as usize].id);
            log.dequeue(now, id, [&dropped, &marked]);
        }
        let Some(packet) = taken else {
            // It waits for a time of its own, or for an arrival.
            let not_before = qdisc.not_before();
            link.next = (not_before > now && qdisc.backlog().packets > 0).then_some(not_before);
            return;
        };
        let place = packet.place();
        if sojourn_aqm::Packet::ecn(&packet) == sojourn_units::Ecn::Ce {
            ip::set_ce(&mut self.held.packets[place as usize].bytes);
        }
        let sent = link.send(now, packet.size());
        link.schedule(now);
        self.cross(number, place, &sent);
    }

    /// A packet leaves the wire of a link.
    fn cross(&mut self, number: usize, place: u32, sent: &Sent) {
        let kept = &mut self.held.packets[place as usize];
        if sent.lost || sent.corrupt {
            self.probe.lost(sent.at, number as u32, kept.flow);
        }
        if sent.lost {
            return self.held.release(place);
        }
        if sent.bleached {
            ip::bleach(&mut kept.bytes);
        }
        if sent.corrupt
            && let Some(last) = kept.bytes.last_mut()
        {
            // Its receiver finds the checksum wrong.
            *last ^= 1;
            kept.echoed = None;
        }
        if sent.twice {
            let copy = self.held.copy(place);
            self.travel(sent.at, copy);
        }
        self.travel(sent.at, place);
    }

    fn leave(&mut self, at: Time, place: u32, left: &mut Vec<Left>) {
        let kept = &mut self.held.packets[place as usize];
        let (flow, way) = (kept.flow, if kept.is_back { Way::Back } else { Way::Forward });
        let state = &mut self.flows[flow as usize];
        if kept.has_data && !kept.is_back {
            state.transits.arrive(at, kept.read);
        }
        if let Some(payload) = kept.echoed {
            self.probe.received(at, flow, payload);
            self.probe.datagram(at, flow, at.since(kept.read));
        }
        if let Some(sent) = kept.answered {
            let round_trip =
                RoundTrip { path: at.since(sent.at), smoothed: state.smoothed, packets: sent.packets };
            self.probe.round_trip(at, flow, round_trip);
        }
        left.push(Left { at, way, flow, bytes: std::mem::take(&mut kept.bytes) });
        self.held.release(place);
    }

    fn update(&mut self, at: Time, number: usize) {
        let Some(qdisc) = &mut self.links[number].qdisc else { return };
        qdisc.on_update(at, at);
        if let Some(log) = log_of(&mut self.trace, number as u32) {
            log.update(at, qdisc.next_update());
        }
    }

    /// The next entry of the schedule.
    fn change(&mut self, now: Time) {
        let Some(Reverse((_, number))) = self.due.pop() else { return };
        let change = &self.changes[number];
        let link = &mut self.links[change.link as usize];
        match &change.set {
            LinkChange::Rate(rate) => {
                link.change_rate(now, *rate);
                if let Some(log) = log_of(&mut self.trace, change.link) {
                    log.rate(now, *rate);
                }
            }
            LinkChange::Delay(delay) => link.delay = *delay,
            LinkChange::Law(given) => {
                if let Some(qdisc) = &mut link.qdisc {
                    qdisc.set_params(now, given).expect("the scenario has checked the change");
                }
            }
        }
        if let Some(again) = change.every.map(|every| now + every).filter(|at| *at <= change.until) {
            self.due.push(Reverse((again, number)));
        }
    }

    fn travel(&mut self, at: Time, place: u32) {
        self.travelling.push(Reverse((at, self.order, place)));
        self.order += 1;
    }
}

impl Held {
    /// Keeps a packet with these bytes; its place.
    fn keep(&mut self, bytes: &[u8], mut kept: Kept) -> u32 {
        let place = self.free.pop().unwrap_or(self.packets.len() as u32);
        if place as usize == self.packets.len() {
            self.packets.push(Kept::default());
        }
        let here = &mut self.packets[place as usize];
        let mut memory = std::mem::take(&mut here.bytes);
        memory.clear();
        memory.extend_from_slice(bytes);
        (kept.bytes, kept.id) = (memory, self.next_id);
        *here = kept;
        self.next_id += 1;
        place
    }

    fn copy(&mut self, place: u32) -> u32 {
        let Kept { flow, is_back, hop, read, has_data, echoed, .. } = self.packets[place as usize];
        let bytes = self.packets[place as usize].bytes.clone();
        self.keep(&bytes, Kept { flow, is_back, hop, read, has_data, echoed, ..Kept::default() })
    }

    fn release(&mut self, place: u32) {
        self.free.push(place);
    }
}

/// Reports of a qdisc to the probe, and the numbers of the packets that a call drops and marks.
struct Reports<'a, P> {
    probe: &'a mut P,
    held: &'a mut Held,
    link: u32,
    dropped: Vec<u64>,
    marked: Vec<u64>,
}

impl<'a, P> Reports<'a, P> {
    fn new(probe: &'a mut P, held: &'a mut Held, link: u32) -> Reports<'a, P> {
        Reports { probe, held, link, dropped: Vec::new(), marked: Vec::new() }
    }
}

impl<P: Probe> Sink<Packet> for Reports<'_, P> {
    fn dropped(&mut self, now: Time, packet: Packet, cause: Cause) {
        self.probe.dropped(now, self.link, packet.queued(), cause);
        self.dropped.push(self.held.packets[packet.place() as usize].id);
        self.held.release(packet.place());
    }
    fn marked(&mut self, now: Time, packet: &Packet) {
        self.probe.marked(now, self.link, packet.queued());
        self.marked.push(self.held.packets[packet.place() as usize].id);
    }
}

/// The trace of a link's qdisc.
fn log_of(trace: &mut Option<(u32, QdiscLog)>, link: u32) -> Option<&mut QdiscLog> {
    trace.as_mut().filter(|(of, _)| *of == link).map(|(_, log)| log)
}
