//! Equilibria of the flows and their queues, and their number.
//!
//! At equilibrium each flow has its share, x = C_i (7), and the prices on its path add up to its marginal utility:
//!
//! ```text
//! sum over its links of p = w x^-alpha                                         (6)
//! ```
//!
//! So the rates are always unique; of the prices, a flow of h congested links has one equation for h of them. With N
//! flows and M queues that are not empty, M >= N:
//!
//! - Theorem 1: M = N, each flow crosses one congested link: one equilibrium. With one link this always holds.
//! - Theorem 2: M > N: infinitely many. They are a set of M - N dimensions: for each flow the prices on its path
//!   may be divided freely. The initial state decides which is reached, so no design can count on one of them.
//!
//! Both need a condition that the paper mentions in passing: a flow's share must be the same at each of its congested
//! links. It cannot have two rates; where the shares differ, the queue at the larger one drains, and its link is not
//! part of (6).

use super::{Link, Price};
use sojourn_params::{ErrorKind, InputError};
use sojourn_units::math;

/// Equilibrium of a flow and its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// x, packets/s.
    pub rate: f64,
    /// p.
    pub price: f64,
    /// q = beta + sigma p, packets.
    pub queue: f64,
}

/// Number of equilibria of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniqueness {
    /// Theorem 1.
    One,
    /// Theorem 2: a set of this many dimensions.
    Infinite {
        /// M - N.
        dimensions: usize,
    },
}

/// A flow's share at one congested link on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Number of the link.
    pub link: usize,
    /// C_i there, packets/s.
    pub rate: f64,
}

impl Link {
    /// Equilibrium under a price for each flow's queue, which is unique (corollary 1).
    ///
    /// A price may be a delay; where it is a probability, a value beyond 1 means that x^alpha < w: so slow a flow
    /// cannot be slowed down further.
    pub fn equilibrium(&self, prices: &[Price]) -> Vec<Equilibrium> {
        let place = |((flow, rate), price): ((&super::Flow, f64), &Price)| {
            let value = flow.weight / math::pow(rate, self.alpha);
            Equilibrium { rate, price: value, queue: price.target + price.scale * value }
        };
        self.flows.iter().zip(self.rates()).zip(prices).map(place).collect()
    }
}

/// Number of equilibria of flows that cross these congested links; the links of each.
pub fn uniqueness(ways: &[Vec<Share>]) -> Result<Uniqueness, InputError> {
    for (index, way) in ways.iter().enumerate() {
        let error = |problem: String, expected: &str| {
            Err(InputError::new(ErrorKind::Conflict, problem, expected).at(&format!("flows[{index}]")))
        };
        let Some(first) = way.first() else {
            return error("crosses no congested link, and nothing holds it back".into(), "one or more");
        };
        if let Some(other) = way.iter().find(|share| (share.rate / first.rate - 1.0).abs() > SAME) {
            let [a, b] =
                [first, other].map(|share| format!("{} packets/s of link {}", share.rate, share.link));
            return error(format!("has {a} and {b}"), "one rate, so that no queue of it is empty");
        }
    }
    let queues: usize = ways.iter().map(Vec::len).sum();
    Ok(match queues - ways.len() {
        0 => Uniqueness::One,
        dimensions => Uniqueness::Infinite { dimensions },
    })
}

/// Relative difference below which shares are equal.
const SAME: f64 = 1e-9;
