//! Deficit round robin: the sequences that RFC 8290 describes, and the fairness of Shreedhar and Varghese.

mod common;

use common::Parcel;
use proptest::prelude::*;
use sojourn_aqm::laws::tail_drop::TailDrop;
use sojourn_aqm::qdiscs::classifiers::FlowHash;
use sojourn_aqm::qdiscs::schedulers::{GroupWeights, Rounds};
use sojourn_aqm::qdiscs::{Bounds, QueueKind, Scheduled, Share};
use sojourn_aqm::{Cause, Limit, LinkContext, Qdisc, Sink};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Time};

type Drr = Scheduled<Parcel, TailDrop, FlowHash, Rounds>;

const BOUNDS: Bounds = Bounds {
    buffer: Limit::Unlimited,
    most_packets: 10_240,
    most_bytes: 32 << 20,
    batch: 64,
    ce_threshold: None,
};

fn drr(quantum: u32, bounds: Bounds) -> Drr {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(1e7),
        packet: 1000.0,
        limit: f64::INFINITY,
        flows: None,
        base_rtt: None,
    };
    let mut draws = Stream::named(1, "drr");
    let rounds = Rounds::new(quantum, GroupWeights::default(), true);
    let parts = (FlowHash::new(4096, &mut draws), rounds);
    let kind = QueueKind { law: TailDrop, context, share: Share::Part(1.0) };
    Scheduled::new(bounds, parts, [kind], draws)
}

#[derive(Default)]
struct Log {
    dropped: Vec<(u32, u64)>,
}

impl Sink<Parcel> for Log {
    fn dropped(&mut self, _now: Time, packet: Parcel, cause: Cause) {
        assert_eq!(cause, Cause::Overflow);
        self.dropped.push((packet.flow, packet.number));
    }
    fn marked(&mut self, _now: Time, _packet: &Parcel) {
        panic!("no law marks");
    }
}

struct Play {
    qdisc: Drr,
    number: u64,
    log: Log,
}

impl Play {
    fn new(quantum: u32, bounds: Bounds) -> Play {
        Play { qdisc: drr(quantum, bounds), number: 0, log: Log::default() }
    }

    fn arrive(&mut self, flow: u32, len: u32) {
        let packet = Parcel { number: self.number, len, ecn: Ecn::NotEct, flow };
        self.number += 1;
        self.qdisc.enqueue(Time::ZERO, packet, &mut self.log);
    }

    fn sent(&mut self, count: usize) -> Vec<u32> {
        let qdisc = &mut self.qdisc;
        (0..count)
            .map_while(|_| qdisc.dequeue(Time::ZERO, &mut self.log))
            .map(|(packet, _)| packet.flow)
            .collect()
    }
}

#[test]
fn a_new_queue_comes_before_the_old_ones_for_a_quantum() {
    // RFC 8290, sections 4.1 and 4.2.
    let mut play = Play::new(1500, BOUNDS);
    for flow in [1, 1, 1, 1, 2, 2, 2] {
        play.arrive(flow, 1000);
    }
    // 1 overdraws its quantum with its second packet; so does 2, which is new, too.
    assert_eq!(play.sent(4), [1, 1, 2, 2]);
    play.arrive(3, 100);
    assert_eq!(play.sent(1), [3], "a sparse flow waits for nobody");
    // 3 is found empty and goes behind the old ones, where it is removed.
    assert_eq!(play.sent(9), [1, 2, 1]);
}

#[test]
fn a_queue_that_returns_at_once_cannot_starve_the_others() {
    // RFC 8290, section 4.2: "the step that moves an empty queue ... is crucial to prevent starvation".
    let mut play = Play::new(1500, BOUNDS);
    for _ in 0..100 {
        play.arrive(1, 1000);
    }
    let mut sent = Vec::new();
    for _ in 0..200 {
        play.arrive(2, 1500);
        sent.extend(play.sent(1));
    }
    assert!(sent.iter().filter(|flow| **flow == 1).count() >= 98, "{sent:?}");
}

#[test]
fn the_fattest_queue_loses_half_from_its_head() {
    let mut play = Play::new(1500, Bounds { most_packets: 20, ..BOUNDS });
    for _ in 0..12 {
        play.arrive(1, 1000);
    }
    for _ in 0..8 {
        play.arrive(2, 1400);
    }
    play.arrive(3, 100);
    // 12 000 B against 11 200 B: six of twelve.
    assert_eq!(play.log.dropped, [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5)]);
    let mut play = Play::new(1500, Bounds { most_packets: 1000, ..BOUNDS });
    for _ in 0..=1000 {
        play.arrive(1, 1000);
    }
    assert_eq!(play.log.dropped.len(), 64, "a batch at most");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Between any two flows that are backlogged throughout, the bytes sent differ by no more than the quantum and two
    /// packets less two bytes, whatever else comes and goes: within Q + 2 Max of Shreedhar and Varghese (1995).
    #[test]
    fn flows_that_are_backlogged_have_equal_shares(
        quantum in 1_u32..4000,
        sizes in prop::collection::vec((1_u32..1500, 1_u32..1500), 1..20),
        others in prop::collection::vec((3_u32..40, 40_u32..1500, 0_usize..4), 0..400),
    ) {
        let mut play = Play::new(quantum, Bounds { most_packets: u32::MAX, most_bytes: u64::MAX, ..BOUNDS });
        let most = i64::from(sizes.iter().map(|(one, two)| *one.max(two)).max().unwrap());
        let mut next = [0_usize; 2];
        let mut refill = |play: &mut Play, flow: u32| {
            let (one, two) = sizes[next[flow as usize - 1] % sizes.len()];
            next[flow as usize - 1] += 1;
            play.arrive(flow, if flow == 1 { one } else { two });
        };
        for _ in 0..10 {
            refill(&mut play, 1);
            refill(&mut play, 2);
        }
        let mut log = Log::default();
        let mut sent = [0_i64; 3];
        let mut send = |play: &mut Play, sent: &mut [i64; 3]| {
            let (packet, _) = play.qdisc.dequeue(Time::ZERO, &mut log).expect("two flows have packets");
            if packet.flow <= 2 {
                sent[packet.flow as usize] += i64::from(packet.len);
                refill(play, packet.flow);
            }
        };
        // Both have left the list of new queues.
        while sent[1].min(sent[2]) <= i64::from(quantum) {
            send(&mut play, &mut sent);
        }
        let mut sent = [0_i64; 3];
        let mut ahead = [0_i64; 2];
        for (flow, len, count) in others {
            play.arrive(flow, len);
            for _ in 0..count {
                send(&mut play, &mut sent);
                ahead = [ahead[0].max(sent[1] - sent[2]), ahead[1].max(sent[2] - sent[1])];
                prop_assert!(ahead[0] + ahead[1] <= i64::from(quantum) + 2 * (most - 1), "{ahead:?}");
            }
        }
    }
}
