//! Pending events, earliest first.
//!
//! A hierarchical timing wheel (G. Varghese, T. Lauck, "Hashed and Hierarchical
//! Timing Wheels", SOSP 1987) that keeps the exact order: time is cut into
//! buckets of 2^grain ns; a level has 4096 slots, each as long as the whole
//! level below it. An event goes to the level at which its bucket first differs
//! from the present one, and falls a level when its slot comes up. The events of
//! the present bucket are a sorted run. So push and pop take as long with a
//! hundred events pending as with a million.

use sojourn_units::{Span, Time};

/// Pending events in the order of time, and at one instant in their own order.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// A bucket is 2^grain ns long.
    grain: u32,
    /// The present bucket; all entries of the levels are later.
    bucket: u64,
    /// The events up to the end of the present bucket, latest first.
    run: Vec<Entry<E>>,
    levels: [Level; LEVELS],
    /// Entries of the levels, and free ones.
    nodes: Vec<Node<E>>,
    /// The first free node.
    free: u32,
}

/// An event and its time; ordered by time, then by event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry<E> {
    time: u64,
    event: E,
}

/// An entry in the list of its slot.
#[derive(Clone, Copy, Debug)]
struct Node<E> {
    time: u64,
    event: E,
    next: u32,
}

#[derive(Clone, Debug)]
struct Level {
    /// One bit for each slot that is not empty, and one for each word of them.
    words: u64,
    slots: [u64; WORDS],
    /// The first node of each slot that is not empty.
    heads: Box<[u32; SLOTS]>,
}

impl<E: Copy + Ord> EventQueue<E> {
    /// An empty queue, best for events about `gap` apart.
    pub fn new(gap: Span) -> EventQueue<E> {
        let level = |_| Level { words: 0, slots: [0; WORDS], heads: Box::new([NIL; SLOTS]) };
        EventQueue {
            grain: gap.nanos().max(1).ilog2().clamp(FINEST, COARSEST),
            bucket: 0,
            run: Vec::new(),
            levels: std::array::from_fn(level),
            nodes: Vec::new(),
            free: NIL,
        }
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, time: Time, event: E) {
        let time = time.nanos();
        if time >> self.grain <= self.bucket {
            return self.insert(Entry { time, event });
        }
        let node = self.allocate(Node { time, event, next: NIL });
        self.place(node, time);
    }

    /// The earliest event, where it is due by `until`.
    #[inline]
    pub fn pop_by(&mut self, until: Time) -> Option<(Time, E)> {
        if self.run.is_empty() {
            // Common case: a single event in the next slot of the lowest level.
            if let Some(slot) = self.levels[0].first() {
                let head = self.levels[0].heads[slot];
                let Node { time, event, next } = self.nodes[head as usize];
                if next == NIL {
                    if time > until.nanos() {
                        return None;
                    }
                    self.levels[0].clear(slot);
                    self.bucket = time >> self.grain;
                    self.release(head);
                    return Some((Time::from_nanos(time), event));
                }
            }
            while self.run.is_empty() {
                self.open_next()?;
            }
        }
        let Entry { time, event } = *self.run.last().filter(|entry| entry.time <= until.nanos())?;
        self.run.pop();
        Some((Time::from_nanos(time), event))
    }

    /// Puts an entry of the present bucket into the run.
    #[cold]
    fn insert(&mut self, entry: Entry<E>) {
        let place = self.run.partition_point(|other| *other > entry);
        self.run.insert(place, entry);
    }

    /// Puts a node of a later bucket into its slot.
    fn place(&mut self, node: u32, time: u64) {
        let bucket = time >> self.grain;
        let differ = bucket ^ self.bucket;
        let number = if differ < SLOTS as u64 { 0 } else { differ.ilog2() / SLOT_BITS };
        let slot = (bucket >> (number * SLOT_BITS)) as usize % SLOTS;
        self.nodes[node as usize].next = self.levels[number as usize].put(slot, node);
    }

    /// Advances to the next slot that is not empty: from the lowest level it becomes
    /// the run, from any other its nodes fall. None: nothing is pending.
    fn open_next(&mut self) -> Option<()> {
        let (number, slot) =
            self.levels.iter().enumerate().find_map(|(number, level)| Some((number, level.first()?)))?;
        let mut node = self.levels[number].heads[slot];
        self.levels[number].clear(slot);
        let shift = number as u32 * SLOT_BITS;
        let above = self.bucket >> shift >> SLOT_BITS << SLOT_BITS;
        self.bucket = (above | slot as u64) << shift;
        while node != NIL {
            let Node { time, event, next } = self.nodes[node as usize];
            if time >> self.grain == self.bucket {
                self.run.push(Entry { time, event });
                self.release(node);
            } else {
                self.place(node, time);
            }
            node = next;
        }
        self.run.sort_unstable_by(|one, other| other.cmp(one));
        Some(())
    }

