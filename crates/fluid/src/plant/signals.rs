//! What a link has signalled, and when: p in force, and what a full buffer lost beside it.

use std::collections::VecDeque;

/// The signals of one link over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    /// p from each of these times on, s.
    held: VecDeque<(f64, f64)>,
    /// Number of the first entry that is kept.
    first: usize,
    /// The share that was lost in each step in which the buffer was full.
    lost: VecDeque<Lost>,
}

/// A step in which the buffer was full: from and to, and the share lost at both ends.
#[derive(Clone, Copy, Debug)]
struct Lost {
    from: f64,
    to: f64,
    shares: [f64; 2],
}

impl Signals {
    /// p is this from now on.
    pub(crate) fn hold(&mut self, now: f64, p: f64) {
        self.held.push_back((now, p));
    }

    /// The full buffer lost these shares at the ends of a step.
    pub(crate) fn lose(&mut self, from: f64, to: f64, shares: [f64; 2]) {
        self.lost.push_back(Lost { from, to, shares });
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

    /// The number of the entry in force at `t`, found from that which was; it goes back only where `t` is surely earlier.
    pub(crate) fn seat(&self, t: f64, mut number: usize) -> usize {
        number = number.clamp(self.first, self.first + self.held.len().max(1) - 1);
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

    /// p of an entry at `t`; none was in force before the first one.
    pub(crate) fn p(&self, number: usize, t: f64) -> f64 {
        match self.held.get(number.wrapping_sub(self.first)) {
            Some((since, p)) if *since <= t + AT_ONCE => *p,
            _ => 0.0,
        }
    }

    /// Whether the full buffer has lost anything of late.
    pub(crate) fn lose_any(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The share that the full buffer lost at `t`.
    pub(crate) fn lost(&self, t: f64) -> f64 {
        if self.lost.back().is_none_or(|last| last.to < t) {
            return 0.0;
        }
        let place = self.lost.partition_point(|lost| lost.to < t);
        let Lost { from, to, shares: [first, last] } = self.lost[place];
        if t < from { 0.0 } else { first + (last - first) * (t - from) / (to - from) }
    }
}

/// Times that differ by less are one, s.
const AT_ONCE: f64 = 1e-10;
