//! The names and units of what runs measure, and what plants measure alike.

/// One metric of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in results.
    pub name: &'static str,
    /// Its unit; `"1"` where it has none.
    pub unit: &'static str,
    /// What it says.
    pub about: &'static str,
}

/// All metrics, in the order in which they are shown. They are measured after
/// the warm-up unless they say otherwise; one that does not apply is null.
pub const METRICS: &[Metric] = &[
    metric("utilization", "1", "bits delivered by the bottleneck over rate x time"),
    metric(
        "queue_mean_packets",
        "packets",
        "time-weighted mean backlog of the disc, the packet on the wire left out",
    ),
    metric("queue_std_packets", "packets", "time-weighted standard deviation of the backlog"),
    metric("queue_p50_packets", "packets", "time-weighted median of the backlog"),
    metric("queue_p95_packets", "packets", "backlog that is not exceeded 95 % of the time"),
    metric("queue_p99_packets", "packets", "backlog that is not exceeded 99 % of the time"),
    metric("queue_empty_ratio", "1", "share of the time in which no packet waits in the disc"),
    metric("sojourn_mean_s", "s", "mean time spent in the disc, over delivered packets"),
    metric("sojourn_p50_s", "s", "median time spent in the disc"),
    metric("sojourn_p95_s", "s", "time in the disc that 95 % of the packets do not exceed"),
    metric("sojourn_p99_s", "s", "time in the disc that 99 % of the packets do not exceed"),
    metric("rtt_mean_s", "s", "mean round-trip time of the path, over packets; waits for an ACK left out"),
    metric("rtt_p50_s", "s", "median round-trip time of the path"),
    metric("rtt_p95_s", "s", "round-trip time of the path that 95 % of the packets do not exceed"),
    metric(
        "rtt_max_s",
        "s",
        "longest round-trip time of the path among the packets that are timed, one in seven",
    ),
    metric(
        "srtt_mean_s",
        "s",
        "mean of the senders' own estimates of the round-trip time (SRTT), over packets",
    ),
    metric("srtt_p50_s", "s", "median of the senders' own estimates"),
    metric("srtt_p95_s", "s", "estimate that 95 % of the senders' own do not exceed"),
    metric("srtt_max_s", "s", "longest of the senders' own estimates"),
    metric("drop_ratio", "1", "packets dropped by the law and by overflow, over packets offered"),
    metric("overflow_ratio", "1", "packets dropped because the buffer was full, over packets offered"),
    metric("mark_ratio", "1", "packets marked over packets offered"),
    metric("goodput_bps", "bit/s", "application data delivered, all flows together"),
    metric("jain_index", "1", "Jain's fairness index of the long-lived flows' goodput"),
    metric(
        "qacd_packets",
        "packets",
        "root of the mean squared deviation of the backlog from the law's target",
    ),
    metric(
        "settling_s",
        "s",
        "time until the backlog stays near its target, from the start and from each of the first 100 changes: a list",
    ),
    metric(
        "overshoot_packets",
        "packets",
        "how far the backlog rose above its target, from the start and from each of the first 100 changes: a list",
    ),
    metric("fct_mean_s", "s", "mean completion time of the flows that end by themselves"),
    metric("fct_p50_s", "s", "median completion time of those flows"),
    metric("fct_p95_s", "s", "completion time that 95 % of those flows do not exceed"),
    metric("bottleneck_packets", "packets", "packets that the link delivered"),
    metric("wire_loss_ratio", "1", "packets lost on the wire, over packets that the link delivered to it"),
    metric("one_way_p50_s", "s", "median time that datagrams were under way, from sender to receiver"),
    metric("one_way_p95_s", "s", "time under way that 95 % of the datagrams do not exceed"),
    metric(
        "datagram_loss_ratio",
        "1",
        "datagrams that did not arrive within a second (those of ping: did not come back), over datagrams sent",
    ),
    metric("voice_rating", "1", "rating R of voip calls (ITU-T G.107): very good above 90, bad below 60"),
    metric(
        "stall_ratio",
        "1",
        "time that players of video stood still for want of data, over that and the time that they played",
    ),
    metric("completed_flows", "flows", "transfers that ended by themselves, those of fct_mean_s"),
    metric("turned_away_flows", "flows", "flows that could not begin, as there were as many as there may be"),
];

/// The metric called `name`.
pub fn metric_named(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

const fn metric(name: &'static str, unit: &'static str, about: &'static str) -> Metric {
    Metric { name, unit, about }
}

/// What a metric says of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// It does not apply.
    Absent,
    /// A number.
    Number(f64),
    /// A number after the start and after each change of the schedule; None where there is none.
    List(Vec<Option<f64>>),
}

/// Readings by the metrics' names.
pub type Metrics = Vec<(&'static str, Reading)>;

impl From<Option<f64>> for Reading {
    fn from(value: Option<f64>) -> Reading {
        value.map_or(Reading::Absent, Reading::Number)
    }
}

/// All metrics that there are; those that are not given do not apply.
pub fn in_order(given: &Metrics) -> Metrics {
    let value = |name| given.iter().find(|(key, _)| *key == name).map(|(_, reading)| reading.clone());
    METRICS.iter().map(|metric| (metric.name, value(metric.name).unwrap_or(Reading::Absent))).collect()
}

/// The backlog over time from one change of the schedule to the next, and what it was to be.
#[derive(Clone, Copy, Debug)]
pub struct Stretched<'a> {
    /// When it begins, s.
    pub start_s: f64,
    /// The ends of the steps of the series, s.
    pub time_s: &'a [f64],
    /// The mean backlog in each, packets.
    pub queue: &'a [f64],
    /// The target, packets.
    pub target: f64,
}

/// How long until the backlog, averaged over a second, stays within a tenth of the target (5 packets where that is
/// more), s.
pub fn settling(stretch: &Stretched<'_>) -> Option<f64> {
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
pub fn overshoot(stretch: &Stretched<'_>) -> Option<f64> {
    let highest = stretch.queue.iter().copied().reduce(f64::max)?;
    Some((highest - stretch.target).max(0.0))
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

    #[test]
    fn a_name_ends_in_its_unit() {
        for Metric { name, unit, .. } in METRICS {
            let ending = match *unit {
                "packets" => "_packets",
                "flows" => "_flows",
                "s" => "_s",
                "bit/s" => "_bps",
                _ => "",
            };
            assert!(name.ends_with(ending), "{name} in {unit}");
            assert_eq!(METRICS.iter().filter(|metric| metric.name == *name).count(), 1, "{name}");
        }
        assert_eq!(metric_named("goodput_bps").map(|metric| metric.unit), Some("bit/s"));
    }

    #[test]
    fn settling_is_when_the_smoothed_queue_stays_in_the_band() {
        let time_s: Vec<f64> = (1..=200).map(|step| f64::from(step) * 0.1).collect();
        let queue: Vec<f64> = time_s.iter().map(|t| if *t < 5.05 { 200.0 } else { 101.0 }).collect();
        let stretch = Stretched { start_s: 0.0, time_s: &time_s, queue: &queue, target: 100.0 };
        // One step of 200 in a window of ten is a mean of 110.9, outside; none is inside.
        assert!((settling(&stretch).unwrap() - 6.0).abs() < 0.11, "{:?}", settling(&stretch));
        assert_eq!(overshoot(&stretch), Some(100.0));
        let never = Stretched { target: 300.0, ..stretch };
        assert_eq!(settling(&never), None);
    }
}
