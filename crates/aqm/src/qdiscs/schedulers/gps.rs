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
//!
//! GPS has served as much as the link: what the link has sent of the packet in service at rate r, and all of it where the
//! link takes the next one. So the clock is right also where a packet takes longer than L / r, by its framing or while
//! others are served, or the rate changes.
//!
//! GPS knows no drops. Here it serves the next packets of the queue in place of one that is dropped: their tags move down
//! by L / weight. What it has served of that packet beyond all that the queue holds, it serves of the others at once, so
//! that it has as much to serve as the link has.

use super::{GroupWeights, Weighted};
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
    /// Service that GPS owes each packet held, in one memory: flows that fill one queue after the other make none of them grow.
    services: Store<f64>,
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
    /// Bytes of the packet in service that GPS has not served yet.
    in_service: f64,
    /// Weight of the queues that GPS has backlogged, and their number.
    weight: f64,
    backlogged: u32,
    /// When GPS ends the backlog of a queue: the finish time of its last packet.
    ends: Tournament<f64>,
}

/// A queue. The finish time of a packet is computed when it becomes the first, so that one that is dropped leaves no trace.
#[derive(Clone, Debug, Default)]
struct Session {
    weight: f64,
    /// Finish time of the last packet that left; of an idle queue the start time of the first one after.
    start: f64,
    /// Bytes that GPS serves for the packets that it holds.
    services: f64,
    /// For each of them, its bytes and those that GPS had time for before, where it had none of this queue to serve.
    packets: List,
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
            in_service: 0.0,
            weight: 0.0,
            backlogged: 0,
            ends: none(),
        };
        Gps { weights, clock, sessions: Vec::new(), services: Store::new(), heads: none(), active: 0 }
    }

    /// These weights, for each queue from its next arrival on.
    pub(crate) fn set_weights(&mut self, weights: GroupWeights) {
        self.weights = weights;
    }

    /// The first packet of a queue has left it, of which so many bytes were not sent.
    fn left(&mut self, queue: u32, unsent: f64) {
        let session = &mut self.sessions[queue as usize];
        let Some((_, service)) = self.services.pop(&mut session.packets) else { return };
        session.start += (service - unsent) / session.weight;
        session.services -= service;
        let next = self.services.first(session.packets).copied();
        if next.is_none() {
            self.active -= 1;
            // No rounding stays behind.
            session.services = 0.0;
        }
        self.heads.set(queue, next.map_or(f64::INFINITY, |service| session.finish(service)));
    }
}

impl Session {
    /// Finish time of the first packet, for which GPS serves so many bytes.
    fn finish(&self, service: f64) -> f64 {
        self.start + service / self.weight
    }

    /// Finish time of the last packet.
    fn end(&self) -> f64 {
        self.finish(self.services)
    }

    /// Another weight: GPS has as many bytes to serve as before.
    fn set_weight(&mut self, weight: f64, clock: &mut Clock) {
        if self.is_backlogged {
            clock.weight += weight - self.weight;
        }
        self.start = clock.virtual_time + (self.start - clock.virtual_time) * self.weight / weight;
        self.weight = weight;
    }
}

impl Clock {
    fn advance(&mut self, now: Time, sessions: &mut [Session]) {
        let bytes = (now.since(self.at).seconds() * self.rate).min(self.in_service);
        self.at = now;
        self.in_service -= bytes;
        self.serve(bytes, sessions);
    }

    /// The link takes the next packet.
    fn end_service(&mut self, sessions: &mut [Session]) {
        let bytes = std::mem::take(&mut self.in_service);
        self.serve(bytes, sessions);
    }

    /// It takes one of `len` bytes.
    fn begin_service(&mut self, now: Time, len: u32) {
        (self.at, self.in_service) = (now, f64::from(len));
    }

    /// Advances by (10) while GPS serves so many bytes: the sum of weights changes as it ends the backlog of queues.
    fn serve(&mut self, bytes: f64, sessions: &mut [Session]) {
        let mut left = bytes;
        while let Some((end, queue)) = self.ends.winner() {
            let takes = (end - self.virtual_time).max(0.0) * self.weight;
            if takes > left {
                self.virtual_time += left / self.weight;
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

    /// A packet of `len` bytes of a queue needs no service any more.
    fn forget(&mut self, queue: u32, len: f64, sessions: &mut [Session]) {
        let session = &sessions[queue as usize];
        if session.is_backlogged {
            self.ends.set(queue, session.end());
        }
        let served_in_vain = (self.virtual_time - session.end()) * session.weight;
        self.serve(served_in_vain.clamp(0.0, len), sessions);
    }
}

impl Weighted for Gps {
    fn set_weight(&mut self, group: u32, weight: f64) {
        self.weights.set(group, weight);
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
        let has_new_weight = weight.to_bits() != session.weight.to_bits();
        if has_new_weight {
            session.set_weight(weight, clock);
        }
        let was_empty = self.services.first(session.packets).is_none();
        let mut service = f64::from(len);
        if !session.is_backlogged {
            let gap = (clock.virtual_time - session.end()).max(0.0);
            if was_empty {
                session.start += gap;
            } else {
                service += gap * weight;
            }
            session.is_backlogged = true;
            clock.backlogged += 1;
            clock.weight += weight;
        }
        session.services += service;
        clock.ends.set(queue, session.end());
        self.services.push(&mut session.packets, now, service);
        self.active += usize::from(was_empty);
        if was_empty || has_new_weight {
            let first = self.services.first(session.packets).copied().unwrap_or(service);
            self.heads.set(queue, session.finish(first));
        }
    }

    fn select(&mut self, _now: Time) -> Option<u32> {
        self.clock.end_service(&mut self.sessions);
        self.heads.winner().map(|(_, queue)| queue)
    }

    fn sent(&mut self, now: Time, queue: u32, len: u32) {
        self.left(queue, 0.0);
        self.clock.begin_service(now, len);
    }

    fn dropped(&mut self, queue: u32, len: u32) {
        let len = f64::from(len);
        self.left(queue, len);
        self.clock.forget(queue, len, &mut self.sessions);
    }

    fn active(&self) -> usize {
        self.active
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        self.clock.advance(now, &mut self.sessions);
        self.clock.rate = rate.bits_per_second() / 8.0;
    }
}
