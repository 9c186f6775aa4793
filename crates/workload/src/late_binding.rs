//! Late binding: a request goes over the first connection of its class that is free.
//!
//! HTTP clients that close connections which nobody waits for work so: a request that finds no idle connection opens one, and
//! waits for it or for one that another request has finished with, whichever comes first ("late binding" in Chromium's socket
//! pools, and in Go's net/http: `getConn`, `dialConnFor` and `tryPutIdleConn` of its `Transport`). A new connection goes to the
//! request that has opened it, if that still waits; any other that is free goes to the request that has waited longest. Where
//! none waits, one whose answer has arrived is closed, with all that are idle; a new one stays idle until the next answer, unless
//! an answer has arrived since the last request or two are idle.
//!
//! A request ends with the stay of its own user. Where the user whose connection carries it leaves sooner, it waits again, before
//! all others.

use std::collections::VecDeque;

use sojourn_units::Time;

/// Number of idle connections that are kept: Go's `DefaultMaxIdleConnsPerHost`.
const MOST_IDLE: usize = 2;

/// A request that waits for a connection, or is pending over one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Its user.
    pub(crate) user: u32,
    /// End of that user's stay.
    pub(crate) until: Time,
    /// Time of the request.
    pub(crate) began: Time,
    /// Payload of its answer, bytes.
    pub(crate) bytes: u64,
}

/// Requests and idle connections of a class.
#[derive(Default)]
pub(crate) struct Pool {
    /// The first has waited longest; the users of some may have left.
    waiting: VecDeque<Waiting>,
    /// Users whose connections are idle.
    idle: Vec<u32>,
    /// An answer has arrived since the last request.
    closes: bool,
}

/// What a free connection does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Serve(Waiting),
    Idle,
    Close,
}

impl Pool {
    /// A request: returns the user whose idle connection takes it, if there is one; else it waits.
    pub(crate) fn request(&mut self, waiting: Waiting) -> Option<u32> {
        self.closes = false;
        let idle = self.idle.pop();
        if idle.is_none() {
            self.waiting.push_back(waiting);
        }
        idle
    }

    /// A request whose connection has ended without its answer: as a new one, but it waits before all others.
    pub(crate) fn repeat(&mut self, waiting: Waiting) -> Option<u32> {
        let idle = self.request(waiting);
        if idle.is_none() {
            self.waiting.rotate_right(1);
        }
        idle
    }

    /// The connection of this user is established.
    pub(crate) fn connected(&mut self, now: Time, user: u32) -> Next {
        self.forget(now);
        let own = self.waiting.iter().position(|waiting| waiting.user == user);
        match self.waiting.remove(own.unwrap_or(0)) {
            Some(waiting) => Next::Serve(waiting),
            None if self.closes || self.idle.len() >= MOST_IDLE => Next::Close,
            None => {
                self.idle.push(user);
                Next::Idle
            }
        }
    }

    /// The answer over a connection has arrived; appends the users whose idle connections close with it.
    pub(crate) fn answered(&mut self, now: Time, closed: &mut Vec<u32>) -> Next {
        self.forget(now);
        self.closes = true;
        closed.append(&mut self.idle);
        self.waiting.pop_front().map_or(Next::Close, Next::Serve)
    }

    /// A user has left: its connection is not idle any more.
    pub(crate) fn left(&mut self, user: u32) {
        self.idle.retain(|idle| *idle != user);
    }

