//! CAKE alone, called step by step: shares of hosts and flows, and what counts for its shaper.

mod common;

use common::Parcel;
use sojourn_aqm::{Cause, FlowId, FlowTag, Limit, LinkContext, Qdisc, QdiscSpec, Sink};
use sojourn_params::Value;
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};

#[derive(Default)]
struct Dropped(u32);

impl Sink<Parcel> for Dropped {
    fn dropped(&mut self, _now: Time, _packet: Parcel, _cause: Cause) {
        self.0 += 1;
    }
    fn marked(&mut self, _now: Time, _packet: &Parcel) {}
}

fn cake(params: &str) -> Box<dyn Qdisc<Parcel>> {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(1e9),
        packet: 1000.0,
        limit: f64::INFINITY,
        flows: None,
        base_rtt: None,
    };
    let spec = QdiscSpec::parse(&format!("cake:{params}")).unwrap();
    spec.at(&context.into()).unwrap().build(Limit::Unlimited, Stream::named(1, "cake"))
}

fn packet(flow: u32) -> Parcel {
    Parcel { number: 0, len: 1000, ecn: Ecn::NotEct, flow }
}

/// Packets sent of each flow, while all have packets, of 60 000: these are its hosts, of the sender and of the receiver.
fn shares(isolation: &str, hosts: &[[u32; 2]]) -> Vec<f64> {
    let mut qdisc = cake(&format!("isolation={isolation},memlimit=1 GB"));
    let (mut now, mut sent, mut dropped) = (Time::ZERO, vec![0.0; hosts.len()], Dropped::default());
    for (flow, [from_host, to_host]) in (0..).zip(hosts.iter().copied()) {
        qdisc.flow_joined(FlowId(flow), FlowTag { from_host, to_host, ..FlowTag::default() });
        (0..5).for_each(|_| qdisc.enqueue(now, packet(flow), &mut dropped));
    }
    for _ in 0..60_000 {
        now += Span::from_nanos(1);
        let (taken, _) = qdisc.dequeue(now, &mut dropped).expect("packets");
        sent[taken.flow as usize] += 1.0;
        qdisc.enqueue(now, packet(taken.flow), &mut dropped);
    }
    assert_eq!(dropped.0, 0);
    sent
}

/// Host 1 has one flow and host 2 has 32; all go to, or come from, another host each.
fn two_hosts(place: impl Fn(u32, u32) -> [u32; 2]) -> Vec<[u32; 2]> {
    std::iter::once(place(1, 100)).chain((0..32).map(|flow| place(2, 101 + flow))).collect()
}

/// Piece of CAKE, section III-B: a flow's quantum is divided by the number of flows of its host, so that hosts have equal shares,
/// and in a host its flows. The flows that count are those with more than sparse traffic (G. Amanakis, sch_cake: Make the dual
/// modes fairer, netdev, 2019).
#[test]
fn hosts_have_equal_shares_to_a_percent() {
    let from = two_hosts(|host, other| [host, other]);
    let to = two_hosts(|host, other| [other, host]);
    for (isolation, hosts) in
        [("dual_srchost", &from), ("triple_isolate", &from), ("dual_dsthost", &to), ("triple_isolate", &to)]
    {
        let sent = shares(isolation, hosts);
        let ratio = sent[0] / sent[1..].iter().sum::<f64>();
        assert!((ratio - 1.0).abs() < 0.01, "{isolation}: {ratio}");
        let of_flow = |flow: usize| sent[flow] / (sent[1..].iter().sum::<f64>() / 32.0);
        assert!((1..33).all(|flow| (of_flow(flow) - 1.0).abs() < 0.05), "{isolation}: {sent:?}");
    }
    for (isolation, hosts) in [("flows", &from), ("dual_dsthost", &from), ("dual_srchost", &to)] {
        let sent = shares(isolation, hosts);
        assert!((sent[0] / 60_000.0 - 1.0 / 33.0).abs() < 0.001, "{isolation}: {}", sent[0]);
    }
}

