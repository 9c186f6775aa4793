//! The network of a scenario: nodes, links and routes.

mod routes;

use crate::links::Medium;
use sojourn_aqm::{DesignedQdisc, Limit};
use sojourn_units::{Rate, Span};

/// Nodes and links, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// True for a dumbbell; the other shorthands become graphs.
    pub dumbbell: bool,
    /// The names of the nodes, by number.
    pub nodes: Vec<String>,
    /// The links, one direction each, by number; the other direction of a link follows it.
    pub links: Vec<Link>,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name in results: `"r1-r2"`, and `"r1-r2.back"` for the other direction.
    pub name: String,
    /// The number of the node where it begins.
    pub from: usize,
    /// The number of the node where it ends.
    pub to: usize,
    /// Its rate, bits on its wire; the mean where it has a schedule instead.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Span,
    /// Limit of its buffer; None: unlimited.
    pub buffer: Option<Limit>,
    /// The qdisc in front of it, its law designed for [its context](crate::Scenario::context); None: an unlimited
    /// first-in-first-out queue.
    pub qdisc: Option<DesignedQdisc>,
    /// True: the qdisc exists for the buffer alone and is not replaced by variants.
    pub is_fixed: bool,
    /// True: the other direction of the link before it.
    pub is_back: bool,
    /// Medium between its ends.
    pub medium: Medium,
}

/// Links of a route in order, by number.
pub type Route = Vec<usize>;

impl Topology {
    /// The number of the node with this name.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node == name)
    }

    /// The number of the link with this name.
    pub fn link(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|link| link.name == name)
    }

    /// The numbers of the links with a qdisc, which are watched; at least one.
    pub fn managed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.links.len()).filter(|number| self.links[*number].qdisc.is_some())
    }

    /// The numbers of the managed links with replaceable qdiscs.
    pub fn replaceable(&self) -> impl Iterator<Item = usize> + '_ {
        self.managed().filter(|number| !self.links[*number].is_fixed)
    }

    /// The number of the node with this name, added where it is new.
    pub(crate) fn add_node(&mut self, name: &str) -> usize {
        self.node(name).unwrap_or_else(|| {
            self.nodes.push(name.into());
            self.nodes.len() - 1
        })
    }

    /// Adds a direction of a link; returns its number.
    pub(crate) fn add_link(&mut self, link: Link) -> usize {
        self.links.push(link);
        self.links.len() - 1
    }

    /// Propagation delay of a route.
    pub fn delay(&self, route: &[usize]) -> Span {
        route.iter().fold(Span::ZERO, |sum, link| sum + self.links[*link].delay)
    }

    /// The nodes of a route, from its first to its last.
    pub fn nodes_of(&self, route: &[usize]) -> impl Iterator<Item = &str> {
        let first = route.first().map(|link| self.links[*link].from);
        let nodes = first.into_iter().chain(route.iter().map(|link| self.links[*link].to));
        nodes.map(|node| self.nodes[node].as_str())
    }
}
