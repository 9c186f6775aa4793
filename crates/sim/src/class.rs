//! What is measured of a class of flows, wherever its data go.

use crate::histogram::Histogram;
use sojourn_units::{Span, Time};

/// A class of flows; in memory that grows neither with time nor with its flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassTally {
    /// Round-trip times of the path, packet by packet, ns.
    pub(crate) rtts: Times,
    /// Round-trip times as the senders estimate them, ns.
    pub(crate) srtts: Times,
    /// Times from the start of a transfer to its end, ns.
    pub(crate) completions: Times,
    /// Times that datagrams were under way, ns.
    pub(crate) delays: Histogram<6>,
    /// Datagrams that were sent a second before the end or earlier,
    pub(crate) sent: u64,
    /// and of those the ones that came within a second,
    pub(crate) came: u64,
    /// and the ones that came back within a second.
    pub(crate) came_back: u64,
    /// Flows that could not begin.
    pub(crate) turned_away: u64,
    /// For how long players have played, and stood still.
    pub(crate) played: Span,
    pub(crate) stood: Span,
    /// Bytes that the applications got in each step of the series; empty where nobody asks.
    pub(crate) received: Vec<u64>,
}

/// A distribution of times, their sum, and the longest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    spread: Histogram<6>,
    /// ns.
    sum: u128,
    longest: Span,
}

impl Times {
    pub(crate) fn add(&mut self, time: Span, times: u32) {
        self.spread.add(time.nanos(), times.into());
        self.sum += u128::from(time.nanos()) * u128::from(times);
        self.longest = self.longest.max(time);
    }

    pub(crate) fn merge(&mut self, other: &Times) {
        self.spread.merge(&other.spread);
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    pub(crate) fn count(&self) -> u64 {
        self.spread.total()
    }

    /// ns.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// ns.
    pub(crate) fn longest(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.longest.nanos() as f64)
    }

    /// ns; the middle of a bucket, which may lie beyond the longest time in it.
    pub(crate) fn quantile(&self, q: f64) -> Option<f64> {
        self.spread.quantile(q).map(|middle| middle.min(self.longest.nanos() as f64))
    }
}

impl ClassTally {
    /// A class whose goodput is kept for so many steps.
    pub(crate) fn new(steps: usize) -> ClassTally {
        ClassTally { received: vec![0; steps], ..ClassTally::default() }
    }

    /// Its applications got `bytes` at a time, which may lie ahead of the present or behind it.
    pub(crate) fn receive(&mut self, at: Time, bytes: u64, step: Span) {
        if let Some(received) = self.received.get_mut(step_of(at, step)) {
            *received += bytes;
        }
    }

    /// An application has read from `since` to `at`; `by` tells what it had read in all at a time between the two.
    pub(crate) fn read(&mut self, (since, at): (Time, Time), by: &dyn Fn(Time) -> u64, step: Span) {
        // At the end of the run it may have been told ahead of that.
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

/// The step in which something happens: what happens at its end is of it.
fn step_of(at: Time, step: Span) -> usize {
    (at.nanos().saturating_sub(1) / step.nanos()) as usize
}
