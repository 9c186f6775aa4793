//! Drops that make room.

use super::{Elephant, Sqm};
use crate::qdisc::{Cause, Packet, Sink};
use crate::qdiscs::classifiers::RESERVED;
use crate::qdiscs::scheduled::{Bounds, Scheduler};
use crate::qdiscs::schedulers::Weighted;
use crate::qdiscs::sqm::price::PriceLaw;
use sojourn_units::Time;
use std::cmp::Reverse;

impl<P: Packet, S: Weighted> Sqm<P, S> {
    /// Drops packets until there is room, within the limit and within the bound of the target.
    pub(super) fn make_room(&mut self, now: Time, out: &mut dyn Sink<P>) {
        let Bounds { most_packets, most_bytes, .. } = self.bounds;
        while self.backlog.packets > most_packets || self.backlog.bytes > most_bytes {
            self.drop_from_the_fattest(now, out);
        }
        while let Some(number) = self.beyond_room(now) {
            self.drop_first(now, number, out, Cause::Law);
        }
    }

    /// Half of what the limit admits, or more.
    pub(super) fn has_much_room(&self) -> bool {
        let Bounds { most_packets, most_bytes, .. } = self.bounds;
        self.backlog.packets < most_packets / 2 && self.backlog.bytes < most_bytes / 2
    }

    /// The queue that loses a packet beyond the bound of the target; None: there is room. Queues that can be marked lose packets
    /// from twice the bound on.
    fn beyond_room(&self, now: Time) -> Option<u32> {
        if self.settings.law != PriceLaw::Predictive || self.is_stalled {
            return None;
        }
        let link = self.link();
        let room = self.predictor.room(&link);
        let excess = link.backlog / room;
        if excess <= 1.0 {
            return None;
        }
        let loser = self.loser(now, room)?;
        let packets =
            loser.checked_sub(1).map_or(self.mice.packets, |slot| self.queues[slot as usize].packets);
        let is_capable = self.store.first(packets).is_some_and(|packet| packet.ecn().is_capable());
        (excess > MARKED_ROOM || !is_capable || link.has_short_windows()).then_some(loser)
    }

    /// The queue that loses a packet where there is room for so many packets. Queues that hold more than their shares of it, and
    /// 4 packets, come first, and before them those of flows that have sent twice their shares in 10 s (floods have a bound of
    /// their own); then flows that have sent 0.8, so that those which wait for a timer get their packets through; of equal ones
    /// the longest. Or the reserved one if that waits longer.
    fn loser(&self, now: Time, room: f64) -> Option<u32> {
        let capacity = self.capacity();
        let rank = |slot: u32, own: &Elephant| {
            let share = self.tuning.rate(slot, capacity);
            let part = own.surplus.part_sent(now, share);
            let is_fast = part >= EXCESSIVE && own.response.is_responsive();
            let least = if is_fast { 0.0 } else { LEAST_HELD };
            let is_long = self.packets(own.backlog) > (room * share / capacity).max(least);
            let class = (is_long, is_long && is_fast, part >= PROTECTED);
            (class, own.backlog.bytes, part)
        };
        let holding = (0..).zip(&self.queues).filter(|(_, own)| own.backlog.packets > 0);
        let ranked = holding.map(|(slot, own)| (rank(slot, own), (slot, own)));
        let longest = ranked.max_by(|((class, bytes, part), _), (other, _)| {
            (class, bytes).cmp(&(&other.0, &other.1)).then(part.total_cmp(&other.2))
        });
        let longest = longest.map(|(_, queue)| queue);
        let mice = self.packets(self.mice.queue.backlog());
        let exceeds = |slot: u32, own: &Elephant| {
            self.packets(own.backlog) / self.tuning.rate(slot, self.capacity()) >= mice / self.mice.share
        };
        match longest {
            Some((slot, own)) if mice == 0.0 || exceeds(slot, own) => Some(slot + 1),
            _ => (mice > 0.0).then_some(RESERVED),
        }
    }

    /// Drops the first packet of the queue with the most bytes.
    #[cold]
    fn drop_from_the_fattest(&mut self, now: Time, out: &mut dyn Sink<P>) {
        if !self.is_ranked {
            self.is_ranked = true;
            let (mice, elephants) = (self.mice.queue.backlog(), &self.queues);
            let backlog = |place: usize| if place == 0 { mice } else { elephants[place - 1].backlog };
            let queues = elephants.len() + 1;
            self.fattest.set_all((0..queues).map(|place| Reverse(backlog(place).bytes)));
        }
        if let Some((_, number)) = self.fattest.winner() {
            self.drop_first(now, number, out, Cause::Overflow);
        }
    }

    /// Drops the first packet of a queue.
    pub(super) fn drop_first(&mut self, now: Time, number: u32, out: &mut dyn Sink<P>, cause: Cause) {
        let is_served = number == RESERVED || self.queues[number as usize - 1].after.is_none();
        let Some((_, packet)) = self.pop(now, number) else { return };
        match cause {
            Cause::Overflow if number == RESERVED => self.mice.queue.overflow(now),
            _ if number == RESERVED => self.mice.queue.count_drop(),
            _ => {}
        }
        match cause {
            Cause::Overflow => self.counts.overflowed += 1,
            _ => self.counts.dropped_by_law += 1,
        }
        if is_served {
            self.scheduler.dropped(number, packet.len());
        }
        out.dropped(now, packet, cause);
        self.serve_waiting(now);
    }
}

/// Packets that the queue of a flow that has not sent twice its share may hold.
const LEAST_HELD: f64 = 4.0;
/// Part of its share up to which a flow that has sent it loses no packet while others have sent theirs.
const PROTECTED: f64 = 0.8;
/// Part from which on it loses packets before others do.
const EXCESSIVE: f64 = 2.0;
/// The bound while the longest queue can be marked, by that of packets that are dropped.
const MARKED_ROOM: f64 = 2.0;
