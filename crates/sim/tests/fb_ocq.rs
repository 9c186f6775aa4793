//! FB-OCQ where the signal of a short peak must not outlast it: two flows on a long path.

use sojourn_measure::{LinkOutcome, Reading};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;

/// A round trip of 200 ms and a buffer of one: slow start queues up to 40 targets for a second.
const LONG: &str = r#"
title = "Two flows on a long path"
duration = "60 s"
[bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
buffer = "1667 packets"
[[flows]]
count = 2
cc = "newreno"
access = { rate = "1 Gbit/s", delay = "40 ms" }
"#;

/// Its integral rises with the peak, and would need some ten seconds to fall: the queue is at most a target short.
#[test]
fn a_peak_of_slow_start_does_not_leave_the_link_idle() {
    for (flows, ecn) in [("1", "false"), ("2", "false"), ("2", "true"), ("4", "false")] {
        let busy = |qdisc| utilization(qdisc, flows, ecn);
        let [integral, counts] = [busy("fb_ocq"), busy("fb_ocq:load=virtual")];
        assert!(integral > counts - 0.03, "{flows} flows, ECN {ecn}: {integral}, counts {counts}");
    }
}

/// Mean of the first minute over eight seeds.
fn utilization(qdisc: &str, flows: &str, ecn: &str) -> f64 {
    let overrides = [("bottleneck.qdisc", qdisc), ("flows.0.count", flows), ("flows.0.ecn", ecn)];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let scenario =
        Scenario::parse(LONG.as_bytes(), "test", &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    let busy = |seed| {
        let mut run = Run::new(&scenario, seed);
        while run.advance() {}
        number(&run.finish().links.remove(0), "utilization")
    };
    (1..=8).map(busy).sum::<f64>() / 8.0
}

fn number(outcome: &LinkOutcome, name: &str) -> f64 {
    match outcome.all.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}
