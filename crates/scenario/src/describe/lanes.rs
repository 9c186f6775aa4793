//! The ways of classes, below the row of nodes that they follow.

use super::{MOST_GROUPS, called, shown};
use crate::scenario::{Flows, Scenario};

impl Scenario {
    /// The ways of the classes, each with what it is the way of; in words where it does not follow the row of these
    /// nodes, which stand in these columns, for a link at least.
    pub(super) fn lanes(&self, row: &[usize], columns: &[usize]) -> Vec<(String, String)> {
        let lane = |group: &Flows| (called(group), self.lane(group, row, columns));
        self.flows.iter().take(shown(self.flows.len(), MOST_GROUPS)).map(lane).collect()
    }

    /// A way as it is seen from above, from left to right: `a > o-----> b`; in words where it does not follow the row.
    fn lane(&self, group: &Flows, row: &[usize], columns: &[usize]) -> String {
        let mut names: Vec<&str> = self.topology.nodes_of(&group.route).collect();
        let in_words = self.way_in_words(&group.route);
        let place = |name: &&str| row.iter().position(|node| self.topology.nodes[*node] == **name);
        let mut places: Vec<Option<usize>> = names.iter().map(place).collect();
        let Some((first, last)) = along(&places) else { return in_words };
        let (mut ends, is_forward) = ((first, last), places[first] < places[last]);
        if !is_forward {
            names.reverse();
            places.reverse();
            ends = (names.len() - 1 - last, names.len() - 1 - first);
        }
        let [Some(from), Some(to)] = [places[ends.0], places[ends.1]] else { return in_words };
        let (from, to) = (columns[from], columns[to]);
        let sign = if is_forward { '>' } else { '<' };
        let left: String = names[..ends.0].iter().map(|name| format!("{name} {sign} ")).collect();
        let right: String = names[ends.1 + 1..].iter().map(|name| format!(" {sign} {name}")).collect();
        let line = "-".repeat(to - from - 1);
        // The arrow's own head stands for the sign beside it.
        let (left, arrow, right) = if is_forward {
            (left.as_str(), format!("o{line}>"), right.trim_start_matches(" >"))
        } else {
            (left.trim_end_matches("< "), format!("<{line}o"), right.as_str())
        };
        if left.len() > from || right.len() > LONGEST {
            in_words
        } else {
            format!("{left:>from$}{arrow}{right}")
        }
    }
}

/// The longest part of a way that follows a row in one direction, by its first and its last place; of equals the first.
fn along(places: &[Option<usize>]) -> Option<(usize, usize)> {
    let follows = |first: usize, last: usize| {
        let up =
            places[first..=last].windows(2).all(|pair| matches!(pair, [Some(a), Some(b)] if a + 1 == *b));
        let down =
            places[first..=last].windows(2).all(|pair| matches!(pair, [Some(a), Some(b)] if b + 1 == *a));
        up || down
    };
    let mut best: Option<(usize, usize)> = None;
    let mut first = 0;
    for last in 1..places.len() {
        // A part that ends here begins where the one before it began, or one link ago, or nowhere.
        first = [first, last - 1, last].into_iter().find(|first| follows(*first, last)).unwrap_or(last);
        if last - first > best.map_or(0, |(from, to)| to - from) {
            best = Some((first, last));
        }
    }
    best
}

/// Letters beside the end of a way.
const LONGEST: usize = 40;
