//! A scenario's network as the plant has it: its links, and for each flow those that it has to itself.
//!
//! ```text
//! sender i --access--> node > links of its way > node --access--> receiver i
//!          <--access--      < links of the way back <       <--access--
//! ```

use crate::apps;
use crate::network::{Change, ClassPlan, FlowPlan, Hop, Joining, LinkChange, LinkPlan, Network, SourcePlan};
use sojourn_aqm::discs::Fifo;
use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::{Disc, Law, Limit, Site};
use sojourn_scenario::{App, Flows, Link, Scenario, Setting, Start};
use sojourn_tcp::{Config, HEADER};
use sojourn_units::{Fault, Span, Stream, Time, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::deliveries::Deliveries;
use crate::packet::Packet;
use crate::wire::Wire;

/// The network of a scenario under this seed; a law may refuse its place.
pub fn network(scenario: &Scenario, seed: u64) -> Result<Network, Fault> {
    Ok(network_under(scenario, seed, laws(scenario, Vec::new())?))
}

/// A law, and the parameters that it was built with.
pub type Built = (Box<dyn Law>, Vec<(String, Value)>);

/// The laws of a scenario, one for each managed link in order; those of `own` take the places of the replaceable ones,
/// as far as there are any.
pub fn laws(scenario: &Scenario, own: Vec<Box<dyn Law>>) -> Result<Vec<Built>, Fault> {
    let (mut own, sites) = (own.into_iter(), scenario.sites());
    let mut law = |number: usize| {
        let link = &scenario.topology.links[number];
        if let Some(law) = if link.is_fixed { None } else { own.next() } {
            return Ok((law, Vec::new()));
        }
        let disc = link.disc.as_ref().expect("a managed link has a disc");
        let law = disc.law_at(&sites[number]);
        law.map(|law| (law, disc.params.clone()))
            .map_err(|fault| fault.inside(&format!("{}.disc", link.name)))
    };
    scenario.topology.managed().map(&mut law).collect()
}

/// The network with these laws in front of its managed links, in order.
pub fn network_under(scenario: &Scenario, seed: u64, laws: Vec<Built>) -> Network {
    let (mut laws, sites) = (laws.into_iter(), scenario.sites());
    let with_other_rates = with_other_rates(scenario);
    let links = scenario.topology.links.iter().enumerate().map(|(number, link)| {
        let law = link.disc.as_ref().and_then(|_| laws.next());
        // A plain queue computes a packet's departure as it comes; where the rate changes it has to wait and see.
        let plain_queue = || with_other_rates.contains(&number).then(|| (unlimited(), Vec::new()));
        let law = law.or_else(plain_queue);
        LinkPlan {
            disc: law.map(|law| managed(scenario, seed, (number, &sites[number]), law)),
            framing: link.medium.framing,
            deliveries: deliveries(link, seed),
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
    for (number, flows) in scenario.flows.iter().enumerate() {
        let class = ClassPlan {
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
            joining: None,
        };
        add_flows(&mut network, class, flows, seed);
    }
    network
}

/// The law of a queue that takes all that comes.
fn unlimited() -> Box<dyn Law> {
    Box::new(TailDrop)
}

/// Links for which the schedule has another rate.
fn with_other_rates(scenario: &Scenario) -> BTreeSet<usize> {
    let rates = scenario.at.iter().filter_map(|change| match &change.set {
        Setting::Rate(links, _) => Some(links),
        _ => None,
    });
    rates.flatten().copied().collect()
}

fn managed(
    scenario: &Scenario,
    seed: u64,
    (number, site): (usize, &Site),
    (law, given): Built,
) -> Box<dyn Disc<Packet>> {
    let Link { name, buffer, .. } = &scenario.topology.links[number];
    let draws = Stream::named(seed, &format!("{name}/disc"));
    let limit = buffer.unwrap_or(Limit::Unlimited);
    Box::new(Fifo::new(law, limit, *site, draws).given(&given))
}

fn deliveries(link: &Link, seed: u64) -> Option<Box<Deliveries>> {
    link.medium.deliveries.as_ref().map(|plan| Box::new(Deliveries::new(plan, seed, &link.name)))
}

fn impairments(link: &Link, seed: u64) -> Option<Box<Wire>> {
    let plan = &link.medium.impairments;
    (!plan.is_none()).then(|| Box::new(Wire::new(plan, seed, &link.name)))
}

/// Adds a class with the flows that it has from the start.
fn add_flows(network: &mut Network, class: ClassPlan, flows: &Flows, seed: u64) {
    let source = source(flows);
    let number = network.classes.len() as u32;
    let present = if class.arrivals.is_some() { 0 } else { flows.count };
    let comes_later = class.arrivals.is_some() || class.counts.iter().any(|(_, count)| *count > present);
    let [forward, reverse] = [&flows.route, &flows.back].map(|route| hops(flows, route));
    let joining = comes_later.then(|| Joining {
        source: source.clone(),
        forward: forward.clone(),
        reverse: reverse.clone(),
    });
    for member in 0..present {
        let [forward, reverse] = own_links(network, flows, member);
        // The connections of one application share its links.
        for _ in 0..source.flows() {
            network.flows.push(FlowPlan {
                class: number,
                member,
                source: source.of_member(&flows.stream, member),
                forward: forward.clone(),
                reverse: reverse.clone(),
                start: start(flows, member, seed),
                stop: class.stop,
            });
        }
    }
    network.classes.push(ClassPlan { joining, ..class });
}

/// The way of a flow there and back, over links that it has to itself where there are any; those are added.
fn own_links(network: &mut Network, flows: &Flows, member: u32) -> [Vec<u32>; 2] {
    let [mut forward, mut reverse] =
        [&flows.route, &flows.back].map(|route| route.iter().map(|link| *link as u32).collect::<Vec<u32>>());
    if let Some(access) = flows.access {
        let first = network.links.len() as u32;
        // To the network and from it, on the sender's side and then on the receiver's.
        let delay = access.delay.at(member, flows.count);
        network.links.extend((0..4).map(|_| LinkPlan::plain(access.rate, delay)));
        forward.insert(0, first);
        forward.push(first + 3);
        reverse.insert(0, first + 2);
        reverse.push(first + 1);
    }
    [forward, reverse]
}

/// The way of a flow that comes during the run.
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
            reads: flows.reads,
        })
    };
    match &flows.app {
        App::Bulk => SourcePlan::Bulk(config()),
        App::Session(session) => SourcePlan::App(config(), session.clone()),
        App::Datagrams(datagrams) => SourcePlan::Datagrams(apps::datagrams::plan(datagrams, flows.ecn)),
    }
}

