//! An hour of mice and arrivals takes no more memory than a minute of them.
//!
//! The allocator of this test counts the bytes held. The test has a file of
//! its own, so that no other test allocates at the same time.

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

const SCENARIO: &str = r#"
title = "Mice for an hour"
duration = "3600 s"
warmup = "0 s"
sample = "60 s"
[bottleneck]
rate = "2 Mbit/s"
delay = "10 ms"
buffer = "50 packets"
qdisc = { law = "red" }
[[flows]]
app = "mice"
count = 5
segment = "1000 B"
stop = "3599 s"
[[flows]]
app = { transfer = { size = "5 kB" } }
arrivals = { poisson = "200 ms" }
lifetime = { exponential = "10 s" }
count = 20
[[flows]]
app = { web = { objects = 10, idle = { exponential = "1 s" } } }
"#;

#[test]
fn an_hour_takes_no_more_than_a_minute() {
    let scenario = Scenario::parse(SCENARIO.as_bytes(), "test", &[]).unwrap();
    let before = HELD.load(Ordering::Relaxed);
    let mut run = Run::new(&scenario, 1);
    let held = [1.0, 5.0, 59.0].map(|minute| {
        while run.progress() < minute / 60.0 {
            run.advance();
        }
        HELD.load(Ordering::Relaxed) - before
    });
    println!("{held:?} B");
    // The series has a value a minute in some twenty columns; buffers may still reach a new maximum now and then.
    assert!(held[2] < held[0] + 60_000, "{held:?} B");
}
