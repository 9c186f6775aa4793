//! Hybrid Slow Start: leaves slow start at the first sign of a queue.
//!
//! Ha and Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55(9), 2011; the variant of Linux's
//! CUBIC. A round lasts until the data outstanding at its start is acknowledged. From a window of [`LOW_WINDOW`]
//! segments on, slow start ends for good at the first of:
//!
//! ```text
//! ACK train:       ACKs at most 2 ms apart since the round began span more than D_min / 2
//!                  (where the sender paces: D_min, as its segments may have waited for half a round trip)
//! delay increase:  the least of the first 8 round-trip times of the round >= D_min + min(max(D_min / 8, 4 ms), 16 ms)
//! ```
//!
//! `D_min` is the minimum round-trip time of the connection. A train that spans half of it fills half of the path, and
//! the next round all of it. The bounds of the increase are those of Linux; the paper has 2 and 8 ms.

use super::AckSample;
use crate::opt_seq::OptSeq;
use sojourn_units::{Span, Time};

/// Hybrid Slow Start in the first slow start.
#[derive(Clone, Debug)]
pub(super) struct Hybrid {
    /// Divisor of `D_min` that gives the longest train.
    train_divisor: u64,
    /// `D_min`.
    d_min: Option<Span>,
    /// The round ends when everything below is acknowledged.
    round_end: OptSeq,
    round_start: Time,
    /// Time of the last ACK of the train.
    last_ack: Time,
    /// Minimum of the first samples of the round, and their number.
    round_least: Option<Span>,
    samples: u32,
}

impl Hybrid {
    /// State before the first ACK.
    pub(super) fn new(pacing: bool) -> Hybrid {
        Hybrid {
            train_divisor: if pacing { 1 } else { 2 },
            d_min: None,
            round_end: OptSeq::NONE,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            round_least: None,
            samples: 0,
        }
    }

    /// Takes in an ACK at a window of `window` segments, returning whether slow start ends.
    pub(super) fn is_over(&mut self, ack: &AckSample<'_>, window: f64) -> bool {
        if let Some(sample) = ack.sample {
            self.d_min = Some(self.d_min.map_or(sample, |least| least.min(sample)));
        }
        let over = match self.d_min {
            Some(least) if window >= LOW_WINDOW => {
                self.train_is_long(ack.now, least) || self.delay_has_grown(ack.sample, least)
            }
            _ => false,
        };
        // The ACK that ends a round is not a sample of the next.
        if self.round_end.get().is_none_or(|end| ack.una > end) {
            self.start_round(ack);
        }
        over
    }

    fn start_round(&mut self, ack: &AckSample<'_>) {
        (self.round_start, self.last_ack) = (ack.now, ack.now);
        self.round_end = OptSeq::some(ack.sent);
        (self.round_least, self.samples) = (None, 0);
    }

    fn train_is_long(&mut self, now: Time, least: Span) -> bool {
        if now.since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        now.since(self.round_start) > Span::from_nanos(least.nanos() / self.train_divisor)
    }

    fn delay_has_grown(&mut self, sample: Option<Span>, least: Span) -> bool {
        let Some(sample) = sample else { return false };
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            self.round_least = Some(self.round_least.map_or(sample, |lowest| lowest.min(sample)));
        }
        self.samples == MIN_SAMPLES && self.round_least.is_some_and(|lowest| lowest >= least + rise(least))
    }
}

/// Delay increase over `least` that ends slow start.
fn rise(least: Span) -> Span {
    Span::from_nanos(least.nanos() / DELAY_DIVISOR).max(DELAY_MIN).min(DELAY_MAX)
}

/// Segments.
const LOW_WINDOW: f64 = 16.0;
const ACK_DELTA: Span = Span::from_millis(2);
const MIN_SAMPLES: u32 = 8;
const DELAY_DIVISOR: u64 = 8;
const DELAY_MIN: Span = Span::from_millis(4);
const DELAY_MAX: Span = Span::from_millis(16);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::rtt::RttEstimator;

    /// A connection in slow start with a window of 20 segments of 1000 bytes, ten outstanding after each ACK.
    struct Rounds {
        hybrid: Hybrid,
        now: Time,
        una: u64,
    }

    impl Rounds {
        fn new(pacing: bool) -> Rounds {
            Rounds { hybrid: Hybrid::new(pacing), now: Time::ZERO, una: 0 }
        }

        /// Number of the ACK that ends slow start, out of `count` spaced by `micros`, each with an RTT of `millis`.
        fn acks(&mut self, count: u64, micros: u64, millis: u64, window: f64) -> Option<u64> {
            let rtt = RttEstimator::new(&Profile::default());
            (1..=count).find(|_| {
                self.now += Span::from_micros(micros);
                self.una += 1000;
                let (sample, sent) = (Some(Span::from_millis(millis)), self.una + 1_000_000);
                let ack = AckSample {
                    now: self.now,
                    acked: 1000,
                    flight: 10_000,
                    rtt: &rtt,
                    sample,
                    una: self.una,
                    sent,
                    marked: false,
                };
                self.hybrid.is_over(&ack, window)
            })
        }
    }

    #[test]
    fn a_rise_is_an_eighth_between_4_and_16_ms() {
        for (least, expected) in [(8, 4), (32, 4), (80, 10), (128, 16), (1000, 16)] {
            assert_eq!(rise(Span::from_millis(least)), Span::from_millis(expected), "{least} ms");
        }
    }

    /// The first ACK begins the round: the train exceeds 20 ms of 40 with the 22nd ACK, and 40 with the 42nd.
    #[test]
    fn a_train_of_half_the_least_round_trip_ends_it() {
        assert_eq!(Rounds::new(false).acks(100, 1000, 40, 20.0), Some(22));
        assert_eq!(Rounds::new(true).acks(100, 1000, 40, 20.0), Some(42));
        assert_eq!(Rounds::new(false).acks(100, 2001, 40, 20.0), None, "no train");
        assert_eq!(Rounds::new(false).acks(100, 1000, 40, 15.9), None, "a small window");
    }

    #[test]
    fn eight_samples_that_are_all_higher_end_it() {
        let mut rounds = Rounds::new(false);
        let next_round = |rounds: &mut Rounds, millis| {
            rounds.hybrid.round_end = OptSeq::some(rounds.una);
            assert_eq!(rounds.acks(1, 3000, millis, 20.0), None);
        };
        next_round(&mut rounds, 80);
        // One of the first eight samples is as low as before.
        assert_eq!(rounds.acks(1, 3000, 89, 20.0), None);
        assert_eq!(rounds.acks(20, 3000, 200, 20.0), None);
        next_round(&mut rounds, 200);
        assert_eq!(rounds.acks(20, 3000, 90, 20.0), Some(8));
    }
}
