//! Packets are conserved in every queue.

use super::*;
use crate::laws::tail_drop::TailDrop;
use crate::qdisc::Ack;
use crate::qdiscs::classifiers::FlowHash;
use crate::qdiscs::schedulers::{GroupWeights, Rounds};
use sojourn_units::Ecn;

/// A packet of a flow, with its length and the number that it acknowledges.
struct Numbered(u32, u32, u64);

impl Packet for Numbered {
    fn len(&self) -> u32 {
        self.1
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> FlowId {
        FlowId(self.0)
    }
}

#[test]
fn a_queue_is_a_cache_line() {
    assert_eq!(size_of::<Member<Box<dyn Law>>>(), 64);
}

struct Nothing;

impl Sink<Numbered> for Nothing {
    fn dropped(&mut self, _: Time, _: Numbered, _: Cause) {}
    fn marked(&mut self, _: Time, _: &Numbered) {}
    fn ack(&self, packet: &Numbered) -> Option<Ack> {
        Some(Ack { connection: 0, number: packet.2, sack: [(0, 0); 3], is_pure: packet.1 < 500 })
    }
}

/// Each queue holds the packets and the bytes that it counts, all of them what the qdisc counts, and no slot is lost.
#[test]
fn every_queue_conserves_its_packets() {
    let mut draws = Stream::named(1, "conserved");
    let parts = (FlowHash::new(16, &mut draws), Rounds::new(1000, GroupWeights::default(), true));
    let context = LinkContext {
        rate: Rate::from_bits_per_second(1e6),
        packet: 1000.0,
        limit: f64::INFINITY,
        flows: None,
        base_rtt: None,
    };
    let bounds = Bounds {
        buffer: Limit::Unlimited,
        most_packets: 200,
        most_bytes: 60_000,
        batch: 8,
        ce_threshold: None,
    };
    let kind = QueueKind { law: TailDrop, context, share: Share::Part(1.0) };
    let qdisc = Scheduled::new(bounds, parts, [kind], draws.clone());
    let mut qdisc = qdisc.with_ack_filter(AckFilter::Conservative);
    for number in 0..100_000 {
        let load = if number / 5000 % 2 == 0 { 0.7 } else { 0.45 };
        if draws.uniform() < load {
            let (flow, len) = ((draws.uniform() * 40.0) as u32, 40 + (draws.uniform() * 1460.0) as u32);
            qdisc.enqueue(Time::ZERO, Numbered(flow, len, number), &mut Nothing);
        } else {
            let _ = qdisc.dequeue(Time::ZERO, &mut Nothing);
        }
        let mut sum = Backlog::default();
        for Member { queue, packets, .. } in &qdisc.queues {
            let held = qdisc.store.iter(*packets);
            let (count, bytes) =
                held.fold((0, 0), |(count, bytes), packet| (count + 1, bytes + u64::from(packet.len())));
            assert_eq!(queue.backlog(), Backlog { packets: count, bytes });
            sum = Backlog { packets: sum.packets + count, bytes: sum.bytes + bytes };
        }
        assert_eq!(qdisc.backlog, sum);
        assert_eq!(qdisc.store.held(), sum.packets as usize);
        assert!(qdisc.counts.conserve(sum.packets));
    }
    assert!(qdisc.counts.filtered > 500 && qdisc.counts.overflowed > 1000, "{:?}", qdisc.counts);
}
