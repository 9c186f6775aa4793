//! Random networks: computing ahead equals computing step by step, and the
//! outcome does not depend on the steps in which the simulation is advanced.
//!
//! `RANDOM_NETWORKS=5000` draws so many of each kind, and `RANDOM_FROM=123` begins with that one.

use crate::holds::Holds;
use crate::log::Log;
use sojourn_aqm::Entry;
use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Law, LawSpec, Limit, LinkContext, Qdisc, QdiscSpec, catalogue};
use sojourn_params::{SizeDraw, TimeDraw, Value};
use sojourn_random::{Draw, Stream};
use sojourn_scenario::links::{self, Coding, Framing, Impairments, Jitter, Lte, Recording, Satellite};
use sojourn_scenario::{App, Arrivals, Game, Http, Ladder, Listed, Mice, Rpm, Spread, Transfer, Video, Web};
use sojourn_sim::network::{
    Change, ClassPlan, FlowPlan, Hop, Joining, LinkChange, LinkPlan, Network, SourcePlan,
};
use sojourn_sim::{LinkSchedule, Packet, Simulation, Wire};
use sojourn_tcp::{Config, LimitedTransmit, Pipe, Profile};
use sojourn_units::{Bytes, Ecn, Prob, Rate, Span, Time};
use sojourn_workload::{Churn, DatagramsPlan, OnOffSum, Spacing};
use std::sync::Arc;

/// Kind of networks drawn.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// Round numbers only, so that many events coincide.
    round: bool,
    /// Every route begins and ends with a private link, in both directions.
    access: bool,
    /// Links so fast that a packet may take no time.
    instant: bool,
    /// Links with framing, with schedules of opportunities, and with impairments.
    impaired: bool,
    /// Some flows arrive and leave.
    traffic: bool,
}

