//! Drops that make room.

use super::Sqm;
use crate::qdisc::{Cause, Packet, Sink};
use crate::qdiscs::classifiers::RESERVED;
use crate::qdiscs::scheduled::{Bounds, Scheduler};
use crate::qdiscs::schedulers::Weighted;
use crate::qdiscs::sqm::price::PriceLaw;
use sojourn_units::{Ecn, Time};
use std::cmp::{Ordering, Reverse};

impl<P: Packet, S: Weighted> Sqm<P, S> {
    /// Drops packets until there is room, within the limit and within the bound of the target.
    pub(super) fn make_room(&mut self, now: Time, out: &mut dyn Sink<P>) {
        let Bounds { most_packets, most_bytes, .. } = self.bounds;
        while self.backlog.packets > most_packets || self.backlog.bytes > most_bytes {
            self.drop_from_the_fattest(now, out);
        }
        while let Some(relief) = self.relief(now) {
            match relief {
                Relief::Mark { slot } => {
                    self.signal(now, slot, out);
                    break;
                }
                Relief::Drop { number } => {
                    self.count_loss(now, number);
                    self.drop_first(now, number, out, Cause::Law);
                }
            }
        }
    }

    /// A loss beyond the bound is a signal to a flow that has sent three times its share by equation (5) in 10 s. While windows are
    /// short and packets cannot be marked it is the only one.
    fn count_loss(&mut self, now: Time, number: u32) {
        let Some(slot) = number.checked_sub(1) else { return };
        let (share, delay) = (self.tuning.share(slot, self.capacity()), self.tuning.delay(slot));
        let own = &mut self.queues[slot as usize];
        if own.surplus.part_sent(now, share) >= FLOODING {
            let rate = own.surplus.rate(now, delay);
            own.response.signalled(now, rate, (delay, false));
        }
    }

    /// Half of what the limit admits, or more.
    pub(super) fn has_much_room(&self) -> bool {
        let Bounds { most_packets, most_bytes, .. } = self.bounds;
        self.backlog.packets < most_packets / 2 && self.backlog.bytes < most_bytes / 2
    }

    /// The mark or the drop that a backlog beyond the bound of the target calls for; None: there is room.
    fn relief(&self, now: Time) -> Option<Relief> {
        if self.settings.law != PriceLaw::Predictive || self.is_stalled {
            return None;
        }
        let link = self.link();
        let [room, marked_room] = self.predictor.rooms(&link);
        if link.backlog <= room {
            return None;
        }
        let loser = self.loser(now, room)?;
        let packets =
            loser.checked_sub(1).map_or(self.mice.packets, |slot| self.queues[slot as usize].packets);
        let ecn = self.store.first(packets).map_or(Ecn::NotEct, Packet::ecn);
        if !ecn.is_capable() || link.backlog > marked_room {
            return Some(Relief::Drop { number: loser });
        }
        if !link.has_short_windows() {
            return None;
        }
        let answers = |slot: &u32| ecn != Ecn::Ce && self.queues[*slot as usize].response.is_responsive();
        let marked = loser.checked_sub(1).filter(answers);
        Some(marked.map_or(Relief::Drop { number: loser }, |slot| Relief::Mark { slot }))
    }

    /// The queue that loses a packet where there is room for so many packets: that of the highest rank, or the reserved one if
    /// that waits longer and holds more than its share of the room, and 4 packets.
    fn loser(&self, now: Time, room: f64) -> Option<u32> {
        let last = self.holding.iter().map(|slot| self.rank(now, slot, room));
        let last = last.max_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        let mice = self.packets(self.mice.queue.backlog());
        let part_of_mice = self.mice.share / self.settings.link.capacity();
        let are_mice_long = mice > (room * part_of_mice).max(LEAST_HELD);
        let loses = |own: &Rank| !are_mice_long || own.wait >= mice / self.mice.share;
        match last {
            Some(own) if loses(&own) => Some(own.slot + 1),
            _ => (mice > 0.0).then_some(RESERVED),
        }
    }

    /// The rank of the queue of a slot where there is room for so many packets.
    fn rank(&self, now: Time, slot: u32, room: f64) -> Rank {
        let own = &self.queues[slot as usize];
        let (held, rate) = (self.packets(own.backlog), self.tuning.rate(slot, self.capacity()));
        let sent = own.surplus.part_sent(now, rate);
        let is_fast = sent >= EXCESSIVE && own.response.is_responsive();
        let has_sent = sent >= PROTECTED;
        let least = match (is_fast, has_sent) {
            (true, _) => 0.0,
            (false, true) => LEAST_HELD,
            (false, false) => RETURNING,
        };
        let is_long = held > (room * rate / self.capacity()).max(least);
        Rank {
            is_long,
            is_fast: is_long && is_fast,
            has_sent,
            bytes: own.backlog.bytes,
            served: own.surplus.served(now) / rate,
            slot,
            wait: held / rate,
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

/// Relief of a backlog beyond the bound, at the first packet of a queue.
enum Relief {
    /// It is marked; the queue is that of a slot.
    Mark { slot: u32 },
    /// It is dropped; the queue has this number in the scheduler.
    Drop { number: u32 },
}

/// Rank of a queue beyond the bound of the target: by the first of these in which two differ, the greater loses a packet. Those
/// which wait for a timer get their packets through, as they have sent little.
#[derive(PartialEq, PartialOrd)]
struct Rank {
    /// It holds more than its share of the room and, unless its flow is fast, more than 4 packets, or 12 where that has sent less than
    /// 0.8 of its share.
    is_long: bool,
    /// It is long, and its flow has sent twice its share in 10 s; floods have a bound of their own.
    is_fast: bool,
    /// Its flow has sent 0.8 of its share in 10 s.
    has_sent: bool,
    bytes: u64,
    /// Part of its share at which its flow is served.
    served: f64,
    slot: u32,
    /// Packets held by the rate of the flow, s.
    wait: f64,
}

/// Packets that the queue of a flow that has not sent twice its share may hold.
const LEAST_HELD: f64 = 4.0;
/// The same of a flow that has sent little: one that waited for its timer begins again in slow start, and waits twice as long if its
/// packets are lost again (RFC 6298, section 5.5).
const RETURNING: f64 = 12.0;
/// Part of its share up to which a flow loses no packet while others have sent theirs.
const PROTECTED: f64 = 0.8;
/// Part from which on a long queue loses packets before others do.
const EXCESSIVE: f64 = 2.0;
/// Part from which on a loss beyond the bound is a signal to a flow.
const FLOODING: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Rank = Rank {
        is_long: false,
        is_fast: false,
        has_sent: false,
        bytes: 6000,
        served: 0.5,
        slot: 1,
        wait: 0.01,
    };

    #[test]
    fn long_queues_lose_first_and_of_these_those_of_fast_flows() {
        let ranks = [
            // One that waits for its timer, one that has sent its share, and one with more bytes.
            OWN,
            Rank { has_sent: true, bytes: 3000, ..OWN },
            Rank { has_sent: true, bytes: 4500, ..OWN },
            // A long one, whatever it has sent; then one that has sent its share.
            Rank { is_long: true, bytes: 1500, ..OWN },
            Rank { is_long: true, has_sent: true, bytes: 1500, ..OWN },
            // One that has sent twice its share, though it is shorter; of equal ones the one that is served more.
            Rank { is_long: true, is_fast: true, has_sent: true, bytes: 1000, served: 2.5, ..OWN },
            Rank { is_long: true, is_fast: true, has_sent: true, bytes: 1000, served: 3.0, ..OWN },
        ];
        assert!(ranks.is_sorted_by(|a, b| a < b));
    }
}
