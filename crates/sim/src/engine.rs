//! The engine: links and flows act in the order of possible effects on one another.
//!
//! Only where flows meet does the order of arrival matter: at the shared links.
//! Between them everything is a function of one flow alone, so it is computed
//! as soon as a packet has left a shared link: the private links behind it (see
//! [`crate::leg`]), the receiver, the acknowledgment, the sender, the segments it
//! sends in answer, up to the arrival at the next shared link, each with its own
//! time, which may lie ahead of the present. A shared link processes its arrivals
//! in the order of time, in batches: a packet that leaves it arrives at the other
//! end of the wire a propagation delay later, so a batch may wait for that long.
//!
//! ```text
//!  arrivals -> |bottleneck| -> private links -> receiver -> private links -> arrivals at the return link
//! ```
//!
//! The event queue holds changes, updates of laws, timers, starts and stops, and
//! the times at which arrivals are due. The outcome is to the bit that of an event
//! for every arrival at every link and endpoint ([`Simulation::stepwise`], the
//! reference).
//!
//! The engine has no applications: [`users`] reports events to the workload and
//! executes its commands.

mod connections;
mod coordinator;
mod ends;
mod links;
mod ssthresh_cache;
mod timers;
mod users;

use crate::calendar_queue::Entry;
use crate::event::{Event, Kind, MOST_COMPONENTS};
use crate::event_queue::EventQueue;
use crate::flow::{Flow, Source};
use crate::impairments::Wire;
use crate::leg::{self, End, Layout, Leg, way};
use crate::link::{Link, Private, Queue, Speed};
use crate::network::{Change, FlowPlan, Joining, Network};
use crate::packet::{Packet, Pool};
use crate::tap::{Joined, Tap};
use coordinator::{Coordinator, PathPrices};
use sojourn_aqm::{FlowId, FlowShares, FlowTag, Qdisc};
use sojourn_measure::Probe;
use sojourn_units::{Bytes, Span, Time};
use sojourn_workload::{self as workload, Workload};
use std::collections::{BTreeMap, VecDeque};
use users::Flows;
pub use users::probe_time;

/// A network and its state.
pub struct Simulation<P, T = ()> {
    now: Time,
    events: EventQueue<Event>,
    counts: Counts,
    links: Vec<Link>,
    /// Wires with impairments, each with its link's number.
    wires: Vec<(u32, Wire)>,
    private: Vec<Private>,
    /// The speeds of the private links.
    speeds: Vec<Speed>,
    legs: Vec<Leg>,
    flows: Vec<Flow>,
    /// Flows that join during the run, by class.
    joining: Vec<Option<Joining>>,
    /// Class and number of the last user that was added, and its first flow.
    last_user: (u32, u32, u32),
    /// Hosts and DSCP of each class.
    tags: Vec<([Option<u32>; 2], u8)>,
    workload: Workload,
    /// The flows of its users, by user.
    users: Vec<Flows>,
    /// Slow-start thresholds that closed connections have left, by class.
    cached_ssthresh: Vec<Option<Bytes>>,
    /// Adds links and legs; has none itself.
    layout: Layout,
    seed: u64,
    /// Flows whose applications read at rates of their own, and the end of the last report of them to the probe.
    readers: BTreeMap<u32, Time>,
    pool: Pool,
    /// The solver of links whose rates it sets together.
    coordinator: Option<Box<Coordinator>>,
    /// Prices that packets carry.
    prices: Option<Box<PathPrices>>,
    changes: Vec<Change>,
    /// Every arrival waits for its time.
    stepwise: bool,
    /// Memory of the present batch.
    batch: Vec<Entry>,
    /// Packets that have left a shared link, with their arrival times behind it.
    departed: Vec<Entry>,
    probe: P,
    tap: T,
}

/// Work of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events taken from the queue.
    pub events: u64,
    /// Packets that arrived at a shared link.
    pub arrivals: u64,
}

impl<P: Probe> Simulation<P> {
    /// The network at the start of the run with this seed.
    pub fn new(network: Network, seed: u64, probe: P) -> Simulation<P> {
        Simulation::build(network, seed, (probe, ()), false)
    }

    /// Reference: an event for every arrival at every link and endpoint; slower, with the same outcome.
    pub fn stepwise(network: Network, seed: u64, probe: P) -> Simulation<P> {
        Simulation::build(network, seed, (probe, ()), true)
    }
}

impl<P: Probe, T: Tap> Simulation<P, T> {
    /// The same as [`Simulation::new`] with a tap, which changes no outcome.
    pub fn tapped(network: Network, seed: u64, probe: P, tap: T) -> Simulation<P, T> {
        Simulation::build(network, seed, (probe, tap), false)
    }

