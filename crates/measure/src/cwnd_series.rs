//! Congestion windows at the ends of the steps of a series.

use crate::Cwnd;
use sojourn_units::{Span, Time};
use std::collections::VecDeque;

/// The mean window of the flows of a class that are sending, and the windows of a few flows.
///
/// Changes of a flow are reported in the order of time but ahead of it, so they are stored by step. Sums are of whole
/// numbers: the outcome does not depend on the order of flows.
#[derive(Clone, Debug)]
pub struct CwndSeries {
    step: Span,
    /// The end of the present step.
    end: Time,
    until: Time,
    flows: Vec<FlowWindow>,
    classes: Vec<ClassWindows>,
    samples: Vec<Sample>,
}

/// The windows of all flows of a class.
#[derive(Clone, Debug, Default)]
struct ClassWindows {
    /// At the end of the last step.
    total: Change,
    /// Change of the total in the present step.
    present: Change,
    /// Changes in later steps, the next one first.
    later: VecDeque<Change>,
}

/// A flow's last reported window.
#[derive(Clone, Copy, Debug, Default)]
struct FlowWindow {
    sending: bool,
    /// In 2^-20 segments.
    window: i64,
    /// 2^64 over the bytes of a segment, rounded up: whole windows stay whole.
    per_byte: u64,
    class: u32,
    /// Its number among the samples, plus one.
    sample: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Change {
    flows: i64,
    /// In 2^-20 segments.
    windows: i64,
}

/// A flow whose own window is recorded.
#[derive(Clone, Debug)]
struct Sample {
    flow: u32,
    window: f64,
    later: VecDeque<(Time, f64)>,
}

impl CwndSeries {
    /// Flows of these classes, of so many.
    pub(crate) fn new(classes: &[u32], of: u32, step: Span, until: Time) -> CwndSeries {
        let flows = classes.len();
        let mut windows = CwndSeries {
            step,
            end: Time::ZERO + step,
            until,
            flows: Vec::with_capacity(flows),
            classes: vec![ClassWindows::default(); of as usize],
            samples: Vec::new(),
        };
        windows.flows.extend(classes.iter().map(|class| FlowWindow::of(*class)));
        let most = flows.min(SAMPLES);
        for number in 0..most {
            let flow = number * (flows - 1) / (most - 1).max(1);
            windows.flows[flow].sample = number as u8 + 1;
            windows.samples.push(Sample { flow: flow as u32, window: f64::NAN, later: VecDeque::new() });
        }
        windows
    }

    /// Nothing is recorded after `end`.
    pub(crate) fn end_at(&mut self, end: Time) {
        self.until = end;
    }

    /// Adds a flow of `class`.
    pub(crate) fn add_flow(&mut self, class: u32) {
        self.flows.push(FlowWindow::of(class));
    }

    /// The flows whose own windows are recorded.
    pub fn sampled(&self) -> impl Iterator<Item = u32> + '_ {
        self.samples.iter().map(|sample| sample.flow)
    }

    /// Sets the window of a flow from `at` on.
    #[inline]
    pub(crate) fn change(&mut self, at: Time, flow: u32, window: Cwnd) {
        let was = &mut self.flows[flow as usize];
        if !was.sending {
            return self.begin(at, flow, window);
        }
        let now = was.parts(window);
        let change = Change { flows: 0, windows: now - was.window };
        if change.windows == 0 || at > self.until {
            return;
        }
        was.window = now;
        let (class, sample) = (was.class, was.sample);
        if sample > 0 {
            self.keep(at, sample, now as f64 / PARTS);
        }
        self.add(at, class, change);
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, at: Time, flow: u32, window: Cwnd) {
        let was = &mut self.flows[flow as usize];
        if at > self.until {
            return;
        }
        was.per_byte = u64::MAX / u64::from(window.segment.max(2)) + 1;
        (was.sending, was.window) = (true, was.parts(window));
        let (class, sample, window) = (was.class, was.sample, was.window);
        if sample > 0 {
            self.keep(at, sample, window as f64 / PARTS);
        }
        self.add(at, class, Change { flows: 1, windows: window });
    }

