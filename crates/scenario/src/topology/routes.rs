//! Routes through a network.

use super::{Route, Topology};
use sojourn_units::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Length of a path: propagation delay, then links.
type Length = (Span, usize);

impl Topology {
    /// The shortest route between two nodes (Dijkstra 1959), by delay and then by links; of equals the one whose links
    /// have the lower numbers. None where there is no route.
    pub fn shortest(&self, from: usize, to: usize) -> Option<Route> {
        let mut leaving = vec![Vec::new(); self.nodes.len()];
        self.links.iter().enumerate().for_each(|(number, link)| leaving[link.from].push(number));
        // Length of the route to each node, and its last link.
        let mut reached: Vec<Option<(Length, Option<usize>)>> = vec![None; self.nodes.len()];
        let mut open = BinaryHeap::from([Reverse(((Span::ZERO, 0), None, from))]);
        while let Some(Reverse((length, by, node))) = open.pop() {
            if reached[node].is_some() {
                continue;
            }
            reached[node] = Some((length, by));
            if node == to {
                break;
            }
            for number in &leaving[node] {
                let link = &self.links[*number];
                let longer = (length.0 + link.delay, length.1 + 1);
                open.push(Reverse((longer, Some(*number), link.to)));
            }
        }
        let mut route = Route::new();
        let mut node = to;
        while node != from {
            let (_, by) = reached[node]?;
            route.push(by?);
            node = self.links[by?].from;
        }
        route.reverse();
        Some(route)
    }

    /// The route over these nodes; or the first two that no link joins.
    pub(crate) fn way_over(&self, nodes: &[usize]) -> Result<Route, (usize, usize)> {
        let joins = |pair: &[usize]| {
            let found = self.links.iter().position(|link| link.from == pair[0] && link.to == pair[1]);
            found.ok_or((pair[0], pair[1]))
        };
        nodes.windows(2).map(joins).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Medium;
    use crate::topology::Link;
    use sojourn_units::Rate;

    /// Links of so many milliseconds between numbered nodes.
    fn network(nodes: usize, links: &[(usize, usize, u64)]) -> Topology {
        let link = |(from, to, millis): &(usize, usize, u64)| Link {
            name: format!("{from}-{to}"),
            from: *from,
            to: *to,
            rate: Rate::from_bits_per_second(1e6),
            delay: Span::from_millis(*millis),
            buffer: None,
            qdisc: None,
            is_fixed: false,
            is_back: false,
            medium: Medium::default(),
        };
        Topology {
            dumbbell: false,
            nodes: (0..nodes).map(|node| node.to_string()).collect(),
            links: links.iter().map(link).collect(),
        }
    }

    #[test]
    fn the_shortest_route_has_the_least_delay_then_the_fewest_links() {
        let net = network(5, &[(0, 1, 1), (1, 2, 1), (0, 2, 3), (2, 3, 0), (0, 3, 2), (3, 4, 9)]);
        assert_eq!(net.shortest(0, 2), Some(vec![0, 1]));
        // 2 ms over three links, or over one.
        assert_eq!(net.shortest(0, 3), Some(vec![4]));
        assert_eq!(net.shortest(0, 0), Some(vec![]));
        assert_eq!(net.shortest(4, 0), None);
        assert_eq!(net.nodes_of(&[0, 1, 3]).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    }

    /// Compares with every route in networks of six nodes.
    #[test]
    fn no_route_is_shorter() {
        fn ways(net: &Topology, from: usize, to: usize, past: &mut Vec<usize>, best: &mut Option<Length>) {
            if from == to {
                let length = (net.delay(past), past.len());
                *best = Some(best.map_or(length, |best| best.min(length)));
                return;
            }
            for number in 0..net.links.len() {
                let next = net.links[number].to;
                let seen = past.iter().any(|link| net.links[*link].from == next);
                if net.links[number].from == from && !seen {
                    past.push(number);
                    ways(net, next, to, past, best);
                    past.pop();
                }
            }
        }
        let mut draws = sojourn_random::Stream::named(1, "routes");
        for _ in 0..200 {
            let mut node = || (draws.uniform() * 6.0) as usize;
            let ends: Vec<(usize, usize)> =
                (0..12).map(|_| (node(), node())).filter(|(a, b)| a != b).collect();
            let links: Vec<_> =
                ends.iter().enumerate().map(|(n, (a, b))| (*a, *b, (n as u64 * 7) % 5)).collect();
            let net = network(6, &links);
            for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
                let mut best = None;
                ways(&net, from, to, &mut Vec::new(), &mut best);
                let found = net.shortest(from, to).map(|route| (net.delay(&route), route.len()));
                assert_eq!(found, best);
            }
        }
    }

    #[test]
    fn a_route_is_given_by_its_nodes() {
        let net = network(3, &[(0, 1, 1), (1, 2, 1)]);
        assert_eq!(net.way_over(&[0, 1, 2]), Ok(vec![0, 1]));
        assert_eq!(net.way_over(&[0, 2]), Err((0, 2)));
    }
}
