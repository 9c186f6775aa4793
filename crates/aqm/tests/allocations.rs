//! No law allocates in operation, only in its constructor or its first seconds.
//!
//! The allocator of this test counts the allocations of the present thread.

#![allow(unsafe_code)]

#[path = "common/tape.rs"]
mod tape;

use sojourn_aqm::{Law, LawSpec, LinkContext, catalogue};
use sojourn_units::{Rate, Span};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use tape::Tape;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
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
    for entry in catalogue::LAWS {
        let mut law = LawSpec::new(entry.page.stem, &[]).unwrap().design(&context).unwrap().law();
        let mut tape = Tape::new(context, 4096);
        // Two seconds, and a hundred updates.
        work(law.as_mut(), &mut tape);
        let before = ALLOCATIONS.get();
        work(law.as_mut(), &mut tape);
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(allocations, 0, "{} allocates in operation", entry.page.stem);
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
