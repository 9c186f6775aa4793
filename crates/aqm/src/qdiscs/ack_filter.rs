//! A filter of ACKs: an ACK whose content a later one in the same queue has, too, is removed.
//!
//! T. Høiland-Jørgensen, D. Täht, J. Morton, Piece of CAKE, 2018, section III-D; T. Høiland-Jørgensen, sch_cake: Add optional
//! ACK filter, netdev, July 2018. On a link whose other direction is much faster, ACKs fill this one. TCP needs the last of
//! them alone, so a packet that comes to the queue takes the place of one that waits there:
//!
//! 1. Only a pure ACK is removed: no payload, no control bit beside ACK. So ECE and CWR reach the sender (RFC 3168, section
//!    6.1), as do SYN and FIN.
//! 2. Only one that acknowledges fewer bytes than the packet that came, SACK blocks included, and nothing that this one does
//!    not. So duplicate ACKs stay (RFC 5681, section 3.2), and so does the only report of a block.
//! 3. Never one with a D-SACK block: that is no acknowledgment but a report of data that came twice (RFC 2883).
//! 4. The search begins at the head, and one packet removes one at most.
//! 5. `conservative` leaves two redundant ACKs in the queue, `aggressive` none.

use crate::qdisc::Ack;
use sojourn_params::choice;

choice! {
    /// ACKs that a filter leaves.
    pub enum AckFilter {
        /// all (no-ack-filter)
        Off = "off",
        /// two that are redundant, and the last (ack-filter)
        Conservative = "conservative",
        /// the last (ack-filter-aggressive)
        Aggressive = "aggressive",
    }
}

impl AckFilter {
    /// Place of the ACK to remove among those of a queue from its head, None in it for a packet without one, now that
    /// `latest` has been appended.
    pub(super) fn victim(self, queue: impl Iterator<Item = Option<Ack>>, latest: &Ack) -> Option<usize> {
        let redundant = queue.enumerate().filter(|(_, ack)| ack.is_some_and(|ack| ack.is_redundant(latest)));
        let kept = match self {
            AckFilter::Off => return None,
            AckFilter::Conservative => 2,
            AckFilter::Aggressive => 0,
        };
        // The first, if so many others are behind it.
        let mut places = redundant.map(|(place, _)| place);
        let first = places.next()?;
        (places.take(kept).count() == kept).then_some(first)
    }
}

impl Ack {
    /// A later ACK says more, and all that this one says.
    fn is_redundant(&self, later: &Ack) -> bool {
        let is_known = |(from, to): (u64, u64)| {
            to <= later.number || later.blocks().any(|(start, end)| start <= from && to <= end)
        };
        self.is_pure
            && self.connection == later.connection
            && self.number <= later.number
            && !self.reports_duplicate()
            && self.blocks().all(is_known)
            && self.bytes() < later.bytes()
    }

    fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        self.sack.into_iter().filter(|(from, to)| from < to)
    }

    /// Bytes acknowledged: up to its number, and those of the blocks beyond.
    fn bytes(&self) -> u64 {
        let beyond = |(from, to): (u64, u64)| to.saturating_sub(from.max(self.number));
        self.number + self.blocks().map(beyond).sum::<u64>()
    }

    /// Its first block is a D-SACK (RFC 2883, section 4): below its number, or within the second.
    fn reports_duplicate(&self) -> bool {
        let [(from, to), (start, end), _] = self.sack;
        from < to && (from < self.number || (start <= from && to <= end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u64) -> Ack {
        Ack { connection: 1, number, sack: [(0, 0); 3], is_pure: true }
    }

    fn sack(number: u64, blocks: &[(u64, u64)]) -> Ack {
        let mut sack = [(0, 0); 3];
        sack[..blocks.len()].copy_from_slice(blocks);
        Ack { sack, ..ack(number) }
    }

    /// Removals of `latest` under the aggressive filter.
    fn removed(queue: &[Ack], latest: &Ack) -> Option<usize> {
        AckFilter::Aggressive.victim(queue.iter().map(|ack| Some(*ack)), latest)
    }

    #[test]
    fn aggressive_leaves_one_ack_and_conservative_two_more() {
        let queue = [1000, 2000, 3000].map(ack);
        let removed_by = |filter: AckFilter, held: usize| {
            filter.victim(queue[..held].iter().map(|ack| Some(*ack)), &ack(4000))
        };
        let expected = [
            (AckFilter::Off, [None; 4]),
            (AckFilter::Conservative, [None, None, None, Some(0)]),
            (AckFilter::Aggressive, [None, Some(0), Some(0), Some(0)]),
        ];
        for (filter, places) in expected {
            assert_eq!([0, 1, 2, 3].map(|held| removed_by(filter, held)), places, "{filter:?}");
        }
    }

    #[test]
    fn duplicate_acks_stay() {
        assert_eq!(removed(&[ack(3000), ack(3000)], &ack(3000)), None);
        // Recovery has moved on.
        assert_eq!(removed(&[ack(3000), ack(3000)], &ack(4000)), Some(0));
        // A late one says less.
        assert_eq!(removed(&[ack(3000)], &ack(2000)), None);
    }

    #[test]
    fn a_block_that_no_later_ack_has_stays() {
        let held = [sack(1000, &[(2000, 3000)])];
        assert_eq!(removed(&held, &ack(1000)), None);
        assert_eq!(removed(&held, &ack(2500)), None, "bytes up to 3000 would be unknown");
        assert_eq!(removed(&held, &sack(1000, &[(2000, 3000)])), None, "no more bytes: a duplicate");
        assert_eq!(removed(&held, &sack(1000, &[(4000, 6000)])), None);
        assert_eq!(removed(&held, &sack(1000, &[(2000, 4000)])), Some(0));
        assert_eq!(removed(&held, &sack(1000, &[(5000, 6000), (2000, 3000)])), Some(0));
        assert_eq!(removed(&held, &ack(3000)), Some(0));
    }

    #[test]
    fn a_report_of_duplicate_data_stays() {
        for blocks in [&[(0, 1000)][..], &[(2000, 2500), (2000, 3000)]] {
            assert_eq!(removed(&[sack(1000, blocks)], &ack(9000)), None);
        }
    }

    #[test]
    fn data_control_bits_and_other_connections_stay() {
        let impure = Ack { is_pure: false, ..ack(1000) };
        let other = Ack { connection: 2, ..ack(1000) };
        assert_eq!(removed(&[impure, other], &ack(2000)), None);
        // Data, or ECE, with a later number removes a pure one all the same.
        assert_eq!(removed(&[impure, ack(1000)], &Ack { is_pure: false, ..ack(2000) }), Some(1));
        let queue = [None, Some(ack(1000)), None];
        assert_eq!(AckFilter::Aggressive.victim(queue.into_iter(), &ack(2000)), Some(1));
    }
}
