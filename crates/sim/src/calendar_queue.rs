//! Calendar queue: packets on their way to a shared link.
//!
//! Flows have delays of their own, so packets are not entered in the order of
//! arrival. Time is cut into slots, about as long as a packet takes on
//! the link, in a ring: a packet goes to the list of its slot, and a list is
//! sorted when it is due (R. Brown, "Calendar Queues", CACM 31(10),
//! 1988). The ring grows to span all packets on their way; those beyond
//! the largest span wait in a heap.

use crate::packet::Packet;
use sojourn_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packets on their way to a link, by arrival time.
pub(crate) struct CalendarQueue {
    ring: Ring,
    /// Packets beyond the span of the ring.
    far: BinaryHeap<Reverse<Far>>,
    /// Number of packets ever added to the heap.
    gone_far: u64,
    /// Time of the first arrival; NEVER: none.
    first: Time,
}

/// A packet and its arrival time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) time: Time,
    pub(crate) packet: Packet,
}

/// Packets by the time slots of their arrivals.
struct Ring {
    /// A slot is 2^grain ns long.
    grain: u32,
    /// The earliest slot, counted from the start of time.
    slot: u64,
    /// The last packet entered for each slot; a power of two of them.
    heads: Vec<u32>,
    /// One bit for each slot that is not empty.
    busy: Vec<u64>,
    nodes: Vec<Node>,
    /// The first free node.
    free: u32,
    held: usize,
}

/// An entry in the list of its slot.
#[derive(Clone, Copy, Debug)]
struct Node {
    packet: Packet,
    /// Arrival time from the start of the slot, ns.
    after: u32,
    next: u32,
}

/// An entry of the heap: in the order of time, leg and number.
#[derive(Clone, Copy, Debug)]
struct Far {
    entry: Entry,
    number: u64,
}

impl CalendarQueue {
    /// An empty queue, best for packets about `gap` apart.
    pub(crate) fn new(gap: Span) -> CalendarQueue {
        CalendarQueue { ring: Ring::new(gap), far: BinaryHeap::new(), gone_far: 0, first: Time::NEVER }
    }

    /// Number of packets.
    pub(crate) fn len(&self) -> usize {
        self.ring.held + self.far.len()
    }

    /// Time of the first arrival; NEVER: none.
    pub(crate) fn first(&self) -> Time {
        self.first
    }

    /// Adds a packet that arrives at `time`, not before the present; those of one leg arrive in order.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, time: Time, packet: Packet) {
        let entry = Entry { time, packet };
        self.first = self.first.min(time);
        if self.ring.reaches(time) || self.ring.grow(now, time) {
            self.ring.push(entry);
        } else {
            self.push_far(entry);
        }
    }

    #[cold]
    fn push_far(&mut self, entry: Entry) {
        self.gone_far += 1;
        self.far.push(Reverse(Far { entry, number: self.gone_far }));
    }

    /// Moves the arrivals before `end` to `batch`, which is empty, in the order of time, and at one instant of legs.
    pub(crate) fn take_before(&mut self, end: Time, batch: &mut Vec<Entry>) {
        if self.first >= end {
            return;
        }
        while self.far.peek().is_some_and(|Reverse(far)| far.entry.time < end) {
            batch.extend(self.far.pop().map(|Reverse(far)| far.entry));
        }
        let far = batch.len();
        self.ring.take_before(end, batch);
        if far > 0 {
            // Of two from one leg at one instant, the one in the heap was entered first: the ring did not reach so far.
            batch.sort_by_key(Entry::key);
        }
        let far = self.far.peek().map_or(Time::NEVER, |Reverse(far)| far.entry.time);
        self.first = self.ring.first().min(far);
    }
}

impl Ring {
    fn new(gap: Span) -> Ring {
        Ring {
            grain: gap.nanos().max(1).ilog2().clamp(FINEST, COARSEST),
            slot: 0,
            heads: vec![NIL; WORD],
            busy: vec![0],
            nodes: Vec::new(),
            free: NIL,
            held: 0,
        }
    }

    fn slot_of(&self, time: Time) -> u64 {
        time.nanos() >> self.grain
    }

    fn reaches(&self, time: Time) -> bool {
        self.slot_of(time).wrapping_sub(self.slot) < self.heads.len() as u64
    }

