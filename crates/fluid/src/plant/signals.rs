//! History of a link's signals: p in force, and the losses of a full buffer.

use std::collections::VecDeque;

/// Signals of one link over time.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    /// p from each of these times on, s; the first one holds from minus infinity.
    held: VecDeque<(f64, f64)>,
    /// Number of the first entry kept.
    first: usize,
    /// Share lost in each step with a full buffer.
    lost: VecDeque<Lost>,
}

/// A step with a full buffer: number of the entry in force, beginning and end, and the shares lost there.
#[derive(Clone, Copy, Debug)]
struct Lost {
    number: usize,
    from: f64,
    to: f64,
    shares: [f64; 2],
}

impl Signals {
    /// An empty history.
    pub(crate) fn new() -> Signals {
        Signals { held: VecDeque::from([(f64::NEG_INFINITY, 0.0)]), first: 0, lost: VecDeque::new() }
    }

    /// Sets p from now on.
    pub(crate) fn hold(&mut self, now: f64, p: f64) {
        self.held.push_back((now, p));
    }

    /// Adds the shares that the full buffer lost at the ends of a step.
    pub(crate) fn lose(&mut self, from: f64, to: f64, shares: [f64; 2]) {
        let number = self.first + self.held.len() - 1;
        self.lost.push_back(Lost { number, from, to, shares });
    }

    /// Drops entries before `reach`, except the p in force then.
    pub(crate) fn forget(&mut self, reach: f64) {
        while self.held.get(1).is_some_and(|next| next.0 <= reach) {
            self.held.pop_front();
            self.first += 1;
        }
        while self.lost.front().is_some_and(|lost| lost.to < reach) {
            self.lost.pop_front();
        }
    }

    /// Number of the entry in force at `t`, searched from `number`; it decreases only where `t` is clearly earlier.
    pub(crate) fn entry_at(&self, t: f64, mut number: usize) -> usize {
        number = number.clamp(self.first, self.first + self.held.len() - 1);
        while number > self.first && self.held[number - self.first].0 > t + AT_ONCE {
            number -= 1;
        }
        while self.next(number) <= t {
            number += 1;
        }
        number
    }

    /// Time from which the next entry is in force.
    pub(crate) fn next(&self, number: usize) -> f64 {
        self.held.get(number + 1 - self.first).map_or(f64::INFINITY, |next| next.0)
    }

    /// p of an entry.
    pub(crate) fn p(&self, number: usize) -> f64 {
        self.held[number - self.first].1
    }

    /// True if the full buffer has lost anything recently.
    pub(crate) fn lose_any(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Share that the full buffer lost at `t`; if the entry in force then is given, in steps of that entry only. So a
    /// share that begins or ends with an entry does so between two steps, however the clocks round.
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

/// Difference below which times are equal, s.
const AT_ONCE: f64 = 1e-10;
