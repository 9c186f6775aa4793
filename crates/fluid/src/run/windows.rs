//! Metrics of windows of time.

use super::outcome::{of_queue, queue_metrics};
use super::{Measured, Run, Snapshot};
use sojourn_measure::{
    MOST_CHANGES, Metrics, Moments, Packets, Reading, Sample, Stretch, WindowRow, applying,
};
use sojourn_scenario::{Scenario, WindowOfTime};
use sojourn_units::Time;
use std::collections::BTreeMap;

/// The windows of a scenario: those under way, and the rows of those that have ended.
pub(super) struct Windows {
    all: Vec<WindowOfTime>,
    /// Their starts and ends, the last one first.
    bounds: Vec<Time>,
    /// Totals at the starts of those under way, by their places among all.
    open: BTreeMap<usize, Snapshot>,
    /// Rows of each.
    rows: Vec<Vec<WindowRow>>,
}

impl Windows {
    pub(super) fn of(scenario: &Scenario) -> Windows {
        let all = scenario.windows_of_time(MOST_CHANGES);
        let ends = all.iter().flat_map(|window| [window.from, window.until]);
        let mut bounds: Vec<Time> = ends.map(|span| Time::ZERO + span).collect();
        bounds.sort_unstable_by(|one, other| other.cmp(one));
        bounds.dedup();
        Windows { rows: vec![Vec::new(); all.len()], all, bounds, open: BTreeMap::new() }
    }

    /// The next start or end.
    pub(super) fn next(&self) -> Option<Time> {
        self.bounds.last().copied()
    }

    /// The rows, in the order of the windows in the scenario.
    pub(super) fn into_rows(self) -> Vec<WindowRow> {
        self.rows.into_iter().flatten().collect()
    }
}

impl Run {
    /// Ends and begins the windows that have a bound at the present. Steps and changes of this time come before and after.
    pub(super) fn pass_bound(&mut self) {
        let Some(bound) = self.windows.bounds.pop_if(|bound| *bound <= self.world.now()) else { return };
        for number in 0..self.windows.all.len() {
            let WindowOfTime { from, until, .. } = self.windows.all[number];
            if Time::ZERO + until == bound
                && let Some(from) = self.windows.open.remove(&number)
            {
                let measured = self.measured(from, samples_of(number));
                self.windows.rows[number] = self.window_rows(number, &measured);
            }
            if Time::ZERO + from == bound {
                self.windows.open.insert(number, self.snapshot());
                self.world.begin_watch(samples_of(number));
            }
        }
    }

    /// Rows of a window: each link, its classes and its queues, then the classes that cross no link.
    fn window_rows(&self, number: usize, measured: &Measured) -> Vec<WindowRow> {
        let WindowOfTime { entry, from, until } = self.windows.all[number];
        let mut rows = Vec::new();
        let mut add =
            |link: Option<usize>, class: Option<usize>, queue: Option<&String>, metrics: Metrics| {
                rows.push(WindowRow {
                    entry,
                    from_s: from.seconds(),
                    until_s: until.seconds(),
                    link: link.map(|place| self.link_name(place)),
                    class: class.map(|class| self.scenario.flows[class].name.clone()),
                    queue: queue.cloned(),
                    metrics: applying(metrics),
                });
            };
        for place in 0..self.ports.len() {
            add(Some(place), None, None, self.link_in_window(place, measured));
            for class in self.crossing(place) {
                add(Some(place), Some(class), None, self.class_in_window(class, Some(place), measured));
            }
            for (name, queue) in self.named_queues(place) {
                let (totals, sojourns) = of_queue(*queue, measured);
                if totals.offered > 0.0 || totals.backlog > 0.0 {
                    let mut metrics = queue_metrics(&totals, sojourns);
                    metrics.extend(of_packets(&totals.packets(), Some(sojourns)));
                    add(Some(place), None, Some(name), metrics);
                }
            }
        }
        for class in self.nowhere() {
            add(None, Some(class), None, self.class_in_window(class, None, measured));
        }
        rows
    }