    /// Extends the ring to `time`, unless that is too far away.
    #[cold]
    fn grow(&mut self, now: Time, time: Time) -> bool {
        // Apart from present entries nothing arrives before the present.
        let held = self.first_busy().map_or(u64::MAX, |(slot, _)| slot);
        self.slot = self.slot.max(held.min(self.slot_of(now)));
        if self.reaches(time) {
            return true;
        }
        let reach = self.slot_of(time).wrapping_sub(self.slot);
        if reach >= MOST {
            return false;
        }
        let len = (reach + 1).next_power_of_two() as usize;
        let start = self.place(self.slot);
        let mut heads = std::mem::replace(&mut self.heads, vec![NIL; len]);
        self.busy = vec![0; len / WORD];
        heads.rotate_left(start);
        for (slot, head) in (self.slot..).zip(heads).filter(|(_, head)| *head != NIL) {
            let place = self.place(slot);
            self.heads[place] = head;
            self.busy[place / WORD] |= 1 << (place % WORD);
        }
        true
    }

    /// Adds an entry in reach.
    #[expect(clippy::inline_always, reason = "every packet calls it twice, from one place")]
    #[inline(always)]
    fn push(&mut self, Entry { time, packet }: Entry) {
        let place = self.place(self.slot_of(time));
        let after = (time.nanos() & ((1 << self.grain) - 1)) as u32;
        let node = Node { packet, after, next: std::mem::replace(&mut self.heads[place], self.free) };
        self.busy[place / WORD] |= 1 << (place % WORD);
        self.held += 1;
        if let Some(at) = self.nodes.get_mut(self.free as usize) {
            self.free = std::mem::replace(at, node).next;
        } else {
            self.heads[place] = self.nodes.len() as u32;
            self.nodes.push(node);
        }
    }

    /// Place of a slot in the ring.
    fn place(&self, slot: u64) -> usize {
        slot as usize & (self.heads.len() - 1)
    }

    /// The first slot that is not empty, and its place in the ring.
    fn first_busy(&self) -> Option<(u64, usize)> {
        if self.held == 0 {
            return None;
        }
        let start = self.place(self.slot);
        let (first, before) = (start / WORD, start % WORD);
        let mut word = first;
        let mut bits = self.busy[word] & (u64::MAX << before);
        while bits == 0 {
            word = (word + 1) % self.busy.len();
            bits = self.busy[word];
        }
        let place = word * WORD + bits.trailing_zeros() as usize;
        Some((self.slot + self.place(place.wrapping_sub(start) as u64) as u64, place))
    }

    /// Time of the first arrival; NEVER: none.
    fn first(&self) -> Time {
        let Some((slot, place)) = self.first_busy() else { return Time::NEVER };
        let (mut node, mut first) = (self.heads[place], u32::MAX);
        while node != NIL {
            let Node { after, next, .. } = self.nodes[node as usize];
            first = first.min(after);
            node = next;
        }
        self.time(slot, first)
    }

    fn time(&self, slot: u64, after: u32) -> Time {
        Time::from_nanos((slot << self.grain) + u64::from(after))
    }

    /// Adds the arrivals before `end` to `batch`.
    fn take_before(&mut self, end: Time, batch: &mut Vec<Entry>) {
        let last = self.slot_of(end);
        while let Some((slot, place)) = self.first_busy().filter(|(slot, _)| *slot <= last) {
            self.slot = slot;
            let start = batch.len();
            self.empty(slot, place, batch);
            if slot == last {
                let due = start + batch[start..].partition_point(|entry| entry.time < end);
                batch.drain(due..).for_each(|entry| self.push(entry));
                break;
            }
        }
    }

    /// Moves a slot's list to the end of `batch`, sorted.
    fn empty(&mut self, slot: u64, place: usize, batch: &mut Vec<Entry>) {
        let start = batch.len();
        let mut node = std::mem::replace(&mut self.heads[place], NIL);
        self.busy[place / WORD] &= !(1 << (place % WORD));
        while node != NIL {
            let Node { packet, after, next } = self.nodes[node as usize];
            batch.push(Entry { time: self.time(slot, after), packet });
            self.nodes[node as usize].next = std::mem::replace(&mut self.free, node);
            node = next;
        }
        let list = &mut batch[start..];
        self.held -= list.len();
        if list.len() > 1 {
            // In the order of entry, which is that of arrival within a leg.
            list.reverse();
            list.sort_by_key(Entry::key);
        }
    }
}

