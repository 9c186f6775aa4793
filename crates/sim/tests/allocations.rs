//! No allocation per packet, and no growth of memory with simulated time.
//!
//! The allocator of this test counts requested bytes. The test has a file of
//! its own, so that no other test allocates at the same time.

#![allow(unsafe_code)]

use sojourn_scenario::Scenario;
use sojourn_sim::Run;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add((size.saturating_sub(layout.size())) as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SCENARIO: &str = r#"
title = "Twenty flows without end"
duration = "1000 s"
warmup = "10 s"
sample = "1 s"
[bottleneck]
rate = "8 Mbit/s"
delay = "20 ms"
buffer = "100 packets"
qdisc = { law = "red" }
[[flows]]
count = 10
cc = "newreno"
ecn = true
segment = "1000 B"
access = { rate = "10 Mbit/s", delay = "40 ms" }
[[flows]]
count = 10
cc = "cubic"
tcp = { timestamps = true }
segment = "1000 B"
access = { rate = "10 Mbit/s", delay = "40 ms" }
"#;

#[test]
fn a_thousand_seconds_allocate_no_more_than_their_series() {
    let scenario = Scenario::parse(SCENARIO.as_bytes(), "test", &[]).unwrap();
    let mut run = Run::new(&scenario, 1);
    while run.progress() < 0.1 {
        run.advance();
    }
    let (allocations, bytes) = (ALLOCATIONS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
    while run.progress() < 0.9 {
        run.advance();
    }
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - allocations;
    let bytes = BYTES.load(Ordering::Relaxed) - bytes;
    // 800 s are 800 000 packets. The eight columns of the series double a few times each;
    // rings and reassembly lists may still reach a new maximum now and then.
    assert!(allocations < 500, "{allocations} allocations, {bytes} B");
    assert!(bytes < 200_000, "{bytes} B in {allocations} allocations");
}
