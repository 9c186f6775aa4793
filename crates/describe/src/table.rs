//! The network as two tables: links, and beneath them the classes with their paths.

use crate::qdiscs::rate_in_words;
use crate::text::{Description, MANY, MOST_GROUPS, buffer_in_words, flow_count, more, shown};
use sojourn_scenario::{Flows, Route};

impl Description<'_> {
    /// Links with a row each, those with qdiscs first, then classes with a row each.
    pub(crate) fn network(&self) -> String {
        let classes = self.scenario.flows[..shown(self.scenario.flows.len(), MOST_GROUPS)].iter();
        let rows = classes.flat_map(|class| self.class_rows(class)).collect();
        let classes = aligned(["class", "flows", "path"], rows);
        let rest =
            more(self.scenario.flows.len(), shown(self.scenario.flows.len(), MOST_GROUPS), "class", "  ");
        format!("{}\n{classes}{rest}", self.link_table())
    }

    fn link_table(&self) -> String {
        let links = &self.scenario.topology.links;
        let there = (0..links.len()).filter(|link| !links[*link].is_back);
        let has_qdisc = |link: &usize| {
            [Some(*link), self.back_of(*link)].into_iter().flatten().any(|link| links[link].qdisc.is_some())
        };
        let (mut order, without): (Vec<usize>, Vec<usize>) = there.partition(has_qdisc);
        order.extend(without);
        let all = order.len();
        order.truncate(if all <= MANY { all } else { MOST_LINKS });
        let rows = order.iter().flat_map(|link| self.link_rows(*link)).collect();
        let table = aligned(["link", "from > to", "rate", "delay", "buffer", "qdisc", "back"], rows);
        table + &more(all, order.len(), "link", "  ")
    }

    /// The row of a link, and one of its other direction where that differs in more than the qdisc.
    fn link_rows(&self, number: usize) -> Vec<[String; 7]> {
        let row = |number: usize| {
            let link = &self.scenario.topology.links[number];
            let [from, to] = [link.from, link.to].map(|node| &self.scenario.topology.nodes[node]);
            [
                link.name.clone(),
                format!("{from} > {to}"),
                rate_in_words(link),
                link.delay.to_string(),
                buffer_in_words(link.buffer),
                self.law_of(link).unwrap_or("none").into(),
                String::new(),
            ]
        };
        let mut rows = vec![row(number)];
        let back = self.back_of(number).map(row);
        rows[0][6] = match &back {
            None => "none",
            Some(back) if back[2..] == rows[0][2..] => "same",
            Some(back) if back[2..4] == rows[0][2..4] && back[5] == "none" => "no qdisc",
            Some(_) => "below",
        }
        .into();
        rows.extend(back.filter(|_| rows[0][6] == "below"));
        rows
    }

    /// The other direction of a link.
    pub(crate) fn back_of(&self, link: usize) -> Option<usize> {
        self.scenario.topology.links.get(link + 1).filter(|back| back.is_back).map(|_| link + 1)
    }

    /// The row of a class with the path of its data, and a line for the path back where that is another.
    fn class_rows(&self, class: &Flows) -> Vec<[String; 3]> {
        let mut rows = vec![[class.name.clone(), flow_count(class), self.nodes_in_words(&class.route)]];
        let topology = &self.scenario.topology;
        let mut back: Vec<&str> = topology.nodes_of(&class.back).collect();
        back.reverse();
        if !back.is_empty() && !topology.nodes_of(&class.route).eq(back) {
            rows.push([String::new(), String::new(), format!("back {}", self.nodes_in_words(&class.back))]);
        }
        rows
    }

    /// The nodes of a route; of a long one the first ones and the last.
    fn nodes_in_words(&self, route: &Route) -> String {
        let nodes: Vec<&str> = self.scenario.topology.nodes_of(route).collect();
        if nodes.len() <= MOST_NODES {
            return nodes.join(" > ");
        }
        let (first, last) = (&nodes[..MOST_NODES - 2], nodes[nodes.len() - 1]);
        format!("{} > ... > {last}, {} links", first.join(" > "), route.len())
    }
}

/// Rows under a heading, in columns as wide as their widest cell.
fn aligned<const N: usize>(heading: [&str; N], rows: Vec<[String; N]>) -> String {
    let mut lines = vec![heading.map(String::from)];
    lines.extend(rows);
    let widths: [usize; N] =
        std::array::from_fn(|column| lines.iter().map(|line| line[column].len()).max().unwrap_or_default());
    let cells = |line: &[String; N]| -> String {
        line.iter().zip(widths).map(|(cell, width)| format!("  {cell:<width$}")).collect()
    };
    lines.iter().map(|line| cells(line).trim_end().to_string() + "\n").collect()
}

/// Links listed if there are more than [`MANY`].
const MOST_LINKS: usize = 16;
/// Listed nodes of a path.
const MOST_NODES: usize = 8;