fn start(flows: &Flows, member: u32, seed: u64) -> Time {
    let after = match flows.start {
        Start::Random(within) => {
            let draw = Stream::named(seed, &format!("{}/{member}/start", flows.stream)).uniform();
            let (from, to) = (within.from.seconds(), within.to.seconds());
            Span::from_seconds(from + (to - from) * draw)
        }
        Start::Even(spread) => spread.at(member, flows.count),
    };
    Time::ZERO + after
}

/// A change of the schedule, link by link.
fn changes(change: &sojourn_scenario::Change) -> Vec<Change> {
    let one = |link: usize, what: LinkChange| Change {
        time: Time::ZERO + change.time,
        every: change.every,
        until: change.until.map_or(Time::NEVER, |until| Time::ZERO + until),
        link: link as u32,
        what,
    };
    let all = |links: &[usize], what: LinkChange| links.iter().map(|link| one(*link, what.clone())).collect();
    match &change.set {
        Setting::Rate(links, rate) => all(links, LinkChange::Rate(*rate)),
        Setting::Delay(links, delay) => all(links, LinkChange::Delay(*delay)),
        Setting::Law(link, given) => vec![one(*link, LinkChange::Law(given.as_slice().into()))],
        Setting::Count(..) => Vec::new(),
    }
}
