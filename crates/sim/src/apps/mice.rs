//! Short transfers, one after the other.

use super::{Sizes, TcpApp, Wish};
use sojourn_units::{Stream, Time, TimeDraw};

/// A transfer, a pause, the next transfer, each over a connection of its own.
pub(crate) struct Mice {
    sizes: Sizes,
    idle: TimeDraw,
    pauses: Stream,
    wakes_at: Time,
    wish: Option<Wish>,
}

impl Mice {
    /// Transfers of these sizes, and pauses with the stream of their draws.
    pub(crate) fn new(sizes: Sizes, (idle, pauses): (TimeDraw, Stream)) -> Mice {
        Mice { sizes, idle, pauses, wakes_at: Time::NEVER, wish: None }
    }
}

impl TcpApp for Mice {
    fn start(&mut self, now: Time, bytes: Option<u64>) {
        self.wake(now);
        self.wish = bytes.map(Wish::Send).or(self.wish);
    }
    fn acknowledged(&mut self, now: Time) {
        self.wakes_at = now + self.idle.sample(&mut self.pauses);
    }
    fn wakes_at(&self) -> Time {
        self.wakes_at
    }
    fn wake(&mut self, _now: Time) {
        self.wakes_at = Time::NEVER;
        self.wish = Some(Wish::Send(self.sizes.draw()));
    }
    fn next(&mut self, _now: Time) -> Option<Wish> {
        self.wish.take()
    }
}
