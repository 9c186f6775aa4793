//! Regret: what learned rates lost against the best fixed ones in hindsight.
//!
//! ```text
//! Regret(T) = max over x of sum over t of U_t(x) - sum over t of U_t(x(t))                                   (30)
//! ```
//!
//! The sum of the U_t is a problem with the sums of the weights, so its maximum is that problem's optimum.

use super::{Fairness, Problem};

/// Regret over periods.
#[derive(Clone, Debug)]
pub struct Regret {
    /// The problem of all periods together.
    together: Problem,
    /// Sum over t of U_t(x(t)).
    earned: f64,
    periods: u32,
}

impl Regret {
    /// Before the first period.
    pub fn new(problem: &Problem) -> Regret {
        let weights = vec![0.0; problem.weights.len()];
        Regret { together: Problem { weights, ..problem.clone() }, earned: 0.0, periods: 0 }
    }

    /// A period in which the flows of these weights had these rates.
    pub fn add(&mut self, weights: &[f64], rates: &[f64]) {
        let Problem { fairness, weights: sums, .. } = &mut self.together;
        for ((sum, weight), rate) in sums.iter_mut().zip(weights).zip(rates) {
            if *weight > 0.0 {
                *sum += weight;
                self.earned += weight * fairness.utility(*rate);
            }
        }
        self.periods += 1;
    }

    /// Number of periods.
    pub fn periods(&self) -> u32 {
        self.periods
    }

    /// Equation (30); None: max-min fairness has no sum of utilities.
    pub fn value(&self) -> Option<f64> {
        if self.together.fairness == Fairness::MaxMin {
            return None;
        }
        Some(self.together.utility(&self.best_fixed()) - self.earned)
    }

    /// The best fixed rates in hindsight, packets/s.
    pub fn best_fixed(&self) -> Vec<f64> {
        self.together.optimum().rates
    }
}
