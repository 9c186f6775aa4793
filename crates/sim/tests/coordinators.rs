//! Rates of flows over several links with SQM, which a solver of all links sets, or the prices that links exchange.
//!
//! The network is figure 2 of J. Ye et al. 2022 as the gallery's `sqm/scenario2` has it: five flows over the first of two
//! links, five over the second, and at 30 s two that join and cross both. The optimum is calculated here, by bisection of
//! the prices.

use sojourn_aqm::FlowId;
use sojourn_measure::{Probe, Queued};
use sojourn_scenario::Scenario;
use sojourn_sim::{Simulation, topology};
use sojourn_units::{Span, Time, math};
use std::collections::BTreeMap;

/// Packets delivered, by link and flow.
#[derive(Default)]
struct Delivered(BTreeMap<(u32, u32), f64>);

impl Probe for Delivered {
    fn delivered(&mut self, _now: Time, link: u32, packet: Queued, _sojourn: Span) {
        *self.0.entry((link, packet.flow)).or_default() += 1.0;
    }
}

/// A run, and the numbers of its two bottlenecks.
struct Run {
    simulation: Simulation<Delivered>,
    links: Vec<u32>,
}

/// What the links have at a time.
struct Rates {
    capacities: Vec<f64>,
    /// Weight of each flow, and its rate by link.
    flows: BTreeMap<FlowId, (f64, BTreeMap<usize, f64>)>,
}

const GALLERY: &str = "sqm/scenario2.toml";

/// The gallery's scenario under a qdisc.
fn gallery(qdisc: &str) -> Scenario {
    let file = format!("{}/../../scenarios/{GALLERY}", env!("CARGO_MANIFEST_DIR"));
    let scenario = parsed(&std::fs::read_to_string(file).unwrap());
    scenario.with_qdisc(qdisc).unwrap_or_else(|errors| panic!("{qdisc}: {errors}"))
}

