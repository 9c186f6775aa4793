//! Slots whose queues hold packets, so that a search is as long as there are such queues.

/// Set of slots, in no order.
#[derive(Clone, Debug)]
pub(super) struct Backlogged {
    slots: Vec<u32>,
    /// Place of each slot in `slots`; `ABSENT`: it holds no packets.
    places: Vec<u32>,
}

impl Backlogged {
    /// None of so many slots.
    pub(super) fn new(slots: u32) -> Backlogged {
        let places = vec![ABSENT; slots as usize];
        Backlogged { slots: Vec::with_capacity(places.len()), places }
    }

    /// The queue of a slot has its first packet.
    pub(super) fn insert(&mut self, slot: u32) {
        self.places[slot as usize] = self.slots.len() as u32;
        self.slots.push(slot);
    }

    /// The queue of a slot is empty.
    pub(super) fn remove(&mut self, slot: u32) {
        let place = std::mem::replace(&mut self.places[slot as usize], ABSENT);
        self.slots.swap_remove(place as usize);
        if let Some(moved) = self.slots.get(place as usize) {
            self.places[*moved as usize] = place;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().copied()
    }
}

const ABSENT: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_and_go() {
        let mut held = Backlogged::new(4);
        for slot in [2, 0, 3] {
            held.insert(slot);
        }
        held.remove(2);
        held.insert(1);
        held.remove(1);
        held.remove(3);
        assert_eq!(held.iter().collect::<Vec<_>>(), [0]);
    }
}
