//! How a network is laid out before it is drawn: a trunk, the chains that hang at it, and what they close.

use crate::scenario::Scenario;
use crate::topology::Topology;

/// Two nodes that links join.
pub(super) struct Edge {
    /// Its nodes, by number.
    pub(super) ends: [usize; 2],
    /// The link from the first to the second, and the one from the second to the first.
    pub(super) links: [Option<usize>; 2],
}

/// A row of nodes, each joined to the one before it.
#[derive(Clone, Default)]
pub(super) struct Chain {
    pub(super) nodes: Vec<usize>,
    /// What hangs at each of the nodes.
    pub(super) hung: Vec<Vec<Chain>>,
    /// A node that stands elsewhere, to which the last one is joined too.
    pub(super) again: Option<usize>,
}

impl Chain {
    fn of(node: usize) -> Chain {
        Chain { nodes: vec![node], hung: vec![Vec::new()], again: None }
    }

    /// Whether nothing hangs at it.
    pub(super) fn is_bare(&self) -> bool {
        self.hung.iter().all(Vec::is_empty)
    }

    /// How long its row is, in links.
    fn length(&self) -> usize {
        self.nodes.len() + usize::from(self.again.is_some())
    }

    /// Goes on with `next`.
    fn append(&mut self, next: Chain) {
        self.nodes.extend(next.nodes);
        self.hung.extend(next.hung);
        self.again = next.again;
    }
}

/// What joins the nodes, in the order of the links.
pub(super) fn edges(topology: &Topology) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut known = std::collections::BTreeMap::new();
    for (number, link) in topology.links.iter().enumerate() {
        let ends = [link.from, link.to];
        let place = *known.entry([link.from.min(link.to), link.from.max(link.to)]).or_insert(edges.len());
        if place == edges.len() {
            edges.push(Edge { ends, links: [None, None] });
        }
        let edge = &mut edges[place];
        edge.links[usize::from(edge.ends != ends)] = Some(number);
    }
    edges
}

/// The network as rows: one with the longest way of a class in it, and one for each part that is not joined to it.
pub(super) fn sketch(scenario: &Scenario, edges: &[Edge]) -> Vec<Chain> {
    let topology = &scenario.topology;
    let mut walk = Walk {
        edges,
        at: vec![Vec::new(); topology.nodes.len()],
        stands: vec![false; topology.nodes.len()],
        is_used: vec![false; edges.len()],
    };
    for (place, edge) in edges.iter().enumerate() {
        edge.ends.iter().for_each(|end| walk.at[*end].push(place));
    }
    // Of equals the first.
    let longest = scenario.flows.iter().map(|group| &group.route).rev().max_by_key(|route| route.len());
    let way = longest.into_iter().flat_map(|route| {
        let first = route.first().map(|link| topology.links[*link].from);
        first.into_iter().chain(route.iter().map(|link| topology.links[*link].to))
    });
    // A dumbbell has its left on the left.
    let way = if topology.dumbbell { (0..topology.nodes.len()).collect() } else { way.collect() };
    let mut rows = vec![walk.trunk(way)];
    while let Some(node) = walk.stands.iter().position(|stands| !stands) {
        rows.push(walk.trunk(vec![node]));
    }
    rows
}

/// A walk over a network, depth first.
struct Walk<'a> {
    edges: &'a [Edge],
    /// The edges at each node.
    at: Vec<Vec<usize>>,
    /// Whether the node has its place.
    stands: Vec<bool>,
    is_used: Vec<bool>,
}

impl Walk<'_> {
    /// A row of these nodes, with all that can be reached from them; where a single chain hangs at an end, the row goes
    /// on with it.
    fn trunk(&mut self, nodes: Vec<usize>) -> Chain {
        for node in &nodes {
            self.stands[*node] = true;
        }
        for pair in nodes.windows(2) {
            let joins = |edge: &Edge| edge.ends == [pair[0], pair[1]] || edge.ends == [pair[1], pair[0]];
            if let Some(place) = self.edges.iter().position(joins) {
                self.is_used[place] = true;
            }
        }
        let mut hung: Vec<Vec<Chain>> = nodes.iter().map(|node| self.chains_at(*node)).collect();
        let last = hung.last_mut().and_then(only);
        let first = if nodes.len() > 1 { hung.first_mut().and_then(only) } else { None };
        let mut row = Chain::default();
        if let Some(mut first) = first {
            first.nodes.reverse();
            first.hung.reverse();
            row = first;
        }
        row.append(Chain { nodes, hung, again: None });
        if let Some(last) = last {
            row.append(last);
        }
        row
    }

    /// What hangs at a node: what has no place yet, and what closes a circle.
    fn chains_at(&mut self, node: usize) -> Vec<Chain> {
        let mut chains = Vec::new();
        for place in self.at[node].clone() {
            if std::mem::replace(&mut self.is_used[place], true) {
                continue;
            }
            let [one, other] = self.edges[place].ends;
            let next = if one == node { other } else { one };
            if std::mem::replace(&mut self.stands[next], true) {
                chains.push(Chain { again: Some(next), ..Chain::default() });
                continue;
            }
            let mut chain = Chain::of(next);
            let mut beyond = self.chains_at(next);
            // The row goes on with what is longest, of equals with the first.
            if let Some(longest) = (0..beyond.len()).rev().max_by_key(|place| beyond[*place].length()) {
                chain.append(beyond.remove(longest));
            }
            chain.hung[0] = beyond;
            chains.push(chain);
        }
        chains
    }
}

/// The chain that alone hangs here and closes no circle, taken away.
fn only(hung: &mut Vec<Chain>) -> Option<Chain> {
    if hung.len() == 1 && hung[0].again.is_none() { hung.pop() } else { None }
}
