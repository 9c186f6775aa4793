//! Cost of an event queue by itself: pop the earliest event, touch its
//! component, push it again. Alternates the packet plant's queue and the
//! standard library's heap; prints medians in nanoseconds.
//!
//! ```sh
//! cargo run --release -p sojourn-sim --example event_queue
//! ```
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // a bench reads the clock

use sojourn_random::Stream;
use sojourn_sim::EventQueue;
use sojourn_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Memory that an event touches: a component of two cache lines.
#[derive(Clone, Copy)]
struct Component([u64; 16]);

const EVENTS: u32 = 1_000_000;
const ROUNDS: usize = 5;
/// Nanoseconds between the events of all components.
const GAP: u64 = 40_000;

fn main() {
    println!("pending  wheel_ns  heap_ns");
    for pending in [100, 300, 1000, 10_000, 100_000, 1_000_000] {
        let mut costs = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            costs[0].push(wheel(pending));
            costs[1].push(heap(pending));
        }
        let [wheel, heap] = costs.map(|mut costs| {
            costs.sort_by(f64::total_cmp);
            costs[ROUNDS / 2]
        });
        println!("{pending:7}  {wheel:8.1}  {heap:7.1}");
    }
}

fn wheel(pending: u32) -> f64 {
    let mut queue = EventQueue::new(Span::from_nanos(GAP));
    let mut bench = Bench::new(pending);
    (0..pending).for_each(|number| queue.push(Time::from_nanos(bench.ahead()), number));
    bench.time(|bench| {
        let (time, number) = queue.pop_by(Time::NEVER).expect("events are pending");
        bench.touch(number);
        queue.push(Time::from_nanos(time.nanos() + bench.ahead()), number);
    })
}

fn heap(pending: u32) -> f64 {
    let mut heap = BinaryHeap::new();
    let mut bench = Bench::new(pending);
    (0..pending).for_each(|number| heap.push(Reverse((bench.ahead(), number))));
    bench.time(|bench| {
        let Reverse((time, number)) = heap.pop().expect("events are pending");
        bench.touch(number);
        heap.push(Reverse((time + bench.ahead(), number)));
    })
}

struct Bench {
    components: Vec<Component>,
    /// Times from now at which events are pushed, ns; drawn beforehand.
    ahead: Vec<u64>,
    next: usize,
}

impl Bench {
    fn new(pending: u32) -> Bench {
        let mut draws = Stream::named(1, "ahead");
        let mean = (GAP * u64::from(pending)) as f64;
        let ahead = (0..4096).map(|_| draws.exponential(mean) as u64).collect();
        Bench { components: vec![Component([0; 16]); pending as usize], ahead, next: 0 }
    }

    fn ahead(&mut self) -> u64 {
        self.next = (self.next + 1) % self.ahead.len();
        self.ahead[self.next]
    }

    fn touch(&mut self, number: u32) {
        let Component(words) = &mut self.components[number as usize];
        words[0] += 1;
        words[8] += words[0];
    }

    /// Nanoseconds for each step.
    fn time(&mut self, mut step: impl FnMut(&mut Bench)) -> f64 {
        let start = Instant::now();
        (0..EVENTS).for_each(|_| step(self));
        start.elapsed().as_nanos() as f64 / f64::from(EVENTS)
    }
}