/// triple_isolate divides by the busier of both hosts: where 4 flows share a sender, and 2 of them a receiver with 7 more of
/// another sender, the turns are Q/4 for those 2 others, Q/9 for all flows of the receiver.
#[test]
fn triple_isolation_goes_by_the_busier_host() {
    let hosts: Vec<[u32; 2]> =
        [[1, 11], [1, 12], [1, 20], [1, 20]].into_iter().chain((0..7).map(|flow| [100 + flow, 20])).collect();
    let sent = shares("triple_isolate", &hosts);
    let turns: Vec<f64> = hosts.iter().map(|[_, to]| if *to == 20 { 1.0 / 9.0 } else { 0.25 }).collect();
    let all: f64 = turns.iter().sum();
    for (flow, turn) in turns.iter().enumerate() {
        let part = sent[flow] / 60_000.0;
        assert!((part / (turn / all) - 1.0).abs() < 0.02, "{flow}: {part} of {}", turn / all);
    }
}

/// "The mode changes the shaper to also account dropped packets to the shaped rate, as these have already traversed the
/// bottleneck" (T. Høiland-Jørgensen, sch_cake: Add ingress mode, netdev, 2018).
#[test]
fn drops_count_for_the_shaper_under_ingress() {
    let next = |ingress: bool| {
        let mut qdisc = cake(&format!("bandwidth=8 Mbit/s,memlimit=3 kB,ingress={ingress}"));
        let mut dropped = Dropped::default();
        // A millisecond each; two are dropped, one is sent.
        (0..5).for_each(|_| qdisc.enqueue(Time::ZERO, packet(1), &mut dropped));
        let after_drops = qdisc.not_before();
        assert!(qdisc.dequeue(after_drops, &mut dropped).is_some());
        assert_eq!(dropped.0, 2);
        [after_drops, qdisc.not_before()].map(|time| time.nanos() / 1_000_000)
    };
    assert_eq!(next(false), [0, 1]);
    assert_eq!(next(true), [2, 3]);
}

/// Codepoints of bulk, best effort and voice (tc-cake(8)).
const CS1: u8 = 8;
const CS0: u8 = 0;
const EF: u8 = 46;

/// A cake of 8 Mbit/s, where a packet takes a millisecond, with a flow for each of some codepoints.
struct Millisecond {
    qdisc: Box<dyn Qdisc<Parcel>>,
    now: Time,
    dropped: Dropped,
}

impl Millisecond {
    fn new(codepoints: &[u8]) -> Millisecond {
        let mut qdisc = cake("bandwidth=8 Mbit/s");
        for (flow, dscp) in (0..).zip(codepoints.iter().copied()) {
            qdisc.flow_joined(FlowId(flow), FlowTag { dscp, ..FlowTag::default() });
        }
        Millisecond { qdisc, now: Time::ZERO, dropped: Dropped::default() }
    }

    fn arrival(&mut self, flow: u32) {
        self.qdisc.enqueue(self.now, packet(flow), &mut self.dropped);
    }

    /// The flow that the next packet is of.
    fn next(&mut self) -> u32 {
        self.now = self.now.max(self.qdisc.not_before());
        self.qdisc.dequeue(self.now, &mut self.dropped).expect("a packet").0.flow
    }

    /// Parts of so many packets that these flows have, each with a packet at all times.
    fn parts(&mut self, flows: &[u32], packets: u32) -> Vec<f64> {
        for flow in flows {
            self.arrival(*flow);
        }
        let mut sent = vec![0; flows.len()];
        for _ in 0..packets {
            let flow = self.next();
            let place = flows.iter().position(|other| *other == flow).expect("one of these flows");
            sent[place] += 1;
            self.arrival(flow);
        }
        // What is left would count for the next flows.
        for _ in flows {
            self.next();
        }
        sent.iter().map(|sent| f64::from(*sent) / f64::from(packets)).collect()
    }
}

/// A tin that sends above its part while it is alone has no debt: voice has its quarter as soon as best effort returns.
#[test]
fn a_tin_that_was_alone_is_not_starved_afterwards() {
    let mut cake = Millisecond::new(&[CS0, EF]);
    assert_eq!(cake.parts(&[1], 10_000), [1.0]);
    let parts = cake.parts(&[0, 1], 20_000);
    assert!((parts[1] - 0.25).abs() < 0.001, "{parts:?}");
}

