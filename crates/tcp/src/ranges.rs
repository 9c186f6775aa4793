//! Sets of bytes, kept as ranges in order and apart.

/// A set of bytes. One that never held anything takes no room.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Option<Box<List>>);

#[derive(Clone, Debug, Default)]
struct List {
    ranges: Vec<(u64, u64)>,
    /// Bytes in all of them.
    bytes: u64,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// Bytes in the set.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |list| list.bytes)
    }

    /// The ranges, in order.
    pub(crate) fn as_slice(&self) -> &[(u64, u64)] {
        self.0.as_ref().map_or(&[], |list| &list.ranges)
    }

    /// The lowest range.
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.as_slice().first().copied()
    }

    /// The end of the highest range; 0 without any.
    pub(crate) fn highest(&self) -> u64 {
        self.as_slice().last().map_or(0, |&(_, to)| to)
    }

    /// Adds `from..to`; says whether any of that is news.
    pub(crate) fn insert(&mut self, from: u64, to: u64) -> bool {
        self.0.get_or_insert_default().insert(from, to)
    }

    /// Takes `from..to` out.
    pub(crate) fn remove(&mut self, from: u64, to: u64) {
        if let Some(list) = &mut self.0 {
            list.remove(from, to);
        }
    }

    /// Takes everything below `bound` out.
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

    /// Gives up the memory of a set that is empty.
    pub(crate) fn trim(&mut self) {
        self.0.take_if(|list| list.ranges.is_empty());
    }

    /// Bytes of the set below `bound`.
    pub(crate) fn bytes_below(&self, bound: u64) -> u64 {
        if self.highest() <= bound {
            return self.bytes();
        }
        let below = self.as_slice().iter().take_while(|(from, _)| *from < bound);
        below.map(|&(from, to)| to.min(bound) - from).sum()
    }

    /// The first byte at or above `from` that is not in the set.
    pub(crate) fn next_hole(&self, from: u64) -> u64 {
        let place = self.as_slice().partition_point(|&(_, to)| to <= from);
        self.as_slice().get(place).filter(|&&(start, _)| start <= from).map_or(from, |&(_, to)| to)
    }

    /// Where the hole that holds `from` ends; `end` where nothing of the set lies above.
    pub(crate) fn hole_end(&self, from: u64, end: u64) -> u64 {
        let place = self.as_slice().partition_point(|&(_, to)| to <= from);
        self.as_slice().get(place).map_or(end, |&(start, _)| start)
    }

    /// The holes of the set within `from..to`, in order.
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
    fn insert(&mut self, from: u64, to: u64) -> bool {
        let first = self.ranges.partition_point(|&(_, end)| end < from);
        let last = first + self.ranges[first..].partition_point(|&(start, _)| start <= to);
        let before = self.bytes;
        if first == last {
            self.ranges.insert(first, (from, to));
            self.bytes += to - from;
        } else {
            let joined = (from.min(self.ranges[first].0), to.max(self.ranges[last - 1].1));
            let held: u64 = self.ranges[first..last].iter().map(|(from, to)| to - from).sum();
            self.bytes += joined.1 - joined.0 - held;
            self.ranges[first] = joined;
            self.ranges.drain(first + 1..last);
        }
        self.bytes > before
    }

    fn remove(&mut self, from: u64, to: u64) {
        let first = self.ranges.partition_point(|&(_, end)| end <= from);
        let last = first + self.ranges[first..].partition_point(|&(start, _)| start < to);
        if first == last {
            return;
        }
        let held: u64 = self.ranges[first..last].iter().map(|(from, to)| to - from).sum();
        let left = (self.ranges[first].0, from);
        let right = (to, self.ranges[last - 1].1);
        let rest = [left, right].into_iter().filter(|(from, to)| from < to);
        self.bytes -= held;
        self.bytes += rest.clone().map(|(from, to)| to - from).sum::<u64>();
        self.ranges.splice(first..last, rest);
    }

    fn remove_below(&mut self, bound: u64) {
        let gone = self.ranges.partition_point(|&(_, to)| to <= bound);
        self.bytes -= self.ranges.drain(..gone).map(|(from, to)| to - from).sum::<u64>();
        if let Some(first) = self.ranges.first_mut()
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
        /// Every function against a bitmap.
        #[test]
        fn ranges_agree_with_a_bitmap(
            steps in prop::collection::vec((any::<bool>(), 0..90_u64, 1..20_u64), 0..20),
            bound in 0..110_u64,
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
            prop_assert!(set.as_slice().windows(2).all(|pair| pair[0].1 < pair[1].0));
            prop_assert_eq!(set.bytes(), (0..128).filter(|&byte| holds(byte)).count() as u64);
            prop_assert_eq!(set.bytes_below(bound), (0..bound).filter(|&byte| holds(byte)).count() as u64);
            let holes: Vec<u64> = set.holes(bound, 128).flat_map(|(from, to)| from..to).collect();
            prop_assert_eq!(holes, (bound..128).filter(|&byte| !holds(byte)).collect::<Vec<_>>());
            prop_assert_eq!(set.highest(), (0..128).rfind(|&byte| holds(byte)).map_or(0, |byte| byte + 1));
            set.remove_below(bound);
            prop_assert_eq!(set.bytes(), (bound..128).filter(|&byte| holds(byte)).count() as u64);
        }
    }
}
