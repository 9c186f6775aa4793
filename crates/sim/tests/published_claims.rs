//! Claims of papers on their laws, tested in packet runs.

use sojourn_measure::{LinkOutcome, Reading};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// The link and the flows of experiment 1 of the ARM-PFC paper, with fewer flows.
const NOMINAL: &str = r#"
title = "Fifty flows"
duration = "200 s"
warmup = "80 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "20 ms"
buffer = "300 packets"
[[flows]]
count = 50
cc = "reno"
profile = "ns2"
ecn = true
segment = "1000 B"
access = { rate = "10 Mbit/s", delay = { spread = ["38 ms", "42 ms"] } }
"#;

/// A path that holds 787 packets, for which SRED is made.
const WIDE: &str = r#"
title = "A wide path"
duration = "80 s"
warmup = "30 s"
[bottleneck]
rate = "45 Mbit/s"
delay = "10 ms"
buffer = "600 packets"
[[flows]]
count = 20
cc = "newreno"
profile = "ns2"
tcp = { sack = true }
segment = "1000 B"
access = { rate = "100 Mbit/s", delay = { spread = ["28 ms", "32 ms"] } }
"#;

/// Kunniyur and Srikant: the load comes to gamma C, the queue is short and nothing is lost.
#[test]
fn avq_keeps_its_share_of_the_link_free() {
    for (qdisc, gamma) in [("avq", 0.98), ("avq:gamma=0.9", 0.9)] {
        let outcome = run(NOMINAL, &[("bottleneck.qdisc", qdisc)]);
        let utilization = number(&outcome, "utilization");
        assert!((utilization - gamma).abs() < 0.005, "{qdisc}: {utilization}");
        assert_eq!(number(&outcome, "drop_ratio"), 0.0, "{qdisc}");
        let queue = number(&outcome, "queue_mean_packets");
        assert!(queue < 45.0, "{qdisc}: {queue} of 300 packets");
    }
    // Without ECN the share is of packets sent by the link; the paper's code counts dropped ones as well.
    let drops = |qdisc| run(NOMINAL, &[("bottleneck.qdisc", qdisc), ("flows.0.ecn", "false")]);
    let ours = drops("avq");
    assert!((number(&ours, "utilization") - 0.98).abs() < 0.005);
    let literal = drops("avq:offered=true");
    let load = number(&literal, "utilization") / (1.0 - number(&literal, "drop_ratio"));
    assert!((load - 0.98).abs() < 0.005, "{load}");
}

/// Feng and others: with ECN hardly a packet is lost, and the link is busy.
#[test]
fn blue_marks_instead_of_losing() {
    let wider = [("bottleneck.rate", "20 Mbit/s")];
    for flows in ["60", "120"] {
        let settings =
            |qdisc| [&wider[..], &[("flows.0.count", flows), ("bottleneck.qdisc", qdisc)]].concat();
        let (blue, tail) = (run(NOMINAL, &settings("blue")), run(NOMINAL, &settings("tail_drop")));
        assert!(number(&blue, "utilization") > 0.995, "{flows}: {}", number(&blue, "utilization"));
        let [lost, anyway] = [&blue, &tail].map(|outcome| number(outcome, "drop_ratio"));
        assert!(lost < 1e-4 && anyway > 1e-3, "{flows}: {lost} {anyway}");
        let [short, long] = [&blue, &tail].map(|outcome| number(outcome, "queue_mean_packets"));
        assert!(short < 0.9 * long, "{flows}: {short} {long}");
    }
}

/// Ott, Lakshman and Wong: the backlog stays between a sixth and a third of the buffer whatever the number of
/// flows is.
#[test]
fn sred_holds_the_queue_for_few_flows_and_for_many() {
    let queue = |qdisc, flows| {
        let outcome = run(WIDE, &[("bottleneck.qdisc", qdisc), ("flows.0.count", flows)]);
        assert!(number(&outcome, "utilization") > 0.995, "{qdisc}, {flows}");
        number(&outcome, "queue_mean_packets")
    };
    let queues = ["20", "60", "200"].map(|flows| queue("sred", flows));
    assert!(queues.iter().all(|queue| (150.0..210.0).contains(queue)), "{queues:?}");
    assert!(queue("tail_drop", "200") > 2.0 * queues[2]);
}

fn run(text: &str, overrides: &[(&str, &str)]) -> LinkOutcome {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario =
        Scenario::parse(text.as_bytes(), "test", &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    run.finish().links.remove(0)
}

fn number(outcome: &LinkOutcome, name: &str) -> f64 {
    match outcome.all.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}
