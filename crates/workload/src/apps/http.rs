//! One request over a new connection, and its answer.

use super::{Action, App, Request, Sizes};
use crate::transaction::Purpose;
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
    connection: Connection,
}

/// Its connection under late binding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    /// Not needed any more, or not yet; or there is no late binding.
    None,
    /// To be opened, unless another takes the request.
    Due,
    Opening,
    /// It is free, and has not been offered to the requests that wait.
    Free {
        is_answered: bool,
    },
    /// It is idle, or a request is pending over it.
    Open,
    /// To be closed.
    Closing,
}

impl Http {
    pub(crate) fn new(plan: scenario::Http, sizes: Sizes) -> Http {
        Http {
            plan,
            sizes,
            began: Time::ZERO,
            wanted: None,
            is_answered: false,
            is_over: false,
            connection: Connection::None,
        }
    }

    fn request(&self, is_new: bool, purpose: Purpose) -> Action {
        Action::Request(Request { connection: 0, is_new, size: self.plan.request.get() as u16, purpose })
    }

    /// The next action that late binding adds.
    fn bind(&mut self) -> Option<Action> {
        match self.connection {
            Connection::Due => {
                self.connection = Connection::Opening;
                Some(self.request(true, Purpose::Open))
            }
            Connection::Free { is_answered } => {
                self.connection = Connection::Open;
                Some(Action::Free { is_answered })
            }
            Connection::Closing => {
                self.connection = Connection::None;
                Some(self.request(false, Purpose::Close))
            }
            _ => None,
        }
    }
}

impl App for Http {
    fn start(&mut self, now: Time, bytes: Option<u64>) {
        self.wanted = Some(bytes.unwrap_or_else(|| self.sizes.draw()));
        (self.began, self.is_answered, self.is_over) = (now, false, false);
        self.connection = Connection::None;
    }

    fn answered(&mut self, _now: Time, _connection: u32) {
        self.is_answered = self.connection != Connection::Opening;
        if self.plan.late_binding {
            self.connection = Connection::Free { is_answered: self.is_answered };
        }
    }

    fn acknowledged(&mut self, _now: Time) {
        self.is_over = true;
    }

    fn serve(&mut self, began: Time, bytes: u64) {
        (self.began, self.wanted) = (began, Some(bytes));
    }

    fn close(&mut self) {
        self.is_over = self.connection == Connection::Due;
        self.connection = if self.is_over { Connection::None } else { Connection::Closing };
    }

    fn next(&mut self, _now: Time) -> Option<Action> {
        if let Some(bytes) = self.wanted.take() {
            if self.plan.late_binding && self.connection == Connection::None {
                self.connection = Connection::Due;
                return Some(Action::Wait(bytes));
            }
            return Some(self.request(!self.plan.late_binding, Purpose::Data(bytes)));
        }
        if std::mem::take(&mut self.is_answered) {
            return Some(Action::Complete(self.began));
        }
        if std::mem::take(&mut self.is_over) {
            return Some(Action::Leave);
        }
        self.bind()
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
        let mut http =
            Http::new(scenario::Http { size, request: Bytes::new(300), late_binding: false }, sizes);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        // The second arrival brings its own size.
        for (start, bytes, drawn) in [(10, None, 100), (500, Some(7), 7)] {
            http.start(at(start), bytes);
            let request = Request { connection: 0, is_new: true, size: 300, purpose: Purpose::Data(drawn) };
            assert_eq!([http.next(at(start)), http.next(at(start))], [Some(Action::Request(request)), None]);
            http.answered(at(start + 40), 0);
            let complete = Some(Action::Complete(at(start)));
            assert_eq!([http.next(at(start + 40)), http.next(at(start + 40))], [complete, None]);
            http.acknowledged(at(start + 60));
            assert_eq!([http.next(at(start + 60)), http.next(at(start + 60))], [Some(Action::Leave), None]);
        }
    }
}
