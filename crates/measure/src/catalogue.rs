//! The catalogue of metrics.

/// Definition of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Its name in results.
    pub name: &'static str,
    /// Its unit; `"1"` where it has none.
    pub unit: &'static str,
    /// Its subject.
    pub scope: Scope,
    /// Its meaning.
    pub about: &'static str,
    /// The fluid plant measures it too.
    pub is_of_fluids: bool,
    /// Its value is a list with an entry for the start and for each change of the schedule.
    pub is_per_stretch: bool,
    /// Results of earlier versions may lack it.
    pub is_later: bool,
    /// Its column in tables, where it has one.
    pub display: Option<Display>,
}

/// The subject of a metric, which decides in which rows it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A link and its qdisc: in the row of the link alone.
    Link,
    /// Packets at a link: in the rows of the link and of its classes.
    Packets,
    /// Flows from end to end: in all rows, the same at every link.
    Flows,
}

/// A column of tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Display {
    /// Its head.
    pub label: &'static str,
    /// Displayed unit; empty: none.
    pub unit: &'static str,
    /// Factor from the metric's unit to this one.
    pub scale: f64,
    /// Bounds in this unit; infinite: unbounded.
    pub bounds: [f64; 2],
}

/// All metrics, in the order of results. They are measured after the warm-up unless stated otherwise; one that does not
/// apply is null.
pub const METRICS: &[Metric] = &[
    metric("utilization", "1", Scope::Link, "bits delivered by the bottleneck over rate x time")
        .of_fluids()
        .shown("utilisation", "%", 100.0)
        .between(0.0, 100.0),
    metric(
        "queue_mean_packets",
        "packets",
        Scope::Packets,
        "time-weighted mean backlog of the qdisc, the packet on the wire left out",
    )
    .of_fluids()
    .shown("queue mean", "packets", 1.0),
    metric("queue_std_packets", "packets", Scope::Link, "time-weighted standard deviation of the backlog")
        .of_fluids()
        .shown("queue sd", "packets", 1.0),
    metric("queue_p50_packets", "packets", Scope::Link, "time-weighted median of the backlog").of_fluids(),
    metric("queue_p95_packets", "packets", Scope::Link, "backlog that is not exceeded 95 % of the time")
        .of_fluids(),
    metric("queue_p99_packets", "packets", Scope::Link, "backlog that is not exceeded 99 % of the time")
        .of_fluids(),
    metric("queue_empty_ratio", "1", Scope::Link, "share of the time in which no packet waits in the qdisc"),
    metric("sojourn_mean_s", "s", Scope::Packets, "mean time spent in the qdisc, over delivered packets")
        .of_fluids()
        .shown("sojourn mean", "ms", 1000.0),
    metric("sojourn_p50_s", "s", Scope::Packets, "median time spent in the qdisc").of_fluids(),
    metric("sojourn_p95_s", "s", Scope::Packets, "time in the qdisc that 95 % of the packets do not exceed")
        .of_fluids()
        .shown("sojourn p95", "ms", 1000.0),
    metric("sojourn_p99_s", "s", Scope::Packets, "time in the qdisc that 99 % of the packets do not exceed")
        .of_fluids(),
    metric(
        "rtt_mean_s",
        "s",
        Scope::Flows,
        "mean round-trip time of the path, over packets; waits for an ACK left out",
    )
    .of_fluids(),
    metric("rtt_p50_s", "s", Scope::Flows, "median round-trip time of the path").of_fluids(),
    metric(
        "rtt_p95_s",
        "s",
        Scope::Flows,
        "round-trip time of the path that 95 % of the packets do not exceed",
    )
    .of_fluids()
    .shown("round trip p95", "ms", 1000.0),
    metric(
        "rtt_p99_s",
        "s",
        Scope::Flows,
        "round-trip time of the path that 99 % of the packets do not exceed",
    )
    .of_fluids()
    .later(),
    metric(
        "rtt_p999_s",
        "s",
        Scope::Flows,
        "round-trip time of the path that 99.9 % of the packets do not exceed",
    )
    .of_fluids()
    .later(),
    metric(
        "rtt_max_s",
        "s",
        Scope::Flows,
        "longest round-trip time of the path among the packets that are timed, one in seven",
    )
    .of_fluids(),
    metric(
        "srtt_mean_s",
        "s",
        Scope::Flows,
        "mean of the senders' own estimates of the round-trip time (SRTT), over packets",
    ),
    metric("srtt_p50_s", "s", Scope::Flows, "median of the senders' own estimates"),
    metric("srtt_p95_s", "s", Scope::Flows, "estimate that 95 % of the senders' own do not exceed"),
    metric("srtt_max_s", "s", Scope::Flows, "longest of the senders' own estimates"),
    metric(
        "drop_ratio",
        "1",
        Scope::Packets,
        "packets dropped by the law and by overflow, over packets offered, both after the warm-up: packets held since before \
         it count when they are dropped, so that a queue that starves may exceed 1",
    )
    .of_fluids()
    .shown("drops", "%", 100.0),
    metric(
        "overflow_ratio",
        "1",
        Scope::Packets,
        "packets dropped because the buffer was full, over packets offered, as in drop_ratio",
    )
    .of_fluids(),
    metric("filtered_ratio", "1", Scope::Packets, "ACKs removed by a filter of ACKs, over packets offered")
        .later(),
    metric("mark_ratio", "1", Scope::Packets, "packets marked over packets offered")
        .of_fluids()
        .shown("marks", "%", 100.0)
        .between(0.0, 100.0),
    metric("goodput_bps", "bit/s", Scope::Flows, "application data delivered, all flows together")
        .of_fluids()
        .shown("goodput", "Mbit/s", 1e-6),
    metric("jain_index", "1", Scope::Flows, "Jain's fairness index of the long-lived flows' goodput")
        .of_fluids()
        .shown("Jain index", "", 1.0)
        .between(0.0, 1.0),
    metric(
        "qacd_packets",
        "packets",
        Scope::Link,
        "root of the mean squared deviation of the backlog from the law's target",
    )
    .of_fluids(),
    metric(
        "settling_s",
        "s",
        Scope::Link,
        "time until the backlog stays near its target, from the start and from each of the first 100 changes: a list",
    )
    .of_fluids()
    .per_stretch(),
    metric(
        "overshoot_packets",
        "packets",
        Scope::Link,
        "how far the backlog rose above its target, from the start and from each of the first 100 changes: a list",
    )
    .of_fluids()
    .per_stretch(),
    metric("fct_mean_s", "s", Scope::Flows, "mean completion time of the flows that end by themselves")
        .shown("completion mean", "s", 1.0),
    metric("fct_geomean_s", "s", Scope::Flows, "geometric mean of the completion times of those flows").later(),
    metric("fct_p50_s", "s", Scope::Flows, "median completion time of those flows"),
    metric("fct_p95_s", "s", Scope::Flows, "completion time that 95 % of those flows do not exceed")
        .shown("completion p95", "s", 1.0),
    metric("bottleneck_packets", "packets", Scope::Packets, "packets that the link delivered").of_fluids(),
    metric(
        "wire_loss_ratio",
        "1",
        Scope::Packets,
        "packets lost on the wire, over packets that the link delivered to it",
    )
    .later()
    .shown("lost on the wire", "%", 100.0)
    .between(0.0, 100.0),
    metric(
        "one_way_p50_s",
        "s",
        Scope::Flows,
        "median time that datagrams were under way, from sender to receiver",
    ),
    metric("one_way_p95_s", "s", Scope::Flows, "time under way that 95 % of the datagrams do not exceed")
        .shown("one way p95", "ms", 1000.0),
    metric("one_way_p99_s", "s", Scope::Flows, "time under way that 99 % of the datagrams do not exceed")
        .later(),
    metric("one_way_p999_s", "s", Scope::Flows, "time under way that 99.9 % of the datagrams do not exceed")
        .later(),
    metric(
        "datagram_loss_ratio",
        "1",
        Scope::Flows,
        "datagrams that did not arrive within a second (those of ping: did not come back), over datagrams sent",
    )
    .later()
    .shown("datagrams lost", "%", 100.0)
    .between(0.0, 100.0),
    metric(
        "r_factor",
        "1",
        Scope::Flows,
        "R-factor of voip calls (E-model, ITU-T G.107): very good above 90, bad below 60",
    )
    .later()
    .shown("R-factor", "", 1.0)
    .between(f64::NEG_INFINITY, 100.0),
    metric(
        "qoo",
        "1",
        Scope::Flows,
        "Quality of Outcome (draft-ietf-ippm-qoo) for the requirements of the class's application: 0 unacceptable, 100 optimal; \
         of one class alone",
    )
    .later()
    .shown("QoO", "", 1.0)
    .between(0.0, 100.0),
    metric(
        "ping_rpm",
        "RPM",
        Scope::Flows,
        "ping-RPM: 60 s over the mean round-trip time of pings; not the responsiveness of a test, which has probes of its own",
    )
    .later()
    .shown("ping-RPM", "", 1.0),
    metric(
        "rtt_idle_s",
        "s",
        Scope::Flows,
        "round-trip time of pings without queues: propagation and transmission; null for several classes together and where a link \
         has a schedule, jitter, reordering or changes of its rate or delay",
    )
    .later(),
    metric(
        "responsiveness_rpm",
        "RPM",
        Scope::Flows,
        "responsiveness (draft-ietf-ippm-responsiveness-09), round trips a minute: mean of foreign_rpm and loaded_rpm",
    )
    .later()
    .shown("RPM", "", 1.0),
    metric(
        "foreign_rpm",
        "RPM",
        Scope::Flows,
        "foreign responsiveness: 60 s over the mean of tcp_f_s, tls_f_s and http_f_s",
    )
    .later()
    .shown("RPM foreign", "", 1.0),
    metric("loaded_rpm", "RPM", Scope::Flows, "loaded responsiveness: 60 s over http_l_s")
        .later()
        .shown("RPM loaded", "", 1.0),
    metric(
        "tcp_f_s",
        "s",
        Scope::Flows,
        "TM(tcp_f): trimmed mean of the handshakes of foreign probes, without the longest 5 %, as those below",
    )
    .later(),
    metric("tls_f_s", "s", Scope::Flows, "TM(tls_f): of a round trip of their TLS handshakes").later(),
    metric("http_f_s", "s", Scope::Flows, "TM(http_f): from their request to the whole answer").later(),
    metric("http_l_s", "s", Scope::Flows, "TM(http_l): of self probes, from request to answer").later(),
    metric(
        "stall_ratio",
        "1",
        Scope::Flows,
        "time that video players stalled, over the time that they stalled or played",
    )
    .later()
    .shown("stalls", "%", 100.0)
    .between(0.0, 100.0),
    metric(
        "completed_flows",
        "flows",
        Scope::Flows,
        "transfers that ended by themselves, those of fct_mean_s",
    )
    .later()
    .shown("completed", "flows", 1.0),
    metric(
        "rejected_flows",
        "flows",
        Scope::Flows,
        "flows rejected on arrival: the class was full",
    )
    .later()
    .shown("rejected", "flows", 1.0),
];

