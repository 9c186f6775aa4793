//! Sets of bytes, kept as ordered, disjoint ranges.
//!
//! Arrivals and retransmissions lie mostly at one of the ends, where a change costs the same for a large set as for a
//! small one.

use std::collections::VecDeque;
use std::ops::Range;

/// Set of bytes. Allocates on first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Option<Box<List>>);

#[derive(Clone, Debug, Default)]
struct List {
    ranges: VecDeque<(u64, u64)>,
    /// Total length of the ranges.
    bytes: u64,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |list| list.ranges.len())
    }

    /// Number of bytes in the set.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |list| list.bytes)
    }

    /// Ranges in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.0.iter().flat_map(|list| list.ranges.iter().copied())
    }

    /// Lowest range.
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.0.as_ref()?.ranges.front().copied()
    }

    /// Highest range.
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.0.as_ref()?.ranges.back().copied()
    }

    /// End of the highest range; 0 if empty.
    pub(crate) fn highest(&self) -> u64 {
        self.last().map_or(0, |(_, to)| to)
    }

    /// Adds `from..to`, returning whether any byte of it is new.
    pub(crate) fn insert(&mut self, from: u64, to: u64) -> bool {
        self.0.get_or_insert_default().insert(from, to)
    }

    /// Removes `from..to`.
    pub(crate) fn remove(&mut self, from: u64, to: u64) {
        if let Some(list) = &mut self.0 {
            list.remove(from, to);
        }
    }

    /// Removes everything below `bound`.
    pub(crate) fn remove_below(&mut self, bound: u64) {
        if let Some(list) = &mut self.0 {
            list.remove_below(bound);
        }
    }

    pub(crate) fn clear(&mut self) {
        if let Some(list) = &mut self.0 {
            list.ranges.clear();
            list.bytes = 0;
        }
    }

    /// Frees the memory of an empty set.
    pub(crate) fn trim(&mut self) {
        self.0.take_if(|list| list.ranges.is_empty());
    }

    /// Number of bytes below `bound`.
    pub(crate) fn bytes_below(&self, bound: u64) -> u64 {
        self.0.as_ref().map_or(0, |list| list.bytes_below(bound))
    }

    /// First byte at or above `from` outside the set.
    pub(crate) fn next_hole(&self, from: u64) -> u64 {
        self.reaching_beyond(from).filter(|&(start, _)| start <= from).map_or(from, |(_, to)| to)
    }

    /// End of the hole that contains `from`; `end` if the set has nothing above.
    pub(crate) fn hole_end(&self, from: u64, end: u64) -> u64 {
        self.reaching_beyond(from).map_or(end, |(start, _)| start)
    }

    /// Last hole within `from..to`.
    pub(crate) fn last_hole(&self, from: u64, mut to: u64) -> Option<(u64, u64)> {
        let mut bottom = 0;
        if let Some(list) = &self.0 {
            let below = list.ranges.partition_point(|&(start, _)| start < to);
            let mut below = list.ranges.range(..below).rev();
            if let Some(&(start, end)) = below.next() {
                bottom = end;
                if end >= to {
                    to = start;
                    bottom = below.next().map_or(0, |&(_, end)| end);
                }
            }
        }
        let from = from.max(bottom);
        (from < to).then_some((from, to))
    }

    /// Lowest range that ends above `bound`.
    fn reaching_beyond(&self, bound: u64) -> Option<(u64, u64)> {
        let ranges = &self.0.as_ref()?.ranges;
        ranges.get(ranges.partition_point(|&(_, to)| to <= bound)).copied()
    }

    /// Holes within `from..to`, in order.
    pub(crate) fn holes(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let mut at = from;
        std::iter::from_fn(move || {
            at = self.next_hole(at);
            if at >= to {
                return None;
            }
            let hole = (at, self.hole_end(at, to).min(to));
            at = hole.1;
            Some(hole)
        })
    }
}

