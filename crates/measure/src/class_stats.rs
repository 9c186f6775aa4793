//! Statistics of a class of flows.

use crate::responsiveness::ProbeTimes;
use crate::{Histogram, Summary, queue_stats::in_seconds};
use sojourn_units::{Span, Time, math};

/// Statistics of a class; the memory grows neither with time nor with its flows.
#[derive(Clone, Debug, Default)]
pub struct ClassStats {
    /// Round-trip times of the path, packet by packet, ns.
    pub(crate) rtts: TimeStats,
    /// Round-trip times as the senders estimate them, ns.
    pub(crate) srtts: TimeStats,
    /// Times from the start of a transfer to its end.
    pub(crate) completions: Completions,
    /// Durations of the probes of responsiveness tests.
    pub(crate) probes: ProbeTimes,
    /// One-way delays of datagrams, ns.
    pub(crate) delays: Histogram<6>,
    /// Datagrams sent a second before the end or earlier.
    pub(crate) sent: u64,
    /// Those of them that arrived within a second.
    pub(crate) came: u64,
    /// Those of them that returned within a second.
    pub(crate) came_back: u64,
    /// Flows rejected on arrival.
    pub(crate) rejected: u64,
    /// Time that players played, and stalled.
    pub(crate) played: Span,
    pub(crate) stalled: Span,
    /// Bytes received by the applications in each step of the series; empty where classes are not recorded.
    pub(crate) received: Vec<u64>,
    /// Round trips of the datagrams that came back in each step; empty where none did, or classes are not recorded.
    pub(crate) returned: Vec<Returned>,
}

/// Round trips of the datagrams that came back in a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Returned {
    /// Their sum, ns.
    sum: u64,
    count: u64,
}

impl Returned {
    /// Their mean, s; None without any.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| in_seconds(self.sum as f64 / self.count as f64))
    }
}

/// A distribution of times, their sum, and the longest.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeStats {
    spread: Histogram<6>,
    /// ns.
    sum: u128,
    longest: Span,
}

impl TimeStats {
    pub(crate) fn add(&mut self, time: Span, times: u32) {
        self.spread.add(time.nanos(), times.into());
        self.sum += u128::from(time.nanos()) * u128::from(times);
        self.longest = self.longest.max(time);
    }

    pub(crate) fn merge(&mut self, other: &TimeStats) {
        self.spread.merge(&other.spread);
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    pub(crate) fn count(&self) -> u64 {
        self.spread.total()
    }

    /// The time that this share does not exceed, s.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        // The middle of a bucket may lie beyond the longest time in it.
        let longest = self.longest.nanos() as f64;
        self.spread.quantile(share).map(|middle| in_seconds(middle.min(longest)))
    }

    pub(crate) fn summary(&self) -> Summary {
        let (count, longest) = (self.count(), self.longest.nanos() as f64);
        let quantile = |q| self.quantile(q);
        Summary {
            mean: (count > 0).then(|| in_seconds(self.sum as f64 / count as f64)),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: (count > 0).then_some(in_seconds(longest)),
        }
    }
}

/// A distribution of completion times, and its geometric mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    /// ns.
    pub(crate) times: TimeStats,
    /// Sum of the natural logarithms of the times, in units of [`LOG_UNIT`]: whole numbers, as the sum of floating-point
    /// ones would depend on the order of completions.
    logs: u128,
}

impl Completions {
    pub(crate) fn add(&mut self, time: Span) {
        self.times.add(time, 1);
        self.logs += u128::from((math::ln(time.nanos().max(1) as f64) / LOG_UNIT) as u64);
    }

    pub(crate) fn merge(&mut self, other: &Completions) {
        self.times.merge(&other.times);
        self.logs += other.logs;
    }

    /// exp of the mean logarithm, s; None without completions.
    pub(crate) fn geometric_mean(&self) -> Option<f64> {
        let count = self.times.count();
        (count > 0).then(|| in_seconds(math::exp(self.logs as f64 * LOG_UNIT / count as f64)))
    }
}

/// 2^-32: a relative error of 2e-10 in a geometric mean.
const LOG_UNIT: f64 = 1.0 / 4_294_967_296.0;

impl ClassStats {
    /// A class with a goodput series of so many steps.
    pub(crate) fn new(steps: usize) -> ClassStats {
        ClassStats { received: vec![0; steps], ..ClassStats::default() }
    }

    /// The series have so many steps at the most.
    pub(crate) fn end_after(&mut self, steps: usize) {
        self.received.truncate(steps);
        self.returned.truncate(steps);
    }

    /// Counts a datagram that came back at `at` in its step.
    pub(crate) fn come_back(&mut self, at: Time, rtt: Span, step: Span) {
        let steps = self.received.len();
        let place = step_of(at, step);
        if place < steps {
            self.returned.resize(steps, Returned::default());
            let returned = &mut self.returned[place];
            (returned.sum, returned.count) = (returned.sum + rtt.nanos(), returned.count + 1);
        }
    }

    /// Adds another part of the class; the goodput series stays.
    pub(crate) fn merge(&mut self, other: &ClassStats) {
        self.rtts.merge(&other.rtts);
        self.srtts.merge(&other.srtts);
        self.completions.merge(&other.completions);
        self.probes.merge(&other.probes);
        self.delays.merge(&other.delays);
        self.sent += other.sent;
        self.came += other.came;
        self.came_back += other.came_back;
        self.rejected += other.rejected;
        (self.played, self.stalled) = (self.played + other.played, self.stalled + other.stalled);
    }

    /// Counts `bytes` received at a time, which may lie ahead of the present or behind it.
    pub(crate) fn receive(&mut self, at: Time, bytes: u64, step: Span) {
        if let Some(received) = self.received.get_mut(step_of(at, step)) {
            *received += bytes;
        }
    }

    /// Counts bytes read from `since` to `at`; `by` gives the total at a time between the two.
    pub(crate) fn read(&mut self, (since, at): (Time, Time), by: &dyn Fn(Time) -> u64, step: Span) {
        // Reports of reading may be ahead of the end of the run.
        if since >= at {
            return;
        }
        let last = step_of(at, step).min(self.received.len().saturating_sub(1));
        let mut before = by(since);
        for place in step_of(since, step)..=last {
            let Some(received) = self.received.get_mut(place) else { return };
            let end = Time::ZERO + step.saturating_mul(place as u64 + 1);
            let now = by(end.min(at));
            *received += now - before;
            before = now;
        }
    }
}

/// The step of a time; the end of a step belongs to it.
fn step_of(at: Time, step: Span) -> usize {
    (at.nanos().saturating_sub(1) / step.nanos()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_mean_is_the_root_of_the_product_in_any_order() {
        let of = |seconds: &[u64]| {
            let mut completions = Completions::default();
            for seconds in seconds {
                completions.add(Span::from_secs(*seconds));
            }
            completions
        };
        let mean = of(&[1, 4, 16]).geometric_mean().unwrap();
        assert!((mean - 4.0).abs() < 4e-9, "{mean}");
        let mut merged = of(&[16]);
        merged.merge(&of(&[4, 1]));
        assert_eq!(merged.geometric_mean(), Some(mean));
        assert_eq!(of(&[]).geometric_mean(), None);
    }
}
