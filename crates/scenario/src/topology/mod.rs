//! The network of a scenario: nodes, links between them, and the ways over them.

mod routes;

use crate::disc::DiscSpec;
use crate::links::Medium;
use sojourn_aqm::Limit;
use sojourn_units::{Rate, Span};

/// Nodes and links, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Whether the file gives a dumbbell; any other network is a graph, whatever it was written as.
    pub dumbbell: bool,
    /// The names of the nodes, by number.
    pub nodes: Vec<String>,
    /// The links, one direction each, by number; the other direction of a link stands behind it.
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
    /// Its rate, bits on its wire; the mean where it has deliveries instead.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Span,
    /// What its disc may hold; None: whatever comes.
    pub buffer: Option<Limit>,
    /// The disc in front of it; None: packets wait in turn, without a limit.
    pub disc: Option<DiscSpec>,
    /// Whether that is there for its buffer alone, so that it stays what it is.
    pub is_fixed: bool,
    /// Whether it is the other direction of the link before it.
    pub is_back: bool,
    /// What lies between its ends.
    pub medium: Medium,
}

/// Links in the order of a way, by number.
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

    /// The numbers of the links with a disc, which are watched; at least one.
    pub fn managed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.links.len()).filter(|number| self.links[*number].disc.is_some())
    }

    /// The numbers of the managed links whose disc another one may take the place of.
    pub fn replaceable(&self) -> impl Iterator<Item = usize> + '_ {
        self.managed().filter(|number| !self.links[*number].is_fixed)
    }

    /// The number of the node with this name, which is added where it is new.
    pub(crate) fn add_node(&mut self, name: &str) -> usize {
        self.node(name).unwrap_or_else(|| {
            self.nodes.push(name.into());
            self.nodes.len() - 1
        })
    }

    /// Adds a direction of a link; gives its number.
    pub(crate) fn add_link(&mut self, link: Link) -> usize {
        self.links.push(link);
        self.links.len() - 1
    }

    /// Propagation delay of a way.
    pub fn delay(&self, route: &[usize]) -> Span {
        route.iter().fold(Span::ZERO, |sum, link| sum + self.links[*link].delay)
    }

    /// The nodes of a way, from its first to its last.
    pub fn nodes_of(&self, route: &[usize]) -> impl Iterator<Item = &str> {
        let first = route.first().map(|link| self.links[*link].from);
        let nodes = first.into_iter().chain(route.iter().map(|link| self.links[*link].to));
        nodes.map(|node| self.nodes[node].as_str())
    }
}