struct Draws(Stream);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        (self.0.uniform() * n as f64) as u64
    }
    fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.0.uniform()
    }
    fn chance(&mut self, p: f64) -> bool {
        self.0.uniform() < p
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

fn rate(draws: &mut Draws, kind: Kind) -> Rate {
    if kind.instant && draws.chance(0.5) {
        return Rate::from_bits_per_second(1e13);
    }
    let mega = if kind.round { draws.pick(&[1.0, 4.0, 8.0, 16.0, 80.0]) } else { draws.between(0.5, 40.0) };
    Rate::from_bits_per_second(mega * 1e6)
}

fn delay(draws: &mut Draws, kind: Kind) -> Span {
    if draws.chance(0.25) {
        return Span::ZERO;
    }
    if kind.round {
        return Span::from_millis(draws.pick(&[1, 2, 5, 10, 50]));
    }
    if draws.chance(0.2) {
        return Span::from_nanos(draws.below(2000));
    }
    Span::from_seconds(draws.between(0.0, 0.06))
}

/// A time in the first `share` of the run.
fn instant(draws: &mut Draws, kind: Kind, share: f64) -> Time {
    let seconds = draws.between(0.0, share * END.seconds());
    let seconds = if kind.round { (seconds * 100.0).round() / 100.0 } else { seconds };
    Time::ZERO + Span::from_seconds(seconds)
}

fn link(draws: &mut Draws, kind: Kind) -> LinkPlan {
    let plan = LinkPlan::plain(rate(draws, kind), delay(draws, kind));
    if kind.impaired { impaired(draws, kind, plan) } else { plan }
}

/// A link, and its law where it has one.
fn shared_link(draws: &mut Draws, kind: Kind) -> (LinkPlan, Option<&'static Entry>) {
    let plan = link(draws, kind);
    if draws.chance(0.3) {
        return (plan, None);
    }
    let (qdisc, entry) = qdisc(draws, plan.rate);
    (LinkPlan { qdisc: Some(qdisc), ..plan }, entry)
}

/// The link with framing, a trace or impairments, drawn.
fn impaired(draws: &mut Draws, kind: Kind, plan: LinkPlan) -> LinkPlan {
    let seed = draws.below(1 << 30);
    let framing = draws.pick(&[
        Framing::IP,
        Framing { overhead: 38, least: 84, coding: Coding::None },
        Framing { overhead: 10, least: 0, coding: Coding::Cells },
        Framing { overhead: 22, least: 0, coding: Coding::Blocks },
    ]);
    let link_schedule =
        draws.chance(0.3).then(|| LinkSchedule::new(&trace(draws, kind), seed, "link").into());
    let impairments = draws.chance(0.5).then(|| Wire::new(&impairments(draws, kind), seed, "link").into());
    LinkPlan { framing, link_schedule, impairments, ..plan }
}

fn trace(draws: &mut Draws, kind: Kind) -> links::SchedulePlan {
    let mean = rate(draws, Kind { instant: false, ..kind });
    match draws.below(3) {
        0 => {
            let mut stamp = draws.below(3);
            let stamps = (0..=draws.below(50)).map(|_| {
                stamp += draws.pick(&[0, 0, 1, 1, 1, 2, 30]);
                format!("{stamp}\n")
            });
            let text = stamps.collect::<String>() + &format!("{}\n", stamp + 1);
            links::SchedulePlan::Recorded(Recording::parse("x", text.as_bytes()).unwrap())
        }
        1 => links::SchedulePlan::Drawn(links::Model::Lte(Lte {
            mean,
            volatility: draws.between(0.1, 2.0),
            outage: Span::from_millis(draws.below(300)),
        })),
        _ => links::SchedulePlan::Drawn(links::Model::Satellite(Satellite {
            mean,
            interval: Span::from_millis(draws.pick(&[100, 500, 2000])),
            gap: Span::from_millis(draws.below(50)),
            spread: draws.between(0.0, 1.0),
            frame: Span::from_millis(draws.pick(&[1, 2, 10])),
        })),
    }
}

/// A short time, drawn or always the same.
fn times(draws: &mut Draws, kind: Kind) -> TimeDraw {
    let longest = delay(draws, kind).max(Span::from_nanos(3)).seconds();
    let draw = match draws.below(4) {
        0 => Draw::constant(longest),
        1 => Draw::uniform(0.0, longest),
        2 => Draw::exponential(longest),
        _ => Draw::pareto(longest, 1.2),
    };
    TimeDraw::of_seconds(draw.unwrap())
}

fn impairments(draws: &mut Draws, kind: Kind) -> Impairments {
    let mut maybe =
        |most| if draws.chance(0.4) { Prob::clamped(draws.between(0.0, most)) } else { Prob::ZERO };
    let [loss, corrupt, bleach, duplicate] = [0.05, 0.05, 1.0, 0.2].map(&mut maybe);
    let bursts = draws.chance(0.3).then(|| links::Bursts {
        enter: Prob::clamped(draws.between(0.0, 0.02)),
        leave: Prob::clamped(draws.between(0.1, 1.0)),
        good: Prob::clamped(draws.pick(&[0.0, 0.01])),
        bad: Prob::clamped(draws.pick(&[1.0, 0.5])),
    });
    let reorder = draws.chance(0.4).then(|| links::Reorder {
        probability: Prob::clamped(draws.pick(&[0.01, 0.2, 1.0])),
        late: times(draws, kind),
    });
    let jitter = draws.chance(0.6).then(|| Jitter(times(draws, kind)));
    Impairments { loss, bursts, corrupt, bleach, jitter, reorder, duplicate }
}

/// A small queue under any law, with its entry, or any qdisc of several queues.
fn qdisc(draws: &mut Draws, rate: Rate) -> (Box<dyn Qdisc<Packet>>, Option<&'static Entry>) {
    let packets = draws.below(60) as u32 + 2;
    let limit =
        draws.pick(&[Limit::Packets(packets), Limit::Bytes(u64::from(packets) * 1000), Limit::Packets(100)]);
    let context = LinkContext {
        rate,
        packet: 1000.0,
        limit: limit.packets(1000.0),
        flows: Some(3.0),
        base_rtt: Some(Span::from_millis(60)),
    };
    if draws.chance(0.3) {
        let (spec, stream) = (draws.pick(&SEVERAL), Stream::named(draws.below(1 << 30), "disc"));
        if spec == HOLDS {
            return (Box::new(Holds::new(Span::from_millis(20))), None);
        }
        let qdisc = QdiscSpec::parse(spec).expect("a qdisc").at(&context.into());
        return (qdisc.expect("a qdisc that fits").build(limit, stream), None);
    }
    let entry = &catalogue::LAWS[draws.below(catalogue::LAWS.len() as u64) as usize];
    // A law may reject its link.
    let built = LawSpec::new(entry.page.stem, &[]).ok().and_then(|qdisc| qdisc.design(&context).ok());
    let entry = built.is_some().then_some(entry);
    let law = built.map_or_else(|| -> Box<dyn Law> { Box::new(TailDrop) }, |design| design.law());
    (Box::new(Fifo::new(law, limit, context, Stream::named(draws.below(1 << 30), "disc"))), entry)
}

/// Qdiscs of several queues, and shapers slower and faster than the links.
const SEVERAL: [&str; 14] = [
    "drr:quantum=300 B",
    "fq_pie",
    "sfq:limit=20",
    "wfq:by=to_host",
    "wfq:clock=start_time,law=tail_drop",
    "prio:law=codel",
    "sqm:queues=4,elephant=3 kB,period=300 ms",
    "sqm:find=hash,scheduler=wfq,period=500 ms,reserved.law=pie",
    "sqm:elephant=4000 B,period=200 ms,coordinator=centralised,queues=8",
    "sqm:elephant=4000 B,period=300 ms,coordinator=decentralised,queues=8",
    "dual",
    "shaper:rate=400 kbit/s,qdisc=codel",
    "shaper:rate=3 Mbit/s,burst=5000 B,framing=ethernet",
    HOLDS,
];
/// The qdisc whose waits an arrival may end.
const HOLDS: &str = "holds";

fn source(draws: &mut Draws, kind: Kind) -> SourcePlan {
    if draws.chance(0.3) {
        return SourcePlan::Datagrams(datagrams(draws, kind));
    }
    SourcePlan::Bulk(config(draws, kind).into())
}

fn config(draws: &mut Draws, kind: Kind) -> Config {
    let mss = if kind.round { 960 } else { draws.below(1400) as u32 + 60 };
    let cc = draws.pick(&["reno", "newreno", "cubic"]).into();
    let reads = draws.chance(0.3).then(|| rate(draws, kind));
    Config { profile: profile(draws), cc, mss, ecn: draws.chance(0.5), ect1: false, reads }
}

/// An application over TCP.
fn app(draws: &mut Draws, kind: Kind) -> SourcePlan {
    let config = config(draws, kind);
    let mean = draws.pick(&[1.0, 5000.0, 20_000.0, 100_000.0]);
    let bytes = if kind.round { Draw::constant(mean) } else { Draw::exponential(mean) }.unwrap();
    let in_packets = draws.chance(0.5);
    let size = if in_packets { SizeDraw::of_packets(bytes.scaled(0.001)) } else { SizeDraw::of_bytes(bytes) };
    let pause = draws.pick(&[0.0, 0.1, 0.5]);
    let idle =
        if kind.round || pause == 0.0 { Draw::constant(pause) } else { Draw::exponential(pause) }.unwrap();
    let idle = TimeDraw::of_seconds(idle);
    let request = Bytes::new(draws.below(500) + 40);
    let app = match draws.below(8) {
        0 => App::Transfer(Transfer { size }),
        1 | 2 => App::Mice(Mice { size: Some(size), idle: Some(idle), ..Mice::default() }),
        3 => {
            let (objects, connections) = (draws.below(12) as u32 + 1, draws.below(6) as u32 + 1);
            App::Web(Web { objects, size, connections, idle, request })
        }
        4 => App::Video(Video {
            ladder: Ladder([1e5, 3e5, 1e6, 4e6].map(Rate::from_bits_per_second).to_vec()),
            chunk: Span::from_millis(100),
            reservoir: Span::from_millis(200),
            cushion: Span::from_millis(500),
            request,
        }),
        6 => App::Rpm(Rpm {
            connections: draws.below(4) as u32,
            initial: draws.below(3) as u32 + 1,
            interval: Span::from_millis(draws.pick(&[200, 1000])),
            every: Span::from_millis(draws.pick(&[5, 20, 100])),
            foreign: draws.below(6) as u32 + 1,
            tls: draws.chance(0.5),
            request,
            ..Rpm::default()
        }),
        5 => App::Http(Http { size, request, late_binding: draws.chance(0.5) }),
        _ => App::Game(Game { every: Span::from_millis(draws.pick(&[20, 50])), size, request }),
    };
    SourcePlan::App(config.into(), app)
}

fn datagrams(draws: &mut Draws, kind: Kind) -> DatagramsPlan {
    let period = |draws: &mut Draws| {
        let mean = if kind.round { 0.1 } else { draws.between(0.01, 0.5) };
        match draws.below(3) {
            0 => Draw::constant(mean),
            1 => Draw::exponential(mean),
            _ => Draw::pareto(mean, 1.4),
        }
    };
    let len = if kind.round { 1000.0 } else { draws.between(40.0, 1500.0) };
    let size = if kind.round || draws.chance(0.5) { Draw::constant(len) } else { Draw::exponential(len) };
    let spacing = match draws.below(5) {
        0 => Spacing::Even,
        1 => Spacing::Poisson,
        2 => Spacing::OnOff { on: period(draws).unwrap(), off: period(draws).unwrap() },
        3 => Spacing::Lrd(OnOffSum { sources: draws.below(9) as u32 + 1, hurst: 0.8, on: 0.1, off: 0.1 }),
        _ => Spacing::Voice { spurts: draws.chance(0.5) },
    };
    DatagramsPlan {
        name: format!("datagrams {}", draws.below(1 << 30)),
        rate: if kind.round { draws.pick(&[50.0, 100.0, 200.0]) } else { draws.between(5.0, 400.0) },
        spacing,
        size: size.unwrap(),
        ecn: if draws.chance(0.5) { Ecn::Ect0 } else { Ecn::NotEct },
        echo: draws.chance(0.4),
    }
}

fn profile(draws: &mut Draws) -> Profile {
    Profile {
        delayed_ack: draws.chance(0.5),
        ack_every: draws.pick(&[2, 8]),
        ack_delay: Span::from_millis(draws.pick(&[1, 10, 40, 100])),
        initial_window: draws.pick(&[1, 2, 10]),
        min_rto: Span::from_millis(draws.pick(&[1, 10, 200])),
        initial_rto: Span::from_millis(draws.pick(&[50, 1000, 3000])),
        tick: Span::from_nanos(draws.pick(&[1, 1_000_000, 10_000_000])),
        sack: draws.pick(&[None, Some(true), Some(false)]),
        pipe: draws.pick(&[Pipe::Scoreboard, Pipe::Counted]),
        limited_transmit: draws.pick(&[LimitedTransmit::NewData, LimitedTransmit::Next]),
        timestamps: draws.chance(0.5),
        sack_takes_room: draws.chance(0.5),
        receive_window: draws.pick(&[4, 64, 1000]),
        cached_ssthresh: draws.chance(0.3),
        ..Profile::named(draws.pick(&["default", "ns2"])).unwrap()
    }
}

/// A route over some of the shared links, also the same one again, with private ones before, between and behind.
fn route(draws: &mut Draws, kind: Kind, shared: u64, links: &mut Vec<LinkPlan>) -> Vec<u32> {
    let mut route = Vec::new();
    let hops = draws.below(shared + 1);
    for place in 0..=hops {
        let access = kind.access && (place == 0 || place == hops);
        if access {
            // Of an ordinary rate, so that no flow cycles without time passing.
            route.push(links.len() as u32);
            links.push(link(draws, Kind { instant: false, ..kind }));
        }
        if draws.chance(0.5) {
            route.push(links.len() as u32);
            links.push(link(draws, kind));
        }
        if place < hops {
            route.push(draws.below(shared) as u32);
        }
    }
    route
}

/// The ways there and back.
fn ways(draws: &mut Draws, kind: Kind, shared: u64, links: &mut Vec<LinkPlan>) -> [Vec<u32>; 2] {
    let mut forward = route(draws, kind, shared, links);
    if forward.is_empty() {
        forward.push(draws.below(shared) as u32);
    }
    [forward, route(draws, kind, shared, links)]
}

/// A class of flows that only start and stop.
fn flow(draws: &mut Draws, kind: Kind, network: &mut Network, shared: u64) {
    let source = source(draws, kind);
    let [forward, reverse] = ways(draws, kind, shared, &mut network.links);
    let start = instant(draws, kind, 0.5);
    // Sometimes at the very start.
    let later = start.max(instant(draws, kind, 1.0));
    let stop = draws.pick(&[None, Some(start), Some(later)]);
    let stop = stop.filter(|stop| *stop > start || draws.chance(0.2));
    let class = network.classes.len() as u32;
    network.flows.push(FlowPlan { class, user: 0, source, forward, reverse, start, stop });
    let churn = Churn { name: format!("{class}"), ..Churn::default() };
    network.classes.push(ClassPlan { churn, joining: None, ..ClassPlan::default() });
}

/// A class of flows that arrive and leave.
fn traffic(draws: &mut Draws, kind: Kind, network: &mut Network, shared: u64) {
    let class = network.classes.len() as u32;
    let source =
        if draws.chance(0.3) { SourcePlan::Bulk(config(draws, kind).into()) } else { app(draws, kind) };
    let flows = match &source {
        SourcePlan::App(_, App::Web(web)) => web.connections,
        SourcePlan::App(_, App::Rpm(rpm)) => rpm.slots(),
        _ => 1,
    };
    let ways = ways(draws, kind, shared, &mut network.links);
    let [forward, reverse] = ways.clone().map(|way| {
        let hop = |link: u32| {
            let LinkPlan { rate, delay, .. } = network.links[link as usize];
            let delay = Spread { from: delay, to: delay.saturating_mul(2) };
            if u64::from(link) < shared { Hop::Link(link) } else { Hop::Own(rate, delay) }
        };
        way.into_iter().map(hop).collect::<Vec<Hop>>()
    });
    let gap = Span::from_millis(draws.pick(&[20, 100, 500]));
    let arrivals = match draws.below(4) {
        0 => Some(Arrivals::Poisson(gap)),
        1 => Some(Arrivals::Every(gap, [0, 3])),
        2 => {
            let mut times: Vec<_> = (0..20)
                .map(|_| {
                    (
                        instant(draws, kind, 1.0).since(Time::ZERO),
                        draws.chance(0.5).then(|| draws.below(30_000) + 1),
                    )
                })
                .collect();
            times.sort();
            Some(Arrivals::Listed(Listed { file: "list".into(), times: times.into() }))
        }
        _ => None,
    };
    let stop = draws.chance(0.3).then(|| instant(draws, kind, 1.0));
    let most = draws.below(6) as u32 + 1;
    for user in 0..if arrivals.is_none() { most } else { 0 } {
        let mut own = |way: &Vec<u32>| {
            let link = |link: &u32| {
                if u64::from(*link) < shared {
                    return *link;
                }
                let LinkPlan { rate, delay, .. } = network.links[*link as usize];
                network.links.push(LinkPlan::plain(rate, delay));
                network.links.len() as u32 - 1
            };
            way.iter().map(link).collect::<Vec<u32>>()
        };
        let (forward, reverse) = (own(&ways[0]), own(&ways[1]));
        let start = instant(draws, kind, 0.5);
        let stop = stop.map(|stop| stop.max(start));
        for _ in 1..flows {
            let (source, forward, reverse) = (source.clone(), forward.clone(), reverse.clone());
            network.flows.push(FlowPlan { class, user, source, forward, reverse, start, stop });
        }
        let source = source.clone();
        network.flows.push(FlowPlan { class, user, source, forward, reverse, start, stop });
    }
    let mut counts: Vec<_> =
        (0..draws.below(5)).map(|_| (instant(draws, kind, 1.0), draws.below(8) as u32)).collect();
    counts.sort();
    let stay = draws.pick(&[0.05, 0.5]);
    let churn = Churn {
        name: format!("{class}"),
        most,
        counts,
        arrivals,
        lifetime: draws.chance(0.5).then(|| TimeDraw::of_seconds(Draw::exponential(stay).unwrap())),
        stop,
    };
    network.classes.push(ClassPlan {
        churn,
        joining: Some(Joining { source, forward, reverse }),
        ..ClassPlan::default()
    });
}

/// A change of a shared link, or of one that would be private without it.
fn change(draws: &mut Draws, kind: Kind, shared: u64, links: u64) -> Change {
    let link = if draws.chance(0.8) { draws.below(shared) } else { draws.below(links) };
    let (rate, delay) = (LinkChange::Rate(rate(draws, kind)), LinkChange::Delay(delay(draws, kind)));
    let set = if draws.chance(0.5) { rate } else { delay };
    let every = again_after(draws, kind);
    let later = instant(draws, kind, 1.0);
    let until = draws.pick(&[Time::NEVER, END, later]);
    Change { time: instant(draws, kind, 1.0), every, until, link: link as u32, set }
}

/// The law's own parameters, or another period where it has one, once or periodically.
fn set_params(draws: &mut Draws, kind: Kind, (link, entry): (u32, &Entry)) -> Change {
    let period = (entry.page.fields)().into_iter().find(|field| field.key == "period");
    let shorter = Value::Text(format!("{} ms", draws.pick(&[1, 4, 10, 20])));
    let given = period.filter(|_| draws.chance(0.8)).map(|field| (field.key.into(), shorter));
    let given: Vec<_> = given.into_iter().collect();
    let set = LinkChange::Law(Arc::new((entry.read)(&given).expect("a period of the law")));
    let every = again_after(draws, kind);
    Change { time: instant(draws, kind, 1.0), every, until: Time::NEVER, link, set }
}

/// Period of a change, if it has one.
fn again_after(draws: &mut Draws, kind: Kind) -> Option<Span> {
    let every = if kind.round { draws.pick(&[10.0, 100.0]) } else { draws.between(5.0, 500.0) };
    draws.chance(0.4).then(|| Span::from_seconds(every / 1000.0))
}

fn network(seed: u64, kind: Kind) -> Network {
    let draws = &mut Draws(Stream::named(seed, &format!("{kind:?}")));
    let shared = draws.below(5) + 1;
    let (links, laws): (Vec<_>, Vec<_>) = (0..shared).map(|_| shared_link(draws, kind)).unzip();
    let mut network = Network { links, classes: Vec::new(), flows: Vec::new(), changes: Vec::new() };
    for _ in 0..=draws.below(6) {
        flow(draws, kind, &mut network, shared);
    }
    if kind.traffic {
        for _ in 0..=draws.below(3) {
            traffic(draws, kind, &mut network, shared);
        }
    }
    let links = network.links.len() as u64;
    let mut changes: Vec<Change> = (0..draws.below(12)).map(|_| change(draws, kind, shared, links)).collect();
    for managed in laws.iter().enumerate().filter_map(|(link, law)| law.map(|law| (link as u32, law))) {
        changes.extend((0..draws.below(4)).map(|_| set_params(draws, kind, managed)));
    }
    changes.sort_by_key(|change| change.time);
    network.changes = changes;
    network
}

/// Ways to run a simulation to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Direct,
    /// Advanced by steps of any length, zero included.
    InSteps,
    Stepwise,
}

