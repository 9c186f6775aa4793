//! One request over a new connection, and its answer.

use super::{Action, App, Request, Sizes};
use sojourn_scenario as scenario;
use sojourn_units::Time;

pub(crate) struct Http {
    plan: scenario::Http,
    sizes: Sizes,
    began: Time,
    /// Size of an answer that is to be requested.
    wanted: Option<u64>,
    is_answered: bool,
    /// The sender has the answer acknowledged, so that the connection is over.
    is_over: bool,
}

impl Http {
    pub(crate) fn new(plan: scenario::Http, sizes: Sizes) -> Http {
        Http { plan, sizes, began: Time::ZERO, wanted: None, is_answered: false, is_over: false }
    }
}

impl App for Http {
    fn start(&mut self, now: Time, bytes: Option<u64>) {
        self.wanted = Some(bytes.unwrap_or_else(|| self.sizes.draw()));
        (self.began, self.is_answered, self.is_over) = (now, false, false);
    }

    fn answered(&mut self, _now: Time, _connection: u32) {
        self.is_answered = true;
    }

    fn acknowledged(&mut self, _now: Time) {
        self.is_over = true;
    }

    fn next(&mut self, _now: Time) -> Option<Action> {
        if let Some(bytes) = self.wanted.take() {
            let size = self.plan.request.get() as u16;
            return Some(Action::Request(Request { connection: 0, is_new: true, size, bytes }));
        }
        if std::mem::take(&mut self.is_answered) {
            return Some(Action::Complete(self.began));
        }
        std::mem::take(&mut self.is_over).then_some(Action::Leave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_params::SizeDraw;
    use sojourn_random::{Draw, Stream};
    use sojourn_units::{Bytes, Span};

    #[test]
    fn a_user_leaves_once_the_connection_of_its_answer_is_over() {
        let size = SizeDraw::of_bytes(Draw::constant(100.0).unwrap());
        let sizes = Sizes::new(&size, 1460, Stream::named(1, "size"));
        let mut http = Http::new(scenario::Http { size, request: Bytes::new(300) }, sizes);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        // The second arrival brings its own size.
        for (start, bytes, drawn) in [(10, None, 100), (500, Some(7), 7)] {
            http.start(at(start), bytes);
            let request = Request { connection: 0, is_new: true, size: 300, bytes: drawn };
            assert_eq!([http.next(at(start)), http.next(at(start))], [Some(Action::Request(request)), None]);
            http.answered(at(start + 40), 0);
            let complete = Some(Action::Complete(at(start)));
            assert_eq!([http.next(at(start + 40)), http.next(at(start + 40))], [complete, None]);
            http.acknowledged(at(start + 60));
            assert_eq!([http.next(at(start + 60)), http.next(at(start + 60))], [Some(Action::Leave), None]);
        }
    }
}
