//! Builds the plant's network from a scenario: its links, and the access links of each flow.
//!
//! ```text
//! sender i --access--> node > links of its way > node --access--> receiver i
//!          <--access--      < links of the way back <       <--access--
//! ```

use crate::network::{Change, ClassPlan, FlowPlan, Hop, Joining, LinkChange, LinkPlan, Network, SourcePlan};
use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Law, Limit, LinkContext, Qdisc};
use sojourn_random::Stream;
use sojourn_scenario::{Flows, Link, Scenario, Setting, Start, Traffic};
use sojourn_tcp::{Config, HEADER};
use sojourn_units::{Ecn, Span, Time};
use sojourn_workload::{Churn, DatagramsPlan};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::impairments::Wire;
use crate::link_schedule::LinkSchedule;
use crate::packet::Packet;

/// The network of a scenario under this seed.
pub fn network(scenario: &Scenario, seed: u64) -> Network {
    network_under(scenario, seed, Vec::new())
}

/// The network of a scenario, in which qdiscs of the caller replace the replaceable ones in order.
pub fn network_under(scenario: &Scenario, seed: u64, own: Vec<CustomQdisc>) -> Network {
    let (mut own, contexts) = (own.into_iter(), scenario.contexts());
    let with_other_rates = with_other_rates(scenario);
    let links = scenario.topology.links.iter().enumerate().map(|(number, link)| {
        let draws = || Stream::named(seed, &format!("{}/disc", link.name));
        let limit = link.buffer.unwrap_or(Limit::Unlimited);
        let place = || QdiscPlace { limit, context: contexts[number], draws: draws() };
        let is_replaceable = link.qdisc.is_some() && !link.is_fixed;
        let custom = if is_replaceable { own.next() } else { None };
        let qdisc =
            custom.map(|build| build(place())).or_else(|| Some(link.qdisc.as_ref()?.build(limit, draws())));
        // A plain queue computes departures on arrival; a rate that changes needs a queue of its own.
        let plain_queue =
            || with_other_rates.contains(&number).then(|| under_law(Box::new(TailDrop))(place()));
        LinkPlan {
            qdisc: qdisc.or_else(plain_queue),
            framing: link.medium.framing,
            link_schedule: link_schedule(link, seed),
            impairments: impairments(link, seed),
            ..LinkPlan::plain(link.rate, link.delay)
        }
    });
    let mut network = Network {
        links: links.collect(),
        classes: Vec::new(),
        flows: Vec::new(),
        changes: scenario.at.iter().flat_map(changes).collect(),
    };
    let hosts: BTreeSet<&String> =
        scenario.flows.iter().flat_map(|flows| flows.hosts.iter().flatten()).collect();
    for (number, flows) in scenario.flows.iter().enumerate() {
        let churn = Churn {
            name: flows.stream.clone(),
            most: flows.count,
            counts: scenario
                .counts(number)
                .into_iter()
                .map(|(after, count)| (Time::ZERO + after, count))
                .collect(),
            arrivals: flows.arrivals.clone(),
            lifetime: flows.lifetime.clone(),
            stop: flows.stop.map(|stop| Time::ZERO + stop),
        };
        let hosts =
            flows.hosts.each_ref().map(|host| hosts.iter().position(|name| Some(*name) == host.as_ref()));
        let hosts = hosts.map(|place| place.map(|place| place as u32));
        add_flows(&mut network, churn, (flows, hosts), seed);
    }
    network
}

/// A qdisc of the caller, such as one written in Python, built at its link.
pub type CustomQdisc = Box<dyn FnOnce(QdiscPlace) -> Box<dyn Qdisc<Packet>> + Send>;

/// A place for a qdisc: its buffer, its link and its own random stream.
pub struct QdiscPlace {
    /// Buffer.
    pub limit: Limit,
    /// Link and traffic.
    pub context: LinkContext,
    /// Draws of the qdisc.
    pub draws: Stream,
}

/// One queue under a law, first in, first out.
pub fn under_law(law: Box<dyn Law>) -> CustomQdisc {
    Box::new(|QdiscPlace { limit, context, draws }| Box::new(Fifo::new(law, limit, context, draws)))
}

/// Links whose rate the schedule changes.
fn with_other_rates(scenario: &Scenario) -> BTreeSet<usize> {
    let rates = scenario.at.iter().filter_map(|change| match &change.set {
        Setting::Rate(links, _) => Some(links),
        _ => None,
    });
    rates.flatten().copied().collect()
}

fn link_schedule(link: &Link, seed: u64) -> Option<Box<LinkSchedule>> {
    link.medium.link_schedule.as_ref().map(|plan| Box::new(LinkSchedule::new(plan, seed, &link.name)))
}

