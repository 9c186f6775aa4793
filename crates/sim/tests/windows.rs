//! Metrics of windows of time against a second computation of them, from a log of every event.

use sojourn_aqm::Cause;
use sojourn_measure::{Probe, Queued, Reading, RoundTrip, WindowRow};
use sojourn_scenario::Scenario;
use sojourn_sim::{Run, Simulation, topology};
use sojourn_units::{Span, Time, math};
use std::collections::{BTreeMap, BTreeSet};

const SCENARIO: &str = r#"
title = "Flows on one link"
duration = "12 s"
warmup = "4 s"
windows = ["3.3 s..7.7 s", "phases", "every 2.5 s", "run", "measured"]
[bottleneck]
rate = "8 Mbit/s"
delay = "10 ms"
buffer = "40 packets"
qdisc = "tail_drop"
[[flows]]
count = 6
segment = "1000 B"
access = { rate = "100 Mbit/s", delay = { spread = ["5 ms", "25 ms"] } }
[[flows]]
app = { cbr = { rate = "300 kbit/s" } }
access = { rate = "100 Mbit/s", delay = "5 ms" }
[[at]]
time = "6 s"
set = { "bottleneck.rate" = "5 Mbit/s" }
"#;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Seen {
    Offered,
    Delivered(Span),
    Refused,
    Dropped,
    Marked,
}

/// Every event at the first link, and those of flows.
#[derive(Default)]
struct Log {
    link: Vec<(Time, u32, Seen)>,
    is_refused: bool,
    received: Vec<(Time, u32, u64)>,
    rtts: Vec<(Time, u32, RoundTrip)>,
    sent: Vec<(Time, u32)>,
    delays: Vec<(Time, u32, Span)>,
}

impl Log {
    /// The bottleneck is the first link.
    fn see(&mut self, now: Time, link: u32, flow: u32, seen: Seen) {
        if link == 0 {
            self.link.push((now, flow, seen));
        }
    }
}

impl Probe for Log {
    fn offered(&mut self, now: Time, link: u32, packet: Queued) {
        self.see(now, link, packet.flow, Seen::Offered);
    }
    fn delivered(&mut self, now: Time, link: u32, packet: Queued, sojourn: Span) {
        self.see(now, link, packet.flow, Seen::Delivered(sojourn));
    }
    fn refused(&mut self, _now: Time, _link: u32) {
        self.is_refused = true;
    }
    fn dropped(&mut self, now: Time, link: u32, packet: Queued, _cause: Cause) {
        let is_refused = std::mem::take(&mut self.is_refused);
        self.see(now, link, packet.flow, if is_refused { Seen::Refused } else { Seen::Dropped });
    }
    fn marked(&mut self, now: Time, link: u32, packet: Queued) {
        self.see(now, link, packet.flow, Seen::Marked);
    }
    fn received(&mut self, at: Time, flow: u32, bytes: u64) {
        self.received.push((at, flow, bytes));
    }
    fn round_trip(&mut self, at: Time, flow: u32, measured: RoundTrip) {
        self.rtts.push((at, flow, measured));
    }
    fn sent(&mut self, at: Time, flow: u32) {
        self.sent.push((at, flow));
    }
    fn datagram(&mut self, at: Time, flow: u32, delay: Span) {
        self.delays.push((at, flow, delay));
    }
}