    /// Drops the requests of users that have left.
    fn forget(&mut self, now: Time) {
        self.waiting.retain(|waiting| waiting.until > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    const NOW: Time = Time::ZERO;

    /// A request of user 100 and so on.
    fn at(millis: u64) -> Waiting {
        let began = Time::ZERO + Span::from_millis(millis);
        Waiting { user: 100 + millis as u32, until: Time::NEVER, began, bytes: millis }
    }

    #[test]
    fn a_free_connection_goes_to_the_request_that_has_waited_longest() {
        let (mut pool, mut closed) = (Pool::default(), Vec::new());
        assert_eq!([pool.request(at(1)), pool.request(at(2))], [None, None]);
        assert_eq!(pool.connected(NOW, 7), Next::Serve(at(1)));
        // Its answer comes before the second connection is there: that one closes unused.
        assert_eq!(pool.answered(NOW, &mut closed), Next::Serve(at(2)));
        assert_eq!(pool.connected(NOW, 8), Next::Close);
        assert_eq!(pool.answered(NOW, &mut closed), Next::Close);
        assert!(closed.is_empty());
    }

    #[test]
    fn a_new_connection_stays_idle_until_the_next_answer() {
        let (mut pool, mut closed) = (Pool::default(), Vec::new());
        assert_eq!([pool.request(at(1)), pool.request(at(2))], [None, None]);
        assert_eq!(pool.connected(NOW, 7), Next::Serve(at(1)));
        assert_eq!(pool.answered(NOW, &mut closed), Next::Serve(at(2)));
        // A third request is served by the connection of the second; its own stays.
        assert_eq!(pool.request(at(3)), None);
        assert_eq!(pool.connected(NOW, 8), Next::Serve(at(3)));
        assert_eq!(pool.connected(NOW, 9), Next::Idle);
        assert_eq!(pool.request(at(4)), Some(9));
        assert_eq!(pool.request(at(5)), None);
        assert_eq!([pool.connected(NOW, 10), pool.connected(NOW, 11)], [Next::Serve(at(5)), Next::Idle]);
        assert_eq!(pool.answered(NOW, &mut closed), Next::Close);
        assert_eq!(closed, [11]);
        // One that has left takes no request.
        assert_eq!([pool.request(at(6)), pool.request(at(7))], [None, None]);
        pool.connected(NOW, 12);
        pool.connected(NOW, 13);
        assert_eq!(pool.connected(NOW, 14), Next::Idle);
        pool.left(14);
        assert_eq!(pool.request(at(8)), None);
    }

    #[test]
    fn a_new_connection_goes_to_the_request_that_has_opened_it() {
        let mut pool = Pool::default();
        assert_eq!([pool.request(at(1)), pool.request(at(2)), pool.request(at(3))], [None; 3]);
        // The first one's SYN was lost.
        assert_eq!(pool.connected(NOW, 102), Next::Serve(at(2)));
        assert_eq!(pool.connected(NOW, 103), Next::Serve(at(3)));
        assert_eq!(pool.connected(NOW, 101), Next::Serve(at(1)));
    }

    #[test]
    fn two_connections_are_idle_at_most() {
        let (mut pool, mut closed) = (Pool::default(), Vec::new());
        for millis in 1..=4 {
            assert_eq!(pool.request(at(millis)), None);
        }
        for millis in 1..=3 {
            assert_eq!(pool.answered(NOW, &mut closed), Next::Serve(at(millis)));
        }
        assert_eq!(pool.answered(NOW, &mut closed), Next::Serve(at(4)));
        assert_eq!(pool.request(at(5)), None);
        assert_eq!(pool.connected(NOW, 105), Next::Serve(at(5)));
        let next = [101, 102, 103].map(|user| pool.connected(NOW, user));
        assert_eq!(next, [Next::Idle, Next::Idle, Next::Close]);
    }

    #[test]
    fn requests_end_with_their_users_and_wait_again_where_others_leave() {
        let (mut pool, mut closed) = (Pool::default(), Vec::new());
        let left = Waiting { until: at(5).began, ..at(1) };
        assert_eq!([pool.request(left), pool.request(at(2)), pool.request(at(3))], [None; 3]);
        assert_eq!(pool.answered(at(5).began, &mut closed), Next::Serve(at(2)));
        assert_eq!(pool.repeat(at(2)), None);
        assert_eq!(pool.answered(at(6).began, &mut closed), Next::Serve(at(2)));
        assert_eq!(pool.answered(at(6).began, &mut closed), Next::Serve(at(3)));
        assert_eq!(pool.request(at(7)), None);
        assert_eq!(
            [pool.connected(at(8).began, 107), pool.connected(at(8).began, 103)],
            [Next::Serve(at(7)), Next::Idle]
        );
        assert_eq!(pool.repeat(at(2)), Some(103), "an idle connection takes it");
    }
}
