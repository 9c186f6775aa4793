//! Web pages: RFC 7928, section 7.2.
//!
//! Six connections, new ones for each page, fetch its objects: each requests the next one when the last has arrived.
//! The next page begins when all objects have arrived, or a pause after that.

use super::{Action, App, Request, Sizes};
use crate::transaction::Purpose;
use sojourn_random::Stream;
use sojourn_scenario as scenario;
use sojourn_units::Time;

pub(crate) struct Web {
    plan: scenario::Web,
    sizes: Sizes,
    pauses: Stream,
    /// Start of the page.
    began: Time,
    /// Objects not requested yet.
    left: u32,
    /// Objects not arrived yet.
    missing: u32,
    /// Connections of this page so far.
    used: u32,
    /// The connection over which the last object has arrived.
    free: Option<u32>,
    wakes_at: Time,
    complete: bool,
}

impl Web {
    /// A browser with these draws of sizes and pauses.
    pub(crate) fn new(plan: scenario::Web, sizes: Sizes, pauses: Stream) -> Web {
        Web {
            plan,
            sizes,
            pauses,
            began: Time::ZERO,
            left: 0,
            missing: 0,
            used: 0,
            free: None,
            wakes_at: Time::NEVER,
            complete: false,
        }
    }

    fn request(&mut self, connection: u32, is_new: bool) -> Action {
        self.left -= 1;
        let purpose = Purpose::Data(self.sizes.draw());
        Action::Request(Request { connection, is_new, size: self.plan.request.get() as u16, purpose })
    }
}

impl App for Web {
    fn start(&mut self, now: Time, _bytes: Option<u64>) {
        self.wake(now);
    }

    fn answered(&mut self, now: Time, connection: u32) {
        self.missing -= 1;
        self.free = Some(connection);
        if self.missing == 0 {
            self.complete = true;
            self.wakes_at = now + self.plan.idle.sample(&mut self.pauses);
        }
    }

    fn wakes_at(&self) -> Time {
        self.wakes_at
    }

    fn wake(&mut self, now: Time) {
        (self.began, self.wakes_at) = (now, Time::NEVER);
        (self.left, self.missing, self.used, self.free) = (self.plan.objects, self.plan.objects, 0, None);
    }

    fn next(&mut self, _now: Time) -> Option<Action> {
        if std::mem::take(&mut self.complete) {
            return Some(Action::Complete(self.began));
        }
        if self.left == 0 {
            return None;
        }
        if let Some(connection) = self.free.take() {
            return Some(self.request(connection, false));
        }
        let connection = self.used;
        (connection < self.plan.connections).then(|| {
            self.used += 1;
            self.request(connection, true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_params::{SizeDraw, TimeDraw};
    use sojourn_random::Draw;
    use sojourn_units::{Bytes, Span};

    /// Eight objects over three connections: three at first, one more for each arrival, the page at the last arrival.
    #[test]
    fn a_page_is_its_last_object() {
        let size = SizeDraw::of_bytes(Draw::constant(1000.0).unwrap());
        let sizes = Sizes::new(&size, 1460, Stream::named(1, "size"));
        let idle = TimeDraw::of_seconds(Draw::constant(2.0).unwrap());
        let plan = scenario::Web { objects: 8, size, connections: 3, idle, request: Bytes::new(400) };
        let mut web = Web::new(plan, sizes, Stream::named(1, "idle"));
        let actions = |web: &mut Web| std::iter::from_fn(|| web.next(Time::ZERO)).collect::<Vec<Action>>();
        let request = |connection, is_new| {
            Action::Request(Request { connection, is_new, size: 400, purpose: Purpose::Data(1000) })
        };
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        web.start(at(1), None);
        for seconds in [2, 10] {
            assert_eq!(actions(&mut web), [0, 1, 2].map(|connection| request(connection, true)));
            for connection in [1, 1, 0, 2, 1] {
                web.answered(at(seconds), connection);
                assert_eq!(actions(&mut web), [request(connection, false)]);
            }
            web.answered(at(seconds), 0);
            web.answered(at(seconds), 2);
            assert_eq!(actions(&mut web), []);
            web.answered(at(seconds + 3), 1);
            let began = if seconds == 2 { at(1) } else { at(7) };
            assert_eq!(actions(&mut web), [Action::Complete(began)]);
            assert_eq!(web.wakes_at(), at(seconds + 5));
            web.wake(web.wakes_at());
        }
    }
}
