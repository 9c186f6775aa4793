//! Mice: short transfers, one after the other.

use super::{Action, App, Sizes};
use sojourn_params::TimeDraw;
use sojourn_random::Stream;
use sojourn_units::Time;

/// A transfer, a pause, the next transfer, each over a connection of its own.
pub(crate) struct Mice {
    sizes: Sizes,
    idle: TimeDraw,
    pauses: Stream,
    wakes_at: Time,
    action: Option<Action>,
}

impl Mice {
    /// Transfers of these sizes, with these pauses and the stream of their draws.
    pub(crate) fn new(sizes: Sizes, (idle, pauses): (TimeDraw, Stream)) -> Mice {
        Mice { sizes, idle, pauses, wakes_at: Time::NEVER, action: None }
    }
}

impl App for Mice {
    fn start(&mut self, now: Time, bytes: Option<u64>) {
        self.wake(now);
        self.action = bytes.map(Action::Send).or(self.action);
    }
    fn acknowledged(&mut self, now: Time) {
        self.wakes_at = now + self.idle.sample(&mut self.pauses);
    }
    fn wakes_at(&self) -> Time {
        self.wakes_at
    }
    fn wake(&mut self, _now: Time) {
        self.wakes_at = Time::NEVER;
        self.action = Some(Action::Send(self.sizes.draw()));
    }
    fn next(&mut self, _now: Time) -> Option<Action> {
        self.action.take()
    }
}
