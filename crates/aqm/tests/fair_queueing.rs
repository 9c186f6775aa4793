//! Weighted fair queueing beside GPS, the latency of rounds, the rate of a reserved queue: their theorems, under any sequence of
//! arrivals and departures. Fairness between two is in `fair_shares.rs`.

mod common;

use common::Parcel;
use proptest::prelude::*;
use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::qdiscs::classifiers::{By, ByTag, FlowHash};
use sojourn_aqm::qdiscs::schedulers::{Gps, GroupWeights, Reserved, Rounds, StartTime};
use sojourn_aqm::qdiscs::{Bounds, QueueKind, Scheduled, Scheduler, Share};
use sojourn_aqm::{Cause, FlowId, FlowTag, Limit, LinkContext, Qdisc, Sink};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};

/// Link rate, bytes/s.
const RATE: f64 = 1e6;

struct Nothing;

impl Sink<Parcel> for Nothing {
    fn dropped(&mut self, _now: Time, _packet: Parcel, _cause: Cause) {
        panic!("no limit is reached");
    }
    fn marked(&mut self, _now: Time, _packet: &Parcel) {
        panic!("no law marks");
    }
}

/// A qdisc with a queue for each class; the flow of a packet has the number of its class.
fn classes<S: Scheduler>(scheduler: S, reserved: Vec<bool>) -> Scheduled<Parcel, TailDrop, ByTag, S> {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(8.0 * RATE),
        packet: 1000.0,
        limit: f64::INFINITY,
        flows: None,
        base_rtt: None,
    };
    let bounds = Bounds {
        buffer: Limit::Unlimited,
        most_packets: u32::MAX,
        most_bytes: u64::MAX,
        batch: 64,
        ce_threshold: None,
    };
    let mut draws = Stream::named(1, "classes");
    let classifier = ByTag::new(By::Class, FlowHash::new(16, &mut draws), reserved);
    let kind = QueueKind { law: TailDrop, context, share: Share::Part(1.0) };
    let mut qdisc = Scheduled::new(bounds, (classifier, scheduler), [kind.clone(), kind], draws);
    for class in 0..8 {
        qdisc.flow_joined(FlowId(class), FlowTag { class, ..FlowTag::default() });
    }
    qdisc
}

fn weights() -> GroupWeights {
    GroupWeights::new(WEIGHTS.to_vec())
}

const WEIGHTS: [f64; 4] = [1.0, 2.0, 0.5, 5.0];

fn time(seconds: f64) -> Time {
    Time::ZERO + Span::from_seconds(seconds)
}

/// An arrival: time, s; class; bytes.
type Arrived = (f64, u32, u32);

/// Departures over a link of `RATE`: number of the packet, time at which its last bit leaves.
fn departures(mut qdisc: impl Qdisc<Parcel>, arrivals: &[Arrived]) -> Vec<(usize, f64)> {
    let (mut sent, mut free, mut next) = (Vec::new(), 0.0_f64, 0);
    while sent.len() < arrivals.len() {
        if qdisc.backlog().packets == 0 {
            free = free.max(arrivals[next].0);
        }
        while next < arrivals.len() && arrivals[next].0 <= free {
            let (at, flow, len) = arrivals[next];
            let packet = Parcel { number: next as u64, len, ecn: Ecn::NotEct, flow };
            qdisc.enqueue(time(at), packet, &mut Nothing);
            next += 1;
        }
        let (packet, _) = qdisc.dequeue(time(free), &mut Nothing).expect("work");
        free += f64::from(packet.len) / RATE;
        sent.push((packet.number as usize, free));
    }
    sent
}

/// Service of the fluid server.
struct Fluid {
    /// Finish time of each packet, s.
    finished: Vec<f64>,
    /// Bytes served of each class by each of these times, linear between them.
    served: Vec<(f64, [f64; 4])>,
}