/// Bulk has priority up to its sixteenth, too: best effort, whose part is the whole rate, does not starve it.
#[test]
fn bulk_has_its_sixteenth_beside_best_effort() {
    let mut cake = Millisecond::new(&[CS1, CS0, EF]);
    let parts = cake.parts(&[0, 1], 16_000);
    assert!((parts[0] - 1.0 / 16.0).abs() < 0.001, "{parts:?}");
    let parts = cake.parts(&[0, 1, 2], 16_000);
    assert!((parts[0] - 1.0 / 16.0).abs() < 0.001 && (parts[2] - 0.25).abs() < 0.001, "{parts:?}");
}

/// Where all tins are above their parts, that of the earlier clock sends: voice's is 4 ms ahead of its last packet, and so
/// behind bulk's, 16 ms ahead of its own, after 14 packets.
#[test]
fn tins_above_their_parts_have_turns_by_their_clocks() {
    let mut cake = Millisecond::new(&[CS1, EF]);
    let parts = cake.parts(&[0, 1], 14_000);
    assert!((parts[0] - 1.0 / 14.0).abs() < 0.001, "{parts:?}");
}

/// A call of a packet each 20 ms waits for the one that is being sent; where its tin has had all of the rate before, the first
/// one waits for the time of a packet at a quarter of the rate, 4 ms after the last one.
#[test]
fn a_call_after_a_flood_of_its_tin_keeps_its_delay() {
    let mut cake = Millisecond::new(&[CS0, EF]);
    cake.parts(&[1], 10_000);
    cake.arrival(0);
    for number in 0..750 {
        cake.arrival(1);
        let before = if number == 0 { 3 } else { 0 };
        for place in 0..20 {
            let flow = cake.next();
            assert_eq!(flow, u32::from(place == before), "packet {number} of the call: {place}");
            if flow == 0 {
                cake.arrival(0);
            }
        }
    }
}

/// Without a shaper a tin that had packets now and then has its turn as the rounds come to it: what it has overdrawn it pays while
/// it is empty.
#[test]
fn an_empty_tin_pays_its_debt_while_others_send() {
    let mut qdisc = cake("diffserv=diffserv3");
    let mut dropped = Dropped::default();
    for (flow, dscp) in (0..).zip([CS0, EF]) {
        qdisc.flow_joined(FlowId(flow), FlowTag { dscp, ..FlowTag::default() });
    }
    qdisc.enqueue(Time::ZERO, packet(0), &mut dropped);
    for _ in 0..20 {
        qdisc.enqueue(Time::ZERO, packet(1), &mut dropped);
        let mut sent = Vec::new();
        for _ in 0..20 {
            let (taken, _) = qdisc.dequeue(Time::ZERO, &mut dropped).expect("packets");
            sent.push(taken.flow);
            if taken.flow == 0 {
                qdisc.enqueue(Time::ZERO, packet(0), &mut dropped);
            }
        }
        let before = sent.iter().position(|flow| *flow == 1);
        assert!(before.is_some_and(|place| place <= 2), "flow 1 among those sent: {sent:?}");
    }
}

/// With another bandwidth the queues of every tin are as with it from the start, those delays included that COBALT accepts as
/// ones of packets on their way.
#[test]
fn a_new_bandwidth_is_that_of_every_tin() {
    let spec = |rate: &str| format!("bandwidth={rate},memlimit=1 MB");
    let fates = |mut qdisc: Box<dyn Qdisc<Parcel>>| {
        let mut dropped = Dropped::default();
        for (flow, dscp) in (0..).zip([CS1, CS0, EF]) {
            qdisc.flow_joined(FlowId(flow), FlowTag { dscp, ..FlowTag::default() });
        }
        (0..600).for_each(|number| qdisc.enqueue(Time::ZERO, packet(number % 3), &mut dropped));
        let mut fates = Vec::new();
        while qdisc.backlog().packets > 0 {
            let sent = qdisc.dequeue(qdisc.not_before(), &mut dropped);
            fates.push((sent.map(|(packet, _)| packet.flow), dropped.0));
        }
        assert!(dropped.0 > 10, "{}", dropped.0);
        fates
    };
    for (before, after) in [("8 Mbit/s", "400 kbit/s"), ("400 kbit/s", "8 Mbit/s")] {
        let mut changed = cake(&spec(before));
        let change = QdiscSpec::parse("cake").unwrap();
        let change = change.change(&[("bandwidth".into(), Value::Text(after.into()))]).unwrap();
        changed.set_params(Time::ZERO, &change).unwrap();
        assert!(fates(changed) == fates(cake(&spec(after))), "{before} to {after}");
    }
}
