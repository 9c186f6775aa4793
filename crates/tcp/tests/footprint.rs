//! Memory of an idle connection, after a transfer with losses, and under any ACKs.
//!
//! The test's allocator counts per thread, as the thread that starts the tests allocates as well.

#![allow(unsafe_code)]

use sojourn_tcp::{Config, Flags, LossDetection, Profile, Receiver, Segment, Sender};
use sojourn_units::{Span, Time};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

struct Counting;

thread_local! {
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// Memory allocated by another thread may be freed here: the count wraps.
fn count(more: usize, less: usize) {
    HELD.with(|held| held.set(held.get().wrapping_add(more as u64).wrapping_sub(less as u64)));
}

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as the caller guarantees.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Heap of an idle connection, bytes: `flow.rs` in `crates/sim` adds its sizes.
const MOST: u64 = 104;
const DELAY: Span = Span::from_millis(20);
/// Segments to send, one in twenty of which is lost, except at the end: the state for undoing the last reduction is
/// kept for two windows more.
const SEGMENTS: u64 = 2000;
const LOSSES: Range<u64> = 30..1500;

#[test]
fn an_idle_connection_holds_little_memory() {
    for (name, cc) in
        [("default", "cubic"), ("default", "newreno"), ("ns2", "newreno"), ("ns2", "cubic"), ("ns3", "dctcp")]
    {
        let profile = Profile::named(name).unwrap();
        let config =
            Arc::new(Config { profile, cc: cc.into(), mss: 1000, ecn: false, ect1: false, reads: None });
        let before = HELD.get();
        let (mut sender, mut receiver) = (Sender::new(config.clone()), Receiver::new(config));
        transfer(&mut sender, &mut receiver);
        let held = HELD.get() - before;
        assert!(held <= MOST, "{name} {cc}: {held} B");
    }
}

/// Single bytes leave no state; segments, of which every other one was delivered and retransmitted, some words each.
#[test]
fn a_receiver_cannot_fill_the_memory_of_a_sender() {
    for loss_detection in [LossDetection::Rack, LossDetection::Dupacks] {
        let usual = Profile::default();
        let profile = Profile {
            initial_window: SEGMENTS,
            sack: Some(true),
            timestamps: false,
            loss_detection,
            ..usual
        };
        let config =
            Config { profile, cc: "newreno".into(), mss: 1000, ecn: false, ect1: false, reads: None };
        let (mut sender, mut receiver) = (Sender::new(config.clone()), Receiver::new(config));
        let mut now = Time::ZERO;
        sender.supply(SEGMENTS * 1000);
        sender.open();
        let syn = sender.poll_transmit(now).unwrap();
        let answer = receiver.on_segment(now, &syn).unwrap();
        now += DELAY;
        sender.on_segment(now, &answer);
        let window = u32::MAX;
        let mut receive = |blocks: [(u64, u64); 3]| {
            let mut ack = Segment { flags: Flags::ACK, window, ..Segment::default() };
            for (from, to) in blocks {
                ack.sack.push(0, from, to);
            }
            now += Span::from_micros(1);
            sender.on_segment(now, &ack);
            std::iter::from_fn(|| sender.poll_transmit(now)).count() as u64
        };
        let sent = receive([(0, 0); 3]);
        let before = HELD.get();
        for at in (1000..1000 * sent - 10).step_by(100) {
            let sent = receive([2, 4, 6].map(|byte| (at + byte, at + byte + 1)));
            assert_eq!(sent, 0, "parts of segments have no effect");
        }
        assert_eq!(HELD.get(), before);
        let again: u64 =
            (1..sent - 1).step_by(2).map(|at| receive([(1000 * at, 1000 * (at + 1)), (0, 0), (0, 0)])).sum();
        assert!(again <= sent, "{again} of {sent} segments are retransmitted");
        let held = HELD.get() - before;
        assert!(held <= 64 * sent, "{held} B for {sent} segments");
    }
}

/// Runs a transfer with losses to its end.
fn transfer(sender: &mut Sender, receiver: &mut Receiver) {
    let end = SEGMENTS * u64::from(sender.mss());
    sender.supply(end);
    sender.open();
    let (mut now, mut sent) = (Time::ZERO, 0);
    let (mut forward, mut back) = (VecDeque::new(), VecDeque::new());
    loop {
        while let Some(segment) = sender.poll_transmit(now) {
            sent += 1;
            if !LOSSES.contains(&sent) || sent % 20 > 0 {
                forward.push_back((now + DELAY, segment));
            }
        }
        let due = |queue: &VecDeque<(Time, Segment)>| queue.front().map(|(at, _)| *at);
        let arrived = |queue: &mut VecDeque<(Time, Segment)>, now| {
            if due(queue)? <= now { queue.pop_front() } else { None }
        };
        let all = [due(&forward), due(&back), sender.next_timeout(), receiver.next_timeout()];
        let Some(next) = all.into_iter().flatten().min() else { break };
        now = now.max(next);
        if let Some((_, segment)) = arrived(&mut forward, now) {
            back.extend(receiver.on_segment(now, &segment).map(|ack| (now + DELAY, ack)));
        }
        back.extend(receiver.on_timeout(now).map(|ack| (now + DELAY, ack)));
        if let Some((_, ack)) = arrived(&mut back, now) {
            sender.on_segment(now, &ack);
        }
        sender.on_timeout(now);
    }
    assert_eq!(sender.acknowledged(), end);
}
