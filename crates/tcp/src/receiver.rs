//! The receiving side: reassembly, acknowledgments, the echo of congestion.

use crate::profile::Profile;
use crate::segment::{Flags, SackBlocks, Segment, Stamp};
use sojourn_units::{Ecn, Span, Time};

/// A receiver that consumes data at once.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Next byte expected.
    next: u64,
    /// Full-sized segments since the last ACK.
    unacknowledged: u32,
    /// How many of them an ACK is for.
    segments_per_ack: u32,
    ack_due: Option<Time>,
    ack_delay: Span,

    ecn: bool,
    sack: bool,
    sack_takes_room: bool,
    timestamps: bool,
    /// Whether ACKs carry ECE: from a CE packet until the sender says CWR (RFC 3168, section 6.1.3).
    echo: bool,
    /// Whether any segment since the last ACK was marked: its ACK says so, whatever CWR came behind.
    marked_since_ack: bool,
    /// What the next ACK echoes: `TS.Recent` of RFC 7323, section 4.3.
    stamp: Stamp,
    /// `Last.ACK.sent` of RFC 7323, section 4.3.
    acknowledged: u64,

    /// Blocks above `next`, in order and apart.
    blocks: Vec<Block>,
    /// Segments that came out of order: numbers the changes of blocks.
    out_of_order: u64,
}

/// Bytes that came before their turn.
#[derive(Clone, Copy, Debug)]
struct Block {
    from: u64,
    to: u64,
    /// When a segment last fell into it.
    touched: u64,
}

impl Receiver {
    /// A receiver before the first segment; `ecn`: whether it agrees to use ECN.
    ///
    /// To SACK and timestamps it agrees where the sender asks.
    pub fn new(profile: &Profile, ecn: bool) -> Receiver {
        Receiver {
            next: 0,
            unacknowledged: 0,
            segments_per_ack: if profile.delayed_ack { SEGMENTS_PER_ACK } else { 1 },
            ack_due: None,
            ack_delay: profile.ack_delay,
            ecn,
            sack: false,
            sack_takes_room: profile.sack_takes_room,
            timestamps: false,
            echo: false,
            marked_since_ack: false,
            stamp: Stamp::default(),
            acknowledged: 0,
            blocks: Vec::new(),
            out_of_order: 0,
        }
    }

    /// A segment arrives; the answer is an ACK to send now.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        if segment.flags.has(Flags::SYN) {
            return Some(self.answer_syn(segment));
        }
        if segment.len == 0 {
            return None;
        }
        if segment.flags.has(Flags::CWR) {
            self.echo = false;
        }
        if segment.ecn == Ecn::Ce && self.ecn {
            self.echo = true;
            self.marked_since_ack = true;
        }
        if self.timestamps {
            self.note_stamp(segment);
        }
        let end = segment.seq + u64::from(segment.len);
        let in_order = segment.seq == self.next && self.blocks.is_empty();
        if in_order {
            self.next = end;
        } else {
            self.insert(segment.seq, end);
        }
        self.unacknowledged += 1;
        // RFC 5681, section 4.2: at once for the second full segment, out of order, or filling a gap.
        if !in_order || self.unacknowledged >= self.segments_per_ack {
            return Some(self.acknowledge());
        }
        self.ack_due = Some(now + self.ack_delay);
        None
    }

    /// When an ACK that waits must go out.
    pub fn next_timeout(&self) -> Option<Time> {
        self.ack_due
    }

    /// The time of [`next_timeout`](Self::next_timeout) has come.
    pub fn on_timeout(&mut self, now: Time) -> Option<Segment> {
        self.ack_due.filter(|due| *due <= now).map(|_| self.acknowledge())
    }

    /// Bytes received in order since the start.
    pub fn delivered(&self) -> u64 {
        self.next
    }

    fn answer_syn(&mut self, syn: &Segment) -> Segment {
        self.ecn &= syn.flags.has(Flags::ECE | Flags::CWR);
        self.sack = syn.flags.has(Flags::SACK);
        self.timestamps = syn.flags.has(Flags::TIMESTAMP);
        self.stamp = syn.stamp;
        let flags = (Flags::SYN | Flags::ACK)
            .with(Flags::ECE, self.ecn)
            .with(Flags::SACK, self.sack)
            .with(Flags::TIMESTAMP, self.timestamps);
        Segment { ack: self.next, flags, stamp: self.stamp, ..Segment::default() }
    }

    /// RFC 7323, section 4.3, rule 2: the stamp of the earliest segment that the next ACK is for.
    fn note_stamp(&mut self, segment: &Segment) {
        let stamped = segment.flags.has(Flags::TIMESTAMP) && segment.stamp.is_at_or_after(self.stamp);
        if stamped && segment.seq <= self.acknowledged {
            self.stamp = segment.stamp;
        }
    }

    fn acknowledge(&mut self) -> Segment {
        self.unacknowledged = 0;
        self.ack_due = None;
        let marked = std::mem::take(&mut self.marked_since_ack);
        let echo = self.echo || marked;
        let mut ack =
            Segment { ack: self.next, flags: Flags::ACK.with(Flags::ECE, echo), ..Segment::default() };
        if self.timestamps {
            self.acknowledged = self.next;
            ack.stamp = self.stamp;
            ack.flags = ack.flags | Flags::TIMESTAMP;
        }
        if self.sack && !self.blocks.is_empty() {
            ack.sack = self.report();
            ack.flags = ack.flags.with(Flags::SACK, self.sack_takes_room);
        }
        ack
    }

    /// RFC 2018, section 4: first the block of the latest segment, then those reported most recently.
    fn report(&self) -> SackBlocks {
        let mut report = SackBlocks::default();
        let mut before = u64::MAX;
        while let Some(block) = self.latest(before)
            && report.push(self.next, block.from, block.to)
        {
            before = block.touched;
        }
        report
    }

    /// The block that was touched last before the change of this number.
    fn latest(&self, before: u64) -> Option<&Block> {
        self.blocks.iter().filter(|block| block.touched < before).max_by_key(|block| block.touched)
    }

    /// Takes in the bytes `from..to`.
    fn insert(&mut self, from: u64, to: u64) {
        if from <= self.next {
            self.next = self.next.max(to);
            let taken = self.blocks.partition_point(|block| block.from <= self.next);
            if let Some(last) = self.blocks.drain(..taken).next_back() {
                self.next = self.next.max(last.to);
            }
            return;
        }
        self.out_of_order += 1;
        let touched = self.out_of_order;
        let first = self.blocks.partition_point(|block| block.to < from);
        let last = self.blocks.partition_point(|block| block.from <= to);
        if first == last {
            return self.blocks.insert(first, Block { from, to, touched });
        }
        let (from, to) = (from.min(self.blocks[first].from), to.max(self.blocks[last - 1].to));
        self.blocks[first] = Block { from, to, touched };
        self.blocks.drain(first + 1..last);
    }
}

