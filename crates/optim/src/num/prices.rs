//! The optimum without a centre: every link has a price, and follows its own load.
//!
//! A flow sends at the rate whose marginal utility is the price of its path (S. Low, D. Lapsley, IEEE/ACM Transactions on
//! Networking 7(6), 1999), and each link raises its price where the load exceeds its capacity:
//!
//! ```text
//! x_i  = max(eps, (w_i / Pi_i)^(1 / alpha)),   Pi_i = sum of pi_l over its m_i links                          (i)
//! pi_l <- [pi_l + gamma_l (load_l - C_l)]^+,   gamma_l = 1 / sum over its flows of m_i x_i / (alpha Pi_i)    (ii)
//! ```
//!
//! x_i / (alpha Pi_i) is by how much a flow's rate falls with the price, so that gamma_l is Newton's step of the link alone,
//! shortened by the number m_i of links that move a flow at the same time: diagonal scaling whose sum of steps no flow
//! feels more than once. It is local: a link needs its own load and, of each flow, m_i and Pi_i, which packets carry.
//!
//! From prices that are far off a whole step may take a price to 0, where x_i has no bound. So a price changes by a factor
//! of [`MOST_CHANGE`] in a round at most; where a link has room its price falls by that factor in each, to
//! [`LEAST_PART`] of the price of its flows' paths.

use super::{Fairness, Network, Problem};

/// Most factor of a price's change in a round.
pub const MOST_CHANGE: f64 = 4.0;
/// Least price of a link, as a part of the least marginal utility that any flow has at its capacity.
pub const LEAST_PART: f64 = 1e-12;

/// What a link sees in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Sum of the rates, packets/s.
    pub load: f64,
    /// Sum of m_i x_i / (alpha Pi_i) over the flows above eps.
    pub fall: f64,
}

impl Seen {
    /// A flow of this rate, whose path of so many links has this price.
    pub fn add(&mut self, alpha: f64, rate: f64, links: f64, path_price: f64) {
        self.load += rate;
        self.fall += links * rate / (alpha * path_price);
    }
}

/// Equation (ii): the next price of a link.
pub fn next_price(price: f64, capacity: f64, seen: &Seen) -> f64 {
    let moved = if seen.fall > 0.0 { price + (seen.load - capacity) / seen.fall } else { 0.0 };
    moved.clamp(price / MOST_CHANGE, price * MOST_CHANGE)
}

/// The links of a problem, each with its price, round by round.
#[derive(Clone, Debug)]
pub struct Decentralised {
    problem: Problem,
    alpha: f64,
    prices: Vec<f64>,
    least: f64,
}

impl Decentralised {
    /// Each link at the price of its fair share; None: prices do not lead to the optimum of alpha = 0 or of max-min
    /// fairness.
    pub fn new(problem: Problem) -> Option<Decentralised> {
        let Fairness::Alpha(alpha) = problem.fairness else { return None };
        if alpha == 0.0 {
            return None;
        }
        let counts = problem.network.counts();
        let mean = |weights: &[f64]| weights.iter().sum::<f64>() / weights.len().max(1) as f64;
        let weight = mean(&problem.weights);
        let price =
            |(capacity, count): (&f64, f64)| weight * problem.fairness.marginal(capacity / count.max(1.0));
        let prices: Vec<f64> = problem.network.capacities().iter().zip(counts).map(price).collect();
        let most = problem.network.capacities().iter().copied().fold(0.0, f64::max);
        let least = LEAST_PART * weight * problem.fairness.marginal(most);
        Some(Decentralised { problem, alpha, prices, least })
    }

    /// pi of each link.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Equation (i): the rate of each flow, packets/s.
    pub fn rates(&self) -> Vec<f64> {
        (0..self.problem.network.flows()).map(|flow| self.rate(flow).0).collect()
    }

    /// The flows have other weights from now on, 0 where one is absent.
    pub fn set_weights(&mut self, weights: &[f64]) {
        self.problem.weights.copy_from_slice(weights);
    }

    /// Other flows from now on, over links of the same number, which keep their prices.
    pub fn set_problem(&mut self, problem: Problem) {
        if let Some(next) = Decentralised::new(problem) {
            let prices = std::mem::take(&mut self.prices);
            *self = Decentralised { prices, ..next };
        }
    }

    /// One round of all links.
    pub fn round(&mut self) {
        let network: &Network = &self.problem.network;
        let mut seen = vec![Seen::default(); self.prices.len()];
        for flow in 0..network.flows() {
            let (rate, path_price) = self.rate(flow);
            let path = network.path(flow);
            for link in path {
                let seen = &mut seen[*link as usize];
                if rate > self.problem.floor {
                    seen.add(self.alpha, rate, path.len() as f64, path_price);
                } else {
                    seen.load += rate;
                }
            }
        }
        for ((price, seen), capacity) in self.prices.iter_mut().zip(&seen).zip(network.capacities()) {
            *price = next_price(*price, *capacity, seen).max(self.least);
        }
    }

    /// Rate of a flow, and the price of its path.
    fn rate(&self, flow: usize) -> (f64, f64) {
        let price = self.problem.network.path_price(flow, &self.prices);
        let weight = self.problem.weights[flow];
        let rate = if weight > 0.0 { Fairness::rate_of(self.alpha, price / weight) } else { 0.0 };
        (rate.max(self.problem.floor), price)
    }
}
