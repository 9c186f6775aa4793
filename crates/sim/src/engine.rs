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

mod comings;
mod ends;
mod errands;
mod links;
mod timers;

use crate::event::{Event, Kind, MOST_COMPONENTS};
use crate::event_queue::EventQueue;
use crate::flow::{Flow, Source};
use crate::inbox::Entry;
use crate::leg::{Layout, Leg};
use crate::link::{Link, Private, Speed};
use crate::member::{Class, Member, NOBODY};
use crate::network::{Change, FlowPlan, Network};
use crate::packet::{Packet, Pool};
use crate::probe::Probe;
use crate::wire::Wire;
use sojourn_aqm::Disc;
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

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
        let number = links.len().max(network.flows.len()).max(network.classes.len());
        assert_numbered(number.max(network.changes.len()));
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

/// The end of what happens at `time`.
fn just_after(time: Time) -> Time {
    time + Span::from_nanos(1)
}

/// Events have room for the numbers of so many components of a kind.
fn assert_numbered(components: usize) {
    assert!(components < MOST_COMPONENTS, "too large a network: {components} components of a kind");
}

/// Where the link with this number is, if it is not private.
fn place(links: &[Link], number: u32) -> Option<usize> {
    links.binary_search_by_key(&number, |link| link.number).ok()
}
