//! Little's law, L = lambda W, for each class at each link: backlog over time, arrivals and waits are counted
//! separately.
//!
//! It holds exactly: where a queue is empty at the start and at the end, the integral of the backlog is the sum of the
//! waits, to the nanosecond.

use sojourn_measure::{Probe, Queued, Reading};
use sojourn_scenario::Scenario;
use sojourn_sim::{Run, Simulation, topology};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

/// By link and flow.
#[derive(Default)]
struct Books(BTreeMap<(u32, u32), Book>);

#[derive(Default)]
struct Book {
    held: u64,
    since: Time,
    /// Packets x ns.
    integral: u128,
    offered: u64,
    delivered: u64,
    /// Of delivered packets, ns.
    waits: u128,
}

impl Books {
    /// Brings the integral up to `now`.
    fn at(&mut self, now: Time, link: u32, flow: u32) -> &mut Book {
        let book = self.0.entry((link, flow)).or_default();
        book.integral += u128::from(book.held) * u128::from(now.since(book.since).nanos());
        book.since = now;
        book
    }
}

impl Probe for Books {
    fn offered(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued) {
        let book = self.at(now, link, flow);
        book.offered += 1;
        book.held += 1;
    }
    fn dropped(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued, _cause: sojourn_aqm::Cause) {
        // These laws drop on arrival, after no wait.
        self.at(now, link, flow).held -= 1;
    }
    fn delivered(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued, sojourn: Span) {
        let book = self.at(now, link, flow);
        book.held -= 1;
        book.delivered += 1;
        book.waits += u128::from(sojourn.nanos());
    }
}

/// Two bottlenecks one behind the other, and four classes that cross one of them or both.
const SCENARIO: &str = r#"
title = "Little"
duration = "40 s"
[[links]]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "60 packets"
qdisc = "red"
[[links]]
from = "b"
to = "c"
rate = "8 Mbit/s"
delay = "5 ms"
buffer = "40 packets"
qdisc = "tail_drop"
[[flows]]
count = 3
from = "a"
to = "c"
stop = "30 s"
[[flows]]
app = { poisson = { rate = "2 Mbit/s", size = { lognormal = "500 B", sigma = 1.0 } } }
from = "a"
to = "b"
stop = "30 s"
[[flows]]
app = { on_off = { rate = "4 Mbit/s", off = { pareto = "500 ms", shape = 1.5 } } }
from = "b"
to = "c"
stop = "30 s"
[[flows]]
app = "voip"
count = 5
from = "a"
to = "c"
stop = "30 s"
"#;

fn scenario() -> Scenario {
    Scenario::parse(SCENARIO.as_bytes(), "little", &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_integral_of_the_backlog_is_the_sum_of_the_waits() {
    let scenario = scenario();
    let network = topology::network(&scenario, 1);
    let mut simulation = Simulation::new(network, 1, Books::default());
    simulation.advance(Time::ZERO + scenario.duration);
    let books = &simulation.probe().0;
    let mut dropped = 0;
    for ((link, flow), book) in books {
        assert_eq!(book.held, 0, "link {link}, flow {flow}: not empty at the end");
        assert_eq!(book.integral, book.waits, "link {link}, flow {flow}");
        assert!(book.delivered > 100, "link {link}, flow {flow}: too few packets");
        dropped += book.offered - book.delivered;
    }
    // Three bulk flows and five calls at both links, and one class more at each.
    assert_eq!(books.len(), 2 * 8 + 2);
    assert!(dropped > 100, "{dropped} dropped");
}

/// Result of each class: the queue's mean over all time, packets per second, and their mean wait.
#[test]
fn results_obey_it() {
    let scenario = scenario();
    let mut run = Run::new(&scenario, 1);
    while run.advance() {}
    let outcome = run.finish();
    let seconds = scenario.duration.seconds();
    let mut rows = 0;
    for link in &outcome.links {
        let classes = link.classes.iter().map(|(class, row)| (class.as_str(), row));
        for (class, row) in classes.chain([("all", &link.all)]) {
            let number = |name: &str| match row.metrics.iter().find(|(key, _)| *key == name) {
                Some((_, Reading::Number(value))) => *value,
                other => panic!("{name} is {other:?}"),
            };
            let mean = number("queue_mean_packets");
            let product = number("bottleneck_packets") / seconds * number("sojourn_mean_s");
            assert!((mean / product - 1.0).abs() < 1e-9, "{} {class}: {mean} and {product}", link.link);
            rows += 1;
        }
    }
    assert_eq!(rows, 2 * (3 + 1));
}
