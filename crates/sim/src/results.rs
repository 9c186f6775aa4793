//! What a run gives: metrics, series, distributions.

use crate::engine::Counts;
use crate::recorder::{Recorder, Tally};
use sojourn_units::Span;

/// The outcome of one run on one link.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The link's name.
    pub link: String,
    /// The contract's metrics, by name.
    pub metrics: Vec<(&'static str, Metric)>,
    /// The contract's series.
    pub series: Series,
    /// The distribution of the sojourn time: seconds, and the share at or below.
    pub sojourn_distribution: Vec<(f64, f64)>,
    /// Packets over the whole run, warm-up included.
    pub balance: Balance,
    /// What the engine did.
    pub counts: Counts,
}

/// The value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// It does not apply.
    Absent,
    /// A number.
    Number(f64),
    /// A number after the start and after each change of the schedule; None where there is none.
    List(Vec<Option<f64>>),
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

    pub(crate) fn push(&mut self, step: &Step, (mean, samples): (f64, impl Iterator<Item = f64>)) {
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
        self.window_packets.push(mean);
        for ((_, windows), window) in self.flow_windows.iter_mut().zip(samples) {
            windows.push(window);
        }
    }

    /// The columns by name; `time_s` first.
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
        fixed.into_iter().map(|(name, values)| (name.to_string(), values)).chain(flows)
    }
}

/// What the metrics are made from, besides the recorder.
pub(crate) struct Measured<'a> {
    pub(crate) recorder: &'a Recorder,
    pub(crate) series: &'a Series,
    pub(crate) span: Span,
    pub(crate) utilization: f64,
    pub(crate) target: Option<f64>,
    /// The start and each change of the schedule, s.
    pub(crate) stretches: &'a [f64],
    /// Application bytes of each long-lived flow after the warm-up.
    pub(crate) long_lived: &'a [u64],
}

/// The metrics of contract.md, in its order.
pub(crate) fn metrics(of: &Measured<'_>) -> Vec<(&'static str, Metric)> {
    let (whole, seconds) = (of.recorder.measured(), of.span.seconds());
    let mean = whole.backlog() / seconds;
    let variance = (whole.backlog_squared() / seconds - mean * mean).max(0.0);
    let queue = |q| Metric::from(of.recorder.queue_lengths.quantile(q));
    let sojourn = |q| Metric::from(of.recorder.sojourns.quantile(q).map(in_seconds));
    let rtt = |q| Metric::from(of.recorder.rtts.quantile(q).map(in_seconds));
    let per_offered = |count: u64| Metric::from(finite(ratio(count as f64, whole.offered)));
    let goodput: u64 = of.recorder.received_bytes.iter().sum();
    let qacd = of.target.map(|target| (variance + (mean - target) * (mean - target)).sqrt());
    vec![
        ("utilization", Metric::Number(of.utilization)),
        ("queue_mean_packets", Metric::Number(mean)),
        ("queue_std_packets", Metric::Number(variance.sqrt())),
        ("queue_p50_packets", queue(0.5)),
        ("queue_p95_packets", queue(0.95)),
        ("queue_p99_packets", queue(0.99)),
        ("sojourn_mean_s", Metric::from(finite(ratio(whole.sojourn(), whole.delivered)))),
        ("sojourn_p50_s", sojourn(0.5)),
        ("sojourn_p95_s", sojourn(0.95)),
        ("sojourn_p99_s", sojourn(0.99)),
        ("rtt_p50_s", rtt(0.5)),
        ("rtt_p95_s", rtt(0.95)),
        ("drop_ratio", per_offered(whole.dropped())),
        ("overflow_ratio", per_offered(whole.overflowed)),
        ("mark_ratio", per_offered(whole.marked)),
        ("goodput_bps", Metric::Number(goodput as f64 * 8.0 / seconds)),
        ("jain_index", Metric::from(jain_index(of.long_lived))),
        ("qacd_packets", Metric::from(qacd)),
        ("settling_s", per_stretch(of, settling)),
        ("overshoot_packets", per_stretch(of, overshoot)),
        ("fct_mean_s", Metric::Absent),
        ("fct_p95_s", Metric::Absent),
        ("bottleneck_packets", Metric::Number(whole.delivered as f64)),
    ]
}

impl From<Option<f64>> for Metric {
    fn from(value: Option<f64>) -> Metric {
        value.map_or(Metric::Absent, Metric::Number)
    }
}

/// Jain's index of fairness: (sum x)^2 / (n sum x^2); None where nobody got anything.
fn jain_index(shares: &[u64]) -> Option<f64> {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| *share as f64 * *share as f64).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// One stretch of the run between changes: the series in it, and the target.
struct Stretch<'a> {
    start_s: f64,
    time_s: &'a [f64],
    queue: &'a [f64],
    target: f64,
}