    fn build(mut network: Network, seed: u64, (probe, tap): (P, T), stepwise: bool) -> Simulation<P, T> {
        let (mut layout, first) = Layout::new(&mut network, stepwise, &tap.links());
        let links = std::mem::take(&mut layout.links);
        let number = links.len().max(network.flows.len()).max(network.classes.len());
        assert_numbered(number.max(network.changes.len()));
        let gap = links.iter().filter(|link| !link.is_station).map(|link| link.transmitter.gap()).min();
        let mut events = EventQueue::new(gap.unwrap_or_default());
        for (number, change) in network.changes.iter_mut().enumerate() {
            events.push(change.time, Event::new(Kind::Change, number as u32));
            change.link = place(&links, change.link).expect("a link that changes is shared") as u32;
        }
        let classes = network.classes.len();
        let tags = network.classes.iter().map(|plan| (plan.hosts, plan.dscp)).collect();
        let (joining, churn) = network
            .classes
            .into_iter()
            .map(|plan| {
                let app = plan.joining.as_ref().map(|joining| joining.source.app());
                (plan.joining, (plan.churn, app))
            })
            .unzip();
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
            tags,
            last_user: (u32::MAX, 0, 0),
            joining,
            workload: Workload::new(churn, seed),
            users: vec![Flows::new(0, 0, None, 0)],
            cached_ssthresh: vec![None; classes],
            layout,
            seed,
            readers: BTreeMap::new(),
            pool: Pool::default(),
            coordinator: None,
            prices: None,
            changes: network.changes,
            stepwise,
            batch: Vec::new(),
            departed: Vec::new(),
            probe,
            tap,
        };
        simulation.begin_coordination();
        for (plan, first) in network.flows.into_iter().zip(first) {
            simulation.add_planned(plan, first);
        }
        for class in 0..simulation.joining.len() as u32 {
            for (time, _) in &simulation.workload.churn(class).counts {
                simulation.events.push(*time, Event::new(Kind::Count, class));
            }
            simulation.workload.open_class(class);
        }
        simulation.execute_all();
        (0..simulation.links.len() as u32).for_each(|link| simulation.schedule_update(link));
        simulation
    }

    /// Adds a flow that starts and stops as planned.
    fn add_planned(&mut self, plan: FlowPlan, first: [u32; 2]) {
        let number = self.flows.len() as u32;
        let (start, stop) = (plan.start, plan.stop);
        let user = self.user_of(&plan, number);
        self.add_flow(plan, first, user);
        if !self.flows[number as usize].has_user {
            self.events.push(start, Event::new(Kind::Start, number));
            if let Some(stop) = stop {
                self.events.push(stop, Event::new(Kind::Stop, number));
            }
        } else if self.slot(number).1 == 0 {
            self.events.push(start, Event::new(Kind::Enter, user));
        }
    }

    fn add_flow(&mut self, plan: FlowPlan, first: [u32; 2], user: u32) {
        self.probe.joined(self.flows.len() as u32, plan.class);
        self.introduce(&plan, first);
        if T::IS_ON {
            let (flow, class, dscp) = (self.flows.len() as u32, plan.class, self.tags[plan.class as usize].1);
            let mss = plan.source.config().map(|config| config.mss);
            self.tap.joined(Joined { flow, class, dscp, mss, reverse: first[1] });
        }
        self.flows.push(Flow::new(plan, first, user, self.seed));
    }

    /// Tags a new flow at the qdiscs that its packets pass; those of its acknowledgments go from the receiver's host to
    /// the sender's.
    fn introduce(&mut self, plan: &FlowPlan, first: [u32; 2]) {
        let flow = FlowId(self.flows.len() as u32);
        if (plan.class, plan.user) != (self.last_user.0, self.last_user.1) {
            self.last_user = (plan.class, plan.user, flow.0);
        }
        let (hosts, dscp) = self.tags[plan.class as usize];
        let own = [OWN_HOSTS, 2 * OWN_HOSTS].map(|first| first | self.last_user.2);
        let [sender, receiver] = [0, 1].map(|end| hosts[end].unwrap_or(own[end]));
        let base_rtt =
            first.iter().map(|first| self.propagation(*first)).fold(Span::ZERO, |sum, way| sum + way);
        for (first, from_host, to_host) in [(first[0], sender, receiver), (first[1], receiver, sender)] {
            let tag = FlowTag { class: plan.class, from_host, to_host, dscp, base_rtt: Some(base_rtt) };
            for link in leg::links(&self.legs, first) {
                if let Queue::Managed(managed) = &mut self.links[link as usize].queue {
                    managed.qdisc.flow_joined(flow, tag);
                }
            }
        }
    }

    /// A flow begins a connection.
    fn announce_connection(&mut self, flow: u32) {
        let Flow { forward, reverse, .. } = self.flows[flow as usize];
        for first in [forward, reverse] {
            for link in leg::links(&self.legs, first) {
                if let Queue::Managed(managed) = &mut self.links[link as usize].queue {
                    managed.qdisc.connection_began(self.now, FlowId(flow));
                }
            }
        }
    }

    /// Propagation delay from an end to the other, by the first leg.
    fn propagation(&self, first: u32) -> Span {
        let mut sum = Span::ZERO;
        for (links, end) in way(&self.legs, first) {
            sum = self.private[links].iter().fold(sum, |sum, link| sum + link.delay());
            if let End::Link(link) = end {
                sum += self.links[link as usize].transmitter.delay();
            }
        }
        sum
    }

    /// Processes everything that is due by `until`.
    pub fn advance(&mut self, until: Time) {
        while !self.advance_some(until, u64::MAX) {}
    }

    /// Processes events due by `until`, not much more than `most` with arrivals; returns whether none is left.
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

    /// Work done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The probe.
    pub fn probe(&mut self) -> &mut P {
        &mut self.probe
    }

    /// The tap.
    pub fn tap(&mut self) -> &mut T {
        &mut self.tap
    }

    /// The tap, at the end.
    pub fn into_tap(self) -> T {
        self.tap
    }

    /// The qdisc in front of a link.
    pub fn qdisc(&self, link: u32) -> Option<&dyn Qdisc<Packet>> {
        self.link(link)?.qdisc()
    }

    /// The shares of flows at a link, where they may be set.
    pub fn shares(&mut self, link: u32) -> Option<&mut dyn FlowShares> {
        let place = place(&self.links, link)?;
        self.shares_at(place as u32)
    }

    /// Bits on the wire that a shared link has sent since the start; None: private.
    pub fn sent_bits(&self, link: u32) -> Option<f64> {
        Some(self.link(link)?.sent_bits(self.now))
    }

    /// Bits that a shared link could have sent since the start; None: private.
    pub fn capacity_bits(&self, link: u32) -> Option<f64> {
        Some(self.link(link)?.capacity_bits(self.now))
    }

    /// Reports the bytes read up to the end of the run by applications with read rates of their own.
    pub fn finish_reading(&mut self, end: Time) {
        for (number, since) in &self.readers {
            if let Source::Tcp(connection, _) = &self.flows[*number as usize].source {
                let by = |time| connection.receiver.read_by(time).unwrap_or_default();
                self.probe.read(*since, end, *number, &by);
            }
        }
    }

    /// Asserts that every packet is accounted for: offered = delivered + dropped + held, and no segment is held but by
    /// a packet on its way.
    pub fn assert_conservation(&self) {
        let on_their_way = self.links.iter().map(|link| {
            link.incoming.len() + link.qdisc().map_or(0, |qdisc| qdisc.backlog().packets as usize)
        });
        let held = self.users.iter().flat_map(|user| &user.held).map(VecDeque::len);
        let (segments, packets) = (self.pool.held(), on_their_way.chain(held).sum::<usize>());
        assert!(segments <= packets, "{segments} segments and datagrams in {packets} packets");
        for link in &self.links {
            if let Some(qdisc) = link.qdisc() {
                let (counts, held, number) = (qdisc.counts(), qdisc.backlog().packets, link.number);
                assert!(
                    counts.conserve(held),
                    "link {number} lost or created packets: {counts:?}, {held} held"
                );
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
            (Kind::Coordinate, _) => self.coordinate(),
            (Kind::Arrive | Kind::Drain, link) => self.drain(link),
            (Kind::Receiver, flow) => self.receiver_timer(flow),
            (Kind::Sender, flow) => self.sender_timer(flow),
            (Kind::Start, flow) => self.start(flow),
            (Kind::Stop, flow) => self.stop(self.now, flow),
            (Kind::Enter, user) => self.report(workload::Event::Start(user)),
            (Kind::Leave, user) => self.leave(user),
            (Kind::Count, class) => self.report(workload::Event::Count { class }),
            (Kind::Arrival, class) => self.report(workload::Event::Arrival { class }),
            (Kind::Held, flow) => self.receive_held(flow),
            (Kind::Answered, flow) => self.answered(flow),
            (Kind::Wake, user) => self.wake(user),
            (Kind::Acknowledged, flow) => self.acknowledged(flow),
        }
    }
}

/// The first instant after `time`.
fn just_after(time: Time) -> Time {
    time + Span::from_nanos(1)
}

/// Asserts that events have room for the numbers of so many components of a kind.
fn assert_numbered(components: usize) {
    assert!(components < MOST_COMPONENTS, "too large a network: {components} components of a kind");
}

/// Number of the first host that is a user's own: of senders, and twice that of receivers.
const OWN_HOSTS: u32 = 1 << 30;

/// Place of the shared link with this number; None: it is private.
fn place(links: &[Link], number: u32) -> Option<usize> {
    links.binary_search_by_key(&number, |link| link.number).ok()
}
