//! Pages of a site: RFC 7928, section 7.2.
//!
//! Six connections, new ones for each page, fetch its objects: each asks for the next
//! one when the last has come. The next page begins when the last object of all is there, or a pause after that.

use super::{Ask, Sizes, TcpApp, Wish};
use sojourn_scenario as scenario;
use sojourn_units::{Stream, Time};

pub(crate) struct Web {
    plan: scenario::Web,
    sizes: Sizes,
    pauses: Stream,
    /// When the page was begun.
    began: Time,
    /// Objects that have not been asked for.
    left: u32,
    /// Objects that have not come.
    missing: u32,
    /// Connections that this page has had.
    used: u32,
    /// The connection over which the last object has come.
    free: Option<u32>,
    wakes_at: Time,
    complete: bool,
}

impl Web {
    /// Browses as planned, with these draws of sizes and pauses.
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

    fn ask(&mut self, connection: u32, anew: bool) -> Wish {
        self.left -= 1;
        let bytes = self.sizes.draw();
        Wish::Ask(Ask { connection, anew, request: self.plan.request.get() as u16, bytes })
    }
}

impl TcpApp for Web {
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

    fn next(&mut self, _now: Time) -> Option<Wish> {
        if std::mem::take(&mut self.complete) {
            return Some(Wish::Complete(self.began));
        }
        if self.left == 0 {
            return None;
        }
        if let Some(connection) = self.free.take() {
            return Some(self.ask(connection, false));
        }
        let connection = self.used;
        (connection < self.plan.connections).then(|| {
            self.used += 1;
            self.ask(connection, true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Bytes, Draw, SizeDraw, Span, TimeDraw};

    /// Eight objects over three connections: three at first, one more for each that comes, the page when all have come.
    #[test]
    fn a_page_is_its_last_object() {
        let size = SizeDraw::of_bytes(Draw::constant(1000.0).unwrap());
        let sizes = Sizes::new(&size, 1460, Stream::named(1, "size"));
        let idle = TimeDraw::of_seconds(Draw::constant(2.0).unwrap());
        let plan = scenario::Web { objects: 8, size, connections: 3, idle, request: Bytes::new(400) };
        let mut web = Web::new(plan, sizes, Stream::named(1, "idle"));
        let wishes = |web: &mut Web| std::iter::from_fn(|| web.next(Time::ZERO)).collect::<Vec<Wish>>();
        let ask = |connection, anew| Wish::Ask(Ask { connection, anew, request: 400, bytes: 1000 });
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        web.start(at(1), None);
        for seconds in [2, 10] {
            assert_eq!(wishes(&mut web), [0, 1, 2].map(|connection| ask(connection, true)));
            for connection in [1, 1, 0, 2, 1] {
                web.answered(at(seconds), connection);
                assert_eq!(wishes(&mut web), [ask(connection, false)]);
            }
            web.answered(at(seconds), 0);
            web.answered(at(seconds), 2);
            assert_eq!(wishes(&mut web), []);
            web.answered(at(seconds + 3), 1);
            let began = if seconds == 2 { at(1) } else { at(7) };
            assert_eq!(wishes(&mut web), [Wish::Complete(began)]);
            assert_eq!(web.wakes_at(), at(seconds + 5));
            web.wake(web.wakes_at());
        }
    }
}
