//! SQM as a qdisc: shares that are set from outside, flows that come, mice.

mod common;

use common::Parcel;
use sojourn_aqm::{Cause, Coordinator, FlowId, FlowTag, Gauges, Limit, LinkContext, Qdisc, QdiscSpec, Sink};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};

/// 8 Mbit/s: 1000 packets/s.
fn link() -> LinkContext {
    LinkContext {
        rate: Rate::from_bits_per_second(8e6),
        packet: 1000.0,
        limit: f64::INFINITY,
        flows: None,
        base_rtt: None,
    }
}

/// A qdisc at work, with the packets that each flow has been sent.
struct Work {
    qdisc: Box<dyn Qdisc<Parcel>>,
    now: Time,
    sent: [u32; 8],
    number: u64,
}

struct Void;

impl Sink<Parcel> for Void {
    fn dropped(&mut self, _: Time, _: Parcel, _: Cause) {}
    fn marked(&mut self, _: Time, _: &Parcel) {}
}

impl Work {
    /// Flows whose round trips these are, ms.
    fn new(spec: &str, round_trips: &[u64]) -> Work {
        let designed = QdiscSpec::parse(spec).unwrap().at(&link().into()).unwrap();
        let mut qdisc = designed.build(Limit::Unlimited, Stream::named(1, "sqm"));
        for (flow, millis) in (0..).zip(round_trips) {
            let tag = FlowTag { base_rtt: Some(Span::from_millis(*millis)), ..FlowTag::default() };
            qdisc.flow_joined(FlowId(flow), tag);
        }
        Work { qdisc, now: Time::ZERO, sent: [0; 8], number: 0 }
    }

    /// Each of these flows sends as much as the link takes, for so long; returns their parts of what was sent.
    fn run(&mut self, flows: &[u32], millis: u64) -> Vec<f64> {
        self.sent = [0; 8];
        for _ in 0..millis {
            self.now += Span::from_millis(1);
            if let Some(due) = self.qdisc.next_update().filter(|due| *due <= self.now) {
                self.qdisc.on_update(due, self.now);
            }
            for flow in flows {
                self.number += 1;
                let parcel = Parcel { number: self.number, len: 1000, ecn: Ecn::NotEct, flow: *flow };
                self.qdisc.enqueue(self.now, parcel, &mut Void);
            }
            if let Some((parcel, _)) = self.qdisc.dequeue(self.now, &mut Void) {
                self.sent[parcel.flow as usize] += 1;
            }
        }
        let all: u32 = self.sent.iter().sum();
        flows.iter().map(|flow| f64::from(self.sent[*flow as usize]) / f64::from(all)).collect()
    }

    fn gauge(&self, name: &'static str) -> f64 {
        struct Found(&'static str, Option<f64>);
        impl Gauges for Found {
            fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
                if name == self.0 {
                    self.1 = Some(value);
                }
            }
        }
        let mut found = Found(name, None);
        self.qdisc.gauges(&mut found);
        found.1.expect("a gauge of this name")
    }
}

/// Numbers of the packets that were marked.
#[derive(Default)]
struct Marked(Vec<u64>);

impl Sink<Parcel> for Marked {
    fn dropped(&mut self, _: Time, _: Parcel, _: Cause) {}
    fn marked(&mut self, _: Time, parcel: &Parcel) {
        self.0.push(parcel.number);
    }
}

/// Flows of the packets that were dropped.
#[derive(Default)]
struct Lost(Vec<u32>);

impl Sink<Parcel> for Lost {
    fn dropped(&mut self, _: Time, parcel: Parcel, _: Cause) {
        self.0.push(parcel.flow);
    }
    fn marked(&mut self, _: Time, _: &Parcel) {}
}

fn assert_near(found: f64, expected: f64, part: f64) {
    assert!((found / expected - 1.0).abs() <= part, "{found} is not {expected}");
}

