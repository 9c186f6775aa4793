//! Curve of `form = profile`: equation (9).

use super::Params;
use crate::link_context::LinkContext;
use sojourn_params::InputError;

/// Backlogs at which the profile starts, and at which it reaches p_max.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Profile {
    pub lo: f64,
    pub hi: f64,
}

impl Profile {
    pub(super) fn new(params: &Params, target: f64, context: &LinkContext) -> Result<Profile, InputError> {
        let lo = params.lo.map_or(target / 2.0, |lo| context.packets(lo));
        let hi = params.hi.map_or((1.5 * target).min(context.limit), |hi| context.packets(hi));
        if lo >= hi {
            let problem = format!("is not below hi = {hi} packets");
            return Err(InputError::conflict(format!("{lo} packets"), problem, "less than hi").at("lo"));
        }
        if hi > context.limit {
            return Err(context.above_the_buffer(format!("{hi} packets")).at("hi"));
        }
        Ok(Profile { lo, hi })
    }

    /// Equation (9).
    pub(super) fn root(self, backlog: f64, p_max: f64) -> f64 {
        p_max * ((backlog - self.lo).max(0.0) / (self.hi - self.lo)).sqrt()
    }

    /// Slope of (9) for p between 0 and 1.
    pub(super) fn slope(self, backlog: f64, p_max: f64) -> Option<f64> {
        let p = self.root(backlog, p_max);
        (p > 0.0 && p < 1.0).then(|| p / (2.0 * (backlog - self.lo)))
    }
}
