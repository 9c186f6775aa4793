//! Retransmitted data: sequence numbers and times.
//!
//! ACKs refer to sequence numbers, RACK to times, so that pieces are indexed by both. Delivered data is mostly at the
//! lower end, new retransmissions at the later one; there a change costs the same for a long list as for a short one.

use sojourn_units::Time;
use std::collections::VecDeque;

/// Retransmitted data not yet delivered. Allocates on first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Retransmitted(Option<Box<Lists>>);

#[derive(Clone, Debug, Default)]
struct Lists {
    /// Ordered by sequence number, disjoint.
    pieces: VecDeque<Piece>,
    /// Those not marked lost, ordered by time.
    waiting: VecDeque<Piece>,
}

/// Bytes retransmitted at once. Ordered by time first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    pub(super) at: Time,
    pub(super) to: u64,
    pub(super) from: u64,
}

/// Updates by ACKs and losses.
impl Retransmitted {
    /// Adds the bytes `from..to`, retransmitted at `at`.
    pub(super) fn add(&mut self, from: u64, to: u64, at: Time) {
        self.forget(from, to);
        self.0.get_or_insert_default().insert(Piece { at, to, from }, true);
    }

    /// Removes the bytes `from..to`, which were delivered or retransmitted again.
    pub(super) fn forget(&mut self, from: u64, to: u64) {
        let Some(lists) = &mut self.0 else { return };
        while let Some(piece) = lists.first_within(from, to) {
            let is_waiting = lists.remove(piece);
            for (from, to) in [(piece.from, piece.to.min(from)), (piece.from.max(to), piece.to)] {
                if from < to {
                    lists.insert(Piece { to, from, ..piece }, is_waiting);
                }
            }
        }
    }

    /// Marks as lost, and returns, the earliest piece that was sent before byte `end` at `time` and is `due`.
    pub(super) fn mark_overdue_lost(
        &mut self,
        (time, end): (Time, u64),
        due: impl Fn(Time) -> bool,
    ) -> Option<Piece> {
        let waiting = &mut self.0.as_mut()?.waiting;
        waiting.front().filter(|piece| (piece.at, piece.to) < (time, end) && due(piece.at))?;
        waiting.pop_front()
    }

    /// Marks as lost, and returns, the first piece that overlaps `from..to` and is not marked yet.
    pub(super) fn mark_lost_within(&mut self, from: u64, to: u64) -> Option<Piece> {
        let lists = self.0.as_mut()?;
        let piece = lists.within(from, to).find(|piece| lists.waiting.binary_search(piece).is_ok())?;
        lists.stop_waiting(piece).then_some(piece)
    }

    /// Clears all loss marks.
    pub(super) fn clear_losses(&mut self) {
        if let Some(lists) = &mut self.0 {
            lists.waiting.clone_from(&lists.pieces);
            lists.waiting.make_contiguous().sort_unstable();
        }
    }

    /// Frees the memory of empty lists.
    pub(super) fn trim(&mut self) {
        self.0.take_if(|lists| lists.pieces.is_empty());
    }
}

/// Queries.
impl Retransmitted {
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of pieces.
    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |lists| lists.pieces.len())
    }

    /// Pieces that overlap `from..to`, in order.
    pub(super) fn within(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = Piece> {
        self.0.iter().flat_map(move |lists| lists.within(from, to))
    }

    /// First bytes within `from..to` that were not retransmitted.
    pub(super) fn first_gap(&self, mut from: u64, to: u64) -> Option<(u64, u64)> {
        for piece in self.within(from, to) {
            if piece.from > from {
                return Some((from, piece.from));
            }
            from = piece.to;
        }
        (from < to).then_some((from, to))
    }

    /// End of the last bytes within `from..to` that were not retransmitted.
    pub(super) fn last_gap_end(&self, from: u64, mut to: u64) -> Option<u64> {
        for piece in self.within(from, to).rev() {
            if piece.to < to {
                return Some(to);
            }
            to = piece.from;
        }
        (from < to).then_some(to)
    }

    /// Latest time before byte `end` at `time` of a piece not marked lost.
    pub(super) fn last_before(&self, (time, end): (Time, u64)) -> Option<Time> {
        let waiting = &self.0.as_ref()?.waiting;
        let before = waiting.partition_point(|piece| (piece.at, piece.to) < (time, end));
        Some(waiting[before.checked_sub(1)?].at)
    }
}

