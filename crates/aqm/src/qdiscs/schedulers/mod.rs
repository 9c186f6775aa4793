//! Schedulers: the order in which queues are served.

mod gps;
mod reserved;
mod rounds;
mod start_time;
mod strict;
mod weights;

use super::scheduled::Scheduler;

/// A scheduler whose queues' weights change at work.
pub trait Weighted: Scheduler {
    /// Sets the weight, above 0, of a group that has one: from the next turn or the next arrival of its queues on.
    fn set_weight(&mut self, group: u32, weight: f64);
}

pub use gps::Gps;
pub use reserved::Reserved;
pub use rounds::Rounds;
pub use start_time::StartTime;
pub use strict::{MOST_BANDS, Strict};
pub use weights::GroupWeights;