/// Further metrics, of windows of time alone.
pub const WINDOW_METRICS: &[Metric] = &[
    metric("queue_p05_packets", "packets", Scope::Link, "backlog that is not exceeded 5 % of the time"),
    metric("queue_p25_packets", "packets", Scope::Link, "backlog that is not exceeded 25 % of the time"),
    metric("queue_p75_packets", "packets", Scope::Link, "backlog that is not exceeded 75 % of the time"),
    metric("sojourn_p05_s", "s", Scope::Packets, "time in the qdisc that 5 % of the packets do not exceed"),
    metric("sojourn_p25_s", "s", Scope::Packets, "time in the qdisc that 25 % of the packets do not exceed"),
    metric("sojourn_p75_s", "s", Scope::Packets, "time in the qdisc that 75 % of the packets do not exceed"),
    metric(
        "pdv_p50_s",
        "s",
        Scope::Packets,
        "median packet delay variation at the link (RFC 5481, section 4.2): time in the qdisc less the least of the window",
    ),
    metric("pdv_p95_s", "s", Scope::Packets, "packet delay variation at the link that 95 % do not exceed"),
    metric("pdv_p99_s", "s", Scope::Packets, "packet delay variation at the link that 99 % do not exceed"),
    metric("offered_packets", "packets", Scope::Packets, "packets offered to the qdisc"),
    metric("dropped_packets", "packets", Scope::Packets, "packets dropped by the law and by overflow"),
    metric("marked_packets", "packets", Scope::Packets, "packets marked"),
    metric(
        "itae_packets_s2",
        "packets s^2",
        Scope::Link,
        "integral of time x absolute deviation of the backlog from its target, from the window's start and from each change \
         in it: a list",
    )
    .per_stretch(),
    metric(
        "loss_events",
        "1",
        Scope::Link,
        "loss events that end: each begins with a drop and lasts for the link's base RTT",
    ),
    metric(
        "loss_sync_ratio",
        "1",
        Scope::Link,
        "loss synchronisation: share of the flows of a loss event that lost a packet in it, mean over loss events",
    ),
    metric(
        "loss_run_mean_packets",
        "packets",
        Scope::Packets,
        "mean number of packets of a flow in a row that are dropped (a loss period of RFC 3357, at the link)",
    ),
    metric("loss_run_p95_packets", "packets", Scope::Packets, "length that 95 % of such runs do not exceed"),
    metric("loss_run_max_packets", "packets", Scope::Packets, "longest such run"),
    metric("rtt_min_s", "s", Scope::Flows, "shortest round-trip time of the path"),
    metric("rtt_p05_s", "s", Scope::Flows, "round-trip time of the path that 5 % of the packets do not exceed"),
    metric("rtt_p25_s", "s", Scope::Flows, "round-trip time of the path that 25 % of the packets do not exceed"),
    metric("rtt_p75_s", "s", Scope::Flows, "round-trip time of the path that 75 % of the packets do not exceed"),
    metric("rtt_geomean_s", "s", Scope::Flows, "geometric mean of the round-trip time of the path"),
    metric(
        "one_way_pdv_p50_s",
        "s",
        Scope::Flows,
        "median packet delay variation of datagrams (RFC 5481, section 4.2): time under way less the least of the window",
    ),
    metric("one_way_pdv_p95_s", "s", Scope::Flows, "packet delay variation that 95 % of the datagrams do not exceed"),
    metric("one_way_pdv_p99_s", "s", Scope::Flows, "packet delay variation that 99 % of the datagrams do not exceed"),
    metric(
        "one_way_ipdv_mean_s",
        "s",
        Scope::Flows,
        "mean absolute inter-packet delay variation of datagrams (RFC 5481, section 4.1), over those whose predecessor came",
    ),
    metric("one_way_ipdv_p95_s", "s", Scope::Flows, "absolute variation that 95 % of those datagrams do not exceed"),
];

