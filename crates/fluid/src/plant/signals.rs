//! What a link has signalled, and when: p in force, and what a full buffer lost beside it.

use std::collections::VecDeque;

/// The signals of one link over time.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    /// p from each of these times on, s; the first one was always in force.
    held: VecDeque<(f64, f64)>,
    /// Number of the first entry that is kept.
    first: usize,
    /// The share that was lost in each step in which the buffer was full.
    lost: VecDeque<Lost>,
}

/// A step in which the buffer was full: the entry that was in force, from and to, and the share lost at both ends.
#[derive(Clone, Copy, Debug)]
struct Lost {
    number: usize,
    from: f64,
    to: f64,
    shares: [f64; 2],
}

impl Signals {
    /// None so far.
    pub(crate) fn new() -> Signals {
        Signals { held: VecDeque::from([(f64::NEG_INFINITY, 0.0)]), first: 0, lost: VecDeque::new() }
    }

    /// p is this from now on.
    pub(crate) fn hold(&mut self, now: f64, p: f64) {
        self.held.push_back((now, p));
    }

    /// The full buffer lost these shares at the ends of a step.
    pub(crate) fn lose(&mut self, from: f64, to: f64, shares: [f64; 2]) {
        let number = self.first + self.held.len() - 1;
        self.lost.push_back(Lost { number, from, to, shares });
    }

    /// Forgets what was before `reach`, but for the p that was in force then.
    pub(crate) fn forget(&mut self, reach: f64) {
        while self.held.get(1).is_some_and(|next| next.0 <= reach) {
            self.held.pop_front();
            self.first += 1;
        }
        while self.lost.front().is_some_and(|lost| lost.to < reach) {
            self.lost.pop_front();
        }
    }

    /// The number of the entry in force at `t`, found from that which was; it goes back only where `t` is surely
    /// earlier.
    pub(crate) fn seat(&self, t: f64, mut number: usize) -> usize {
        number = number.clamp(self.first, self.first + self.held.len() - 1);
        while number > self.first && self.held[number - self.first].0 > t + AT_ONCE {
            number -= 1;
        }
        while self.next(number) <= t {
            number += 1;
        }
        number
    }

    /// When the entry after this one came into force.
    pub(crate) fn next(&self, number: usize) -> f64 {
        self.held.get(number + 1 - self.first).map_or(f64::INFINITY, |next| next.0)
    }

    /// p of an entry that is kept.
    pub(crate) fn p(&self, number: usize) -> f64 {
        self.held[number - self.first].1
    }

    /// Whether the full buffer has lost anything of late.
    pub(crate) fn lose_any(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The share that the full buffer lost at `t`; where it is known which entry was in force then, in no step of
    /// another. So a share that begins or ends with an entry does so between two steps, whatever the clocks round.
    pub(crate) fn lost(&self, t: f64, number: Option<usize>) -> f64 {
        let place = self.lost.partition_point(|lost| {
            number.map_or(lost.to < t, |number| (lost.number, lost.to) < (number, t - AT_ONCE))
        });
        match self.lost.get(place) {
            Some(Lost { number: own, from, to, shares: [first, last] })
                if t >= from - AT_ONCE && number.is_none_or(|number| number == *own) =>
            {
                first + (last - first) * ((t - from) / (to - from)).clamp(0.0, 1.0)
            }
            _ => 0.0,
        }
    }
}

/// Times that differ by less are one, s.
const AT_ONCE: f64 = 1e-10;
