//! Pauses of a link that holds packets: the gaps between the transmissions of a link that sends in bursts.
//!
//! A link that sends what it has each 20 ms delays packets by so much whatever the queue does, and a target below that only
//! costs throughput. The pause that a packet meets is the mean of the gaps g, weighted by their length, without the time that a
//! packet takes,
//!
//! ```text
//! sum of g^2 / sum of g                                                        (i)
//! ```

use sojourn_units::{Span, Time};

/// The pauses of late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pauses {
    /// Time from which on packets have waited; None: none is held.
    since: Option<Time>,
    /// Time at which the last packet has left.
    free: Time,
    /// Sums of g and of g^2, s.
    gaps: f64,
    squares: f64,
}

impl Pauses {
    /// A packet is held from now on, the first.
    pub(super) fn begin(&mut self, now: Time) {
        self.since = Some(now);
    }

    /// A packet leaves, which the link sends in so many s; others wait or not.
    pub(super) fn sent(&mut self, now: Time, takes: f64, others_wait: bool) {
        if let Some(since) = self.since {
            let gap = now.since(since.max(self.free)).min(MOST).seconds();
            self.gaps += gap;
            self.squares += gap * gap;
        }
        self.since = others_wait.then_some(now);
        self.free = now + Span::from_seconds(takes);
    }

    /// The link has stood still until now.
    pub(super) fn resume(&mut self, now: Time) {
        self.since = self.since.map(|_| now);
    }

    /// A period ends: half is forgotten.
    pub(super) fn end_period(&mut self) {
        (self.gaps, self.squares) = (self.gaps / 2.0, self.squares / 2.0);
    }

    /// Equation (i), s.
    pub(super) fn mean(&self) -> f64 {
        if self.gaps > 0.0 { self.squares / self.gaps } else { 0.0 }
    }
}

/// The longest pause that counts: beyond it a link is down.
const MOST: Span = Span::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_with_packets_count_by_their_length() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut pauses = Pauses::default();
        pauses.begin(at(100));
        pauses.sent(at(130), 0.005, true);
        pauses.sent(at(145), 0.0, false);
        assert!((pauses.mean() - 0.025).abs() < 1e-12, "the second gap is 10 ms");
        pauses.begin(at(500));
        pauses.sent(at(500), 0.0, false);
        assert!((pauses.mean() - 0.025).abs() < 1e-12, "a link without packets does not pause");
        let mut down = Pauses::default();
        down.begin(at(1000));
        down.sent(at(9000), 0.0, false);
        assert!((down.mean() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_slow_link_does_not_pause() {
        let mut pauses = Pauses::default();
        pauses.begin(Time::ZERO);
        (0..100).for_each(|packet| pauses.sent(Time::ZERO + Span::from_millis(12 * packet), 0.012, true));
        assert_eq!(pauses.mean(), 0.0);
    }
}
