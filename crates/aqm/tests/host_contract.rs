//! The host's contract, under any sequence of operations on the qdisc.
//!
//! The law is a spy with scripted verdicts that records its inputs.

mod common;
#[path = "common/reference.rs"]
mod reference;

use common::Parcel;
use proptest::prelude::*;
use sojourn_aqm::qdiscs::Fifo;
use sojourn_aqm::{
    Arrival, Cause, Departure, Law, Limit, LinkContext, Observation, Overflow, Periodic, Properties, Qdisc,
    Sink, Verdict,
};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};
use std::sync::{Arc, Mutex};

/// Fates of packets.
#[derive(Default)]
struct Fate {
    dropped: Vec<(u64, Cause)>,
    marked: Vec<u64>,
}

impl Sink<Parcel> for Fate {
    fn dropped(&mut self, _now: Time, packet: Parcel, cause: Cause) {
        self.dropped.push((packet.number, cause));
    }
    fn marked(&mut self, _now: Time, packet: &Parcel) {
        assert_eq!(packet.ecn, Ecn::Ce);
        self.marked.push(packet.number);
    }
}

/// Recorded inputs of the spy.
#[derive(Default)]
struct Inputs {
    last: Time,
    overflows: u64,
    idles: u64,
    observations: Vec<Observation>,
}

#[derive(Clone)]
struct Spy {
    inputs: Arc<Mutex<Inputs>>,
    verdicts: Vec<Verdict>,
    calls: usize,
    due: Time,
    overflow: Overflow,
    wants_victim: bool,
}

impl Spy {
    fn new(verdicts: Vec<Verdict>) -> Spy {
        let (due, overflow) = (Time::ZERO + PERIOD, Overflow::Tail);
        Spy { inputs: Arc::default(), verdicts, calls: 0, due, overflow, wants_victim: false }
    }

    fn at(&self, now: Time) -> std::sync::MutexGuard<'_, Inputs> {
        let mut inputs = self.inputs.lock().unwrap();
        assert!(now >= inputs.last, "time ran back");
        inputs.last = now;
        inputs
    }

    fn verdict(&mut self, u: [f64; 2]) -> Verdict {
        assert!(u.iter().all(|u| (0.0..1.0).contains(u)));
        self.calls += 1;
        *self.verdicts.get(self.calls % self.verdicts.len().max(1)).unwrap_or(&Verdict::Pass)
    }
}

const PERIOD: Span = Span::from_millis(10);

impl Law for Spy {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        drop(self.at(arrival.now));
        assert_eq!(arrival.victim.is_some(), self.wants_victim && arrival.backlog.packets > 0);
        self.verdict(arrival.u)
    }
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        drop(self.at(departure.now));
        self.verdict(departure.u)
    }
    fn on_idle(&mut self, now: Time) {
        self.at(now).idles += 1;
    }
    fn on_overflow(&mut self, now: Time) {
        self.at(now).overflows += 1;
    }
    fn next_update(&self) -> Option<Time> {
        Some(self.due)
    }
    fn on_update(&mut self, due: Time, observed: &Observation) {
        assert_eq!(due, self.due);
        self.at(observed.now).observations.push(*observed);
        self.due = observed.now + PERIOD;
    }
    fn properties(&self) -> Properties {
        Properties { overflow: self.overflow, wants_victim: self.wants_victim, ..Properties::default() }
    }
}

fn context() -> LinkContext {
    let rate = Rate::from_bits_per_second(8e6);
    LinkContext {
        rate,
        packet: 1000.0,
        limit: 8.0,
        flows: Some(10.0),
        base_rtt: Some(Span::from_millis(100)),
    }
}

fn parcel(number: u64, len: u32, ecn: Ecn) -> Parcel {
    Parcel { number, len, ecn, flow: number as u32 % 7 }
}

#[derive(Clone, Debug)]
enum Op {
    Enqueue { len: u32, capable: bool },
    Dequeue,
    Wait { micros: u64 },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (40..1500_u32, any::<bool>()).prop_map(|(len, capable)| Op::Enqueue { len, capable }),
        3 => Just(Op::Dequeue),
        2 => (0..30_000_u64).prop_map(|micros| Op::Wait { micros }),
    ];
    prop::collection::vec(op, 1..300)
}

fn verdicts() -> impl Strategy<Value = Vec<Verdict>> {
    let verdict = prop_oneof![
        3 => Just(Verdict::Pass),
        1 => Just(Verdict::Mark),
        1 => Just(Verdict::Drop),
        1 => Just(Verdict::DropBoth)
    ];
    prop::collection::vec(verdict, 1..20)
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Unlimited),
        (1..8_u32).prop_map(Limit::Packets),
        (1500..6000_u64).prop_map(Limit::Bytes)
    ]
}

