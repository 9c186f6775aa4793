//! Times and segment boundaries of first transmissions.
//!
//! Data sent at one instant is one run: there is one per ACK that lets data out, not one per segment. All segments of
//! a run but the last are full-sized, so that their boundaries are known.

use sojourn_units::Time;
use std::collections::VecDeque;

/// First transmission times of the outstanding bytes, in order of sequence and so of time.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The first run is already acknowledged: its end is the start of the second.
    runs: VecDeque<Run>,
}

/// Bytes sent at one instant, from the end of the run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) end: u64,
    pub(super) at: Time,
}

impl History {
    /// Records that the bytes `from..end` were sent at `now`; `full`: whether the previous segment was full-sized.
    pub(super) fn push(&mut self, from: u64, end: u64, now: Time, full: bool) {
        if self.is_empty() {
            self.runs.clear();
            self.runs.push_back(Run { end: from, at: now });
        }
        let same = |last: &&mut Run| full && last.at == now;
        match self.runs.range_mut(1..).next_back().filter(same) {
            Some(last) => last.end = end,
            None => self.runs.push_back(Run { end, at: now }),
        }
    }

    /// Drops the runs acknowledged by `una`.
    pub(super) fn forget_below(&mut self, una: u64) {
        while self.first().is_some_and(|run| run.end <= una) {
            self.runs.pop_front();
        }
    }

    /// Frees the memory of an empty list.
    pub(super) fn trim(&mut self) {
        if self.is_empty() {
            self.runs = VecDeque::new();
        }
    }

    /// Returns whether there is no run.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.len() < 2
    }

    /// Number of runs.
    pub(super) fn len(&self) -> usize {
        self.runs.len().saturating_sub(1)
    }

    /// Earliest run.
    pub(super) fn first(&self) -> Option<Run> {
        self.runs.get(1).copied()
    }

    /// Run that contains the byte `seq`.
    pub(super) fn run_of(&self, seq: u64) -> Option<Run> {
        match self.first() {
            Some(first) if seq < first.end => Some(first),
            _ => self.runs.get(self.runs.partition_point(|run| run.end <= seq)).copied(),
        }
    }

    /// End of the data sent before byte `end` at `time`.
    pub(super) fn sent_before(&self, (time, end): (Time, u64)) -> u64 {
        let end_of = |runs: usize| runs.checked_sub(1).map_or(0, |last| self.runs[last].end);
        let earlier = end_of(self.runs.partition_point(|run| run.at < time));
        earlier.max(end_of(self.runs.partition_point(|run| run.at <= time)).min(end))
    }

    /// Whole segments within `from..to`, where full-sized ones have `mss` bytes.
    pub(super) fn segments(&self, from: u64, to: u64, mss: u64) -> Option<(u64, u64)> {
        let (start, run) = self.run_up_to(from)?;
        let from = run.end.min(start + (from - start).next_multiple_of(mss));
        let (start, run) = self.run_up_to(to)?;
        let to = if to == run.end { to } else { start + (to - start) / mss * mss };
        (from < to).then_some((from, to))
    }

    /// Run that contains the byte before `seq`, and its start.
    fn run_up_to(&self, seq: u64) -> Option<(u64, Run)> {
        let place = self.runs.partition_point(|run| run.end < seq).max(1);
        let run = *self.runs.get(place)?;
        Some((self.runs[place - 1].end.min(seq), run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn full_segments_sent_at_one_instant_are_one_run() {
        let mut history = History::default();
        for (end, time) in [(10, 1), (20, 1), (30, 2), (40, 5)] {
            history.push(end - 10, end, at(time), true);
        }
        assert_eq!(history.len(), 3);
        let sent = |seq| history.run_of(seq).map(|run| run.at);
        assert_eq!([0, 19, 20, 39, 40].map(sent), [Some(at(1)), Some(at(1)), Some(at(2)), Some(at(5)), None]);
        history.push(40, 45, at(5), true);
        history.push(45, 50, at(5), false);
        assert_eq!(history.len(), 4);
    }

    #[test]
    fn sent_before_is_exact_to_the_byte() {
        let mut history = History::default();
        (1..=4).for_each(|run| history.push(run * 20 - 20, run * 20, at(run), true));
        let before = |time, end| history.sent_before((at(time), end));
        assert_eq!([before(0, 0), before(2, 30), before(2, 100), before(2, 10)], [0, 30, 40, 20]);
    }

    #[test]
    fn acknowledged_runs_are_dropped() {
        let mut history = History::default();
        (1..=4).for_each(|run| history.push(run * 10 - 10, run * 10, at(run), true));
        history.forget_below(25);
        assert_eq!(history.len(), 2);
        assert_eq!(history.run_of(25), Some(Run { end: 30, at: at(3) }));
        history.forget_below(40);
        history.trim();
        assert_eq!((history.len(), history.runs.capacity()), (0, 0));
    }

    proptest! {
        /// Compares with a list of all segments.
        #[test]
        fn whole_segments_match_the_list(
            sizes in prop::collection::vec((1..=10_u64, any::<bool>()), 1..20),
            (from, len) in (0..200_u64, 1..100_u64),
        ) {
            let (mut history, mut starts, mut now) = (History::default(), vec![0], 0);
            for (size, later) in sizes {
                now += u64::from(later);
                let begin = starts[starts.len() - 1];
                let full = starts.len() == 1 || begin - starts[starts.len() - 2] == 10;
                // Half of them are full-sized.
                let end = begin + if size > 5 { 10 } else { size };
                history.push(begin, end, at(now), full);
                starts.push(end);
            }
            let end = starts[starts.len() - 1];
            let (from, to) = (from.min(end), (from + len).min(end));
            let first = starts.iter().find(|start| **start >= from);
            let last = starts.iter().rfind(|start| **start <= to);
            let whole = first.zip(last).filter(|(first, last)| first < last).map(|(first, last)| (*first, *last));
            prop_assert_eq!(history.segments(from, to, 10), whole);
        }
    }
}
