//! Round-trip times of a flow's path, packet by packet.
//!
//! A packet arrives a *transit* after it left. Its acknowledgment may wait for another packet, or for a timer; that wait
//! is the receiver's, not the path's. So the round trip of a packet is its own transit and that of its acknowledgment,
//! whatever sender and receiver measure themselves. Packets with data are timed, retransmissions too: each of a flow's
//! first ones, so that a short flow has measurements, and then one in seven, which represents seven. Its place among
//! the seven is drawn, since packets come in groups: a fixed one would be the same in each group. Timed packets that
//! share an acknowledgment count with the mean of their transits.

use sojourn_units::{Span, Time};

/// A measurement of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoundTrip {
    /// Round-trip time of the path.
    pub path: Span,
    /// The sender's own estimate (SRTT of RFC 6298), once it has one.
    pub smoothed: Option<Span>,
    /// Packets that it represents.
    pub packets: u32,
}

/// The departure of a segment from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentAt {
    /// Its time; for an acknowledgment of timed packets, earlier by their mean transit.
    pub at: Time,
    /// Packets represented by the timed ones that it acknowledges.
    pub packets: u32,
}

/// Timed packets that have arrived since the last acknowledgment left.
#[derive(Clone, Copy, Debug)]
pub struct Transits {
    /// Packets until one is timed.
    next: u8,
    /// Further packets that are all timed.
    first: u8,
    /// State of the generator of distances.
    state: u16,
    /// Packets represented by the timed ones, and the sum of their transits.
    packets: u32,
    sum: Span,
}

impl SentAt {
    /// From a sender.
    #[inline]
    pub fn of_data(at: Time) -> SentAt {
        SentAt { at, packets: 0 }
    }
}

impl Default for Transits {
    /// No packet has arrived.
    fn default() -> Transits {
        Transits { next: 1, first: FIRST, state: 1, packets: 0, sum: Span::ZERO }
    }
}

impl Transits {
    /// A packet with data arrives at `at` that left at `left`.
    #[inline]
    pub fn arrive(&mut self, at: Time, left: Time) {
        self.next -= 1;
        if self.next == 0 {
            self.time(at.since(left));
        }
    }

    #[inline(never)]
    fn time(&mut self, transit: Span) {
        let packets = if self.first > 0 { 1 } else { ONE_IN };
        self.sum += transit.saturating_mul(packets.into());
        self.packets += u32::from(packets);
        self.first = self.first.saturating_sub(1);
        self.next = if self.first > 0 { 1 } else { self.distance() };
    }

    /// Packets from the place in one group of [`ONE_IN`] to that in the next, by the xorshift generator of 16 bits
    /// (Marsaglia 2003).
    fn distance(&mut self) -> u8 {
        let place = |state: u16| (state % u16::from(ONE_IN)) as u8;
        let rest = ONE_IN - place(self.state);
        self.state ^= self.state << 7;
        self.state ^= self.state >> 9;
        self.state ^= self.state << 8;
        rest + place(self.state)
    }

    /// The departure of the acknowledgment of the arrived packets.
    #[inline]
    pub fn answer(&mut self, at: Time) -> SentAt {
        if self.packets == 0 { SentAt::of_data(at) } else { self.answer_timed(at) }
    }

    #[inline(never)]
    fn answer_timed(&mut self, at: Time) -> SentAt {
        let mean = self.sum.nanos() / u64::from(self.packets);
        self.sum = Span::ZERO;
        SentAt { at: Time::from_nanos(at.nanos() - mean), packets: std::mem::take(&mut self.packets) }
    }
}

/// Packets at the start of a flow that are all timed.
const FIRST: u8 = 64;
/// Later packets for which one is timed, on average.
const ONE_IN: u8 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_wait_for_an_acknowledgment_is_left_out() {
        let mut transits = Transits::default();
        // Sent at 10 and 11 ms; acknowledged by the timer.
        transits.arrive(at(30), at(10));
        transits.arrive(at(41), at(11));
        assert_eq!(transits.answer(at(81)), SentAt { at: at(56), packets: 2 });
        transits.arrive(at(90), at(85));
        assert_eq!(transits.answer(at(90)), SentAt { at: at(85), packets: 1 });
        assert_eq!(transits.answer(at(95)), SentAt { at: at(95), packets: 0 });
    }

    /// Timed packets among `packets`, and the number that each represents.
    fn timed(packets: u64) -> Vec<(u64, u32)> {
        let mut transits = Transits::default();
        let stands = |packet| {
            transits.arrive(at(packet), at(0));
            (packet, transits.answer(at(packet)).packets)
        };
        (1..=packets).map(stands).filter(|(_, packets)| *packets > 0).collect()
    }

    #[test]
    fn all_of_the_first_packets_are_timed_and_one_in_seven_of_the_others() {
        let timed = timed(70_064);
        assert!(timed[..64].iter().enumerate().all(|(n, packet)| *packet == (n as u64 + 1, 1)));
        assert!(timed[64..].iter().all(|(_, packets)| *packets == 7));
        let others = timed.len() - 64;
        assert!((9999..=10_001).contains(&others), "{others} of 70 000");
    }

    /// Each place of a group is timed equally often, within three standard deviations.
    #[test]
    fn groups_of_any_size_are_timed_all_over() {
        for size in 2..=16_u64 {
            let mut places = vec![0_f64; size as usize];
            timed(70_064)[64..].iter().for_each(|(packet, _)| places[(packet % size) as usize] += 1.0);
            let mean = places.iter().sum::<f64>() / size as f64;
            assert!(
                places.iter().all(|place| (place - mean).abs() < 3.0 * mean.sqrt()),
                "{size}: {places:?}"
            );
        }
    }
}
