//! Links with delivery schedules, framing and impairments in the plant, against theory.

use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Limit, LinkContext, Qdisc, QdiscSpec};
use sojourn_measure::{Probe, Queued};
use sojourn_params::{Quantity, TimeDraw, Value};
use sojourn_random::{Draw, Stream};
use sojourn_scenario::links::{self, Bursts, Framing, Impairments, Jitter, OPPORTUNITY, Recording, Reorder};
use sojourn_sim::network::{Change, ClassPlan, FlowPlan, LinkChange, LinkPlan, Network, SourcePlan};
use sojourn_sim::{LinkSchedule, Packet, Simulation, Wire};
use sojourn_tcp::{Config, Profile};
use sojourn_units::{Ecn, Prob, QuantityError, Rate, Span, Time};
use sojourn_workload::{DatagramsPlan, Spacing};

const SEED: u64 = 5;

/// Arrivals by the end, losses, and sojourn times.
#[derive(Default)]
struct Seen {
    end: Time,
    received: u64,
    bytes: u64,
    lost: u64,
    delivered: u64,
    marked: u64,
    sojourn: f64,
}

impl Probe for Seen {
    fn received(&mut self, at: Time, _flow: u32, bytes: u64) {
        if at <= self.end {
            self.received += u64::from(bytes > 0);
            self.bytes += bytes;
        }
    }
    fn lost(&mut self, _at: Time, link: u32, flow: u32) {
        assert_eq!((link, flow), (0, 0));
        self.lost += 1;
    }
    fn delivered(&mut self, _now: Time, _link: u32, _packet: Queued, sojourn: Span) {
        self.delivered += 1;
        self.sojourn += sojourn.seconds();
    }
    fn marked(&mut self, _now: Time, _link: u32, _packet: Queued) {
        self.marked += 1;
    }
}

fn mega(bits: f64) -> Rate {
    Rate::from_bits_per_second(bits * 1e6)
}

fn qdisc(rate: Rate, limit: Limit) -> Box<dyn Qdisc<Packet>> {
    let context =
        LinkContext { rate, packet: 1500.0, limit: limit.packets(1500.0), flows: None, base_rtt: None };
    Box::new(Fifo::new(TailDrop, limit, context, Stream::named(SEED, "disc")))
}

fn flow(source: SourcePlan, stop: Option<Time>) -> FlowPlan {
    FlowPlan { class: 0, user: 0, source, forward: vec![0], reverse: vec![1], start: Time::ZERO, stop }
}

/// Datagrams of 1500 B, so many a second.
fn datagrams(rate: f64, spacing: Spacing) -> SourcePlan {
    SourcePlan::Datagrams(DatagramsPlan {
        ecn: Ecn::Ect0,
        ..DatagramsPlan::plain("udp/0", rate, spacing, 1500)
    })
}

/// One flow over a link, with a plain way back.
fn simulation(link: LinkPlan, source: SourcePlan, stop: Option<Time>) -> Simulation<Seen> {
    let back = LinkPlan::plain(mega(100.0), Span::from_millis(5));
    let network = Network {
        links: vec![link, back],
        classes: vec![ClassPlan::default()],
        flows: vec![flow(source, stop)],
        changes: Vec::new(),
    };
    Simulation::new(network, SEED, Seen::default())
}

/// Advances to `end`, and counts nothing later.
fn advance(simulation: &mut Simulation<Seen>, end: Time) {
    simulation.probe().end = end;
    simulation.advance(end);
}

