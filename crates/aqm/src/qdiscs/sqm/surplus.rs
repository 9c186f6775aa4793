//! Surpluses of flows: the flow with the greatest is signalled next.
//!
//! A flow of rate x that holds q packets and has the share x* has the surplus, in s of that share,
//!
//! ```text
//! z = q / x* + c,   c = -0.7 D where x < h x*,   else 0.3 e, between -0.7 D and 0.7 D                          (vii)
//! e = 10 s (mean of x over 10 s / x* - 1)
//! dh/dt = -(x / x* - 1) / 50 s,   1 <= h <= 1.4                                                                (viii)
//! ```
//!
//! A flow that falls far at a signal, or grows slowly, has a short queue even where it sends too much; c gives flows their
//! shares on average, and is bounded so that a burst is signalled at once. A flow below h x* comes last: to slow it down costs
//! the link throughput and brings little. h is the peak at which a flow has its share on average, 4/3 where a signal halves
//! the rate and it grows evenly (RFC 5681), and is found by integration, a step at the end of each period before which the
//! flow was not limited.

use super::mean::Mean;
use sojourn_units::Time;

/// Rates of a flow, and the peak that they may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surplus {
    /// x, packets/s, over some round trips and over many.
    rate: Mean,
    long_rate: Mean,
    /// The latter for losses: from 0 on where a flow comes, which may have waited for a timer, and from its share on where a
    /// connection begins.
    sent: Mean,
    /// Rate at which packets leave, packets/s. What is lost does not count: otherwise one of several floods has all losses.
    served: Mean,
    /// h.
    peak: f64,
}

impl Default for Surplus {
    fn default() -> Surplus {
        let [rate, long_rate, sent, served] = [Mean::default(); 4];
        Surplus { rate, long_rate, sent, served, peak: PEAK }
    }
}

impl Surplus {
    /// The flow begins again, with this share, packets/s.
    pub(super) fn restart(&mut self, now: Time, share: f64) {
        (self.long_rate, self.peak) = (Mean::of(now, share), PEAK);
    }

    /// A connection begins: what those before it sent does not count.
    pub(super) fn begin_connection(&mut self, now: Time, share: f64) {
        (self.sent, self.served) = (Mean::of(now, share), Mean::default());
    }

    /// Shares are so many times what they were: what the flow has sent is the same part of its own.
    pub(super) fn scale(&mut self, now: Time, factor: f64) {
        if factor == 1.0 {
            return;
        }
        for mean in [&mut self.long_rate, &mut self.sent] {
            *mean = Mean::of(now, factor * mean.at(now, LONG));
        }
    }

    /// A packet of this size, in mean packets, arrives on a path of D, s.
    pub(super) fn arrived(&mut self, now: Time, size: f64, delay: f64) {
        self.rate.add(now, size, RATE_OVER * delay);
        self.long_rate.add(now, size, LONG);
        self.sent.add(now, size, LONG);
    }

    /// A packet of this size leaves for the link.
    pub(super) fn left(&mut self, now: Time, size: f64) {
        self.served.add(now, size, SERVED_OVER);
    }

    /// x, packets/s, on a path of D, s.
    pub(super) fn rate(&self, now: Time, delay: f64) -> f64 {
        self.rate.at(now, RATE_OVER * delay)
    }

    /// Mean rate over many round trips, packets/s.
    pub(super) fn long_rate(&self, now: Time) -> f64 {
        self.long_rate.at(now, LONG)
    }

    /// Rate at which its packets leave, packets/s.
    pub(super) fn served(&self, now: Time) -> f64 {
        self.served.at(now, SERVED_OVER)
    }

    /// Part of a share that it has sent of late.
    pub(super) fn part_sent(&self, now: Time, share: f64) -> f64 {
        self.sent.at(now, LONG) / share
    }

    /// A period of so many s ends, in which the flow had this part of its share: equation (viii).
    pub(super) fn end_period(&mut self, elapsed: f64, part: f64) {
        let step = elapsed.min(LONG) / PEAK_OVER * (part - 1.0);
        self.peak = (self.peak - step).clamp(LEAST_PEAK, MOST_PEAK);
    }

