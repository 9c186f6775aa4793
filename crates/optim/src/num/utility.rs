//! Alpha-fair utilities (J. Mo, J. Walrand, IEEE/ACM Transactions on Networking 8(5), 2000).

use sojourn_params::InputError;
use sojourn_units::math;

/// What the optimum is fair by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fairness {
    /// Equation (1). 0 is the greatest throughput, 1 proportional fairness, 2 that of Reno.
    Alpha(f64),
    /// The limit of a large alpha: no rate can grow but at the cost of one that is not greater.
    MaxMin,
}

/// Least alpha above 0: below it a flow's rate hardly has a price at which it is not the least or all.
pub const LEAST_ALPHA: f64 = 0.1;
/// Greatest alpha; beyond it max-min fairness is within the width of a line.
pub const MOST_ALPHA: f64 = 8.0;

impl Fairness {
    /// Equation (1) with this alpha, which is 0 or [`LEAST_ALPHA`] to [`MOST_ALPHA`].
    pub fn alpha(alpha: f64) -> Result<Fairness, InputError> {
        if alpha == 0.0 || (LEAST_ALPHA..=MOST_ALPHA).contains(&alpha) {
            return Ok(Fairness::Alpha(alpha));
        }
        Err(InputError::out_of_range(alpha, format!("0, {LEAST_ALPHA} to {MOST_ALPHA}, or \"max_min\"")))
    }

    /// U(x); negative infinity for max-min fairness, which no sum of utilities expresses.
    pub fn utility(self, rate: f64) -> f64 {
        match self {
            Fairness::Alpha(0.0) => rate,
            Fairness::Alpha(1.0) => math::ln(rate),
            Fairness::Alpha(alpha) => math::pow(rate, 1.0 - alpha) / (1.0 - alpha),
            Fairness::MaxMin => f64::NEG_INFINITY,
        }
    }

    /// U'(x) = x^(-alpha); 0 for max-min fairness.
    pub fn marginal(self, rate: f64) -> f64 {
        match self {
            Fairness::Alpha(0.0) => 1.0,
            Fairness::Alpha(1.0) => 1.0 / rate,
            Fairness::Alpha(2.0) => 1.0 / (rate * rate),
            Fairness::Alpha(alpha) => math::pow(rate, -alpha),
            Fairness::MaxMin => 0.0,
        }
    }

    /// The rate whose U' is `marginal`, for an alpha above 0: marginal^(-1 / alpha).
    pub(super) fn rate_of(alpha: f64, marginal: f64) -> f64 {
        match alpha {
            1.0 => 1.0 / marginal,
            2.0 => 1.0 / marginal.sqrt(),
            _ => math::pow(marginal, -1.0 / alpha),
        }
    }
}
