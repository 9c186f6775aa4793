//! What a run gives: metrics, series, distributions.

use crate::engine::Counts;
use crate::gains::Gains;
use crate::passage::{Passage, Tally};
use crate::recorder::Disc;
use crate::windows::Windows;
pub use sojourn_scenario::metrics::{Metrics, Reading as Metric};
use sojourn_scenario::metrics::{Stretched, in_order, overshoot, settling};
use sojourn_units::Span;

/// The outcome of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was seen at each link that has a disc; one at least.
    pub links: Vec<LinkOutcome>,
    /// The classes whose data cross none of them.
    pub elsewhere: Elsewhere,
    /// What the engine did.
    pub counts: Counts,
}

/// The outcome of one run at one link.
#[derive(Clone, Debug)]
pub struct LinkOutcome {
    /// The link's name.
    pub link: String,
    /// The label of its disc; None where a law of the caller's own stood in its place.
    pub disc: Option<String>,
    /// What the contract names, of all packets of the link.
    pub all: Row,
    /// The same of each class whose data cross it, where the run has several classes; by name.
    pub classes: Vec<(String, Row)>,
    /// The contract's series.
    pub series: Series,
    /// The distribution of the sojourn time: seconds, and the share at or below.
    pub sojourn_distribution: Vec<(f64, f64)>,
}

/// The outcome of one run for classes whose data cross no link that has a disc: what their flows got.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// The contract's metrics, those of a queue absent; by the class's name.
    pub classes: Vec<(String, Metrics)>,
    /// What they got over time, and no other column.
    pub series: Series,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Row {
    /// The contract's metrics.
    pub metrics: Metrics,
    /// Packets over the whole run, warm-up included.
    pub balance: Balance,
}

/// Packets of the whole run: offered = delivered + dropped + held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Packets that asked to be let in.
    pub offered: u64,
    /// Packets handed to the link.
    pub delivered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets held at the end.
    pub held: u64,
}

/// Values over time, one a step; NaN where there is none.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The end of each step, s.
    pub time_s: Vec<f64>,
    /// Mean backlog in the step, packets.
    pub queue_packets: Vec<f64>,
    /// Mean sojourn time of the packets delivered in the step, s.
    pub sojourn_s: Vec<f64>,
    /// The law's probability at the end of the step.
    pub p: Vec<f64>,
    /// Packets offered in the step.
    pub offered_packets: Vec<f64>,
    /// Packets dropped in the step; some laws drop what was offered in an earlier one.
    pub dropped_packets: Vec<f64>,
    /// Packets marked in the step.
    pub marked_packets: Vec<f64>,
    /// Drops over offered packets in the step.
    pub drop_ratio: Vec<f64>,
    /// Marks over offered packets in the step.
    pub mark_ratio: Vec<f64>,
    /// Bits sent over what could have been sent in the step.
    pub utilization: Vec<f64>,
    /// Mean congestion window at the end of the step, segments.
    pub window_packets: Vec<f64>,
    /// The congestion windows of a few flows, by their numbers.
    pub flow_windows: Vec<(u32, Vec<f64>)>,
    /// Application data that each class got in the step, bit/s, by its name; where there are several classes.
    pub goodput_bps: Vec<(String, Vec<f64>)>,
}

/// What a step adds to the series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) end_s: f64,
    pub(crate) length_s: f64,
    pub(crate) tally: Tally,
    pub(crate) utilization: f64,
    pub(crate) p: Option<f64>,
}

impl Series {
    /// No steps; the windows of these flows will be kept.
    pub(crate) fn new(flows: impl Iterator<Item = u32>) -> Series {
        Series { flow_windows: flows.map(|flow| (flow, Vec::new())).collect(), ..Series::default() }
    }

    pub(crate) fn push(&mut self, step: &Step) {
        let Tally { offered, delivered, marked, .. } = step.tally;
        let (dropped, marked) = (step.tally.dropped() as f64, marked as f64);
        self.time_s.push(step.end_s);
        self.queue_packets.push(step.tally.backlog() / step.length_s);
        self.sojourn_s.push(ratio(step.tally.sojourn(), delivered));
        self.p.push(step.p.unwrap_or(f64::NAN));
        self.offered_packets.push(offered as f64);
        self.dropped_packets.push(dropped);
        self.marked_packets.push(marked);
        self.drop_ratio.push(ratio(dropped, offered));
        self.mark_ratio.push(ratio(marked, offered));
        self.utilization.push(step.utilization);
    }

