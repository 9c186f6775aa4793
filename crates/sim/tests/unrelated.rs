//! An addition to a network that shares no link with the rest changes no draw and no packet there.

use sojourn_aqm::Cause;
use sojourn_measure::{Probe, Queued, RoundTrip};
use sojourn_random::Stream;
use sojourn_scenario::Scenario;
use sojourn_sim::{Simulation, topology};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

/// An event of a flow: time, kind, link or class, and a value.
type Event = (Time, &'static str, String, u64);

/// Events of each flow, by its class and its place among the flows of that.
#[derive(Default)]
struct Log {
    links: Vec<String>,
    classes: Vec<String>,
    flows: Vec<(String, usize)>,
    events: BTreeMap<(String, usize), Vec<Event>>,
}

impl Log {
    fn add(&mut self, at: Time, flow: u32, event: &'static str, more: u64) {
        let flow = self.flows[flow as usize].clone();
        self.events.entry(flow).or_default().push((at, event, String::new(), more));
    }
    fn add_at(&mut self, at: Time, link: u32, flow: u32, event: &'static str, more: u64) {
        let flow = self.flows[flow as usize].clone();
        let link = self.links[link as usize].clone();
        self.events.entry(flow).or_default().push((at, event, link, more));
    }
}

impl Probe for Log {
    fn joined(&mut self, flow: u32, class: u32) {
        assert_eq!(flow as usize, self.flows.len());
        let name = &self.classes[class as usize];
        let place = self.flows.iter().filter(|(of, _)| of == name).count();
        self.flows.push((name.clone(), place));
    }
    fn offered(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued) {
        self.add_at(now, link, flow, "offered", 0);
    }
    fn delivered(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued, sojourn: Span) {
        self.add_at(now, link, flow, "delivered", sojourn.nanos());
    }
    fn dropped(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued, _cause: Cause) {
        self.add_at(now, link, flow, "dropped", 0);
    }
    fn marked(&mut self, now: Time, link: u32, Queued { flow, .. }: Queued) {
        self.add_at(now, link, flow, "marked", 0);
    }
    fn lost(&mut self, at: Time, link: u32, flow: u32) {
        self.add_at(at, link, flow, "lost", 0);
    }
    fn began(&mut self, at: Time, flow: u32, _class: u32) {
        self.add(at, flow, "began", 0);
    }
    fn completed(&mut self, at: Time, flow: u32, started: Time) {
        self.add(at, flow, "completed", started.nanos());
    }
    fn received(&mut self, at: Time, flow: u32, bytes: u64) {
        self.add(at, flow, "received", bytes);
    }
    fn sent(&mut self, at: Time, flow: u32) {
        self.add(at, flow, "sent", 0);
    }
    fn datagram(&mut self, at: Time, flow: u32, delay: Span) {
        self.add(at, flow, "datagram", delay.nanos());
    }
    fn came_back(&mut self, at: Time, flow: u32, rtt: Span) {
        self.add(at, flow, "rtt", rtt.nanos());
    }
    fn round_trip(&mut self, at: Time, flow: u32, measured: RoundTrip) {
        self.add(at, flow, "rtt", measured.path.nanos());
    }
}

/// Events of the flows that do not begin at the node x, class by class.
fn watch(text: &str, seed: u64) -> Vec<Vec<Event>> {
    let scenario =
        Scenario::parse(text.as_bytes(), "f.toml", &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let network = topology::network(&scenario, seed);
    let mut log = Log {
        links: scenario.topology.links.iter().map(|link| link.name.clone()).collect(),
        ..Log::default()
    };
    // The others are named by their order, which does not change.
    let mut others = 0;
    for class in &scenario.flows {
        let nodes: Vec<&str> = scenario.topology.nodes_of(&class.route).collect();
        let is_new = nodes.contains(&"x");
        others += usize::from(!is_new);
        log.classes.push(if is_new { "new".into() } else { format!("{others:03}") });
    }
    let end = Time::ZERO + scenario.duration;
    let mut simulation = Simulation::new(network, seed, log);
    simulation.advance(end);
    let log = simulation.probe();
    log.events.retain(|(class, _), _| class != "new");
    // Reports of a flow are ahead of time by an amount that depends on all links.
    let events = std::mem::take(&mut log.events).into_values().map(|mut events| {
        events.retain(|(at, ..)| *at <= end);
        events.sort();
        events
    });
    events.collect()
}

const LAWS: [&str; 4] = ["tail_drop", "red", "codel", "pie"];
const APPS: [&str; 9] = [
    "app = \"bulk\"",
    "app = \"bulk\"\ncount = 3",
    "app = { mice = { size = { exponential = \"20 kB\" }, idle = { exponential = \"50 ms\" } } }",
    "app = { web = { size = { exponential = \"5 kB\" }, objects = 10 } }",
    "app = { poisson = { rate = \"1 Mbit/s\" } }",
    "app = { on_off = { rate = \"2 Mbit/s\" } }",
    "app = { lrd = { rate = \"1 Mbit/s\" } }",
    "app = { transfer = { size = { pareto = \"20 kB\", shape = 1.5 } } }\narrivals = { poisson = \"100 ms\" }",
    "app = { poisson = { rate = \"500 kbit/s\", size = { exponential = \"400 B\" } } }\nlifetime = { exponential = \"1 s\" }",
];
const IMPAIRMENTS: [&str; 3] = [
    "",
    "impairments = { loss = 0.01, jitter = \"1 ms\" }",
    "impairments = { duplicate = 0.01, reorder = { probability = 0.01, late = \"5 ms\" } }",
];

/// A chain of nodes, and classes between some of them.
struct Network {
    links: Vec<String>,
    classes: Vec<String>,
}

fn pick<'a>(draws: &mut Stream, from: &[&'a str]) -> &'a str {
    from[(draws.uniform() * from.len() as f64) as usize]
}

