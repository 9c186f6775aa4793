//! What came of a run: the contract's metrics and series of its links and classes.

use super::{Run, Snapshot, View, bits};
use crate::plant::{Passed, Sample};
use sojourn_scenario::metrics::{self, Metrics, Reading, Stretched};

/// What has a run brought.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was seen at each link that has a disc.
    pub links: Vec<LinkOutcome>,
    /// The classes whose data cross none of them: their metrics by name, and what they got over time.
    pub elsewhere: (Vec<(String, Metrics)>, Columns),
}

/// What was seen at one link.
#[derive(Clone, Debug)]
pub struct LinkOutcome {
    /// The link's name.
    pub link: String,
    /// The label of its disc; None where a law of the caller's own stood in its place.
    pub disc: Option<String>,
    /// Of all that crossed it.
    pub all: Metrics,
    /// Of each class that crossed it, where there are several; by name.
    pub classes: Vec<(String, Metrics)>,
    /// Series by name, `time_s` first.
    pub series: Columns,
    /// The distribution of the sojourn time: seconds, and the share at or below.
    pub sojourn_distribution: Vec<(f64, f64)>,
}

/// Columns of equal length by name.
pub type Columns = Vec<(String, Vec<f64>)>;

impl Run {
    pub(super) fn outcome(&mut self, place: usize) -> LinkOutcome {
        let number = self.links[place];
        let crossing = self.crossing(place);
        let all = self.of_link(place, &crossing);
        let several = self.scenario.flows.len() > 1;
        let named = |class: &usize| self.scenario.flows[*class].name.clone();
        let classes = crossing
            .iter()
            .filter(|_| several)
            .map(|class| (named(class), self.of_class(*class, Some(place))));
        let classes: Vec<(String, Metrics)> = classes.collect();
        let mut series = vec![("time_s".to_string(), self.time_s.clone())];
        for name in SERIES {
            let column = self.views[place].columns.remove(name).unwrap_or_default();
            series.push((name.to_string(), column));
        }
        if several {
            series.extend(crossing.iter().map(|class| self.goodput(*class)));
        }
        let sojourns = &self.world.plant().watched().sojourns[place];
        LinkOutcome {
            link: self.scenario.topology.links[number].name.clone(),
            disc: self.views[place].disc.clone(),
            all,
            classes,
            series,
            sojourn_distribution: sojourns.cumulative(STEPS_OF_DISTRIBUTION),
        }
    }

    pub(super) fn elsewhere(&self) -> (Vec<(String, Metrics)>, Columns) {
        let nowhere = |class: &usize| self.world.plant().passed(*class).next().is_none();
        let classes: Vec<usize> = (0..self.scenario.flows.len()).filter(nowhere).collect();
        if classes.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let metrics = classes
            .iter()
            .map(|class| (self.scenario.flows[*class].name.clone(), self.of_class(*class, None)));
        let time = std::iter::once(("time_s".to_string(), self.time_s.clone()));
        (metrics.collect(), time.chain(classes.iter().map(|class| self.goodput(*class))).collect())
    }

    fn crossing(&self, place: usize) -> Vec<usize> {
        let crosses = |class: &usize| self.world.plant().passed(*class).any(|(link, _)| link == place);
        (0..self.scenario.flows.len()).filter(crosses).collect()
    }

    fn goodput(&self, class: usize) -> (String, Vec<f64>) {
        (format!("goodput_bps.{}", self.scenario.flows[class].name), self.goodputs[class].clone())
    }

    /// The contract's metrics of a link.
    fn of_link(&self, place: usize, classes: &[usize]) -> Metrics {
        let measured = self.world.plant().links()[place].tally() - self.warm().links[place];
        let mean = measured.backlog / measured.time;
        let variance = (measured.backlog_squared / measured.time - mean * mean).max(0.0);
        let watched = self.world.plant().watched();
        let (backlogs, sojourns) = (&watched.backlogs[place], &watched.sojourns[place]);
        let admitted = measured.offered - measured.lost();
        let goodput: f64 = classes.iter().map(|class| self.goodput_of(*class)).sum();
        let mut of_link = vec![
            ("utilization", ratio(measured.delivered.min(measured.capacity), measured.capacity)),
            ("queue_mean_packets", Reading::Number(mean)),
            ("queue_std_packets", Reading::Number(variance.sqrt())),
            ("queue_p50_packets", backlogs.quantile(0.5).into()),
            ("queue_p95_packets", backlogs.quantile(0.95).into()),
            ("queue_p99_packets", backlogs.quantile(0.99).into()),
            ("sojourn_mean_s", ratio(measured.sojourn, admitted)),
            ("sojourn_p50_s", sojourns.quantile(0.5).into()),
            ("sojourn_p95_s", sojourns.quantile(0.95).into()),
            ("sojourn_p99_s", sojourns.quantile(0.99).into()),
            ("drop_ratio", ratio(measured.lost(), measured.offered)),
            ("overflow_ratio", ratio(measured.overflowed, measured.offered)),
            ("mark_ratio", ratio(measured.marked, measured.offered)),
            ("goodput_bps", Reading::Number(goodput)),
            ("jain_index", self.jain_index(classes)),
            ("qacd_packets", self.qacd(place)),
            ("settling_s", self.per_stretch(place, metrics::settling)),
            ("overshoot_packets", self.per_stretch(place, metrics::overshoot)),
            ("bottleneck_packets", Reading::Number(measured.delivered)),
        ];
        of_link.extend(self.round_trips(classes));
        metrics::in_order(&of_link)
    }

