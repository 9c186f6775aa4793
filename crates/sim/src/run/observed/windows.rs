//! Metrics of windows of time.

use super::{LinkView, Observed, Plant, kinds, starts, utilization};
use sojourn_measure::{Recorder, Series, Stretch, WindowOfLink, WindowRow};
use sojourn_units::Time;

/// Bounds of the parts of a run that are to come, and the bits of links at those that have passed.
pub(super) struct Bounds {
    /// The last one first.
    pending: Vec<Time>,
    /// The events before the next bound have been processed, those at it have not.
    is_before: bool,
    /// Bits sent and bits that could have been sent, by link.
    bits: Vec<(Time, Vec<(f64, f64)>)>,
}

impl Bounds {
    /// Those of a recorder at the start.
    pub(super) fn of(recorder: &Recorder) -> Bounds {
        let ends = recorder.parts().map_or(&[][..], |parts| parts.ends());
        Bounds { pending: ends.iter().rev().copied().collect(), is_before: false, bits: Vec::new() }
    }

    /// The run ends earlier.
    pub(super) fn end_at(&mut self, end: Time) {
        if self.pending.is_empty() {
            return;
        }
        self.pending.retain(|bound| *bound < end);
        self.pending.insert(0, end);
    }

    /// Next time at which the run must stop: just before a bound, and at it.
    pub(super) fn next(&self) -> Option<Time> {
        let bound = self.pending.last()?;
        let before = Time::from_nanos(bound.nanos() - 1);
        Some(if self.is_before { *bound } else { before })
    }
}

impl<P: Plant> Observed<P> {
    /// Ends a part just before its bound, which itself belongs to the next part; at the bound, takes the bits of links.
    pub(super) fn pass_bound(&mut self, stop: Time, end: Time) {
        let Some(bound) = self.windows.pending.last().copied() else { return };
        if stop < bound {
            self.windows.is_before = true;
            // The end of the run belongs to the last part.
            if bound < end {
                self.plant.recorder().end_part(bound);
            }
            return;
        }
        self.windows.is_before = false;
        self.windows.pending.pop();
        let bits = self.links.iter().map(|link| self.bits(link.number)).collect();
        self.windows.bits.push((bound, bits));
    }

    /// The rows of all windows, once the run has ended.
    pub(super) fn window_rows(&mut self) -> Vec<WindowRow> {
        let end = Time::ZERO + self.scenario.duration;
        self.plant.recorder().end_part(end);
        let Observed { plant, scenario, links, elsewhere, windows, .. } = self;
        let (recorder, kinds) = (&*plant.recorder(), kinds(scenario));
        let Some(parts) = recorder.parts() else { return Vec::new() };
        let mut starts = starts(scenario);
        starts.reverse();
        let name = |class: u32| scenario.flows[class as usize].name.clone();
        let mut rows = Vec::new();
        for window in parts.windows() {
            let (from, until) = (window.from, window.until);
            let measured = parts.window(*window);
            let mut flows = measured.flows(recorder, &kinds);
            let mut add = |link: Option<&LinkView>, class, queue, metrics| {
                let (from_s, until_s) = (from.seconds(), until.seconds());
                let link = link.map(|link| link.name.clone());
                rows.push(WindowRow { entry: window.entry, from_s, until_s, link, class, queue, metrics });
            };
            for (place, link) in links.iter().enumerate() {
                let stretches = stretches(link, &starts, (from, until), |from, until| {
                    let seconds = until.since(from).seconds();
                    parts.totals(place, from, until).moments(seconds)
                });
                let sent = utilization(windows.bits_at(from, place), windows.bits_at(until, place));
                let of = WindowOfLink {
                    place,
                    record: recorder.record(link.number),
                    utilization: sent.is_finite().then_some(sent),
                    stretches: &stretches,
                    series: &up_to(&link.series, until.seconds()),
                };
                add(Some(link), None, None, measured.of_link(&of, &mut flows));
                for (class, metrics) in measured.classes_at(&of, &flows) {
                    add(Some(link), Some(name(class)), None, metrics);
                }
                for (queue, metrics) in measured.queues_at(&of) {
                    add(Some(link), None, Some(queue), metrics);
                }
            }
            for class in elsewhere.iter() {
                add(None, Some(name(*class)), None, measured.of_class(*class, &flows));
            }
        }
        rows
    }
}

impl Bounds {
    /// Bits of a link at a bound.
    fn bits_at(&self, bound: Time, place: usize) -> (f64, f64) {
        let found = self.bits.binary_search_by_key(&bound, |(time, _)| *time);
        found.map_or((0.0, 0.0), |found| self.bits[found].1[place])
    }
}

/// The parts of a window between changes of the schedule, whose times are bounds.
fn stretches(
    link: &LinkView,
    starts: &[Time],
    (from, until): (Time, Time),
    moments: impl Fn(Time, Time) -> sojourn_measure::Moments,
) -> Vec<Stretch> {
    let targets = starts.iter().zip(&link.stretches).map(|(start, stretch)| (*start, stretch.target));
    let before = targets.clone().rfind(|(start, _)| *start <= from).and_then(|(_, target)| target);
    let within = targets.filter(|(start, _)| *start > from && *start < until);
    let begun: Vec<(Time, Option<f64>)> = std::iter::once((from, before)).chain(within).collect();
    let ends = begun[1..].iter().map(|(start, _)| *start).chain([until]);
    let stretch = |((start, target), end): (&(Time, Option<f64>), Time)| Stretch {
        start_s: start.seconds(),
        target: *target,
        moments: moments(*start, end),
    };
    begun.iter().zip(ends).map(stretch).collect()
}

/// The backlog of a series up to a time.
fn up_to(series: &Series, until_s: f64) -> Series {
    let steps = series.time_s.partition_point(|end| *end <= until_s);
    Series {
        time_s: series.time_s[..steps].to_vec(),
        queue_packets: series.queue_packets[..steps].to_vec(),
        ..Series::default()
    }
}