/// Columns of a summary of qdiscs, in order.
pub const SUMMARY: &[&str] = &[
    "utilization",
    "queue_mean_packets",
    "queue_std_packets",
    "sojourn_mean_s",
    "sojourn_p95_s",
    "drop_ratio",
    "wire_loss_ratio",
    "mark_ratio",
    "goodput_bps",
    "jain_index",
    "fct_mean_s",
    "fct_p95_s",
    "completed_flows",
    "rejected_flows",
    "datagram_loss_ratio",
    "r_factor",
    "qoo",
    "ping_rpm",
    "responsiveness_rpm",
    "stall_ratio",
];

/// Columns of a table of classes, in order; shares of packets are of those that the class offered.
pub const CLASS_SUMMARY: &[&str] = &[
    "goodput_bps",
    "jain_index",
    "fct_mean_s",
    "fct_p95_s",
    "completed_flows",
    "rejected_flows",
    "rtt_p95_s",
    "one_way_p95_s",
    "datagram_loss_ratio",
    "r_factor",
    "qoo",
    "ping_rpm",
    "responsiveness_rpm",
    "foreign_rpm",
    "loaded_rpm",
    "stall_ratio",
    "queue_mean_packets",
    "sojourn_mean_s",
    "sojourn_p95_s",
    "drop_ratio",
    "wire_loss_ratio",
    "mark_ratio",
];