/// At least every second full-sized segment is acknowledged (RFC 5681, section 4.2).
const SEGMENTS_PER_ACK: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u16 = 1000;

    fn receiver(profile: &str) -> Receiver {
        Receiver::new(&Profile::named(profile).unwrap(), true)
    }

    fn data(number: u64) -> Segment {
        Segment { seq: number * u64::from(MSS), len: MSS, flags: Flags::ACK, ..Segment::default() }
    }

    fn syn() -> Segment {
        Segment { flags: Flags::SYN | Flags::ECE | Flags::CWR, ..Segment::default() }
    }

    #[test]
    fn every_second_segment_is_acknowledged_or_the_timer_runs_out() {
        let mut receiver = receiver("default");
        assert_eq!(receiver.on_segment(Time::ZERO, &data(0)), None);
        let due = receiver.next_timeout().unwrap();
        assert_eq!(due, Time::ZERO + Span::from_millis(40));
        assert_eq!(receiver.on_segment(Time::ZERO, &data(1)).unwrap().ack, 2000);
        assert_eq!(receiver.next_timeout(), None);
        assert_eq!(receiver.on_segment(Time::ZERO, &data(2)), None);
        assert_eq!(receiver.on_timeout(due).unwrap().ack, 3000);
    }

    #[test]
    fn a_gap_and_its_filling_are_acknowledged_at_once() {
        let mut receiver = receiver("default");
        receiver.on_segment(Time::ZERO, &data(0));
        receiver.on_segment(Time::ZERO, &data(1));
        assert_eq!(receiver.on_segment(Time::ZERO, &data(3)).unwrap().ack, 2000);
        assert_eq!(receiver.on_segment(Time::ZERO, &data(5)).unwrap().ack, 2000);
        assert_eq!(receiver.on_segment(Time::ZERO, &data(2)).unwrap().ack, 4000);
        assert_eq!(receiver.on_segment(Time::ZERO, &data(4)).unwrap().ack, 6000);
    }

    #[test]
    fn congestion_is_echoed_until_the_sender_has_reacted() {
        let mut receiver = receiver("ns2");
        assert!(
            receiver.on_segment(Time::ZERO, &syn()).unwrap().flags.has(Flags::SYN | Flags::ACK | Flags::ECE)
        );
        let echoes = |receiver: &mut Receiver, segment: Segment| {
            receiver.on_segment(Time::ZERO, &segment).unwrap().flags.has(Flags::ECE)
        };
        assert!(!echoes(&mut receiver, data(0)));
        assert!(echoes(&mut receiver, Segment { ecn: Ecn::Ce, ..data(1) }));
        assert!(echoes(&mut receiver, data(2)));
        assert!(!echoes(&mut receiver, Segment { flags: Flags::ACK | Flags::CWR, ..data(3) }));
        // A CWR packet that is itself marked starts a new echo.
        assert!(echoes(&mut receiver, Segment { flags: Flags::CWR, ecn: Ecn::Ce, ..data(4) }));
    }

    #[test]
    fn a_mark_outlives_the_cwr_that_shares_its_ack() {
        let mut receiver = receiver("default");
        receiver.on_segment(Time::ZERO, &syn());
        assert_eq!(receiver.on_segment(Time::ZERO, &Segment { ecn: Ecn::Ce, ..data(0) }), None);
        let ack = receiver.on_segment(Time::ZERO, &Segment { flags: Flags::CWR, ..data(1) }).unwrap();
        assert!(ack.flags.has(Flags::ECE), "RFC 3168, section 6.1.3: any of the acknowledged packets");
        receiver.on_segment(Time::ZERO, &data(2));
        assert!(!receiver.on_segment(Time::ZERO, &data(3)).unwrap().flags.has(Flags::ECE));
    }

    /// RFC 2018, section 7, case 3: segments of 500 from 5000 (here 0) on, every second one lost.
    #[test]
    fn blocks_are_reported_latest_first() {
        let mut receiver = receiver("ns2");
        receiver.on_segment(Time::ZERO, &Segment { flags: Flags::SYN | Flags::SACK, ..Segment::default() });
        let mut answer = |seq: u64| {
            let segment = Segment { seq: seq - 5000, len: 500, ..Segment::default() };
            let ack = receiver.on_segment(Time::ZERO, &segment).unwrap();
            let blocks: Vec<_> = ack.sack.iter(ack.ack).map(|(from, to)| (from + 5000, to + 5000)).collect();
            (ack.ack + 5000, blocks)
        };
        assert_eq!(answer(5000), (5500, vec![]));
        assert_eq!(answer(6000), (5500, vec![(6000, 6500)]));
        assert_eq!(answer(7000), (5500, vec![(7000, 7500), (6000, 6500)]));
        assert_eq!(answer(8000), (5500, vec![(8000, 8500), (7000, 7500), (6000, 6500)]));
        // The fourth comes out of order, then the second.
        assert_eq!(answer(6500), (5500, vec![(6000, 7500), (8000, 8500)]));
        assert_eq!(answer(5500), (7500, vec![(8000, 8500)]));
    }

    /// RFC 2018, section 4: of more than three blocks, those that changed last.
    #[test]
    fn the_oldest_block_is_left_out() {
        let mut receiver = receiver("default");
        receiver.on_segment(Time::ZERO, &Segment { flags: Flags::SYN | Flags::SACK, ..Segment::default() });
        let mut ack = Segment::default();
        for number in [2, 4, 6, 8, 2] {
            ack = receiver.on_segment(Time::ZERO, &data(number)).unwrap();
        }
        let starts: Vec<_> = ack.sack.iter(ack.ack).map(|(from, _)| from / 1000).collect();
        assert_eq!(starts, [2, 8, 6]);
        assert_eq!(ack.wire_len(), 40 + 28);
    }

    /// RFC 7323, section 4.3: what delayed ACKs echo, and what those around a hole do.
    #[test]
    fn stamps_are_echoed_as_the_rfcs_examples_do() {
        let syn = Segment { flags: Flags::SYN | Flags::TIMESTAMP, ..Segment::default() };
        let stamp = |tick: u64| Stamp::at(Time::from_nanos(tick * 1000));
        let stamped = |number, tick| Segment { flags: Flags::TIMESTAMP, stamp: stamp(tick), ..data(number) };

        let mut delaying = receiver("default");
        delaying.on_segment(Time::ZERO, &syn);
        assert_eq!(delaying.on_segment(Time::ZERO, &stamped(0, 1)), None);
        assert_eq!(delaying.on_segment(Time::ZERO, &stamped(1, 2)).unwrap().stamp, stamp(1));

        let mut receiver = receiver("ns2");
        receiver.on_segment(Time::ZERO, &syn);
        // A, C, B, E, D.
        for (number, tick, ack, echo) in
            [(0, 1, 1, 1), (2, 3, 1, 1), (1, 2, 3, 2), (4, 5, 3, 2), (3, 4, 5, 4)]
        {
            let answer = receiver.on_segment(Time::ZERO, &stamped(number, tick)).unwrap();
            assert_eq!((answer.ack, answer.stamp), (ack * 1000, stamp(echo)));
        }
    }

    #[test]
    fn without_agreement_there_is_no_echo() {
        let mut receiver = receiver("ns2");
        receiver.on_segment(Time::ZERO, &Segment { flags: Flags::SYN, ..Segment::default() });
        let ack = receiver.on_segment(Time::ZERO, &Segment { ecn: Ecn::Ce, ..data(0) }).unwrap();
        assert!(!ack.flags.has(Flags::ECE));
    }

    proptest! {
        #[test]
        fn reassembly_agrees_with_a_bitmap(arrivals in prop::collection::vec((0..40_u64, 1..6_u16), 1..80)) {
            let mut receiver = receiver("ns2");
            let mut seen = [false; 64];
            for (seq, len) in arrivals {
                let ack = receiver.on_segment(Time::ZERO, &Segment { seq, len, ..Segment::default() }).unwrap();
                (seq..seq + u64::from(len)).for_each(|byte| seen[byte as usize] = true);
                let expected = seen.iter().position(|byte| !byte).unwrap_or(64) as u64;
                prop_assert_eq!(ack.ack, expected);
                prop_assert!(receiver.blocks.windows(2).all(|pair| pair[0].to < pair[1].from));
            }
        }
    }
}
