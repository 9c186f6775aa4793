//! A bounded set of flows in numbered slots: found by a keyed hash, the one with the least count known at any time.

use crate::law::FlowId;
use crate::qdiscs::tournament::Tournament;

/// Flows in slots, each with a count.
#[derive(Clone)]
pub(super) struct Slots {
    flows: Vec<Option<Held>>,
    /// Slots by count; one that is free has 0.
    counts: Tournament<u32>,
    /// Slot at each place of an open-addressed table, twice as large as the slots or more; NONE: no flow.
    places: Vec<u32>,
}

/// A flow in a slot.
#[derive(Clone, Copy)]
struct Held {
    flow: FlowId,
    hash: u64,
    count: u32,
}

/// Standing of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It has this slot, since before.
    Elephant(u32),
    /// It has one from now on.
    Entered(Entered),
    /// It has none.
    Mouse,
}

/// A slot whose flow has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The slot.
    pub slot: u32,
    /// The flow that had the slot.
    pub left: Option<FlowId>,
}

impl Slots {
    /// So many free slots.
    pub(super) fn new(count: u32) -> Slots {
        let mut counts = Tournament::new(u32::MAX);
        counts.set_all((0..count).map(|_| 0));
        let places = vec![NONE; (2 * count as usize).next_power_of_two()];
        Slots { flows: vec![None; count as usize], counts, places }
    }

    /// Number of slots.
    pub(super) fn len(&self) -> u32 {
        self.flows.len() as u32
    }

    /// The slot of a flow, which has this hash.
    pub(super) fn find(&self, flow: FlowId, hash: u64) -> Option<u32> {
        let mut place = self.place(hash);
        while self.places[place] != NONE {
            let slot = self.places[place];
            if self.flows[slot as usize].is_some_and(|held| held.flow == flow) {
                return Some(slot);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
        None
    }

    /// Count of the flow in a slot; 0: it is free.
    pub(super) fn count(&self, slot: u32) -> u32 {
        self.flows[slot as usize].map_or(0, |held| held.count)
    }

    /// The flow in a slot, with its count.
    pub(super) fn get(&self, slot: u32) -> Option<(FlowId, u32)> {
        self.flows[slot as usize].map(|held| (held.flow, held.count))
    }

    /// Least count of all slots; 0: one is free.
    pub(super) fn least(&self) -> u32 {
        self.counts.winner().map_or(u32::MAX, |(count, _)| count)
    }

    /// Sets the count of the flow in a slot, above 0.
    pub(super) fn set_count(&mut self, slot: u32, count: u32) {
        if let Some(held) = &mut self.flows[slot as usize] {
            held.count = count;
            self.counts.set(slot, count);
        }
    }

    /// Puts a flow, which has no slot, in place of the one with the least count.
    pub(super) fn enter(&mut self, flow: FlowId, hash: u64, count: u32) -> Option<Entered> {
        let (_, slot) = self.counts.winner()?;
        Some(self.replace(slot, flow, hash, count))
    }

    /// Puts a flow, which has no slot, into this one.
    pub(super) fn replace(&mut self, slot: u32, flow: FlowId, hash: u64, count: u32) -> Entered {
        let left = self.flows[slot as usize].map(|held| held.flow);
        self.leave(slot);
        self.flows[slot as usize] = Some(Held { flow, hash, count });
        self.counts.set(slot, count);
        let mut place = self.place(hash);
        while self.places[place] != NONE {
            place = (place + 1) & (self.places.len() - 1);
        }
        self.places[place] = slot;
        Entered { slot, left }
    }

    /// Frees a slot.
    pub(super) fn leave(&mut self, slot: u32) {
        let Some(held) = self.flows[slot as usize].take() else { return };
        self.counts.set(slot, 0);
        let last = self.places.len() - 1;
        let mut hole = self.place(held.hash);
        while self.places[hole] != slot {
            hole = (hole + 1) & last;
        }
        // What stands behind moves up, unless it would come before its own place (D. Knuth, TAOCP 3, 6.4, algorithm R).
        let mut place = hole;
        loop {
            place = (place + 1) & last;
            let Some(other) = self.flows.get(self.places[place] as usize).copied().flatten() else { break };
            let own = self.place(other.hash);
            if (place.wrapping_sub(own) & last) >= (place.wrapping_sub(hole) & last) {
                self.places[hole] = self.places[place];
                hole = place;
            }
        }
        self.places[hole] = NONE;
    }

    /// The flows with their slots and counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, FlowId, u32)> {
        (0..).zip(&self.flows).filter_map(|(slot, held)| held.map(|held| (slot, held.flow, held.count)))
    }

    /// Bytes in use.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        let table = size_of_val(&self.flows[..]) + size_of_val(&self.places[..]);
        table + 2 * self.flows.len().next_power_of_two() * size_of::<(u32, u32)>()
    }

    fn place(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.places.len() - 1)
    }
}

const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_random::Stream;
    use std::collections::BTreeMap;

    #[test]
    fn flows_are_found_while_others_come_and_go() {
        let mut draws = Stream::named(1, "slots");
        // Few hashes, so that many flows share a place.
        let hash = |flow: u32| u64::from(flow % 7) << 32;
        let (mut slots, mut known) = (Slots::new(24), BTreeMap::new());
        for _ in 0..50_000 {
            let flow = (draws.uniform() * 60.0) as u32;
            let found = slots.find(FlowId(flow), hash(flow));
            assert_eq!(found, known.get(&flow).map(|(slot, _)| *slot));
            let count = 1 + (draws.uniform() * 1000.0) as u32;
            match found {
                Some(slot) if draws.uniform() < 0.3 => {
                    slots.leave(slot);
                    known.remove(&flow);
                }
                Some(slot) => {
                    slots.set_count(slot, count);
                    known.insert(flow, (slot, count));
                }
                None => {
                    let entered = slots.enter(FlowId(flow), hash(flow), count).unwrap();
                    assert_eq!(entered.left.is_none(), known.len() < 24);
                    if let Some(FlowId(left)) = entered.left {
                        let (_, least) = known.remove(&left).unwrap();
                        assert!(known.values().all(|(_, count)| *count >= least));
                    }
                    known.insert(flow, (entered.slot, count));
                }
            }
            assert_eq!(slots.iter().count(), known.len());
        }
    }
}
