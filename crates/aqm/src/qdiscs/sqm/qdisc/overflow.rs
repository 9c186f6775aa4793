//! Drops that make room.

use super::Sqm;
use crate::qdisc::{Cause, Packet, Sink};
use crate::qdiscs::classifiers::RESERVED;
use crate::qdiscs::scheduled::{Bounds, Scheduler};
use crate::qdiscs::schedulers::Weighted;
use crate::qdiscs::sqm::price::PriceLaw;
use sojourn_units::Time;
use std::cmp::Reverse;

impl<P: Packet, S: Weighted> Sqm<P, S> {
    /// Cause of a drop that makes room: the limit, or an overload; None: there is room.
    pub(super) fn lacks_room(&self) -> Option<Cause> {
        let Bounds { most_packets, most_bytes, .. } = self.bounds;
        if self.backlog.packets > most_packets || self.backlog.bytes > most_bytes {
            return Some(Cause::Overflow);
        }
        self.room().is_some_and(|room| self.backlog.packets > room).then_some(Cause::Law)
    }

    /// Half of what there is room for, or more.
    pub(super) fn has_much_room(&self) -> bool {
        let Bounds { most_packets, most_bytes, .. } = self.bounds;
        let most = self.room().map_or(most_packets, |room| room.min(most_packets));
        self.backlog.packets < most / 2 && self.backlog.bytes < most_bytes / 2
    }

    /// Most packets of an overloaded link.
    fn room(&self) -> Option<u32> {
        if self.settings.law == PriceLaw::Predictive { self.predictor.room(&self.link()) } else { None }
    }

    /// Drops the first packet of the queue with the most bytes.
    #[cold]
    pub(super) fn drop_from_the_fattest(&mut self, now: Time, out: &mut dyn Sink<P>, cause: Cause) {
        if !self.is_ranked {
            self.is_ranked = true;
            let (mice, elephants) = (self.mice.queue.backlog(), &self.queues);
            let backlog = |place: usize| if place == 0 { mice } else { elephants[place - 1].backlog };
            let queues = elephants.len() + 1;
            self.fattest.set_all((0..queues).map(|place| Reverse(backlog(place).bytes)));
        }
        if let Some((_, number)) = self.fattest.winner() {
            self.drop_first(now, number, out, cause);
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
