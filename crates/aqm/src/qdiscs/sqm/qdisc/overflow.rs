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
    /// Drops packets until there is room, within the limit and on an overloaded link.
    pub(super) fn make_room(&mut self, now: Time, out: &mut dyn Sink<P>) {
        let Bounds { most_packets, most_bytes, .. } = self.bounds;
        while self.backlog.packets > most_packets || self.backlog.bytes > most_bytes {
            self.drop_from_the_fattest(now, out);
        }
        while let Some(number) = self.overloaded(now) {
            self.drop_first(now, number, out, Cause::Law);
        }
    }

    /// Half of what the limit admits, or more.
    pub(super) fn has_much_room(&self) -> bool {
        let Bounds { most_packets, most_bytes, .. } = self.bounds;
        self.backlog.packets < most_packets / 2 && self.backlog.bytes < most_bytes / 2
    }

    /// The queue that loses a packet of an overloaded link: that of the flow that holds and has sent the most by its share, so
    /// that flows which wait for a timer get their packets through; None: there is room.
    fn overloaded(&self, now: Time) -> Option<u32> {
        let is_predictive = self.settings.law == PriceLaw::Predictive;
        let room = is_predictive.then(|| self.predictor.room(&self.link())).flatten()?;
        if self.packets(self.backlog) <= room {
            return None;
        }
        // A flow without a share, which was not seen for a period, has a weight of 0: its queue is the first.
        let by_share = |slot: u32, own: &Elephant| {
            (self.packets(own.backlog) + own.surplus.sent(now)) / self.tuning.weight(slot)
        };
        let slots = (0..).zip(&self.queues).filter(|(_, own)| own.backlog.packets > 0);
        let greatest = slots
            .map(|(slot, own)| (slot, by_share(slot, own)))
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(slot, _)| slot);
        let mice = self.packets(self.mice.queue.backlog());
        let exceeds = |slot: u32| {
            let share = self.tuning.rate(slot, self.capacity());
            self.packets(self.queues[slot as usize].backlog) / share >= mice / self.mice.share
        };
        match greatest {
            Some(slot) if mice == 0.0 || exceeds(slot) => Some(slot + 1),
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
        if number == RESERVED && cause == Cause::Overflow {
            self.mice.queue.overflow(now);
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
