//! Sequences worked out by hand from RFC 8290, sections 4.1 and 4.2, each with its clause.
//!
//! The comments have the lists as `new | old`, a queue with its credits: `1:500 2:1500 | 3:-20`.

#[path = "common/mod.rs"]
mod common;
#[path = "common/scripted.rs"]
mod scripted;

use common::Parcel;
use scripted::{Scripted, link};
use sojourn_aqm::qdiscs::classifiers::{By, ByTag, FlowHash};
use sojourn_aqm::qdiscs::schedulers::{GroupWeights, Rounds};
use sojourn_aqm::qdiscs::{Bounds, QueueKind, Scheduled, Share};
use sojourn_aqm::{Cause, FlowId, FlowTag, Limit, Qdisc, Sink};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Span, Time};

const BOUNDS: Bounds = Bounds {
    buffer: Limit::Unlimited,
    most_packets: 10_240,
    most_bytes: 32 << 20,
    batch: 64,
    ce_threshold: None,
};

/// The flow and the number of each packet dropped, with the cause, and of each marked.
#[derive(Default)]
struct Log {
    dropped: Vec<(u32, u64, Cause)>,
    marked: Vec<(u32, u64)>,
}

impl Sink<Parcel> for Log {
    fn dropped(&mut self, _now: Time, packet: Parcel, cause: Cause) {
        self.dropped.push((packet.flow, packet.number, cause));
    }
    fn marked(&mut self, _now: Time, packet: &Parcel) {
        self.marked.push((packet.flow, packet.number));
    }
}

/// A qdisc with a queue for each flow, under a law that obeys the lengths of packets.
struct Play {
    qdisc: Scheduled<Parcel, Scripted, ByTag, Rounds>,
    now: Time,
    number: u64,
    ecn: Ecn,
    log: Log,
}

impl Play {
    fn new(quantum: u32, bounds: Bounds) -> Play {
        let mut draws = Stream::named(1, "rfc8290");
        let rounds = Rounds::new(quantum, GroupWeights::default(), true);
        let classifier = ByTag::new(By::Class, FlowHash::new(16, &mut draws), Vec::new());
        let kind = QueueKind { law: Scripted, context: link(), share: Share::Part(1.0) };
        let mut qdisc = Scheduled::new(bounds, (classifier, rounds), [kind], draws);
        for class in 0..8 {
            qdisc.flow_joined(FlowId(class), FlowTag { class, ..FlowTag::default() });
        }
        Play { qdisc, now: Time::ZERO, number: 0, ecn: Ecn::Ect0, log: Log::default() }
    }

    /// Packets of a flow with these lengths arrive.
    fn arrive(&mut self, flow: u32, lens: &[u32]) {
        for len in lens {
            let packet = Parcel { number: self.number, len: *len, ecn: self.ecn, flow };
            self.number += 1;
            self.qdisc.enqueue(self.now, packet, &mut self.log);
        }
    }

    /// Flows of the next packets sent, at most so many.
    fn sent(&mut self, count: usize) -> Vec<u32> {
        let (qdisc, log, now) = (&mut self.qdisc, &mut self.log, self.now);
        let packets = (0..count).map_while(|_| qdisc.dequeue(now, log));
        packets.map(|(packet, _)| packet.flow).collect()
    }
}

/// 4.1: "if the queue is not currently active ..., it is added to the end of the list of new queues, and its number of credits
/// is initiated to the configured quantum".
#[test]
fn queues_become_active_in_the_order_of_their_first_packets() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(3, &[1000]);
    play.arrive(1, &[1000]);
    play.arrive(2, &[1000]);
    play.arrive(3, &[1000]);
    // 3:1500 1:1500 2:1500 |
    assert_eq!(play.sent(9), [3, 3, 1, 2]);
}

/// 4.2: a new queue comes before the old ones until it has sent a quantum.
#[test]
fn a_new_queue_comes_before_the_old_ones_for_a_quantum() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[1000; 4]);
    play.arrive(2, &[1000; 3]);
    // 1 overdraws its quantum with its second packet; so does 2, which is new, too.
    assert_eq!(play.sent(4), [1, 1, 2, 2]);
    play.arrive(3, &[100]);
    assert_eq!(play.sent(1), [3], "a sparse flow waits for nobody");
    // 3 is found empty and goes behind the old ones, where it is removed.
    assert_eq!(play.sent(9), [1, 2, 1]);
}