fn per_stretch(of: &Measured<'_>, measure: fn(&Stretch<'_>) -> Option<f64>) -> Metric {
    let Some(target) = of.target else { return Metric::Absent };
    let time = &of.series.time_s;
    let index = |seconds: f64| time.partition_point(|end| *end <= seconds);
    let ends = of.stretches[1..].iter().map(|start| index(*start)).chain([time.len()]);
    let values = of.stretches.iter().zip(ends).map(|(start, end)| {
        let range = index(*start)..end;
        let queue = &of.series.queue_packets[range.clone()];
        measure(&Stretch { start_s: *start, time_s: &time[range], queue, target })
    });
    Metric::List(values.collect())
}

/// How long until the backlog, averaged over `SMOOTHING_S`, stays within the band about the target.
fn settling(stretch: &Stretch<'_>) -> Option<f64> {
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

/// How far above the target the backlog gets, packets: of the means over a step of the series.
fn overshoot(stretch: &Stretch<'_>) -> Option<f64> {
    let highest = stretch.queue.iter().copied().reduce(f64::max)?;
    Some((highest - stretch.target).max(0.0))
}

fn in_seconds(nanos: f64) -> f64 {
    nanos * 1e-9
}

fn ratio(part: f64, whole: u64) -> f64 {
    if whole > 0 { part / whole as f64 } else { f64::NAN }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Settled means within this share of the target ...
const SETTLED_SHARE: f64 = 0.1;
/// ... or within so many packets, where that is more,
const SETTLED_PACKETS: f64 = 5.0;
/// averaged over so many seconds.
const SMOOTHING_S: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probe;
    use crate::recorder;
    use sojourn_aqm::Backlog;
    use sojourn_units::Time;

    /// A backlog of 0, 10 and 40 packets for 1, 1 and 2 s after a second of warm-up, by hand.
    #[test]
    fn moments_are_weighted_by_time_and_leave_the_warm_up_out() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let backlog = |packets| Backlog { packets, bytes: 0 };
        let measured = recorder::Measured { from: at(1000), until: at(5000) };
        let mut recorder = Recorder::new(0, 1, measured, Span::from_millis(100));
        for (millis, bytes) in [(900, 7), (2000, 400_000), (5000, 100_000), (5001, 7)] {
            recorder.received(at(millis), 0, bytes);
        }
        recorder.backlog(at(500), 0, backlog(90));
        recorder.backlog(at(1000), 0, backlog(0));
        recorder.backlog(at(2000), 0, backlog(10));
        recorder.backlog(at(3000), 0, backlog(40));
        recorder.end_step(at(5000));
        let series = Series::default();
        let metrics = metrics(&Measured {
            recorder: &recorder,
            series: &series,
            span: Span::from_secs(4),
            utilization: 1.0,
            target: Some(20.0),
            stretches: &[0.0],
            long_lived: &[500_000],
        });
        let number = |name| match metrics.iter().find(|(key, _)| *key == name).unwrap().1 {
            Metric::Number(value) => value,
            ref other => panic!("{name}: {other:?}"),
        };
        // Mean (0 + 10 + 2 x 40) / 4; second moment (100 + 2 x 1600) / 4 = 825; about 20: (400 + 100 + 800) / 4.
        assert_eq!(number("queue_mean_packets"), 22.5);
        assert!((number("queue_std_packets") - (825.0_f64 - 22.5 * 22.5).sqrt()).abs() < 1e-12);
        assert!((number("qacd_packets") - 325.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!((number("queue_p50_packets"), number("queue_p95_packets")), (10.0, 40.0));
        assert_eq!(number("goodput_bps"), 1e6);
    }

    #[test]
    fn jain_of_equals_is_one_and_of_one_in_n_is_a_share() {
        assert_eq!(jain_index(&[5, 5, 5, 5]), Some(1.0));
        assert_eq!(jain_index(&[9, 0, 0, 0]), Some(0.25));
        assert_eq!(jain_index(&[0, 0]), None);
    }

    #[test]
    fn settling_is_when_the_smoothed_queue_stays_in_the_band() {
        let time_s: Vec<f64> = (1..=200).map(|step| f64::from(step) * 0.1).collect();
        let queue: Vec<f64> = time_s.iter().map(|t| if *t < 5.05 { 200.0 } else { 101.0 }).collect();
        let stretch = Stretch { start_s: 0.0, time_s: &time_s, queue: &queue, target: 100.0 };
        // One step of 200 in a window of ten is a mean of 110.9, outside; none is inside.
        assert!((settling(&stretch).unwrap() - 6.0).abs() < 0.11, "{:?}", settling(&stretch));
        assert_eq!(overshoot(&stretch), Some(100.0));
        let never = Stretch { target: 300.0, ..stretch };
        assert_eq!(settling(&never), None);
    }
}
