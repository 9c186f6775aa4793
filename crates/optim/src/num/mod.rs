//! Network utility maximisation: the rates of flows over links whose utilities have the greatest sum.
//!
//! F. P. Kelly, A. K. Maulloo, D. K. H. Tan, Journal of the Operational Research Society 49, 1998; over periods with
//! flows that come and go J. Ye, K. Cai, D. Lin, J. Li, J. He, J. C. S. Lui, "A Control-Theoretic and Online Learning
//! Approach to Self-Tuning Queue Management", 2022, whose equation numbers these are:
//!
//! ```text
//! maximise  sum over i of w_i U(x_i),   U(x) = ln x for alpha = 1, else x^(1 - alpha) / (1 - alpha)          (1)
//! such that the rates over each link l add up to C_l at most, and x_i >= eps                                (27)
//! ```
//!
//! - [`Problem::optimum`]: the optimum, of one link in closed form, of a network by the prices of its links;
//! - [`projection`]: the nearest rates that the links carry;
//! - [`online`]: Algorithm 1, the rates of a period from those of the periods before, and other steps; [`primal_dual`];
//! - [`regret`]: what they lost against the best fixed rates;
//! - [`prices`]: the optimum without a centre, by a price at each link.

mod clearing;
mod filling;
mod network;
pub mod online;
mod optimum;
pub mod prices;
pub mod primal_dual;
pub mod projection;
pub mod regret;
mod utility;

pub use network::Network;
pub use optimum::Optimum;
pub use utility::{Fairness, LEAST_ALPHA, MOST_ALPHA};

use sojourn_params::InputError;

/// A problem (26), (27) of one period.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Links, and the flows over them.
    pub network: Network,
    /// alpha.
    pub fairness: Fairness,
    /// w of each flow; 0: it is absent, and has the rate eps.
    pub weights: Vec<f64>,
    /// eps, the least rate of a flow, above 0.
    pub floor: f64,
}

impl Problem {
    /// The problem itself, if its numbers are valid.
    pub fn checked(self) -> Result<Problem, InputError> {
        let flows = self.network.flows();
        if self.weights.len() != flows {
            let expected = format!("one of each flow, {flows}");
            return Err(InputError::conflict(self.weights.len(), "are given", expected).at("weights"));
        }
        let is_valid = |weight: f64| weight.is_finite() && weight >= 0.0;
        if let Some(index) = self.weights.iter().position(|weight| !is_valid(*weight)) {
            let key = format!("weights[{index}]");
            return Err(InputError::out_of_range(self.weights[index], "0 or more").at(&key));
        }
        self.network.has_room_for(self.floor)?;
        Ok(self)
    }

    /// Sum of the utilities of the flows that are present.
    pub fn utility(&self, rates: &[f64]) -> f64 {
        let present = self.weights.iter().zip(rates).filter(|(weight, _)| **weight > 0.0);
        present.map(|(weight, rate)| weight * self.fairness.utility(*rate)).sum()
    }

    /// Gradient of the utility: w_i U'(x_i), 0 where a flow is absent.
    pub fn gradient(&self, rates: &[f64], out: &mut Vec<f64>) {
        let slope = |(weight, rate): (&f64, &f64)| {
            if *weight > 0.0 { weight * self.fairness.marginal(*rate) } else { 0.0 }
        };
        out.clear();
        out.extend(self.weights.iter().zip(rates).map(slope));
    }
}
