//! The packet plant as a whole: timing to the nanosecond, the schedule, streams, the balance of packets.

use sojourn_measure::{LinkOutcome, Reading};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

const ONE_FLOW: &str = r#"
title = "One flow"
duration = "10 s"
warmup = "2 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "20 ms"
buffer = "100 packets"
[[flows]]
segment = "1000 B"
access = { rate = "80 Mbit/s", delay = "15 ms" }
start = "0 s"
"#;

fn run(text: &str, overrides: &[(&str, &str)], seed: u64) -> LinkOutcome {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario =
        Scenario::parse(text.as_bytes(), "test", &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, seed);
    while run.advance() {}
    run.finish().links.remove(0)
}

fn number(outcome: &LinkOutcome, name: &str) -> f64 {
    match outcome.all.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}

/// The first two packets see the base round trip and the transmission times, the second one also those of the first.
#[test]
fn an_idle_network_delays_by_propagation_and_transmission() {
    let outcome =
        run(ONE_FLOW, &[("flows.0.tcp.initial_window", "2"), ("duration", "0.25 s"), ("warmup", "0 s")], 1);
    // 2 (20 + 2 x 15) ms; 1000 B at 80, 8 and 80 Mbit/s is 0.1 + 1 + 0.1 ms; the ACK's 40 B take 0.048 ms.
    let expected = 0.100 + 0.0012 + 0.000_048;
    let seen = number(&outcome, "rtt_mean_s");
    assert!((seen - expected - 0.001 / 2.0).abs() < 1e-6, "{seen} against {expected}");
    assert_eq!(number(&outcome, "drop_ratio"), 0.0);
}

/// A greedy flow with a large buffer keeps the link busy, and never above its rate. NewReno takes a round
/// trip for each loss of the first slow start, so the measurement begins after that.
#[test]
fn a_greedy_flow_fills_the_link() {
    let outcome = run(ONE_FLOW, &[("duration", "120 s"), ("warmup", "30 s")], 1);
    let utilization = number(&outcome, "utilization");
    assert!(utilization > 0.99 && utilization <= 1.0 + 1e-9, "{utilization}");
    let goodput = number(&outcome, "goodput_bps");
    assert!((goodput / (8e6 * 0.96) - 1.0).abs() < 0.02, "960 of 1000 bytes are payload: {goodput}");
    assert_eq!(number(&outcome, "jain_index"), 1.0);
    assert!(number(&outcome, "queue_p99_packets") <= 100.0);
}

/// Data in a receiver's buffer are not delivered: goodput is the bytes that the application reads, exactly.
#[test]
fn goodput_counts_bytes_read_by_the_application() {
    let goodput = |reads: &str, room: &str| {
        let slow = [("flows.0.app.bulk.reads", reads), ("flows.0.tcp.receive_window", room)];
        number(&run(ONE_FLOW, &slow, 1), "goodput_bps")
    };
    // It reads from the first data on, 0.15 s after the start, without a pause; the first two seconds are warm-up.
    for (reads, rate) in [("1 Mbit/s", 1e6), ("100 kbit/s", 1e5), ("1 kbit/s", 1e3)] {
        for room in ["4096", "64"] {
            let seen = goodput(reads, room);
            assert!((seen - rate).abs() <= 1.0, "{reads}, {room} segments: {seen}");
        }
    }
    let at_once = number(&run(ONE_FLOW, &[], 1), "goodput_bps");
    assert!((goodput("1 Gbit/s", "4096") / at_once - 1.0).abs() < 0.001);
}

/// [[at]]: the new rate holds from its instant on, for the link, the utilisation and the series.
#[test]
fn a_change_of_rate_is_a_change_of_capacity() {
    let slower =
        format!("{ONE_FLOW}\n[[at]]\ntime = \"60 s\"\nset = {{ \"bottleneck.rate\" = \"2 Mbit/s\" }}\n");
    let outcome = run(&slower, &[("duration", "90 s"), ("warmup", "30 s"), ("sample", "0.1 s")], 1);
    let utilization = number(&outcome, "utilization");
    assert!(utilization > 0.98 && utilization <= 1.0 + 1e-9, "{utilization}");
    // 30 s at 1000 and 30 s at 250 packets/s.
    let packets = number(&outcome, "bottleneck_packets");
    assert!((packets / 37_500.0 - 1.0).abs() < 0.02, "{packets}");
    let series = &outcome.series;
    let per_packet = |step: usize| series.sojourn_s[step] / series.queue_packets[step];
    assert!((per_packet(850) / per_packet(550) - 4.0).abs() < 0.8, "the same queue takes four times as long");
}

