//! Round-trip times of a flow's path, packet by packet.
//!
//! A packet arrives a *transit* after it left. Its acknowledgment may wait for another packet, or for a timer; that wait
//! is the receiver's, not the path's. So the round trip of a packet is its own transit and that of the acknowledgment
//! that answers it, whatever sender and receiver measure themselves. Packets with data are timed, retransmissions too:
//! each of a flow's first ones, so that a short flow has its measurements, and then every seventh, which stands for
//! seven. An odd number: where every second packet is acknowledged, the first and the second of such a pair take turns.
//! Timed packets that share an acknowledgment count with the mean of their transits.

use sojourn_units::{Span, Time};

/// A measurement of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoundTrip {
    /// There and back.
    pub path: Span,
    /// The sender's own estimate (SRTT of RFC 6298), once it has one.
    pub smoothed: Option<Span>,
    /// The packets that it stands for.
    pub packets: u32,
}

/// The departure of a segment from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    /// When; of an acknowledgment of timed packets so much earlier as those were under way.
    pub(crate) at: Time,
    /// The packets that the timed ones among those that it answers stand for.
    pub(crate) packets: u32,
}

/// Timed packets that have arrived since the last acknowledgment left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transits {
    /// The next so manieth packet is timed.
    next: u8,
    /// How many of the first packets there are still to come.
    first: u8,
    /// The packets that the timed ones stand for, and the sum of their transits.
    packets: u32,
    sum: Span,
}

impl Departure {
    /// From a sender.
    pub(crate) fn of_data(at: Time) -> Departure {
        Departure { at, packets: 0 }
    }
}

impl Transits {
    pub(crate) fn new() -> Transits {
        Transits { next: 1, first: FIRST, packets: 0, sum: Span::ZERO }
    }

    /// A packet with data arrives at `at` that left at `left`.
    #[inline]
    pub(crate) fn arrive(&mut self, at: Time, left: Time) {
        self.next -= 1;
        if self.next == 0 {
            self.time(at.since(left));
        }
    }

    #[inline(never)]
    fn time(&mut self, transit: Span) {
        let packets = if self.first > 0 { 1 } else { EVERY };
        self.sum += transit.saturating_mul(packets.into());
        self.packets += u32::from(packets);
        self.first = self.first.saturating_sub(1);
        self.next = if self.first > 0 { 1 } else { EVERY };
    }

    /// The departure of the acknowledgment that answers what has arrived.
    #[inline]
    pub(crate) fn answer(&mut self, at: Time) -> Departure {
        if self.packets == 0 { Departure::of_data(at) } else { self.answer_timed(at) }
    }

    #[inline(never)]
    fn answer_timed(&mut self, at: Time) -> Departure {
        let mean = self.sum.nanos() / u64::from(self.packets);
        self.sum = Span::ZERO;
        Departure { at: Time::from_nanos(at.nanos() - mean), packets: std::mem::take(&mut self.packets) }
    }
}

/// So many of a flow's packets are timed each; of the later ones
const FIRST: u8 = 64;
/// every so manieth is.
const EVERY: u8 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_wait_for_an_acknowledgment_is_left_out() {
        let mut transits = Transits::new();
        // Sent at 10 and 11 ms; acknowledged by the timer.
        transits.arrive(at(30), at(10));
        transits.arrive(at(41), at(11));
        assert_eq!(transits.answer(at(81)), Departure { at: at(56), packets: 2 });
        transits.arrive(at(90), at(85));
        assert_eq!(transits.answer(at(90)), Departure { at: at(85), packets: 1 });
        assert_eq!(transits.answer(at(95)), Departure { at: at(95), packets: 0 });
    }

    #[test]
    fn all_of_the_first_packets_and_a_seventh_of_the_others_are_timed_for_as_many_as_there_are() {
        let mut transits = Transits::new();
        let timed: Vec<(u64, u32)> = (1..=64 + 7 * 3)
            .filter_map(|packet| {
                transits.arrive(at(packet), at(0));
                let left = transits.answer(at(packet));
                (left.packets > 0).then_some((packet, left.packets))
            })
            .collect();
        let first = (1..=64).map(|packet| (packet, 1));
        assert_eq!(timed, first.chain([71, 78, 85].map(|packet| (packet, 7))).collect::<Vec<_>>());
    }
}
