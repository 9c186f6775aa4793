//! HyStart++: to leave slow start before it overfills the queue.
//!
//! RFC 9406. A round is the time until what was outstanding at its start is acknowledged. Where the least round-trip
//! time of a round is well above that of the round before, a queue is building up (section 4.2):
//!
//! ```text
//! RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))
//! currentRoundMinRTT >= lastRoundMinRTT + RttThresh, after N_RTT_SAMPLE samples
//! ```
//!
//! Then the window grows by a quarter of what slow start would add (conservative slow start, CSS). If the round-trip
//! time falls below what it was at that point, the alarm was false, and slow start goes on. After `CSS_ROUNDS` rounds
//! it is over. Only the first slow start of a connection is so careful: later ones have a threshold that was measured.

use super::AckSample;
use crate::mark::Mark;
use sojourn_units::Span;

/// HyStart++ in the first slow start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// Whether `L`, the segments that one ACK may add, has no limit.
    pacing: bool,
    /// `windowEnd`: the round ends when everything below this is acknowledged.
    window_end: Mark,
    /// `lastRoundMinRTT`.
    last: Option<Span>,
    /// `currentRoundMinRTT`.
    current: Option<Span>,
    /// `rttSampleCount`.
    samples: u32,
    /// Conservative slow start, where it has begun.
    css: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// `cssBaselineMinRtt`.
    baseline: Span,
    /// Rounds that ended in it; the one in which it began is the first.
    rounds: u32,
}

impl HyStart {
    /// Before the first ACK.
    pub(super) fn new(pacing: bool) -> HyStart {
        HyStart { pacing, window_end: Mark::NONE, last: None, current: None, samples: 0, css: None }
    }

    /// Bytes that an ACK for `acked` bytes adds to the window.
    pub(super) fn increase(&self, acked: f64, mss: f64) -> f64 {
        let most = if self.pacing { f64::INFINITY } else { MOST_SEGMENTS };
        acked.min(most * mss) / if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    /// Takes in an ACK; whether slow start is over.
    pub(super) fn is_over(&mut self, ack: &AckSample<'_>) -> bool {
        if let Some(sample) = ack.sample {
            self.current = Some(self.current.map_or(sample, |current| current.min(sample)));
            self.samples = self.samples.saturating_add(1);
            self.look_at_delay();
        }
        if self.window_end.is_none() {
            self.window_end = Mark::at(ack.sent);
        }
        if self.window_end.get().is_some_and(|end| ack.una < end) {
            return false;
        }
        self.window_end = Mark::at(ack.sent);
        self.start_round()
    }

    /// Whether conservative slow start begins, or was a false alarm.
    fn look_at_delay(&mut self) {
        let Some(current) = self.current.filter(|_| self.samples >= N_RTT_SAMPLE) else { return };
        match (self.css, self.last) {
            (Some(css), _) if current < css.baseline => self.css = None,
            (None, Some(last)) if current >= last + threshold(last) => {
                self.css = Some(Conservative { baseline: current, rounds: 0 });
            }
            _ => {}
        }
    }

    /// A round has ended; whether slow start has, too.
    fn start_round(&mut self) -> bool {
        self.last = self.current.take();
        self.samples = 0;
        self.css.as_mut().is_some_and(|css| {
            css.rounds += 1;
            css.rounds >= CSS_ROUNDS
        })
    }
}

/// `RttThresh`.
fn threshold(last: Span) -> Span {
    Span::from_nanos(last.nanos() / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH).max(MIN_RTT_THRESH)
}

// The values that section 4.3 recommends.

/// `L` where the sender does not pace; where it does there is no limit.
const MOST_SEGMENTS: f64 = 8.0;
const MIN_RTT_THRESH: Span = Span::from_millis(4);
const MAX_RTT_THRESH: Span = Span::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::rtt::RttEstimator;
    use sojourn_units::Time;

    /// A connection in slow start: rounds of ten segments of 1000 bytes.
    struct Rounds {
        hystart: HyStart,
        una: u64,
    }

    impl Rounds {
        fn new() -> Rounds {
            Rounds { hystart: HyStart::new(false), una: 0 }
        }

        /// So many ACKs of a segment each, a round-trip time of `millis` in each; whether slow start is over.
        fn acks(&mut self, count: u64, millis: u64) -> bool {
            let rtt = RttEstimator::new(&Profile::default());
            let mut over = false;
            for _ in 0..count {
                self.una += 1000;
                over = self.hystart.is_over(&AckSample {
                    now: Time::ZERO,
                    acked: 1000,
                    flight: 9000,
                    rtt: &rtt,
                    sample: Some(Span::from_millis(millis)),
                    una: self.una,
                    sent: self.una + 9000,
                    marked: false,
                });
            }
            over
        }

        fn is_conservative(&self) -> bool {
            self.hystart.css.is_some()
        }
    }

    #[test]
    fn the_threshold_is_an_eighth_between_4_and_16_ms() {
        for (last, expected) in [(8, 4), (32, 4), (80, 10), (128, 16), (1000, 16)] {
            assert_eq!(threshold(Span::from_millis(last)), Span::from_millis(expected), "{last} ms");
        }
    }

    /// 80 ms and an eighth: 90 ms is a rise, at the eighth sample; 89 ms is none.
    #[test]
    fn a_rise_between_rounds_starts_the_conservative_part() {
        let mut rounds = Rounds::new();
        rounds.acks(10, 80);
        rounds.acks(9, 89);
        assert!(!rounds.is_conservative());
        let mut rounds = Rounds::new();
        // The first ACK finds nine more outstanding: the round ends with the tenth.
        rounds.acks(10, 80);
        rounds.acks(7, 90);
        assert!(!rounds.is_conservative());
        rounds.acks(1, 90);
        assert!(rounds.is_conservative());
        assert_eq!(rounds.hystart.increase(1000.0, 1000.0), 250.0);
    }

    #[test]
    fn one_low_sample_in_the_round_is_no_rise() {
        let mut rounds = Rounds::new();
        rounds.acks(10, 80);
        rounds.acks(1, 81);
        rounds.acks(8, 200);
        assert!(!rounds.is_conservative());
    }

    /// The round in which it began counts, though only a part of it was conservative.
    #[test]
    fn after_five_rounds_slow_start_is_over() {
        let mut rounds = Rounds::new();
        rounds.acks(10, 80);
        rounds.acks(8, 90);
        assert!(!rounds.acks(1, 90), "the first");
        for round in 2..5 {
            assert!(!rounds.acks(9, 90), "{round}");
        }
        assert!(!rounds.acks(8, 90));
        assert!(rounds.acks(1, 90));
    }

    #[test]
    fn a_false_alarm_ends_the_conservative_part() {
        let mut rounds = Rounds::new();
        rounds.acks(10, 80);
        rounds.acks(9, 95);
        assert!(rounds.is_conservative());
        // A round with less than eight samples decides nothing.
        rounds.acks(7, 94);
        assert!(rounds.is_conservative());
        rounds.acks(1, 94);
        assert!(!rounds.is_conservative());
        assert_eq!(rounds.hystart.increase(1000.0, 1000.0), 1000.0);
    }
}