/// Applies the operations as a plant does: due updates first.
fn play(qdisc: &mut dyn Qdisc<Parcel>, ops: &[Op], fate: &mut Fate) -> (Time, u64) {
    let (mut now, mut number) = (Time::ZERO, 0);
    for op in ops {
        match op {
            Op::Wait { micros } => now += Span::from_micros(*micros),
            Op::Enqueue { len, capable } => {
                number += 1;
                qdisc.enqueue(
                    now,
                    parcel(number, *len, if *capable { Ecn::Ect0 } else { Ecn::NotEct }),
                    fate,
                );
            }
            Op::Dequeue => {
                qdisc.dequeue(now, fate);
            }
        }
        assert!(qdisc.counts().conserve(qdisc.backlog().packets), "{:?}", qdisc.counts());
        if let Some(due) = qdisc.next_update().filter(|due| *due <= now) {
            qdisc.on_update(due, now);
            assert!(qdisc.next_update().is_none_or(|next| next > now), "one update, whatever was missed");
        }
    }
    (now, number)
}

proptest! {
    #[test]
    fn a_fifo_keeps_the_contract(
        ops in ops(),
        verdicts in verdicts(),
        limit in limits(),
        overflow in prop_oneof![Just(Overflow::Tail), Just(Overflow::Head)],
        wants_victim in any::<bool>(),
    ) {
        let spy = Spy { overflow, wants_victim, ..Spy::new(verdicts) };
        let inputs = spy.inputs.clone();
        let mut fate = Fate::default();
        let mut qdisc = Fifo::new(spy, limit, context(), Stream::named(1, "disc"));
        play(&mut qdisc, &ops, &mut fate);
        let counts = qdisc.counts();
        let inputs = inputs.lock().unwrap();
        prop_assert_eq!(counts.marked, fate.marked.len() as u64);
        prop_assert_eq!(counts.dropped(), fate.dropped.len() as u64);
        prop_assert_eq!(counts.overflowed, inputs.overflows);
        let overflowed = fate.dropped.iter().filter(|(_, cause)| *cause == Cause::Overflow).count();
        prop_assert_eq!(overflowed as u64, inputs.overflows);
        // The intervals of the observations are adjacent and count every packet once.
        let elapsed: f64 = inputs.observations.iter().map(|observed| observed.elapsed).sum();
        let until = inputs.observations.last().map_or(0.0, |observed| observed.now.seconds());
        prop_assert!((elapsed - until).abs() < 1e-9);
        for observed in &inputs.observations {
            prop_assert!(observed.busy <= observed.elapsed + 1e-12);
            prop_assert!(observed.dropped_packets + observed.marked_packets <= 3.0 * (observed.arrived_packets + 8.0));
            prop_assert!((0.0..=1.0).contains(&observed.applied.get()));
        }
        match limit {
            Limit::Packets(most) => prop_assert!(qdisc.backlog().packets <= most),
            Limit::Bytes(most) => prop_assert!(qdisc.backlog().bytes <= most),
            Limit::Unlimited => prop_assert_eq!(counts.overflowed, 0),
        }
    }
}

#[test]
fn a_full_buffer_drops_the_arrival() {
    let mut fate = Fate::default();
    let mut qdisc =
        Fifo::new(Spy::new(vec![Verdict::Pass]), Limit::Packets(2), context(), Stream::named(1, "disc"));
    (1..=3).for_each(|number| qdisc.enqueue(Time::ZERO, parcel(number, 1000, Ecn::NotEct), &mut fate));
    assert_eq!(fate.dropped, [(3, Cause::Overflow)]);
    assert_eq!(qdisc.dequeue(Time::ZERO, &mut fate).unwrap().0.number, 1, "first in, first out");
}

#[test]
fn head_drop_drops_from_the_head_until_the_arrival_fits() {
    let mut fate = Fate::default();
    let spy = Spy { overflow: Overflow::Head, ..Spy::new(vec![Verdict::Pass]) };
    let inputs = spy.inputs.clone();
    let mut qdisc = Fifo::new(spy, Limit::Bytes(2000), context(), Stream::named(1, "disc"));
    let mut enqueue = |number, len| qdisc.enqueue(Time::ZERO, parcel(number, len, Ecn::NotEct), &mut fate);
    for (number, len) in [(1, 800), (2, 700), (3, 400), (4, 1500), (5, 2001)] {
        enqueue(number, len);
    }
    // The fourth needs the room of the first two, but not of the third; the fifth does not fit at all.
    assert_eq!(fate.dropped, [(1, Cause::Overflow), (2, Cause::Overflow), (5, Cause::Overflow)]);
    assert_eq!((qdisc.backlog().packets, inputs.lock().unwrap().overflows), (2, 3));
    assert_eq!(qdisc.dequeue(Time::ZERO, &mut fate).unwrap().0.number, 3);
}

