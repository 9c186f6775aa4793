//! Packets of many queues in one memory: a queue is a list through it.

use sojourn_units::Time;

/// The packets, with their times of arrival. It grows to the most packets held at once, and never further.
#[derive(Clone, Debug)]
pub(super) struct Store<P> {
    slots: Vec<Slot<P>>,
    /// The first of the free slots.
    free: u32,
}

#[derive(Clone, Debug)]
struct Slot<P> {
    since: Time,
    /// None: free.
    packet: Option<P>,
    /// The next slot of its list.
    next: u32,
}

/// A queue in the store: its first and last slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    head: u32,
    tail: u32,
}

const NONE: u32 = u32::MAX;

impl Default for List {
    fn default() -> List {
        List { head: NONE, tail: NONE }
    }
}

impl<P> Store<P> {
    pub(super) fn new() -> Store<P> {
        Store { slots: Vec::new(), free: NONE }
    }

    /// Appends a packet.
    pub(super) fn push(&mut self, list: &mut List, since: Time, packet: P) {
        let slot = Slot { since, packet: Some(packet), next: NONE };
        let place = if self.free == NONE {
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        } else {
            let place = self.free;
            let free = &mut self.slots[place as usize];
            self.free = free.next;
            *free = slot;
            place
        };
        if list.tail == NONE {
            list.head = place;
        } else {
            self.slots[list.tail as usize].next = place;
        }
        list.tail = place;
    }

    /// Takes the first packet, with its time of arrival.
    pub(super) fn pop(&mut self, list: &mut List) -> Option<(Time, P)> {
        let place = list.head;
        let slot = self.slots.get_mut(place as usize)?;
        let (since, packet) = (slot.since, slot.packet.take()?);
        list.head = slot.next;
        if list.head == NONE {
            list.tail = NONE;
        }
        slot.next = self.free;
        self.free = place;
        Some((since, packet))
    }

    /// Packets of a list, the first first.
    pub(super) fn iter(&self, list: List) -> impl Iterator<Item = &P> {
        let slot = |place: u32| self.slots.get(place as usize);
        std::iter::successors(slot(list.head), move |before| slot(before.next))
            .filter_map(|slot| slot.packet.as_ref())
    }

    /// The first packet of a list.
    pub(super) fn first(&self, list: List) -> Option<&P> {
        self.slots.get(list.head as usize)?.packet.as_ref()
    }

    /// The same, to mark it.
    pub(super) fn first_mut(&mut self, list: List) -> Option<&mut P> {
        self.slots.get_mut(list.head as usize)?.packet.as_mut()
    }

    /// The last packet of a list.
    pub(super) fn last(&self, list: List) -> Option<&P> {
        self.slots.get(list.tail as usize)?.packet.as_ref()
    }

    /// Takes the packet with so many before it in its list.
    pub(super) fn remove(&mut self, list: &mut List, before: usize) -> Option<(Time, P)> {
        if before == 0 {
            return self.pop(list);
        }
        let mut previous = list.head;
        for _ in 1..before {
            previous = self.slots.get(previous as usize)?.next;
        }
        // The rest is a list of its own.
        let mut rest = List { head: self.slots.get(previous as usize)?.next, tail: list.tail };
        let taken = self.pop(&mut rest);
        self.slots[previous as usize].next = rest.head;
        if rest.head == NONE {
            list.tail = previous;
        }
        taken
    }

    /// Packets held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.slots.iter().filter(|slot| slot.packet.is_some()).count()
    }

    /// Time of arrival of the first packet.
    pub(super) fn head(&self, list: List) -> Option<Time> {
        self.slots.get(list.head as usize).map(|slot| slot.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_leaves_from_any_place() {
        let held = |store: &Store<u32>, list: List| store.iter(list).copied().collect::<Vec<_>>();
        for place in 0..4 {
            let (mut store, mut list, mut other) = (Store::new(), List::default(), List::default());
            for number in 0..4 {
                store.push(&mut list, Time::from_nanos(number.into()), number);
                store.push(&mut other, Time::ZERO, 10 + number);
            }
            let taken = store.remove(&mut list, place as usize);
            assert_eq!(taken, Some((Time::from_nanos(place), place as u32)));
            store.push(&mut list, Time::ZERO, 9);
            let expected: Vec<u32> = (0..4).filter(|number| u64::from(*number) != place).chain([9]).collect();
            assert_eq!(held(&store, list), expected);
            assert_eq!(held(&store, other), [10, 11, 12, 13]);
            assert_eq!(store.remove(&mut list, 4), None);
            assert_eq!(store.slots.len(), 8, "its slot is used again");
            while store.pop(&mut list).is_some() {}
            assert_eq!(store.remove(&mut list, 0), None);
        }
    }
}
