//! What was sent again: where, and when.
//!
//! ACKs speak of places, RACK of times: it is found by both. What arrives lies
//! mostly at the lower end, what is sent once more at the later one: there a
//! change costs no more for a long list than for a short one.

use sojourn_units::Time;
use std::collections::VecDeque;

/// What was sent again and has not arrived. Before anything was it takes no room.
#[derive(Clone, Debug, Default)]
pub(super) struct Again(Option<Box<Lists>>);

#[derive(Clone, Debug, Default)]
struct Lists {
    /// By place, and apart.
    pieces: VecDeque<Piece>,
    /// Those of them that are not taken for lost, by time.
    waiting: VecDeque<Piece>,
}

/// Bytes that were sent again at once. What was sent later is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    pub(super) at: Time,
    pub(super) to: u64,
    pub(super) from: u64,
}

/// What ACKs and losses do to it.
impl Again {
    /// The bytes `from..to` are sent once more.
    pub(super) fn add(&mut self, from: u64, to: u64, at: Time) {
        self.forget(from, to);
        self.0.get_or_insert_default().insert(Piece { at, to, from }, true);
    }

    /// The bytes `from..to` have arrived, or are sent once more.
    pub(super) fn forget(&mut self, from: u64, to: u64) {
        let Some(lists) = &mut self.0 else { return };
        while let Some(piece) = lists.first_within(from, to) {
            let waits = lists.remove(piece);
            for (from, to) in [(piece.from, piece.to.min(from)), (piece.from.max(to), piece.to)] {
                if from < to {
                    lists.insert(Piece { to, from, ..piece }, waits);
                }
            }
        }
    }

    /// The earliest piece that was sent before byte `end` of `time` and is `due`: it is taken for lost.
    pub(super) fn lose_overdue(
        &mut self,
        (time, end): (Time, u64),
        due: impl Fn(Time) -> bool,
    ) -> Option<Piece> {
        let waiting = &mut self.0.as_mut()?.waiting;
        waiting.front().filter(|piece| (piece.at, piece.to) < (time, end) && due(piece.at))?;
        waiting.pop_front()
    }

    /// The first piece that touches `from..to` and was not taken for lost is.
    pub(super) fn lose_within(&mut self, from: u64, to: u64) -> Option<Piece> {
        let lists = self.0.as_mut()?;
        let piece = lists.within(from, to).find(|piece| lists.waiting.binary_search(piece).is_ok())?;
        lists.stop_waiting(piece).then_some(piece)
    }

    /// Nothing of it is taken for lost any more.
    pub(super) fn forget_losses(&mut self) {
        if let Some(lists) = &mut self.0 {
            lists.waiting.clone_from(&lists.pieces);
            lists.waiting.make_contiguous().sort_unstable();
        }
    }

    /// Gives up the memory of lists that are empty.
    pub(super) fn trim(&mut self) {
        self.0.take_if(|lists| lists.pieces.is_empty());
    }
}