/// Metrics of a short table of classes.
pub const CLASS_BRIEF: &[&str] = &[
    "goodput_bps",
    "fct_mean_s",
    "fct_p95_s",
    "completed_flows",
    "rejected_flows",
    "rtt_p95_s",
    "one_way_p95_s",
    "datagram_loss_ratio",
    "r_factor",
    "qoo",
    "ping_rpm",
    "responsiveness_rpm",
    "foreign_rpm",
    "loaded_rpm",
    "stall_ratio",
    "sojourn_p95_s",
    "drop_ratio",
    "wire_loss_ratio",
];

/// The metric called `name`.
pub fn metric_named(name: &str) -> Option<&'static Metric> {
    METRICS.iter().chain(WINDOW_METRICS).find(|metric| metric.name == name)
}

const fn metric(name: &'static str, unit: &'static str, scope: Scope, about: &'static str) -> Metric {
    let (is_of_fluids, is_per_stretch, is_later, display) = (false, false, false, None);
    Metric { name, unit, scope, about, is_of_fluids, is_per_stretch, is_later, display }
}

impl Metric {
    const fn of_fluids(self) -> Metric {
        Metric { is_of_fluids: true, ..self }
    }

    const fn per_stretch(self) -> Metric {
        Metric { is_per_stretch: true, ..self }
    }

