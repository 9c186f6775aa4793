//! Metrics of a link and of its classes, from the measurements of a plant.

use crate::catalogue::in_order;
use crate::{Metrics, Packets, Reading, Series, Totals, finite_ratio};

/// A link's queue after the warm-up.
#[derive(Debug)]
pub struct LinkStats<'a> {
    /// Of the backlog.
    pub moments: Moments,
    /// Of the backlog, packets.
    pub backlog: Quantiles,
    /// Share of the time with an empty queue.
    pub empty_ratio: Option<f64>,
    /// Bits delivered over the capacity; None where the capacity is zero.
    pub utilization: Option<f64>,
    /// All packets of the link.
    pub packets: PacketStats,
    /// From the start and from each change of the schedule on, in order; at least one.
    pub stretches: &'a [Stretch],
    /// The link's series, over the whole run.
    pub series: &'a Series,
    /// Takes the deviation from a constant target from mean and variance, not from the moments of the stretches.
    pub central: bool,
}

/// Packets of a link or a class after the warm-up.
#[derive(Clone, Debug)]
pub struct PacketStats {
    /// Their numbers.
    pub packets: Packets,
    /// Mean sojourn time, s.
    pub sojourn_mean: Option<f64>,
    /// Of the sojourn time, s.
    pub sojourn: Quantiles,
    /// Packets lost on the wire; None where it loses none.
    pub wire_lost: Option<f64>,
    /// The qdisc may remove ACKs.
    pub filters_acks: bool,
}

/// Integrals over a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    /// Its length.
    pub seconds: f64,
    /// Of the backlog, packets s.
    pub backlog: f64,
    /// Of its square, packets^2 s.
    pub backlog_squared: f64,
}

/// Quantiles of a distribution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantiles {
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
}

/// The run from one change of the schedule to the next.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Its start, s.
    pub start_s: f64,
    /// The law's target, packets.
    pub target: Option<f64>,
    /// Moments of the part after the warm-up.
    pub moments: Moments,
}

/// The start of a stretch; `S` are the sums of a plant.
#[derive(Clone, Copy, Debug, Default)]
pub struct StretchStart<S> {
    /// Its time, s.
    pub start_s: f64,
    /// The law's target from then on, packets.
    pub target: Option<f64>,
    /// Sums at that time.
    pub sums: S,
}

impl Stretch {
    /// The stretches that begin at `starts`; the last one ends with `end`, its time and sums. `moments` are those of
    /// a stretch after the warm-up, from its start to a time and sums.
    pub fn all<S: Copy>(
        starts: &[StretchStart<S>],
        end: (f64, S),
        moments: impl Fn(&StretchStart<S>, (f64, S)) -> Moments,
    ) -> Vec<Stretch> {
        let ends = starts[1..].iter().map(|next| (next.start_s, next.sums)).chain([end]);
        let stretch = |(start, end): (&StretchStart<S>, (f64, S))| {
            let StretchStart { start_s, target, .. } = *start;
            Stretch { start_s, target, moments: moments(start, end) }
        };
        starts.iter().zip(ends).map(stretch).collect()
    }
}

impl Moments {
    /// The moments among some totals.
    pub fn of(totals: &Totals) -> Moments {
        let Totals { time, backlog, backlog_squared, .. } = *totals;
        Moments { seconds: time, backlog, backlog_squared }
    }
}

impl Quantiles {
    /// The quantiles that metrics name.
    pub fn of(quantile: impl Fn(f64) -> Option<f64>) -> Quantiles {
        Quantiles { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99) }
    }
}