/// What there is.
impl Again {
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |lists| lists.pieces.len())
    }

    /// The pieces that touch `from..to`, in order.
    pub(super) fn within(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = Piece> {
        self.0.iter().flat_map(move |lists| lists.within(from, to))
    }

    /// The first bytes within `from..to` that were not sent again.
    pub(super) fn first_gap(&self, mut from: u64, to: u64) -> Option<(u64, u64)> {
        for piece in self.within(from, to) {
            if piece.from > from {
                return Some((from, piece.from));
            }
            from = piece.to;
        }
        (from < to).then_some((from, to))
    }

    /// The end of the last bytes within `from..to` that were not sent again.
    pub(super) fn last_gap_end(&self, from: u64, mut to: u64) -> Option<u64> {
        for piece in self.within(from, to).rev() {
            if piece.to < to {
                return Some(to);
            }
            to = piece.from;
        }
        (from < to).then_some(to)
    }

    /// When the latest piece that is not taken for lost was sent, before byte `end` of `time`.
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

    fn insert(&mut self, piece: Piece, waits: bool) {
        let place = self.pieces.partition_point(|other| other.from < piece.from);
        self.pieces.insert(place, piece);
        if waits {
            let place = self.waiting.partition_point(|other| *other < piece);
            self.waiting.insert(place, piece);
        }
    }

    /// Takes a piece out; says whether it was not taken for lost.
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

    /// Of each byte: when it was sent again, and whether it is taken for lost.
    type Bytes = [Option<(u64, bool)>; 64];

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    proptest! {
        /// Every function against a list of bytes.
        #[test]
        fn pieces_agree_with_bytes(
            steps in prop::collection::vec((0..4_u8, 0..50_u64, 1..12_u64), 0..30),
            (from, len) in (0..44_u64, 1..20_u64),
            (time, end) in (0..32_u64, 0..70_u64),
        ) {
            let (mut again, mut bytes): (Again, Bytes) = (Again::default(), [None; 64]);
            for (now, (what, from, len)) in steps.into_iter().enumerate() {
                let (to, now) = (from + len, now as u64);
                match what {
                    0 | 1 => {
                        again.add(from, to, at(now));
                        (from..to).for_each(|byte| bytes[byte as usize] = Some((now, false)));
                    }
                    2 => {
                        again.forget(from, to);
                        (from..to).for_each(|byte| bytes[byte as usize] = None);
                    }
                    _ => {
                        let first = again.lose_overdue((at(now), 0), |_| true);
                        let oldest = bytes.iter().flatten().filter(|(_, lost)| !lost).map(|(sent, _)| *sent).min();
                        prop_assert_eq!(first.map(|piece| piece.at), oldest.map(at));
                        let lost = first.map_or(0..0, |piece| piece.from..piece.to);
                        lost.for_each(|byte| bytes[byte as usize].iter_mut().for_each(|(_, lost)| *lost = true));
                    }
                }
            }
            let is_again = |byte: &u64| bytes[*byte as usize].is_some();
            prop_assert_eq!(again.is_empty(), !(0..64).any(|byte| is_again(&byte)));
            let to = from + len;
            let touched: Vec<u64> = again.within(0, 64).flat_map(|piece| piece.from..piece.to).collect();
            prop_assert_eq!(touched, (0..64).filter(is_again).collect::<Vec<_>>());
            for piece in again.within(from, to) {
                prop_assert!(piece.from < to && from < piece.to);
            }
            let touching = again.within(0, 64).filter(|piece| piece.from < to && from < piece.to).count();
            prop_assert_eq!(again.within(from, to).count(), touching);
            let gap = again.first_gap(from, to);
            prop_assert_eq!(gap.map(|gap| gap.0), (from..to).find(|byte| !is_again(byte)));
            prop_assert!(gap.is_none_or(|(from, to)| !(from..to).any(|byte| is_again(&byte))));
            prop_assert!(gap.is_none_or(|gap| gap.1 == to || is_again(&gap.1)));
            let last = (from..to).rfind(|byte| !is_again(byte)).map(|byte| byte + 1);
            prop_assert_eq!(again.last_gap_end(from, to), last);
            // The pieces in the order of their times, and what waits of them.
            let waits = |piece: &Piece| bytes[piece.from as usize].is_some_and(|(_, lost)| !lost);
            let before = again.within(0, 64).filter(|piece| (piece.at, piece.to) < (at(time), end));
            let latest = before.filter(waits).map(|piece| piece.at).max();
            prop_assert_eq!(again.last_before((at(time), end)), latest);
            again.forget_losses();
            let all = again.within(0, 64).map(|piece| piece.at).max();
            prop_assert_eq!(again.last_before((Time::NEVER, 0)), all);
            while let Some(piece) = again.lose_within(from, to) {
                prop_assert!(piece.from < to && from < piece.to);
            }
            let rest = again.within(0, 64).filter(|piece| piece.from >= to || from >= piece.to);
            prop_assert_eq!(again.last_before((Time::NEVER, 0)), rest.map(|piece| piece.at).max());
        }
    }
}
