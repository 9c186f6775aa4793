//! A rate: an exponentially weighted mean of what comes.

use sojourn_units::{Time, math};

/// The mean at a time, from which on it decays.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    value: f64,
    at: Time,
}

impl Mean {
    /// Known from the start.
    pub(super) fn of(now: Time, value: f64) -> Mean {
        Mean { value, at: now }
    }

    /// So much comes; `over` s is the time constant.
    pub(super) fn add(&mut self, now: Time, amount: f64, over: f64) {
        *self = Mean { value: self.at(now, over) + amount / over, at: now };
    }

    /// So much of the rate does not count any more.
    pub(super) fn lower(&mut self, now: Time, rate: f64, over: f64) {
        *self = Mean { value: (self.at(now, over) - rate).max(0.0), at: now };
    }

    /// The rate at a time.
    pub(super) fn at(&self, now: Time, over: f64) -> f64 {
        self.value * math::exp(-now.since(self.at).seconds() / over)
    }
}
