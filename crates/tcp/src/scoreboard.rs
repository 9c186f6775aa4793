//! The scoreboard of RFC 6675, section 4: data SACKed above the acknowledgment number.
//!
//! The RFC counts octets; here they are ordered, disjoint ranges, so that memory grows with the losses in a window
//! and not with the window. The sender inserts whole segments only (RFC 2018, section 5), so that blocks cut by a
//! receiver do not add to it. An octet is lost where
//!
//! ```text
//! IsLost(S):  3 ranges apart, or more than 2 SMSS bytes, are SACKed above S
//! Pipe     =  octets not SACKed and not lost  +  octets not SACKed up to HighRxt
//! ```
//!
//! Both conditions of `IsLost` only weaken as S grows, so that one boundary, found from the last three ranges,
//! separates lost octets from the others.

use crate::ranges::Ranges;

/// SACKed data above the acknowledgment number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard(Ranges);

impl std::ops::Deref for Scoreboard {
    type Target = Ranges;
    fn deref(&self) -> &Ranges {
        &self.0
    }
}

impl std::ops::DerefMut for Scoreboard {
    fn deref_mut(&mut self) -> &mut Ranges {
        &mut self.0
    }
}

impl Scoreboard {
    /// End of the last octets below `end` that are not SACKed.
    pub(crate) fn last_hole_end(&self, end: u64) -> u64 {
        self.last().filter(|&(_, to)| to >= end).map_or(end, |(from, _)| from)
    }

    /// `IsLost`: boundary below which all data not SACKed is lost, and above which none is.
    pub(crate) fn lost_below(&self, mss: u64) -> u64 {
        let mut bytes = 0;
        for (count, (from, to)) in (1..=DUP_THRESH).zip(self.iter().rev()) {
            bytes += to - from;
            if count == DUP_THRESH || bytes > u64::from(DUP_THRESH - 1) * mss {
                return from;
            }
        }
        0
    }

    /// `SetPipe`: bytes in flight out of `una..max`, of which those below `retransmitted` were retransmitted.
    pub(crate) fn pipe(&self, una: u64, max: u64, retransmitted: u64, mss: u64) -> u64 {
        let lost = self.lost_below(mss).max(una);
        let unsacked = |from: u64, to: u64| to - from - (self.bytes_below(to) - self.bytes_below(from));
        unsacked(lost, max) + unsacked(una, retransmitted.max(una))
    }
}

/// Duplicate ACKs that indicate a loss (RFC 5681, section 3.2; `DupThresh` of RFC 6675).
pub(crate) const DUP_THRESH: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 10;

    fn board(ranges: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for &(from, to) in ranges {
            assert!(board.insert(from, to));
        }
        board
    }

    #[test]
    fn three_ranges_or_more_than_two_segments_above_mean_lost() {
        assert_eq!(board(&[(10, 20), (30, 40)]).lost_below(MSS), 0);
        assert_eq!(board(&[(10, 20), (30, 40), (50, 60)]).lost_below(MSS), 10);
        assert_eq!(board(&[(10, 20), (30, 51)]).lost_below(MSS), 30, "21 bytes are more than 2 SMSS");
        assert_eq!(board(&[(10, 30)]).lost_below(MSS), 0, "20 bytes are not");
        assert_eq!(board(&[(10, 11), (12, 13), (14, 15), (16, 17)]).lost_below(MSS), 12);
    }

    #[test]
    fn the_pipe_worked_by_hand() {
        // Ten segments of 10 bytes; 3, 4, 6 and 9 (from 0) are SACKed. 9, 6 and 3..5 are three ranges: 0, 1 and 2 are
        // lost; 5, 7 and 8 are in flight.
        let board = board(&[(30, 50), (60, 70), (90, 100)]);
        assert_eq!(board.pipe(0, 100, 0, MSS), 30);
        // Segment 0 is retransmitted, and in flight again.
        assert_eq!(board.pipe(0, 100, 10, MSS), 40);
        // Segment 5 is retransmitted without being lost, and counts twice.
        assert_eq!(board.pipe(0, 100, 60, MSS), 70);
    }

    #[test]
    fn without_sack_everything_is_in_flight() {
        assert_eq!(Scoreboard::default().pipe(40, 100, 0, MSS), 60);
    }

    proptest! {
        /// Compares every function with the RFC's definition, octet by octet.
        #[test]
        fn ranges_agree_with_octets(
            blocks in prop::collection::vec((0..90_u64, 1..20_u64), 0..12),
            una in 0..60_u64,
            seq in 0..100_u64,
            retransmitted in 0..100_u64,
        ) {
            let max = 108;
            let mut board = Scoreboard::default();
            let mut sacked = [false; 108];
            for (from, len) in blocks {
                let to = from + len;
                let news = (from..to).any(|octet| !sacked[octet as usize]);
                prop_assert_eq!(board.insert(from, to), news);
                (from..to).for_each(|octet| sacked[octet as usize] = true);
            }
            board.remove_below(una);
            (0..una).for_each(|octet| sacked[octet as usize] = false);
            let is_sacked = |octet: u64| sacked[octet as usize];

            let ranges_above = |octet: u64| {
                (octet + 1..max).filter(|&above| is_sacked(above) && !is_sacked(above - 1)).count()
            };
            let bytes_above = |octet: u64| (octet + 1..max).filter(|&above| is_sacked(above)).count() as u64;
            let is_lost = |octet: u64| ranges_above(octet) >= 3 || bytes_above(octet) > 2 * MSS;

            let holes = || (una..max).filter(|&octet| !is_sacked(octet));
            for octet in holes() {
                prop_assert_eq!(octet < board.lost_below(MSS), is_lost(octet), "octet {}", octet);
            }
            let pipe = holes().map(|octet| u64::from(!is_lost(octet)) + u64::from(octet < retransmitted)).sum();
            prop_assert_eq!(board.pipe(una, max, retransmitted, MSS), pipe);
            let count = (0..seq).filter(|&octet| is_sacked(octet)).count() as u64;
            prop_assert_eq!(board.bytes_below(seq), count);

            let hole = (seq..max).find(|&octet| !is_sacked(octet)).unwrap_or(max);
            prop_assert_eq!(board.next_hole(seq), hole);
            let end = (hole..max).find(|&octet| is_sacked(octet)).unwrap_or(max);
            prop_assert_eq!(board.hole_end(hole, max), end);
            if let Some(last) = holes().next_back() {
                prop_assert_eq!(board.last_hole_end(max), last + 1);
            }
            prop_assert_eq!(board.highest(), (una..max).rfind(|&o| is_sacked(o)).map_or(0, |o| o + 1));
        }
    }
}