impl List {
    /// Summed from the nearer end.
    fn bytes_below(&self, bound: u64) -> u64 {
        let place = self.ranges.partition_point(|&(from, _)| from < bound);
        let bytes = |ranges: Range<usize>| self.ranges.range(ranges).map(|(from, to)| to - from).sum::<u64>();
        let through = if place <= self.ranges.len() / 2 {
            bytes(0..place)
        } else {
            self.bytes - bytes(place..self.ranges.len())
        };
        let last = place.checked_sub(1).map_or(0, |last| self.ranges[last].1);
        through - last.saturating_sub(bound)
    }

    fn insert(&mut self, from: u64, to: u64) -> bool {
        let first = self.ranges.partition_point(|&(_, end)| end < from);
        let last = self.ranges.partition_point(|&(start, _)| start <= to);
        let before = self.bytes;
        if first == last {
            self.ranges.insert(first, (from, to));
            self.bytes += to - from;
        } else {
            let joined = (from.min(self.ranges[first].0), to.max(self.ranges[last - 1].1));
            let held: u64 = self.ranges.range(first..last).map(|(from, to)| to - from).sum();
            self.bytes += joined.1 - joined.0 - held;
            self.ranges[first] = joined;
            self.ranges.drain(first + 1..last);
        }
        self.bytes > before
    }

    fn remove(&mut self, from: u64, to: u64) {
        let first = self.ranges.partition_point(|&(_, end)| end <= from);
        let last = self.ranges.partition_point(|&(start, _)| start < to);
        if first == last {
            return;
        }
        let held: u64 = self.ranges.range(first..last).map(|(from, to)| to - from).sum();
        let left = (self.ranges[first].0, from);
        let right = (to, self.ranges[last - 1].1);
        self.bytes -= held;
        self.ranges.drain(first..last);
        for rest in [right, left].into_iter().filter(|(from, to)| from < to) {
            self.bytes += rest.1 - rest.0;
            self.ranges.insert(first, rest);
        }
    }

    fn remove_below(&mut self, bound: u64) {
        let gone = self.ranges.partition_point(|&(_, to)| to <= bound);
        self.bytes -= self.ranges.drain(..gone).map(|(from, to)| to - from).sum::<u64>();
        if let Some(first) = self.ranges.front_mut()
            && first.0 < bound
        {
            self.bytes -= bound - first.0;
            first.0 = bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares every function with a bitmap.
        #[test]
        fn ranges_agree_with_a_bitmap(
            steps in prop::collection::vec((any::<bool>(), 0..90_u64, 1..20_u64), 0..20),
            (bound, from) in (0..110_u64, 0..110_u64),
        ) {
            let mut set = Ranges::default();
            let mut bitmap = [false; 128];
            for (insert, from, len) in steps {
                let to = from + len;
                let news = (from..to).any(|byte| !bitmap[byte as usize]);
                if insert {
                    prop_assert_eq!(set.insert(from, to), news);
                } else {
                    set.remove(from, to);
                }
                (from..to).for_each(|byte| bitmap[byte as usize] = insert);
            }
            let holds = |byte: u64| bitmap[byte as usize];
            prop_assert!(set.iter().zip(set.iter().skip(1)).all(|(one, next)| one.1 < next.0));
            prop_assert_eq!(set.bytes(), (0..128).filter(|&byte| holds(byte)).count() as u64);
            prop_assert_eq!(set.bytes_below(bound), (0..bound).filter(|&byte| holds(byte)).count() as u64);
            let holes: Vec<u64> = set.holes(bound, 128).flat_map(|(from, to)| from..to).collect();
            prop_assert_eq!(holes, (bound..128).filter(|&byte| !holds(byte)).collect::<Vec<_>>());
            let last = set.last_hole(from.min(bound), bound);
            prop_assert_eq!(last.map(|(_, to)| to), (from.min(bound)..bound).rfind(|&byte| !holds(byte)).map(|byte| byte + 1));
            prop_assert!(last.is_none_or(|(start, to)| !(start..to).any(holds)));
            prop_assert!(last.is_none_or(|(start, _)| start == from || holds(start - 1)));
            prop_assert_eq!(set.highest(), (0..128).rfind(|&byte| holds(byte)).map_or(0, |byte| byte + 1));
            set.remove_below(bound);
            prop_assert_eq!(set.bytes(), (bound..128).filter(|&byte| holds(byte)).count() as u64);
        }
    }
}
