//! Weighted fair queueing by the clock of generalized processor sharing (PGPS).
//!
//! A. Parekh, R. Gallager, A Generalized Processor Sharing Approach to Flow Control in Integrated Services Networks: The
//! Single-Node Case, IEEE/ACM Transactions on Networking 1(3), 1993. The fluid server GPS gives each backlogged queue
//! the share of its weight; its virtual time advances by
//!
//! ```text
//! dV/dt = r / sum of the weights of the queues that GPS has backlogged               (10)
//! S = max(F of the packet before, V(arrival)),    F = S + L / weight                 (11)
//! ```
//!
//! and the packet with the least finish time F is sent next, so that it leaves at most the time of the largest packet
//! after GPS would have served it (theorem 1).

use super::GroupWeights;
use crate::qdiscs::scheduled::Scheduler;
use crate::qdiscs::store::{List, Store};
use crate::qdiscs::tournament::Tournament;
use sojourn_units::{Rate, Time};

/// The queues, in the order in which GPS finishes their packets.
#[derive(Clone, Debug)]
pub struct Gps {
    weights: GroupWeights,
    clock: Clock,
    sessions: Vec<Session>,
    /// Finish times of all packets held, in one memory: who fills one queue after the other makes none of them grow.
    finish: Store<f64>,
    /// Finish time of each queue's first packet.
    heads: Tournament<f64>,
    active: usize,
}

/// Virtual time, bytes per unit of weight.
#[derive(Clone, Debug)]
struct Clock {
    virtual_time: f64,
    at: Time,
    /// Link rate, bytes/s.
    rate: f64,
    /// Weight of the queues that GPS has backlogged, and their number.
    weight: f64,
    backlogged: u32,
    /// When GPS ends the backlog of a queue: the finish time of its last packet.
    ends: Tournament<f64>,
}

/// A queue.
#[derive(Clone, Debug, Default)]
struct Session {
    weight: f64,
    /// Finish time of the last packet.
    last: f64,
    /// Finish times of the packets that it holds.
    finish: List,
    is_backlogged: bool,
}

impl Gps {
    /// No queues yet, in front of a link of this rate.
    pub fn new(weights: GroupWeights, rate: Rate) -> Gps {
        let none = || Tournament::new(f64::INFINITY);
        let clock = Clock {
            virtual_time: 0.0,
            at: Time::ZERO,
            rate: rate.bits_per_second() / 8.0,
            weight: 0.0,
            backlogged: 0,
            ends: none(),
        };
        Gps { weights, clock, sessions: Vec::new(), finish: Store::new(), heads: none(), active: 0 }
    }

    /// These weights for packets that arrive from now on.
    pub(crate) fn set_weights(&mut self, weights: GroupWeights) {
        self.weights = weights;
    }

    /// The first packet of a queue has left it.
    fn left(&mut self, queue: u32) {
        let list = &mut self.sessions[queue as usize].finish;
        self.finish.pop(list);
        let next = self.finish.first(*list).copied();
        self.active -= usize::from(next.is_none());
        self.heads.set(queue, next.unwrap_or(f64::INFINITY));
    }
}

impl Clock {
    /// Advances to `now` by (10): the sum of weights changes as GPS ends the backlog of queues.
    fn advance(&mut self, now: Time, sessions: &mut [Session]) {
        let mut left = now.since(self.at).seconds();
        self.at = now;
        while let Some((end, queue)) = self.ends.winner() {
            let takes = (end - self.virtual_time).max(0.0) * self.weight / self.rate;
            if takes > left {
                self.virtual_time += left * self.rate / self.weight;
                return;
            }
            left -= takes;
            self.virtual_time = self.virtual_time.max(end);
            self.ends.set(queue, f64::INFINITY);
            let session = &mut sessions[queue as usize];
            session.is_backlogged = false;
            self.backlogged -= 1;
            // No rounding stays behind.
            self.weight = if self.backlogged == 0 { 0.0 } else { self.weight - session.weight };
        }
    }
}

impl Scheduler for Gps {
    fn add(&mut self, _class: u32) {
        let queue = self.sessions.len() as u32;
        self.sessions.push(Session::default());
        self.heads.add(queue);
        self.clock.ends.add(queue);
    }

    fn arrival(&mut self, now: Time, queue: u32, len: u32, group: u32) {
        self.clock.advance(now, &mut self.sessions);
        let (clock, session) = (&mut self.clock, &mut self.sessions[queue as usize]);
        let weight = self.weights.of(group);
        if session.is_backlogged {
            clock.weight += weight - session.weight;
        } else {
            session.is_backlogged = true;
            clock.backlogged += 1;
            clock.weight += weight;
        }
        session.weight = weight;
        session.last = session.last.max(clock.virtual_time) + f64::from(len) / weight;
        clock.ends.set(queue, session.last);
        let was_empty = self.finish.first(session.finish).is_none();
        self.finish.push(&mut session.finish, now, session.last);
        if was_empty {
            self.heads.set(queue, session.last);
            self.active += 1;
        }
    }

    fn select(&mut self, _now: Time) -> Option<u32> {
        self.heads.winner().map(|(_, queue)| queue)
    }

    fn sent(&mut self, _now: Time, queue: u32, _len: u32) {
        self.left(queue);
    }

    fn dropped(&mut self, queue: u32, _len: u32) {
        self.left(queue);
    }

    fn active(&self) -> usize {
        self.active
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        self.clock.advance(now, &mut self.sessions);
        self.clock.rate = rate.bits_per_second() / 8.0;
    }
}
