//! Pending events, earliest first.
//!
//! A hierarchical timing wheel (G. Varghese, T. Lauck, "Hashed and Hierarchical
//! Timing Wheels", SOSP 1987) that keeps the exact order: time is cut into
//! buckets of 2^GRAIN ns; a level has 64 slots, each as long as the whole level
//! below it. An event goes to the level at which its bucket first differs from
//! the present one, and falls a level when its slot comes up. The events of the
//! present bucket stand in a sorted run. So push and pop take as long with a
//! hundred events pending as with a million.

use crate::event::Event;
use sojourn_units::Time;

/// Pending events in the order of time, and at one instant in the order of [`Event`].
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    /// The present bucket; none of what the levels hold is as early.
    bucket: u64,
    /// The events up to the end of the present bucket, latest first.
    run: Vec<Entry>,
    levels: [Level; LEVELS],
}

/// An event and its time; ordered by time, then by event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: u64,
    event: Event,
}

#[derive(Clone, Debug)]
struct Level {
    /// One bit for each slot that holds something.
    occupied: u64,
    slots: [Vec<Entry>; SLOTS],
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        let level = |_| Level { occupied: 0, slots: std::array::from_fn(|_| Vec::new()) };
        EventQueue { bucket: 0, run: Vec::new(), levels: std::array::from_fn(level) }
    }
}

impl EventQueue {
    /// Adds an event.
    pub(crate) fn push(&mut self, time: Time, event: Event) {
        self.place(Entry { time: time.nanos(), event });
    }

    /// The earliest event, where it is due by `until`.
    pub(crate) fn pop_by(&mut self, until: Time) -> Option<(Time, Event)> {
        loop {
            if let Some(entry) = self.run.last() {
                let Entry { time, event } = *entry;
                if time > until.nanos() {
                    return None;
                }
                self.run.pop();
                return Some((Time::from_nanos(time), event));
            }
            if !self.open_next() {
                return None;
            }
        }
    }

    fn place(&mut self, entry: Entry) {
        let bucket = entry.time >> GRAIN;
        if bucket <= self.bucket {
            let place = self.run.iter().rposition(|other| *other > entry).map_or(0, |later| later + 1);
            return self.run.insert(place, entry);
        }
        let differ = 63 - (bucket ^ self.bucket).leading_zeros();
        let level = differ / SLOT_BITS;
        let slot = (bucket >> (level * SLOT_BITS)) as usize % SLOTS;
        let level = &mut self.levels[level as usize];
        level.occupied |= 1 << slot;
        level.slots[slot].push(entry);
    }

    /// Turns to the next slot that holds something: from the lowest level it becomes
    /// the run, from any other its events fall. Whether there was one.
    fn open_next(&mut self) -> bool {
        let Some(number) = self.levels.iter().position(|level| level.occupied != 0) else { return false };
        let level = &mut self.levels[number];
        let slot = level.occupied.trailing_zeros() as usize;
        level.occupied &= level.occupied - 1;
        let shift = number as u32 * SLOT_BITS;
        let above = self.bucket >> shift >> SLOT_BITS << SLOT_BITS;
        self.bucket = (above | slot as u64) << shift;
        if number == 0 {
            std::mem::swap(&mut self.run, &mut level.slots[slot]);
            self.run.sort_unstable_by(|one, other| other.cmp(one));
            return true;
        }
        let mut falling = std::mem::take(&mut level.slots[slot]);
        falling.drain(..).for_each(|entry| self.place(entry));
        // The slot keeps its memory.
        self.levels[number].slots[slot] = falling;
        true
    }
}

/// A bucket is 2^GRAIN ns long.
const GRAIN: u32 = 12;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// So many levels reach over all 2^64 ns.
const LEVELS: usize = (64 - GRAIN).div_ceil(SLOT_BITS) as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Stream;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn order_is_time_then_event() {
        let (early, late) = (Time::from_nanos(1), Time::from_nanos(2));
        let mut queue = EventQueue::default();
        let at_once = [Event::change(0), Event::update(0), Event::drain(0), Event::arrival(1), Event::arrival(2)];
        at_once.iter().rev().for_each(|event| queue.push(late, *event));
        queue.push(early, Event::start(0));
        assert_eq!(queue.pop_by(Time::ZERO), None);
        assert_eq!(queue.pop_by(late), Some((early, Event::start(0))));
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

    /// Any sequence of pushes and pops, on every scale of time, gives what a heap gives.
    #[test]
    fn a_heap_agrees() {
        let operations = std::env::var("EVENT_QUEUE_OPERATIONS").map_or(300_000, |n| n.parse().unwrap());
        for scale in [0, 4, 10, 13, 20, 30, 45, 60] {
            let mut draws = Stream::named(1, &format!("scale {scale}"));
            let mut draw = |below: f64| (draws.uniform() * below) as u64;
            let (mut queue, mut heap, mut now) = (EventQueue::default(), Heap::default(), 0_u64);
            for _ in 0..operations / 8 {
                // Half of the pushes are far below the scale, so that every level meets every other.
                let width = draw(f64::from(scale) + 1.0);
                let ahead = draw((1_u64 << width) as f64);
                if draw(2.0) == 0 {
                    let (time, event) = (now.saturating_add(ahead), Event::arrival(draw(5.0) as u32));
                    queue.push(Time::from_nanos(time), event);
                    heap.0.push(Reverse((time, event)));
                } else {
                    let until = now.saturating_add(ahead);
                    let popped = queue.pop_by(Time::from_nanos(until)).map(|(time, event)| (time.nanos(), event));
                    assert_eq!(popped, heap.pop_by(until), "scale {scale}, now {now}");
                    now = popped.map_or(until, |(time, _)| time);
                }
            }
            let rest = std::iter::from_fn(|| queue.pop_by(Time::NEVER)).map(|(time, event)| (time.nanos(), event));
            let expected: Vec<_> = std::iter::from_fn(|| heap.pop_by(u64::MAX)).collect();
            assert_eq!(rest.collect::<Vec<_>>(), expected, "scale {scale}");
        }
    }
}