    fn link_in_window(&self, place: usize, measured: &Measured) -> Metrics {
        // Steps that end later have not been taken.
        let series = &self.views[place].series;
        let stretches = self.stretches_in(place, measured);
        let stats = self.link_stats(place, measured, series, &stretches);
        let [backlogs, sojourns] = self.samples(place, measured);
        let mut metrics = stats.metrics(&self.flows_at(place, measured));
        metrics.extend([
            ("queue_p05_packets", backlogs.quantile(0.05).into()),
            ("queue_p25_packets", backlogs.quantile(0.25).into()),
            ("queue_p75_packets", backlogs.quantile(0.75).into()),
            ("itae_packets_s2", stats.itae()),
        ]);
        metrics.extend(of_packets(&stats.packets.packets, Some(sojourns)));
        metrics.extend(of_round_trips(&self.rtts(&self.crossing(place), measured)));
        metrics
    }

    fn class_in_window(&self, class: usize, place: Option<usize>, measured: &Measured) -> Metrics {
        let mut metrics = self.class_metrics(class, place, measured);
        if let Some(place) = place {
            let own = self.own_queue(place, class, measured).map(|(_, sojourns)| sojourns);
            metrics.extend(of_packets(&self.packets_of(class, place, measured), own));
        }
        metrics.extend(of_round_trips(&self.rtts(&[class], measured)));
        metrics
    }

    /// The parts of a window between changes of the schedule.
    fn stretches_in(&self, place: usize, measured: &Measured) -> Vec<Stretch> {
        let (from, until) = (measured.from.time.seconds(), measured.until.time.seconds());
        let starts = &self.views[place].stretches;
        let before = starts.iter().rfind(|start| start.start_s <= from).and_then(|start| start.target);
        let within = starts.iter().filter(|start| start.start_s > from && start.start_s < until);
        let begun: Vec<_> = std::iter::once((from, before, measured.from.links[place]))
            .chain(within.map(|start| (start.start_s, start.target, start.sums)))
            .collect();
        let ends = begun[1..].iter().map(|(.., sums)| *sums).chain([measured.until.links[place]]);
        let stretch = |(&(start_s, target, sums), end)| Stretch {
            start_s,
            target,
            moments: Moments::of(&(end - sums)),
        };
        begun.iter().zip(ends).map(stretch).collect()
    }
}

/// Number of the samples of a window.
fn samples_of(number: usize) -> usize {
    super::MEASURED + 1 + number
}

/// Metrics of packets that only windows have.
fn of_packets(packets: &Packets, sojourns: Option<&Sample>) -> Metrics {
    let sojourn = |share| sojourns.and_then(|sojourns| sojourns.quantile(share));
    let least = sojourn(0.0);
    let pdv = |share| sojourn(share).zip(least).map(|(time, least)| time - least);
    vec![
        ("sojourn_p05_s", sojourn(0.05).into()),
        ("sojourn_p25_s", sojourn(0.25).into()),
        ("sojourn_p75_s", sojourn(0.75).into()),
        ("pdv_p50_s", pdv(0.5).into()),
        ("pdv_p95_s", pdv(0.95).into()),
        ("pdv_p99_s", pdv(0.99).into()),
        ("offered_packets", Reading::Number(packets.offered)),
        ("dropped_packets", Reading::Number(packets.lost)),
        ("marked_packets", Reading::Number(packets.marked)),
    ]
}

/// Metrics of round trips that only windows have.
fn of_round_trips(rtts: &[&Sample]) -> Metrics {
    let quantile = |share| Reading::from(Sample::quantile_of(rtts, share));
    vec![
        ("rtt_min_s", quantile(0.0)),
        ("rtt_p05_s", quantile(0.05)),
        ("rtt_p25_s", quantile(0.25)),
        ("rtt_p75_s", quantile(0.75)),
        ("rtt_geomean_s", Sample::geometric_mean_of(rtts).into()),
    ]
}