impl Lists {
    fn within(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = Piece> {
        let first = self.pieces.partition_point(|piece| piece.to <= from);
        let last = self.pieces.partition_point(|piece| piece.from < to);
        self.pieces.range(first..last.max(first)).copied()
    }

    fn first_within(&self, from: u64, to: u64) -> Option<Piece> {
        self.within(from, to).next()
    }

    fn insert(&mut self, piece: Piece, is_waiting: bool) {
        let place = self.pieces.partition_point(|other| other.from < piece.from);
        self.pieces.insert(place, piece);
        if is_waiting {
            let place = self.waiting.partition_point(|other| *other < piece);
            self.waiting.insert(place, piece);
        }
    }

    /// Removes a piece, returning whether it was not marked lost.
    fn remove(&mut self, piece: Piece) -> bool {
        let place = self.pieces.partition_point(|other| other.from < piece.from);
        self.pieces.remove(place);
        self.stop_waiting(piece)
    }

    fn stop_waiting(&mut self, piece: Piece) -> bool {
        let place = self.waiting.binary_search(&piece);
        place.is_ok_and(|place| self.waiting.remove(place).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Time of retransmission and loss mark of each byte.
    type Bytes = [Option<(u64, bool)>; 64];

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    proptest! {
        /// Compares every function with a list of bytes.
        #[test]
        fn pieces_agree_with_bytes(
            steps in prop::collection::vec((0..4_u8, 0..50_u64, 1..12_u64), 0..30),
            (from, len) in (0..44_u64, 1..20_u64),
            (time, end) in (0..32_u64, 0..70_u64),
        ) {
            let (mut retransmitted, mut bytes): (Retransmitted, Bytes) = (Retransmitted::default(), [None; 64]);
            for (now, (action, from, len)) in steps.into_iter().enumerate() {
                let (to, now) = (from + len, now as u64);
                match action {
                    0 | 1 => {
                        retransmitted.add(from, to, at(now));
                        (from..to).for_each(|byte| bytes[byte as usize] = Some((now, false)));
                    }
                    2 => {
                        retransmitted.forget(from, to);
                        (from..to).for_each(|byte| bytes[byte as usize] = None);
                    }
                    _ => {
                        let first = retransmitted.mark_overdue_lost((at(now), 0), |_| true);
                        let oldest = bytes.iter().flatten().filter(|(_, lost)| !lost).map(|(sent, _)| *sent).min();
                        prop_assert_eq!(first.map(|piece| piece.at), oldest.map(at));
                        let lost = first.map_or(0..0, |piece| piece.from..piece.to);
                        lost.for_each(|byte| bytes[byte as usize].iter_mut().for_each(|(_, lost)| *lost = true));
                    }
                }
            }
            let is_retransmitted = |byte: &u64| bytes[*byte as usize].is_some();
            prop_assert_eq!(retransmitted.is_empty(), !(0..64).any(|byte| is_retransmitted(&byte)));
            let to = from + len;
            let touched: Vec<u64> = retransmitted.within(0, 64).flat_map(|piece| piece.from..piece.to).collect();
            prop_assert_eq!(touched, (0..64).filter(is_retransmitted).collect::<Vec<_>>());
            for piece in retransmitted.within(from, to) {
                prop_assert!(piece.from < to && from < piece.to);
            }
            let touching = retransmitted.within(0, 64).filter(|piece| piece.from < to && from < piece.to).count();
            prop_assert_eq!(retransmitted.within(from, to).count(), touching);
            let gap = retransmitted.first_gap(from, to);
            prop_assert_eq!(gap.map(|gap| gap.0), (from..to).find(|byte| !is_retransmitted(byte)));
            prop_assert!(gap.is_none_or(|(from, to)| !(from..to).any(|byte| is_retransmitted(&byte))));
            prop_assert!(gap.is_none_or(|gap| gap.1 == to || is_retransmitted(&gap.1)));
            let last = (from..to).rfind(|byte| !is_retransmitted(byte)).map(|byte| byte + 1);
            prop_assert_eq!(retransmitted.last_gap_end(from, to), last);
            // The pieces in order of time, and those of them not marked lost.
            let is_waiting = |piece: &Piece| bytes[piece.from as usize].is_some_and(|(_, lost)| !lost);
            let before = retransmitted.within(0, 64).filter(|piece| (piece.at, piece.to) < (at(time), end));
            let latest = before.filter(is_waiting).map(|piece| piece.at).max();
            prop_assert_eq!(retransmitted.last_before((at(time), end)), latest);
            retransmitted.clear_losses();
            let all = retransmitted.within(0, 64).map(|piece| piece.at).max();
            prop_assert_eq!(retransmitted.last_before((Time::NEVER, 0)), all);
            while let Some(piece) = retransmitted.mark_lost_within(from, to) {
                prop_assert!(piece.from < to && from < piece.to);
            }
            let rest = retransmitted.within(0, 64).filter(|piece| piece.from >= to || from >= piece.to);
            prop_assert_eq!(retransmitted.last_before((Time::NEVER, 0)), rest.map(|piece| piece.at).max());
        }
    }
}