fn impairments(link: &Link, seed: u64) -> Option<Box<Wire>> {
    let plan = &link.medium.impairments;
    (!plan.is_none()).then(|| Box::new(Wire::new(plan, seed, &link.name)))
}

/// Adds a class with its initial flows, whose named hosts have these numbers.
fn add_flows(network: &mut Network, churn: Churn, (flows, hosts): (&Flows, [Option<u32>; 2]), seed: u64) {
    let source = source(flows);
    let number = network.classes.len() as u32;
    let present = if churn.arrivals.is_some() { 0 } else { flows.count };
    let comes_later = churn.arrivals.is_some() || churn.counts.iter().any(|(_, count)| *count > present);
    let [forward, reverse] = [&flows.route, &flows.back].map(|route| hops(flows, route));
    let joining = comes_later.then(|| Joining {
        source: source.clone(),
        forward: forward.clone(),
        reverse: reverse.clone(),
    });
    for user in 0..present {
        let [forward, reverse] = own_links(network, flows, user);
        // The connections of one application share its links.
        for _ in 0..source.app().connections() {
            network.flows.push(FlowPlan {
                class: number,
                user,
                source: source.of_user(&flows.stream, user),
                forward: forward.clone(),
                reverse: reverse.clone(),
                start: start(flows, user, seed),
                stop: churn.stop,
            });
        }
    }
    network.classes.push(ClassPlan { churn, hosts, dscp: flows.dscp.0, joining });
}

/// Routes of a flow, forward and reverse; adds its access links.
fn own_links(network: &mut Network, flows: &Flows, user: u32) -> [Vec<u32>; 2] {
    let [mut forward, mut reverse] =
        [&flows.route, &flows.back].map(|route| route.iter().map(|link| *link as u32).collect::<Vec<u32>>());
    if let Some(access) = flows.access {
        let first = network.links.len() as u32;
        // To the network and from it, on the sender's side, then on the receiver's.
        let delay = access.delay.at(user, flows.count);
        network.links.extend((0..4).map(|_| LinkPlan::plain(access.rate, delay)));
        forward.insert(0, first);
        forward.push(first + 3);
        reverse.insert(0, first + 2);
        reverse.push(first + 1);
    }
    [forward, reverse]
}

/// Route of a flow that joins during the run.
fn hops(flows: &Flows, route: &[usize]) -> Vec<Hop> {
    let own = flows.access.map(|access| Hop::Own(access.rate, access.delay));
    let shared = route.iter().map(|link| Hop::Link(*link as u32));
    own.into_iter().chain(shared).chain(own).collect()
}

fn source(flows: &Flows) -> SourcePlan {
    let config = || {
        Arc::new(Config {
            profile: flows.profile.clone(),
            cc: flows.cc.clone(),
            mss: flows.segment.get() as u32 - HEADER,
            ecn: flows.ecn,
            ect1: flows.ect1,
            reads: flows.reads,
        })
    };
    match flows.traffic() {
        Traffic::Bulk => SourcePlan::Bulk(config()),
        Traffic::Session => SourcePlan::App(config(), flows.app.clone()),
        Traffic::Datagrams(datagrams) => {
            let codepoint = if flows.ect1 { Ecn::Ect1 } else { Ecn::Ect0 };
            let codepoint = if flows.ecn { codepoint } else { Ecn::NotEct };
            SourcePlan::Datagrams(DatagramsPlan::of_scenario(&datagrams, codepoint))
        }
    }
}

fn start(flows: &Flows, user: u32, seed: u64) -> Time {
    let after = match flows.start {
        Start::Random(within) => {
            let draw = Stream::named(seed, &format!("{}/{user}/start", flows.stream)).uniform();
            let (from, to) = (within.from.seconds(), within.to.seconds());
            Span::from_seconds(from + (to - from) * draw)
        }
        Start::Even(spread) => spread.at(user, flows.count),
    };
    Time::ZERO + after
}

/// A change of the schedule, link by link.
fn changes(change: &sojourn_scenario::Change) -> Vec<Change> {
    let one = |link: usize, set: LinkChange| Change {
        time: Time::ZERO + change.time,
        every: change.every,
        until: change.until.map_or(Time::NEVER, |until| Time::ZERO + until),
        link: link as u32,
        set,
    };
    let all = |links: &[usize], set: LinkChange| links.iter().map(|link| one(*link, set.clone())).collect();
    match &change.set {
        Setting::Rate(links, rate) => all(links, LinkChange::Rate(*rate)),
        Setting::Delay(links, delay) => all(links, LinkChange::Delay(*delay)),
        Setting::Law(link, change) => vec![one(*link, LinkChange::Law(Arc::new(change.clone())))],
        Setting::Count(..) => Vec::new(),
    }
}
