//! Fairness between two classes that have packets throughout, under any sequence of operations: others come and go, packets
//! are dropped by the law and by overflow, or marked, weights differ, a reserved queue takes its part.
//!
//! Each bound is over every interval, from any state: for D(t) the difference of what both were sent by t, in proportion to
//! their weights, the largest D(t2) - D(t1) is the largest D less the smallest.

#[path = "common/mod.rs"]
mod common;
#[path = "common/scripted.rs"]
mod scripted;

use common::Parcel;
use proptest::prelude::*;
use scripted::{Scripted, link};
use sojourn_aqm::qdiscs::classifiers::{By, ByTag, FlowHash};
use sojourn_aqm::qdiscs::schedulers::{Gps, GroupWeights, Reserved, Rounds, StartTime};
use sojourn_aqm::qdiscs::{Bounds, QueueKind, Scheduled, Scheduler, Share};
use sojourn_aqm::{Cause, FlowId, FlowTag, Limit, Qdisc, Sink};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};

/// The two classes, and the others; the last may be reserved.
const PAIR: [u32; 2] = [0, 1];
const CLASSES: usize = 5;
const RESERVED: u32 = 4;
/// Largest packet, bytes.
const LARGEST: u32 = 1499;

/// An operation: packets of these lengths arrive for a class, or so many are sent.
#[derive(Clone, Debug)]
enum Operation {
    Arrive(u32, Vec<u32>),
    Send(usize),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let lens = prop::collection::vec(1..=LARGEST, 1..4);
    let operation = prop_oneof![
        2 => (2..CLASSES as u32, lens).prop_map(|(class, lens)| Operation::Arrive(class, lens)),
        1 => (1_usize..12).prop_map(Operation::Send),
    ];
    prop::collection::vec(operation, 1..300)
}

fn weights() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![Just(1.0), 0.1..8.0_f64], CLASSES)
}

/// Lengths of the packets of both classes, in cycles; they follow each other at once, so that both have packets throughout.
fn lengths() -> impl Strategy<Value = [Vec<u32>; 2]> {
    let of_one = || {
        (1..=LARGEST, prop::collection::vec(1..=LARGEST, 1..20)).prop_map(|(most, lens)| {
            // Now and then small packets alone, for a bound of theirs; the law passes one of them at least.
            let lens = lens.into_iter().map(|len| 1 + len % most);
            lens.chain([most.saturating_sub(1) / 10 * 10 + 3]).collect::<Vec<u32>>()
        })
    };
    [of_one(), of_one()]
}

/// Operations on the packets of both classes.
struct Play<S> {
    qdisc: Scheduled<Parcel, Scripted, ByTag, S>,
    lengths: [Vec<u32>; 2],
    fates: Fates,
    number: u64,
    /// Bytes that the link has sent.
    all: f64,
    /// A class has packets if it has more bytes.
    spare: u32,
    /// Packets that have come to each.
    next: [usize; 2],
    /// Bytes that were sent for each.
    sent: [f64; 2],
    /// Packets that both were sent since both have had packets.
    together: u64,
}

#[derive(Default)]
struct Fates {
    held: [u32; CLASSES],
    bytes: [u32; CLASSES],
    by_law: u64,
    by_overflow: u64,
}

impl Fates {
    fn leave(&mut self, packet: &Parcel) {
        self.held[packet.flow as usize] -= 1;
        self.bytes[packet.flow as usize] -= packet.len;
    }
}

impl Sink<Parcel> for Fates {
    fn dropped(&mut self, _now: Time, packet: Parcel, cause: Cause) {
        self.leave(&packet);
        *(if cause == Cause::Law { &mut self.by_law } else { &mut self.by_overflow }) += 1;
    }
    fn marked(&mut self, _now: Time, _packet: &Parcel) {}
}

impl<S: Scheduler> Play<S> {
    fn new(scheduler: S, lengths: [Vec<u32>; 2], has_reserved: bool) -> Play<S> {
        let bounds = Bounds {
            buffer: Limit::Unlimited,
            most_packets: 120,
            most_bytes: u64::MAX,
            batch: 8,
            ce_threshold: None,
        };
        let mut draws = Stream::named(1, "shares");
        let reserved = (0..CLASSES).map(|class| has_reserved && class == RESERVED as usize).collect();
        let classifier = ByTag::new(By::Class, FlowHash::new(16, &mut draws), reserved);
        let kind = QueueKind { law: Scripted, context: link(), share: Share::Part(1.0) };
        let mut qdisc = Scheduled::new(bounds, (classifier, scheduler), [kind.clone(), kind], draws);
        for class in 0..CLASSES as u32 {
            qdisc.flow_joined(FlowId(class), FlowTag { class, ..FlowTag::default() });
        }
        Play {
            qdisc,
            lengths,
            fates: Fates::default(),
            number: 0,
            all: 0.0,
            spare: 0,
            next: [0; 2],
            sent: [0.0; 2],
            together: 0,
        }
    }

