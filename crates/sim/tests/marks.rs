//! A mark on its way: a single one, wherever in the traffic it falls, reduces the window of its sender once.

use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{Arrival, Cause, Departure, Law, Limit, LinkContext, Verdict};
use sojourn_measure::{Cwnd, Probe, Queued};
use sojourn_random::Stream;
use sojourn_sim::Simulation;
use sojourn_sim::network::{ClassPlan, FlowPlan, LinkPlan, Network, SourcePlan};
use sojourn_tcp::{Config, Profile};
use sojourn_units::{Rate, Span, Time};

/// Marks one packet on its arrival or its departure; counted from 0.
#[derive(Clone)]
struct MarkOne {
    left: u32,
    at_departure: bool,
}

impl MarkOne {
    fn is_next(&mut self) -> bool {
        self.left = self.left.wrapping_sub(1);
        self.left == u32::MAX
    }
}

impl Law for MarkOne {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if !self.at_departure && self.is_next() { arrival.signalled() } else { Verdict::Pass }
    }
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        if self.at_departure && self.is_next() { departure.signalled() } else { Verdict::Pass }
    }
}

/// Marks, and reductions of the window.
#[derive(Default)]
struct Seen {
    marks: u32,
    reductions: u32,
    window: u64,
}

impl Probe for Seen {
    fn marked(&mut self, _now: Time, _link: u32, _packet: Queued) {
        self.marks += 1;
    }
    fn dropped(&mut self, _now: Time, _link: u32, _packet: Queued, cause: Cause) {
        panic!("the queue is unlimited: {cause:?}");
    }
    fn window(&mut self, _at: Time, _flow: u32, window: Cwnd) {
        self.reductions += u32::from(window.bytes < self.window);
        self.window = window.bytes;
    }
}

/// One flow of NewReno over 10 Mbit/s and 20 ms for 2 s, and a law that marks one of its packets.
fn run(law: MarkOne, stepwise: bool) -> Seen {
    let rate = Rate::from_bits_per_second(1e7);
    let context = LinkContext { rate, packet: 1500.0, limit: f64::INFINITY, flows: None, base_rtt: None };
    let qdisc = Fifo::new(law, Limit::Unlimited, context, Stream::named(1, "disc"));
    let link = LinkPlan { qdisc: Some(Box::new(qdisc)), ..LinkPlan::plain(rate, Span::from_millis(10)) };
    let profile = Profile::named("default").expect("a profile");
    let config = Config { profile, cc: "newreno".into(), mss: 1460, ecn: true, ect1: false, reads: None };
    let flow = FlowPlan {
        class: 0,
        user: 0,
        source: SourcePlan::Bulk(config.into()),
        forward: vec![0],
        reverse: vec![1],
        start: Time::ZERO,
        stop: None,
    };
    let network = Network {
        links: vec![link, LinkPlan::plain(rate, Span::from_millis(10))],
        classes: vec![ClassPlan::default()],
        flows: vec![flow],
        changes: Vec::new(),
    };
    let build = if stepwise { Simulation::stepwise } else { Simulation::new };
    let mut simulation = build(network, 1, Seen::default());
    simulation.advance(Time::ZERO + Span::from_secs(2));
    simulation.assert_conservation();
    std::mem::take(simulation.probe())
}

/// RFC 3168, section 6.1.2: a marked packet halves the window once. The first packet is the SYN, which cannot be marked.
#[test]
fn every_mark_reaches_its_sender() {
    for (at_departure, stepwise) in [(false, false), (false, true), (true, false), (true, true)] {
        for number in (1..200).chain((200..1200).step_by(50)) {
            let law = MarkOne { left: number, at_departure };
            let seen = run(law, stepwise);
            let place = format!("packet {number}, at departure: {at_departure}, stepwise: {stepwise}");
            assert_eq!((seen.marks, seen.reductions), (1, 1), "{place}");
        }
    }
}