#[test]
fn the_second_draw_chooses_the_victim() {
    // The ninth arrival takes the last verdict.
    let mut verdicts = vec![Verdict::Pass; 9];
    verdicts.push(Verdict::DropBoth);
    let spy = Spy { wants_victim: true, ..Spy::new(verdicts) };
    let mut qdisc = Fifo::new(spy, Limit::Unlimited, context(), Stream::named(1, "disc"));
    let mut fate = Fate::default();
    (1..=9).for_each(|number| qdisc.enqueue(Time::ZERO, parcel(number, 1000, Ecn::NotEct), &mut fate));
    let mut draws = Stream::named(1, "disc");
    let second = std::iter::repeat_with(|| draws.uniform()).nth(2 * 9 - 1).unwrap();
    let victim = (second * 8.0) as u64 + 1;
    assert_eq!(fate.dropped, [(9, Cause::Law), (victim, Cause::Law)]);
    let left: Vec<u64> = std::iter::from_fn(|| qdisc.dequeue(Time::ZERO, &mut fate))
        .map(|(parcel, _)| parcel.number)
        .collect();
    assert_eq!(left, (1..=8).filter(|number| *number != victim).collect::<Vec<_>>(), "in order");
}

#[test]
fn a_mark_on_a_packet_that_is_not_ecn_capable_passes_it() {
    let mut fate = Fate::default();
    let mut qdisc =
        Fifo::new(Spy::new(vec![Verdict::Mark]), Limit::Unlimited, context(), Stream::named(1, "disc"));
    qdisc.enqueue(Time::ZERO, parcel(1, 1000, Ecn::NotEct), &mut fate);
    qdisc.enqueue(Time::ZERO, parcel(2, 1000, Ecn::Ect0), &mut fate);
    assert_eq!((qdisc.backlog().packets, fate.marked.as_slice()), (2, [2].as_slice()));
}

#[test]
fn a_dequeue_skips_dropped_packets_and_ends_idle() {
    let mut fate = Fate::default();
    // Verdicts in turn: pass for the three arrivals, then drop every departure.
    let mut spy = Spy::new(vec![
        Verdict::Drop,
        Verdict::Pass,
        Verdict::Pass,
        Verdict::Pass,
        Verdict::Drop,
        Verdict::Drop,
    ]);
    spy.calls = 0;
    let inputs = spy.inputs.clone();
    let mut qdisc = Fifo::new(spy, Limit::Unlimited, context(), Stream::named(1, "disc"));
    (1..=3).for_each(|number| qdisc.enqueue(Time::ZERO, parcel(number, 1000, Ecn::NotEct), &mut fate));
    assert!(qdisc.dequeue(Time::ZERO, &mut fate).is_none());
    assert_eq!(fate.dropped, [(1, Cause::Law), (2, Cause::Law), (3, Cause::Law)]);
    assert_eq!(inputs.lock().unwrap().idles, 1);
}

#[test]
fn an_observation_counts_from_the_last_update() {
    let spy = Spy::new(vec![Verdict::Pass]);
    let inputs = spy.inputs.clone();
    let mut fate = Fate::default();
    let mut qdisc = Fifo::new(spy, Limit::Packets(2), context(), Stream::named(1, "disc"));
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    qdisc.enqueue(at(2), parcel(1, 1000, Ecn::NotEct), &mut fate);
    qdisc.enqueue(at(3), parcel(2, 500, Ecn::NotEct), &mut fate);
    qdisc.enqueue(at(3), parcel(3, 500, Ecn::NotEct), &mut fate);
    qdisc.dequeue(at(5), &mut fate);
    qdisc.dequeue(at(6), &mut fate);
    qdisc.enqueue(at(9), parcel(4, 700, Ecn::NotEct), &mut fate);
    // Due at 10 ms, with a stall of the host until 25 ms.
    qdisc.on_update(at(10), at(25));
    let observed = inputs.lock().unwrap().observations[0];
    assert_eq!((observed.elapsed, observed.backlog_packets, observed.backlog_bytes), (0.025, 1.0, 700.0));
    assert_eq!((observed.arrived_packets, observed.arrived_bytes), (4.0, 2700.0));
    assert_eq!(
        (observed.departed_packets, observed.departed_bytes, observed.dropped_packets),
        (2.0, 1500.0, 1.0)
    );
    assert!((observed.busy - 0.020).abs() < 1e-12, "2 to 6 ms and 9 to 25 ms: {}", observed.busy);
    assert!((observed.head_sojourn - 0.016).abs() < 1e-12);
}

/// Numbers of Hollot's design in tests/reference/maths.json.
#[test]
fn pi_is_designed_as_published() {
    for (rtt, exact) in [("0.246000", 0.246), ("0.246667", 0.2 + 175.0 / 3750.0)] {
        let network = sojourn_aqm::Network { flows: 60.0, capacity: 3750.0, rtt: exact };
        let gains = sojourn_aqm::laws::pi::design(network, 1.0 / 160.0);
        reference::hold(&format!("hollot.PI.R={rtt}.a"), &[gains.a]);
        reference::hold(&format!("hollot.PI.R={rtt}.b"), &[gains.b]);
    }
}

/// A periodic controller is a law, checked by the compiler.
#[test]
fn a_periodic_controller_is_a_law() {
    fn is_law(_: impl Law) {}
    let params = sojourn_aqm::laws::pi::Params { a: Some(0.2), b: Some(0.1), ..Default::default() };
    let place = LinkContext { limit: 200.0, ..context() };
    is_law(Periodic::new(sojourn_aqm::laws::pi::Pi::new(&params, &place).unwrap()));
}
