//! Where the flows and their queues rest, and how many such places there are.
//!
//! At rest each flow has its share, x = C_i (7), and all the prices on its way together are its marginal utility:
//!
//! ```text
//! sum over its links of p = w x^-alpha                                         (6)
//! ```
//!
//! So the rates are always unique; of the prices, a flow of h congested links has one equation for h of them.
//! With N flows and M queues that are not empty, M >= N:
//!
//! - Theorem 1: M = N, each flow crosses one congested link: one place of rest. With one link it is always so.
//! - Theorem 2: M > N: infinitely many. They make a set of M - N dimensions: for each flow the prices on its way may
//!   be shared out as one likes. The start decides where it ends, so no design can count on one of them.
//!
//! Both need what the paper says in passing: a flow's share must be the same at each of its congested links. It
//! cannot have two rates; where the shares differ, the queue at the larger one drains, and its link is none of (6).

use super::{Link, Price};
use sojourn_units::{Fault, math};

/// Where a flow and its queue rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// x, packets/s.
    pub rate: f64,
    /// p.
    pub price: f64,
    /// q = beta + sigma p, packets.
    pub queue: f64,
}

/// How many places of rest a network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniqueness {
    /// Theorem 1.
    One,
    /// Theorem 2: a set of so many dimensions.
    Infinite {
        /// M - N.
        dimensions: usize,
    },
}

/// A flow's share at one congested link on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Which link.
    pub link: usize,
    /// C_i there, packets/s.
    pub rate: f64,
}

impl Link {
    /// The place of rest under a price for each flow's queue: there is one, and one only (corollary 1).
    ///
    /// A price may be a delay; where it is a probability, a rest beyond 1 says that x^alpha < w: so slow a flow
    /// cannot be slowed down further.
    pub fn rest(&self, prices: &[Price]) -> Vec<Rest> {
        let place = |((flow, rate), price): ((&super::Flow, f64), &Price)| {
            let value = flow.weight / math::pow(rate, self.alpha);
            Rest { rate, price: value, queue: price.target + price.scale * value }
        };
        self.flows.iter().zip(self.rates()).zip(prices).map(place).collect()
    }
}

/// How many places of rest flows have that cross these congested links; the links of each.
pub fn uniqueness(ways: &[Vec<Share>]) -> Result<Uniqueness, Fault> {
    for (index, way) in ways.iter().enumerate() {
        let fault = |what: String| Err(Fault::new(format!("flows[{index}]"), what));
        let Some(first) = way.first() else {
            return fault("crosses no congested link, and nothing holds it back; legal: one or more".into());
        };
        if let Some(other) = way.iter().find(|share| (share.rate / first.rate - 1.0).abs() > SAME) {
            let [a, b] =
                [first, other].map(|share| format!("{} packets/s of link {}", share.rate, share.link));
            return fault(format!("has {a} and {b}; legal: one rate, so that no queue of it is empty"));
        }
    }
    let queues: usize = ways.iter().map(Vec::len).sum();
    Ok(match queues - ways.len() {
        0 => Uniqueness::One,
        dimensions => Uniqueness::Infinite { dimensions },
    })
}

/// Shares that differ by less are the same.
const SAME: f64 = 1e-9;