/// 4.2: exhausted is who "has already dequeued at least a quantum of bytes": credits of exactly 0.
#[test]
fn credits_of_0_are_exhausted() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[1500, 1500]);
    play.arrive(2, &[1500]);
    // 1:0 2:1500 |, so 2 is next; with "negative" alone 1 would send again.
    assert_eq!(play.sent(9), [1, 2, 1]);
}

/// 4.2: credits of 1 are enough for a packet of any size.
#[test]
fn one_credit_is_enough() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[1499, 1500]);
    play.arrive(2, &[1500]);
    assert_eq!(play.sent(9), [1, 1, 2]);
}

/// 4.2: "If the queue selected for dequeue came from the list of new queues, it is moved to the end of the list of old queues."
/// 4.1: "Otherwise, the queue is left in its current queue list."
#[test]
fn a_flow_that_returns_while_its_queue_is_old_is_not_new() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[1000; 4]);
    assert_eq!(play.sent(2), [1, 1]);
    play.arrive(2, &[100]);
    // 1:-500 2:1500 |  then  2:1400 | 1:1000
    assert_eq!(play.sent(1), [2]);
    // 2 is found empty: | 1:1000 2:1400; 1 sends.
    assert_eq!(play.sent(1), [1]);
    play.arrive(2, &[100]);
    play.arrive(3, &[100]);
    // 3:1500 | 1:0 2:1400
    assert_eq!(play.sent(9), [3, 2, 1]);
}

/// 4.1: credits are initiated for a queue that becomes active, and for no other.
#[test]
fn a_queue_that_returns_while_it_is_active_has_the_credits_that_it_left() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[1000; 6]);
    play.arrive(2, &[1400]);
    // 1:1500 2:1500 |  then  2:1500 | 1:1000
    assert_eq!(play.sent(3), [1, 1, 2]);
    // 2 is found empty: | 1:1000 2:100
    assert_eq!(play.sent(1), [1]);
    play.arrive(2, &[200, 200]);
    // | 1:0 2:100  then  | 2:100 1:1500; one packet overdraws: | 1:1500 2:1400
    assert_eq!(play.sent(9), [2, 1, 1, 2, 1]);
}

/// 4.2: an old queue that is found empty "is removed from the list, to be added back (as a new queue)".
#[test]
fn an_old_queue_that_was_found_empty_is_new_again() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(2, &[100]);
    play.arrive(1, &[1000; 5]);
    assert_eq!(play.sent(3), [2, 1, 1]);
    // | 2:1400 1:1000; 2 is removed.
    assert_eq!(play.sent(1), [1]);
    play.arrive(2, &[100]);
    assert_eq!(play.sent(9), [2, 1, 1]);
}

/// 4.2: "the step that moves an empty queue ... is crucial to prevent starvation".
#[test]
fn a_queue_that_returns_at_once_cannot_starve_the_others() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[1000; 100]);
    let mut sent = Vec::new();
    for _ in 0..200 {
        play.arrive(2, &[1500]);
        sent.extend(play.sent(1));
    }
    assert!(sent.iter().filter(|flow| **flow == 1).count() >= 98, "{sent:?}");
    // "even with a small number of active flows, if the flow ... transmits at just the right rate": each comes as the other
    // is found empty.
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[1000; 100]);
    let mut sent = Vec::new();
    for _ in 0..50 {
        for flow in [2, 3] {
            play.arrive(flow, &[100]);
            sent.extend(play.sent(1));
        }
    }
    // In bytes nearly half: 2 and 3 have theirs in packets of a tenth. If they left the lists at once it would have 2.
    assert_eq!(sent.iter().filter(|flow| **flow == 1).count(), 8, "{sent:?}");
}

/// 4.2: a packet is sent while there are credits, so one above the quantum waits for the rounds that it has overdrawn.
#[test]
fn a_packet_above_the_quantum_is_paid_for_in_later_rounds() {
    let mut play = Play::new(300, BOUNDS);
    play.arrive(1, &[1500, 1500]);
    play.arrive(2, &[100; 40]);
    // 1:-1200 at first; it has credits again after five more grants, 300 B of the other in each.
    let mut expected = vec![1];
    expected.extend([2; 15]);
    expected.push(1);
    assert_eq!(play.sent(17), expected);
}

/// 4.2: "it subtracts the size of the packet" that CoDel returns; those that it discards before cost nothing.
#[test]
fn dropped_packets_cost_no_credits_and_marked_ones_do() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[991, 991, 991, 1000, 1000]);
    play.arrive(2, &[1000, 1000]);
    assert_eq!(play.sent(9), [1, 1, 2, 2]);
    let by_law = |number: u64| (1, number, Cause::Law);
    assert_eq!(play.log.dropped, [0, 1, 2].map(by_law));
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[992, 992, 992]);
    play.arrive(2, &[1000, 1000]);
    assert_eq!(play.sent(9), [1, 1, 2, 2, 1]);
    assert_eq!(play.log.marked, [(1, 0), (1, 1), (1, 2)]);
}

