//! The optimum of a period.
//!
//! At the optimum each flow's marginal utility is the price of its path (Kelly et al. 1998):
//!
//! ```text
//! x_i = max(eps, (w_i / Pi_i)^(1 / alpha)),   Pi_i = sum of pi_l over its links                               (i)
//! ```
//!
//! On one link x_i is proportional to w_i^(1 / alpha) above eps.

use super::clearing::{Cleared, Demand, Demanded, clear};
use super::filling::fill;
use super::projection::{onto, trim};
use super::{Fairness, Network, Problem};
use sojourn_units::math;

/// Optimal rates, and the prices at which the flows demand them.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// x of each flow, packets/s.
    pub rates: Vec<f64>,
    /// pi of each link; none for alpha = 0 and for max-min fairness.
    pub prices: Vec<f64>,
}

impl Problem {
    /// The rates of the greatest utility; absent flows have eps.
    pub fn optimum(&self) -> Optimum {
        let without_prices = |rates| Optimum { rates, prices: Vec::new() };
        match (self.fairness, self.network.capacities()) {
            (Fairness::MaxMin, _) => {
                without_prices(fill(&self.network, self.floor, |flow| self.weights[flow] > 0.0))
            }
            (Fairness::Alpha(0.0), _) => without_prices(self.greatest_throughput()),
            (Fairness::Alpha(alpha), [capacity]) => self.of_one_link(alpha, *capacity),
            (Fairness::Alpha(alpha), _) => self.of_network(alpha),
        }
    }

    /// Equation (i) on one link: the price after a sort.
    fn of_one_link(&self, alpha: f64, capacity: f64) -> Optimum {
        let shares: Vec<f64> = self.weights.iter().map(|weight| share(*weight, alpha)).collect();
        let mut order = shares.clone();
        order.sort_unstable_by(|a, b| b.total_cmp(a));
        let room = capacity - self.floor * order.len() as f64;
        let (mut sum, mut unit) = (0.0, 0.0);
        // `unit` is the rate of a share of 1 among the flows that have more than eps.
        for (count, share) in (1..).zip(order) {
            let next = (room + self.floor * f64::from(count)) / (sum + share);
            if share * next <= self.floor {
                break;
            }
            (sum, unit) = (sum + share, next);
        }
        let rates = shares.iter().map(|share| (share * unit).max(self.floor)).collect();
        // A link that eps fills, or without flows, has no price of its own.
        let price = if unit > 0.0 { Fairness::Alpha(alpha).marginal(unit) } else { 0.0 };
        Optimum { rates, prices: vec![price] }
    }

    /// Equation (i) on a network, in units in which the mean fair share and the greatest weight are 1.
    fn of_network(&self, alpha: f64) -> Optimum {
        let scale = self.fair_share();
        let greatest = self.weights.iter().copied().fold(0.0, f64::max);
        if greatest == 0.0 {
            return Optimum {
                rates: vec![self.floor; self.weights.len()],
                prices: vec![0.0; self.network.capacities().len()],
            };
        }
        let network = self.network.scaled(1.0 / scale);
        let weights: Vec<f64> = self.weights.iter().map(|weight| weight / greatest).collect();
        let caps = network.most_rates();
        let demand = Fair { alpha, weights: &weights, caps: &caps, floor: self.floor / scale };
        let Cleared { rates, prices } = clear(&network, &demand, &demand.prices(&network));
        let mut rates: Vec<f64> = rates.into_iter().map(|rate| (rate * scale).max(self.floor)).collect();
        trim(&self.network, &mut rates, self.floor);
        let price = greatest * Fairness::Alpha(alpha).marginal(scale);
        Optimum { rates, prices: prices.into_iter().map(|of| of * price).collect() }
    }

    /// alpha = 0, a linear program, by the proximal point method, which ends after finitely many steps (R. T. Rockafellar,
    /// SIAM Journal on Control and Optimization 14, 1976): where optima are many, the one near equal rates.
    fn greatest_throughput(&self) -> Vec<f64> {
        let greatest = self.weights.iter().copied().fold(0.0, f64::max);
        if greatest == 0.0 {
            return vec![self.floor; self.weights.len()];
        }
        let reach: f64 = self.network.capacities().iter().sum();
        let mut rates = vec![self.floor; self.weights.len()];
        for _ in 0..PROXIMAL_STEPS {
            let moved: Vec<f64> = rates
                .iter()
                .zip(&self.weights)
                .map(|(rate, weight)| rate + reach * weight / greatest)
                .collect();
            let next = onto(&self.network, &moved, self.floor);
            let change = next.iter().zip(&rates).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            rates = next;
            if change <= 1e-12 * reach {
                break;
            }
        }
        rates
    }

    /// Mean over the links with flows of the capacity per flow, packets/s.
    pub fn fair_share(&self) -> f64 {
        let counts = self.network.counts();
        let shares = self.network.capacities().iter().zip(counts).filter(|(_, count)| *count > 0.0);
        let (sum, links) =
            shares.fold((0.0, 0.0), |(sum, links), (capacity, count)| (sum + capacity / count, links + 1.0));
        if links == 0.0 { 1.0 } else { sum / links }
    }
}

/// w^(1 / alpha).
fn share(weight: f64, alpha: f64) -> f64 {
    match alpha {
        1.0 => weight,
        2.0 => weight.sqrt(),
        _ => math::pow(weight, 1.0 / alpha),
    }
}

/// Equation (i) as a demand.
struct Fair<'a> {
    alpha: f64,
    weights: &'a [f64],
    /// A rate of each flow above the least capacity on its path.
    caps: &'a [f64],
    floor: f64,
}

impl Demand for Fair<'_> {
    fn at(&self, flow: usize, price: f64) -> Demanded {
        let (weight, cap) = (self.weights[flow], self.caps[flow]);
        if weight == 0.0 {
            return Demanded { rate: 0.0, fall: 0.0 };
        }
        // Beyond what its links carry the demand goes on as a line: a price of 0 has no rate.
        let least = weight * Fairness::Alpha(self.alpha).marginal(cap);
        let rate = if price > least { Fairness::rate_of(self.alpha, price / weight) } else { cap };
        let fall = rate / (self.alpha * price.max(least));
        Demanded { rate: rate + fall * (least - price).max(0.0), fall }
    }

    fn floor(&self) -> f64 {
        self.floor
    }
}

impl Fair<'_> {
    /// Prices to search from: those of equal rates on each link, of which every flow pays a part at each of its links.
    fn prices(&self, network: &Network) -> Vec<f64> {
        let counts = network.counts();
        let mut sums = vec![0.0; counts.len()];
        for (flow, weight) in self.weights.iter().enumerate() {
            let path = network.path(flow);
            for link in path {
                sums[*link as usize] += weight / path.len() as f64;
            }
        }
        let price = |((capacity, count), sum): ((&f64, f64), &f64)| {
            if *sum > 0.0 {
                sum / count * Fairness::Alpha(self.alpha).marginal(capacity / count)
            } else {
                1.0
            }
        };
        network.capacities().iter().zip(counts).zip(&sums).map(price).collect()
    }
}

const PROXIMAL_STEPS: usize = 1000;
