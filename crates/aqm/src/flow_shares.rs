//! Shares of the flows at a link that are set from outside.
//!
//! A coordinator of several links solves the problem of all of them together (J. Ye et al. 2022, Algorithm 1), or passes
//! prices between them, and each link sets the rates that follow in place of its own solution (Algorithm 2).

use crate::law::FlowId;
use crate::qdiscs::sqm::{StepRule, Utility};
use sojourn_optim::num::Fairness;
use sojourn_params::choice;
use sojourn_units::{Span, Time};

choice! {
    /// Place of the computation of the rates of a link's flows.
    pub enum Coordinator {
        /// at the link, for its flows alone
        Local = "local",
        /// at one place, for all links together
        Centralised = "centralised",
        /// at the links, by prices that they exchange
        Decentralised = "decentralised",
    }
}

/// Bytes of the packets in which links exchange rates and prices, whatever the mean packet of each is.
pub(crate) const COMMON_PACKET: f64 = 1500.0;

/// Demands of the flows at a link, in packets of 1500 bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Demands {
    /// Rate that the flows with a queue share, packets/s.
    pub capacity: f64,
    /// alpha.
    pub fairness: Fairness,
    /// eps, the least rate of a flow, packets/s.
    pub floor: f64,
    /// Utility that the weights belong to; its unit is that of prices.
    pub utility: Utility,
    /// The rates of a period from those of the periods before.
    pub step: StepRule,
    /// Flows seen in the last period or since, each with its weight w.
    pub flows: Vec<(FlowId, f64)>,
}

/// The price of a way over links, as packets carry it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathPrice {
    /// m, the number of links with a price; 0: nothing is known.
    pub links: u32,
    /// Sum of their prices.
    pub price: f64,
}

impl PathPrice {
    /// The way over one link more.
    pub fn over(self, price: f64) -> PathPrice {
        PathPrice { links: self.links + 1, price: self.price + price }
    }
}

/// A link whose flows' rates may be set, in packets of 1500 bytes.
pub trait FlowShares {
    /// Place of the computation of rates; with another than the local one the link keeps those that it has until they are set.
    fn coordinator(&self) -> Coordinator;
    /// Time between two solutions.
    fn period(&self) -> Span;
    /// The flows, and what they share.
    fn demands(&self) -> Demands;
    /// Rate of each of them, packets/s, where all have packets: they share the link in proportion to those set.
    fn rates(&self) -> Vec<(FlowId, f64)>;
    /// Sets the rates of these flows, packets/s; the others keep theirs.
    fn set_rates(&mut self, now: Time, rates: &[(FlowId, f64)]);
    /// pi, the price at which a new flow demands its rate; 0: unknown.
    fn price(&self) -> f64;
    /// Sets pi, 0 or more.
    fn set_price(&mut self, price: f64);
    /// The packet that is enqueued next carries this price of its whole path, which includes the link's own.
    fn announce(&mut self, path: PathPrice);
}
