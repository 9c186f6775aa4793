//! A computation without events equals, to the bit, that with an event for
//! every arrival at every link.

mod holds;
mod log;
mod random;

use holds::Holds;
use log::{Happened, Log};
use sojourn_scenario::Scenario;
use sojourn_sim::network::{ClassPlan, FlowPlan, LinkPlan, Network, SourcePlan};
use sojourn_sim::{Simulation, topology};
use sojourn_units::{Rate, Span, Time};
use sojourn_workload::{DatagramsPlan, Spacing};

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

/// Datagrams of 1250 B, held for 50 ms, and others that pass them, over a link that sends each in 1 ms.
fn held_and_not() -> Network {
    let rate = |mega: f64| Rate::from_bits_per_second(mega * 1e6);
    let [mut link, back] = [10.0, 100.0].map(|mega| LinkPlan::plain(rate(mega), Span::from_millis(5)));
    link.qdisc = Some(Box::new(Holds::new(Span::from_millis(50))));
    let flow = |number: u32| {
        let datagrams = DatagramsPlan::plain(&format!("udp/{number}"), 100.0, Spacing::Poisson, 1250);
        let source = SourcePlan::Datagrams(datagrams);
        FlowPlan {
            class: 0,
            user: number,
            source,
            forward: vec![0],
            reverse: vec![1],
            start: Time::ZERO,
            stop: None,
        }
    };
    let flows = vec![flow(0), flow(1)];
    Network { links: vec![link, back], classes: vec![ClassPlan::default()], flows, changes: Vec::new() }
}

/// A packet that need not wait goes at once though others wait: only those being sent are before it.
#[test]
fn an_arrival_ends_a_wait() {
    let logs = [Simulation::new, Simulation::stepwise].map(|build| {
        let mut simulation = build(held_and_not(), 3, Log::default());
        while !simulation.advance_some(END, 1000) {}
        simulation.assert_conservation();
        let mut log = std::mem::take(simulation.probe());
        log.in_time(END);
        log
    });
    assert_eq!(logs[0].first_difference(&logs[1]), None);
    let sojourns = |of: u32| {
        logs[0].links[&0].iter().filter_map(move |(_, happened)| match happened {
            Happened::Delivered(flow, sojourn) if *flow == of => Some(*sojourn),
            _ => None,
        })
    };
    assert!(sojourns(0).count() > 700 && sojourns(1).count() > 700, "too few packets");
    let (held, longest) = (sojourns(0).min().unwrap(), sojourns(1).max().unwrap());
    assert!(held >= Span::from_millis(50), "{held} after its arrival");
    assert!(longest < Span::from_millis(8), "{longest}: it has waited with those that are held");
}
