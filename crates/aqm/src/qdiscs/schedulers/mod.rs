//! Schedulers: the order in which queues are served.

mod gps;
mod reserved;
mod rounds;
mod start_time;
mod strict;
mod weights;

pub use gps::Gps;
pub use reserved::Reserved;
pub use rounds::Rounds;
pub use start_time::StartTime;
pub use strict::{MOST_BANDS, Strict};
pub use weights::GroupWeights;
