//! The host's contract, held by the disc under any sequence of operations.
//!
//! A spy stands in for the law: it answers what the test says and writes down
//! what it was told.

mod common;
#[path = "common/reference.rs"]
mod reference;

use common::Parcel;
use proptest::prelude::*;
use sojourn_aqm::discs::Fifo;
use sojourn_aqm::{
    Arrival, Cause, Departure, Disc, Law, Limit, Observation, Overflow, Sampled, Sink, Site, Verdict,
};
use sojourn_units::{Ecn, Rate, Span, Stream, Time};
use std::sync::{Arc, Mutex};

/// What became of packets.
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

/// What the spy was told.
#[derive(Default)]
struct Told {
    last: Time,
    overflows: u64,
    idles: u64,
    seen: Vec<Observation>,
}

#[derive(Clone)]
struct Spy {
    told: Arc<Mutex<Told>>,
    answers: Vec<Verdict>,
    asked: usize,
    due: Time,
    overflow: Overflow,
    wants_victim: bool,
}

impl Spy {
    fn new(answers: Vec<Verdict>) -> Spy {
        let (due, overflow) = (Time::ZERO + PERIOD, Overflow::Tail);
        Spy { told: Arc::default(), answers, asked: 0, due, overflow, wants_victim: false }
    }

    fn at(&self, now: Time) -> std::sync::MutexGuard<'_, Told> {
        let mut told = self.told.lock().unwrap();
        assert!(now >= told.last, "time ran back");
        told.last = now;
        told
    }

    fn answer(&mut self, u: [f64; 2]) -> Verdict {
        assert!(u.iter().all(|u| (0.0..1.0).contains(u)));
        self.asked += 1;
        *self.answers.get(self.asked % self.answers.len().max(1)).unwrap_or(&Verdict::Pass)
    }
}

const PERIOD: Span = Span::from_millis(10);

impl Law for Spy {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        drop(self.at(arrival.now));
        assert_eq!(arrival.victim.is_some(), self.wants_victim && arrival.backlog.packets > 0);
        self.answer(arrival.u)
    }
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        drop(self.at(departure.now));
        self.answer(departure.u)
    }
    fn on_idle(&mut self, now: Time) {
        self.at(now).idles += 1;
    }
    fn on_overflow(&mut self, now: Time) {
        self.at(now).overflows += 1;
    }
    fn overflow(&self) -> Overflow {
        self.overflow
    }
    fn wants_victim(&self) -> bool {
        self.wants_victim
    }
    fn next_update(&self) -> Option<Time> {
        Some(self.due)
    }
    fn on_update(&mut self, due: Time, seen: &Observation) {
        assert_eq!(due, self.due);
        self.at(seen.now).seen.push(*seen);
        self.due = seen.now + PERIOD;
    }
}