/// 4.2: "nothing is returned if the queue is or becomes empty while being handled by the CoDel algorithm"; then "the whole
/// dequeue process is restarted".
#[test]
fn a_queue_that_its_law_empties_counts_as_empty() {
    let mut play = Play::new(1500, BOUNDS);
    play.arrive(1, &[991, 991]);
    play.arrive(2, &[1000, 1000, 1000]);
    assert_eq!(play.sent(1), [2], "the same dequeue goes on to the next queue");
    assert_eq!(play.log.dropped.len(), 2);
    // 2:500 | 1:1500; 1 is active still and no new queue.
    play.arrive(1, &[100]);
    play.arrive(3, &[100]);
    assert_eq!(play.sent(9), [2, 3, 1, 2]);
}

/// 4.1: "the queue with the largest current byte count is selected and half the number of packets from this queue (up to a
/// maximum of 64 packets) are dropped from the head".
#[test]
fn the_fattest_queue_loses_half_from_its_head() {
    let mut play = Play::new(1500, Bounds { most_packets: 20, ..BOUNDS });
    play.arrive(1, &[1000; 12]);
    play.arrive(2, &[1400; 8]);
    play.arrive(3, &[100]);
    // 12 000 B against 11 200 B: six of twelve.
    assert_eq!(play.log.dropped, [0, 1, 2, 3, 4, 5].map(|number| (1, number, Cause::Overflow)));
    let mut play = Play::new(1500, Bounds { most_packets: 1000, ..BOUNDS });
    play.arrive(1, &[1000; 1001]);
    assert_eq!(play.log.dropped.len(), 64, "a batch at most");
}

/// 4.1: the limit "can be exceeded since a packet was just enqueued", which counts: its queue may be the fattest by it.
#[test]
fn the_packet_that_came_last_counts() {
    let mut play = Play::new(1500, Bounds { most_packets: 4, ..BOUNDS });
    play.arrive(1, &[700, 700]);
    play.arrive(2, &[600, 600, 600]);
    // 1800 B against 1400 B: two of three, as half is rounded up, so that a single packet can go.
    assert_eq!(play.log.dropped, [2, 3].map(|number| (2, number, Cause::Overflow)));
    assert_eq!(play.sent(9), [1, 1, 2]);
}

/// 4.1 and 4.2 together: an overflow takes the last packet of the queue in service, which stays active and is then found empty.
#[test]
fn an_overflow_may_empty_the_queue_in_service() {
    let mut play = Play::new(1500, Bounds { most_packets: 4, ..BOUNDS });
    play.arrive(1, &[1000, 1400]);
    assert_eq!(play.sent(1), [1]);
    play.arrive(2, &[100; 4]);
    assert_eq!(play.log.dropped, [(1, 1, Cause::Overflow)]);
    // 1:500 2:1500 |  then  2:1500 | 1:500, so that 1 is not new when it returns.
    assert_eq!(play.sent(2), [2, 2]);
    play.arrive(1, &[100]);
    play.arrive(3, &[100]);
    assert_eq!(play.sent(9), [2, 2, 3, 1]);
    assert_eq!(play.qdisc.backlog().packets, 0);
    // Nothing is active: who comes first is first.
    play.arrive(3, &[100]);
    play.arrive(1, &[100]);
    assert_eq!(play.sent(9), [3, 1]);
}

/// 5.2.7: CE above the threshold for those that are ECN-capable, whatever the law says; the others are not dropped for it.
#[test]
fn the_ce_threshold_marks_and_drops_nothing() {
    let threshold = Span::from_millis(1);
    for (ecn, marks) in [(Ecn::Ect0, 1), (Ecn::Ect1, 1), (Ecn::NotEct, 0)] {
        let mut play = Play::new(1500, Bounds { ce_threshold: Some(threshold), ..BOUNDS });
        play.ecn = ecn;
        play.arrive(1, &[1000, 1000]);
        play.now += threshold;
        assert_eq!(play.sent(1), [1]);
        assert_eq!(play.log.marked, [], "at the threshold");
        play.now += Span::from_nanos(1);
        assert_eq!(play.sent(1), [1]);
        assert_eq!((play.log.marked.len(), play.log.dropped.len()), (marks, 0));
    }
}
