//! The wall clock: the only one outside of the binding's stopwatch.

use sojourn_units::Time;
#[allow(clippy::disallowed_types, reason = "the live plant runs by the wall clock")]
use std::time::Instant;

/// Start of a run by the wall clock.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::disallowed_types, reason = "the live plant runs by the wall clock")]
pub struct Clock(Instant);

impl Clock {
    /// A run that starts now.
    #[allow(clippy::disallowed_types, reason = "the live plant runs by the wall clock")]
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// Time since the start.
    pub fn now(self) -> Time {
        Time::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}
