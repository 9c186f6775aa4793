//! The packets on their way to a link that several flows share.
//!
//! Flows have delays of their own, so packets are not told of in the order in
//! which they come. Time is cut into slots, about as long as a packet takes on
//! the link, in a ring: a packet goes to the list of its slot, and a list is
//! sorted when its time has come (R. Brown, "Calendar Queues", CACM 31(10),
//! 1988). The ring grows until it reaches over all that is on its way; what
//! comes later than the largest one reaches waits in a heap.

use crate::packet::Packet;
use sojourn_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packets that will come to a link, and when.
pub(crate) struct Inbox {
    ring: Ring,
    /// What comes later than the ring reaches.
    far: BinaryHeap<Reverse<Far>>,
    /// How many have been put there.
    gone_far: u64,
    /// When the first of them comes; NEVER where there is none.
    first: Time,
}

/// A packet that will come to the link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) time: Time,
    pub(crate) packet: Packet,
}

/// Packets by the slots of time in which they come.
struct Ring {
    /// A slot is 2^grain ns long.
    grain: u32,
    /// The earliest slot, counted from the start of time.
    slot: u64,
    /// For each slot the packet that was told of last; a power of two of them.
    heads: Vec<u32>,
    /// One bit for each slot that holds something.
    busy: Vec<u64>,
    nodes: Vec<Node>,
    /// The first free node.
    free: u32,
    held: usize,
}

/// An entry in the list of its slot, which says when the slot begins.
#[derive(Clone, Copy, Debug)]
struct Node {
    packet: Packet,
    /// When it comes, from the start of the slot, ns.
    after: u32,
    next: u32,
}

/// An entry of the heap: in the order of time, leg and number.
#[derive(Clone, Copy, Debug)]
struct Far {
    entry: Entry,
    number: u64,
}

impl Inbox {
    /// No packets; best where they come about `gap` apart.
    pub(crate) fn new(gap: Span) -> Inbox {
        Inbox { ring: Ring::new(gap), far: BinaryHeap::new(), gone_far: 0, first: Time::NEVER }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ring.held + self.far.len()
    }

    /// When the first packet comes; NEVER where none does.
    pub(crate) fn first(&self) -> Time {
        self.first
    }

    /// Adds a packet that comes at `time`, not before the present; those of one leg come in order.
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

    /// Moves to `batch`, which is empty, what comes before `end`, in the order of time, and at one instant of legs.
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
            // Of two from one leg at one instant, the one in the heap came earlier: the ring did not reach so far.
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

    /// Makes the ring reach `time`, unless that is too far away.
    #[cold]
    fn grow(&mut self, now: Time, time: Time) -> bool {
        // Beside what is held nothing comes before the present.
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

    /// Where in the ring a slot is.
    fn place(&self, slot: u64) -> usize {
        slot as usize & (self.heads.len() - 1)
    }

    /// The first slot that holds something, and where in the ring it is.
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

    /// When the first packet comes; NEVER where none does.
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

    /// Adds to `batch` what comes before `end`.
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
            // In the order in which they were told of, which of one leg is the right one.
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
    use crate::apps::datagrams::Datagram;
    use crate::packet::Pool;
    use sojourn_units::{Ecn, Stream};

    fn packet(leg: u32, len: u32) -> Packet {
        Pool::default().datagram(Time::ZERO, Datagram { len: len as u16, ecn: Ecn::NotEct }, 0, leg)
    }

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    fn taken(inbox: &mut Inbox, end: u64) -> Vec<(u64, u32, u32)> {
        let mut batch = Vec::new();
        inbox.take_before(at(end), &mut batch);
        batch.iter().map(|entry| (entry.time.nanos(), entry.packet.leg, entry.packet.size())).collect()
    }

    /// On every scale of time, within the ring's reach and beyond it, in any mixture: as a stable sort would have it.
    #[test]
    fn packets_come_in_the_order_of_time_then_leg_then_entry() {
        for (gap, step, ahead) in [
            (0, 100, 400),
            (0, 5_000, 50_000),
            (1 << 14, 100, 50_000),
            (0, 1 << 26, 1 << 30),
            (1 << 24, 1 << 20, 1 << 42),
        ] {
            let mut inbox = Inbox::new(Span::from_nanos(gap));
            let mut draws = Stream::named(1, "inbox");
            let mut draw = |below: u64| (draws.uniform() * below as f64) as u64;
            let (mut waiting, mut number) = (Vec::new(), 0);
            for round in 0..200 {
                for _ in 0..draw(60) {
                    // Instants that several share, some of them far ahead.
                    let near = ahead >> draw(20);
                    let time = (round * step + draw(near + 1)).next_multiple_of(step / 50);
                    let leg = draw(3) as u32;
                    inbox.push(at(round * step), at(time), packet(leg, number));
                    waiting.push((time, leg, number));
                    number += 1;
                }
                // Now and then a link works off more than what is due.
                let end = (round + 1) * step;
                waiting.sort_unstable();
                let rest = waiting.split_off(waiting.partition_point(|(time, ..)| *time < end));
                assert_eq!(
                    inbox.first(),
                    waiting.iter().chain(&rest).map(|(time, ..)| at(*time)).min().unwrap_or(Time::NEVER)
                );
                assert_eq!(taken(&mut inbox, end), waiting);
                waiting = rest;
            }
            assert!(number > 4000);
            assert_eq!(taken(&mut inbox, u64::MAX).len(), waiting.len());
            assert_eq!(inbox.first(), Time::NEVER);
        }
    }

    /// After a long silence the ring begins at the present, as small as before.
    #[test]
    fn a_ring_stays_as_small_as_what_is_on_its_way() {
        let mut inbox = Inbox::new(Span::ZERO);
        for second in 0..1000 {
            let now = second * 1_000_000_000;
            (0..10).for_each(|packet_number| {
                inbox.push(at(now), at(now + packet_number * 10_000), packet(0, 1));
            });
            assert_eq!(taken(&mut inbox, now + 1_000_000).len(), 10);
        }
        assert_eq!(inbox.ring.heads.len(), WORD);
        assert_eq!((inbox.ring.nodes.len(), inbox.gone_far), (10, 0));
    }
}
