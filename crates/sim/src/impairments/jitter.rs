//! Jitter: additional delay that keeps the order of packets.
//!
//! Each packet is delayed by a draw of its own; one that would overtake another arrives with it instead. So the delay
//! of closely spaced packets is the largest of several draws, less the time between the packets.

use super::shorter_than_an_hour;
use sojourn_params::TimeDraw;
use sojourn_random::Stream;
use sojourn_units::Time;

/// Delays packets.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    longer: TimeDraw,
    /// Arrival time of the last packet.
    last: Time,
    draws: Stream,
}

impl Jitter {
    pub(crate) fn new(longer: TimeDraw, draws: Stream) -> Jitter {
        Jitter { longer, last: Time::ZERO, draws }
    }

    /// Arrival time of the next packet, due at `at`.
    pub(crate) fn delay(&mut self, at: Time) -> Time {
        let later = shorter_than_an_hour(self.longer.sample(&mut self.draws));
        self.last = self.last.max(at + later);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairments::theory::{assert_binomial, assert_mean};
    use sojourn_random::Draw;
    use sojourn_units::Span;

    const N: usize = 200_000;

    /// Up to 10 ms, uniformly.
    fn jitter() -> Jitter {
        let longer = TimeDraw::of_seconds(Draw::uniform(0.0, 0.010).unwrap());
        Jitter::new(longer, Stream::named(1, "jitter"))
    }

    /// Delays of packets that come `gap` apart, over the largest, which is 10 ms; the first thousand left out.
    fn delays(gap: Span) -> Vec<f64> {
        let mut jitter = jitter();
        let times = (0..N as u64 + 1000).map(|number| Time::ZERO + gap.saturating_mul(number));
        let delays = times.map(|at| jitter.delay(at).since(at).seconds() / 0.010);
        delays.skip(1000).collect()
    }

    /// Far apart, the delay is uniform: mean 1/2, variance 1/12 (and that of its square, 1/180).
    #[test]
    fn far_apart_it_is_uniform() {
        let delays = delays(Span::from_millis(10));
        let mean = delays.iter().sum::<f64>() / N as f64;
        let variance = delays.iter().map(|x| (x - 0.5) * (x - 0.5)).sum::<f64>() / N as f64;
        assert_mean(mean, 0.5, (1.0_f64 / 12.0).sqrt(), N);
        assert_mean(variance, 1.0 / 12.0, (1.0_f64 / 180.0).sqrt(), N);
    }

    /// Close together, P(delay <= x) = product over k >= 0 of P(draw <= x + k gap): earlier packets must have arrived
    /// too.
    #[test]
    fn close_together_it_is_the_largest_of_several() {
        let gap = 0.3;
        let delays = delays(Span::from_millis(3));
        // Every fifth packet's delay shares no draw with that of another fifth.
        let apart: Vec<f64> = delays.iter().step_by(5).copied().collect();
        for x in [0.2, 0.4, 0.6, 0.8, 0.9] {
            let expected: f64 = (0..4).map(|k| (x + gap * f64::from(k)).min(1.0)).product();
            assert_binomial(apart.iter().filter(|delay| **delay <= x).count(), apart.len(), expected);
        }
    }

    #[test]
    fn no_packet_is_overtaken() {
        let mut jitter = jitter();
        let mut last = Time::ZERO;
        for number in 0..10_000 {
            let at = Time::from_nanos(number * 1000);
            let come = jitter.delay(at);
            assert!(come >= last && come >= at && come <= at + Span::from_millis(10));
            last = come;
        }
    }
}
