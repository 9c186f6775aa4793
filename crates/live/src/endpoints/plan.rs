//! The plan of the endpoints, and the end of their run.

use sojourn_sim::network::FlowPlan;
use sojourn_units::Time;
use sojourn_workload::{AppPlan, Churn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The plan of all endpoints.
pub struct Plan {
    /// The flows by number: those of the start, then those that may join.
    pub flows: Vec<FlowPlan>,
    /// Transports by class.
    pub transport: Vec<Transport>,
    /// DSCP of the packets of each class.
    pub dscp: Vec<u8>,
    /// Arrivals and departures of each class, and the application of the users that join.
    pub classes: Vec<(Churn, Option<AppPlan>)>,
    /// Flows that exist from the start.
    pub present: usize,
    /// Seed of the run.
    pub seed: u64,
    /// End of the run.
    pub end: End,
}

/// The end of a run, which may become earlier while the endpoints run.
#[derive(Clone, Debug)]
pub struct End(Arc<AtomicU64>);

impl End {
    /// The planned end.
    pub fn new(end: Time) -> End {
        End(Arc::new(AtomicU64::new(end.nanos())))
    }

    /// Moves it.
    pub fn set(&self, end: Time) {
        self.0.store(end.nanos(), Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Time {
        Time::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// Transport of a class of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP with this congestion control of the kernel.
    Tcp(&'static str),
    /// UDP.
    Udp,
    /// Echo requests, which the receiver's kernel answers.
    Icmp,
}
