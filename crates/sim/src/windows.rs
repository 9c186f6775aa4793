//! Congestion windows at the ends of the steps of a series.

use crate::probe::Window;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// The mean window of the flows that are sending, and the windows of a few flows.
///
/// A flow is told in the order of time but ahead of it, so changes are kept by
/// the step in which they happen. Sums are of whole numbers: in whatever order
/// flows are told, the outcome is the same.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    step: Span,
    /// The end of the present step.
    end: Time,
    until: Time,
    flows: Vec<FlowWindow>,
    /// At the end of the last step.
    total: Change,
    /// By how much the total changes in the present step and in later ones.
    changes: VecDeque<Change>,
    samples: Vec<Sample>,
}

/// A flow's window as it was told last.
#[derive(Clone, Copy, Debug, Default)]
struct FlowWindow {
    sending: bool,
    /// In 2^-20 segments.
    window: i64,
    /// 2^64 over the bytes of a segment, rounded up: whole windows stay whole.
    per_byte: u64,
    /// Its number among the samples, plus one.
    sample: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Change {
    flows: i64,
    /// In 2^-20 segments.
    windows: i64,
}

/// A flow whose own window is kept.
#[derive(Clone, Debug)]
struct Sample {
    flow: u32,
    window: f64,
    later: VecDeque<(Time, f64)>,
}

impl Windows {
    pub(crate) fn new(flows: usize, step: Span, until: Time) -> Windows {
        let mut windows = Windows {
            step,
            end: Time::ZERO + step,
            until,
            flows: vec![FlowWindow::default(); flows],
            total: Change::default(),
            changes: VecDeque::new(),
            samples: Vec::new(),
        };
        let most = flows.min(SAMPLES);
        for number in 0..most {
            let flow = number * (flows - 1) / (most - 1).max(1);
            windows.flows[flow].sample = number as u8 + 1;
            windows.samples.push(Sample { flow: flow as u32, window: f64::NAN, later: VecDeque::new() });
        }
        windows
    }

    /// The flows whose own windows are kept.
    pub(crate) fn sampled(&self) -> impl Iterator<Item = u32> + '_ {
        self.samples.iter().map(|sample| sample.flow)
    }

    /// A flow has this window from `at` on; None where it has stopped.
    pub(crate) fn change(&mut self, at: Time, flow: u32, window: Option<Window>) {
        let was = &mut self.flows[flow as usize];
        let (sending, now) = match window {
            Some(Window { bytes, segment }) => {
                if was.per_byte == 0 {
                    was.per_byte = u64::MAX / u64::from(segment.max(2)) + 1;
                }
                (true, ((u128::from(bytes) * u128::from(was.per_byte)) >> 44) as i64)
            }
            None => (false, 0),
        };
        if at > self.until || (now, sending) == (was.window, was.sending) {
            return;
        }
        let change = Change { flows: i64::from(sending) - i64::from(was.sending), windows: now - was.window };
        (was.window, was.sending) = (now, sending);
        if was.sample > 0 {
            let value = if sending { now as f64 / PARTS } else { f64::NAN };
            self.samples[usize::from(was.sample) - 1].later.push_back((at, value));
        }
        // The first step at whose end it has happened.
        let steps = if at <= self.end { 0 } else { (at.since(self.end).nanos() - 1) / self.step.nanos() + 1 };
        if steps as usize >= self.changes.len() {
            self.changes.resize(steps as usize + 1, Change::default());
        }
        self.changes[steps as usize].add(change);
    }

    /// Ends a step at `end`: the mean window in segments, NaN where no flow is sending, and the samples.
    pub(crate) fn end_step(&mut self, end: Time) -> (f64, impl Iterator<Item = f64> + '_) {
        self.total.add(self.changes.pop_front().unwrap_or_default());
        self.end = end + self.step;
        let Change { flows, windows } = self.total;
        let mean = if flows > 0 { windows as f64 / PARTS / flows as f64 } else { f64::NAN };
        let samples = self.samples.iter_mut().map(move |sample| {
            let past = sample.later.partition_point(|(at, _)| *at <= end);
            if let Some((_, window)) = sample.later.drain(..past).next_back() {
                sample.window = window;
            }
            sample.window
        });
        (mean, samples)
    }
}

impl Change {
    fn add(&mut self, other: Change) {
        self.flows += other.flows;
        self.windows += other.windows;
    }
}

/// So many flows' own windows are kept.
const SAMPLES: usize = 4;
/// Parts of a segment that windows are counted in.
const PARTS: f64 = (1_u32 << 20) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_at_the_end_of_each_step_whenever_told() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let window = |segments: u64| Some(Window { bytes: segments * 1460, segment: 1460 });
        let mut windows = Windows::new(2, Span::from_millis(10), at(40));
        // Flow 0 is told whole before flow 1.
        for (millis, segments) in [(1, 2), (10, 4), (11, 6), (35, 8), (41, 99)] {
            windows.change(at(millis), 0, window(segments));
        }
        windows.change(at(12), 1, window(20));
        windows.change(at(31), 1, None);
        let mut ends = Vec::new();
        for end in [10, 20, 30, 40] {
            let (mean, samples) = windows.end_step(at(end));
            let samples: Vec<f64> = samples.collect();
            ends.push((mean, samples[0], samples[1].max(0.0)));
        }
        assert_eq!(ends, [(4.0, 4.0, 0.0), (13.0, 6.0, 20.0), (13.0, 6.0, 20.0), (8.0, 8.0, 0.0)]);
    }
}