    /// Ends a flow at `at`.
    pub(crate) fn stop(&mut self, at: Time, flow: u32) {
        let was = &mut self.flows[flow as usize];
        if at > self.until || !was.sending {
            return;
        }
        was.sending = false;
        let (class, sample, window) = (was.class, was.sample, std::mem::take(&mut was.window));
        if sample > 0 {
            self.keep(at, sample, f64::NAN);
        }
        self.add(at, class, Change { flows: -1, windows: -window });
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, at: Time, sample: u8, window: f64) {
        self.samples[usize::from(sample) - 1].later.push_back((at, window));
    }

    /// Adds a change to the first step that ends at `at` or later.
    #[inline]
    fn add(&mut self, at: Time, class: u32, change: Change) {
        let class = &mut self.classes[class as usize];
        if at <= self.end {
            return class.present.add(change);
        }
        let ahead = at.since(self.end);
        // A round trip is mostly no longer than a step.
        let steps = if ahead <= self.step { 0 } else { (ahead.nanos() - 1) / self.step.nanos() };
        if let Some(later) = class.later.get_mut(steps as usize) {
            return later.add(change);
        }
        class.later.resize(steps as usize + 1, Change::default());
        class.later[steps as usize].add(change);
    }

    /// Ends a step at `end`, to which the values below refer.
    pub(crate) fn end_step(&mut self, end: Time) {
        self.end = end + self.step;
        for class in &mut self.classes {
            class
                .total
                .add(std::mem::replace(&mut class.present, class.later.pop_front().unwrap_or_default()));
        }
        for sample in &mut self.samples {
            let past = sample.later.partition_point(|(at, _)| *at <= end);
            if let Some((_, window)) = sample.later.drain(..past).next_back() {
                sample.window = window;
            }
        }
    }

    /// The mean window of the flows of these classes, segments; NaN where none is sending.
    pub(crate) fn mean(&self, classes: &[u32]) -> f64 {
        let mut sum = Change::default();
        for class in classes {
            sum.add(self.classes[*class as usize].total);
        }
        if sum.flows > 0 { sum.windows as f64 / PARTS / sum.flows as f64 } else { f64::NAN }
    }

    /// The window of a recorded flow, segments; NaN where it is not sending.
    pub(crate) fn sample(&self, flow: u32) -> f64 {
        let place = usize::from(self.flows[flow as usize].sample) - 1;
        self.samples[place].window
    }
}

impl FlowWindow {
    fn of(class: u32) -> FlowWindow {
        FlowWindow { class, ..FlowWindow::default() }
    }

    fn parts(&self, window: Cwnd) -> i64 {
        ((u128::from(window.bytes) * u128::from(self.per_byte)) >> 44) as i64
    }
}

impl Change {
    fn add(&mut self, other: Change) {
        self.flows += other.flows;
        self.windows += other.windows;
    }
}

/// Flows whose own windows are recorded.
const SAMPLES: usize = 4;
/// Parts of a segment in which windows are counted.
const PARTS: f64 = (1_u32 << 20) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_at_the_end_of_each_step_in_any_order_of_flows() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let window = |segments: u64| Cwnd { bytes: segments * 1460, segment: 1460 };
        let mut windows = CwndSeries::new(&[0, 0], 1, Span::from_millis(10), at(40));
        // All of flow 0 precedes flow 1.
        for (millis, segments) in [(1, 2), (10, 4), (11, 6), (35, 8), (41, 99)] {
            windows.change(at(millis), 0, window(segments));
        }
        windows.change(at(12), 1, window(20));
        windows.stop(at(31), 1);
        let mut ends = Vec::new();
        for end in [10, 20, 30, 40] {
            windows.end_step(at(end));
            ends.push((windows.mean(&[0]), windows.sample(0), windows.sample(1).max(0.0)));
        }
        assert_eq!(ends, [(4.0, 4.0, 0.0), (13.0, 6.0, 20.0), (13.0, 6.0, 20.0), (8.0, 8.0, 0.0)]);
    }

    #[test]
    fn the_mean_of_a_class_includes_late_flows() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut windows = CwndSeries::new(&[0, 1], 2, Span::from_millis(10), at(40));
        windows.add_flow(1);
        for (flow, segments) in [(0, 2_u64), (1, 10), (2, 30)] {
            windows.change(at(5), flow, Cwnd { bytes: segments * 1000, segment: 1000 });
        }
        windows.end_step(at(10));
        assert_eq!(
            [&[0][..], &[1], &[0, 1], &[]].map(|of| windows.mean(of).max(0.0)),
            [2.0, 20.0, 14.0, 0.0]
        );
    }
}