/// The packet that is being sent when the rate falls is finished at the old rate; no instant is more than busy.
#[test]
fn a_fall_of_the_rate_keeps_utilization_at_most_one() {
    for millis in 5000..5010 {
        let time =
            format!("\n[[at]]\ntime = \"{millis}.3 ms\"\nset = {{ \"bottleneck.rate\" = \"8 kbit/s\" }}\n");
        let outcome = run(&format!("{MANY}{time}"), &[("sample", "1 ms")], 1);
        let most = outcome.series.utilization.iter().copied().fold(0.0, f64::max);
        assert!(most <= 1.0 + 1e-9, "{millis}: {most}");
        assert!(number(&outcome, "utilization") <= 1.0 + 1e-12);
    }
}

/// 100 B at 640 Gbit/s take 1.25 ns: no rate is rounded to whole nanoseconds.
#[test]
fn the_fastest_link_is_no_faster_than_its_rate() {
    let rate =
        [("bottleneck.rate", "640 Gbit/s"), ("flows.0.segment", "100 B"), ("bottleneck.delay", "1 us")];
    let more = [
        ("flows.0.access", "{ rate = \"10 Tbit/s\", delay = \"0 s\" }"),
        ("duration", "2 ms"),
        ("warmup", "1 ms"),
    ];
    let outcome = run(MANY, &[&rate[..], &more[..], &[("flows.0.start", "0 s")]].concat(), 1);
    let utilization = number(&outcome, "utilization");
    assert!(utilization > 0.5 && utilization <= 1.0 + 1e-5, "{utilization}");
}

/// [[at]]: a shorter delay does not let packets overtake those on the wire.
#[test]
fn a_change_of_delay_keeps_the_order() {
    let nearer = format!("{ONE_FLOW}\n[[at]]\ntime = \"5 s\"\nset = {{ \"bottleneck.delay\" = \"1 ms\" }}\n");
    // A constant window keeps the round trip: packets that leave the wire are queued. So several sawteeth.
    let long = &[("flows.0.tcp.sack", "true"), ("duration", "60 s")];
    let (before, after) = (run(ONE_FLOW, long, 1), run(&nearer, long, 1));
    // Reordering would show as duplicate ACKs, retransmissions and thus a smaller goodput.
    assert!(number(&after, "goodput_bps") > 0.99 * number(&before, "goodput_bps"));
    assert!(number(&after, "rtt_p50_s") < number(&before, "rtt_p50_s"));
}

const MANY: &str = r#"
title = "Thirty flows"
duration = "6 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "20 ms"
buffer = "100 packets"
qdisc = { law = "red" }
[[flows]]
count = 30
ecn = true
segment = "1000 B"
access = { rate = "10 Mbit/s", delay = { spread = ["10 ms", "30 ms"] } }
"#;

#[test]
fn a_run_is_a_function_of_scenario_and_seed() {
    let text =
        |outcome: &LinkOutcome| format!("{:?}", (&outcome.all.metrics, &outcome.series, outcome.all.balance));
    let first = run(MANY, &[], 7);
    assert_eq!(text(&first), text(&run(MANY, &[], 7)));
    assert_ne!(text(&first), text(&run(MANY, &[], 8)));
}

/// Under every law: offered = delivered + dropped + held, at the bottleneck and over the whole run.
#[test]
fn every_packet_is_accounted_for() {
    for qdisc in ["tail_drop", "red", "pi:target=50packets"] {
        for cc in ["reno", "newreno"] {
            let LinkOutcome { all, series, .. } =
                run(MANY, &[("bottleneck.qdisc", qdisc), ("flows.0.cc", cc)], 3);
            let balance = all.balance.unwrap();
            let sum = |counts: &[f64]| counts.iter().sum::<f64>();
            let counted = [sum(&series.offered_packets), sum(&series.dropped_packets)];
            assert_eq!(counted, [balance.offered as f64, balance.dropped as f64], "{qdisc}, {cc}");
            assert_eq!(balance.offered, balance.delivered + balance.dropped + balance.held, "{qdisc}, {cc}");
            assert!(balance.delivered > 5000, "{qdisc}, {cc}: {balance:?}");
        }
    }
}