fn log(seed: u64, kind: Kind, way: Way) -> Log {
    let network = network(seed, kind);
    let build = if way == Way::Stepwise { Simulation::stepwise } else { Simulation::new };
    let mut simulation = build(network, seed, Log::default());
    if way == Way::InSteps {
        let mut draws = Draws(Stream::named(seed, "steps"));
        for _ in 0..1000 {
            let width = draws.pick(&[1.0, 1e3, 1e5, 1e7]);
            let until = (simulation.now() + Span::from_nanos(draws.between(0.0, width) as u64)).min(END);
            simulation.advance_some(until, draws.pick(&[0, 1, 20, u64::MAX]));
            simulation.assert_conservation();
        }
    }
    while !simulation.advance_some(END, 1000) {}
    simulation.assert_conservation();
    let mut log = std::mem::take(simulation.probe());
    log.in_time(END);
    log
}

/// All ways lead to the same log.
fn check(kind: Kind) {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |n| n.parse().unwrap());
    let (from, cases) = (number("RANDOM_FROM", 0), number("RANDOM_NETWORKS", 100));
    let [mut received, mut completed, mut began, mut rejected] = [0; 4];
    for seed in from..from + cases {
        let [direct, in_steps, stepwise] =
            [Way::Direct, Way::InSteps, Way::Stepwise].map(|way| log(seed, kind, way));
        for (way, log) in [(Way::InSteps, &in_steps), (Way::Stepwise, &stepwise)] {
            assert_eq!(direct.first_difference(log), None, "{kind:?}, seed {seed}, {way:?}");
        }
        assert_eq!((&direct.wrong, &stepwise.wrong), (&None, &None), "{kind:?}, seed {seed}");
        received += direct.received.values().flatten().count();
        completed += direct.completed.values().flatten().count();
        began += direct.began.values().flatten().count();
        rejected += direct.rejected.values().flatten().count();
    }
    let enough = [completed, began, rejected].iter().all(|seen| *seen as u64 > 3 * cases);
    assert!(enough || !kind.traffic, "{kind:?}: {completed} of {began} completed, {rejected} rejected");
    assert!(received as u64 > 100 * cases, "{kind:?}: too few packets");
}