    fn allocate(&mut self, node: Node<E>) -> u32 {
        let place = self.free;
        let Some(at) = self.nodes.get_mut(place as usize) else {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        };
        self.free = at.next;
        *at = node;
        place
    }

    fn release(&mut self, node: u32) {
        self.nodes[node as usize].next = self.free;
        self.free = node;
    }
}

impl Level {
    /// The first slot that is not empty.
    fn first(&self) -> Option<usize> {
        if self.words == 0 {
            return None;
        }
        let word = self.words.trailing_zeros() as usize;
        Some((word * 64 + self.slots[word].trailing_zeros() as usize) % SLOTS)
    }

    /// Empties a slot.
    fn clear(&mut self, slot: usize) {
        let word = slot / 64;
        self.heads[slot] = NIL;
        self.slots[word] &= !(1 << (slot % 64));
        if self.slots[word] == 0 {
            self.words &= !(1 << word);
        }
    }

    /// Prepends a node to the list of a slot; returns the list.
    fn put(&mut self, slot: usize, node: u32) -> u32 {
        let word = slot / 64;
        self.words |= 1 << word;
        self.slots[word] |= 1 << (slot % 64);
        std::mem::replace(&mut self.heads[slot], node)
    }
}

/// No node.
const NIL: u32 = u32::MAX;
/// Bounds of the grain.
const FINEST: u32 = 4;
const COARSEST: u32 = 24;
const SLOT_BITS: u32 = 12;
const SLOTS: usize = 1 << SLOT_BITS;
const WORDS: usize = SLOTS / 64;
/// Levels that span all 2^64 ns.
const LEVELS: usize = (64 - FINEST).div_ceil(SLOT_BITS) as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Kind};
    use sojourn_random::Stream;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn order_is_time_then_event() {
        let (early, late) = (Time::from_nanos(1), Time::from_nanos(2));
        let mut queue = EventQueue::new(Span::ZERO);
        let at_once = [
            Event::new(Kind::Change, 0),
            Event::new(Kind::Update, 0),
            Event::new(Kind::Sender, 0),
            Event::new(Kind::Drain, 1),
            Event::new(Kind::Drain, 2),
        ];
        at_once.iter().rev().for_each(|event| queue.push(late, *event));
        queue.push(early, Event::new(Kind::Start, 0));
        assert_eq!(queue.pop_by(Time::ZERO), None);
        assert_eq!(queue.pop_by(late), Some((early, Event::new(Kind::Start, 0))));
        let rest: Vec<Event> = std::iter::from_fn(|| queue.pop_by(late)).map(|(_, event)| event).collect();
        assert_eq!(rest, at_once);
    }

    /// The standard library's heap, in the same order.
    #[derive(Default)]
    struct Heap(BinaryHeap<Reverse<(u64, Event)>>);

    impl Heap {
        fn pop_by(&mut self, until: u64) -> Option<(u64, Event)> {
            self.0.peek().filter(|Reverse((time, _))| *time <= until)?;
            self.0.pop().map(|Reverse(entry)| entry)
        }
    }

    /// Any sequence of pushes and pops, on every scale of time, equals that of a heap.
    #[test]
    fn a_heap_agrees() {
        let operations = std::env::var("EVENT_QUEUE_OPERATIONS").map_or(300_000, |n| n.parse().unwrap());
        for scale in [0, 4, 10, 13, 20, 30, 45, 60] {
            let mut draws = Stream::named(1, &format!("scale {scale}"));
            let gap = Span::from_nanos(1 << (scale / 2));
            let mut draw = |below: f64| (draws.uniform() * below) as u64;
            let (mut queue, mut heap, mut now) = (EventQueue::new(gap), Heap::default(), 0_u64);
            for _ in 0..operations / 8 {
                // Half of the pushes are far below the scale, so that every level meets every other.
                let width = draw(f64::from(scale) + 1.0);
                let ahead = draw((1_u64 << width) as f64);
                if draw(2.0) == 0 {
                    let (time, event) =
                        (now.saturating_add(ahead), Event::new(Kind::Drain, draw(5.0) as u32));
                    queue.push(Time::from_nanos(time), event);
                    heap.0.push(Reverse((time, event)));
                } else {
                    let until = now.saturating_add(ahead);
                    let popped =
                        queue.pop_by(Time::from_nanos(until)).map(|(time, event)| (time.nanos(), event));
                    assert_eq!(popped, heap.pop_by(until), "scale {scale}, now {now}");
                    now = popped.map_or(until, |(time, _)| time);
                }
            }
            let rest =
                std::iter::from_fn(|| queue.pop_by(Time::NEVER)).map(|(time, event)| (time.nanos(), event));
            let expected: Vec<_> = std::iter::from_fn(|| heap.pop_by(u64::MAX)).collect();
            assert_eq!(rest.collect::<Vec<_>>(), expected, "scale {scale}");
        }
    }
}
