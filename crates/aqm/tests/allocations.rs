//! No law and no qdisc allocates in operation, only in its constructor or its first seconds; the memory of a qdisc is bounded by
//! its queues and its buffer.
//!
//! The allocator of this test counts the allocations of the present thread.

#![allow(unsafe_code)]

#[path = "common/tape.rs"]
mod tape;

use sojourn_aqm::{
    Cause, FlowId, Law, LawSpec, Limit, LinkContext, Packet, Qdisc, QdiscSpec, Sink, catalogue,
};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use tape::Tape;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes allocated and not freed.
    static HELD: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    HELD.set(HELD.get() + bytes);
}

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as i64);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_law_allocates_in_operation() {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(1e8),
        packet: 1000.0,
        limit: 300.0,
        flows: Some(100.0),
        base_rtt: Some(Span::from_millis(100)),
    };
    // Its default form solves no problem.
    let forms = ["fb_ocq:form=receding", "fb_ocq:form=receding,iterations=2"];
    for spec in catalogue::LAWS.iter().map(|entry| entry.page.stem).chain(forms) {
        let mut law = LawSpec::parse(spec).unwrap().design(&context).unwrap().law();
        let mut tape = Tape::new(context, 4096);
        // Two seconds, and a hundred updates.
        work(law.as_mut(), &mut tape);
        let before = ALLOCATIONS.get();
        work(law.as_mut(), &mut tape);
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(allocations, 0, "{spec} allocates in operation");
    }
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![0_u8; 10]));
    assert_eq!(ALLOCATIONS.get() - before, 1, "the counter works");
}

fn work(law: &mut dyn Law, tape: &mut Tape) {
    for pass in 0..5 {
        tape.play(law);
        tape.wind();
        for update in 0..20 {
            tape.update(law, f64::from((pass + update) * 12));
        }
        tape.wind();
    }
}

/// A packet of a flow.
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

/// Qdiscs of many queues, with what they need.
/// The end of a period of sqm allocates, a packet does not.
const MANY: [&str; 14] = [
    "drr",
    "fq_codel",
    "fq_pie",
    "sfq_codel",
    "sfq:limit=1000",
    "wfq",
    "wfq:clock=start_time",
    "prio",
    "dual",
    "shaper:rate=50 Mbit/s",
    "cake:bandwidth=50 Mbit/s,ack_filter=aggressive",
    "sqm:period=1 h",
    "sqm:period=1 h,queues=16,elephant=1 B,scheduler=wfq,find=elephant_trap",
    "sqm:period=1 h,find=hash",
];

fn qdisc(spec: &str, limit: Limit) -> Box<dyn Qdisc<Small>> {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(1e8),
        packet: 1000.0,
        limit: limit.packets(1000.0),
        flows: Some(100.0),
        base_rtt: Some(Span::from_millis(100)),
    };
    QdiscSpec::parse(spec).unwrap().at(&context.into()).unwrap().build(limit, Stream::named(1, "many"))
}

/// Random flows, more than the link takes and less in turn.
fn serve(qdisc: &mut dyn Qdisc<Small>, draws: &mut Stream, now: &mut Time) {
    for step in 0..200_000 {
        *now += Span::from_micros(80);
        while let Some(due) = qdisc.next_update().filter(|due| due <= now) {
            qdisc.on_update(due, *now);
        }
        let arrivals = if step / 10_000 % 2 == 0 { 2 } else { u32::from(step % 2 == 0) };
        for _ in 0..arrivals {
            qdisc.enqueue(*now, Small((draws.uniform() * 3000.0) as u32), &mut Void);
        }
        let _ = qdisc.dequeue(*now, &mut Void);
    }
}

#[test]
fn no_qdisc_allocates_in_operation() {
    for spec in MANY {
        let mut qdisc = qdisc(spec, Limit::Packets(500));
        let (mut draws, mut now) = (Stream::named(2, "flows"), Time::ZERO);
        serve(qdisc.as_mut(), &mut draws, &mut now);
        let before = ALLOCATIONS.get();
        serve(qdisc.as_mut(), &mut draws, &mut now);
        assert_eq!(ALLOCATIONS.get() - before, 0, "{spec} allocates in operation");
        assert!(qdisc.counts().dropped() > 1000, "{spec}: {:?}", qdisc.counts());
    }
}

/// Whoever fills one queue after the other makes no memory grow: it is that of the queues and of the buffer.
#[test]
fn memory_is_bounded_by_queues_and_buffer() {
    for spec in MANY {
        let before = HELD.get();
        let mut qdisc = qdisc(spec, Limit::Packets(2000));
        let mut now = Time::ZERO;
        let mut play = |flows: std::ops::Range<u32>, count: u32| {
            for flow in flows {
                now += Span::from_millis(200);
                (0..count).for_each(|_| qdisc.enqueue(now, Small(flow), &mut Void));
                while qdisc.backlog().packets > 0 {
                    now = now.max(qdisc.not_before()) + Span::from_micros(1);
                    let _ = qdisc.dequeue(now, &mut Void);
                }
            }
            HELD.get() - before
        };
        // Every queue exists, and the buffer has been as full as a bound that rises over a minute lets it (`sqm`).
        play(0..20_000, 1);
        let all = play(0..1000, 2500);
        let later = play(0..2000, 2500);
        assert_eq!(later, all, "{spec}");
        assert!(all < 8 << 20, "{spec}: {all} B");
    }
}
