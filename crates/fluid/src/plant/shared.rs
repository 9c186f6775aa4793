//! Several queues in front of one link: generalized processor sharing.
//!
//! A link of C packets/s serves the queues i of the weights w_i, which are those of their flows' queues together: a class
//! whose n flows have a queue each has n times the weight of a flow. A queue with a backlog has its weight's part of
//! what the others leave, and an empty one at most its arrivals a_i (Parekh and Gallager 1993): with the one v for which
//!
//! ```text
//! sum of min(a_i, w_i v) over empty queues + sum of w_i v over the others = C                                  (6)
//! ```
//!
//! the rate of a queue with a backlog is w_i v, and a queue begins to fill where a_i > w_i v. These are the weighted
//! max-min rates of the demands a_i of empty queues and infinity of the others (Bertsekas and Gallager, section 6.5.2).
//!
//! A reserved queue of the rate rho has the weight rho beside the weight C - rho, a hundredth of C at least, of all others
//! together, which divide their part among them by (6).
//!
//! All queues together hold B. In a full buffer the packets of the fattest queue are lost. A class's flows have equal
//! queues of the length z_i = q_i / n_i; of the set F of the classes with the longest ones each loses what keeps
//!
//! ```text
//! z_i' = -sum of q_j' over the queues j outside of F / sum of n_j over F,   i in F                              (7)
//! ```
//!
//! so that the sum of all stays B; a class leaves F where it would have to lose less than nothing, and joins it
//! where its queues become as long.

use super::link::Mode;
use super::{CLEARLY, ClassState, Link};
use crate::dde::{Stage, Staged, Step};
use sojourn_aqm::qdiscs::LEAST_REST;
use sojourn_measure::Totals;
use std::ops::Range;

/// A link with several queues, each of them a [`Link`] whose rate is its share.
#[derive(Clone, Debug)]
pub struct SharedLink {
    /// B, packets; infinite where there is no limit.
    pub buffer: f64,
    capacity: f64,
    nominal: f64,
    /// Least C above 0, so far or to come, packets/s.
    least: f64,
    /// Rate of the reserved queue, packets/s.
    reserved: f64,
    pub(super) queues: Vec<Member>,
    is_full: bool,
    at: Staged<SharedRates>,
    totals: Totals,
    before: Totals,
}

/// A queue's part in a link.
#[derive(Clone, Debug)]
pub struct QueueShare {
    /// Number of the queue, among the links of the plant.
    pub queue: usize,
    /// Classes whose flows have a queue each; None: one queue.
    pub flows_of: Option<Range<usize>>,
    /// Weight of each of these queues.
    pub weight: f64,
    /// True for the queue with a rate of its own.
    pub is_reserved: bool,
}

/// A queue with its present weight.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) share: QueueShare,
    /// n, and n w.
    count: f64,
    weight: f64,
    /// n until the queue is empty, of flows that have gone.
    kept: f64,
    /// True if its arrivals are below its share, while shares are found.
    is_satisfied: bool,
}

/// Packets, and packets/s, of all queues at a stage.
#[derive(Clone, Copy, Debug, Default)]
struct SharedRates {
    backlog: f64,
    /// Growth of all backlogs if nothing was lost.
    excess: f64,
}

impl SharedLink {
    /// A link of `capacity` packets/s before these queues, which hold at most `buffer` packets together.
    pub fn new(capacity: f64, buffer: f64, queues: Vec<QueueShare>) -> SharedLink {
        let member = |share| Member { share, count: 0.0, weight: 0.0, kept: 0.0, is_satisfied: false };
        SharedLink {
            buffer,
            capacity,
            nominal: capacity,
            least: capacity,
            reserved: 0.0,
            queues: queues.into_iter().map(member).collect(),
            is_full: false,
            at: Staged::default(),
            totals: Totals::default(),
            before: Totals::default(),
        }
    }

