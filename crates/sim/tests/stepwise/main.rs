//! A computation without events equals, to the bit, that with an event for
//! every arrival at every link.

mod log;
mod random;

use log::Log;
use sojourn_scenario::Scenario;
use sojourn_sim::{Simulation, topology};
use sojourn_units::Time;

const END: Time = Time::from_nanos(8_000_000_000);

fn log(scenario: &Scenario, stepwise: bool) -> (Log, u64) {
    let network = topology::network(scenario, 3);
    let build = if stepwise { Simulation::stepwise } else { Simulation::new };
    let mut simulation = build(network, 3, Log::default());
    // Pauses of the run change nothing.
    while !simulation.advance_some(END, 1000) {}
    simulation.assert_conservation();
    let events = simulation.counts().events;
    let mut log = std::mem::take(simulation.probe());
    log.in_time(END);
    (log, events)
}

const SCENARIO: &str = r#"
title = "Two classes"
duration = "8 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "60 packets"
qdisc = { law = "red" }
[[flows]]
count = 8
ecn = true
segment = "1000 B"
access = { rate = "10 Mbit/s", delay = { spread = ["10 ms", "30 ms"] } }
[[flows]]
count = 8
cc = "reno"
profile = "ns2"
access = { rate = "10 Mbit/s", delay = "20 ms" }
stop = "6 s"
[[at]]
time = "3 s"
set = { "bottleneck.rate" = "6 Mbit/s" }
[[at]]
time = "5 s"
set = { "bottleneck.delay" = "2 ms" }
"#;

#[test]
fn the_outcome_is_that_of_an_event_for_every_arrival() {
    let cases: &[&[(&str, &str)]] = &[
        &[],
        &[("bottleneck.qdisc", "tail_drop")],
        &[("bottleneck.qdisc", "pi:target=20packets")],
        // Many events at the same instants.
        &[("flows.0.start", "0 s"), ("flows.1.start", "0 s"), ("flows.0.access.delay", "20 ms")],
        &[("bottleneck.delay", "0 s")],
        &[("bottleneck.buffer", "3 packets"), ("bottleneck.qdisc", "tail_drop")],
        &[("flows.1.count", "1"), ("flows.0.count", "1")],
    ];
    for overrides in cases {
        let owned: Vec<(String, String)> =
            overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let scenario =
            Scenario::parse(SCENARIO.as_bytes(), "test", &owned).unwrap_or_else(|errors| panic!("{errors}"));
        let ((direct, few), (stepwise, many)) = (log(&scenario, false), log(&scenario, true));
        assert!(direct.received.values().flatten().count() > 2000, "{overrides:?}: too few packets");
        assert!(few < many, "{overrides:?}: {few} events, {many} with all");
        assert_eq!((&direct.wrong, &stepwise.wrong), (&None, &None), "{overrides:?}");
        assert_eq!(direct.first_difference(&stepwise), None, "{overrides:?}");
    }
}

/// An answer that takes longer than the retry timeout: the request is repeated, after the delayed acknowledgment of
/// earlier data.
#[test]
fn acknowledgments_precede_requests_repeated_later() {
    let far = r#"
title = "Pages by satellite"
duration = "8 s"
[[links]]
from = "server"
to = "gateway"
rate = "1 Mbit/s"
delay = "10 ms"
buffer = "60 packets"
qdisc = "tail_drop"
[[links]]
from = "gateway"
to = "home"
rate = "1 Mbit/s"
delay = "1300 ms"
back = { delay = "1 ms" }
[[flows]]
from = "server"
to = "home"
app = { web = { connections = 1, objects = 5, size = "1000 B" } }
"#;
    let scenario = Scenario::parse(far.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let ((direct, _), (stepwise, _)) = (log(&scenario, false), log(&scenario, true));
    assert!(direct.received.values().flatten().count() > 3, "too few packets");
    assert_eq!(direct.first_difference(&stepwise), None);
}