/// Two laws under one seed meet the same flows: until the first drop or mark the runs are the same.
#[test]
fn laws_share_their_random_numbers() {
    let (red, tail) = (
        run(MANY, &[("sample", "1 ms")], 5),
        run(MANY, &[("sample", "1 ms"), ("bottleneck.qdisc", "tail_drop")], 5),
    );
    let acts = |outcome: &LinkOutcome| {
        let series = &outcome.series;
        series.drop_ratio.iter().zip(&series.mark_ratio).position(|(drop, mark)| drop + mark > 0.0).unwrap()
    };
    let first = acts(&red).min(acts(&tail));
    assert!(first > 50);
    assert_eq!(red.series.queue_packets[..first], tail.series.queue_packets[..first]);
}

/// A target gives QACD, settling and overshoot; without one they are absent. A change adds an entry.
#[test]
fn control_metrics_follow_the_target_and_the_schedule() {
    let change = format!("{MANY}\n[[at]]\ntime = \"3 s\"\nset = {{ \"bottleneck.rate\" = \"6 Mbit/s\" }}\n");
    let outcome = run(&change, &[("bottleneck.qdisc", "pi:target=40packets")], 1);
    assert!(number(&outcome, "qacd_packets") > 0.0);
    for name in ["settling_s", "overshoot_packets"] {
        let metric = &outcome.all.metrics.iter().find(|(key, _)| *key == name).unwrap().1;
        assert!(matches!(metric, Reading::List(values) if values.len() == 2), "{name}: {metric:?}");
        let none = run(MANY, &[], 1);
        let metric = &none.all.metrics.iter().find(|(key, _)| *key == name).unwrap().1;
        assert_eq!(*metric, Reading::Absent);
    }
}

/// A flow that stops leaves the link to the others.
#[test]
fn flows_stop_at_their_stop_time() {
    let outcome = run(ONE_FLOW, &[("flows.0.stop", "4 s"), ("warmup", "5 s")], 1);
    assert_eq!(number(&outcome, "bottleneck_packets"), 0.0);
    assert_eq!(number(&outcome, "utilization"), 0.0);
}

const DATAGRAMS: &str = r#"
title = "A constant and a random stream"
duration = "200 s"
warmup = "20 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "1 ms"
[[flows]]
app = { cbr = { rate = "2.4 Mbit/s" } }
segment = "1000 B"
start = "0 s"
access = { rate = "80 Mbit/s" }
"#;

/// UDP: exactly the rate, in even steps; the payload excludes the 28 bytes of headers.
#[test]
fn a_constant_rate_is_kept_to_the_packet() {
    let outcome = run(DATAGRAMS, &[], 1);
    assert_eq!(number(&outcome, "bottleneck_packets"), 180.0 * 300.0);
    assert!((number(&outcome, "goodput_bps") / (300.0 * 972.0 * 8.0) - 1.0).abs() < 1e-4);
    assert_eq!(number(&outcome, "queue_mean_packets"), 0.0);
    let jain = &outcome.all.metrics.iter().find(|(key, _)| *key == "jain_index").unwrap().1;
    assert_eq!(*jain, Reading::Absent, "there is no long-lived TCP flow");
    let window = &outcome.series.window_packets;
    assert!(window.iter().all(|window| window.is_nan()));
}

/// M/D/1 at load 0.8 from a file: 1.6 packets wait (Pollaczek and Khinchine).
#[test]
fn waits_at_a_random_rate_match_theory() {
    let random = [("flows.0.app", "poisson:rate=6.4Mbit/s"), ("duration", "2000 s")];
    let outcome = run(DATAGRAMS, &random, 1);
    let waiting = number(&outcome, "queue_mean_packets");
    assert!((waiting / 1.6 - 1.0).abs() < 0.05, "{waiting}");
}

/// Beside TCP: the stream keeps its rate, TCP takes the rest, Jain's index is TCP's own.
#[test]
fn datagrams_do_not_respond() {
    let both = format!("{DATAGRAMS}\n[[flows]]\nsegment = \"1000 B\"\naccess = {{ delay = \"10 ms\" }}\n");
    let outcome = run(&both, &[("bottleneck.buffer", "60 packets"), ("bottleneck.qdisc", "red")], 1);
    assert!(number(&outcome, "utilization") > 0.95);
    assert_eq!(number(&outcome, "jain_index"), 1.0);
    let offered = number(&outcome, "goodput_bps");
    assert!(offered > 7e6 && offered < 8e6, "{offered}");
}
