//! Routes and access links of flows.

use super::SLOWEST;
use super::network::Draft;
use crate::diagnostics::unknown_name;
use crate::ranges::{RATES, within};
use crate::scenario;
use crate::tables::{Access, Group};
use crate::topology::Route;
use sojourn_params::InputError;
use sojourn_units::{Bytes, Rate};

/// The routes of a class's data and of its acknowledgments.
pub(super) fn routes(group: &Group, network: &Draft) -> Result<(Route, Route), InputError> {
    let end = |key: &'static str, name: &Option<String>, place: usize| {
        let usual = network.ends.as_ref().map(|ends| ends[place].as_str());
        match name.as_deref().or(usual) {
            Some(name) => node(key, name, network),
            None => Err(InputError::missing(format!("a node ({})", network.nodes())).at(key)),
        }
    };
    let (from, to) = (end("from", &group.from, 0)?, end("to", &group.to, 1)?);
    if from == to {
        let problem = format!("\"{}\" is where the flows begin", network.topology.nodes[from]);
        return Err(InputError::clash(problem, "another node").at("to"));
    }
    let there = route("route", group.route.as_deref(), (from, to), network)?;
    // Most datagrams are not answered, and need no route back.
    if group.app.is_one_way() && group.back.is_none() {
        return Ok((there, network.topology.shortest(to, from).unwrap_or_default()));
    }
    Ok((there, route("back", group.back.as_deref(), (to, from), network)?))
}

fn node(key: &str, name: &str, network: &Draft) -> Result<usize, InputError> {
    let topology = &network.topology;
    topology.node(name).ok_or_else(|| unknown_name(name, "is no node", &topology.nodes).at(key))
}

/// The route over the given nodes, or the shortest one.
fn route(
    key: &'static str,
    given: Option<&[String]>,
    (from, to): (usize, usize),
    network: &Draft,
) -> Result<Route, InputError> {
    let topology = &network.topology;
    let [first, last] = [from, to].map(|node| topology.nodes[node].as_str());
    let Some(names) = given else {
        return topology.shortest(from, to).ok_or_else(|| {
            let problem = format!("there is no way from \"{first}\" to \"{last}\"");
            InputError::clash(problem, "links that lead there").at(if key == "route" { "to" } else { "from" })
        });
    };
    let mut nodes = Vec::new();
    for name in names {
        let node = node(key, name, network)?;
        if nodes.contains(&node) {
            return Err(
                InputError::clash(format!("passes \"{name}\" twice, a loop"), "each node once").at(key)
            );
        }
        nodes.push(node);
    }
    if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
        let problem = format!("does not go from \"{first}\" to \"{last}\"");
        return Err(InputError::clash(problem, "both ends in the list").at(key));
    }
    topology.way_over(&nodes).map_err(|(from, to)| {
        let [from, to] = [from, to].map(|node| &topology.nodes[node]);
        let problem = format!("there is no link from \"{from}\" to \"{to}\"");
        InputError::clash(problem, "nodes with a link to the next").at(key)
    })
}

/// The access links of each flow; a dumbbell always has them.
pub(super) fn access(
    given: Option<&Access>,
    network: &Draft,
    route: &Route,
    segment: Bytes,
) -> Result<Option<scenario::Access>, InputError> {
    if !network.topology.dumbbell && given.is_none() {
        return Ok(None);
    }
    let Access { rate, delay } = given.cloned().unwrap_or_default();
    let rate = if let Some(rate) = rate {
        within(rate, segment.get() as f64, RATES).map_err(|error| error.at("access.rate"))?
    } else {
        let rates = route.iter().map(|link| network.topology.links[*link].rate.bits_per_second());
        Rate::from_bits_per_second(ACCESS_FACTOR * rates.fold(SLOWEST, f64::max))
    };
    Ok(Some(scenario::Access { rate, delay }))
}

/// An access link's rate over the bottleneck's, where none is given.
const ACCESS_FACTOR: f64 = 10.0;