fn site() -> Site {
    let rate = Rate::from_bits_per_second(8e6);
    Site { rate, packet: 1000.0, limit: 8.0, flows: Some(10.0), base_rtt: Some(Span::from_millis(100)) }
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

/// Plays the operations as a plant does: updates that are due come first.
fn play(disc: &mut dyn Disc<Parcel>, ops: &[Op], fate: &mut Fate) -> (Time, u64) {
    let (mut now, mut number) = (Time::ZERO, 0);
    for op in ops {
        match op {
            Op::Wait { micros } => now += Span::from_micros(*micros),
            Op::Enqueue { len, capable } => {
                number += 1;
                disc.enqueue(now, parcel(number, *len, if *capable { Ecn::Ect0 } else { Ecn::NotEct }), fate);
            }
            Op::Dequeue => {
                disc.dequeue(now, fate);
            }
        }
        assert!(disc.counts().conserve(disc.backlog().packets), "{:?}", disc.counts());
        if let Some(due) = disc.next_update().filter(|due| *due <= now) {
            disc.on_update(due, now);
            assert!(disc.next_update().is_none_or(|next| next > now), "one update, whatever was missed");
        }
    }
    (now, number)
}

proptest! {
    #[test]
    fn a_fifo_keeps_the_contract(
        ops in ops(),
        answers in verdicts(),
        limit in limits(),
        overflow in prop_oneof![Just(Overflow::Tail), Just(Overflow::Head)],
        wants_victim in any::<bool>(),
    ) {
        let spy = Spy { overflow, wants_victim, ..Spy::new(answers) };
        let told = spy.told.clone();
        let mut fate = Fate::default();
        let mut disc = Fifo::new(spy, limit, site(), Stream::named(1, "disc"));
        play(&mut disc, &ops, &mut fate);
        let counts = disc.counts();
        let told = told.lock().unwrap();
        prop_assert_eq!(counts.marked, fate.marked.len() as u64);
        prop_assert_eq!(counts.dropped(), fate.dropped.len() as u64);
        prop_assert_eq!(counts.overflowed, told.overflows);
        let overflowed = fate.dropped.iter().filter(|(_, cause)| *cause == Cause::Overflow).count();
        prop_assert_eq!(overflowed as u64, told.overflows);
        // The windows of the observations tile the time and count every packet once.
        let elapsed: f64 = told.seen.iter().map(|seen| seen.elapsed).sum();
        let until = told.seen.last().map_or(0.0, |seen| seen.now.seconds());
        prop_assert!((elapsed - until).abs() < 1e-9);
        for seen in &told.seen {
            prop_assert!(seen.busy <= seen.elapsed + 1e-12);
            prop_assert!(seen.dropped_packets + seen.marked_packets <= 3.0 * (seen.arrived_packets + 8.0));
            prop_assert!((0.0..=1.0).contains(&seen.applied.get()));
        }
        match limit {
            Limit::Packets(most) => prop_assert!(disc.backlog().packets <= most),
            Limit::Bytes(most) => prop_assert!(disc.backlog().bytes <= most),
            Limit::Unlimited => prop_assert_eq!(counts.overflowed, 0),
        }
    }
}

#[test]
fn a_full_buffer_is_told_to_the_law_and_drops_the_newcomer() {
    let mut fate = Fate::default();
    let mut disc =
        Fifo::new(Spy::new(vec![Verdict::Pass]), Limit::Packets(2), site(), Stream::named(1, "disc"));
    (1..=3).for_each(|number| disc.enqueue(Time::ZERO, parcel(number, 1000, Ecn::NotEct), &mut fate));
    assert_eq!(fate.dropped, [(3, Cause::Overflow)]);
    assert_eq!(disc.dequeue(Time::ZERO, &mut fate).unwrap().0.number, 1, "first in, first out");
}

#[test]
fn head_drop_makes_room_at_the_head_for_what_fits_an_empty_buffer() {
    let mut fate = Fate::default();
    let spy = Spy { overflow: Overflow::Head, ..Spy::new(vec![Verdict::Pass]) };
    let told = spy.told.clone();
    let mut disc = Fifo::new(spy, Limit::Bytes(2000), site(), Stream::named(1, "disc"));
    let mut enqueue = |number, len| disc.enqueue(Time::ZERO, parcel(number, len, Ecn::NotEct), &mut fate);
    for (number, len) in [(1, 800), (2, 700), (3, 400), (4, 1500), (5, 2001)] {
        enqueue(number, len);
    }
    // The fourth needs the room of the first two, and of the third no more; the fifth fits nowhere.
    assert_eq!(fate.dropped, [(1, Cause::Overflow), (2, Cause::Overflow), (5, Cause::Overflow)]);
    assert_eq!((disc.backlog().packets, told.lock().unwrap().overflows), (2, 3));
    assert_eq!(disc.dequeue(Time::ZERO, &mut fate).unwrap().0.number, 3);
}

#[test]
fn the_second_draw_chooses_a_victim_that_goes_with_the_arrival() {
    // The ninth arrival is answered by the last.
    let mut answers = vec![Verdict::Pass; 9];
    answers.push(Verdict::DropBoth);
    let spy = Spy { wants_victim: true, ..Spy::new(answers) };
    let mut disc = Fifo::new(spy, Limit::Unlimited, site(), Stream::named(1, "disc"));
    let mut fate = Fate::default();
    (1..=9).for_each(|number| disc.enqueue(Time::ZERO, parcel(number, 1000, Ecn::NotEct), &mut fate));
    let mut draws = Stream::named(1, "disc");
    let second = std::iter::repeat_with(|| draws.uniform()).nth(2 * 9 - 1).unwrap();
    let victim = (second * 8.0) as u64 + 1;
    assert_eq!(fate.dropped, [(9, Cause::Law), (victim, Cause::Law)]);
    let left: Vec<u64> =
        std::iter::from_fn(|| disc.dequeue(Time::ZERO, &mut fate)).map(|(parcel, _)| parcel.number).collect();
    assert_eq!(left, (1..=8).filter(|number| *number != victim).collect::<Vec<_>>(), "in order");
}

#[test]
fn a_mark_on_a_packet_that_cannot_carry_it_lets_it_pass() {
    let mut fate = Fate::default();
    let mut disc =
        Fifo::new(Spy::new(vec![Verdict::Mark]), Limit::Unlimited, site(), Stream::named(1, "disc"));
    disc.enqueue(Time::ZERO, parcel(1, 1000, Ecn::NotEct), &mut fate);
    disc.enqueue(Time::ZERO, parcel(2, 1000, Ecn::Ect0), &mut fate);
    assert_eq!((disc.backlog().packets, fate.marked.as_slice()), (2, [2].as_slice()));
}

#[test]
fn a_dequeue_goes_on_past_condemned_packets_and_idles_at_the_end() {
    let mut fate = Fate::default();
    // The answers come in turn: pass for the three arrivals, then drop every departure.
    let mut spy = Spy::new(vec![
        Verdict::Drop,
        Verdict::Pass,
        Verdict::Pass,
        Verdict::Pass,
        Verdict::Drop,
        Verdict::Drop,
    ]);
    spy.asked = 0;
    let told = spy.told.clone();
    let mut disc = Fifo::new(spy, Limit::Unlimited, site(), Stream::named(1, "disc"));
    (1..=3).for_each(|number| disc.enqueue(Time::ZERO, parcel(number, 1000, Ecn::NotEct), &mut fate));
    assert!(disc.dequeue(Time::ZERO, &mut fate).is_none());
    assert_eq!(fate.dropped, [(1, Cause::Law), (2, Cause::Law), (3, Cause::Law)]);
    assert_eq!(told.lock().unwrap().idles, 1);
}

#[test]
fn an_observation_says_what_happened_since_the_last() {
    let spy = Spy::new(vec![Verdict::Pass]);
    let told = spy.told.clone();
    let mut fate = Fate::default();
    let mut disc = Fifo::new(spy, Limit::Packets(2), site(), Stream::named(1, "disc"));
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    disc.enqueue(at(2), parcel(1, 1000, Ecn::NotEct), &mut fate);
    disc.enqueue(at(3), parcel(2, 500, Ecn::NotEct), &mut fate);
    disc.enqueue(at(3), parcel(3, 500, Ecn::NotEct), &mut fate);
    disc.dequeue(at(5), &mut fate);
    disc.dequeue(at(6), &mut fate);
    disc.enqueue(at(9), parcel(4, 700, Ecn::NotEct), &mut fate);
    // Due at 10 ms, and the host stalled until 25 ms.
    disc.on_update(at(10), at(25));
    let seen = told.lock().unwrap().seen[0];
    assert_eq!((seen.elapsed, seen.backlog_packets, seen.backlog_bytes), (0.025, 1.0, 700.0));
    assert_eq!((seen.arrived_packets, seen.arrived_bytes), (4.0, 2700.0));
    assert_eq!((seen.departed_packets, seen.departed_bytes, seen.dropped_packets), (2.0, 1500.0, 1.0));
    assert!((seen.busy - 0.020).abs() < 1e-12, "2 to 6 ms and 9 to 25 ms: {}", seen.busy);
    assert!((seen.head_sojourn - 0.016).abs() < 1e-12);
}

/// The numbers of Hollot's design in tests/reference/maths.json.
#[test]
fn pi_is_designed_as_published() {
    for (rtt, exact) in [("0.246000", 0.246), ("0.246667", 0.2 + 175.0 / 3750.0)] {
        let network = sojourn_aqm::Network { flows: 60.0, capacity: 3750.0, rtt: exact };
        let gains = sojourn_aqm::laws::pi::design(network, 1.0 / 160.0);
        reference::hold(&format!("hollot.PI.R={rtt}.a"), &[gains.a]);
        reference::hold(&format!("hollot.PI.R={rtt}.b"), &[gains.b]);
    }
}

/// A sampled controller is a law: the compiler says so.
#[test]
fn a_controller_makes_a_law() {
    fn is_law(_: impl Law) {}
    let params = sojourn_aqm::laws::pi::Params { a: Some(0.2), b: Some(0.1), ..Default::default() };
    let place = Site { limit: 200.0, ..site() };
    is_law(Sampled::new(sojourn_aqm::laws::pi::Pi::new(&params, &place).unwrap()));
}
