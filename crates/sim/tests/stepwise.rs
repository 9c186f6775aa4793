//! What is computed without events is to the bit what it is with an event for
//! every arrival at every link.

use sojourn_aqm::{Backlog, Cause};
use sojourn_scenario::Scenario;
use sojourn_sim::{Probe, Simulation, Window, dumbbell};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

/// Everything that a probe is told: by link, and by flow.
#[derive(Debug, Default, PartialEq)]
struct Log {
    links: BTreeMap<u32, Vec<(Time, Happened)>>,
    received: BTreeMap<u32, Vec<(Time, u64)>>,
    rtts: Vec<(Time, Span)>,
    windows: BTreeMap<u32, Vec<(Time, Option<Window>)>>,
}

#[derive(Debug, PartialEq)]
enum Happened {
    Held(Backlog),
    Offered,
    Delivered(Span),
    Dropped(Cause),
    Marked,
}

impl Log {
    fn add(&mut self, now: Time, link: u32, what: Happened) {
        self.links.entry(link).or_default().push((now, what));
    }
}

impl Probe for Log {
    fn backlog(&mut self, now: Time, link: u32, backlog: Backlog) {
        self.add(now, link, Happened::Held(backlog));
    }
    fn offered(&mut self, now: Time, link: u32) {
        self.add(now, link, Happened::Offered);
    }
    fn delivered(&mut self, now: Time, link: u32, sojourn: Span) {
        self.add(now, link, Happened::Delivered(sojourn));
    }
    fn dropped(&mut self, now: Time, link: u32, cause: Cause) {
        self.add(now, link, Happened::Dropped(cause));
    }
    fn marked(&mut self, now: Time, link: u32) {
        self.add(now, link, Happened::Marked);
    }
    fn received(&mut self, at: Time, flow: u32, bytes: u64) {
        self.received.entry(flow).or_default().push((at, bytes));
    }
    fn rtt(&mut self, at: Time, rtt: Span) {
        self.rtts.push((at, rtt));
    }
    fn window(&mut self, at: Time, flow: u32, window: Window) {
        self.windows.entry(flow).or_default().push((at, Some(window)));
    }
    fn stopped(&mut self, at: Time, flow: u32) {
        self.windows.entry(flow).or_default().push((at, None));
    }
}

const END: Time = Time::from_nanos(8_000_000_000);

fn log(scenario: &Scenario, stepwise: bool) -> (Log, u64) {
    let network = dumbbell::network(scenario, 3).unwrap();
    let build = if stepwise { Simulation::stepwise } else { Simulation::new };
    let mut simulation = build(network, 3, Log::default());
    // Looking up in between changes nothing.
    while !simulation.advance_some(END, 1000) {}
    simulation.assert_conservation();
    let events = simulation.counts().events;
    let mut log = std::mem::take(simulation.probe());
    log.in_time();
    (log, events)
}

impl Log {
    /// Leaves out what was told ahead of the end, and puts what concerns several flows in order.
    fn in_time(&mut self) {
        self.received.values_mut().for_each(|told| told.retain(|(at, _)| *at <= END));
        self.windows.values_mut().for_each(|told| told.retain(|(at, _)| *at <= END));
        self.rtts.retain(|(at, _)| *at <= END);
        self.rtts.sort();
    }
}

const SCENARIO: &str = r#"
title = "Two classes"
duration = "8 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "60 packets"
disc = { law = "red" }
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
        &[("bottleneck.disc", "tail_drop")],
        &[("bottleneck.disc", "pi:target=20packets")],
        // Many events at the same instants.
        &[("flows.0.start", "0 s"), ("flows.1.start", "0 s"), ("flows.0.access.delay", "20 ms")],
        &[("bottleneck.delay", "0 s")],
        &[("bottleneck.buffer", "3 packets"), ("bottleneck.disc", "tail_drop")],
        &[("flows.1.count", "1"), ("flows.0.count", "1")],
    ];
    for overrides in cases {
        let owned: Vec<(String, String)> =
            overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let scenario =
            Scenario::parse(SCENARIO.as_bytes(), "test", &owned).unwrap_or_else(|faults| panic!("{faults}"));
        let ((direct, few), (stepwise, many)) = (log(&scenario, false), log(&scenario, true));
        assert!(direct.received.values().flatten().count() > 2000, "{overrides:?}: too little happened");
        assert!(few < many, "{overrides:?}: {few} events, {many} with all");
        assert!(direct == stepwise, "{overrides:?}: {}", first_difference(&direct, &stepwise));
    }
}

fn first_difference(one: &Log, other: &Log) -> String {
    for (link, happened) in &one.links {
        let others = &other.links[link];
        if let Some(at) = (0..happened.len()).find(|at| happened.get(*at) != others.get(*at)) {
            return format!("link {link}, entry {at}: {:?} and {:?}", happened[at], others.get(at));
        }
    }
    for (flow, received) in &one.received {
        if Some(received) != other.received.get(flow) {
            return format!("flow {flow} received other bytes, or at other times");
        }
    }
    if one.windows == other.windows { "the round-trip times" } else { "the windows" }.into()
}