#[test]
fn rates_from_outside_are_those_of_the_flows() {
    let mut work = Work::new("sqm:coordinator=centralised,queues=8", &[50, 100, 100]);
    work.run(&[0, 1], 2000);
    let shares = work.qdisc.shares().unwrap();
    assert_eq!((shares.coordinator(), shares.period()), (Coordinator::Centralised, Span::from_secs(5)));
    let demands = shares.demands();
    // 2 / D^2.
    assert_eq!(demands.flows.iter().map(|(flow, _)| flow.0).collect::<Vec<_>>(), [0, 1]);
    assert_near(demands.flows[0].1, 800.0, 1e-12);
    assert_near(demands.flows[1].1, 200.0, 1e-12);
    // 1000 packets of 1000 B, in packets of 1500 B.
    assert_near(demands.capacity, 1000.0 / 1.5, 0.1);
    // Until they are set, those of the link: as 1 / D.
    assert_near(work.run(&[0, 1], 10_000)[0], 2.0 / 3.0, 0.02);
    let shares = work.qdisc.shares().unwrap();
    // In any order; a flow that is not here is ignored.
    shares.set_rates(Time::ZERO, &[(FlowId(7), 5.0), (FlowId(1), 100.0), (FlowId(0), 300.0)]);
    shares.set_price(0.005);
    assert_eq!(shares.price(), 0.005);
    assert_near(work.run(&[0, 1], 10_000)[0], 0.75, 0.02);
    assert_eq!(work.qdisc.shares().unwrap().price(), 0.005, "a period does not change it");
    // A new flow demands (200 / 0.005)^(1/2) = 200 packets/s, beside 300 and 100.
    work.run(&[2], 200);
    // Some seconds until it is known not to answer, as the others are.
    work.run(&[0, 1, 2], 4000);
    assert_near(work.run(&[0, 1, 2], 4000)[2], 200.0 / 600.0, 0.02);
}

/// On one link the optimum is closed: with w = 2 / D^2 and alpha = 2 the parts are as 1 / D. A flow that comes has its part at
/// once, one that leaves makes room with the next period.
#[test]
fn shares_follow_flows_that_come_and_go() {
    let mut work = Work::new("sqm:queues=8,period=2 s", &[50, 100, 200]);
    work.run(&[0, 1], 2500);
    let parts = work.run(&[0, 1], 2000);
    assert_near(parts[0], 2.0 / 3.0, 0.02);
    // It waits for its first packets, which the reserved queue has at its own rate.
    work.run(&[0, 1, 2], 750);
    assert_eq!(work.gauge("elephants"), 3.0);
    // 20 : 10 : 5 before the period ends, at 6 s.
    let parts = work.run(&[0, 1, 2], 700);
    assert_near(parts[0], 20.0 / 35.0, 0.05);
    assert_near(parts[2], 5.0 / 35.0, 0.1);
    work.run(&[0, 2], 5000);
    assert_near(work.run(&[0, 2], 2000)[0], 0.8, 0.02);
    // pi = w / x^2 of each: 800 / 800^2 with all of the link, 1000 packets/s less the reserved part.
    assert_near(work.gauge("price"), 800.0 / (0.8 * 900.0 * 0.8 * 900.0), 1e-6);
}

/// Mice use the reserved queue, whatever elephants send.
#[test]
fn mice_pass_elephants() {
    let mut work = Work::new("sqm:queues=8", &[50, 100]);
    work.run(&[0, 1], 3000);
    let parcel = Parcel { number: 0, len: 1000, ecn: Ecn::NotEct, flow: 5 };
    assert_eq!((work.qdisc.queue_of(&parcel), work.qdisc.queue_of(&Parcel { flow: 0, ..parcel })), (1, 0));
    work.qdisc.enqueue(work.now, parcel, &mut Void);
    // One packet may have begun its turn before.
    let sent: Vec<u32> = (0..2)
        .filter_map(|_| work.qdisc.dequeue(work.now, &mut Void))
        .map(|(parcel, _)| parcel.flow)
        .collect();
    assert!(sent.contains(&5), "{sent:?}");
}

/// Steps over all slots come to the same shares; the regret of the printed one grows.
#[test]
fn every_step_comes_to_the_optimum_of_flows_that_stay() {
    for (step, part) in [("optimum", 0.02), ("newton", 0.02), ("adaptive", 0.25), ("primal_dual", 0.25)] {
        let mut work = Work::new(&format!("sqm:queues=4,period=100 ms,step={step}"), &[50, 100]);
        work.run(&[0, 1], 20_000);
        let parts = work.run(&[0, 1], 5000);
        assert_near(parts[0], 2.0 / 3.0, part);
        assert!(work.gauge("regret").is_finite());
    }
}

