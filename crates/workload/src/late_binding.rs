//! Late binding: a request goes over the first connection of its class that is free.
//!
//! HTTP clients that close connections which nobody waits for work so: a request that finds no idle connection opens one, and
//! waits for it or for one that another request has finished with, whichever comes first ("late binding" in Chromium's socket
//! pools, and in Go's net/http). A connection that is free goes to the request that has waited longest. Where none waits, one
//! whose answer has arrived is closed, with all that are idle; a new one stays idle until the next answer, unless an answer
//! has arrived since the last request.

use std::collections::VecDeque;

use sojourn_units::Time;

/// A request that waits for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Time of the request.
    pub(crate) began: Time,
    /// Payload of its answer, bytes.
    pub(crate) bytes: u64,
}

/// Requests and idle connections of a class.
#[derive(Default)]
pub(crate) struct Pool {
    /// The first has waited longest.
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

    /// The connection of this user is established.
    pub(crate) fn connected(&mut self, user: u32) -> Next {
        match self.waiting.pop_front() {
            Some(waiting) => Next::Serve(waiting),
            None if self.closes => Next::Close,
            None => {
                self.idle.push(user);
                Next::Idle
            }
        }
    }

    /// The answer over a connection has arrived; appends the users whose idle connections close with it.
    pub(crate) fn answered(&mut self, closed: &mut Vec<u32>) -> Next {
        self.closes = true;
        closed.append(&mut self.idle);
        self.waiting.pop_front().map_or(Next::Close, Next::Serve)
    }

    /// A user has left.
    pub(crate) fn left(&mut self, user: u32) {
        self.idle.retain(|idle| *idle != user);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    fn at(millis: u64) -> Waiting {
        Waiting { began: Time::ZERO + Span::from_millis(millis), bytes: millis }
    }

    #[test]
    fn a_free_connection_goes_to_the_request_that_has_waited_longest() {
        let (mut pool, mut closed) = (Pool::default(), Vec::new());
        assert_eq!([pool.request(at(1)), pool.request(at(2))], [None, None]);
        assert_eq!(pool.connected(7), Next::Serve(at(1)));
        // Its answer comes before the second connection is there: that one closes unused.
        assert_eq!(pool.answered(&mut closed), Next::Serve(at(2)));
        assert_eq!(pool.connected(8), Next::Close);
        assert_eq!(pool.answered(&mut closed), Next::Close);
        assert!(closed.is_empty());
    }

    #[test]
    fn a_new_connection_stays_idle_until_the_next_answer() {
        let (mut pool, mut closed) = (Pool::default(), Vec::new());
        assert_eq!([pool.request(at(1)), pool.request(at(2))], [None, None]);
        assert_eq!(pool.connected(7), Next::Serve(at(1)));
        assert_eq!(pool.answered(&mut closed), Next::Serve(at(2)));
        // A third request is served by the connection of the second; its own stays.
        assert_eq!(pool.request(at(3)), None);
        assert_eq!(pool.connected(8), Next::Serve(at(3)));
        assert_eq!(pool.connected(9), Next::Idle);
        assert_eq!(pool.request(at(4)), Some(9));
        assert_eq!(pool.request(at(5)), None);
        assert_eq!([pool.connected(10), pool.connected(11)], [Next::Serve(at(5)), Next::Idle]);
        assert_eq!(pool.answered(&mut closed), Next::Close);
        assert_eq!(closed, [11]);
        // One that has left takes no request.
        assert_eq!([pool.request(at(6)), pool.request(at(7))], [None, None]);
        pool.connected(12);
        pool.connected(13);
        assert_eq!(pool.connected(14), Next::Idle);
        pool.left(14);
        assert_eq!(pool.request(at(8)), None);
    }
}
