//! What is legal in a scenario and will surprise most who run it.

use crate::app::App;
use crate::changes::Setting;
use crate::describe::listed;
use crate::scenario::{Flows, Scenario};
use std::collections::BTreeSet;

impl Scenario {
    /// What is legal and surely surprising, a complete sentence each.
    pub fn notes(&self) -> Vec<String> {
        let unlimited = self.unlimited().map(|(link, classes)| self.told_unlimited(link, &classes));
        let lossy = self.lossy().map(|(link, classes)| {
            let name = &self.topology.links[link].name;
            format!("{name} loses every packet, so that nothing of {} gets through.", listed(&classes))
        });
        unlimited.chain(lossy).chain(self.idle_discs()).collect()
    }

    /// Links without a limit where data may pile up, with the classes that they are of.
    fn unlimited(&self) -> impl Iterator<Item = (usize, Vec<&str>)> {
        let (inflow, offered) = (self.inflow(), self.offered());
        self.by_link(move |scenario, class| {
            let links = &scenario.topology.links;
            let limited = class.route.iter().filter(|link| links[**link].disc.is_some());
            // A window stays small enough for a queue that has a limit, unless a slower one has none.
            let narrowest =
                limited.map(|link| links[*link].rate.bits_per_second()).fold(f64::INFINITY, f64::min);
            let piles_up = |link: &usize| {
                let rate = links[*link].rate.bits_per_second();
                links[*link].disc.is_none()
                    && rate <= narrowest
                    && inflow[*link] > rate
                    && self.fills(class, rate, offered[*link])
            };
            class.route.iter().copied().filter(piles_up).collect()
        })
    }

    /// The rate at which data can come to each link: that of the links before it, bit/s.
    fn inflow(&self) -> Vec<f64> {
        let mut inflow = vec![0.0; self.topology.links.len()];
        for class in &self.flows {
            let Some(first) = class.route.first() else { continue };
            inflow[*first] += class
                .access
                .map_or(f64::INFINITY, |access| f64::from(class.count) * access.rate.bits_per_second());
        }
        let pairs = self.flows.iter().flat_map(|class| class.route.windows(2));
        let joined: BTreeSet<(usize, usize)> = pairs.map(|pair| (pair[0], pair[1])).collect();
        for (before, link) in joined {
            inflow[link] += self.topology.links[before].rate.bits_per_second();
        }
        inflow
    }

    /// The rate of the datagrams that are sent over each link, bit/s.
    fn offered(&self) -> Vec<f64> {
        let mut offered = vec![0.0; self.topology.links.len()];
        for class in &self.flows {
            let Some(datagrams) = class.app.datagrams() else { continue };
            let rate = self.most_of(class) * datagrams.rate().bits_per_second();
            class.route.iter().for_each(|link| offered[*link] += rate);
        }
        offered
    }

    /// Whether a class makes a queue at a link of this rate, over which datagrams are `offered`, bit/s.
    fn fills(&self, class: &Flows, rate: f64, offered: f64) -> bool {
        match &class.app {
            App::Bulk => true,
            App::Session(session) => {
                8.0 * self.most_of(class) * session.burst(class.segment.get() as f64) > LONG * rate
            }
            App::Datagrams(_) => offered > rate,
        }
    }

    /// How many flows a class has when it has most.
    fn most_of(&self, class: &Flows) -> f64 {
        let later = self.at.iter().filter(|change| change.name == class.name);
        let counts = later.filter_map(|change| match change.set {
            Setting::Count(_, count) => Some(count),
            _ => None,
        });
        f64::from(counts.fold(class.count, u32::max))
    }

    fn told_unlimited(&self, link: usize, classes: &[&str]) -> String {
        let link = &self.topology.links[link];
        let of = |name: &&str| self.flows.iter().any(|class| class.name == **name && class.app.is_tcp());
        let until = if classes.iter().any(of) { "to the receive windows" } else { "without end" };
        let give =
            if link.is_back { "back = { buffer = ..., disc = ... }" } else { "it a buffer and a disc" };
        let sends = if classes.len() == 1 { "sends" } else { "send" };
        let (classes, name) = (listed(classes), &link.name);
        format!(
            "{classes} {sends} data over {name}, which has no limit: its queue may grow {until}; give {give}."
        )
    }

    /// Links that lose all, with the classes that cross them.
    fn lossy(&self) -> impl Iterator<Item = (usize, Vec<&str>)> {
        let loses = |scenario: &Scenario, link: usize| {
            let impairments = &scenario.topology.links[link].medium.impairments;
            impairments.loss.get() == 1.0 || impairments.corrupt.get() == 1.0
        };
        self.by_link(move |scenario, class| ways(class).filter(|link| loses(scenario, *link)).collect())
    }

    /// One sentence on all discs that nothing passes.
    fn idle_discs(&self) -> Option<String> {
        let crossed: BTreeSet<usize> = self.flows.iter().flat_map(ways).collect();
        let idle = self.topology.managed().filter(|link| !crossed.contains(link));
        let idle: Vec<&str> = idle.map(|link| self.topology.links[link].name.as_str()).collect();
        let have = if idle.len() == 1 { "has a disc" } else { "have discs" };
        (!idle.is_empty()).then(|| format!("{} {have} that no traffic crosses.", listed(&idle)))
    }

    /// The links that `of` gives for one class or more, in order, each with the names of those classes.
    fn by_link(
        &self,
        of: impl Fn(&Scenario, &Flows) -> Vec<usize>,
    ) -> impl Iterator<Item = (usize, Vec<&str>)> {
        let mut found: Vec<Vec<&str>> = vec![Vec::new(); self.topology.links.len()];
        for class in &self.flows {
            for link in of(self, class) {
                found[link].push(class.name.as_str());
            }
        }
        found.into_iter().enumerate().filter(|(_, classes)| !classes.is_empty())
    }
}

/// The links that packets of a class cross, there and back.
fn ways(class: &Flows) -> impl Iterator<Item = usize> + '_ {
    let answers = !App::is_one_way(class.app.name());
    let back = class.back.iter().filter(move |_| answers);
    class.route.iter().chain(back).copied()
}

/// Sessions have a queue where what they send at a time takes a link longer than this, s.
const LONG: f64 = 0.1;
