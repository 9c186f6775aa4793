//! A game over TCP: a request at each tick, and an answer.

use super::{Action, App, Request, Sizes};
use crate::transaction::Purpose;
use sojourn_scenario as scenario;
use sojourn_units::Time;

pub(crate) struct Game {
    plan: scenario::Game,
    sizes: Sizes,
    wakes_at: Time,
    /// Start of the pending request; None: none is pending.
    requested_at: Option<Time>,
    /// Start of the request that has been answered.
    answered: Option<Time>,
    is_due: bool,
    is_new: bool,
}

impl Game {
    pub(crate) fn new(plan: scenario::Game, sizes: Sizes) -> Game {
        Game {
            plan,
            sizes,
            wakes_at: Time::NEVER,
            requested_at: None,
            answered: None,
            is_due: false,
            is_new: false,
        }
    }
}

impl App for Game {
    fn start(&mut self, now: Time, _bytes: Option<u64>) {
        (self.wakes_at, self.requested_at, self.is_new) = (now, None, true);
    }

    fn answered(&mut self, _now: Time, _connection: u32) {
        self.answered = self.requested_at.take();
    }

    fn wakes_at(&self) -> Time {
        self.wakes_at
    }

    fn wake(&mut self, now: Time) {
        self.wakes_at = now + self.plan.every;
        // A tick before the answer to the last request has none of its own.
        self.is_due = self.requested_at.is_none();
    }

    fn next(&mut self, now: Time) -> Option<Action> {
        if let Some(requested_at) = self.answered.take() {
            return Some(Action::Complete(requested_at));
        }
        std::mem::take(&mut self.is_due).then(|| {
            self.requested_at = Some(now);
            let purpose = Purpose::Data(self.sizes.draw());
            let is_new = std::mem::take(&mut self.is_new);
            Action::Request(Request { connection: 0, is_new, size: self.plan.request.get() as u16, purpose })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_params::SizeDraw;
    use sojourn_random::{Draw, Stream};
    use sojourn_units::{Bytes, Span};

    #[test]
    fn a_tick_with_a_pending_request_sends_none() {
        let size = SizeDraw::of_bytes(Draw::constant(100.0).unwrap());
        let sizes = Sizes::new(&size, 1460, Stream::named(1, "size"));
        let plan = scenario::Game { every: Span::from_millis(50), size, request: Bytes::new(80) };
        let mut game = Game::new(plan, sizes);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let request = |is_new| {
            Some(Action::Request(Request { connection: 0, is_new, size: 80, purpose: Purpose::Data(100) }))
        };
        game.start(at(0), None);
        game.wake(at(0));
        assert_eq!((game.next(at(0)), game.wakes_at()), (request(true), at(50)));
        game.wake(at(50));
        assert_eq!((game.next(at(50)), game.wakes_at()), (None, at(100)));
        game.answered(at(60), 0);
        assert_eq!([game.next(at(60)), game.next(at(60))], [Some(Action::Complete(at(0))), None]);
        game.wake(at(100));
        assert_eq!(game.next(at(100)), request(false));
    }
}
