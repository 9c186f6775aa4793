//! Short transfers, one after the other.

use super::{TcpApp, Wish};
use crate::network::SizePlan;
use sojourn_units::{Draw, Span, Stream, Time};

/// A transfer, a pause, the next transfer, each over a connection of its own.
pub(crate) struct Mice {
    size: SizePlan,
    sizes: Stream,
    idle: Draw,
    pauses: Stream,
    wakes_at: Time,
    wish: Option<Wish>,
}

impl Mice {
    /// Transfers of this size, pauses of so many seconds, and the streams of their draws.
    pub(crate) fn new((size, sizes): (SizePlan, Stream), (idle, pauses): (Draw, Stream)) -> Mice {
        Mice { size, sizes, idle, pauses, wakes_at: Time::NEVER, wish: None }
    }
}

impl TcpApp for Mice {
    fn start(&mut self, now: Time, bytes: Option<u64>) {
        self.wake(now);
        self.wish = bytes.map(Wish::Send).or(self.wish);
    }
    fn acknowledged(&mut self, now: Time) {
        self.wakes_at = now + Span::from_seconds(self.idle.sample(&mut self.pauses));
    }
    fn wakes_at(&self) -> Time {
        self.wakes_at
    }
    fn wake(&mut self, _now: Time) {
        self.wakes_at = Time::NEVER;
        self.wish = Some(Wish::Send(self.size.draw(&mut self.sizes)));
    }
    fn next(&mut self, _now: Time) -> Option<Wish> {
        self.wish.take()
    }
}
