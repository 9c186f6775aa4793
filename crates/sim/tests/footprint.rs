//! What a run holds for one flow more: the flow, which takes a kibibyte at most, what measures it, its entries in the
//! schedule, its share of the segments that were under way at once.
//!
//! The allocator of this test counts what is held. It stands in a file of its
//! own, so that no other test allocates at the same time.

#![allow(unsafe_code)]

use sojourn_scenario::Scenario;
use sojourn_sim::Run;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static HELD: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_add(size as u64, Ordering::Relaxed);
        HELD.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Flows that lose packets for ten seconds, and end.
const SCENARIO: &str = r#"
title = "A crowd"
duration = "300 s"
warmup = "0 s"
sample = "1 s"
[bottleneck]
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "50 packets"
disc = { law = "red" }
[[flows]]
count = COUNT
cc = "CC"
profile = "PROFILE"
stop = "10 s"
segment = "1500 B"
access = { rate = "100 Mbit/s", delay = "10 ms" }
"#;

/// Bytes held by a run of so many flows: before its start, and at rest.
fn held(count: u64, cc: &str, profile: &str) -> [u64; 2] {
    let text = SCENARIO.replace("COUNT", &count.to_string()).replace("CC", cc).replace("PROFILE", profile);
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
    let before = HELD.load(Ordering::Relaxed);
    let mut run = Run::new(&scenario, 1).unwrap();
    [0.0, 0.99].map(|part| {
        while run.progress() < part {
            run.advance();
        }
        HELD.load(Ordering::Relaxed) - before
    })
}

#[test]
fn a_flow_more_takes_little_more_than_a_kibibyte() {
    for (cc, profile) in [("newreno", "ns2"), ("cubic", "default"), ("dctcp", "ns3")] {
        let (few, many) = (held(100, cc, profile), held(1100, cc, profile));
        let [start, rest] = [0, 1].map(|when| (many[when] - few[when]) / 1000);
        assert!(start <= 1100 && rest <= 1200, "{cc} {profile}: {start} B at the start, {rest} B at rest");
    }
}
