//! The packets on their way to a link that several flows share.
//!
//! Flows whose delays differ little come nearly in order, so a packet is put in
//! its place among the last ones. One that belongs further back waits in a heap.

use crate::packet::Packet;
use sojourn_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packets that will come to a link, and when.
pub(crate) struct Inbox {
    /// In the order of time and leg, from `start` on; what stands before has been taken.
    near: Vec<Entry>,
    start: usize,
    /// What came far out of order.
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

/// An entry of the heap: in the order of time, leg and number.
#[derive(Clone, Copy, Debug)]
struct Far {
    entry: Entry,
    number: u64,
}

impl Inbox {
    pub(crate) fn new() -> Inbox {
        Inbox { near: Vec::new(), start: 0, far: BinaryHeap::new(), gone_far: 0, first: Time::NEVER }
    }

    /// When the first packet comes; NEVER where none does.
    pub(crate) fn first(&self) -> Time {
        self.first
    }

    /// Adds a packet that comes at `time`; those of one leg come in order.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        let entry = Entry { time, packet };
        self.first = self.first.min(time);
        let late = self.near.last().is_some_and(|last| entry.is_before(last));
        self.near.push(entry);
        if late {
            self.put_in_place(entry);
        }
    }

    /// Moves the last entry to where it belongs.
    fn put_in_place(&mut self, entry: Entry) {
        let from = self.near.len().saturating_sub(NEAR + 1).max(self.start);
        let Some((mut place, before)) = self.near[from..].split_last_mut() else { return };
        if before.len() == NEAR && entry.is_before(&before[0]) {
            self.near.pop();
            return self.push_far(entry);
        }
        // One by one: a block move would wait for the last stores.
        for other in before.iter_mut().rev() {
            if !entry.is_before(other) {
                break;
            }
            *place = *other;
            place = other;
        }
        *place = entry;
    }

    #[cold]
    fn push_far(&mut self, entry: Entry) {
        self.gone_far += 1;
        self.far.push(Reverse(Far { entry, number: self.gone_far }));
    }

    /// Moves to `batch` what comes before `end`, in the order of time, and at one instant of legs.
    pub(crate) fn take_before(&mut self, end: Time, batch: &mut Vec<Entry>) {
        if self.first >= end {
            return;
        }
        let waiting = &self.near[self.start..];
        let due = &waiting[..waiting.partition_point(|entry| entry.time < end)];
        self.start += due.len();
        if self.far.is_empty() {
            batch.extend_from_slice(due);
        } else {
            // What stands after an entry only grows while it waits: of two from one leg at one instant, the
            // one in the heap came later.
            for entry in due {
                take_far(&mut self.far, batch, |far| far.is_before(entry));
                batch.push(*entry);
            }
            take_far(&mut self.far, batch, |far| far.time < end);
        }
        if 2 * self.start > self.near.len() {
            self.near.drain(..self.start);
            self.start = 0;
        }
        let (near, far) = (self.near.get(self.start), self.far.peek().map(|Reverse(far)| &far.entry));
        self.first = near.into_iter().chain(far).map(|entry| entry.time).min().unwrap_or(Time::NEVER);
    }
}

/// Moves to `batch` what is due of the heap.
fn take_far(far: &mut BinaryHeap<Reverse<Far>>, batch: &mut Vec<Entry>, due: impl Fn(&Entry) -> bool) {
    while far.peek().is_some_and(|Reverse(far)| due(&far.entry)) {
        batch.extend(far.pop().map(|Reverse(far)| far.entry));
    }
}

impl Entry {
    fn is_before(&self, other: &Entry) -> bool {
        self.time < other.time || (self.time == other.time && self.packet.leg < other.packet.leg)
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

/// How far back an entry is put at once.
const NEAR: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::datagrams::Datagram;
    use crate::packet::Pool;
    use sojourn_units::{Ecn, Stream};

    fn packet(leg: u32, len: u32) -> Packet {
        Pool::default().datagram(Time::ZERO, Datagram { len: len as u16, ecn: Ecn::NotEct }, 0, leg)
    }

    /// Far out of order, and in any mixture: as a stable sort would have it.
    #[test]
    fn distant_packets_come_in_order_too() {
        let mut inbox = Inbox::new();
        let mut draws = Stream::named(1, "inbox");
        let mut expected = Vec::new();
        let mut came = Vec::new();
        for round in 0..50_u64 {
            for _ in 0..100 {
                let time = Time::from_nanos(round * 100 + (draws.uniform() * 400.0) as u64);
                let (leg, len) = ((draws.uniform() * 3.0) as u32, expected.len() as u32);
                inbox.push(time, packet(leg, len));
                expected.push((time, leg, len));
            }
            let mut batch = Vec::new();
            inbox.take_before(Time::from_nanos((round + 1) * 100), &mut batch);
            came.extend(batch.iter().map(|entry| (entry.time, entry.packet.leg, entry.packet.size())));
        }
        expected.sort();
        assert_eq!(came[..], expected[..came.len()]);
        assert!(came.len() > 4000);
    }

    /// Two of one leg at one instant, far back, the second when all that came before them has been taken.
    #[test]
    fn a_leg_keeps_its_order_in_the_heap() {
        let mut inbox = Inbox::new();
        inbox.push(Time::from_nanos(1), packet(0, 1));
        (0..NEAR).for_each(|_| inbox.push(Time::from_nanos(9), packet(5, 9)));
        let mut batch = Vec::new();
        inbox.push(Time::from_nanos(5), packet(3, 2));
        inbox.take_before(Time::from_nanos(2), &mut batch);
        inbox.push(Time::from_nanos(5), packet(3, 3));
        inbox.take_before(Time::from_nanos(6), &mut batch);
        assert_eq!(batch.iter().map(|entry| entry.packet.size()).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn packets_come_in_the_order_of_time_then_leg_then_entry() {
        let mut inbox = Inbox::new();
        for (time, leg, len) in [(30, 1, 6), (10, 2, 3), (10, 1, 1), (20, 9, 5), (10, 1, 2), (10, 3, 4)] {
            inbox.push(Time::from_nanos(time), packet(leg, len));
        }
        assert_eq!(inbox.first(), Time::from_nanos(10));
        let mut sizes = Vec::new();
        for (end, left) in [(10, 10), (20, 20), (30, 30), (31, u64::MAX)] {
            let mut batch = Vec::new();
            inbox.take_before(Time::from_nanos(end), &mut batch);
            assert_eq!(inbox.first(), Time::from_nanos(left));
            sizes.extend(batch.iter().map(|entry| entry.packet.size()));
        }
        assert_eq!(sizes, [1, 2, 3, 4, 5, 6]);
    }
}
