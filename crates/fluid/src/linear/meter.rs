//! Count of evaluations with a limit, so that an analysis has the same result on every machine.

use super::bound::{Bound, Outside};
use super::complex::{Complex64, Wide};
use super::plant::{Lag, LinearPlant, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counter of evaluations: of one class's transfer function at one frequency each.
#[derive(Debug)]
pub struct Meter {
    limit: u64,
    spent: AtomicU64,
}

impl Meter {
    /// A meter with this limit.
    pub fn new(limit: u64) -> Arc<Meter> {
        Arc::new(Meter { limit, spent: AtomicU64::new(0) })
    }

    /// Limit of evaluations.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Resets the count.
    pub fn renew(&self) {
        self.spent.store(0, Ordering::Relaxed);
    }

    /// Evaluations spent, at most the limit.
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed).min(self.limit)
    }

    /// True if an evaluation was refused.
    pub fn is_used_up(&self) -> bool {
        self.spent.load(Ordering::Relaxed) > self.limit
    }

    /// Counts more evaluations; whether they are within the limit.
    pub(crate) fn spend(&self, evaluations: u64) -> bool {
        self.spent.fetch_add(evaluations, Ordering::Relaxed) + evaluations <= self.limit
    }
}

/// A plant with counted evaluations; NaN beyond the limit.
#[derive(Clone, Debug)]
pub struct Metered<P> {
    plant: P,
    classes: u64,
    meter: Arc<Meter>,
}

impl<P: LinearPlant> Metered<P> {
    /// `plant` on `meter`.
    pub fn new(plant: P, meter: Arc<Meter>) -> Metered<P> {
        let classes = plant.delays().len() as u64;
        Metered { plant, classes, meter }
    }
}

impl<P: LinearPlant> LinearPlant for Metered<P> {
    fn at(&self, s: Complex64) -> Response {
        if self.meter.spend(self.classes) {
            return self.plant.at(s);
        }
        let unknown = Complex64::new(f64::NAN, f64::NAN);
        Response { flight: unknown, backlog: unknown, below: unknown }
    }

    fn delays(&self) -> Vec<f64> {
        self.plant.delays()
    }

    fn queue(&self, s: Complex64, late: &[Complex64]) -> Complex64 {
        if self.meter.spend(self.classes) {
            return self.plant.queue(s, late);
        }
        Complex64::new(f64::NAN, f64::NAN)
    }

    fn count_evaluation(&self) -> bool {
        self.meter.spend(1)
    }

    fn late_of_lag(&self, number: usize, late: &[Complex64]) -> Complex64 {
        self.plant.late_of_lag(number, late)
    }

    fn lags_at(&self, lags: &[Lag], s: Complex64, late: &[Complex64]) -> Complex64 {
        self.plant.lags_at(lags, s, late)
    }

    fn delay(&self) -> f64 {
        self.plant.delay()
    }

    fn delay_of_parts(&self) -> f64 {
        self.plant.delay_of_parts()
    }

    /// Counted with [`LinearPlant::at`], beside which they are evaluated.
    fn factors(&self, s: Complex64) -> Wide {
        self.plant.factors(s)
    }

    fn real_zeros_of_factors(&self) -> Vec<f64> {
        self.plant.real_zeros_of_factors()
    }

    fn bounds(&self, at: Outside) -> Option<[Bound; 2]> {
        self.plant.bounds(at)
    }

    fn lags(&self) -> Vec<Lag> {
        self.plant.lags()
    }

    fn remainder(&self, at: Outside) -> Option<Bound> {
        self.plant.remainder(at)
    }

    fn pole_radius(&self, left: f64) -> Option<f64> {
        self.plant.pole_radius(left)
    }
}
