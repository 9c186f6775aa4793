//! The packet plant against queueing theory, an independent reference.

use std::collections::BTreeMap;

use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Backlog, Limit, LinkContext};
use sojourn_measure::{Probe, Queued};
use sojourn_random::{Draw, Stream};
use sojourn_sim::Simulation;
use sojourn_sim::network::{ClassPlan, FlowPlan, LinkPlan, Network, SourcePlan};
use sojourn_units::{Rate, Span, Time};
use sojourn_workload::{DatagramsPlan, Spacing};

/// 8 Mbit/s and 1000 B: one packet a millisecond.
const SERVICE: f64 = 1000.0;
const SECONDS: u64 = 500;
const SEEDS: u64 = 10;
/// Student's t for 95 % and nine degrees of freedom.
const T_95: f64 = 2.262;

/// The integral of the backlog, and the sojourn times.
#[derive(Default)]
struct Waiting {
    packets: u32,
    since: Time,
    integral: f64,
    delivered: f64,
    sojourn: f64,
}

impl Probe for Waiting {
    fn backlog(&mut self, now: Time, _link: u32, backlog: Backlog) {
        self.integral += f64::from(self.packets) * now.since(self.since).seconds();
        (self.packets, self.since) = (backlog.packets, now);
    }
    fn delivered(&mut self, _now: Time, _link: u32, _packet: Queued, sojourn: Span) {
        self.delivered += 1.0;
        self.sojourn += sojourn.seconds();
    }
}

/// Time average of the packets waiting, the one in service left out, and the mean wait.
fn waiting(load: f64, exponential: bool, seed: u64) -> (f64, f64) {
    let rate = Rate::from_bits_per_second(8000.0 * SERVICE);
    let context = LinkContext { rate, packet: 1000.0, limit: f64::INFINITY, flows: None, base_rtt: None };
    let qdisc = Fifo::new(TailDrop, Limit::Unlimited, context, Stream::named(seed, "disc"));
    let size = if exponential { Draw::exponential(1000.0) } else { Draw::constant(1000.0) };
    let poisson = DatagramsPlan::plain("poisson/0", load * SERVICE, Spacing::Poisson, 1000);
    let poisson = DatagramsPlan { size: size.unwrap(), ..poisson };
    let network = Network {
        links: vec![LinkPlan {
            qdisc: Some(Box::new(qdisc)),
            ..LinkPlan::plain(rate, Span::from_millis(50))
        }],
        classes: vec![ClassPlan::default()],
        flows: vec![FlowPlan {
            class: 0,
            user: 0,
            source: SourcePlan::Datagrams(poisson),
            forward: vec![0],
            reverse: Vec::new(),
            start: Time::ZERO,
            stop: None,
        }],
        changes: Vec::new(),
    };
    let mut simulation = Simulation::new(network, seed, Waiting::default());
    simulation.advance(Time::ZERO + Span::from_secs(SECONDS));
    simulation.assert_conservation();
    let seen = simulation.probe();
    (seen.integral / SECONDS as f64, seen.sojourn / seen.delivered)
}

fn check(exponential: bool, theory: fn(f64) -> f64) {
    for load in [0.5, 0.8, 0.9] {
        let means: Vec<f64> = (0..SEEDS).map(|seed| waiting(load, exponential, seed).0).collect();
        let n = SEEDS as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let half = T_95 * (variance / n).sqrt();
        let expected = theory(load);
        println!("load {load}: {mean:.4} +- {half:.4}, theory {expected:.4}");
        assert!((mean - expected).abs() <= half, "load {load}: {mean} +- {half}, theory {expected}");
        assert!(half < 0.06 * expected, "load {load}: the interval is too wide");
    }
}

/// M/M/1: waiting = rho^2 / (1 - rho).
#[test]
fn poisson_arrivals_and_exponential_sizes() {
    check(true, |rho| rho * rho / (1.0 - rho));
}

/// M/D/1: half of that (Pollaczek and Khinchine).
#[test]
fn poisson_arrivals_and_fixed_sizes() {
    check(false, |rho| rho * rho / (2.0 * (1.0 - rho)));
}

/// The same points in ns-2 and ns-3 (rows S8 of tests/reference/peers.csv): within 10 % or the peer's own uncertainty.
#[test]
fn peers_wait_as_long() {
    let rows =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/peers.csv"))
            .unwrap();
    let mut means = BTreeMap::new();
    let mut compared = 0;
    for row in rows.lines().map(|row| row.split(',').collect::<Vec<_>>()) {
        let [_, scenario, peer, _, _, "waiting_mean_packets", n, mean, sd] = row[..] else { continue };
        let (kind, load) = scenario.strip_prefix("S8_").and_then(|name| name.split_once("_rho")).unwrap();
        let parse = |text: &str| text.parse::<f64>().unwrap();
        let mean_of_seeds =
            || (0..SEEDS).map(|seed| waiting(parse(load), kind == "mm1", seed).0).sum::<f64>() / SEEDS as f64;
        let ours = *means.entry(scenario.to_owned()).or_insert_with(mean_of_seeds);
        let doubt = 3.0 * parse(sd) / parse(n).sqrt();
        let allowed = (0.1 * parse(mean)).max(doubt);
        assert!(
            (ours - parse(mean)).abs() <= allowed,
            "{scenario}, {peer}: {ours} against {mean}, allowed {allowed}"
        );
        compared += 1;
    }
    assert_eq!(compared, 12);
}

/// Little's law: packets waiting = arrival rate x mean wait, in one and the same run.
#[test]
fn little() {
    let (waiting, wait) = waiting(0.8, true, 1);
    assert!((waiting / (0.8 * SERVICE * wait) - 1.0).abs() < 0.01);
}
