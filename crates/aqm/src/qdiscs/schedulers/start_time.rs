//! Start-time fair queueing.
//!
//! P. Goyal, H. Vin, H. Cheng, Start-Time Fair Queueing: A Scheduling Algorithm for Integrated Services Packet Switching
//! Networks, IEEE/ACM Transactions on Networking 5(5), 1997. The packet with the least start time is sent next; virtual
//! time is the start time of the packet in service, and at the end of a busy period the largest finish time so far:
//!
//! ```text
//! S = max(F of the packet before, v(arrival)),    F = S + L / weight                 (4), (5)
//! ```
//!
//! Its clock needs no rate, so it stays fair where the rate of the link varies.

use super::GroupWeights;
use crate::qdiscs::scheduled::Scheduler;
use crate::qdiscs::tournament::Tournament;
use sojourn_units::Time;

/// The queues, in the order of the start times of their first packets.
#[derive(Clone, Debug)]
pub struct StartTime {
    weights: GroupWeights,
    virtual_time: f64,
    /// The largest finish time of a packet sent.
    latest: f64,
    sessions: Vec<Session>,
    /// Start time of each queue's first packet.
    heads: Tournament<f64>,
    active: usize,
}

/// A queue. While it holds packets their start times are the finish times of those before, so that of the first is enough.
#[derive(Clone, Debug, Default)]
struct Session {
    weight: f64,
    /// Start time of its first packet.
    start: f64,
    /// Finish time of the last packet sent.
    finish: f64,
    packets: u32,
}

impl StartTime {
    /// No queues yet.
    pub fn new(weights: GroupWeights) -> StartTime {
        StartTime {
            weights,
            virtual_time: 0.0,
            latest: 0.0,
            sessions: Vec::new(),
            heads: Tournament::new(f64::INFINITY),
            active: 0,
        }
    }

    /// These weights for packets that arrive from now on.
    pub(crate) fn set_weights(&mut self, weights: GroupWeights) {
        self.weights = weights;
    }

    /// The first packet of a queue has left it; the next one starts at `start`.
    fn left(&mut self, queue: u32, start: f64) {
        let session = &mut self.sessions[queue as usize];
        session.packets -= 1;
        session.start = start;
        if session.packets > 0 {
            return self.heads.set(queue, start);
        }
        self.heads.set(queue, f64::INFINITY);
        self.active -= 1;
        if self.active == 0 {
            self.virtual_time = self.latest;
        }
    }
}

impl Scheduler for StartTime {
    fn add(&mut self, _class: u32) {
        self.heads.add(self.sessions.len() as u32);
        self.sessions.push(Session::default());
    }

    fn arrival(&mut self, _now: Time, queue: u32, _len: u32, group: u32) {
        let session = &mut self.sessions[queue as usize];
        session.weight = self.weights.of(group);
        session.packets += 1;
        if session.packets == 1 {
            session.start = session.finish.max(self.virtual_time);
            self.heads.set(queue, session.start);
            self.active += 1;
        }
    }

    fn select(&mut self, _now: Time) -> Option<u32> {
        self.heads.winner().map(|(_, queue)| queue)
    }

    fn sent(&mut self, _now: Time, queue: u32, len: u32) {
        let session = &mut self.sessions[queue as usize];
        self.virtual_time = session.start;
        session.finish = session.start + f64::from(len) / session.weight;
        self.latest = self.latest.max(session.finish);
        let finish = session.finish;
        self.left(queue, finish);
    }

    /// A packet that is dropped has had no service: the next one starts in its place.
    fn dropped(&mut self, queue: u32, _len: u32) {
        let start = self.sessions[queue as usize].start;
        self.left(queue, start);
    }

    fn active(&self) -> usize {
        self.active
    }
}