    /// The link is busy throughout.
    fn now(&self) -> Time {
        Time::ZERO + Span::from_seconds(self.all * 8.0 / link().rate.bits_per_second())
    }

    fn arrive(&mut self, class: u32, len: u32) {
        self.number += 1;
        self.fates.held[class as usize] += 1;
        self.fates.bytes[class as usize] += len;
        let packet = Parcel { number: self.number, len, ecn: Ecn::Ect0, flow: class };
        self.qdisc.enqueue(self.now(), packet, &mut self.fates);
        let held: u32 = self.fates.held.iter().sum();
        assert_eq!(self.qdisc.backlog().packets, held, "packets are conserved");
    }

    /// Sends a packet; both classes have more of them again. True if both have had packets throughout.
    fn send(&mut self) -> bool {
        let Some((packet, _)) = self.qdisc.dequeue(self.now(), &mut self.fates) else {
            self.have_packets();
            return false;
        };
        self.fates.leave(&packet);
        self.all += f64::from(packet.len);
        if let Some(sent) = self.sent.get_mut(packet.flow as usize) {
            *sent += f64::from(packet.len);
            self.together += 1;
        }
        self.have_packets()
    }

    /// Fills both up; true if both had packets.
    fn have_packets(&mut self) -> bool {
        let had_packets = PAIR.iter().all(|class| self.fates.bytes[*class as usize] > self.spare);
        for class in PAIR {
            // An overflow may take them at once.
            for _ in self.fates.held[class as usize]..FULL {
                let (lens, next) = (&self.lengths[class as usize], &mut self.next[class as usize]);
                let len = lens[*next % lens.len()];
                *next += 1;
                self.arrive(class, len);
            }
        }
        had_packets
    }

    /// The largest difference of what both were sent in an interval, in proportion to these weights.
    fn worst(&mut self, operations: &[Operation], weights: [f64; 2]) -> f64 {
        let (mut worst, mut ends) = (0.0_f64, [0.0_f64; 2]);
        self.have_packets();
        for operation in operations {
            let count = match operation {
                Operation::Arrive(class, lens) => {
                    for len in lens {
                        self.arrive(*class, *len);
                    }
                    0
                }
                Operation::Send(count) => *count,
            };
            let mut have_packets = self.have_packets();
            for _ in 0..count {
                have_packets &= self.send();
                if !have_packets {
                    break;
                }
                let ahead = self.sent[0] / weights[0] - self.sent[1] / weights[1];
                ends = [ends[0].min(ahead), ends[1].max(ahead)];
                worst = worst.max(ends[1] - ends[0]);
            }
            if !have_packets {
                // One had none: another interval.
                (self.sent, ends) = ([0.0; 2], [0.0; 2]);
            }
        }
        worst
    }
}

/// Packets of each of both classes; the law may drop several in a row.
const FULL: u32 = 20;

/// The largest packet that may be sent: the law drops some lengths.
fn largest(lens: &[u32]) -> f64 {
    f64::from(lens.iter().copied().filter(|len| len % 10 != 1).max().unwrap_or(1))
}

/// The bytes that a class has a turn of, and the weight that they make.
fn turn(quantum: u32, weight: f64) -> (f64, f64) {
    let bytes = (f64::from(quantum) * weight).floor().max(1.0);
    (bytes, bytes / f64::from(quantum))
}

fn check_rounds<S: Scheduler>(
    (scheduler, has_reserved): (S, bool),
    lengths: &[Vec<u32>; 2],
    operations: &[Operation],
    (quantum, weights): (u32, [f64; 2]),
) -> Result<(), TestCaseError> {
    let in_effect = weights.map(|weight| turn(quantum, weight).1);
    let mut play = Play::new(scheduler, lengths.clone(), has_reserved);
    let worst = play.worst(operations, in_effect);
    let bound = f64::from(quantum) + packets(lengths, in_effect, 1.0);
    prop_assert!(worst <= bound + 1e-6, "{worst} of {bound}");
    Ok(())
}

/// Largest packets of both, in proportion to their weights, each less so many bytes.
fn packets(lengths: &[Vec<u32>; 2], weights: [f64; 2], less: f64) -> f64 {
    let of = |class: usize| (largest(&lengths[class]) - less) / weights[class];
    of(0) + of(1)
}