    /// The windows at the end of the step, of the flows of these classes.
    pub(crate) fn push_windows(&mut self, windows: &Windows, classes: &[u32]) {
        self.window_packets.push(windows.mean(classes));
        for (flow, column) in &mut self.flow_windows {
            column.push(windows.sample(*flow));
        }
    }

    /// What the class called `name` got, bytes in each step.
    pub(crate) fn push_goodput(&mut self, name: &str, received: &[u64]) {
        let starts = std::iter::once(&0.0).chain(&self.time_s);
        let lengths = starts.zip(&self.time_s).map(|(start, end)| end - start);
        let rates = received.iter().zip(lengths).map(|(bytes, length)| *bytes as f64 * 8.0 / length);
        self.goodput_bps.push((name.into(), rates.collect()));
    }

    /// The columns that there are, by name; `time_s` first.
    pub fn columns(&self) -> impl Iterator<Item = (String, &[f64])> {
        let fixed: [(&str, &[f64]); 11] = [
            ("time_s", &self.time_s),
            ("queue_packets", &self.queue_packets),
            ("sojourn_s", &self.sojourn_s),
            ("p", &self.p),
            ("offered_packets", &self.offered_packets),
            ("dropped_packets", &self.dropped_packets),
            ("marked_packets", &self.marked_packets),
            ("drop_ratio", &self.drop_ratio),
            ("mark_ratio", &self.mark_ratio),
            ("utilization", &self.utilization),
            ("window_packets", &self.window_packets),
        ];
        let flows = self.flow_windows.iter();
        let flows = flows.map(|(flow, windows)| (format!("window_packets.flow_{flow}"), &windows[..]));
        let classes = self.goodput_bps.iter();
        let classes = classes.map(|(class, values)| (format!("goodput_bps.{class}"), &values[..]));
        let fixed = fixed.into_iter().filter(|(_, values)| !values.is_empty());
        fixed.map(|(name, values)| (name.to_string(), values)).chain(flows).chain(classes)
    }
}

/// What the metrics of a link are made from.
pub(crate) struct Measured<'a> {
    pub(crate) disc: &'a Disc,
    pub(crate) series: &'a Series,
    /// The end of the warm-up, s.
    pub(crate) from_s: f64,
    /// The time after it.
    pub(crate) span: Span,
    /// None where it could not have sent anything.
    pub(crate) utilization: Option<f64>,
    /// From the start and from each change of the schedule on, in order; at least one.
    pub(crate) stretches: &'a [Stretch],
}

/// The run from one change of the schedule to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stretch {
    /// When it begins, s.
    pub(crate) start_s: f64,
    /// The backlog that the law tries to hold in it, packets.
    pub(crate) target: Option<f64>,
    /// What was measured before it.
    pub(crate) before: Tally,
}

/// The metrics of contract.md, in its order, of all packets of the link.
pub(crate) fn of_link(of: &Measured<'_>, gains: &mut Gains<'_>) -> Metrics {
    let (whole, seconds) = (of.disc.all.measured(), of.span.seconds());
    let mean = whole.backlog() / seconds;
    let variance = (whole.backlog_squared() / seconds - mean * mean).max(0.0);
    let queue = |q| Metric::from(of.disc.queue_lengths.quantile(q));
    let mut metrics = vec![
        ("utilization", Metric::from(of.utilization)),
        ("queue_mean_packets", Metric::Number(mean)),
        ("queue_std_packets", Metric::Number(variance.sqrt())),
        ("queue_p50_packets", queue(0.5)),
        ("queue_p95_packets", queue(0.95)),
        ("queue_p99_packets", queue(0.99)),
        ("queue_empty_ratio", Metric::from(of.disc.queue_lengths.share_of_zero())),
        ("qacd_packets", Metric::from(qacd(of, mean, variance))),
        ("settling_s", per_stretch(of, settling)),
        ("overshoot_packets", per_stretch(of, overshoot)),
    ];
    add_packets(&mut metrics, of, &of.disc.all, of.disc.lost);
    if !of.disc.watched.classes.is_empty() {
        metrics.extend_from_slice(gains.of(&of.disc.watched.classes));
    }
    in_order(&metrics)
}

