//! Datagrams in even steps, the first at the start: a constant bit rate.

use sojourn_units::{Span, Time};

pub(super) struct Even {
    start: Time,
    /// Datagrams per second.
    rate: f64,
    sent: u64,
}

impl Even {
    pub(super) fn new(start: Time, rate: f64) -> Even {
        Even { start, rate, sent: 0 }
    }

    pub(super) fn next(&mut self) -> Time {
        // From the start each time, so that no rate is rounded.
        let next = self.start + Span::from_seconds(self.sent as f64 / self.rate);
        self.sent += 1;
        next
    }
}
