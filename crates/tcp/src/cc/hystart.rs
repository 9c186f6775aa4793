//! HyStart++: leaves slow start before the queue overflows.
//!
//! RFC 9406. A round lasts until the data outstanding at its start is acknowledged. If the minimum round-trip time of
//! a round is well above that of the round before, a queue is building up (section 4.2):
//!
//! ```text
//! RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))
//! currentRoundMinRTT >= lastRoundMinRTT + RttThresh, after N_RTT_SAMPLE samples
//! ```
//!
//! The window then grows by a quarter of slow start's increase (conservative slow start, CSS). If the round-trip time
//! falls below its value at that point, the increase was spurious, and slow start resumes. After `CSS_ROUNDS` rounds
//! slow start ends. HyStart++ applies to the first slow start of a connection only: later ones have a measured
//! threshold.

use super::AckSample;
use crate::opt_seq::OptSeq;
use sojourn_units::Span;

/// HyStart++ in the first slow start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// Lifts the limit `L` on the segments added per ACK.
    pacing: bool,
    /// `windowEnd`: the round ends when everything below is acknowledged.
    window_end: OptSeq,
    /// `lastRoundMinRTT`.
    last_round_min_rtt: Option<Span>,
    /// `currentRoundMinRTT`.
    current_round_min_rtt: Option<Span>,
    /// `rttSampleCount`.
    rtt_sample_count: u32,
    /// Conservative slow start in progress.
    css: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// `cssBaselineMinRtt`.
    css_baseline_min_rtt: Span,
    /// Rounds completed in it, including the one in which it began.
    rounds: u32,
}

impl HyStart {
    /// State before the first ACK.
    pub(super) fn new(pacing: bool) -> HyStart {
        HyStart {
            pacing,
            window_end: OptSeq::NONE,
            last_round_min_rtt: None,
            current_round_min_rtt: None,
            rtt_sample_count: 0,
            css: None,
        }
    }

    /// Growth of the window by an ACK of `acked` bytes, bytes.
    pub(super) fn increase(&self, acked: f64, mss: f64) -> f64 {
        let most = if self.pacing { f64::INFINITY } else { MAX_SEGMENTS };
        acked.min(most * mss) / if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    /// Takes in an ACK, returning whether slow start ends.
    pub(super) fn is_over(&mut self, ack: &AckSample<'_>) -> bool {
        if let Some(sample) = ack.sample {
            self.current_round_min_rtt =
                Some(self.current_round_min_rtt.map_or(sample, |current| current.min(sample)));
            self.rtt_sample_count = self.rtt_sample_count.saturating_add(1);
            self.check_delay();
        }
        if self.window_end.is_none() {
            self.window_end = OptSeq::some(ack.sent);
        }
        if self.window_end.get().is_some_and(|end| ack.una < end) {
            return false;
        }
        self.window_end = OptSeq::some(ack.sent);
        self.start_round()
    }

    /// Starts conservative slow start, or resumes slow start.
    fn check_delay(&mut self) {
        let Some(current) = self.current_round_min_rtt.filter(|_| self.rtt_sample_count >= N_RTT_SAMPLE)
        else {
            return;
        };
        match (self.css, self.last_round_min_rtt) {
            (Some(css), _) if current < css.css_baseline_min_rtt => self.css = None,
            (None, Some(last)) if current >= last + rtt_thresh(last) => {
                self.css = Some(Conservative { css_baseline_min_rtt: current, rounds: 0 });
            }
            _ => {}
        }
    }

    /// Starts a round, returning whether slow start ends.
    fn start_round(&mut self) -> bool {
        self.last_round_min_rtt = self.current_round_min_rtt.take();
        self.rtt_sample_count = 0;
        self.css.as_mut().is_some_and(|css| {
            css.rounds += 1;
            css.rounds >= CSS_ROUNDS
        })
    }
}

/// `RttThresh`.
fn rtt_thresh(last: Span) -> Span {
    Span::from_nanos(last.nanos() / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH).max(MIN_RTT_THRESH)
}

// Values recommended in section 4.3.

/// `L` of senders without pacing; with pacing there is no limit.
const MAX_SEGMENTS: f64 = 8.0;
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

    /// Connection in slow start: rounds of ten segments of 1000 bytes.
    struct Rounds {
        hystart: HyStart,
        una: u64,
    }

    impl Rounds {
        fn new() -> Rounds {
            Rounds { hystart: HyStart::new(false), una: 0 }
        }

        /// `count` ACKs of a segment each, with an RTT of `millis`; returns whether slow start ends.
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
            assert_eq!(rtt_thresh(Span::from_millis(last)), Span::from_millis(expected), "{last} ms");
        }
    }

    /// 80 ms and an eighth: 90 ms is an increase, at the eighth sample; 89 ms is not.
    #[test]
    fn a_rise_between_rounds_starts_the_conservative_part() {
        let mut rounds = Rounds::new();
        rounds.acks(10, 80);
        rounds.acks(9, 89);
        assert!(!rounds.is_conservative());
        let mut rounds = Rounds::new();
        // At the first ACK nine more segments are outstanding: the round ends with the tenth.
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

    /// The round in which it began counts, though only part of it was conservative.
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
        // A round with fewer than eight samples decides nothing.
        rounds.acks(7, 94);
        assert!(rounds.is_conservative());
        rounds.acks(1, 94);
        assert!(!rounds.is_conservative());
        assert_eq!(rounds.hystart.increase(1000.0, 1000.0), 1000.0);
    }
}
