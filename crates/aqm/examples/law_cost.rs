//! Cost of each law of the catalogue, without qdisc, link and flows.
//!
//! Nanoseconds per packet, arrival and departure, and per update: the least and
//! the median of several rounds, in which the laws take turns, since the speed of a
//! machine drifts; the difference to tail drop, which does nothing; and memory.
//!
//! ```sh
//! cargo run --release -p sojourn-aqm --example law_cost [ROUNDS]
//! ```
#![allow(unsafe_code)] // an allocator that counts
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // a bench reads the clock

#[path = "../tests/common/tape.rs"]
mod tape;

use sojourn_aqm::{Law, LawSpec, LinkContext, catalogue};
use sojourn_units::{Rate, Span};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tape::Tape;

const PACKETS: u32 = 4096;
/// Passes over the packets in a round.
const PASSES: u32 = 25;
const UPDATES: u32 = 2000;

/// Measurements of a law.
struct Row {
    stem: &'static str,
    /// ns per packet, one entry per round.
    packet: Vec<f64>,
    /// ns per update, likewise; empty for a law without updates.
    update: Vec<f64>,
    /// Bytes of the law, and of its allocations.
    own: usize,
    heap: usize,
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(11, |rounds| rounds.parse().expect("a number of rounds"));
    print!("{}", table(&measure(rounds, PASSES, UPDATES)));
}

fn measure(rounds: u32, passes: u32, updates: u32) -> Vec<Row> {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(1e8),
        packet: 1000.0,
        limit: 300.0,
        flows: Some(100.0),
        base_rtt: Some(Span::from_millis(100)),
    };
    let mut rows = Vec::new();
    let mut laws = Vec::new();
    for entry in catalogue::LAWS {
        let before = HELD.load(Ordering::Relaxed);
        let law = LawSpec::new(entry.page.stem, &[])
            .expect("no parameters")
            .design(&context)
            .expect("every law fits this link with its defaults")
            .law();
        let held = HELD.load(Ordering::Relaxed) - before;
        let own = size_of_val(law.as_ref());
        laws.push((law, Tape::new(context, PACKETS)));
        rows.push(Row { stem: entry.page.stem, packet: vec![], update: vec![], own, heap: held - own });
    }
    for _ in 0..rounds {
        for ((law, tape), row) in laws.iter_mut().zip(&mut rows) {
            row.packet.push(packet_cost(law.as_mut(), tape, passes));
            if law.next_update().is_some() {
                row.update.push(update_cost(law.as_mut(), tape, updates));
            }
        }
    }
    rows
}

/// Nanoseconds per packet; an update after each pass, not counted, keeps a controller active.
fn packet_cost(law: &mut dyn Law, tape: &mut Tape, passes: u32) -> f64 {
    let mut nanos = 0;
    for pass in 0..passes {
        let start = Instant::now();
        black_box(tape.play(black_box(law)));
        nanos += start.elapsed().as_nanos();
        tape.update(law, f64::from(pass % 10) * 20.0);
        tape.wind();
    }
    nanos as f64 / f64::from(passes * PACKETS)
}

fn update_cost(law: &mut dyn Law, tape: &mut Tape, updates: u32) -> f64 {
    let start = Instant::now();
    for update in 0..updates {
        black_box(tape.update(black_box(law), f64::from(update % 300)));
    }
    let nanos = start.elapsed().as_nanos() as f64;
    tape.wind();
    nanos / f64::from(updates)
}

fn table(rows: &[Row]) -> String {
    let rest = summary(&rows[0].packet).map_or(0.0, |[_, median]| median);
    let mut text = String::from(
        "law           packet_ns: min  median  over tail_drop   update_ns: min  median   bytes: own    heap\n",
    );
    for row in rows {
        let [least, median] = summary(&row.packet).unwrap_or_default();
        let update = summary(&row.update)
            .map_or(format!("{:>15}{:>8}", "-", "-"), |[least, median]| format!("{least:15.1}{median:8.1}"));
        text += &format!(
            "{:14}{least:14.1}{median:8.1}{:16.1}   {update}{:13}{:8}\n",
            row.stem,
            median - rest,
            row.own,
            row.heap
        );
    }
    text
}

/// Least and median.
fn summary(values: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some([*sorted.first()?, sorted[sorted.len() / 2]])
}

/// Counts allocated bytes.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_add(size, Ordering::Relaxed);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_every_law() {
        let rows = measure(2, 1, 10);
        let table = table(&rows);
        let named: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
        let laws: Vec<&str> = catalogue::LAWS.iter().map(|entry| entry.page.stem).collect();
        assert_eq!(named, laws);
        assert_eq!(laws[0], "tail_drop", "the baseline");
        let columns = |line: &str| line.split_whitespace().count();
        assert!(table.lines().skip(1).all(|line| columns(line) == 8), "{table}");
        let sred = rows.iter().find(|row| row.stem == "sred").expect("SRED");
        assert_eq!(sred.heap, 4000, "a thousand flows of four bytes");
    }
}