fn scenario(qdisc: &str) -> Scenario {
    let overrides = [("bottleneck.qdisc".to_string(), format!("{qdisc:?}"))];
    Scenario::parse(SCENARIO.as_bytes(), "test", &overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

fn number(row: &WindowRow, name: &str) -> Option<f64> {
    match row.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => Some(*value),
        None => None,
        other => panic!("{name} is {other:?}"),
    }
}

/// Fates of each flow's packets in the order in which it sent them: the time of each, true for a loss.
fn fates(log: &Log) -> BTreeMap<u32, Vec<(Time, bool)>> {
    let mut packets: BTreeMap<u32, Vec<Option<(Time, bool)>>> = BTreeMap::new();
    for (at, flow, seen) in &log.link {
        let of = packets.entry(*flow).or_default();
        let oldest = of.iter().position(Option::is_none);
        match seen {
            Seen::Offered => of.push(None),
            Seen::Delivered(_) => of[oldest.unwrap()] = Some((*at, false)),
            Seen::Refused => *of.last_mut().unwrap() = Some((*at, true)),
            Seen::Dropped => of[oldest.unwrap()] = Some((*at, true)),
            Seen::Marked => {}
        }
    }
    packets.into_iter().map(|(flow, fates)| (flow, fates.into_iter().flatten().collect())).collect()
}

/// Lengths of the runs of losses that end with a delivery: its time, the flow, the length.
fn runs(log: &Log) -> Vec<(Time, u32, u64)> {
    let mut runs = Vec::new();
    for (flow, fates) in fates(log) {
        let mut lost = 0;
        for (at, is_lost) in fates {
            if is_lost {
                lost += 1;
            } else if lost > 0 {
                runs.push((at, flow, std::mem::take(&mut lost)));
            }
        }
    }
    runs
}

/// Ends of loss events, and the share of their flows that lost a packet.
fn loss_events(log: &Log, length: Span) -> Vec<(Time, f64)> {
    let (mut events, mut place) = (Vec::new(), 0);
    while let Some(first) =
        log.link[place..].iter().position(|(.., seen)| matches!(seen, Seen::Refused | Seen::Dropped))
    {
        let (start, until) = (place + first, log.link[place + first].0 + length);
        let within: Vec<_> = log.link[start..].iter().take_while(|(at, ..)| *at < until).collect();
        place = start + within.len();
        let flows = |wanted: &dyn Fn(Seen) -> bool| {
            within
                .iter()
                .filter(|(.., seen)| wanted(*seen))
                .map(|(_, flow, _)| *flow)
                .collect::<BTreeSet<u32>>()
        };
        let is_lost = |seen| matches!(seen, Seen::Refused | Seen::Dropped);
        let seen = flows(&|seen| is_lost(seen) || seen == Seen::Offered);
        events.push((until, flows(&is_lost).len() as f64 / seen.len() as f64));
    }
    events
}

fn close(found: Option<f64>, expected: f64, share: f64, name: &str) {
    let found = found.unwrap_or_else(|| panic!("{name} is missing, expected {expected}"));
    assert!(
        (found - expected).abs() <= share * expected.abs() + 1e-12,
        "{name}: {found}, expected {expected}"
    );
}

/// Drops on arrival, on departure, and by a law with marks; then queues of flows.
#[test]
fn a_window_has_what_a_log_of_its_events_has() {
    for qdisc in ["tail_drop", "codel", "red", "fq_codel"] {
        let scenario = scenario(qdisc);
        let mut simulation = Simulation::new(topology::network(&scenario, 7), 7, Log::default());
        simulation.advance(Time::ZERO + scenario.duration);
        let log = std::mem::take(simulation.probe());
        let mut run = Run::new(&scenario, 7);
        while run.advance() {}
        let (_, rows) = run.finish_with_windows();
        assert_eq!(
            rows.iter().filter(|row| row.class.is_none() && row.queue.is_none()).count(),
            1 + 2 + 5 + 2
        );
        let end = scenario.duration.seconds();
        for row in rows.iter().filter(|row| row.queue.is_none()) {
            // A window contains its start, and its end where the run ends there.
            let is_in = |at: Time| {
                at.seconds() >= row.from_s
                    && (at.seconds() < row.until_s || row.until_s == end && at.seconds() <= end)
            };
            let is_of = |flow: u32| row.class.as_deref().is_none_or(|class| (class == "cbr") == (flow == 6));
            judge(row, &log, &scenario, &is_in, &is_of);
        }
    }
}

fn judge(
    row: &WindowRow,
    log: &Log,
    scenario: &Scenario,
    is_in: &dyn Fn(Time) -> bool,
    is_of: &dyn Fn(u32) -> bool,
) {
    let events: Vec<_> = log.link.iter().filter(|(_, flow, _)| is_of(*flow)).collect();
    let count = |wanted: &dyn Fn(Seen) -> bool| {
        events.iter().filter(|(at, _, seen)| is_in(*at) && wanted(*seen)).count() as f64
    };
    let (offered, marked) = (count(&|seen| seen == Seen::Offered), count(&|seen| seen == Seen::Marked));
    let dropped = count(&|seen| matches!(seen, Seen::Refused | Seen::Dropped));
    assert_eq!(number(row, "offered_packets"), Some(offered));
    assert_eq!(number(row, "dropped_packets"), Some(dropped));
    assert_eq!(number(row, "drop_ratio"), Some(dropped / offered));
    assert_eq!(number(row, "mark_ratio"), Some(marked / offered));
    // The backlog, integrated over the window.
    let (mut held, mut since, mut integral) = (0.0, 0.0, 0.0);
    let span = |from: f64, until: f64| (until.min(row.until_s) - from.max(row.from_s)).max(0.0);
    for (at, _, seen) in &events {
        integral += held * span(since, at.seconds());
        since = at.seconds();
        held += match seen {
            Seen::Offered => 1.0,
            Seen::Marked => 0.0,
            _ => -1.0,
        };
    }
    integral += held * span(since, row.until_s);
    let length = row.until_s - row.from_s;
    close(number(row, "queue_mean_packets"), integral / length, 1e-9, "queue_mean_packets");
    let mut sojourns: Vec<f64> = Vec::new();
    for (at, _, seen) in &events {
        if let Seen::Delivered(sojourn) = seen
            && is_in(*at)
        {
            sojourns.push(sojourn.seconds());
        }
    }
    sojourns.sort_by(f64::total_cmp);
    let quantile = |share: f64| sojourns[((share * sojourns.len() as f64).ceil() as usize).max(1) - 1];
    close(
        number(row, "sojourn_mean_s"),
        sojourns.iter().sum::<f64>() / sojourns.len() as f64,
        1e-9,
        "sojourn_mean_s",
    );
    for (name, share) in [("sojourn_p25_s", 0.25), ("sojourn_p75_s", 0.75), ("sojourn_p99_s", 0.99)] {
        close(number(row, name), quantile(share), 1.0 / 128.0, name);
    }
    // RFC 5481, section 4.2; both times are of buckets.
    let (found, expected) = (number(row, "pdv_p95_s").unwrap(), quantile(0.95) - sojourns[0]);
    assert!((found - expected).abs() <= quantile(0.95) / 64.0, "pdv: {found}, expected {expected}");
    let bytes: u64 =
        log.received.iter().filter(|(at, flow, _)| is_in(*at) && is_of(*flow)).map(|(.., bytes)| bytes).sum();
    close(number(row, "goodput_bps"), bytes as f64 * 8.0 / length, 1e-12, "goodput_bps");
    let rtts = log.rtts.iter().filter(|(at, flow, _)| is_in(*at) && is_of(*flow));
    let mut rtts: Vec<(f64, u32)> = rtts.map(|(.., of)| (of.path.seconds(), of.packets)).collect();
    rtts.sort_by(|one, other| one.0.total_cmp(&other.0));
    if rtts.is_empty() {
        assert_eq!(number(row, "rtt_mean_s"), None);
    } else {
        let weight: u32 = rtts.iter().map(|(_, packets)| packets).sum();
        let sum = |of: &dyn Fn(f64) -> f64| {
            rtts.iter().map(|(time, packets)| of(*time) * f64::from(*packets)).sum::<f64>()
        };
        close(number(row, "rtt_mean_s"), sum(&|time| time) / f64::from(weight), 1e-9, "rtt_mean_s");
        close(
            number(row, "rtt_geomean_s"),
            math::exp(sum(&math::ln) / f64::from(weight)),
            1e-8,
            "rtt_geomean_s",
        );
        close(number(row, "rtt_min_s"), rtts[0].0, 1e-12, "rtt_min_s");
        close(number(row, "rtt_max_s"), rtts[rtts.len() - 1].0, 1e-12, "rtt_max_s");
        let mut below = 0;
        let median = rtts.iter().find(|(_, packets)| {
            below += packets;
            f64::from(below) >= 0.5 * f64::from(weight)
        });
        close(number(row, "rtt_p50_s"), median.unwrap().0, 1.0 / 128.0, "rtt_p50_s");
    }
    judge_losses(row, log, scenario, (is_in, is_of));
    judge_datagrams(row, log, (is_in, is_of));
}

/// Events of a window, and flows of a row.
type Chosen<'a> = (&'a dyn Fn(Time) -> bool, &'a dyn Fn(u32) -> bool);

fn judge_losses(row: &WindowRow, log: &Log, scenario: &Scenario, (is_in, is_of): Chosen<'_>) {
    let runs: Vec<u64> = runs(log)
        .into_iter()
        .filter(|(at, flow, _)| is_in(*at) && is_of(*flow))
        .map(|(.., run)| run)
        .collect();
    if runs.is_empty() {
        assert_eq!(number(row, "loss_run_mean_packets"), None);
    } else {
        let mean = runs.iter().sum::<u64>() as f64 / runs.len() as f64;
        close(number(row, "loss_run_mean_packets"), mean, 1e-12, "loss_run_mean_packets");
        assert_eq!(number(row, "loss_run_max_packets"), runs.iter().max().map(|run| *run as f64));
    }
    if row.class.is_none() {
        let length = scenario.context(0).base_rtt.unwrap();
        let found: Vec<f64> = loss_events(log, length)
            .into_iter()
            .filter(|(at, _)| at.seconds() > row.from_s && at.seconds() <= row.until_s)
            .map(|(_, share)| share)
            .collect();
        assert_eq!(number(row, "loss_events"), Some(found.len() as f64));
        if !found.is_empty() {
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            close(number(row, "loss_sync_ratio"), mean, 1e-12, "loss_sync_ratio");
        }
    }
}

/// Inter-packet delay variation: of datagrams in a row that both came.
fn judge_datagrams(row: &WindowRow, log: &Log, (is_in, is_of): Chosen<'_>) {
    let left: Vec<Time> = log.sent.iter().filter(|(_, flow)| is_of(*flow)).map(|(at, _)| *at).collect();
    let came: BTreeMap<Time, (Time, Span)> = log
        .delays
        .iter()
        .filter(|(_, flow, _)| is_of(*flow))
        .map(|(at, _, delay)| (Time::from_nanos(at.nanos() - delay.nanos()), (*at, *delay)))
        .collect();
    let pairs = left.windows(2).filter_map(|pair| Some((came.get(&pair[0])?, came.get(&pair[1])?)));
    let differences: Vec<f64> = pairs
        .filter(|(_, (at, _))| is_in(*at))
        .map(|((_, one), (_, other))| (one.seconds() - other.seconds()).abs())
        .collect();
    if differences.is_empty() {
        assert_eq!(number(row, "one_way_ipdv_mean_s"), None);
    } else {
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        close(number(row, "one_way_ipdv_mean_s"), mean, 1e-9, "one_way_ipdv_mean_s");
    }
}

/// The same run with windows and without: all else is the same, and the window after the warm-up has the run's metrics.
#[test]
fn windows_change_nothing_else() {
    for qdisc in ["red", "fq_codel"] {
        let with = scenario(qdisc);
        let without = Scenario { windows: Vec::new(), ..with.clone() };
        let run = |scenario: &Scenario| {
            let mut run = Run::new(scenario, 3);
            while run.advance_some(1000) {}
            run.finish_with_windows()
        };
        let ((one, rows), (other, none)) = (run(&with), run(&without));
        assert!(none.is_empty());
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
        let measured = |class: Option<&str>, queue: Option<&str>| {
            rows.iter()
                .find(|row| row.entry == 4 && (row.class.as_deref(), row.queue.as_deref()) == (class, queue))
                .unwrap_or_else(|| panic!("{class:?}, {queue:?}"))
        };
        let link = &one.links[0];
        let classes = link.classes.iter().map(|(class, row)| (measured(Some(class), None), &row.metrics));
        let queues = link.queues.iter().map(|of| (measured(None, Some(&of.name)), &of.row.metrics));
        let all = std::iter::once((measured(None, None), &link.all.metrics));
        for (window, metrics) in all.chain(classes).chain(queues) {
            for (name, reading) in metrics {
                let found = window.metrics.iter().find(|(key, _)| key == name).map(|(_, found)| found);
                match reading {
                    Reading::Absent => assert_eq!(found, None, "{name}"),
                    // From the start of the window, not from that of the run.
                    Reading::List(_) => {}
                    Reading::Number(_) => assert_eq!(found, Some(reading), "{name}"),
                }
            }
        }
    }
}
