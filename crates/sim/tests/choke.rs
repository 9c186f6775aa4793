//! CHOKe among real TCP flows: one unresponsive sender is held down.
//!
//! crates/aqm/tests/choke.rs compares the law with the theory of Tang, Wang and Low under traffic that meets its
//! assumptions. Here are TCP flows, few enough to match their own packets now and then; the theory is approximate.
//! It excludes bursts (whose packets mostly match each other), so the flows pace.

use sojourn_measure::Probe;
use sojourn_scenario::Scenario;
use sojourn_sim::{Simulation, topology};
use sojourn_units::{Span, Time};

const SCENARIO: &str = r#"
title    = "One flow that does not slow down among a hundred that do"
duration = "60 s"
warmup   = "20 s"
[bottleneck]
rate   = "8 Mbit/s"
delay  = "10 ms"
buffer = "400 packets"
qdisc   = { law = "choke", min = "40 packets", max = "300 packets" }
[[flows]]
count   = 100
cc      = "newreno"
segment = "1000 B"
tcp     = { sack = true, pacing = true }
access  = { rate = "100 Mbit/s", delay = { spread = ["5 ms", "45 ms"] } }
[[flows]]
app     = { poisson = { rate = "16 Mbit/s" } }
segment = "1000 B"
access  = { rate = "100 Mbit/s", delay = "5 ms" }
"#;

/// Its packets that arrive after the warm-up.
#[derive(Default)]
struct Arrived(u64);

impl Probe for Arrived {
    fn received(&mut self, at: Time, flow: u32, _bytes: u64) {
        self.0 += u64::from(flow == 100 && at >= Time::ZERO + Span::from_secs(20));
    }
}

/// The share of the link that the last flow gets.
fn share(qdisc: &str, rate: &str, seed: u64) -> f64 {
    let change = |key: &str, value: &str| (key.to_string(), value.to_string());
    let changes = [change("bottleneck.qdisc", qdisc), change("flows.1.app.poisson.rate", rate)];
    let scenario =
        Scenario::parse(SCENARIO.as_bytes(), "test", &changes).unwrap_or_else(|errors| panic!("{errors}"));
    let network = topology::network(&scenario, seed);
    let mut simulation = Simulation::new(network, seed, Arrived::default());
    simulation.advance(Time::ZERO + Span::from_secs(60));
    simulation.assert_conservation();
    simulation.probe().0 as f64 / 40_000.0
}

/// Theory at 0.5, 1.2, 2 and 5 links (crates/aqm/tests/choke.rs solves it), and its peak 1/(e + 1).
const THEORY: [(&str, f64); 4] =
    [("4 Mbit/s", 0.2271), ("9.6 Mbit/s", 0.2689), ("16 Mbit/s", 0.2507), ("40 Mbit/s", 0.1330)];
const PEAK: f64 = 0.2689;

#[test]
fn an_unresponsive_flow_is_held_down() {
    let thresholds = "min=40packets,max=300packets";
    for (rate, expected) in THEORY {
        let shares = (1..4).map(|seed| share(&format!("choke:{thresholds}"), rate, seed));
        let mean = shares.sum::<f64>() / 3.0;
        println!("sends {rate}: gets {mean:.4}, theory {expected}");
        assert!(mean < PEAK, "sends {rate}: gets {mean}");
        assert!((mean / expected - 1.0).abs() < 0.15, "sends {rate}: gets {mean}, theory {expected}");
    }
    let under_red = share(&format!("red:{thresholds}"), "16 Mbit/s", 1);
    assert!(under_red > 0.95, "RED leaves the link to it: {under_red}");
}