    /// The same of a class, at a link or wherever it goes.
    fn of_class(&self, class: usize, place: Option<usize>) -> Metrics {
        let at =
            |passed: &[(usize, Passed)]| passed.iter().find(|(link, _)| Some(*link) == place).map(|of| of.1);
        let end: Vec<(usize, Passed)> = self.world.plant().passed(class).collect();
        let (end, begin) = (at(&end).unwrap_or_default(), at(&self.warm().passed[class]).unwrap_or_default());
        let offered = end.offered - begin.offered;
        let here = |value: f64| if place.is_some() { ratio(value, offered) } else { Reading::Absent };
        let greedy = self.scenario.flows[class].is_long_lived();
        let mut of_class = vec![
            ("drop_ratio", here(end.lost - begin.lost)),
            ("overflow_ratio", here(end.overflowed - begin.overflowed)),
            ("mark_ratio", here(end.marked - begin.marked)),
            ("goodput_bps", Reading::Number(self.goodput_of(class))),
            ("jain_index", if greedy { self.jain_index(&[class]) } else { Reading::Absent }),
            (
                "bottleneck_packets",
                if place.is_some() {
                    Reading::Number(end.delivered - begin.delivered)
                } else {
                    Reading::Absent
                },
            ),
        ];
        of_class.extend(self.round_trips(&[class]));
        metrics::in_order(&of_class)
    }

    /// Round-trip times of the path, over the packets of the flows of TCP among these classes.
    fn round_trips(&self, classes: &[usize]) -> Metrics {
        let tcp = classes.iter().filter(|class| self.scenario.flows[**class].app.is_tcp());
        let rtts: Vec<_> = tcp.map(|class| &self.world.plant().watched().rtts[*class]).collect();
        vec![
            ("rtt_mean_s", Sample::mean_of(&rtts).into()),
            ("rtt_p50_s", Sample::quantile_of(&rtts, 0.5).into()),
            ("rtt_p95_s", Sample::quantile_of(&rtts, 0.95).into()),
            ("rtt_max_s", Sample::quantile_of(&rtts, 1.0).into()),
        ]
    }

    /// Payload bits per second after the warm-up.
    fn goodput_of(&self, class: usize) -> f64 {
        let packets = self.world.plant().received()[class].delivered - self.warm().received[class].delivered;
        let seconds = (self.scenario.duration - self.scenario.warmup).seconds();
        bits(&self.scenario.flows[class], packets) / seconds
    }

    /// Jain's index over the long-lived flows: those of a class are alike.
    fn jain_index(&self, classes: &[usize]) -> Reading {
        let (mut flows, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for class in classes.iter().copied().filter(|class| self.scenario.flows[*class].is_long_lived()) {
            let (end, begin) = (self.world.plant().received()[class], self.warm().received[class]);
            let seconds = (self.scenario.duration - self.scenario.warmup).seconds();
            let count = (end.flows - begin.flows) / seconds;
            let got = bits(&self.scenario.flows[class], end.delivered - begin.delivered);
            flows += count;
            sum += got;
            squares += if count > 0.0 { got * got / count } else { 0.0 };
        }
        ratio(sum * sum, flows * squares)
    }

    /// Formula (17) of the PI-PD paper, about the target of the time.
    fn qacd(&self, place: usize) -> Reading {
        let warm = self.warm().links[place];
        let stretches = &self.views[place].stretches;
        let end = self.world.plant().links()[place].tally();
        let ends = stretches[1..].iter().map(|next| next.2).chain([end]);
        let mut squared = 0.0;
        for ((_, target, begin), end) in stretches.iter().zip(ends) {
            let Some(target) = target else { return Reading::Absent };
            let from = if begin.time < warm.time { warm } else { *begin };
            if end.time > from.time {
                let seen = end - from;
                squared += seen.backlog_squared - 2.0 * target * seen.backlog + target * target * seen.time;
            }
        }
        Reading::Number((squared.max(0.0) / (end.time - warm.time)).sqrt())
    }

    fn per_stretch(&self, place: usize, measure: fn(&Stretched<'_>) -> Option<f64>) -> Reading {
        let View { columns, stretches, .. } = &self.views[place];
        if stretches.iter().all(|(_, target, _)| target.is_none()) {
            return Reading::Absent;
        }
        let queue = columns.get("queue_packets").map_or(&[][..], Vec::as_slice);
        let index = |seconds: f64| self.time_s.partition_point(|end| *end <= seconds);
        let ends = stretches[1..].iter().map(|next| index(next.0)).chain([self.time_s.len()]);
        let values = stretches.iter().zip(ends).map(|((start_s, target, _), end)| {
            let range = index(*start_s)..end;
            let (time_s, queue) = (&self.time_s[range.clone()], &queue[range]);
            measure(&Stretched { start_s: *start_s, time_s, queue, target: (*target)? })
        });
        Reading::List(values.collect())
    }

    fn warm(&self) -> &Snapshot {
        self.warm.as_ref().unwrap_or(&self.last)
    }
}

fn ratio(part: f64, whole: f64) -> Reading {
    let ratio = part / whole;
    if ratio.is_finite() { Reading::Number(ratio) } else { Reading::Absent }
}

/// The columns of a series in order.
const SERIES: [&str; 10] = [
    "queue_packets",
    "sojourn_s",
    "p",
    "offered_packets",
    "dropped_packets",
    "marked_packets",
    "drop_ratio",
    "mark_ratio",
    "utilization",
    "window_packets",
];
/// Points of a distribution.
const STEPS_OF_DISTRIBUTION: usize = 1000;
