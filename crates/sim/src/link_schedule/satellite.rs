//! A link over a satellite in a low orbit: its rate jumps at each handover.
//!
//! Starlink's links are rearranged all over the world every 15 seconds, with large changes of rate (N. Mohan et al., "A
//! multifaceted look at Starlink performance", WWW 2024), and around that moment packets wait: about 140 ms at the
//! start of an interval ("Statistical characterization and prediction of E2E latency over LEO satellite networks",
//! arXiv:2601.08439, 2026). What is sent comes in frames of 1/750 s (T. Humphreys et al., "Signal structure of the
//! Starlink Ku-band downlink", IEEE Transactions on Aerospace and Electronic Systems 59, 2023). These are the defaults;
//! how far rates differ from interval to interval is ours.
//!
//! ```text
//! |-- gap --|-frame-|-frame-|-frame-| ... |-- gap --|-frame-| ...
//! |--------------- interval --------------|
//! ```
//!
//! The rate of an interval is drawn uniformly around the mean; nothing is sent in the gap. The end of each frame has as
//! many opportunities as the rate has earned; a fraction of one is carried over to the next frame.

use sojourn_random::Stream;
use sojourn_scenario::links::{self, OPPORTUNITY};
use sojourn_units::Time;

/// Draws the opportunities.
#[derive(Clone, Debug)]
pub(super) struct Satellite {
    plan: links::Satellite,
    /// Start of the present interval.
    start: Time,
    /// The next frame of it.
    frame: u64,
    /// The frames of an interval.
    frames: u64,
    /// Opportunities that a frame earns in it.
    earns: f64,
    /// Fraction of an opportunity earned so far.
    earned: f64,
    draws: Stream,
}

impl Satellite {
    pub(super) fn new(plan: links::Satellite, draws: Stream) -> Satellite {
        let sending = plan.interval.saturating_sub(plan.gap);
        let frames = (sending.nanos() / plan.frame.nanos().max(1)).max(1);
        let mut satellite =
            Satellite { plan, start: Time::ZERO, frame: 0, frames, earns: 0.0, earned: 0.0, draws };
        satellite.rearrange();
        satellite
    }

    /// The next frame that carries anything.
    pub(super) fn next(&mut self) -> (Time, u64) {
        loop {
            if self.frame == self.frames {
                self.start += self.plan.interval;
                self.frame = 0;
                self.rearrange();
            }
            self.frame += 1;
            self.earned += self.earns;
            if self.earned >= 1.0 {
                let count = self.earned.trunc();
                self.earned -= count;
                let time = self.start + self.plan.gap + self.plan.frame.saturating_mul(self.frame);
                return (time, count as u64);
            }
        }
    }

    /// Draws the rate of the next satellite, such that the mean over all intervals is that of the plan.
    fn rearrange(&mut self) {
        let mean = self.plan.mean.packets_per_second(OPPORTUNITY.into()) * self.plan.interval.seconds();
        let around = 1.0 + self.plan.spread * (2.0 * self.draws.uniform() - 1.0);
        self.earns = mean / self.frames as f64 * around;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairments::theory::assert_mean;
    use sojourn_units::{Rate, Span};

    fn plan() -> links::Satellite {
        links::Satellite {
            mean: Rate::from_bits_per_second(100e6),
            interval: Span::from_secs(15),
            gap: Span::from_millis(140),
            spread: 0.5,
            frame: Span::from_nanos(1_333_333),
        }
    }

    /// Opportunities by interval, of so many intervals.
    fn intervals(plan: links::Satellite, n: usize) -> Vec<f64> {
        let mut satellite = Satellite::new(plan, Stream::named(1, "trace"));
        let mut counts = vec![0.0; n];
        loop {
            let (time, count) = satellite.next();
            let Some(place) = counts.get_mut((time.nanos() / plan.interval.nanos()) as usize) else {
                return counts;
            };
            *place += count as f64;
        }
    }

    /// Uniform between half of the mean and one and a half: variance 1/12 of its square.
    #[test]
    fn rates_are_uniform_around_the_mean() {
        let expected = 100e6 * 15.0 / (1504.0 * 8.0);
        let shares: Vec<f64> = intervals(plan(), 400).iter().map(|count| count / expected).collect();
        let mean = shares.iter().sum::<f64>() / 400.0;
        assert_mean(mean, 1.0, (1.0_f64 / 12.0).sqrt(), 400);
        let (least, most) = shares.iter().fold((2.0_f64, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
        assert!(least > 0.4999 && least < 0.51 && most > 1.49 && most < 1.5001, "{least} to {most}");
    }

    /// Without a spread every interval has its mean, to an opportunity.
    #[test]
    fn without_a_spread_every_interval_has_the_mean() {
        let expected = 100e6 * 15.0 / (1504.0 * 8.0);
        let counts = intervals(links::Satellite { spread: 0.0, ..plan() }, 20);
        assert!(counts.iter().all(|count| (count - expected).abs() <= 1.5), "{counts:?}, {expected}");
    }

    /// Some 6e9 opportunities at the end of each frame of 12 minutes.
    #[test]
    fn a_long_frame_of_a_fast_link_loses_nothing() {
        let hour = Span::from_secs(3600);
        let slow = links::Satellite {
            mean: Rate::from_bits_per_second(100e9),
            interval: hour,
            gap: Span::ZERO,
            spread: 0.0,
            frame: Span::from_secs(720),
        };
        let expected = 100e9 * 3600.0 / (1504.0 * 8.0);
        // What comes at the very end of an interval is counted with the next one.
        let counts = intervals(slow, 4);
        assert!(counts[1..].iter().all(|count| (count - expected).abs() <= 1.5), "{counts:?}, {expected}");
    }

    #[test]
    fn nothing_is_sent_in_a_gap_and_all_comes_at_the_end_of_a_frame() {
        let mut satellite = Satellite::new(plan(), Stream::named(1, "trace"));
        let mut last = Time::ZERO;
        loop {
            let (time, count) = satellite.next();
            if time > Time::from_nanos(40_000_000_000) {
                return;
            }
            let within = Time::from_nanos(time.nanos() % 15_000_000_000);
            let sent = within.since(Time::from_nanos(140_000_000));
            assert!(
                sent >= Span::from_nanos(1_333_333)
                    && sent.nanos().is_multiple_of(1_333_333)
                    && time > last
                    && count > 0
            );
            last = time;
        }
    }
}
