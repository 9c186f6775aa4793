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

    /// Time of arrival of the first packet.
    pub(super) fn head(&self, list: List) -> Option<Time> {
        self.slots.get(list.head as usize).map(|slot| slot.since)
    }
}