#[test]
fn networks_with_access_links() {
    check(Kind { round: false, access: true, instant: false, impaired: false, traffic: false });
}

#[test]
fn networks_of_shared_links() {
    check(Kind { round: false, access: false, instant: false, impaired: false, traffic: false });
}

#[test]
fn networks_with_access_links_and_round_numbers() {
    check(Kind { round: true, access: true, instant: false, impaired: false, traffic: false });
}

#[test]
fn networks_of_shared_links_and_round_numbers() {
    check(Kind { round: true, access: false, instant: false, impaired: false, traffic: false });
}

#[test]
fn links_that_take_no_time() {
    check(Kind { round: false, access: true, instant: true, impaired: false, traffic: false });
}

#[test]
fn impaired_links_behind_access_links() {
    check(Kind { round: false, access: true, instant: false, impaired: true, traffic: false });
}

#[test]
fn impaired_links_and_round_numbers() {
    check(Kind { round: true, access: false, instant: false, impaired: true, traffic: false });
}

#[test]
fn impaired_links_that_take_no_time() {
    check(Kind { round: true, access: true, instant: true, impaired: true, traffic: false });
}

#[test]
fn churn_at_drawn_times() {
    check(Kind { round: false, access: true, instant: false, impaired: false, traffic: true });
}

#[test]
fn churn_at_round_times() {
    check(Kind { round: true, access: false, instant: false, impaired: false, traffic: true });
}

#[test]
fn churn_over_impaired_links() {
    check(Kind { round: false, access: true, instant: false, impaired: true, traffic: true });
}

/// The end of every run.
const END: Time = Time::from_nanos(3_000_000_000);
