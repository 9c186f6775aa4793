//! Deficit round robin over the active queues: RFC 8290's lists of new and of old queues.
//!
//! M. Shreedhar, G. Varghese, Efficient Fair Queueing Using Deficit Round Robin, SIGCOMM 1995; the list of new queues,
//! M. MacGregor, W. Shi, Deficits for Bursty Latency-critical Flows: DRR++, ICON 2000. A queue is served while it has
//! credits, so the last packet may overdraw them.

use super::{GroupWeights, Weighted};
use crate::qdiscs::scheduled::Scheduler;
use sojourn_units::Time;
use std::collections::VecDeque;

/// The active queues, in the order of service; each sends a quantum, times its weight, in a turn.
#[derive(Clone, Debug)]
pub struct Rounds {
    quanta: Quanta,
    /// A queue that becomes active comes before those that had a turn.
    new_first: bool,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    queues: Vec<Turn>,
}

/// A queue in the rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Bytes that it may still send.
    credits: i64,
    /// Group that its quantum goes by.
    group: u32,
    is_active: bool,
}

/// Bytes that a turn adds to the credits.
#[derive(Clone, Debug)]
struct Quanta {
    /// Of weight 1.
    unit: f64,
    weights: GroupWeights,
}

impl Quanta {
    fn new(unit: u32, weights: GroupWeights) -> Quanta {
        Quanta { unit: f64::from(unit), weights }
    }

    fn of(&self, group: u32) -> i64 {
        (self.unit * self.weights.of(group)).clamp(1.0, MOST_QUANTUM) as i64
    }
}

impl Rounds {
    /// Turns of so many bytes; `new_first` adds the list of new queues.
    pub fn new(quantum: u32, weights: GroupWeights, new_first: bool) -> Rounds {
        Rounds {
            quanta: Quanta::new(quantum, weights),
            new_first,
            new: VecDeque::new(),
            old: VecDeque::new(),
            queues: Vec::new(),
        }
    }

    /// Turns of so many bytes, with these weights, from the next turn of each queue on; credits stay.
    pub(crate) fn set_turns(&mut self, quantum: u32, weights: GroupWeights, new_first: bool) {
        (self.quanta, self.new_first) = (Quanta::new(quantum, weights), new_first);
    }
}

impl Weighted for Rounds {
    fn set_weight(&mut self, group: u32, weight: f64) {
        self.quanta.weights.set(group, weight);
    }
}

impl Scheduler for Rounds {
    fn add(&mut self, _class: u32) {
        self.queues.push(Turn::default());
        // Every queue has a place in each list: no list grows at work.
        self.new.reserve(self.queues.len() - self.new.len());
        self.old.reserve(self.queues.len() - self.old.len());
    }

    /// An inactive queue becomes the last of the new ones, with a quantum (section 4.1).
    fn arrival(&mut self, _now: Time, queue: u32, _len: u32, group: u32) {
        let turn = &mut self.queues[queue as usize];
        if !turn.is_active {
            *turn = Turn { credits: self.quanta.of(group), group, is_active: true };
            if self.new_first { &mut self.new } else { &mut self.old }.push_back(queue);
        }
    }

    /// The first queue with credits, the new ones before the old ones. One without them receives a quantum and becomes the
    /// last of the old ones (section 4.2).
    fn select(&mut self, _now: Time) -> Option<u32> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let queue = *list.front()?;
            let turn = &mut self.queues[queue as usize];
            if turn.credits > 0 {
                return Some(queue);
            }
            turn.credits += self.quanta.of(turn.group);
            list.pop_front();
            self.old.push_back(queue);
        }
    }

    fn sent(&mut self, _now: Time, queue: u32, len: u32) {
        self.queues[queue as usize].credits -= i64::from(len);
    }

    /// A new queue becomes the last of the old ones, so that it cannot return before they are served; an old one becomes
    /// inactive (section 4.2).
    fn found_empty(&mut self, queue: u32) {
        if self.new.front() == Some(&queue) {
            self.new.pop_front();
            self.old.push_back(queue);
        } else {
            self.old.pop_front();
            self.queues[queue as usize].is_active = false;
        }
    }

    fn active(&self) -> usize {
        self.new.len() + self.old.len()
    }
}

/// Longest turn, bytes.
const MOST_QUANTUM: f64 = 1e9;
