//! Timers by their time; at one instant in the order in which they were set.

use sojourn_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A timer and its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A flow without a user starts.
    Start(u32),
    /// It stops.
    Stop(u32),
    /// A user starts.
    Enter(u32),
    /// The stay of a user may be over.
    Leave(u32),
    /// The application of a user wakes.
    Wake(u32),
    /// A user of a class arrives.
    Arrival(u32),
    /// The number of users of a class changes.
    Count(u32),
    /// A flow sends a datagram.
    Datagram(u32),
    /// The state of all connections is sampled.
    Sample,
}

/// Timers that are set.
#[derive(Default)]
pub(super) struct Timers {
    set: BinaryHeap<Reverse<(Time, u64, Timer)>>,
    order: u64,
}

impl Timers {
    pub(super) fn set(&mut self, at: Time, timer: Timer) {
        if at < Time::NEVER {
            self.set.push(Reverse((at, self.order, timer)));
            self.order += 1;
        }
    }

    /// Time of the next one.
    pub(super) fn next(&self) -> Option<Time> {
        self.set.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes a timer that is due by `now`.
    pub(super) fn due(&mut self, now: Time) -> Option<Timer> {
        if self.next()? > now {
            return None;
        }
        self.set.pop().map(|Reverse((_, _, timer))| timer)
    }
}
