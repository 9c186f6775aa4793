//! Cost of a packet in a qdisc of many active queues, beside a single queue: `cargo run --release --example qdisc_cost`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // a bench reads the clock

use sojourn_aqm::qdiscs::classifiers::FlowHash;
use sojourn_aqm::qdiscs::schedulers::{GroupWeights, Rounds};
use sojourn_aqm::qdiscs::{Bounds, Fifo, QueueKind, Scheduled, Share};
use sojourn_aqm::{Cause, FlowId, Gauges, Law, LawSpec, Limit, LinkContext, Packet, Qdisc, Sink};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};
use std::time::Instant;

#[derive(Clone, Copy)]
struct Small(u32);

impl Packet for Small {
    fn len(&self) -> u32 {
        1000
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> FlowId {
        FlowId(self.0)
    }
}

struct Void;

impl Sink<Small> for Void {
    fn dropped(&mut self, _: Time, _: Small, _: Cause) {}
    fn marked(&mut self, _: Time, _: &Small) {}
}

fn main() {
    let packets: u32 = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(5_000_000);
    let kind = std::env::args().nth(1).unwrap_or_default();
    let context = LinkContext {
        rate: Rate::from_bits_per_second(1e9),
        packet: 1000.0,
        limit: 40_000.0,
        flows: None,
        base_rtt: None,
    };
    let law = || LawSpec::parse("codel").unwrap().design(&context).unwrap().law();
    let mut draws = Stream::named(1, "cost");
    let fifo = || -> Box<dyn Qdisc<Small>> {
        Box::new(Fifo::new(law(), Limit::Packets(40_000), context, Stream::named(1, "fifo")))
    };
    let mut drr = || -> Box<dyn Qdisc<Small>> {
        let parts = (FlowHash::new(16_384, &mut draws), Rounds::new(1514, GroupWeights::default(), true));
        let bounds = Bounds {
            buffer: Limit::Unlimited,
            most_packets: 40_000,
            most_bytes: u64::MAX,
            batch: 64,
            ce_threshold: None,
        };
        Box::new(Scheduled::<_, Box<dyn Law>, _, _>::new(
            bounds,
            parts,
            [QueueKind { law: law(), context, share: Share::Part(1.0) }],
            Stream::named(1, "drr"),
        ))
    };
    let mut qdiscs: Vec<(&str, Box<dyn Qdisc<Small>>)> = match kind.as_str() {
        "fifo" => vec![("fifo", fifo())],
        "drr" => vec![("drr", drr())],
        _ => vec![("fifo", fifo()), ("drr", drr())],
    };
    for (name, qdisc) in &mut qdiscs {
        let mut now = Time::ZERO;
        // The queues are made in one order and become active in another, as flows do: the next one is far away in memory.
        (0..FLOWS).for_each(|flow| qdisc.enqueue(now, Small(flow), &mut Void));
        while qdisc.dequeue(now, &mut Void).is_some() {}
        for packet in 0..2 * FLOWS {
            qdisc.enqueue(now, Small(packet.wrapping_mul(2_654_435_761) % FLOWS), &mut Void);
        }
        let start = Instant::now();
        // Each packet that leaves comes back, so that all queues stay active.
        for _ in 0..packets {
            now += Span::from_nanos(10);
            if let Some((packet, _)) = qdisc.dequeue(now, &mut Void) {
                qdisc.enqueue(now, packet, &mut Void);
            }
        }
        let mut active = Active(0.0);
        qdisc.gauges(&mut active);
        println!(
            "{name}: {:.1} ns a packet, {} active queues",
            start.elapsed().as_secs_f64() * 1e9 / f64::from(packets),
            active.0
        );
    }
}

/// Reads the number of active queues.
struct Active(f64);

impl Gauges for Active {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        if name == "active_queues" {
            self.0 = value;
        }
    }
}

/// So many are 10 000 queues of 16 384 buckets or more.
const FLOWS: u32 = 17_000;
