//! ElephantTrap: a small cache in which large flows stay.
//!
//! Y. Lu, M. Wang, B. Prabhakar, F. Bonomi, "ElephantTrap: A low cost device for identifying large flows", IEEE Hot
//! Interconnects 2007. One packet of several is sampled. Where its flow is in the trap, its counter grows by one; else a
//! hand goes round the trap, halves each counter above a threshold, and stops at one that is not: the flow there makes
//! room, and the new one begins at 0. No sizes are estimated, and nothing is known of flows outside.

use super::slots::{Seen, Slots};
use crate::law::FlowId;
use siphasher::sip::SipHasher13;
use sojourn_random::Stream;

/// The trap.
#[derive(Clone)]
pub struct ElephantTrap {
    hasher: SipHasher13,
    slots: Slots,
    /// Chance of a packet to be sampled.
    sampled: f64,
    /// A counter above it keeps its flow when the hand comes by.
    threshold: u32,
    hand: u32,
}

impl ElephantTrap {
    /// For so many flows; the key is drawn.
    pub fn new(elephants: u32, sampled: f64, threshold: u32, draws: &mut Stream) -> ElephantTrap {
        let hasher = SipHasher13::new_with_keys(draws.bits(), draws.bits());
        ElephantTrap { hasher, slots: Slots::new(elephants), sampled, threshold, hand: 0 }
    }

    /// The slot of a flow.
    pub fn slot(&self, flow: FlowId) -> Option<u32> {
        self.slots.find(flow, self.hasher.hash(&flow.0.to_le_bytes()))
    }

    /// Another chance of a packet to be sampled.
    pub fn set_sampled(&mut self, sampled: f64) {
        self.sampled = sampled;
    }

    /// A packet of a flow.
    pub fn packet(&mut self, flow: FlowId, draws: &mut Stream) -> Seen {
        let hash = self.hasher.hash(&flow.0.to_le_bytes());
        let slot = self.slots.find(flow, hash);
        if draws.uniform() >= self.sampled {
            return slot.map_or(Seen::Mouse, Seen::Elephant);
        }
        if let Some(slot) = slot {
            self.slots.set_count(slot, self.slots.count(slot).saturating_add(1));
            return Seen::Elephant(slot);
        }
        let slot = self.room();
        Seen::Entered(self.slots.replace(slot, flow, hash, 0))
    }

    /// The slot at which the hand stops.
    fn room(&mut self) -> u32 {
        loop {
            let slot = self.hand;
            self.hand = (self.hand + 1) % self.slots.len();
            let count = self.slots.count(slot);
            if count <= self.threshold {
                return slot;
            }
            self.slots.set_count(slot, count / 2);
        }
    }

    /// The flows with their slots and counters.
    pub fn elephants(&self) -> impl Iterator<Item = (u32, FlowId, u32)> {
        self.slots.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty flows have nine of ten packets, 10 000 have the others.
    #[test]
    fn large_flows_stay_in_the_trap() {
        let mut draws = Stream::named(1, "trap");
        let mut trap = ElephantTrap::new(64, 0.05, 1, &mut draws);
        for _ in 0..200_000 {
            let (kind, of) = (draws.uniform(), draws.uniform());
            let flow = if kind < 0.9 { of * 20.0 } else { 20.0 + of * 10_000.0 };
            trap.packet(FlowId(flow as u32), &mut draws);
        }
        assert_eq!(trap.elephants().filter(|(_, flow, _)| flow.0 < 20).count(), 20);
    }

    /// The hand, worked by hand: a threshold of 1, three slots.
    #[test]
    fn the_hand_halves_what_is_above_the_threshold() {
        let mut draws = Stream::named(1, "trap");
        let mut trap = ElephantTrap::new(3, 1.0, 1, &mut draws);
        for flow in [1, 1, 1, 1, 2, 3, 3] {
            trap.packet(FlowId(flow), &mut draws);
        }
        let held = |trap: &ElephantTrap| {
            trap.elephants().map(|(_, flow, count)| (flow.0, count)).collect::<Vec<_>>()
        };
        assert_eq!(held(&trap), [(1, 3), (2, 0), (3, 1)]);
        // Flow 1 is halved and stays, flow 2 makes room.
        trap.packet(FlowId(4), &mut draws);
        assert_eq!(held(&trap), [(1, 1), (4, 0), (3, 1)]);
        trap.packet(FlowId(5), &mut draws);
        assert_eq!(held(&trap), [(1, 1), (4, 0), (5, 0)]);
    }
}