impl Entry {
    fn key(&self) -> (Time, u32) {
        (self.time, self.packet.leg)
    }
}

impl Far {
    fn key(&self) -> (Time, u32, u64) {
        (self.entry.time, self.entry.packet.leg, self.number)
    }
}

impl PartialEq for Far {
    fn eq(&self, other: &Far) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Far {}

impl PartialOrd for Far {
    fn partial_cmp(&self, other: &Far) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Far {
    fn cmp(&self, other: &Far) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// No node.
const NIL: u32 = u32::MAX;
/// Slots in a word of bits.
const WORD: usize = 64;
/// The most slots of a ring: with the finest grain it reaches 0.13 s ahead.
const MOST: u64 = 1 << 16;
/// Bounds of the grain: a slot takes 2 us at least, and 17 ms at most.
const FINEST: u32 = 11;
const COARSEST: u32 = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Pool;
    use sojourn_random::Stream;
    use sojourn_units::Ecn;
    use sojourn_workload::Datagram;

    fn packet(leg: u32, len: u32) -> Packet {
        Pool::default().datagram(Time::ZERO, Datagram { len: len as u16, ecn: Ecn::NotEct }, 0, leg)
    }

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    fn taken(incoming: &mut CalendarQueue, end: u64) -> Vec<(u64, u32, u32)> {
        let mut batch = Vec::new();
        incoming.take_before(at(end), &mut batch);
        batch.iter().map(|entry| (entry.time.nanos(), entry.packet.leg, entry.packet.size())).collect()
    }

    /// Order of a stable sort, on every scale of time, within the span of the ring and beyond it.
    #[test]
    fn packets_come_in_the_order_of_time_then_leg_then_entry() {
        for (gap, step, ahead) in [
            (0, 100, 400),
            (0, 5_000, 50_000),
            (1 << 14, 100, 50_000),
            (0, 1 << 26, 1 << 30),
            (1 << 24, 1 << 20, 1 << 42),
        ] {
            let mut incoming = CalendarQueue::new(Span::from_nanos(gap));
            let mut draws = Stream::named(1, "calendar queue");
            let mut draw = |below: u64| (draws.uniform() * below as f64) as u64;
            let (mut waiting, mut number) = (Vec::new(), 0);
            for round in 0..200 {
                for _ in 0..draw(60) {
                    // Instants that several share, some of them far ahead.
                    let near = ahead >> draw(20);
                    let time = (round * step + draw(near + 1)).next_multiple_of(step / 50);
                    let leg = draw(3) as u32;
                    incoming.push(at(round * step), at(time), packet(leg, number));
                    waiting.push((time, leg, number));
                    number += 1;
                }
                // Sometimes a link takes packets that are not due yet.
                let end = (round + 1) * step;
                waiting.sort_unstable();
                let rest = waiting.split_off(waiting.partition_point(|(time, ..)| *time < end));
                assert_eq!(
                    incoming.first(),
                    waiting.iter().chain(&rest).map(|(time, ..)| at(*time)).min().unwrap_or(Time::NEVER)
                );
                assert_eq!(taken(&mut incoming, end), waiting);
                waiting = rest;
            }
            assert!(number > 4000);
            assert_eq!(taken(&mut incoming, u64::MAX).len(), waiting.len());
            assert_eq!(incoming.first(), Time::NEVER);
        }
    }

    /// After a long pause the ring starts at the present, as small as before.
    #[test]
    fn a_ring_stays_as_small_as_the_packets_need() {
        let mut incoming = CalendarQueue::new(Span::ZERO);
        for second in 0..1000 {
            let now = second * 1_000_000_000;
            (0..10).for_each(|packet_number| {
                incoming.push(at(now), at(now + packet_number * 10_000), packet(0, 1));
            });
            assert_eq!(taken(&mut incoming, now + 1_000_000).len(), 10);
        }
        assert_eq!(incoming.ring.heads.len(), WORD);
        assert_eq!((incoming.ring.nodes.len(), incoming.gone_far), (10, 0));
    }
}