    /// Equation (vii), s, for a flow with so many packets in its queue.
    pub(super) fn value(&self, now: Time, held: f64, (share, delay): (f64, f64)) -> f64 {
        let most = MOST_EXCESS * delay;
        let excess = if self.rate(now, delay) < self.peak * share {
            -most
        } else {
            (EXCESS * LONG * (self.long_rate(now) / share - 1.0)).clamp(-most, most)
        };
        held / share + excess
    }
}

/// Round trips over which the rate of a flow is averaged.
const RATE_OVER: f64 = 1.5;
/// Time over which its rate counts in the surplus, s: some periods of a window of 50 packets.
const LONG: f64 = 10.0;
/// Time over which the rate at which packets leave is averaged, s.
const SERVED_OVER: f64 = 1.0;
/// Weight of what a flow has sent beside what it holds, and the most of that, in round trips.
const EXCESS: f64 = 0.3;
const MOST_EXCESS: f64 = 0.7;
/// h at the start, at least and at most, and the time constant of (viii), s.
const PEAK: f64 = 1.15;
const LEAST_PEAK: f64 = 1.0;
const MOST_PEAK: f64 = 1.4;
const PEAK_OVER: f64 = 50.0;

#[cfg(test)]
mod tests {
    use super::*;
    const SHARE: f64 = 100.0;
    const DELAY: f64 = 0.1;

    fn flow(rate: f64, long_rate: f64) -> Surplus {
        let [rate, long_rate] = [rate, long_rate].map(|rate| Mean::of(Time::ZERO, rate));
        Surplus { rate, long_rate, ..Surplus::default() }
    }

    #[test]
    fn the_surplus_is_that_of_equation_vii() {
        let value = |flow: Surplus| flow.value(Time::ZERO, 20.0, (SHARE, DELAY));
        // 0.3 * 10 s * 0.01 of the share, and at most 0.7 D.
        assert!((value(flow(120.0, 101.0)) - (0.2 + 0.03)).abs() < 1e-12);
        assert!((value(flow(120.0, 150.0)) - (0.2 + 0.07)).abs() < 1e-12);
        assert!((value(flow(120.0, 50.0)) - (0.2 - 0.07)).abs() < 1e-12);
        assert!((value(flow(110.0, 150.0)) - (0.2 - 0.07)).abs() < 1e-12, "below its peak it comes last");
    }

    #[test]
    fn what_is_lost_is_not_served() {
        let mut own = Surplus::default();
        for packet in 0..10_000 {
            let now = Time::ZERO + sojourn_units::Span::from_millis(10 * packet);
            own.arrived(now, 1.0, DELAY);
            if packet % 4 == 0 {
                own.left(now, 1.0);
            }
        }
        let now = Time::ZERO + sojourn_units::Span::from_millis(100_000);
        assert!((own.rate(now, DELAY) / 100.0 - 1.0).abs() < 0.05);
        assert!((own.served(now) / 25.0 - 1.0).abs() < 0.05);
        assert!((own.part_sent(now, 100.0) - 1.0).abs() < 0.01);
    }

    /// The rate of a flow that halves when it is signalled swings between 2/3 and 4/3 of its share if it has that on average.
    #[test]
    fn the_peak_is_found_at_which_a_flow_that_halves_has_its_share() {
        let mut own = flow(SHARE, SHARE);
        let (mut rate, mut sum, mut count) = (SHARE, 0.0, 0.0);
        for period in 0..40_000 {
            own.end_period(0.1, rate / SHARE);
            rate = if rate >= own.peak * SHARE { rate / 2.0 } else { rate + 1.0 };
            if period > 20_000 {
                (sum, count) = (sum + rate, count + 1.0);
            }
        }
        assert!((sum / count / SHARE - 1.0).abs() < 0.01, "{}", sum / count);
        assert!((own.peak - 4.0 / 3.0).abs() < 0.05, "{}", own.peak);
    }
}