    /// C, packets/s.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// C at the start, packets/s.
    pub fn nominal(&self) -> f64 {
        self.nominal
    }

    /// Totals of all queues since the start.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Its queues, by their numbers among the links of the plant.
    pub fn queues(&self) -> impl Iterator<Item = usize> + '_ {
        self.queues.iter().map(|member| member.share.queue)
    }

    pub(super) fn set_capacity(&mut self, capacity: f64) {
        self.capacity = capacity;
        self.expect_capacity(capacity);
    }

    /// C will be this one at some time.
    pub(super) fn expect_capacity(&mut self, capacity: f64) {
        if capacity > 0.0 {
            self.least = self.least.min(capacity);
        }
    }

    /// Sets the rate of the reserved queue, packets/s.
    pub fn set_reserved(&mut self, rate: f64) {
        self.reserved = rate;
    }

    /// Sets the weight of a queue.
    pub fn set_weight(&mut self, queue: usize, weight: f64) {
        if let Some(own) = self.queues.iter_mut().find(|member| member.share.queue == queue) {
            own.share.weight = weight;
        }
    }

    /// Flows of a class leave or come; the packets of those that leave stay at their weight while no flow is left.
    pub(super) fn flows_change(&mut self, class: usize, [before, after]: [f64; 2]) {
        let own = |member: &&mut Member| member.share.flows_of.as_ref().is_some_and(|of| of.contains(&class));
        for member in self.queues.iter_mut().filter(own) {
            member.kept = if after > 0.0 { 0.0 } else { member.kept + before };
        }
    }

    /// Number of flows whose queues a queue of the plant stands for.
    pub(super) fn count(&self, queue: usize, flows: impl Fn(usize) -> f64) -> f64 {
        let own = self.queues.iter().find(|member| member.share.queue == queue);
        own.map_or(1.0, |member| member.count_at(flows))
    }

    /// Sets the rates of the queues by (6), and the growth of the fattest in a full buffer by (7).
    pub(super) fn serve(&mut self, links: &mut [Link], classes: &[ClassState], t: f64) {
        for member in &mut self.queues {
            member.count = member.count_at(|class| classes[class].flows.at(t));
            member.weight = member.count * member.share.weight;
        }
        let own = self.queues.iter().find(|member| member.share.is_reserved).map(|own| own.share.queue);
        let rest = own.map_or(self.capacity, |own| self.serve_reserved(own, links));
        self.divide(rest, links);
        if self.is_full {
            self.limit(links);
        }
    }

    /// Sets the rate of the reserved queue, and gives that of the others.
    fn serve_reserved(&self, own: usize, links: &mut [Link]) -> f64 {
        let reserved = self.guaranteed(self.capacity);
        let least = self.capacity - reserved;
        let others = self.others();
        let demand: f64 = others.map(|member| links[member.share.queue].demand()).sum();
        let own = &mut links[own];
        own.set_share((self.capacity - demand).max(reserved));
        (self.capacity - own.demand()).max(least)
    }

    /// Rate of the reserved queue of a link of this rate while the others have packets, too.
    fn guaranteed(&self, capacity: f64) -> f64 {
        let rest = (capacity - self.reserved).max(LEAST_REST * capacity);
        capacity.min(capacity * self.reserved / (self.reserved + rest))
    }

    /// Divides a rate among the queues that are not reserved.
    fn divide(&mut self, rate: f64, links: &mut [Link]) {
        for member in &mut self.queues {
            member.is_satisfied = false;
        }
        let mut level = self.level(rate, links);
        // Each round satisfies one queue at least.
        for _ in 0..self.queues.len() {
            let mut changes = false;
            for member in self.queues.iter_mut().filter(|member| !member.share.is_reserved) {
                let demand = links[member.share.queue].demand();
                if !member.is_satisfied && demand <= member.weight * level {
                    (member.is_satisfied, changes) = (true, true);
                }
            }
            if !changes {
                break;
            }
            level = self.level(rate, links);
        }
        for member in self.others() {
            links[member.share.queue].set_share(member.weight * level);
        }
    }

    /// v of (6) where the satisfied queues have their demands. While all are satisfied it continues beyond the last
    /// solution, so that it is a continuous function of the demands.
    fn level(&self, rate: f64, links: &[Link]) -> f64 {
        let (mut left, mut open, mut all, mut most) = (rate, 0.0, 0.0, 0.0_f64);
        for member in self.others().filter(|member| member.weight > 0.0) {
            all += member.weight;
            if member.is_satisfied {
                let demand = links[member.share.queue].demand();
                left -= demand;
                most = most.max(demand / member.weight);
            } else {
                open += member.weight;
            }
        }
        match (open > 0.0, all > 0.0) {
            (true, _) => left.max(0.0) / open,
            (false, true) => most + left.max(0.0) / all,
            (false, false) => 0.0,
        }
    }

    /// Sets the growth of the fattest queues in a full buffer.
    fn limit(&self, links: &mut [Link]) {
        let (mut growth, mut count) = (0.0, 0.0);
        for member in &self.queues {
            let link = &links[member.share.queue];
            match link.mode {
                Mode::Full => count += member.count,
                Mode::Busy => growth += link.arriving - link.capacity,
                Mode::Empty => (),
            }
        }
        let climb = if count > 0.0 { -growth / count } else { 0.0 };
        for member in &self.queues {
            let link = &mut links[member.share.queue];
            link.climb = if link.mode == Mode::Full { climb * member.count } else { 0.0 };
        }
    }

    /// Takes the sums of all queues at a stage.
    pub(super) fn sum_up(&mut self, links: &[Link], y: &[f64], stage: Stage) {
        let (mut backlog, mut excess) = (0.0, 0.0);
        for queue in self.queues() {
            let link = &links[queue];
            backlog += y[link.place];
            if link.mode != Mode::Empty {
                let at = link.at[stage];
                excess += at.admitted - at.capacity;
            }
        }
        self.at[stage] = SharedRates { backlog, excess };
    }

    /// Length of the longest queues in a full buffer, packets of a flow.
    fn fattest(&self, links: &[Link], y: &[f64]) -> f64 {
        let full = self.queues.iter().filter(|member| links[member.share.queue].mode == Mode::Full);
        full.map(|member| member.length(links, y)).fold(0.0, f64::max)
    }

    /// Guard of the joining of the longest queues by another.
    pub(super) fn until_joined(&self, queue: usize, links: &[Link], y: &[f64]) -> f64 {
        if !self.is_full {
            return f64::INFINITY;
        }
        let Some(member) = self.queues.iter().find(|member| member.share.queue == queue) else {
            return f64::INFINITY;
        };
        let most = self.fattest(links, y);
        most * (1.0 + CLEARLY) - member.length(links, y)
    }

    /// Guard of the time at which the buffer becomes full, or ceases to be.
    pub(super) fn guard(&self, y: &[f64], links: &[Link], stage: Stage) -> f64 {
        if self.is_full {
            return self.at[stage].excess / self.capacity + CLEARLY;
        }
        let held: f64 = self.queues().map(|queue| y[links[queue].place]).sum();
        self.buffer - held
    }

    /// True if no event of its buffer is possible by the end of a step.
    pub(super) fn is_quiet(&self, stage: Stage, y: &[f64], links: &[Link]) -> bool {
        let at = self.at[stage];
        if !self.is_full {
            return at.backlog <= self.buffer;
        }
        let busy = self.queues().filter(|queue| links[*queue].mode == Mode::Busy);
        at.excess >= 0.0 && busy.into_iter().all(|queue| self.until_joined(queue, links, y) >= 0.0)
    }

    /// The lengths of queues or the limit have changed at once: which queues are the longest is found anew.
    pub(super) fn find_longest_anew(&mut self, now: f64, links: &mut [Link]) {
        self.is_full = false;
        for queue in self.queues() {
            if links[queue].mode == Mode::Full {
                links[queue].set_mode(now, Mode::Busy);
            }
        }
    }

    /// The buffer becomes full, or ceases to be.
    pub(super) fn turn(&mut self, now: f64, links: &mut [Link], y: &[f64]) {
        self.is_full = !self.is_full;
        let longest = self.queues.iter().map(|member| member.length(links, y)).fold(0.0, f64::max);
        for member in &self.queues {
            let length = member.length(links, y);
            let link = &mut links[member.share.queue];
            if link.mode == Mode::Full {
                link.set_mode(now, Mode::Busy);
            }
            if self.is_full && link.mode == Mode::Busy && length >= longest * (1.0 - NEAR) {
                link.set_mode(now, Mode::Full);
            }
        }
    }

    /// Sets its state by backlogs that were set externally; true if it changed.
    pub(super) fn set_mode(&mut self, now: f64, links: &mut [Link], y: &[f64], stage: Stage) -> bool {
        let at = self.at[stage];
        let any_loses = self.queues().any(|queue| links[queue].mode == Mode::Full);
        let ends = self.is_full && (!any_loses || at.excess < -CLEARLY * self.capacity);
        let begins = !self.is_full && at.backlog >= self.buffer && at.excess > 0.0;
        if ends || begins {
            self.turn(now, links, y);
        }
        for member in &mut self.queues {
            if links[member.share.queue].mode == Mode::Empty {
                member.kept = 0.0;
            }
        }
        ends || begins
    }

    /// Shortest time in which a backlog of a queue leaves at its guaranteed share, s.
    pub(super) fn longest_wait(&self, queue: usize, backlog: f64) -> f64 {
        let all: f64 = self.others().map(|member| member.weight).sum();
        let Some(own) = self.queues.iter().find(|member| member.share.queue == queue) else { return 0.0 };
        let reserved = self.guaranteed(self.least);
        let rate = if own.share.is_reserved { reserved } else { own.weight / all * (self.least - reserved) };
        let most = self.buffer.min(2.0 * backlog + 1.0);
        if rate > 0.0 { most / rate } else { 0.0 }
    }

    /// Adds the totals of a step, after those of its queues.
    pub(super) fn account(&mut self, links: &[Link], step: &Step<'_>) {
        let mut now = Totals::default();
        for queue in self.queues() {
            now.add(&links[queue].totals());
        }
        let mut since = now - self.before;
        self.before = now;
        since.time = step.length;
        since.capacity = step.length * self.capacity;
        since.backlog_squared = self.at.over(step.length, |at| at.backlog * at.backlog);
        since.busy =
            if self.queues().any(|queue| links[queue].mode != Mode::Empty) { step.length } else { 0.0 };
        self.totals.add(&since);
        self.at.turn_over();
    }

    /// All queues but the reserved one.
    fn others(&self) -> impl Iterator<Item = &Member> + '_ {
        self.queues.iter().filter(|member| !member.share.is_reserved)
    }
}

impl Member {
    fn count_at(&self, flows: impl Fn(usize) -> f64) -> f64 {
        let Some(classes) = self.share.flows_of.clone() else { return 1.0 };
        let present: f64 = classes.map(flows).sum();
        if present > 0.0 { present } else { self.kept }
    }

    /// Length of each of its flows' queues, packets.
    fn length(&self, links: &[Link], y: &[f64]) -> f64 {
        let held = y[links[self.share.queue].place];
        if self.count > 0.0 { held / self.count } else { 0.0 }
    }
}

impl Link {
    /// Rate that it takes at most: its arrivals while it is empty.
    fn demand(&self) -> f64 {
        if self.mode == Mode::Empty { self.arriving } else { f64::INFINITY }
    }
}

/// Relative difference below which queues are equally long.
const NEAR: f64 = 1e-9;