/// The same of the packets of each class whose data cross the link, where there are several classes.
pub(crate) fn of_classes<'a>(
    of: &'a Measured<'a>,
    gains: &'a Gains<'_>,
) -> impl Iterator<Item = (u32, Row)> + 'a {
    of.disc.shares.iter().map(|share| {
        let mean = share.passage.measured().backlog() / of.span.seconds();
        let mut metrics = vec![("queue_mean_packets", Metric::Number(mean))];
        add_packets(&mut metrics, of, &share.passage, share.lost);
        metrics.extend_from_slice(gains.of_class(share.class));
        (share.class, Row { metrics: in_order(&metrics), balance: balance(&share.passage) })
    })
}

/// The same of classes that no link sees, by their numbers: their queues have no metrics.
pub(crate) fn elsewhere(classes: &[u32], gains: &Gains<'_>) -> Vec<(u32, Metrics)> {
    classes.iter().map(|class| (*class, in_order(gains.of_class(*class)))).collect()
}

/// As the probe was told.
pub(crate) fn balance(passage: &Passage) -> Balance {
    let total = passage.total();
    let (offered, delivered) = (total.offered, total.delivered);
    Balance { offered, delivered, dropped: total.dropped(), held: passage.backlog().into() }
}

/// What becomes of packets at the link.
fn add_packets(metrics: &mut Metrics, of: &Measured<'_>, passage: &Passage, lost: u64) {
    let whole = passage.measured();
    let sojourn = |q| Metric::from(passage.sojourns.quantile(q).map(in_seconds));
    let per_offered = |count: u64| Metric::from(finite(ratio(count as f64, whole.offered)));
    let wire_loss = of.disc.watched.loses.then(|| ratio(lost as f64, whole.delivered));
    metrics.extend([
        ("sojourn_mean_s", Metric::from(finite(ratio(whole.sojourn(), whole.delivered)))),
        ("sojourn_p50_s", sojourn(0.5)),
        ("sojourn_p95_s", sojourn(0.95)),
        ("sojourn_p99_s", sojourn(0.99)),
        ("drop_ratio", per_offered(whole.dropped())),
        ("overflow_ratio", per_offered(whole.overflowed)),
        ("mark_ratio", per_offered(whole.marked)),
        ("bottleneck_packets", Metric::Number(whole.delivered as f64)),
        ("wire_loss_ratio", Metric::from(wire_loss.and_then(finite))),
    ]);
}

/// Formula (17) of the PI-PD paper, about the target of the time; None where there was none at some time.
fn qacd(of: &Measured<'_>, mean: f64, variance: f64) -> Option<f64> {
    let first = of.stretches[0].target?;
    if of.stretches.iter().all(|stretch| stretch.target == Some(first)) {
        return Some((variance + (mean - first) * (mean - first)).sqrt());
    }
    let (from, end) = (of.from_s, of.from_s + of.span.seconds());
    let lasts = of.stretches[1..]
        .iter()
        .map(|next| (next.start_s, next.before))
        .chain([(end, of.disc.all.measured())]);
    let mut squared = 0.0;
    for (stretch, (next_s, after)) in of.stretches.iter().zip(lasts) {
        let (target, seen) = (stretch.target?, after.since(&stretch.before));
        let seconds = (next_s - stretch.start_s.max(from)).max(0.0);
        squared += seen.backlog_squared() - 2.0 * target * seen.backlog() + target * target * seconds;
    }
    Some((squared.max(0.0) / of.span.seconds()).sqrt())
}

fn per_stretch(of: &Measured<'_>, measure: fn(&Stretched<'_>) -> Option<f64>) -> Metric {
    if of.stretches.iter().all(|stretch| stretch.target.is_none()) {
        return Metric::Absent;
    }
    let time = &of.series.time_s;
    let index = |seconds: f64| time.partition_point(|end| *end <= seconds);
    let ends = of.stretches[1..].iter().map(|next| index(next.start_s)).chain([time.len()]);
    let values = of.stretches.iter().zip(ends).map(|(stretch, end)| {
        let range = index(stretch.start_s)..end;
        let queue = &of.series.queue_packets[range.clone()];
        measure(&Stretched { start_s: stretch.start_s, time_s: &time[range], queue, target: stretch.target? })
    });
    Metric::List(values.collect())
}

pub(crate) fn in_seconds(nanos: f64) -> f64 {
    nanos * 1e-9
}

pub(crate) fn ratio(part: f64, whole: u64) -> f64 {
    if whole > 0 { part / whole as f64 } else { f64::NAN }
}

pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gains::Life;
    use crate::probe::Probe;
    use crate::recorder::{Interval, Recorder, Watched, Watchlist};
    use crate::round_trip::RoundTrip;
    use sojourn_aqm::Cause;
    use sojourn_units::Time;

    fn recorder(classes: u32, flows: Vec<u32>) -> Recorder {
        let measured = Interval { from: at(1000), until: at(5000) };
        let links = vec![Watched { link: 3, classes: (0..classes).collect(), loses: true }];
        let (step, tells_classes_apart) = (Span::from_millis(1000), classes > 1);
        Recorder::new(Watchlist { links, classes, tells_classes_apart, flows, measured, step })
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// The whole run about 20 packets.
    fn whole() -> [Stretch; 1] {
        [Stretch { target: Some(20.0), ..Stretch::default() }]
    }

    fn measured<'a>(recorder: &'a Recorder, series: &'a Series, stretches: &'a [Stretch]) -> Measured<'a> {
        Measured {
            disc: recorder.disc(3),
            series,
            from_s: 1.0,
            span: Span::from_secs(4),
            utilization: Some(1.0),
            stretches,
        }
    }

    fn gains<'a>(recorder: &'a Recorder, lives: &'a [Life]) -> Gains<'a> {
        Gains::new(recorder, lives, Span::from_secs(4))
    }

    fn number(row: &Row, name: &str) -> f64 {
        match row.metrics.iter().find(|(key, _)| *key == name).unwrap().1 {
            Metric::Number(value) => value,
            ref other => panic!("{name}: {other:?}"),
        }
    }

    /// A backlog of 0, 10 and 40 packets for 1, 1 and 2 s after a second of warm-up, by hand.
    #[test]
    fn moments_are_weighted_by_time_and_leave_the_warm_up_out() {
        let mut recorder = recorder(1, vec![0]);
        for (millis, bytes) in [(900, 7), (2000, 400_000), (5000, 100_000), (5001, 7)] {
            recorder.received(at(millis), 0, bytes);
        }
        (0..90).for_each(|_| recorder.offered(at(500), 3, 0));
        (0..900).for_each(|_| recorder.offered(at(700), 2, 0));
        (0..90).for_each(|_| recorder.delivered(at(1000), 3, 0, Span::from_millis(500)));
        (0..10).for_each(|_| recorder.offered(at(2000), 3, 0));
        let before = recorder.measured_until(at(3000), 3);
        (0..30).for_each(|_| recorder.offered(at(3000), 3, 0));
        recorder.end_step(at(5000), 3);
        let (none, mut gains) = (Series::default(), gains(&recorder, &[Life::Greedy]));
        let metrics = of_link(&measured(&recorder, &none, &whole()), &mut gains);
        let row = Row { metrics, balance: balance(&recorder.disc(3).all) };
        // Mean (0 + 10 + 2 x 40) / 4; second moment (100 + 2 x 1600) / 4 = 825; about 20: (400 + 100 + 800) / 4.
        assert_eq!(number(&row, "queue_mean_packets"), 22.5);
        assert!((number(&row, "queue_std_packets") - (825.0_f64 - 22.5 * 22.5).sqrt()).abs() < 1e-12);
        assert!((number(&row, "qacd_packets") - 325.0_f64.sqrt()).abs() < 1e-12);
        // About 20 up to 3 s and about 40 from then on: (400 + 100 + 0) / 4.
        let next = Stretch { start_s: 3.0, target: Some(40.0), before };
        let metrics = of_link(&measured(&recorder, &none, &[whole()[0], next]), &mut gains);
        let moved = Row { metrics, balance: balance(&recorder.disc(3).all) };
        assert!((number(&moved, "qacd_packets") - 125.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!((number(&row, "queue_p50_packets"), number(&row, "queue_p95_packets")), (10.0, 40.0));
        assert_eq!(number(&row, "goodput_bps"), 1e6);
    }

    /// Two classes at one disc, by hand: flow 0 is of class 0, flow 1 of class 1; flow 2 joins class 1 on the way.
    #[test]
    fn a_class_has_its_own_packets_and_its_own_flows() {
        let mut recorder = recorder(2, vec![0, 1]);
        recorder.joined(2, 1);
        // Class 0: a packet from 0 to 2 s and one from 4 s on; class 1: two packets from 2 to 3 s, one of them dropped.
        recorder.offered(at(0), 3, 0);
        recorder.offered(at(2000), 3, 1);
        recorder.offered(at(2000), 3, 2);
        recorder.delivered(at(2000), 3, 0, Span::from_millis(2000));
        recorder.marked(at(3000), 3, 1);
        recorder.delivered(at(3000), 3, 1, Span::from_millis(1000));
        recorder.dropped(at(3000), 3, 2, Cause::Law);
        recorder.lost(at(3500), 3, 1);
        recorder.offered(at(4000), 3, 0);
        recorder.received(at(3000), 0, 1000);
        recorder.received(at(3001), 1, 3000);
        recorder.read(at(500), at(4000), 2, &|time| time.since(at(500)).nanos() / 1_000_000);
        recorder.completed(at(3000), 2, at(1200));
        recorder.completed(at(4000), 2, at(3800));
        recorder.completed(at(900), 2, at(100));
        recorder.turned_away(at(2000), 1);
        let nanos = Span::from_nanos;
        recorder.round_trip(at(900), 1, RoundTrip { path: nanos(99), smoothed: None, packets: 1 });
        recorder.round_trip(at(2000), 1, RoundTrip { path: nanos(50), smoothed: None, packets: 3 });
        recorder.round_trip(
            at(2001),
            1,
            RoundTrip { path: nanos(54), smoothed: Some(nanos(60)), packets: 1 },
        );
        recorder.datagram(at(2000), 0, Span::from_nanos(50));
        recorder.end_step(at(5000), 3);
        let series = Series::default();
        let whole = whole();
        let of = measured(&recorder, &series, &whole);
        let mut gains = gains(&recorder, &[Life::Greedy, Life::Stream]);
        let link = Row { metrics: of_link(&of, &mut gains), balance: balance(&recorder.disc(3).all) };
        let classes: Vec<(u32, Row)> = of_classes(&of, &gains).collect();
        let [(0, one), (1, other)] = &classes[..] else { panic!("{classes:?}") };
        let both = |name| [one, other, &link].map(|row| number(row, name));
        assert_eq!([one, other].map(|row| number(row, "queue_mean_packets")), [0.5, 0.5]);
        assert_eq!(both("sojourn_mean_s"), [2.0, 1.0, 1.5]);
        assert_eq!(both("drop_ratio"), [0.0, 0.5, 1.0 / 3.0]);
        assert_eq!(both("mark_ratio"), [0.0, 0.5, 1.0 / 3.0]);
        assert_eq!(both("wire_loss_ratio"), [0.0, 1.0, 0.5]);
        assert_eq!(both("bottleneck_packets"), [1.0, 1.0, 2.0]);
        // From 1 to 4 s flow 2 reads 3000 bytes.
        assert_eq!(both("goodput_bps"), [2000.0, 12000.0, 14000.0]);
        assert_eq!([one, &link].map(|row| number(row, "jain_index")), [1.0, 1.0]);
        assert_eq!(number(other, "fct_mean_s"), 1.0);
        assert!((number(&link, "fct_p95_s") - 1.8).abs() < 1.8 / 128.0);
        assert_eq!([other, &link].map(|row| number(row, "completed_flows")), [2.0, 2.0]);
        assert_eq!(number(&link, "turned_away_flows"), 1.0);
        for row in [other, &link] {
            let rtts = ["rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_max_s"].map(|name| number(row, name));
            assert_eq!(rtts, [51.0, 50.0, 54.0, 54.0].map(|nanos| nanos * 1e-9));
            assert_eq!(["srtt_mean_s", "srtt_max_s"].map(|name| number(row, name)), [60.0 * 1e-9; 2]);
        }
        assert_eq!([one, &link].map(|row| number(row, "one_way_p95_s")), [50.0 * 1e-9; 2]);
        for (row, name) in
            [(one, "fct_mean_s"), (one, "completed_flows"), (one, "utilization"), (other, "jain_index")]
        {
            assert_eq!(row.metrics.iter().find(|(key, _)| *key == name).unwrap().1, Metric::Absent, "{name}");
        }
        assert_eq!(one.balance, Balance { offered: 2, delivered: 1, dropped: 0, held: 1 });
        // In the steps of a second that end at 1 ... 5 s; what happens at an end is of the step before.
        assert_eq!(recorder.classes[0].received, [0, 0, 1000, 0, 0]);
        assert_eq!(recorder.classes[1].received, [500, 1000, 1000, 4000, 0]);
    }
}
