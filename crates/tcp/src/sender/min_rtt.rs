//! The minimum round-trip time: RFC 8985, section 6.2, step 1.
//!
//! The minimum is windowed, so that it adapts to a path that has become longer.

use sojourn_units::{Span, Time};

/// Minimum over the last five to ten seconds, in two halves.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    before: Span,
    now: Span,
    since: Time,
}

impl MinRtt {
    pub(super) fn new() -> MinRtt {
        MinRtt { before: FOREVER, now: FOREVER, since: Time::ZERO }
    }

    /// Minimum; greater than any round-trip time before the first sample.
    pub(super) fn get(&self) -> Span {
        self.before.min(self.now)
    }

    /// Returns whether `rtt` is below the minimum; false if there was no sample for so long that the path may have
    /// changed.
    pub(super) fn is_above(&self, now: Time, rtt: Span) -> bool {
        rtt < self.get() && now.since(self.since) < HALF_OF_MIN_RTT * 2
    }

    pub(super) fn sample(&mut self, now: Time, rtt: Span) {
        if now.since(self.since) >= HALF_OF_MIN_RTT {
            *self = MinRtt { before: self.now, now: rtt, since: now };
        }
        self.now = self.now.min(rtt);
    }
}

/// Half of the minimum's window.
const HALF_OF_MIN_RTT: Span = Span::from_secs(5);
/// Greater than any round-trip time.
const FOREVER: Span = Span::from_nanos(u64::MAX);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_round_trip_is_that_of_the_last_seconds() {
        let mut least = MinRtt::new();
        let mut sample = |seconds, millis| {
            least.sample(Time::ZERO + Span::from_secs(seconds), Span::from_millis(millis));
            least.get()
        };
        assert_eq!([sample(0, 10), sample(4, 100), sample(6, 100)], [10, 10, 10].map(Span::from_millis));
        assert_eq!([sample(9, 80), sample(11, 90)], [10, 80].map(Span::from_millis));
        let shorter = |seconds| least.is_above(Time::ZERO + Span::from_secs(seconds), Span::from_millis(79));
        assert_eq!([shorter(15), shorter(22)], [true, false]);
    }
}