fn seconds(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn ethernet() -> Framing {
    Framing::read(&Value::Text("ethernet".into())).unwrap()
}

fn link_schedule(stamps: &str) -> LinkSchedule {
    let recording = Recording::parse("x", stamps.as_bytes()).unwrap();
    LinkSchedule::new(&links::SchedulePlan::Recorded(recording), SEED, "link")
}

/// 100 Mbit/s of Ethernet are 8127 frames of 1500 B a second, and the link is full then.
#[test]
fn a_full_link_of_frames_is_full() {
    let rate = mega(100.0);
    for qdisc in [None, Some(qdisc(rate, Limit::Packets(10)))] {
        let managed = qdisc.is_some();
        let link = LinkPlan { qdisc, framing: ethernet(), ..LinkPlan::plain(rate, Span::ZERO) };
        let mut simulation = simulation(link, datagrams(9000.0, Spacing::Even), None);
        advance(&mut simulation, seconds(10));
        let received = simulation.probe().received as f64;
        assert!((received - 1e9 / (1538.0 * 8.0)).abs() < 1.5, "{managed}: {received}");
        let share = simulation.sent_bits(0).unwrap() / simulation.capacity_bits(0).unwrap();
        assert!((share - 1.0).abs() < 2e-5, "{managed}: {share}");
    }
}

/// A private link has framing as well.
#[test]
fn a_private_link_carries_frames_too() {
    let link = LinkPlan { framing: ethernet(), ..LinkPlan::plain(mega(100.0), Span::ZERO) };
    let shared = LinkPlan::plain(mega(1000.0), Span::ZERO);
    let mut flow = flow(datagrams(9000.0, Spacing::Even), None);
    flow.forward = vec![0, 1];
    flow.reverse = Vec::new();
    let other = FlowPlan { forward: vec![1], ..self::flow(datagrams(1.0, Spacing::Even), None) };
    let links = vec![link, shared];
    let other = FlowPlan { reverse: Vec::new(), ..other };
    let network =
        Network { links, classes: vec![ClassPlan::default()], flows: vec![flow, other], changes: Vec::new() };
    let mut simulation = Simulation::new(network, SEED, Seen::default());
    advance(&mut simulation, seconds(10));
    assert_eq!(simulation.sent_bits(0), None, "the first link is private");
    let received = simulation.probe().received as f64 - 10.0;
    assert!((received - 1e9 / (1538.0 * 8.0)).abs() < 2.0, "{received}");
}

/// While a shaper holds its packets the link sends none, and a new rate counts from its time on.
#[test]
fn a_link_that_waits_for_its_shaper_sends_nothing() {
    let context = LinkContext { rate: mega(10.0), packet: 1500.0, limit: 50.0, flows: None, base_rtt: None };
    let shaper = QdiscSpec::parse("shaper:rate=1 Mbit/s,qdisc=tail_drop").unwrap();
    let shaper = shaper.at(&context.into()).unwrap().build(Limit::Packets(50), Stream::named(SEED, "disc"));
    let link = LinkPlan { qdisc: Some(shaper), ..LinkPlan::plain(mega(10.0), Span::ZERO) };
    let change = |millis, rate| Change {
        time: Time::ZERO + Span::from_millis(millis),
        every: None,
        until: Time::NEVER,
        link: 0,
        set: LinkChange::Rate(mega(rate)),
    };
    let network = Network {
        links: vec![link],
        classes: vec![ClassPlan::default()],
        flows: vec![FlowPlan { reverse: Vec::new(), ..flow(datagrams(200.0, Spacing::Even), None) }],
        changes: vec![change(500, 20.0)],
    };
    let mut simulation = Simulation::new(network, SEED, Seen::default());
    for millis in 1..1000 {
        advance(&mut simulation, Time::ZERO + Span::from_millis(millis));
        let (sent, begun) =
            (simulation.sent_bits(0).unwrap(), simulation.probe().delivered as f64 * 12_000.0);
        assert!((begun - 12_000.0..=begun).contains(&sent), "{millis} ms: {sent} of {begun}");
        let possible = 1e4 * millis as f64 + 1e4 * millis.saturating_sub(500) as f64;
        let capacity = simulation.capacity_bits(0).unwrap();
        assert!((capacity - possible).abs() <= 12_000.0, "{millis} ms: {capacity} of {possible}");
    }
}

/// As Mahimahi counts, a packet of 1500 B is one opportunity: 1000 a second, also while two fall into one millisecond.
#[test]
fn a_full_recorded_link_sends_a_packet_at_each_opportunity() {
    for stamps in ["1\n", "1\n1\n1\n3\n"] {
        for qdisc in [None, Some(qdisc(mega(12.0), Limit::Packets(10)))] {
            let link_schedule = Some(link_schedule(stamps).into());
            let plain = LinkPlan::plain(mega(12.0), Span::from_millis(1));
            let link = LinkPlan { qdisc, framing: Framing::TUN, link_schedule, ..plain };
            let mut simulation = simulation(link, datagrams(2000.0, Spacing::Even), None);
            advance(&mut simulation, seconds(9));
            let possible = simulation.capacity_bits(0).unwrap() / f64::from(8 * OPPORTUNITY);
            let sent = simulation.sent_bits(0).unwrap() / f64::from(8 * OPPORTUNITY);
            assert_eq!(possible, if stamps == "1\n" { 9000.0 } else { 12_000.0 });
            // At most the first opportunities were unused.
            assert!(possible - sent <= 4.0, "{stamps:?}: {sent} of {possible}");
            let received = simulation.probe().received as f64;
            assert!(sent - received <= 4.0 && received <= sent, "{stamps:?}: {received} of {sent}");
        }
    }
}

/// Poisson arrivals, a packet each millisecond: half a slot to the next opportunity on average, and one slot more for
/// every packet ahead: 1/2 + rho / (2 (1 - rho)) slots (H. Bruneel, B. Kim, Discrete-Time Models for Communication
/// Systems, 1993). On a link with a constant rate packets wait half a slot less.
#[test]
fn packets_wait_for_their_opportunity_as_in_slotted_time() {
    for load in [0.1, 0.5, 0.8] {
        let qdisc = Some(qdisc(mega(12.0), Limit::Unlimited));
        let link_schedule = Some(link_schedule("1\n").into());
        let plain = LinkPlan::plain(mega(12.0), Span::from_millis(10));
        let link = LinkPlan { qdisc, framing: Framing::TUN, link_schedule, ..plain };
        let mut simulation = simulation(link, datagrams(1000.0 * load, Spacing::Poisson), None);
        advance(&mut simulation, seconds(1000));
        let seen = simulation.probe();
        let (wait, expected) =
            (seen.sojourn / seen.delivered as f64 * 1000.0, 0.5 + load / (2.0 * (1.0 - load)));
        assert!((wait / expected - 1.0).abs() < 0.02, "load {load}: {wait} ms, {expected} expected");
    }
}

/// Traffic of half the rate of a drawn link uses half of its opportunities.
#[test]
fn a_drawn_link_sends_no_more_than_its_capacity() {
    let lte = links::Lte { mean: mega(12.0), volatility: 0.2, outage: Span::from_secs(1) };
    let satellite = links::Satellite {
        mean: mega(12.0),
        interval: Span::from_secs(15),
        gap: Span::from_millis(140),
        spread: 0.5,
        frame: Span::from_nanos(1_333_333),
    };
    for model in [links::Model::Lte(lte), links::Model::Satellite(satellite)] {
        let plan = links::SchedulePlan::Drawn(model);
        let link_schedule = || LinkSchedule::new(&plan, SEED, "link");
        let run = |rate| {
            let qdisc = Some(qdisc(mega(12.0), Limit::Packets(100)));
            let plain = LinkPlan::plain(mega(12.0), Span::from_millis(1));
            let link = LinkPlan {
                qdisc,
                framing: Framing::TUN,
                link_schedule: Some(link_schedule().into()),
                ..plain
            };
            let mut simulation = simulation(link, datagrams(rate, Spacing::Even), None);
            let mut shares = Vec::new();
            let mut last = (0.0, 0.0);
            for second in 1..=60 {
                advance(&mut simulation, seconds(second));
                let bits = (simulation.sent_bits(0).unwrap(), simulation.capacity_bits(0).unwrap());
                let (sent, possible): (f64, f64) = (bits.0 - last.0, bits.1 - last.1);
                assert!(sent <= possible && (sent / 8.0).fract() == 0.0, "second {second}");
                shares.push(possible);
                last = bits;
            }
            (last.0 / last.1, shares)
        };
        let ((full, one), (half, other)) = (run(5000.0), run(200.0));
        assert!(full > 0.999 && half < 0.5, "{plan:?}: {full}, {half}");
        assert_eq!(one, other, "the link does not depend on the traffic");
    }
}

fn jitter(draw: Result<Draw, QuantityError>) -> Option<Jitter> {
    draw.ok().map(|draw| Jitter(TimeDraw::of_seconds(draw)))
}

fn reorder(probability: Prob, late: Result<Draw, QuantityError>) -> Option<Reorder> {
    let late = TimeDraw::of_seconds(late.ok()?);
    Some(Reorder { probability, late })
}

fn bursts(enter: f64, leave: f64) -> Bursts {
    let [enter, leave] = [enter, leave].map(Prob::clamped);
    Bursts { enter, leave, good: Prob::ZERO, bad: Prob::ONE }
}

/// A wire over which 100 000 datagrams go.
fn carried(impairments: &Impairments) -> (f64, f64) {
    let wire = Some(Wire::new(impairments, SEED, "link").into());
    let plain = LinkPlan::plain(mega(1000.0), Span::from_millis(5));
    let link = LinkPlan { impairments: wire, ..plain };
    let mut simulation = simulation(link, datagrams(10_000.0, Spacing::Even), Some(seconds(10)));
    advance(&mut simulation, seconds(11));
    simulation.assert_conservation();
    let seen = simulation.probe();
    (seen.received as f64, seen.lost as f64)
}

/// Losses on wires are counted, and nothing else.
#[test]
fn every_datagram_is_received_or_lost() {
    let none = Impairments::default;
    let p = Prob::clamped(0.1);
    let bursts = bursts(0.02, 0.18);
    // The last one leaves at the instant of the stop.
    let sent = 100_001.0;
    for impairments in [
        Impairments { loss: p, ..none() },
        Impairments { corrupt: p, ..none() },
        Impairments { bursts: Some(bursts), ..none() },
        Impairments { loss: p, jitter: jitter(Draw::uniform(0.0, 0.030)), bleach: p, ..none() },
    ] {
        let (received, lost) = carried(&impairments);
        assert_eq!(received + lost, sent, "{impairments:?}");
        assert!(
            (received / sent - 0.9).abs() < 0.006 || impairments.bursts.is_some(),
            "{impairments:?}: {received}"
        );
        assert!((received / sent - 0.9).abs() < 0.02, "{impairments:?}: {received}");
    }
    // A duplicate counts once, so that it hides no loss.
    assert_eq!(carried(&Impairments { duplicate: p, ..none() }), (sent, 0.0));
    let (received, lost) = carried(&Impairments { duplicate: p, loss: p, ..none() });
    assert!(received + lost == sent && (received / sent - 0.9).abs() < 0.006, "{received}");
    let reorder = reorder(Prob::clamped(0.3), Draw::constant(0.007));
    assert_eq!(carried(&Impairments { reorder, ..none() }), (sent, 0.0));
}

fn bulk(cc: &str) -> SourcePlan {
    let profile = Profile::named("default").expect("a profile");
    let config = Config { profile, cc: cc.into(), mss: 1460, ecn: true, ect1: false, reads: None };
    SourcePlan::Bulk(config.into())
}

/// TCP delivers all of its bytes under every impairment, and frees all memory at the end.
#[test]
fn tcp_survives_every_impairment() {
    let (p, none) = (Prob::clamped(0.02), Impairments::default);
    let reorder = || reorder(p, Draw::exponential(0.003));
    let bursts = Some(bursts(0.002, 0.3));
    let rate = mega(10.0);
    for impairments in [
        Impairments { loss: p, ..none() },
        Impairments { bursts, ..none() },
        Impairments { corrupt: p, ..none() },
        Impairments { duplicate: Prob::clamped(0.3), ..none() },
        Impairments { reorder: reorder(), ..none() },
        Impairments { jitter: jitter(Draw::uniform(0.0, 0.005)), ..none() },
        Impairments {
            loss: p,
            bursts,
            corrupt: p,
            bleach: p,
            jitter: jitter(Draw::exponential(0.002)),
            reorder: reorder(),
            duplicate: p,
        },
    ] {
        let wire = Some(Wire::new(&impairments, SEED, "link").into());
        let plain = LinkPlan::plain(rate, Span::from_millis(5));
        let link = LinkPlan { qdisc: Some(qdisc(rate, Limit::Packets(50))), impairments: wire, ..plain };
        let mut simulation = simulation(link, bulk("cubic"), Some(seconds(20)));
        advance(&mut simulation, seconds(20));
        simulation.assert_conservation();
        let bytes = simulation.probe().bytes;
        assert!(bytes > 2_000_000, "{impairments:?}: {bytes} B");
        advance(&mut simulation, seconds(200));
        let rest = simulation.probe().bytes - bytes;
        assert!(rest < 200_000, "{impairments:?}: {rest} B after the end");
        simulation.assert_conservation();
    }
}