/// A second mark would be no signal: 16 flows that do not answer, whose first packets wait for 16 ms.
#[test]
fn no_packet_is_marked_twice() {
    let mut work = Work::new("sqm:queues=16,elephant=1000 B", &[200; 16]);
    let mut marked = Marked::default();
    for millis in 0..8000_u64 {
        let now = Time::ZERO + Span::from_millis(millis);
        for flow in (0..16).filter(|flow| millis % 15 == u64::from(flow % 15)) {
            work.number += 1;
            let parcel = Parcel { number: work.number, len: 1000, ecn: Ecn::Ect0, flow };
            work.qdisc.enqueue(now, parcel, &mut marked);
        }
        work.qdisc.dequeue(now, &mut marked);
    }
    let count = marked.0.len();
    marked.0.sort_unstable();
    marked.0.dedup();
    assert!(count > 100, "{count} marks");
    assert_eq!(marked.0.len(), count);
}

/// What young flows hold while the link stands still does not count: the target is that of before.
#[test]
fn a_link_that_stands_still_leaves_the_target() {
    let mut work = Work::new("sqm:queues=8", &[50; 2]);
    // 50 packets: what young flows hold shows beside them.
    let fast = Rate::from_bits_per_second(80e6);
    work.qdisc.link_changed(work.now, fast);
    work.run(&[0], 8000);
    let before = work.qdisc.target_packets().unwrap();
    work.qdisc.link_changed(work.now, Rate::ZERO);
    for _ in 0..10_000 {
        work.now += Span::from_millis(1);
        if let Some(due) = work.qdisc.next_update().filter(|due| *due <= work.now) {
            work.qdisc.on_update(due, work.now);
        }
        if work.number.is_multiple_of(250) {
            work.number += 1;
            let parcel = Parcel { number: work.number, len: 1000, ecn: Ecn::NotEct, flow: 1 };
            work.qdisc.enqueue(work.now, parcel, &mut Void);
        }
        work.number += 1;
    }
    work.qdisc.link_changed(work.now, fast);
    work.run(&[0], 100);
    assert_near(work.qdisc.target_packets().unwrap(), before, 0.1);
}

/// The packet of a mouse is not dropped for one that sends too much, though the reserved queue waits longer: at 1 Mbit/s a
/// packet takes 8 ms of its part of the link, and the bound is a few packets.
#[test]
fn a_mouse_loses_no_packet_for_a_long_queue() {
    let mut work = Work::new("sqm:queues=8", &[50; 8]);
    work.qdisc.link_changed(Time::ZERO, Rate::from_bits_per_second(1e6));
    let mut lost = Lost::default();
    for millis in 0..40_000_u64 {
        let now = Time::ZERO + Span::from_millis(millis);
        if let Some(due) = work.qdisc.next_update().filter(|due| *due <= now) {
            work.qdisc.on_update(due, now);
        }
        let mut send = |flow: u32| {
            work.number += 1;
            let parcel = Parcel { number: work.number, len: 1000, ecn: Ecn::NotEct, flow };
            work.qdisc.enqueue(now, parcel, &mut lost);
        };
        if millis.is_multiple_of(4) {
            send((millis / 4 % 8) as u32);
        }
        if millis.is_multiple_of(200) {
            send(100 + (millis / 200) as u32);
        }
        if millis.is_multiple_of(8) {
            work.qdisc.dequeue(now, &mut lost);
        }
    }
    let mice = lost.0.iter().filter(|flow| **flow >= 100).count();
    assert!(lost.0.len() > 1000 && mice == 0, "{mice} of {}", lost.0.len());
}

/// Two flows in one bucket: the slot is that of the first one until it is silent for a period.
#[test]
fn flows_that_share_a_slot_do_not_begin_anew_with_each_packet() {
    let mut work = Work::new("sqm:find=hash,queues=1,coordinator=centralised,period=1 s", &[50, 100]);
    let mut owner = |flows: &[u32], millis: u64| {
        for _ in 0..millis / 2 {
            for flow in flows {
                work.run(&[*flow], 2);
            }
        }
        work.qdisc.shares().unwrap().demands().flows[0].0.0
    };
    assert_eq!(owner(&[0, 1], 1000), 0);
    assert_eq!(owner(&[0, 1], 5000), 0);
    assert_eq!(owner(&[1], 5000), 1);
}
