//! A question at each tick, and an answer: a game that is played over TCP.

use super::{Ask, Sizes, TcpApp, Wish};
use sojourn_scenario as scenario;
use sojourn_units::Time;

pub(crate) struct Game {
    plan: scenario::Game,
    sizes: Sizes,
    wakes_at: Time,
    /// When the question under way was asked; None: none is.
    asked: Option<Time>,
    /// When the one was asked that has been answered.
    answered: Option<Time>,
    ask: bool,
    anew: bool,
}

impl Game {
    pub(crate) fn new(plan: scenario::Game, sizes: Sizes) -> Game {
        Game { plan, sizes, wakes_at: Time::NEVER, asked: None, answered: None, ask: false, anew: false }
    }
}

impl TcpApp for Game {
    fn start(&mut self, now: Time, _bytes: Option<u64>) {
        (self.wakes_at, self.asked, self.anew) = (now, None, true);
    }

    fn answered(&mut self, _now: Time, _connection: u32) {
        self.answered = self.asked.take();
    }

    fn wakes_at(&self) -> Time {
        self.wakes_at
    }

    fn wake(&mut self, now: Time) {
        self.wakes_at = now + self.plan.every;
        // A tick without an answer to the last question has none of its own.
        self.ask = self.asked.is_none();
    }

    fn next(&mut self, now: Time) -> Option<Wish> {
        if let Some(asked) = self.answered.take() {
            return Some(Wish::Complete(asked));
        }
        std::mem::take(&mut self.ask).then(|| {
            self.asked = Some(now);
            let bytes = self.sizes.draw();
            let anew = std::mem::take(&mut self.anew);
            Wish::Ask(Ask { connection: 0, anew, request: self.plan.request.get() as u16, bytes })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Bytes, Draw, SizeDraw, Span, Stream};

    #[test]
    fn a_tick_without_an_answer_is_passed_over() {
        let size = SizeDraw::of_bytes(Draw::constant(100.0).unwrap());
        let sizes = Sizes::new(&size, 1460, Stream::named(1, "size"));
        let plan = scenario::Game { every: Span::from_millis(50), size, request: Bytes::new(80) };
        let mut game = Game::new(plan, sizes);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let ask = |anew| Some(Wish::Ask(Ask { connection: 0, anew, request: 80, bytes: 100 }));
        game.start(at(0), None);
        game.wake(at(0));
        assert_eq!((game.next(at(0)), game.wakes_at()), (ask(true), at(50)));
        game.wake(at(50));
        assert_eq!((game.next(at(50)), game.wakes_at()), (None, at(100)));
        game.answered(at(60), 0);
        assert_eq!([game.next(at(60)), game.next(at(60))], [Some(Wish::Complete(at(0))), None]);
        game.wake(at(100));
        assert_eq!(game.next(at(100)), ask(false));
    }
}
