//! Memory of a run. One more flow takes a kibibyte at most, its measurements, its entries in the schedule and its share
//! of the segments in flight at once. One more second takes nothing.
//!
//! The allocator of this test counts by thread: each run has one to itself.

#![allow(unsafe_code)]

use sojourn_scenario::Scenario;
use sojourn_sim::Run;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// Memory of another thread may be freed here: the count wraps.
fn count(more: usize, less: usize) {
    HELD.with(|held| held.set(held.get().wrapping_add(more as u64).wrapping_sub(less as u64)));
}

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Flows that lose packets for ten seconds, then stop.
const SCENARIO: &str = r#"
title = "A crowd"
duration = "300 s"
warmup = "0 s"
sample = "1 s"
[bottleneck]
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "50 packets"
qdisc = { law = "red" }
[[flows]]
count = COUNT
cc = "CC"
profile = "PROFILE"
stop = "10 s"
segment = "1500 B"
access = { rate = "100 Mbit/s", delay = "10 ms" }
"#;

/// A chain of links that flows and datagrams cross.
const CHAIN: &str = r#"
title = "For a long time"
duration = "DURATION s"
warmup = "0 s"
sample = "SAMPLE s"
[parking_lot]
routers = 4
rate = "5 Mbit/s"
delay = "5 ms"
buffer = "30 packets"
qdisc = { law = "red" }
[[flows]]
count = 10
cc = "newreno"
[[flows]]
count = 10
from = "r2"
to = "r3"
access = { rate = "100 Mbit/s", delay = { spread = ["1 ms", "30 ms"] } }
[[flows]]
app = { poisson = { rate = "500 kbit/s" } }
"#;

fn run(text: &str) -> Run {
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
    Run::new(&scenario, 1)
}

/// Bytes held by a run after these parts of it, beyond those held before it.
fn held_at<const N: usize>(parts: [f64; N], text: &str) -> [u64; N] {
    let before = HELD.get();
    let mut run = run(text);
    parts.map(|part| {
        while run.progress() < part {
            run.advance();
        }
        HELD.get() - before
    })
}

/// Bytes held by a run of so many flows: before its start, and once they are idle.
fn held(count: u64, cc: &str, profile: &str) -> [u64; 2] {
    let text = SCENARIO.replace("COUNT", &count.to_string()).replace("CC", cc).replace("PROFILE", profile);
    held_at([0.0, 0.99], &text)
}

#[test]
fn one_more_flow_takes_little_more_than_a_kibibyte() {
    for (cc, profile) in [("newreno", "ns2"), ("cubic", "default"), ("dctcp", "ns3")] {
        let (few, many) = (held(100, cc, profile), held(1100, cc, profile));
        let [start, rest] = [0, 1].map(|when| (many[when] - few[when]) / 1000);
        assert!(start <= 1100 && rest <= 1200, "{cc} {profile}: {start} B at the start, {rest} B idle");
    }
}

/// The series has as many points in both. Packets in flight may still have reached a new maximum.
#[test]
fn a_longer_run_holds_no_more() {
    let [short, long] = [50, 200].map(|seconds: u32| {
        let sample = (f64::from(seconds) / 100.0).to_string();
        let [held] =
            held_at([0.999], &CHAIN.replace("DURATION", &seconds.to_string()).replace("SAMPLE", &sample));
        held
    });
    assert!(long < short + short / 50, "{short} B after 50 s, {long} B after 200 s");
}