impl Fluid {
    /// By its definition: from one event to the next, every backlogged class has the share of its weight.
    fn of(arrivals: &[Arrived]) -> Fluid {
        let mut held: [Vec<(usize, f64)>; 4] = Default::default();
        let (mut now, mut next, mut finished) = (0.0, 0, vec![0.0; arrivals.len()]);
        let mut served = vec![(0.0, [0.0; 4])];
        while next < arrivals.len() || held.iter().any(|queue| !queue.is_empty()) {
            let weight: f64 =
                (0..4).filter(|class| !held[*class].is_empty()).map(|class| WEIGHTS[class]).sum();
            let speed = |class: usize| RATE * WEIGHTS[class] / weight;
            let first = (0..4).filter_map(|class| Some((now + held[class].first()?.1 / speed(class), class)));
            let first = first.min_by(|one, two| one.0.total_cmp(&two.0));
            let arrival = arrivals.get(next).map_or(f64::INFINITY, |arrival| arrival.0);
            let until = first.map_or(arrival, |(time, _)| time.min(arrival));
            let (_, mut bytes) = served[served.len() - 1];
            for (class, queue) in held.iter_mut().enumerate() {
                if let Some((_, left)) = queue.first_mut() {
                    *left -= (until - now) * speed(class);
                    bytes[class] += (until - now) * speed(class);
                }
            }
            now = until;
            served.push((now, bytes));
            match first {
                Some((time, class)) if time <= arrival => {
                    let (number, _) = held[class].remove(0);
                    finished[number] = now;
                }
                _ => {
                    let (_, class, len) = arrivals[next];
                    held[class as usize].push((next, f64::from(len)));
                    next += 1;
                }
            }
        }
        Fluid { finished, served }
    }

    /// Bytes served of a class by a time.
    fn served(&self, class: usize, at: f64) -> f64 {
        let next = self.served.partition_point(|(time, _)| *time < at).min(self.served.len() - 1);
        let ((start, before), (end, after)) = (self.served[next.max(1) - 1], self.served[next]);
        let part = if end > start { ((at - start) / (end - start)).clamp(0.0, 1.0) } else { 1.0 };
        before[class] + part * (after[class] - before[class])
    }
}

fn arrivals() -> impl Strategy<Value = Vec<Arrived>> {
    prop::collection::vec((0.0..0.004_f64, 0_u32..4, 40_u32..1500), 1..120).prop_map(|gaps| {
        let mut now = 0.0;
        gaps.into_iter()
            .map(|(gap, class, len)| {
                // Bursts, and times at which the link is idle.
                now += if gap < 0.002 { 0.0 } else { gap - 0.002 };
                (time(now).seconds(), class, len)
            })
            .collect()
    })
}