fn parsed(text: &str) -> Scenario {
    Scenario::parse(text.as_bytes(), "test", &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Links of 50 and 30 Mbit/s under two qdiscs, and between them one of 100 Mbit/s with another; flows over the first, over the
/// last, and over all.
fn chain(first: &str, last: &str) -> Scenario {
    parsed(&chain_text(first, last))
}

fn chain_text(first: &str, last: &str) -> String {
    let mut text = String::from("title = \"A chain\"\nduration = \"60 s\"\nwarmup = \"1 s\"\n");
    let links = [("a", "b", 50, first), ("b", "c", 100, "tail_drop"), ("c", "d", 30, last)];
    for (from, to, rate, qdisc) in links {
        text += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"833 packets\"\nqdisc = \"{qdisc}\"\n"
        );
    }
    for (from, to, count) in [("a", "b", 3), ("c", "d", 4), ("a", "d", 2)] {
        text += &format!(
            "[[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\ncc = \"newreno\"\n\
             access = {{ rate = \"500 Mbit/s\", delay = {{ spread = [\"15 ms\", \"40 ms\"] }} }}\n"
        );
    }
    text
}

impl Run {
    fn new(scenario: &Scenario) -> Run {
        let mut simulation = Simulation::new(topology::network(scenario, 1), 1, Delivered::default());
        let links = scenario.topology.replaceable().map(|link| link as u32);
        let links = links.filter(|link| simulation.shares(*link).is_some()).collect();
        Run { simulation, links }
    }

    fn advance(&mut self, seconds: f64) {
        self.simulation.advance(Time::ZERO + Span::from_seconds(seconds));
    }

    fn rates(&mut self) -> Rates {
        let mut rates = Rates { capacities: Vec::new(), flows: BTreeMap::new() };
        for (place, link) in self.links.iter().enumerate() {
            let shares = self.simulation.shares(*link).expect("sqm at both links");
            let demands = shares.demands();
            rates.capacities.push(demands.capacity);
            for ((flow, weight), (_, rate)) in demands.flows.iter().zip(shares.rates()) {
                let found = rates.flows.entry(*flow).or_default();
                found.0 = *weight;
                found.1.insert(place, rate);
            }
        }
        rates
    }

    /// Packets/s of each flow at a link from now to a time.
    fn throughput(&mut self, place: usize, until: f64) -> BTreeMap<u32, f64> {
        let from = self.simulation.now().since(Time::ZERO).seconds();
        self.simulation.probe().0.clear();
        self.advance(until);
        let (link, delivered) = (self.links[place], &self.simulation.probe().0);
        let counts = delivered.iter().filter(|((at, _), _)| *at == link);
        counts.map(|((_, flow), packets)| (*flow, packets / (until - from))).collect()
    }
}

impl Rates {
    /// The optimal rates for alpha = 2: each price in turn by bisection, until both hold.
    fn optimum(&self) -> BTreeMap<FlowId, f64> {
        let mut prices = vec![1e-9; self.capacities.len()];
        let rate = |(weight, links): &(f64, BTreeMap<usize, f64>), prices: &[f64]| {
            (weight / links.keys().map(|link| prices[*link]).sum::<f64>()).sqrt()
        };
        for _ in 0..200 {
            for link in 0..prices.len() {
                let (mut low, mut high) = (1e-12_f64, 1e6_f64);
                for _ in 0..200 {
                    prices[link] = (low * high).sqrt();
                    let over = self.flows.values().filter(|flow| flow.1.contains_key(&link));
                    let load: f64 = over.map(|flow| rate(flow, &prices)).sum();
                    if load > self.capacities[link] { low = prices[link] } else { high = prices[link] }
                }
            }
        }
        self.flows.iter().map(|(flow, of)| (*flow, rate(of, &prices))).collect()
    }

    /// Greatest relative distance of a rate from the optimum.
    fn distance(&self) -> f64 {
        let optimum = self.optimum();
        let distance = |(flow, (_, rates)): (&FlowId, &(f64, BTreeMap<usize, f64>))| {
            rates.values().map(|rate| (rate / optimum[flow] - 1.0).abs()).fold(0.0, f64::max)
        };
        self.flows.iter().map(distance).fold(0.0, f64::max)
    }

    /// These links alone.
    fn at(&self, links: [usize; 2]) -> Rates {
        let own = |rates: &BTreeMap<usize, f64>| {
            (0..2).filter_map(|place| Some((place, *rates.get(&links[place])?))).collect()
        };
        let flows = self.flows.iter().map(|(flow, (weight, rates))| (*flow, (*weight, own(rates))));
        Rates { capacities: links.map(|link| self.capacities[link]).to_vec(), flows: flows.collect() }
    }
}

const CENTRALISED: &str = "sqm:coordinator=centralised,period=1s";
const DECENTRALISED: &str = "sqm:coordinator=decentralised,period=1s";

/// Both find the optimum of the network: the solver at once, prices in some rounds.
#[test]
fn the_rates_are_the_optimum_of_both_links() {
    for qdisc in [CENTRALISED, DECENTRALISED] {
        for scenario in [gallery(qdisc), chain(qdisc, qdisc)] {
            let mut run = Run::new(&scenario);
            run.advance(20.1);
            let rates = run.rates();
            let most = rates.flows.values().map(|flow| flow.1.len()).max();
            println!(
                "{qdisc}: {} flows, at most {most:?} links, {:.1e}",
                rates.flows.len(),
                rates.distance()
            );
            assert!(rates.flows.len() >= 9 && rates.distance() < 1e-3, "{qdisc}: {}", rates.distance());
        }
    }
    // Each link alone gives the flows over both a rate at the fast one that the slow one does not carry.
    let local = "sqm:period=1s";
    let mut run = Run::new(&chain(local, local));
    run.advance(20.1);
    assert!(run.rates().distance() > 0.5);
}

/// Two flows join at 30 s. The period after they have their queues ends at 31 s: distances after it and after the next five, which
/// `docs/qdiscs/sqm.md` quotes.
#[test]
fn a_step_of_the_load_takes_a_period_or_a_few_rounds() {
    let distances = |qdisc: &str| {
        let mut run = Run::new(&gallery(qdisc));
        [31.1, 32.1, 33.1, 34.1, 35.1, 36.1].map(|time| {
            run.advance(time);
            let rates = run.rates();
            assert_eq!(rates.flows.len(), 12, "{qdisc} at {time}");
            rates.distance()
        })
    };
    let [centralised, decentralised, newton, local] =
        [CENTRALISED, DECENTRALISED, "sqm:coordinator=centralised,period=1s,step=newton", "sqm:period=1s"]
            .map(distances);
    println!("centralised {centralised:.4?}\ndecentralised {decentralised:.4?}");
    println!("newton {newton:.4?}\nlocal {local:.4?}");
    assert!(centralised.iter().all(|distance| *distance < 1e-6), "{centralised:?}");
    assert!(decentralised[1] < 0.05 && decentralised[4] < 1e-3, "{decentralised:?}");
    assert!(newton[4] < 0.05, "{newton:?}");
    assert!(local[5] > 0.2, "{local:?}");
}

/// Floods over one link each and over both, which always have packets: the links send the rates that were set. Those over both
/// lose some packets at the second one, whose price law has no more than their rate. Prices need acknowledgments, which
/// floods have not.
#[test]
fn the_links_send_the_rates() {
    let text = chain_text(CENTRALISED, CENTRALISED).replace("cc = \"newreno\"", FLOOD);
    let mut run = Run::new(&parsed(&text));
    run.advance(5.05);
    let rates = run.rates();
    assert_eq!(rates.flows.len(), 9);
    let optimum = rates.optimum();
    for place in [0, 1] {
        let sent = run.throughput(place, 5.05 + 10.0 * f64::from(place as u32 + 1));
        for (flow, packets) in sent {
            let part = packets / optimum[&FlowId(flow)];
            println!("link {place}, flow {flow}: {packets:.1} packets/s, {part:.4} of the optimum");
            assert!((part - 1.0).abs() < 0.03, "link {place}, flow {flow}: {part}");
        }
    }
}

const FLOOD: &str = "app = { cbr = { rate = \"40 Mbit/s\" } }\nsegment = \"1500 B\"";

/// TCP over one link or both has its part of what it sends in all. NewReno does not fill its queue all the time, and others
/// send what it leaves, so that rates vary about their optimum.
#[test]
fn tcp_has_nearly_its_rates() {
    for qdisc in [CENTRALISED, DECENTRALISED] {
        let mut run = Run::new(&chain(qdisc, qdisc));
        run.advance(10.0);
        let optimum = run.rates().optimum();
        for place in [0, 1] {
            let sent = run.throughput(place, 30.0 + 20.0 * f64::from(place as u32));
            let all: f64 = sent.values().sum();
            let capacity: f64 = sent.keys().filter_map(|flow| optimum.get(&FlowId(*flow))).sum();
            let part = |(flow, packets): (&u32, &f64)| packets / all * capacity / optimum[&FlowId(*flow)];
            let parts: Vec<f64> = sent.iter().map(part).collect();
            println!("{qdisc}, link {place}: {all:.0} of {capacity:.0} packets/s, {parts:.3?}");
            assert!(parts.iter().all(|part| (part - 1.0).abs() < 0.2), "{qdisc}: {parts:?}");
        }
    }
}

/// A link whose coordinator is another has no part in the others' problem; those of another alpha have one of their own.
#[test]
fn links_of_other_kinds_are_apart() {
    let other_alpha = "sqm:coordinator=centralised,period=1s,alpha=1";
    for (first, last) in [
        (CENTRALISED, "sqm:period=1s"),
        (CENTRALISED, DECENTRALISED),
        (CENTRALISED, other_alpha),
        ("sqm:period=2s", other_alpha),
    ] {
        let mut run = Run::new(&chain(first, last));
        run.advance(20.1);
        let alone = |place: usize, alpha: f64, rates: &Rates| {
            let over = |flow: &(f64, BTreeMap<usize, f64>)| {
                flow.1.get(&place).map(|rate| (math::pow(flow.0, 1.0 / alpha), *rate))
            };
            let over: Vec<(f64, f64)> = rates.flows.values().filter_map(over).collect();
            let sum: f64 = over.iter().map(|(size, _)| size).sum();
            let part =
                |(size, rate): &(f64, f64)| (rate / (rates.capacities[place] * size / sum) - 1.0).abs();
            over.iter().map(part).fold(0.0, f64::max)
        };
        let rates = run.rates();
        let alpha = if last == other_alpha { 1.0 } else { 2.0 };
        let distances = [alone(0, 2.0, &rates), alone(1, alpha, &rates)];
        println!("{first}, {last}: {distances:?}");
        assert!(distances.iter().all(|distance| *distance < 1e-6), "{first}, {last}: {distances:?}");
    }
}

/// The solver's period is the shortest of its links'; prices move at each link's own.
#[test]
fn periods_may_differ() {
    for (qdisc, most) in [(CENTRALISED, 1e-6), (DECENTRALISED, 1e-3)] {
        let mut run = Run::new(&chain(qdisc, &qdisc.replace("=1s", "=2s")));
        run.advance(30.1);
        assert!(run.rates().distance() < most, "{qdisc}: {}", run.rates().distance());
    }
}

/// Acknowledgments that have queues beside the data of others are flows of their own there, with their own path. Links 0 and 2 are
/// those of the first and the last table, 1 and 3 their opposites.
#[test]
fn acknowledgments_have_no_part_in_the_rates_of_their_data() {
    for qdisc in [CENTRALISED, DECENTRALISED].map(|qdisc| format!("{qdisc},find=hash")) {
        let line = format!("qdisc = \"{qdisc}\"");
        let mut text = chain_text(&qdisc, &qdisc);
        text = text.replace(&line, &format!("{line}\nback = {{ qdisc = \"{qdisc}\" }}"));
        for (from, to) in [("d", "a"), ("b", "a"), ("d", "c")] {
            text += &format!("[[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = 2\ncc = \"newreno\"\n");
        }
        let mut run = Run::new(&parsed(&text));
        run.advance(20.1);
        let rates = run.rates();
        assert_eq!((rates.flows.len(), rates.capacities.len()), (15, 4), "{qdisc}");
        let of_data = rates.flows[&FlowId(7)].1.len();
        for links in [[0, 2], [1, 3]] {
            let distance = rates.at(links).distance();
            println!("{qdisc}, links {links:?}, flow 7 at {of_data} links: {distance:.1e}");
            assert!(of_data == 4 && distance < 0.01, "{qdisc}, links {links:?}: {distance}");
        }
    }
}

/// A run is a function of its seed.
#[test]
fn runs_are_alike() {
    for qdisc in [CENTRALISED, DECENTRALISED] {
        let sent = || {
            let mut run = Run::new(&gallery(qdisc));
            run.advance(33.0);
            (run.rates().distance().to_bits(), std::mem::take(&mut run.simulation.probe().0))
        };
        assert!(sent() == sent(), "{qdisc}");
    }
}
