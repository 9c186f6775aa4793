//! A scenario's network as the plant has it: its links, and for each flow those that it has to itself.
//!
//! ```text
//! sender i --access--> node > links of its way > node --access--> receiver i
//!          <--access--      < links of the way back <       <--access--
//! ```

use crate::apps;
use crate::network::{
    Arrivals, Change, ClassPlan, FlowPlan, Hop, Joining, LinkChange, LinkPlan, Network, SourcePlan,
};
use sojourn_aqm::discs::Fifo;
use sojourn_aqm::{Disc, Law, Limit};
use sojourn_scenario::{self as scenario, App, Flows, Link, Scenario, Setting, Start};
use sojourn_tcp::{Config, HEADER};
use sojourn_units::{Bytes, Fault, Rate, Span, Stream, Time, Value};
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
    let mut own = own.into_iter();
    let mut law = |number: usize| {
        let link = &scenario.topology.links[number];
        if let Some(law) = if link.is_fixed { None } else { own.next() } {
            return Ok((law, Vec::new()));
        }
        let disc = link.disc.as_ref().expect("a managed link has a disc");
        let law = disc.law_at(&scenario.site(number));
        law.map(|law| (law, disc.params.clone()))
            .map_err(|fault| fault.inside(&format!("{}.disc", link.name)))
    };
    scenario.topology.managed().map(&mut law).collect()
}

/// The network with these laws in front of its managed links, in order.
pub fn network_under(scenario: &Scenario, seed: u64, laws: Vec<Built>) -> Network {
    let mut laws = laws.into_iter();
    let links = scenario.topology.links.iter().enumerate().map(|(number, link)| {
        let disc = link.disc.as_ref().and_then(|_| laws.next());
        LinkPlan {
            disc: disc.map(|law| managed(scenario, seed, number, law)),
            framing: link.medium.framing,
            deliveries: deliveries(link, seed),
            impairments: impairments(link, seed),
            ..plain(link.rate, link.delay)
        }
    });
    let mut network = Network {
        links: links.collect(),
        classes: Vec::new(),
        flows: Vec::new(),
        changes: scenario.at.iter().flat_map(changes).collect(),
    };
    for class in 0..scenario.flows.len() {
        add_flows(&mut network, scenario, class, seed);
    }
    network
}

fn managed(scenario: &Scenario, seed: u64, number: usize, (law, given): Built) -> Box<dyn Disc<Packet>> {
    let Link { name, buffer, .. } = &scenario.topology.links[number];
    let draws = Stream::named(seed, &format!("{name}/disc"));
    let limit = buffer.unwrap_or(Limit::Unlimited);
    Box::new(Fifo::new(law, limit, scenario.site(number), draws).given(&given))
}

fn deliveries(link: &Link, seed: u64) -> Option<Box<Deliveries>> {
    link.medium.deliveries.as_ref().map(|plan| Box::new(Deliveries::new(plan, seed, &link.name)))
}

fn impairments(link: &Link, seed: u64) -> Option<Box<Wire>> {
    let plan = &link.medium.impairments;
    (!plan.is_none()).then(|| Box::new(Wire::new(plan, seed, &link.name)))
}

fn plain(rate: Rate, delay: Span) -> LinkPlan {
    LinkPlan::plain(rate, delay)
}

fn add_flows(network: &mut Network, scenario: &Scenario, class: usize, seed: u64) {
    let flows = &scenario.flows[class];
    let source = source(flows);
    let [forward, reverse] = ways(flows);
    let stop = flows.stop.map(|stop| Time::ZERO + stop);
    let here = if flows.arrivals.is_none() { flows.count } else { 0 };
    for member in 0..here {
        // To the network and from it, on the sender's side and then on the receiver's.
        let mut lay = |way: &[Hop]| -> Vec<u32> {
            let hop = |hop: &Hop| match *hop {
                Hop::Link(link) => link,
                Hop::Own(rate, delay) => {
                    network.links.push(plain(rate, delay.at(member, flows.count)));
                    network.links.len() as u32 - 1
                }
            };
            way.iter().map(hop).collect()
        };
        let (forward, reverse) = (lay(&forward), lay(&reverse));
        for _ in 0..source.flows() {
            network.flows.push(FlowPlan {
                class: class as u32,
                member,
                source: source.of_member(&flows.name, member),
                forward: forward.clone(),
                reverse: reverse.clone(),
                start: start(flows, member, seed),
                stop,
            });
        }
    }
    let counts = scenario.counts(class).into_iter().map(|(time, count)| (Time::ZERO + time, count));
    let counts: Vec<(Time, u32)> = counts.collect();
    let joining =
        (flows.arrivals.is_some() || !counts.is_empty()).then_some(Joining { source, forward, reverse });
    network.classes.push(ClassPlan {
        name: flows.name.clone(),
        most: flows.count,
        counts,
        arrivals: flows.arrivals.as_ref().map(arrivals),
        lifetime: flows.lifetime.as_ref().map(|lifetime| lifetime.seconds().clone()),
        stop,
        joining,
    });
}

/// The ways there and back, over links of its own before and behind where a flow has them.
fn ways(flows: &Flows) -> [Vec<Hop>; 2] {
    let own = flows.access.map(|access| Hop::Own(access.rate, access.delay));
    [&flows.route, &flows.back].map(|route| {
        let links = route.iter().map(|link| Hop::Link(*link as u32));
        own.into_iter().chain(links).chain(own).collect()
    })
}

fn arrivals(of: &scenario::Arrivals) -> Arrivals {
    match of {
        scenario::Arrivals::Poisson(mean) => Arrivals::Poisson(mean.seconds()),
        scenario::Arrivals::Every(step, batch) => Arrivals::Every(*step, *batch),
        scenario::Arrivals::Listed(listed) => {
            let one = |(time, size): &(Span, Option<Bytes>)| (Time::ZERO + *time, size.map(Bytes::get));
            Arrivals::At(listed.times.iter().map(one).collect())
        }
    }
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
        App::Transfers(transfers) => {
            let config = config();
            let app = apps::plan(transfers, config.payload());
            SourcePlan::App(config, app)
        }
        App::Datagrams(datagrams) => SourcePlan::Datagrams(apps::datagrams::plan(datagrams, flows.ecn)),
    }
}

fn start(flows: &Flows, member: u32, seed: u64) -> Time {
    let after = match flows.start {
        Start::Random(within) => {
            let draw = Stream::named(seed, &format!("{}/{member}/start", flows.name)).uniform();
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
