//! What has gone through a link, and what the classes got.

use std::ops::Sub;

/// Sums over time at a link, packets of the link's mean size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Seconds.
    pub time: f64,
    /// Of the backlog over time, packets s, and of its square.
    pub backlog: f64,
    /// Packets^2 s.
    pub backlog_squared: f64,
    /// Packets that asked to be let in.
    pub offered: f64,
    /// Of them those that the law dropped.
    pub dropped: f64,
    /// Those that it marked.
    pub marked: f64,
    /// Those that the full buffer lost.
    pub overflowed: f64,
    /// Packets handed to the link.
    pub delivered: f64,
    /// Packets that the link could have sent.
    pub capacity: f64,
    /// Of the time that each admitted packet waits, packets s.
    pub sojourn: f64,
    /// Seconds with a backlog.
    pub busy: f64,
}

/// What became of a class at one of its links, packets of the class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passed {
    /// Packets that asked to be let in.
    pub offered: f64,
    /// Of them those that were lost, whatever the cause.
    pub lost: f64,
    /// Those that the full buffer lost.
    pub overflowed: f64,
    /// Those that the law marked.
    pub marked: f64,
    /// Packets handed to the link.
    pub delivered: f64,
}

/// What a class got.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Received {
    /// Packets of the class that reached their receivers.
    pub delivered: f64,
    /// Flow seconds: the number of flows over time.
    pub flows: f64,
}

impl Tally {
    /// Packets lost, whatever the cause.
    pub fn lost(&self) -> f64 {
        self.dropped + self.overflowed
    }

    pub(crate) fn add(&mut self, more: &Tally) {
        self.time += more.time;
        self.backlog += more.backlog;
        self.backlog_squared += more.backlog_squared;
        self.offered += more.offered;
        self.dropped += more.dropped;
        self.marked += more.marked;
        self.overflowed += more.overflowed;
        self.delivered += more.delivered;
        self.capacity += more.capacity;
        self.sojourn += more.sojourn;
        self.busy += more.busy;
    }
}

impl Sub for Tally {
    type Output = Tally;

    /// What came after `before`.
    fn sub(self, before: Tally) -> Tally {
        Tally {
            time: self.time - before.time,
            backlog: self.backlog - before.backlog,
            backlog_squared: self.backlog_squared - before.backlog_squared,
            offered: self.offered - before.offered,
            dropped: self.dropped - before.dropped,
            marked: self.marked - before.marked,
            overflowed: self.overflowed - before.overflowed,
            delivered: self.delivered - before.delivered,
            capacity: self.capacity - before.capacity,
            sojourn: self.sojourn - before.sojourn,
            busy: self.busy - before.busy,
        }
    }
}

/// Values with weights, of which quantiles are taken; of a long run every second, fourth ... one is kept.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    kept: Vec<(f64, f64)>,
    every: u64,
    count: u64,
    /// The weight of what was left out since the last one that was kept.
    weight: f64,
}

impl Sample {
    pub(crate) fn new() -> Sample {
        Sample { kept: Vec::new(), every: 1, count: 0, weight: 0.0 }
    }

    pub(crate) fn take(&mut self, value: f64, weight: f64) {
        self.weight += weight;
        self.count += 1;
        if !self.count.is_multiple_of(self.every) {
            return;
        }
        self.kept.push((value, self.weight));
        self.weight = 0.0;
        if self.kept.len() == MOST_KEPT {
            self.halve();
        }
    }

    /// Keeps every second one, with the weight of both.
    fn halve(&mut self) {
        let pairs = self.kept.chunks_exact(2).map(|pair| (pair[1].0, pair[0].1 + pair[1].1));
        self.kept = pairs.collect();
        self.every *= 2;
    }

    /// The value that so much of the weight does not exceed; None where there is no weight.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        Sample::quantile_of(&[self], share)
    }

    /// The same of several together.
    pub(crate) fn quantile_of(samples: &[&Sample], share: f64) -> Option<f64> {
        let mut sorted: Vec<(f64, f64)> = samples.iter().flat_map(|sample| sample.sorted()).collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
        let mut below = 0.0;
        let reached = |(_, weight): &&(f64, f64)| {
            below += weight;
            below >= share * total
        };
        sorted.iter().find(reached).filter(|_| total > 0.0).map(|(value, _)| *value)
    }

    /// The mean of several together; None where there is no weight.
    pub(crate) fn mean_of(samples: &[&Sample]) -> Option<f64> {
        let kept = || samples.iter().flat_map(|sample| &sample.kept);
        let total: f64 = kept().map(|(_, weight)| weight).sum();
        let sum: f64 = kept().map(|(value, weight)| value * weight).sum();
        (total > 0.0).then(|| sum / total)
    }

    /// At most `most` values in order, each with the share of the weight at or below.
    pub(crate) fn cumulative(&self, most: usize) -> Vec<(f64, f64)> {
        let sorted = self.sorted();
        let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
        let (mut below, mut told) = (0.0, Vec::new());
        for (place, (value, weight)) in sorted.iter().enumerate() {
            below += weight;
            let is_last = place + 1 == sorted.len();
            let is_next = below * most as f64 >= total * (told.len() + 1) as f64;
            if total > 0.0 && (is_last || is_next) {
                told.push((*value, if is_last { 1.0 } else { below / total }));
            }
        }
        told
    }

    fn sorted(&self) -> Vec<(f64, f64)> {
        let mut sorted: Vec<(f64, f64)> =
            self.kept.iter().copied().filter(|(_, weight)| *weight > 0.0).collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        sorted
    }
}

/// Values that are kept for quantiles; even.
const MOST_KEPT: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_by_weight_however_many_values_come() {
        let mut sample = Sample::new();
        for number in 0..1_000_000 {
            sample.take(f64::from(number % 1000), if number % 2 == 0 { 1.0 } else { 3.0 });
        }
        assert!((sample.quantile(0.5).unwrap() - 500.0).abs() < 10.0);
        assert!((sample.quantile(0.99).unwrap() - 990.0).abs() < 5.0);
        let steps = sample.cumulative(100);
        assert!(steps.len() <= 101 && steps.last().unwrap().1 == 1.0);
        assert!((Sample::mean_of(&[&sample]).unwrap() - 500.0).abs() < 5.0);
        assert_eq!((Sample::new().quantile(0.5), Sample::mean_of(&[&Sample::new()])), (None, None));
    }
}
