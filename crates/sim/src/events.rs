//! The event queue: what happens next, in exact order.

use sojourn_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that is going to happen to a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// An entry of the schedule is due.
    Change(u32),
    /// The law in front of this link wants its update.
    Update(u32),
    /// This link has sent its packet and asks for the next.
    Sent(u32),
    /// The first packet on this link's wire arrives at its far end.
    Arrival(u32),
    /// This flow starts.
    Start(u32),
    /// This flow stops.
    Stop(u32),
    /// This flow's retransmission timer, or its next datagram.
    Sender(u32),
    /// This flow's delayed acknowledgment.
    Receiver(u32),
}

/// Pending events, earliest first; at one instant changes come before updates,
/// updates before packets, and packets in the order in which they were
/// scheduled.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<(Time, u64, Event)>>,
    scheduled: u64,
}

impl EventQueue {
    pub(crate) fn push(&mut self, time: Time, event: Event) {
        self.scheduled += 1;
        self.heap.push(Reverse((time, rank(event) << RANK_SHIFT | self.scheduled, event)));
    }

    /// The earliest event, where it is due by `until`.
    pub(crate) fn pop_by(&mut self, until: Time) -> Option<(Time, Event)> {
        let Reverse((time, ..)) = self.heap.peek()?;
        if *time > until {
            return None;
        }
        self.heap.pop().map(|Reverse((time, _, event))| (time, event))
    }
}

fn rank(event: Event) -> u64 {
    match event {
        Event::Change(_) => 0,
        Event::Update(_) => 1,
        _ => 2,
    }
}

/// The rank stands above the running number of the event.
const RANK_SHIFT: u32 = 62;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_time_then_rank_then_first_come() {
        let (early, late) = (Time::from_nanos(1), Time::from_nanos(2));
        let mut queue = EventQueue::default();
        for (time, event) in [
            (late, Event::Sent(0)),
            (late, Event::Arrival(1)),
            (late, Event::Update(0)),
            (late, Event::Change(0)),
            (early, Event::Start(0)),
        ] {
            queue.push(time, event);
        }
        assert_eq!(queue.pop_by(Time::ZERO), None);
        let order: Vec<Event> = std::iter::from_fn(|| queue.pop_by(late)).map(|(_, event)| event).collect();
        let packets = [Event::Sent(0), Event::Arrival(1)];
        assert_eq!(order[..3], [Event::Start(0), Event::Change(0), Event::Update(0)]);
        assert_eq!(order[3..], packets);
    }
}