/// Goyal, Vin and Cheng (1997), equation (4): a queue that returns starts at the finish of its last packet, if that is later, so
/// that whoever has one packet at a time gains nothing.
#[test]
fn a_queue_that_returns_at_once_gains_nothing() {
    let mut qdisc = classes(StartTime::new(GroupWeights::default()), Vec::new());
    let put = |qdisc: &mut Scheduled<_, _, _, _>, flow: u32| {
        let packet = Parcel { number: 0, len: 1000, ecn: Ecn::NotEct, flow };
        qdisc.enqueue(Time::ZERO, packet, &mut Nothing);
    };
    (0..20).for_each(|_| put(&mut qdisc, 0));
    put(&mut qdisc, 1);
    let mut sent = [0; 2];
    for _ in 0..20 {
        let (packet, _) = qdisc.dequeue(Time::ZERO, &mut Nothing).unwrap();
        sent[packet.flow as usize] += 1;
        if packet.flow == 1 {
            put(&mut qdisc, 1);
        }
    }
    assert_eq!(sent, [10, 10]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Parekh and Gallager (1993), theorem 1: every packet leaves at most the time of the largest packet after GPS.
    #[test]
    fn wfq_is_a_packet_behind_gps(arrivals in arrivals()) {
        let rate = Rate::from_bits_per_second(8.0 * RATE);
        let sent = departures(classes(Gps::new(weights(), rate), Vec::new()), &arrivals);
        let gps = Fluid::of(&arrivals);
        let largest = f64::from(arrivals.iter().map(|(_, _, len)| *len).max().unwrap());
        let mut served = [0.0; 4];
        for (number, at) in sent {
            let late = at - gps.finished[number];
            prop_assert!(late <= largest / RATE + 1e-7, "{number}: {late}");
            // Theorem 2 and corollary 1: no class has been sent less than GPS has served of it, nor holds more, by more than
            // the largest packet; most is missing as a packet of another class has left.
            let (_, class, len) = arrivals[number];
            served[class as usize] += f64::from(len);
            for (class, served) in served.iter().enumerate() {
                let behind = gps.served(class, at) - served;
                prop_assert!(behind <= largest + 0.1, "class {class} at {at}: {behind} of {largest}");
            }
        }
    }

    /// A queue that has packets from a time on receives, from then on, at least its part of the link after a latency: rounds
    /// are a latency-rate server (D. Stiliadis, A. Varma 1998). The latency is (F - Q + n L) / r, F all quanta, Q its own, n
    /// queues, L the largest packet; with the list of new queues each of the others may have one more turn.
    #[test]
    fn rounds_have_a_latency(
        new_first: bool,
        quantum in 100_u32..3000,
        weights in prop::collection::vec(prop_oneof![Just(1.0), 0.1..8.0_f64], 4),
        own in prop::collection::vec(40_u32..1500, 1..20),
        others in prop::collection::vec((0_u32..3, 40_u32..1500, 0_usize..4), 0..400),
    ) {
        let rounds = Rounds::new(quantum, GroupWeights::new(weights.clone()), new_first);
        let mut qdisc = classes(rounds, Vec::new());
        let put = |qdisc: &mut Scheduled<_, _, _, _>, flow: u32, len: u32| {
            qdisc.enqueue(Time::ZERO, Parcel { number: 0, len, ecn: Ecn::NotEct, flow }, &mut Nothing);
        };
        let (mut all, mut received, mut since) = (0.0, 0.0, None);
        let quanta: Vec<f64> = weights.iter().map(|weight| (f64::from(quantum) * weight).floor()).collect();
        let (all_quanta, largest): (f64, f64) = (quanta.iter().sum(), 1499.0);
        let mut latency = all_quanta - quanta[3] + 4.0 * largest;
        if new_first {
            latency += all_quanta - quanta[3] + 3.0 * largest;
        }
        for (number, (flow, len, count)) in others.iter().enumerate() {
            put(&mut qdisc, *flow, *len);
            if number == others.len() / 4 {
                own.iter().cycle().take(1000).for_each(|len| put(&mut qdisc, 3, *len));
                since = Some(all);
            }
            for _ in 0..*count {
                let Some((packet, _)) = qdisc.dequeue(Time::ZERO, &mut Nothing) else { break };
                all += f64::from(packet.len);
                received += if packet.flow == 3 { f64::from(packet.len) } else { 0.0 };
                let earned = since.map_or(0.0, |since| (all - since - latency) * quanta[3] / all_quanta);
                prop_assert!(received >= earned, "{received} of {earned}");
            }
        }
    }

    /// A reserved queue that is never empty has its rate, to its largest packet and that of the others.
    #[test]
    fn a_reserved_queue_has_its_rate(part in 0.05..0.9_f64, sizes in prop::collection::vec(40_u32..1500, 200..400)) {
        let (rate, link) = (Rate::from_bits_per_second(8.0 * RATE * part), Rate::from_bits_per_second(8.0 * RATE));
        let others = Rounds::new(1514, GroupWeights::default(), true);
        let mut qdisc = classes(Reserved::new(others, rate, link), vec![false, false, false, true]);
        let (mut own, mut all) = (0.0, 0.0);
        for (number, len) in sizes.iter().enumerate() {
            // Class 3 is reserved, the others have packets throughout.
            for flow in [0, 1, 3] {
                let packet = Parcel { number: number as u64, len: *len, ecn: Ecn::NotEct, flow };
                qdisc.enqueue(Time::ZERO, packet, &mut Nothing);
            }
        }
        for _ in 0..sizes.len() {
            let (packet, _) = qdisc.dequeue(Time::ZERO, &mut Nothing).unwrap();
            all += f64::from(packet.len);
            own += if packet.flow == 3 { f64::from(packet.len) } else { 0.0 };
            if qdisc.backlog().packets < 2 * sizes.len() as u32 {
                break;
            }
            prop_assert!((own - part * all).abs() <= 3000.0, "{own} of {all}");
        }
    }
}

/// Weights hold where packets take longer than their bytes at the rate of the link, by framing or a slower link behind, and
/// where they take less: GPS has served as much as the link. At the rate alone it would be ahead, so that no queue was
/// backlogged and packets left as they came.
#[test]
fn weights_hold_at_any_pace_of_the_link() {
    for pace in [0.5, 1.0, 1.38] {
        let gps = Gps::new(weights(), Rate::from_bits_per_second(8.0 * RATE));
        let mut qdisc = classes(gps, Vec::new());
        let (mut now, mut next, mut sent) = (0.0, [0.0; 2], [0_u32; 2]);
        let mut held = [0_u32; 2];
        for _ in 0..40_000 {
            for flow in [0, 1] {
                // Each of both has more than the link sends, and room for 50 packets.
                while next[flow] <= now {
                    next[flow] += 1000.0 * pace / RATE * [0.9, 0.91][flow];
                    if held[flow] < 50 {
                        held[flow] += 1;
                        let packet = Parcel { number: 0, len: 1000, ecn: Ecn::NotEct, flow: flow as u32 };
                        qdisc.enqueue(time(now), packet, &mut Nothing);
                    }
                }
            }
            let (packet, _) = qdisc.dequeue(time(now), &mut Nothing).expect("packets wait");
            held[packet.flow as usize] -= 1;
            sent[packet.flow as usize] += 1;
            now += 1000.0 * pace / RATE;
        }
        let part = f64::from(sent[1]) / 40_000.0;
        assert!((part - 2.0 / 3.0).abs() < 0.002, "{pace}: {part}");
    }
}

/// Beside a reserved queue with packets the clock of GPS runs by what the others are served: a queue that becomes active waits
/// for no more than its share. At the rate of the link it would be behind all that the others hold.
#[test]
fn the_clock_of_gps_is_that_of_the_others_service() {
    let link = Rate::from_bits_per_second(8.0 * RATE);
    let scheduler =
        Reserved::new(Gps::new(GroupWeights::default(), link), Rate::from_bits_per_second(4.0 * RATE), link);
    let mut qdisc = classes(scheduler, vec![false, false, false, true]);
    let arrive = |qdisc: &mut dyn Qdisc<Parcel>, at: f64, flow: u32| {
        let packet = Parcel { number: 0, len: 1000, ecn: Ecn::NotEct, flow };
        qdisc.enqueue(time(at), packet, &mut Nothing);
    };
    for _ in 0..400 {
        arrive(&mut qdisc, 0.0, 0);
        arrive(&mut qdisc, 0.0, 3);
    }
    let sent = |qdisc: &mut dyn Qdisc<Parcel>, number: u32| {
        let at = time(f64::from(number) * 1000.0 / RATE);
        qdisc.dequeue(at, &mut Nothing).expect("packets wait").0.flow
    };
    for number in 0..200 {
        sent(&mut qdisc, number);
    }
    arrive(&mut qdisc, 0.2, 1);
    let waits = (200..800).position(|number| sent(&mut qdisc, number) == 1).unwrap();
    assert!(waits <= 4, "{waits} packets go before it");
}
