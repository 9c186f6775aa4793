//! The rates of a period from those of the periods before.
//!
//! Algorithm 1 is online gradient descent (M. Zinkevich, ICML 2003): the flows of period t are seen at its end, and
//!
//! ```text
//! x(t + 1) = P[x(t) + eta_t g_t],   g_t the gradient of U_t at x(t),   P the projection onto (27)             (i)
//! eta_t = D / (G sqrt t),   ||x - y|| <= D,   ||g|| <= G                                          (28), (29)
//! ```
//!
//! Its regret is at most 3/2 G D sqrt T (31), for any flows. That says nothing of how fast it follows: G is the gradient
//! of all flows at eps, far above that at work, so that the rates move by a thousandth of their way in a period. Other
//! steps of (i):
//!
//! - [`Step::Adaptive`]: D / sqrt(2 sum of ||g||^2), regret sqrt(2) D sqrt(sum of ||g||^2) at most without a bound G (M.
//!   Streeter, H. B. McMahan, 2010);
//! - [`Step::Harmonic`]: 1 / (H t), regret G^2 / (2 H) (1 + ln T) where every U_t has a curvature of H at least (E. Hazan,
//!   A. Agarwal, S. Kale, Machine Learning 69, 2007);
//! - [`Step::Newton`]: each flow by the curvature of its own utility, in whose metric P projects: Newton's step of the
//!   period's problem, x_i (1 + 1 / alpha) before P. It follows a step of the load in a few periods;
//! - [`Step::Optimum`]: the optimum of the flows seen.

use super::projection::{onto, onto_by};
use super::{Fairness, Problem};
use sojourn_params::{ErrorKind, InputError};

/// Rule for the rates of the next period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Equation (29), with its G.
    Printed {
        /// G, in utility per packet/s.
        gradient: f64,
    },
    /// By the gradients so far.
    Adaptive,
    /// By the least curvature.
    Harmonic {
        /// H, in utility per (packet/s)^2.
        curvature: f64,
    },
    /// By the curvature of each flow.
    Newton,
    /// To the optimum.
    Optimum,
}

/// Rates that are learned over periods.
#[derive(Clone, Debug)]
pub struct Online {
    problem: Problem,
    step: Step,
    rates: Vec<f64>,
    periods: u32,
    /// Sum of ||g||^2.
    squares: f64,
    gradient: Vec<f64>,
}

impl Online {
    /// Rates of the first period: equal shares, projected. The problem's weights are those of no period.
    pub fn new(problem: Problem, step: Step) -> Result<Online, InputError> {
        let problem = problem.checked()?;
        match (step, problem.fairness) {
            (Step::Optimum, _) => {}
            (_, Fairness::MaxMin) => {
                return Err(refused("has no gradient", "max-min fairness", "the optimum"));
            }
            (Step::Newton, Fairness::Alpha(0.0)) => {
                return Err(refused("has no curvature", "alpha = 0", "the adaptive step or the optimum"));
            }
            _ => {}
        }
        let share = vec![problem.fair_share(); problem.network.flows()];
        let rates = onto(&problem.network, &share, problem.floor);
        Ok(Online { problem, step, rates, periods: 0, squares: 0.0, gradient: Vec::new() })
    }

    /// Rates of the present period, packets/s.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// The problem of the last period.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Sets the rates of the first period.
    pub fn start(&mut self, rates: &[f64]) {
        self.rates = onto(&self.problem.network, rates, self.problem.floor);
    }

    /// Other flows, links or steps from now on, at these rates; the number of periods goes on. Newton's step begins at the
    /// fair share where the problem's weight is 0.
    pub fn set_problem(&mut self, problem: Problem, step: Step, rates: &[f64]) -> Result<(), InputError> {
        self.problem = problem.checked()?;
        self.step = step;
        self.start(rates);
        Ok(())
    }