fn link(from: &str, to: &str, draws: &mut Stream) -> String {
    format!(
        "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{} Mbit/s\"\ndelay = \"{} ms\"\nbuffer = \"50 packets\"\n\
         qdisc = \"{}\"\n{}\n",
        2 + (draws.uniform() * 10.0) as u32,
        1 + (draws.uniform() * 20.0) as u32,
        pick(draws, &LAWS),
        pick(draws, &IMPAIRMENTS),
    )
}

fn class(from: &str, to: &str, app: &str) -> String {
    format!("[[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\n{app}\n")
}

fn random(seed: u64) -> Network {
    let mut draws = Stream::named(seed, "unrelated");
    let links = [("a", "b"), ("b", "c"), ("c", "d")].map(|(from, to)| link(from, to, &mut draws)).to_vec();
    let classes = (0..5).map(|_| {
        let ends = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("d", "a")];
        let (from, to) = ends[(draws.uniform() * 5.0) as usize];
        class(from, to, pick(&mut draws, &APPS))
    });
    let classes = classes.collect();
    Network { links, classes }
}

fn text(links: &[String], classes: &[String]) -> String {
    format!("title = \"T\"\nduration = \"4 s\"\n{}{}", links.concat(), classes.concat())
}

#[test]
fn an_unrelated_addition_changes_no_packet() {
    for seed in 0..8 {
        let Network { links, classes } = random(seed);
        let alone = watch(&text(&links, &classes), seed);
        assert!(alone.iter().map(Vec::len).sum::<usize>() > 1000);
        let mut draws = Stream::named(seed, "added");
        let apart = link("x", "y", &mut draws);
        let ping = class("x", "y", "app = { ping = { size = { exponential = \"200 B\" } } }");
        let app = pick(&mut draws, &APPS);
        let more = class("x", "y", app);
        let lossy = format!("{apart}impairments = {{ loss = 0.1, jitter = \"5 ms\" }}\n");
        let lossy = if apart.contains("impairments") { apart.clone() } else { lossy };
        let first = |one: &String, all: &[String]| [std::slice::from_ref(one), all].concat();
        let last = |one: &String, all: &[String]| [all, std::slice::from_ref(one)].concat();
        for (case, links, classes) in [
            ("a link behind", last(&apart, &links), classes.clone()),
            ("a link before", first(&apart, &links), classes.clone()),
            ("a class behind", last(&apart, &links), last(&more, &classes)),
            ("a class before", last(&apart, &links), first(&more, &classes)),
            ("a probe before", first(&apart, &links), first(&ping, &classes)),
            ("a link that loses", first(&lossy, &links), last(&more, &first(&ping, &classes))),
        ] {
            let beside = watch(&text(&links, &classes), seed);
            assert_eq!(beside.len(), alone.len(), "{case}, seed {seed}");
            for (flow, (with, without)) in beside.iter().zip(&alone).enumerate() {
                let differ = with.iter().zip(without).find(|(one, other)| one != other);
                assert_eq!(differ, None, "{case}, seed {seed}, flow {flow}");
                assert_eq!(with.len(), without.len(), "{case}, seed {seed}, flow {flow}");
            }
        }
    }
}
