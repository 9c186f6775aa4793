//! The packets on their way to a link that several flows share.

use crate::packet::Packet;
use sojourn_units::Time;

/// Packets that will come to a link, and when.
#[derive(Default)]
pub(crate) struct Inbox {
    /// In the order of time and leg, where `sorted`.
    entries: Vec<Entry>,
    sorted: bool,
    /// When the first of them comes; NEVER where there is none.
    first: Time,
    packets: Vec<Packet>,
    /// Places of `packets` that hold nothing.
    free: Vec<u32>,
}

/// A packet that will come to the link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) time: Time,
    leg: u32,
    place: u32,
}

impl Inbox {
    pub(crate) fn new() -> Inbox {
        Inbox { sorted: true, first: Time::NEVER, ..Inbox::default() }
    }

    /// When the first packet comes; NEVER where none does.
    pub(crate) fn first(&self) -> Time {
        self.first
    }

    /// Adds a packet that comes at `time`; those of one leg come in order.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        let leg = packet.leg;
        let place = self.free.pop().unwrap_or(self.packets.len() as u32);
        if let Some(at) = self.packets.get_mut(place as usize) {
            *at = packet;
        } else {
            self.packets.push(packet);
        }
        self.first = self.first.min(time);
        self.insert(Entry { time, leg, place });
    }

    /// Puts an entry in its order, as far as that is near.
    fn insert(&mut self, entry: Entry) {
        let length = self.entries.len();
        let near = &self.entries[length.saturating_sub(NEAR)..];
        let later = near.iter().rev().take_while(|other| entry.is_before(other)).count();
        if later == 0 {
            return self.entries.push(entry);
        }
        self.entries.insert(length - later, entry);
        if later == NEAR && length > NEAR {
            self.sorted &= !entry.is_before(&self.entries[length - later - 1]);
        }
    }

    /// Moves to `batch` what comes before `end`, in the order of time, and at one instant of legs.
    pub(crate) fn take_before(&mut self, end: Time, batch: &mut Vec<Entry>) {
        if self.first >= end {
            return;
        }
        if !self.sorted {
            self.entries.sort_by_key(|entry| (entry.time, entry.leg));
            self.sorted = true;
        }
        let due = self.entries.partition_point(|entry| entry.time < end);
        batch.extend(self.entries.drain(..due));
        self.first = self.entries.first().map_or(Time::NEVER, |entry| entry.time);
    }

    /// The packet of an entry that was taken.
    #[inline]
    pub(crate) fn open(&mut self, entry: Entry) -> Packet {
        self.free.push(entry.place);
        self.packets[entry.place as usize]
    }
}

impl Entry {
    fn is_before(&self, other: &Entry) -> bool {
        self.time < other.time || (self.time == other.time && self.leg < other.leg)
    }
}

/// How far back an entry is put at once; flows whose delays differ little come nearly in order.
const NEAR: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::FlowId;
    use sojourn_tcp::Segment;

    /// Far out of order, and in any mixture: as a stable sort would have it.
    #[test]
    fn distant_packets_come_in_order_too() {
        let mut inbox = Inbox::new();
        let mut draws = sojourn_units::Stream::named(1, "inbox");
        let mut expected = Vec::new();
        let mut came = Vec::new();
        for round in 0..50_u64 {
            for _ in 0..100 {
                let time = Time::from_nanos(round * 100 + (draws.uniform() * 400.0) as u64);
                let (leg, len) = ((draws.uniform() * 3.0) as u32, expected.len() as u32);
                inbox.push(time, Packet { segment: Segment::default(), flow: FlowId(0), len, leg });
                expected.push((time, leg, len));
            }
            let mut batch = Vec::new();
            inbox.take_before(Time::from_nanos((round + 1) * 100), &mut batch);
            came.extend(batch.into_iter().map(|entry| (entry.time, entry.leg, inbox.open(entry).len)));
        }
        expected.sort();
        assert_eq!(came[..], expected[..came.len()]);
        assert!(came.len() > 4000);
    }

    #[test]
    fn packets_come_in_the_order_of_time_then_leg_then_entry() {
        let mut inbox = Inbox::new();
        let packet = |leg, len| Packet { segment: Segment::default(), flow: FlowId(0), len, leg };
        for (time, leg, len) in [(30, 1, 6), (10, 2, 3), (10, 1, 1), (20, 9, 5), (10, 1, 2), (10, 3, 4)] {
            inbox.push(Time::from_nanos(time), packet(leg, len));
        }
        assert_eq!(inbox.first(), Time::from_nanos(10));
        let mut sizes = Vec::new();
        for (end, left) in [(10, 10), (20, 20), (30, 30), (31, u64::MAX)] {
            let mut batch = Vec::new();
            inbox.take_before(Time::from_nanos(end), &mut batch);
            assert_eq!(inbox.first(), Time::from_nanos(left));
            sizes.extend(batch.into_iter().map(|entry| inbox.open(entry).len));
        }
        assert_eq!(sizes, [1, 2, 3, 4, 5, 6]);
    }
}