    const fn later(self) -> Metric {
        Metric { is_later: true, ..self }
    }

    /// With a column of values from 0 up.
    const fn shown(self, label: &'static str, unit: &'static str, scale: f64) -> Metric {
        Metric { display: Some(Display { label, unit, scale, bounds: [0.0, f64::INFINITY] }), ..self }
    }

    /// The column with other bounds.
    const fn between(self, least: f64, most: f64) -> Metric {
        let Some(display) = self.display else { panic!("it has no column") };
        Metric { display: Some(Display { bounds: [least, most], ..display }), ..self }
    }
}

/// The value of a metric in a run.
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

/// All metrics in the order of the catalogue; those that are not given do not apply.
pub(crate) fn in_order(given: &Metrics) -> Metrics {
    let value = |name| given.iter().find(|(key, _)| *key == name).map(|(_, reading)| reading.clone());
    METRICS.iter().map(|metric| (metric.name, value(metric.name).unwrap_or(Reading::Absent))).collect()
}

/// Those of the metrics that apply.
pub fn applying(metrics: impl IntoIterator<Item = (&'static str, Reading)>) -> Metrics {
    metrics.into_iter().filter(|(_, reading)| *reading != Reading::Absent && is_finite(reading)).collect()
}

fn is_finite(reading: &Reading) -> bool {
    !matches!(reading, Reading::Number(number) if !number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_in_its_unit() {
        for Metric { name, unit, .. } in METRICS.iter().chain(WINDOW_METRICS) {
            let ending = match *unit {
                "packets" => "_packets",
                "flows" => "_flows",
                "s" => "_s",
                "bit/s" => "_bps",
                "RPM" => "_rpm",
                _ => "",
            };
            assert!(name.ends_with(ending), "{name} in {unit}");
            let all = METRICS.iter().chain(WINDOW_METRICS);
            assert_eq!(all.filter(|metric| metric.name == *name).count(), 1, "{name}");
        }
        assert_eq!(metric_named("goodput_bps").map(|metric| metric.unit), Some("bit/s"));
    }

    #[test]
    fn tables_have_columns_of_metrics_that_are_shown() {
        for name in [SUMMARY, CLASS_SUMMARY, CLASS_BRIEF].concat() {
            assert!(metric_named(name).is_some_and(|metric| metric.display.is_some()), "{name}");
        }
        assert!(CLASS_BRIEF.iter().all(|name| CLASS_SUMMARY.contains(name)));
        assert!(CLASS_SUMMARY.iter().all(|name| metric_named(name).unwrap().scope != Scope::Link));
    }
}