impl LinkStats<'_> {
    /// All metrics of the link; `flows` has those of the flows whose data cross it.
    pub fn metrics(&self, flows: &[(&'static str, Reading)]) -> Metrics {
        let mean = self.moments.backlog / self.moments.seconds;
        let variance = (self.moments.backlog_squared / self.moments.seconds - mean * mean).max(0.0);
        let mut metrics = vec![
            ("utilization", self.utilization.into()),
            ("queue_mean_packets", Reading::Number(mean)),
            ("queue_std_packets", Reading::Number(variance.sqrt())),
            ("queue_p50_packets", self.backlog.p50.into()),
            ("queue_p95_packets", self.backlog.p95.into()),
            ("queue_p99_packets", self.backlog.p99.into()),
            ("queue_empty_ratio", self.empty_ratio.into()),
            ("qacd_packets", self.qacd(mean, variance).into()),
            ("settling_s", self.per_stretch(settling)),
            ("overshoot_packets", self.per_stretch(overshoot)),
        ];
        self.packets.add_to(&mut metrics);
        metrics.extend_from_slice(flows);
        in_order(&metrics)
    }

    /// Formula (17) of the PI-PD paper, about the target of the time; None where there was none at some time.
    fn qacd(&self, mean: f64, variance: f64) -> Option<f64> {
        let first = self.stretches[0].target?;
        if self.central && self.stretches.iter().all(|stretch| stretch.target == Some(first)) {
            return Some((variance + (mean - first) * (mean - first)).sqrt());
        }
        let mut squared = 0.0;
        for stretch in self.stretches {
            let (target, of) = (stretch.target?, stretch.moments);
            squared += of.backlog_squared - 2.0 * target * of.backlog + target * target * of.seconds;
        }
        Some((squared.max(0.0) / self.moments.seconds).sqrt())
    }

    /// Integral of the time since the start of a stretch x the absolute deviation from the target, packets s^2, from the
    /// means over steps of the series: Graham and Lathrop 1953.
    pub fn itae(&self) -> Reading {
        self.per_stretch(itae)
    }

    fn per_stretch(&self, measure: fn(&Stretched<'_>) -> Option<f64>) -> Reading {
        if self.stretches.iter().all(|stretch| stretch.target.is_none()) {
            return Reading::Absent;
        }
        let time = &self.series.time_s;
        let index = |seconds: f64| time.partition_point(|end| *end <= seconds);
        let ends = self.stretches[1..].iter().map(|next| index(next.start_s)).chain([time.len()]);
        let values = self.stretches.iter().zip(ends).map(|(stretch, end)| {
            let range = index(stretch.start_s)..end;
            let queue = &self.series.queue_packets[range.clone()];
            let (start_s, time_s) = (stretch.start_s, &time[range]);
            measure(&Stretched { start_s, time_s, queue, target: stretch.target? })
        });
        Reading::List(values.collect())
    }
}

impl PacketStats {
    fn add_to(&self, metrics: &mut Metrics) {
        let Packets { offered, lost, overflowed, filtered, marked, delivered } = self.packets;
        let filtered = (self.filters_acks || filtered > 0.0).then_some(filtered);
        metrics.extend([
            ("sojourn_mean_s", self.sojourn_mean.into()),
            ("sojourn_p50_s", self.sojourn.p50.into()),
            ("sojourn_p95_s", self.sojourn.p95.into()),
            ("sojourn_p99_s", self.sojourn.p99.into()),
            ("drop_ratio", finite_ratio(lost, offered).into()),
            ("overflow_ratio", finite_ratio(overflowed, offered).into()),
            ("filtered_ratio", filtered.and_then(|filtered| finite_ratio(filtered, offered)).into()),
            ("mark_ratio", finite_ratio(marked, offered).into()),
            ("bottleneck_packets", Reading::Number(delivered)),
            ("wire_loss_ratio", self.wire_lost.and_then(|lost| finite_ratio(lost, delivered)).into()),
        ]);
    }
}

/// All metrics of a class or of a queue: of its flows, of its packets where it is at a link, and of its mean backlog there.
pub fn class_metrics(
    flows: &[(&'static str, Reading)],
    packets: Option<&PacketStats>,
    backlog: Option<f64>,
) -> Metrics {
    let mut metrics = vec![("queue_mean_packets", backlog.into())];
    if let Some(packets) = packets {
        packets.add_to(&mut metrics);
    }
    metrics.extend_from_slice(flows);
    in_order(&metrics)
}

/// The backlog over time from one change of the schedule to the next, and its target.
#[derive(Clone, Copy, Debug)]
struct Stretched<'a> {
    /// The start, s.
    start_s: f64,
    /// The ends of the steps of the series, s.
    time_s: &'a [f64],
    /// The mean backlog in each, packets.
    queue: &'a [f64],
    /// Packets.
    target: f64,
}

/// Time until the backlog, averaged over a second, stays within a tenth of the target (5 packets where that is more), s.
fn settling(stretch: &Stretched<'_>) -> Option<f64> {
    let band = (SETTLED_SHARE * stretch.target).max(SETTLED_PACKETS);
    let &[first, second, ..] = stretch.time_s else { return None };
    let step = second - first;
    let width = ((SMOOTHING_S / step).round() as usize).clamp(1, stretch.queue.len());
    let smooth = stretch.queue.windows(width).map(|window| window.iter().sum::<f64>() / width as f64);
    let outside = smooth.enumerate().rfind(|(_, mean)| (mean - stretch.target).abs() > band);
    let first = outside.map_or(0, |(last, _)| last + 1);
    // The window that starts the settled part ends `width` steps on.
    stretch.time_s.get(first + width - 1).map(|end| end - stretch.start_s)
}

/// Largest excess of the backlog over the target, packets, of the means over a step of the series.
fn overshoot(stretch: &Stretched<'_>) -> Option<f64> {
    let highest = stretch.queue.iter().copied().reduce(f64::max)?;
    Some((highest - stretch.target).max(0.0))
}

/// See [`LinkStats::itae`].
fn itae(stretch: &Stretched<'_>) -> Option<f64> {
    let mut start = 0.0;
    let mut sum = 0.0;
    for (end, queue) in stretch.time_s.iter().zip(stretch.queue) {
        let end = end - stretch.start_s;
        sum += (end * end - start * start) / 2.0 * (queue - stretch.target).abs();
        start = end;
    }
    (!stretch.queue.is_empty()).then_some(sum)
}

/// Settled means within this share of the target ...
const SETTLED_SHARE: f64 = 0.1;
/// ... or within so many packets, where that is more,
const SETTLED_PACKETS: f64 = 5.0;
/// averaged over so many seconds.
const SMOOTHING_S: f64 = 1.0;

/// Changes of the schedule from which settling and overshoot are measured; a schedule may have any number of them.
pub const MOST_CHANGES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Balance, ExactTotals, FlowKind, FlowStats, Interval, Probe, QueueOutcome, Queued, Recorder,
        RoundTrip, Row, Scope, Watched, Watchlist, metric_named,
    };
    use sojourn_aqm::Cause;
    use sojourn_units::{Span, Time};

    #[test]
    fn settling_ends_when_the_smoothed_queue_stays_in_the_band() {
        let time_s: Vec<f64> = (1..=200).map(|step| f64::from(step) * 0.1).collect();
        let queue: Vec<f64> = time_s.iter().map(|t| if *t < 5.05 { 200.0 } else { 101.0 }).collect();
        let stretch = Stretched { start_s: 0.0, time_s: &time_s, queue: &queue, target: 100.0 };
        // One step of 200 in a window of ten is a mean of 110.9, outside; none is inside.
        assert!((settling(&stretch).unwrap() - 6.0).abs() < 0.11, "{:?}", settling(&stretch));
        assert_eq!(overshoot(&stretch), Some(100.0));
        let never = Stretched { target: 300.0, ..stretch };
        assert_eq!(settling(&never), None);
    }

    /// A deviation of 100 for 5 s and of 1 for the next 15 s: 100 x 25 / 2 + (400 - 25) / 2.
    #[test]
    fn itae_weighs_a_deviation_by_its_time() {
        let time_s: Vec<f64> = (1..=200).map(|step| 30.0 + f64::from(step) * 0.1).collect();
        let queue: Vec<f64> = time_s.iter().map(|t| if *t < 35.05 { 200.0 } else { 99.0 }).collect();
        let stretch = Stretched { start_s: 30.0, time_s: &time_s, queue: &queue, target: 100.0 };
        assert!((itae(&stretch).unwrap() - 1437.5).abs() < 1e-9, "{:?}", itae(&stretch));
        assert_eq!(itae(&Stretched { time_s: &[], queue: &[], ..stretch }), None);
    }

    fn watchlist(classes: u32, flows: Vec<u32>) -> Watchlist {
        let measured = Interval { from: at(1000), until: at(5000) };
        let (classes_of_link, queues) = ((0..classes).collect(), Vec::new());
        let links =
            vec![Watched { link: 3, classes: classes_of_link, queues, loses: true, filters_acks: false }];
        let (step, by_class) = (Span::from_millis(1000), classes > 1);
        Watchlist {
            links,
            classes,
            by_class,
            flows,
            measured,
            step,
            windows: Vec::new(),
            changes: Vec::new(),
            loss_events: Vec::new(),
        }
    }

    fn recorder(classes: u32, flows: Vec<u32>) -> Recorder {
        Recorder::new(watchlist(classes, flows))
    }

    /// A packet of a flow.
    fn of(flow: u32) -> Queued {
        Queued { flow, queue: 0 }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// The whole run about 20 packets.
    fn whole() -> [StretchStart<ExactTotals>; 1] {
        [StretchStart { target: Some(20.0), ..StretchStart::default() }]
    }

    /// The row of the link.
    fn link(recorder: &Recorder, before: &[StretchStart<ExactTotals>], flows: &mut FlowStats<'_>) -> Row {
        let (record, span, series) = (recorder.record(3), Span::from_secs(4), Series::default());
        let stretches = record.stretches(before, 1.0, span);
        let stats = record.stats(span, Some(1.0), &stretches, &series);
        Row { metrics: stats.metrics(flows.of(record.classes())), balance: Some(record.balance()) }
    }

    fn flows<'a>(recorder: &'a Recorder, kinds: &'a [FlowKind]) -> FlowStats<'a> {
        FlowStats::new(recorder, kinds, Span::from_secs(4))
    }

    fn number(row: &Row, name: &str) -> f64 {
        match row.metrics.iter().find(|(key, _)| *key == name).unwrap().1 {
            Reading::Number(value) => value,
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
        (0..90).for_each(|_| recorder.offered(at(500), 3, of(0)));
        (0..900).for_each(|_| recorder.offered(at(700), 2, of(0)));
        (0..90).for_each(|_| recorder.delivered(at(1000), 3, of(0), Span::from_millis(500)));
        (0..10).for_each(|_| recorder.offered(at(2000), 3, of(0)));
        let before = recorder.measured_until(at(3000), 3);
        (0..30).for_each(|_| recorder.offered(at(3000), 3, of(0)));
        recorder.end_step(at(5000), 3);
        let mut flows = flows(&recorder, &[FlowKind::Greedy]);
        let row = link(&recorder, &whole(), &mut flows);
        // Mean (0 + 10 + 2 x 40) / 4; second moment (100 + 2 x 1600) / 4 = 825; about 20: (400 + 100 + 800) / 4.
        assert_eq!(number(&row, "queue_mean_packets"), 22.5);
        assert!((number(&row, "queue_std_packets") - (825.0_f64 - 22.5 * 22.5).sqrt()).abs() < 1e-12);
        assert!((number(&row, "qacd_packets") - 325.0_f64.sqrt()).abs() < 1e-12);
        // About 20 up to 3 s and about 40 from then on: (400 + 100 + 0) / 4.
        let next = StretchStart { start_s: 3.0, target: Some(40.0), sums: before };
        let moved = link(&recorder, &[whole()[0], next], &mut flows);
        assert!((number(&moved, "qacd_packets") - 125.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!((number(&row, "queue_p50_packets"), number(&row, "queue_p95_packets")), (10.0, 40.0));
        assert_eq!(number(&row, "goodput_bps"), 1e6);
    }

    /// Two named queues after a second of warm-up, by hand.
    #[test]
    fn a_named_queue_has_its_own_packets() {
        let watched = Watched {
            link: 3,
            classes: vec![0],
            queues: ["L", "C", "idle"].map(String::from).into(),
            loses: false,
            filters_acks: false,
        };
        let mut recorder = Recorder::new(Watchlist { links: vec![watched], ..watchlist(1, vec![0]) });
        let [l, c] = [0, 1].map(|queue| Queued { flow: 0, queue });
        // L: a packet from 0.5 to 2 s, one from 3 s on. C: two packets from 1 s, one leaves at 3 s, one is dropped at 4 s.
        recorder.offered(at(500), 3, l);
        recorder.offered(at(1000), 3, c);
        recorder.offered(at(1000), 3, c);
        recorder.delivered(at(2000), 3, l, Span::from_millis(1500));
        let steps: Vec<f64> =
            recorder.end_queue_steps(at(2000), 3).map(|sums| sums.moments(1.0).backlog).collect();
        assert_eq!(steps, [1.5, 2.0, 0.0]);
        recorder.marked(at(3000), 3, c);
        recorder.delivered(at(3000), 3, c, Span::from_millis(2000));
        recorder.offered(at(3000), 3, l);
        recorder.dropped(at(4000), 3, c, Cause::Overflow);
        recorder.end_step(at(5000), 3);
        let steps: Vec<f64> =
            recorder.end_queue_steps(at(5000), 3).map(|sums| sums.moments(1.0).backlog).collect();
        assert_eq!(steps, [2.0, 3.0, 0.0]);
        let queues: Vec<QueueOutcome> = recorder.record(3).queue_outcomes(Span::from_secs(4)).collect();
        let names: Vec<&str> = queues.iter().map(|queue| &queue.name[..]).collect();
        assert_eq!(names, ["L", "C"], "a queue without packets has no row");
        let both = |name| [0, 1].map(|place: usize| number(&queues[place].row, name));
        assert_eq!(both("queue_mean_packets"), [0.75, 1.25]);
        assert_eq!(both("sojourn_mean_s"), [1.5, 2.0]);
        assert_eq!(both("bottleneck_packets"), [1.0, 1.0]);
        assert_eq!(
            [number(&queues[1].row, "drop_ratio"), number(&queues[1].row, "overflow_ratio")],
            [0.5, 0.5]
        );
        assert_eq!(number(&queues[1].row, "mark_ratio"), 0.5);
        assert_eq!(queues[0].row.balance, Some(Balance { offered: 2, delivered: 1, dropped: 0, held: 1 }));
        assert_eq!(recorder.record(3).balance(), Balance { offered: 4, delivered: 2, dropped: 1, held: 1 });
    }

    /// Two classes at one qdisc, by hand: flow 0 is of class 0, flow 1 of class 1; flow 2 joins class 1 on the way.
    #[test]
    fn a_class_has_its_own_packets_and_its_own_flows() {
        let mut recorder = recorder(2, vec![0, 1]);
        recorder.joined(2, 1);
        // Class 0: a packet from 0 to 2 s and one from 4 s on; class 1: two packets from 2 to 3 s, one of them dropped.
        recorder.offered(at(0), 3, of(0));
        recorder.offered(at(2000), 3, of(1));
        recorder.offered(at(2000), 3, of(2));
        recorder.delivered(at(2000), 3, of(0), Span::from_millis(2000));
        recorder.marked(at(3000), 3, of(1));
        recorder.delivered(at(3000), 3, of(1), Span::from_millis(1000));
        recorder.dropped(at(3000), 3, of(2), Cause::Law);
        recorder.lost(at(3500), 3, 1);
        recorder.offered(at(4000), 3, of(0));
        recorder.received(at(3000), 0, 1000);
        recorder.received(at(3001), 1, 3000);
        recorder.read(at(500), at(4000), 2, &|time| time.since(at(500)).nanos() / 1_000_000);
        recorder.completed(at(3000), 2, at(1200));
        recorder.completed(at(4000), 2, at(3800));
        recorder.completed(at(900), 2, at(100));
        recorder.rejected(at(2000), 1);
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
        let mut flows = flows(&recorder, &[FlowKind::Greedy, FlowKind::Stream]);
        let link = link(&recorder, &whole(), &mut flows);
        let classes = recorder.record(3).class_stats(Span::from_secs(4));
        let row = |(class, packets, mean, balance)| {
            let metrics = class_metrics(flows.of_class(class), Some(&packets), Some(mean));
            (class, Row { metrics, balance: Some(balance) })
        };
        let classes: Vec<(u32, Row)> = classes.map(row).collect();
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
        assert_eq!(number(&link, "rejected_flows"), 1.0);
        for row in [other, &link] {
            let rtts = ["rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_max_s"].map(|name| number(row, name));
            assert_eq!(rtts, [51.0, 50.0, 54.0, 54.0].map(|nanos| nanos * 1e-9));
            assert_eq!(["srtt_mean_s", "srtt_max_s"].map(|name| number(row, name)), [60.0 * 1e-9; 2]);
        }
        assert_eq!([one, &link].map(|row| number(row, "one_way_p95_s")), [50.0 * 1e-9; 2]);
        for (row, name) in
            [(one, "fct_mean_s"), (one, "completed_flows"), (one, "utilization"), (other, "jain_index")]
        {
            assert_eq!(
                row.metrics.iter().find(|(key, _)| *key == name).unwrap().1,
                Reading::Absent,
                "{name}"
            );
        }
        let applies = |(name, reading): &(&str, Reading)| {
            *reading == Reading::Absent || metric_named(name).unwrap().scope != Scope::Link
        };
        assert!(one.metrics.iter().all(applies));
        assert!(flows.of_class(0).iter().all(|(name, _)| metric_named(name).unwrap().scope == Scope::Flows));
        assert_eq!(one.balance, Some(Balance { offered: 2, delivered: 1, dropped: 0, held: 1 }));
        // In steps of a second that end at 1 ... 5 s; events at an end belong to the step before.
        assert_eq!(recorder.received_in_steps(0), [0, 0, 1000, 0, 0]);
        assert_eq!(recorder.received_in_steps(1), [500, 1000, 1000, 4000, 0]);
    }
}
