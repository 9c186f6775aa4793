//! When what was sent for the first time.
//!
//! What left at one instant is one run: there is one for each ACK that let
//! something out, not one for each segment.

use sojourn_units::Time;
use std::collections::VecDeque;

/// When the bytes outstanding were first sent, in order of sequence and so of time.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    runs: VecDeque<Run>,
}

/// Bytes that were sent at one instant: from the end of the run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) end: u64,
    pub(super) at: Time,
}

impl History {
    /// What follows up to byte `end` was sent at `now`.
    pub(super) fn push(&mut self, end: u64, now: Time) {
        match self.runs.back_mut() {
            Some(last) if last.at == now => last.end = end,
            _ => self.runs.push_back(Run { end, at: now }),
        }
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn forget_below(&mut self, una: u64) {
        while self.runs.front().is_some_and(|run| run.end <= una) {
            self.runs.pop_front();
        }
    }

    /// Gives up the memory of a list that is empty.
    pub(super) fn trim(&mut self) {
        self.runs.shrink_to_fit();
    }

    /// The earliest run.
    pub(super) fn first(&self) -> Option<Run> {
        self.runs.front().copied()
    }

    /// The run that holds the byte `seq`.
    pub(super) fn run_of(&self, seq: u64) -> Option<Run> {
        match self.runs.front() {
            Some(first) if seq < first.end => Some(*first),
            _ => self.runs.get(self.runs.partition_point(|run| run.end <= seq)).copied(),
        }
    }

    /// The runs sent at `time` or before, the latest first, each with its first byte (0 for the first of all).
    pub(super) fn until(&self, time: Time) -> impl Iterator<Item = (u64, Run)> {
        let count = self.runs.partition_point(|run| run.at <= time);
        (0..count)
            .rev()
            .map(|place| (if place == 0 { 0 } else { self.runs[place - 1].end }, self.runs[place]))
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.runs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn what_leaves_at_one_instant_is_one_run() {
        let mut history = History::default();
        for (end, time) in [(10, 1), (20, 1), (30, 2), (40, 5)] {
            history.push(end, at(time));
        }
        assert_eq!(history.len(), 3);
        let sent = |seq| history.run_of(seq).map(|run| run.at);
        assert_eq!([0, 19, 20, 39, 40].map(sent), [Some(at(1)), Some(at(1)), Some(at(2)), Some(at(5)), None]);
        let before: Vec<_> = history.until(at(4)).map(|(from, run)| (from, run.end)).collect();
        assert_eq!(before, [(20, 30), (0, 20)]);
    }

    #[test]
    fn what_is_acknowledged_is_forgotten() {
        let mut history = History::default();
        (1..=4).for_each(|run| history.push(run * 10, at(run)));
        history.forget_below(25);
        assert_eq!(history.len(), 2);
        assert_eq!(history.run_of(25), Some(Run { end: 30, at: at(3) }));
    }
}
