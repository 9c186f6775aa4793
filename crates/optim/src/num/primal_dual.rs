//! Online primal-dual descent: rates that may exceed the links for a while, and prices that bring them back.
//!
//! The alternative of the paper's Remark 1 (X. Cao, K. J. R. Liu, IEEE Transactions on Automatic Control 64(7), 2019;
//! with the damping of M. Mahdavi, R. Jin, T. Yang, Journal of Machine Learning Research 13, 2012):
//!
//! ```text
//! x_i(t + 1) = x_i + eta (g_i - Pi_i) / h_i  at least eps,   h_i = -w_i U''(x_i)                              (i)
//! pi_l(t + 1) = [(1 - delta eta^2) pi_l + eta c_l (load_l - C_l) / C_l]^+                                     (ii)
//! ```
//!
//! with the price Pi_i of the flow's path and c_l the marginal utility of a fair share of the link. The sources have h =
//! c = 1, under which no step fits flows of different rates: what is short enough for the slowest is far too short for
//! the others. In these units eta is a number about 0.02 for any network. It needs no projection, only sums over links;
//! the links are exceeded while the rates settle, and with too long a step they never do.

use super::projection::onto;
use super::{Fairness, LEAST_ALPHA, Problem};
use sojourn_params::{ErrorKind, InputError};

/// Rates and prices over periods.
#[derive(Clone, Debug)]
pub struct PrimalDual {
    problem: Problem,
    alpha: f64,
    /// Flows over each link.
    counts: Vec<f64>,
    /// eta.
    step: f64,
    /// delta.
    damping: f64,
    rates: Vec<f64>,
    prices: Vec<f64>,
    gradient: Vec<f64>,
}

impl PrimalDual {
    /// From equal shares and prices of 0, with a step, more than 0.
    pub fn new(problem: Problem, step: f64, damping: f64) -> Result<PrimalDual, InputError> {
        let problem = problem.checked()?;
        let Fairness::Alpha(alpha) = problem.fairness else {
            let error = InputError::new(ErrorKind::Conflict, "has no gradient", "the optimum");
            return Err(error.found("max-min fairness").at("step"));
        };
        for (key, value) in [("step", step), ("damping", damping)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(InputError::out_of_range(value, "more than 0").at(key));
            }
        }
        let share = vec![problem.fair_share(); problem.network.flows()];
        let rates = onto(&problem.network, &share, problem.floor);
        let prices = vec![0.0; problem.network.capacities().len()];
        let counts = problem.network.counts();
        Ok(PrimalDual { problem, alpha, counts, step, damping, rates, prices, gradient: Vec::new() })
    }

    /// Rates of the present period; their sum over a link may exceed its capacity.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// The nearest rates that the links carry.
    pub fn feasible_rates(&self) -> Vec<f64> {
        onto(&self.problem.network, &self.rates, self.problem.floor)
    }

    /// Price of each link, in utility per packet/s.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Goes on from these rates of all flows, and these prices of the links.
    pub fn start(&mut self, rates: &[f64], prices: &[f64]) {
        self.rates.copy_from_slice(rates);
        self.prices.copy_from_slice(prices);
    }

    /// Other flows over as many links from now on, at these rates; the prices stay.
    pub fn set_problem(&mut self, problem: Problem, rates: &[f64]) -> Result<(), InputError> {
        let problem = problem.checked()?;
        let links = problem.network.capacities().len();
        if links != self.prices.len() {
            let expected = format!("{}, as before", self.prices.len());
            return Err(InputError::conflict(links, "links are others", expected).at("network"));
        }
        (self.counts, self.problem) = (problem.network.counts(), problem);
        self.rates = rates.to_vec();
        Ok(())
    }

    /// The present period ends; its flows had these weights, 0 where one was absent.
    pub fn end_period(&mut self, weights: &[f64]) {
        self.problem.weights.copy_from_slice(weights);
        let Problem { network, fairness, floor, .. } = &self.problem;
        let mut gradient = std::mem::take(&mut self.gradient);
        self.problem.gradient(&self.rates, &mut gradient);
        let loads = network.loads(&self.rates);
        for (flow, rate) in self.rates.iter_mut().enumerate() {
            if weights[flow] == 0.0 {
                *rate = *floor;
                continue;
            }
            // g / h is x / alpha, and for alpha = 0 it has no measure but the rate.
            let by_alpha = self.alpha.max(LEAST_ALPHA);
            let excess = 1.0 - network.path_price(flow, &self.prices) / gradient[flow];
            // A flow at most doubles and at most halves.
            *rate = (*rate * (1.0 + (self.step / by_alpha * excess).clamp(-0.5, 1.0))).max(*floor);
        }
        let kept = 1.0 - self.damping * self.step * self.step;
        let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
        for (link, price) in self.prices.iter_mut().enumerate() {
            let (capacity, count) = (network.capacities()[link], self.counts[link]);
            let unit = mean * fairness.marginal(capacity / count.max(1.0));
            *price = (kept * *price + self.step * unit * (loads[link] - capacity) / capacity).max(0.0);
        }
        self.gradient = gradient;
    }
}
