//! Datagrams with independent exponential gaps, also before the first: a Poisson process.

use sojourn_random::Stream;
use sojourn_units::{Span, Time};

pub(super) struct Poisson {
    last: Time,
    /// The mean gap, s.
    gap: f64,
    draws: Stream,
}

impl Poisson {
    /// `rate` in datagrams per second.
    pub(super) fn new(start: Time, rate: f64, draws: Stream) -> Poisson {
        Poisson { last: start, gap: 1.0 / rate, draws }
    }

    pub(super) fn next(&mut self) -> Time {
        self.last += Span::from_seconds(self.draws.exponential(self.gap));
        self.last
    }
}
