//! A reserved queue beside others: start-time fair queueing between the two, in proportion to its rate and the rest of the
//! link's.

use crate::qdiscs::classifiers::RESERVED;
use crate::qdiscs::scheduled::Scheduler;
use crate::qdiscs::shares::LEAST_REST;
use sojourn_units::{Rate, Time};

/// The queues of another scheduler, and one with a rate of its own; what one side does not use the other has.
#[derive(Clone, Debug)]
pub struct Reserved<S> {
    others: S,
    /// Rate of the reserved queue, and of the link, bytes/s.
    rate: f64,
    link: f64,
    /// Number of queues.
    queues: u32,
    /// The reserved one; None: no packet has come to it.
    queue: Option<u32>,
    /// Packets of the reserved queue, and of the others.
    packets: [u32; 2],
    /// Start time of each side's next packet, and finish time of its last one.
    start: [f64; 2],
    finish: [f64; 2],
    virtual_time: f64,
}

/// The sides.
const OWN: usize = 0;
const OTHERS: usize = 1;

impl<S: Scheduler> Reserved<S> {
    /// A queue with this rate of a link beside the queues of `others`.
    pub fn new(others: S, rate: Rate, link: Rate) -> Reserved<S> {
        Reserved {
            others,
            rate: rate.bits_per_second() / 8.0,
            link: link.bits_per_second() / 8.0,
            queues: 0,
            queue: None,
            packets: [0; 2],
            start: [0.0; 2],
            finish: [0.0; 2],
            virtual_time: 0.0,
        }
    }

    /// The scheduler of the other queues.
    pub(crate) fn others(&mut self) -> &mut S {
        &mut self.others
    }

    /// Another rate.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate.bits_per_second() / 8.0;
    }

    /// Weight of a side: its rate, bytes/s. The others keep [`LEAST_REST`] of the link.
    fn weight(&self, side: usize) -> f64 {
        if side == OWN { self.rate } else { (self.link - self.rate).max(LEAST_REST * self.link).max(1.0) }
    }

    fn side(&self, queue: u32) -> usize {
        if self.queue == Some(queue) { OWN } else { OTHERS }
    }

    /// A packet has left a side.
    fn left(&mut self, side: usize) {
        self.packets[side] -= 1;
        if self.packets == [0; 2] {
            self.virtual_time = self.finish[OWN].max(self.finish[OTHERS]);
        }
    }
}

impl<S: Scheduler> Scheduler for Reserved<S> {
    fn add(&mut self, class: u32) {
        if class == RESERVED {
            self.queue = Some(self.queues);
        }
        self.queues += 1;
        // Both count the queues alike; the others never serve the reserved one.
        self.others.add(class);
    }

    fn arrival(&mut self, now: Time, queue: u32, len: u32, group: u32) {
        let side = self.side(queue);
        if self.packets[side] == 0 {
            self.start[side] = self.finish[side].max(self.virtual_time);
        }
        self.packets[side] += 1;
        if side == OTHERS {
            self.others.arrival(now, queue, len, group);
        }
    }

    /// The side with the earlier start time, at equal ones the reserved queue.
    fn select(&mut self, now: Time) -> Option<u32> {
        let [own, others] = self.packets.map(|packets| packets > 0);
        let is_own = own && (!others || self.start[OWN] <= self.start[OTHERS]);
        if is_own { self.queue } else { self.others.select(now) }
    }

    fn sent(&mut self, now: Time, queue: u32, len: u32) {
        let side = self.side(queue);
        self.virtual_time = self.start[side];
        self.finish[side] = self.start[side] + f64::from(len) / self.weight(side);
        self.start[side] = self.finish[side];
        self.left(side);
        if side == OTHERS {
            self.others.sent(now, queue, len);
        }
    }

    fn dropped(&mut self, queue: u32, len: u32) {
        let side = self.side(queue);
        self.left(side);
        if side == OTHERS {
            self.others.dropped(queue, len);
        }
    }

    fn found_empty(&mut self, queue: u32) {
        if self.side(queue) == OTHERS {
            self.others.found_empty(queue);
        }
    }

    fn active(&self) -> usize {
        self.others.active() + usize::from(self.packets[OWN] > 0)
    }

    fn link_changed(&mut self, now: Time, rate: Rate) {
        self.link = rate.bits_per_second() / 8.0;
        self.others.link_changed(now, rate);
    }
}
