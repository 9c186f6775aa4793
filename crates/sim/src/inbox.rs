//! The packets on their way to a link that several flows share.

use crate::packet::Packet;
use sojourn_units::Time;

/// Packets that will come to a link, and when.
pub(crate) struct Inbox {
    /// In the order of time and leg, where `sorted`.
    entries: Vec<Entry>,
    sorted: bool,
    /// When the first of them comes; NEVER where there is none.
    first: Time,
}

/// A packet that will come to the link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) time: Time,
    pub(crate) packet: Packet,
}

impl Inbox {
    pub(crate) fn new() -> Inbox {
        Inbox { entries: Vec::new(), sorted: true, first: Time::NEVER }
    }

    /// When the first packet comes; NEVER where none does.
    pub(crate) fn first(&self) -> Time {
        self.first
    }

    /// Adds a packet that comes at `time`, in its order as far as that is near; those of one leg come in order.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        let entry = Entry { time, packet };
        self.first = self.first.min(time);
        let length = self.entries.len();
        self.entries.push(entry);
        let near = &mut self.entries[length.saturating_sub(NEAR)..];
        let mut place = near.len() - 1;
        // One by one: a block move would wait for the last stores.
        while place > 0 && entry.is_before(&near[place - 1]) {
            near[place] = near[place - 1];
            place -= 1;
        }
        near[place] = entry;
        if place == 0 && length > NEAR {
            self.sorted &= !entry.is_before(&self.entries[length - NEAR - 1]);
        }
    }

    /// Moves to `batch` what comes before `end`, in the order of time, and at one instant of legs.
    pub(crate) fn take_before(&mut self, end: Time, batch: &mut Vec<Entry>) {
        if self.first >= end {
            return;
        }
        if !self.sorted {
            self.entries.sort_by_key(|entry| (entry.time, entry.packet.leg));
            self.sorted = true;
        }
        let due = self.entries.partition_point(|entry| entry.time < end);
        batch.extend(self.entries.drain(..due));
        self.first = self.entries.first().map_or(Time::NEVER, |entry| entry.time);
    }
}

impl Entry {
    fn is_before(&self, other: &Entry) -> bool {
        self.time < other.time || (self.time == other.time && self.packet.leg < other.packet.leg)
    }
}

/// How far back an entry is put at once; flows whose delays differ little come nearly in order.
const NEAR: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Pool;
    use sojourn_units::{Ecn, Stream};

    fn packet(leg: u32, len: u32) -> Packet {
        Pool::datagram(0, len as u16, Ecn::NotEct, leg)
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
