//! Routes and access links of flows.

use super::links::Draft;
use super::reader::{FASTEST_ACCESS, Reader, SLOWEST, Section};
use crate::app::App;
use crate::keys::{AppName, Name, Names};
use crate::scenario::Access;
use crate::times::Spread;
use crate::topology::Route;
use crate::tree::{Node, Tree};
use sojourn_units::{Bytes, Rate, did_you_mean};

/// Access links of a flow; None: its hosts are at the nodes.
pub(super) struct Hosts(pub(super) Option<Access>);

impl Reader {
    /// The routes of a class's data and of its acknowledgments.
    pub(super) fn routes(&mut self, group: &Section<'_>, network: &Draft<'_>) -> Option<(Route, Route)> {
        let [from, to] = [("from", 0), ("to", 1)].map(|(key, place)| {
            let usual = network.ends.as_ref().map(|ends| ends[place].clone());
            match group.get(key).map(|Name(name)| name).or(usual.filter(|_| !group.given(key))) {
                Some(name) => self.node(group, key, &name, network),
                None if group.given(key) => None,
                None => {
                    self.refuse(group, key, &format!("is missing; expected a node ({})", network.nodes()));
                    None
                }
            }
        });
        let (from, to) = (from?, to?);
        if from == to {
            let node = &network.topology.nodes[from];
            self.refuse(group, "to", &format!("\"{node}\" is where the flows begin; expected another node"));
            return None;
        }
        let there = self.route(group, "route", (from, to), network)?;
        // Most datagrams are not answered, and need no route back.
        let answers = !group.get("app").is_some_and(|AppName(app)| App::is_one_way(app));
        if !answers && !group.given("back") {
            return Some((there, network.topology.shortest(to, from).unwrap_or_default()));
        }
        Some((there, self.route(group, "back", (to, from), network)?))
    }

    fn node(&mut self, group: &Section<'_>, key: &str, name: &str, network: &Draft<'_>) -> Option<usize> {
        let found = network.topology.node(name);
        if found.is_none() {
            let hint = did_you_mean(name, network.topology.nodes.iter().map(String::as_str));
            self.refuse(group, key, &format!("\"{name}\" is no node{hint} (expected {})", network.nodes()));
        }
        found
    }

    /// The route given by the key, or the shortest one.
    fn route(
        &mut self,
        group: &Section<'_>,
        key: &'static str,
        (from, to): (usize, usize),
        network: &Draft<'_>,
    ) -> Option<Route> {
        let topology = &network.topology;
        let [first, last] = [from, to].map(|node| topology.nodes[node].as_str());
        if !group.given(key) {
            let found = topology.shortest(from, to);
            if found.is_none() {
                let message =
                    format!("there is no way from \"{first}\" to \"{last}\"; expected links that lead there");
                self.refuse(group, if key == "route" { "to" } else { "from" }, &message);
            }
            return found;
        }
        let Names(names) = group.get(key)?;
        let mut nodes = Vec::new();
        for name in &names {
            let node = self.node(group, key, name, network)?;
            if nodes.contains(&node) {
                let message = format!("passes \"{name}\" twice, a loop; expected each node once");
                self.refuse(group, key, &message);
                return None;
            }
            nodes.push(node);
        }
        if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
            let message =
                format!("does not go from \"{first}\" to \"{last}\"; expected both ends in the list");
            self.refuse(group, key, &message);
            return None;
        }
        let way = topology.way_over(&nodes).map_err(|(from, to)| {
            let [from, to] = [from, to].map(|node| &topology.nodes[node]);
            format!("there is no link from \"{from}\" to \"{to}\"; expected nodes with a link to the next")
        });
        way.map_err(|message| self.refuse(group, key, &message)).ok()
    }

    /// The access links of each flow; a dumbbell always has them.
    pub(super) fn access(
        &mut self,
        group: &Section<'_>,
        network: &Draft<'_>,
        (route, _): &(Route, Route),
        segment: Option<Bytes>,
    ) -> Option<Hosts> {
        if !network.topology.dumbbell && !group.given("access") {
            return Some(Hosts(None));
        }
        let nothing = Node { place: group.place.clone(), tree: Tree::Table(Vec::new()) };
        let node = if group.given("access") { group.node("access")? } else { &nothing };
        let section = self.section("flows.access", &group.path_of("access"), node)?;
        let rate = if section.given("rate") {
            self.rate(&section, "rate", segment?.get() as f64, FASTEST_ACCESS)?
        } else {
            let rates = route.iter().map(|link| network.topology.links[*link].rate.bits_per_second());
            Rate::from_bits_per_second(ACCESS_FACTOR * rates.fold(SLOWEST, f64::max))
        };
        Some(Hosts(Some(Access { rate, delay: section.get::<Spread>("delay")? })))
    }
}

/// An access link's rate over the bottleneck's, where none is given.
const ACCESS_FACTOR: f64 = 10.0;
