//! Warnings: valid scenarios whose results surprise most readers.

use crate::text::listed;
use sojourn_scenario::{Flows, Scenario, Setting, Traffic};
use std::collections::BTreeSet;

/// Warnings of a scenario, a complete sentence each.
pub fn warnings(scenario: &Scenario) -> Vec<String> {
    let unlimited = unlimited(scenario).map(|(link, classes)| unlimited_warning(scenario, link, &classes));
    let lossy = lossy(scenario).map(|(link, classes)| {
        let name = &scenario.topology.links[link].name;
        format!("{name} loses every packet, so that no data of {} arrives.", listed(&classes))
    });
    unlimited.chain(lossy).chain(idle_qdiscs(scenario)).collect()
}

/// Links without a limit where data may accumulate, with the classes of the data.
fn unlimited(scenario: &Scenario) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let (inflow, offered) = (inflow(scenario), offered(scenario));
    by_link(scenario, move |scenario, class| {
        let links = &scenario.topology.links;
        let limited = class.route.iter().filter(|link| links[**link].qdisc.is_some());
        // A window stays small enough for a queue that has a limit, unless a slower one has none.
        let narrowest = limited.map(|link| links[*link].rate.bits_per_second()).fold(f64::INFINITY, f64::min);
        let piles_up = |link: &usize| {
            let rate = links[*link].rate.bits_per_second();
            links[*link].qdisc.is_none()
                && rate <= narrowest
                && inflow[*link] > rate
                && fills(scenario, class, rate, offered[*link])
        };
        class.route.iter().copied().filter(piles_up).collect()
    })
}

/// Rate at which data can arrive at each link: that of the links before it, bit/s.
fn inflow(scenario: &Scenario) -> Vec<f64> {
    let mut inflow = vec![0.0; scenario.topology.links.len()];
    for class in &scenario.flows {
        let Some(first) = class.route.first() else { continue };
        inflow[*first] += class
            .access
            .map_or(f64::INFINITY, |access| f64::from(class.count) * access.rate.bits_per_second());
    }
    let pairs = scenario.flows.iter().flat_map(|class| class.route.windows(2));
    let joined: BTreeSet<(usize, usize)> = pairs.map(|pair| (pair[0], pair[1])).collect();
    for (before, link) in joined {
        inflow[link] += scenario.topology.links[before].rate.bits_per_second();
    }
    inflow
}

/// Rate of the datagrams sent over each link, bit/s.
fn offered(scenario: &Scenario) -> Vec<f64> {
    let mut offered = vec![0.0; scenario.topology.links.len()];
    for class in &scenario.flows {
        let Traffic::Datagrams(datagrams) = class.traffic() else { continue };
        let rate = most_of(scenario, class) * datagrams.rate().bits_per_second();
        class.route.iter().for_each(|link| offered[*link] += rate);
    }
    offered
}

/// True where a class builds a queue at a link of this rate, to which datagrams offer `offered`, bit/s.
fn fills(scenario: &Scenario, class: &Flows, rate: f64, offered: f64) -> bool {
    match class.traffic() {
        Traffic::Bulk => true,
        Traffic::Session => {
            let burst = class.app.burst(class.segment.get() as f64).unwrap_or_default();
            8.0 * most_of(scenario, class) * burst > LONG * rate
        }
        Traffic::Datagrams(_) => offered > rate,
    }
}

/// Largest number of flows of a class over the run.
fn most_of(scenario: &Scenario, class: &Flows) -> f64 {
    let later = scenario.at.iter().filter(|change| change.name == class.name);
    let counts = later.filter_map(|change| match change.set {
        Setting::Count(_, count) => Some(count),
        _ => None,
    });
    f64::from(counts.fold(class.count, u32::max))
}

fn unlimited_warning(scenario: &Scenario, link: usize, classes: &[&str]) -> String {
    let link = &scenario.topology.links[link];
    let of = |name: &&str| scenario.flows.iter().any(|class| class.name == **name && class.app.is_tcp());
    let until = if classes.iter().any(of) { "to the receive windows" } else { "without end" };
    let give = if link.is_back { "back = { buffer = ..., qdisc = ... }" } else { "it a buffer and a qdisc" };
    let sends = if classes.len() == 1 { "sends" } else { "send" };
    let (classes, name) = (listed(classes), &link.name);
    format!(
        "{classes} {sends} data over {name}, which has no limit: its queue may grow {until}; give {give}."
    )
}

/// Links that lose all packets, with the classes that cross them.
fn lossy(scenario: &Scenario) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let loses = |scenario: &Scenario, link: usize| {
        let impairments = &scenario.topology.links[link].medium.impairments;
        impairments.loss.get() == 1.0 || impairments.corrupt.get() == 1.0
    };
    by_link(scenario, move |scenario, class| ways(class).filter(|link| loses(scenario, *link)).collect())
}

/// One sentence on all qdiscs without traffic.
fn idle_qdiscs(scenario: &Scenario) -> Option<String> {
    let crossed: BTreeSet<usize> = scenario.flows.iter().flat_map(ways).collect();
    let idle = scenario.topology.managed().filter(|link| !crossed.contains(link));
    let idle: Vec<&str> = idle.map(|link| scenario.topology.links[link].name.as_str()).collect();
    let have = if idle.len() == 1 { "has a qdisc" } else { "have qdiscs" };
    (!idle.is_empty()).then(|| format!("{} {have} that no traffic crosses.", listed(&idle)))
}

/// The links that `of` gives for one class or more, in order, each with the names of those classes.
fn by_link(
    scenario: &Scenario,
    of: impl Fn(&Scenario, &Flows) -> Vec<usize>,
) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let mut found: Vec<Vec<&str>> = vec![Vec::new(); scenario.topology.links.len()];
    for class in &scenario.flows {
        for link in of(scenario, class) {
            found[link].push(class.name.as_str());
        }
    }
    found.into_iter().enumerate().filter(|(_, classes)| !classes.is_empty())
}

/// The links that packets of a class cross, in both directions.
fn ways(class: &Flows) -> impl Iterator<Item = usize> + '_ {
    let answers = !class.app.is_one_way();
    let back = class.back.iter().filter(move |_| answers);
    class.route.iter().chain(back).copied()
}

/// Sessions build a queue if their burst takes longer than this on a link, s.
const LONG: f64 = 0.1;