    /// The present period ends; its flows had these weights, 0 where one was absent.
    pub fn end_period(&mut self, weights: &[f64]) {
        self.periods += 1;
        if matches!(self.step, Step::Newton) {
            self.welcome(weights);
        }
        self.problem.weights.copy_from_slice(weights);
        match self.step {
            Step::Optimum => self.rates = self.problem.optimum().rates,
            Step::Newton => self.newton(),
            Step::Printed { .. } | Step::Adaptive | Step::Harmonic { .. } => self.descend(),
        }
    }

    /// Equation (i).
    fn descend(&mut self) {
        let mut gradient = std::mem::take(&mut self.gradient);
        self.problem.gradient(&self.rates, &mut gradient);
        self.squares += gradient.iter().map(|slope| slope * slope).sum::<f64>();
        let t = f64::from(self.periods);
        let step = match self.step {
            Step::Printed { gradient } => self.problem.diameter() / (gradient * t.sqrt()),
            Step::Harmonic { curvature } => 1.0 / (curvature * t),
            _ if self.squares > 0.0 => self.problem.diameter() / (2.0 * self.squares).sqrt(),
            _ => 0.0,
        };
        let moved: Vec<f64> =
            self.rates.iter().zip(&gradient).map(|(rate, slope)| rate + step * slope).collect();
        self.rates = onto(&self.problem.network, &moved, self.problem.floor);
        self.gradient = gradient;
    }

    /// Flows that were absent begin at the fair share.
    fn welcome(&mut self, weights: &[f64]) {
        let share = self.problem.fair_share();
        for ((rate, before), weight) in self.rates.iter_mut().zip(&self.problem.weights).zip(weights) {
            if *before == 0.0 && *weight > 0.0 {
                *rate = share;
            }
        }
    }

    fn newton(&mut self) {
        let Problem { fairness, weights, network, floor } = &self.problem;
        let Fairness::Alpha(alpha) = *fairness else { return };
        let flows = || self.rates.iter().zip(weights);
        let curvature = |(rate, weight): (&f64, &f64)| {
            if *weight > 0.0 { alpha * weight * fairness.marginal(*rate) / rate } else { 1.0 }
        };
        let moved =
            |(rate, weight): (&f64, &f64)| if *weight > 0.0 { rate * (1.0 + 1.0 / alpha) } else { *floor };
        let metric: Vec<f64> = flows().map(curvature).collect();
        let greatest = metric.iter().copied().fold(0.0, f64::max);
        let metric: Vec<f64> = metric.iter().map(|curvature| curvature / greatest).collect();
        let moved: Vec<f64> = flows().map(moved).collect();
        self.rates = onto_by(network, &moved, *floor, &metric);
    }
}

impl Problem {
    /// D of (28): no two rates that fit are further apart. On one link some are.
    pub fn diameter(&self) -> f64 {
        let base = self.network.loads(&vec![self.floor; self.network.flows()]);
        let room = self.network.capacities().iter().zip(base).filter(|(_, base)| *base > 0.0);
        std::f64::consts::SQRT_2 * room.map(|(capacity, base)| capacity - base).sum::<f64>()
    }

    /// G of (29) for weights of `greatest` at most, `flows` of them present.
    pub fn gradient_bound(&self, greatest: f64, flows: usize) -> f64 {
        greatest * (flows as f64).sqrt() * self.fairness.marginal(self.floor)
    }

    /// H: the least curvature that a present flow's utility of this weight has at any rate that fits.
    pub fn least_curvature(&self, weight: f64) -> f64 {
        let Fairness::Alpha(alpha) = self.fairness else { return 0.0 };
        let most = self.network.capacities().iter().copied().fold(0.0, f64::max);
        alpha * weight * self.fairness.marginal(most) / most
    }
}

fn refused(problem: &str, what: &str, expected: &str) -> InputError {
    InputError::new(ErrorKind::Conflict, problem, expected).found(what).at("step")
}