/// What [`Play::worst`] finds under GPS, where packets are of half the largest size at least so that GPS, which is ahead of the
/// link, has both classes backlogged; and the bound: the largest packets of both that may be sent, and of all.
fn worst_of_gps(
    weights: GroupWeights,
    lengths: [Vec<u32>; 2],
    operations: &[Operation],
    of_pair: [f64; 2],
) -> (f64, f64) {
    // The last digit stays.
    let lengths =
        lengths.map(|lens| lens.into_iter().map(|len| 740 + len / 20 * 10 + len % 10).collect::<Vec<u32>>());
    let any = |class: usize| f64::from(*lengths[class].iter().max().unwrap()) / of_pair[class];
    let bound = packets(&lengths, of_pair, 0.0) + any(0) + any(1);
    let mut play = Play::new(Gps::new(weights, link().rate), lengths, false);
    play.spare = 2 * LARGEST;
    (play.worst(operations, of_pair), bound)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Shreedhar and Varghese (1995), theorem 3, for turns that a packet may overdraw (docs/qdiscs/drr.md): a quantum and the
    /// largest packet of each, less a byte.
    #[test]
    fn rounds_are_fair(
        new_first: bool,
        quantum in 1_u32..4000,
        weights in weights(),
        lengths in lengths(),
        operations in operations(),
    ) {
        let of_pair = [weights[0], weights[1]];
        let rounds = || Rounds::new(quantum, GroupWeights::new(weights.clone()), new_first);
        check_rounds((rounds(), false), &lengths, &operations, (quantum, of_pair))?;
        let [rate, link] = [2e6, 8e6].map(Rate::from_bits_per_second);
        check_rounds((Reserved::new(rounds(), rate, link), true), &lengths, &operations, (quantum, of_pair))?;
    }

    /// Goyal, Vin and Cheng (1997), theorem 1: the largest packet of each.
    #[test]
    fn start_times_are_fair(weights in weights(), lengths in lengths(), operations in operations()) {
        let of_pair = [weights[0], weights[1]];
        let bound = packets(&lengths, of_pair, 0.0);
        let start_time = || StartTime::new(GroupWeights::new(weights.clone()));
        let worst = Play::new(start_time(), lengths.clone(), false).worst(&operations, of_pair);
        prop_assert!(worst <= bound * (1.0 + 1e-9), "{worst} of {bound}");
        let [rate, link] = [2e6, 8e6].map(Rate::from_bits_per_second);
        let reserved = Reserved::new(start_time(), rate, link);
        let worst = Play::new(reserved, lengths.clone(), true).worst(&operations, of_pair);
        prop_assert!(worst <= bound * (1.0 + 1e-9), "{worst} of {bound}");
    }

    /// S. Golestani, A Self-Clocked Fair Queueing Scheme for Broadband Applications, INFOCOM 1994, theorem 1: least finish time
    /// first, and tags that follow each other without a gap, as those of GPS do while it has a queue backlogged, are fair to the
    /// largest packet of each. One more of each where the law drops: a queue is served for the tag of a packet that is dropped,
    /// and sends the one after it.
    #[test]
    fn finish_times_of_gps_are_fair(weights in weights(), lengths in lengths(), operations in operations()) {
        let of_pair = [weights[0], weights[1]];
        let (worst, bound) = worst_of_gps(GroupWeights::new(weights), lengths, &operations, of_pair);
        prop_assert!(worst <= bound * (1.0 + 1e-9), "{worst} of {bound}");
    }
}

/// The bounds are met, and the sequences above have what they are to have: drops of both kinds, and long intervals.
#[test]
fn the_bounds_are_tight_and_the_sequences_rich() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = (lengths(), operations(), 1_u32..4000);
    let (mut by_law, mut by_overflow, mut together, mut closest) = (0, 0, 0, [0.0_f64; 3]);
    for _ in 0..300 {
        let (lengths, operations, quantum) = strategy.new_tree(&mut runner).unwrap().current();
        let rounds = Rounds::new(quantum, GroupWeights::default(), true);
        let mut play = Play::new(rounds, lengths.clone(), false);
        let worst = play.worst(&operations, [1.0; 2]);
        closest[0] = closest[0].max(worst / (f64::from(quantum) + packets(&lengths, [1.0; 2], 1.0)));
        by_law += play.fates.by_law;
        by_overflow += play.fates.by_overflow;
        together += play.together;
        let start_time = StartTime::new(GroupWeights::default());
        let worst = Play::new(start_time, lengths.clone(), false).worst(&operations, [1.0; 2]);
        closest[1] = closest[1].max(worst / packets(&lengths, [1.0; 2], 0.0));
        let (worst, bound) = worst_of_gps(GroupWeights::default(), lengths, &operations, [1.0; 2]);
        closest[2] = closest[2].max(worst / bound);
    }
    println!("{by_law} {by_overflow} {together} {closest:?}");
    assert!(by_law > 1000 && by_overflow > 1000 && together > 10_000, "{by_law} {by_overflow} {together}");
    assert!(closest[0] > 0.9 && closest[1] > 0.9 && closest[2] > 0.5, "{closest:?}");
}
