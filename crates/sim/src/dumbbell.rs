//! The dumbbell: every flow has its own access links on both sides of one bottleneck.
//!
//! ```text
//! sender i --access--> |disc| bottleneck --> access--> receiver i
//!          <--access--      <-- the same rate, no disc <--access--
//! ```

use crate::network::{Change, Datagrams, FlowPlan, LinkChange, LinkPlan, Network, SourcePlan, Spacing};
use sojourn_aqm::discs::Fifo;
use sojourn_aqm::{Disc, Law, Limit};
use sojourn_scenario::{App, Flows, Scenario, Setting, Start};
use sojourn_tcp::{Config, HEADER};
use sojourn_units::{Fault, Rate, Span, Stream, Time};
use std::sync::Arc;

use crate::packet::Packet;

/// The bottleneck's number among the links.
pub const BOTTLENECK: u32 = 0;
/// The bottleneck's name.
pub const BOTTLENECK_NAME: &str = "bottleneck";

/// The number of the bottleneck's other direction, which carries the ACKs.
const RETURN: u32 = 1;

/// The network of a scenario under this seed; the law may refuse its place.
pub fn network(scenario: &Scenario, seed: u64) -> Result<Network, Fault> {
    let law = scenario.bottleneck.disc.law_at(&scenario.site())?;
    Ok(network_under(scenario, seed, law))
}

/// The same with another law in front of the bottleneck.
pub fn network_under(scenario: &Scenario, seed: u64, law: Box<dyn Law>) -> Network {
    let bottleneck = &scenario.bottleneck;
    let mut network = Network {
        links: vec![
            LinkPlan { disc: Some(disc(scenario, seed, law)), ..plain(bottleneck.rate, bottleneck.delay) },
            plain(bottleneck.rate, bottleneck.delay),
        ],
        flows: Vec::new(),
        changes: scenario.at.iter().flat_map(changes).collect(),
    };
    for flows in &scenario.flows {
        add_flows(&mut network, flows, seed);
    }
    network
}

fn disc(scenario: &Scenario, seed: u64, law: Box<dyn Law>) -> Box<dyn Disc<Packet>> {
    let draws = Stream::named(seed, "bottleneck/disc");
    let limit = scenario.bottleneck.buffer.unwrap_or(Limit::Unlimited);
    Box::new(Fifo::new(law, limit, scenario.site(), draws))
}

fn plain(rate: Rate, delay: Span) -> LinkPlan {
    LinkPlan { rate, delay, disc: None }
}

fn add_flows(network: &mut Network, flows: &Flows, seed: u64) {
    let source = source(flows);
    for member in 0..flows.count {
        let number = network.flows.len();
        let first = network.links.len() as u32;
        let (rate, delay) = (flows.access.rate, flows.access.delay.at(member, flows.count));
        // To the bottleneck and from it, on the sender's side and then on the receiver's.
        network.links.extend((0..4).map(|_| plain(rate, delay)));
        network.flows.push(FlowPlan {
            source: source.clone(),
            forward: vec![first, BOTTLENECK, first + 3],
            reverse: vec![first + 2, RETURN, first + 1],
            start: start(flows, member, number, seed),
            stop: flows.stop.map(|stop| Time::ZERO + stop),
        });
    }
}

fn source(flows: &Flows) -> SourcePlan {
    let datagrams = |rate: Rate, spacing| {
        let mean_len = flows.segment.get() as f64;
        let rate = rate.packets_per_second(mean_len);
        SourcePlan::Datagrams(Datagrams { rate, spacing, mean_len, exponential: false, ecn: flows.ecn })
    };
    match flows.app {
        App::Bulk => SourcePlan::Bulk(Arc::new(Config {
            profile: flows.profile.clone(),
            cc: flows.cc.clone(),
            mss: flows.segment.get() as u32 - HEADER,
            ecn: flows.ecn,
            reads: flows.reads,
        })),
        App::Cbr(rate) => datagrams(rate, Spacing::Even),
        App::Poisson(rate) => datagrams(rate, Spacing::Poisson),
    }
}

fn start(flows: &Flows, member: u32, number: usize, seed: u64) -> Time {
    let after = match flows.start {
        Start::Random(within) => {
            let draw = Stream::named(seed, &format!("flow {number}/start")).uniform();
            let (from, to) = (within.from.seconds(), within.to.seconds());
            Span::from_seconds(from + (to - from) * draw)
        }
        Start::Even(spread) => spread.at(member, flows.count),
    };
    Time::ZERO + after
}

/// A change of the bottleneck is a change of both its directions.
fn changes(change: &sojourn_scenario::Change) -> [Change; 2] {
    let what = match change.set {
        Setting::BottleneckRate(rate) => LinkChange::Rate(rate),
        Setting::BottleneckDelay(delay) => LinkChange::Delay(delay),
    };
    let time = Time::ZERO + change.time;
    [BOTTLENECK, RETURN].map(|link| Change {
        time,
        every: None,
        until: Time::NEVER,
        link,
        what: what.clone(),
    })
}
