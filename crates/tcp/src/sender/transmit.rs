//! Sending: which bytes go next, and the segment that carries them.

use super::{Repair, Sender};
use crate::profile::Pipe;
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Ecn, Time};

impl Sender {
    /// The usual case: nothing is missing, and the window says how far to go.
    pub(super) fn next_in_order(&mut self, now: Time) -> Option<Segment> {
        let len = self.mss.min(self.supply - self.nxt);
        let early = if self.dup_acks == 0 { 0 } else { self.limited_transmit() };
        let usable = (self.window + early).min(self.room);
        if len == 0 || self.nxt + len - self.una > usable || self.ecn.hold {
            return None;
        }
        if early > 0 {
            self.beyond_window += len;
        }
        Some(self.advance(now, len))
    }

    /// Something is missing, or taken for lost.
    #[cold]
    pub(super) fn next_in_trouble(&mut self, now: Time) -> Option<Segment> {
        match self.repair {
            Some(Repair::Fast(fast)) => self.next_in_fast_recovery(now, fast),
            Some(Repair::Sack(sack)) => self.next_in_sack_recovery(now, sack),
            Some(Repair::Counted(counted)) => self.next_in_counted_recovery(now, counted),
            None if self.profile.pipe == Pipe::Counted => self.next_in_order(now),
            None => self.next_around_sacked(now),
        }
    }

    /// The first unacknowledged segment once more.
    #[cold]
    pub(super) fn retransmit_first(&mut self, now: Time) -> Segment {
        self.resend = false;
        self.data(now, self.una, self.first_hole())
    }

    /// Bytes from `una` that one segment can send again.
    pub(super) fn first_hole(&self) -> u64 {
        self.mss.min(self.board.hole_end(self.una, self.max) - self.una)
    }

    /// The next `len` bytes in order.
    pub(super) fn advance(&mut self, now: Time, len: u64) -> Segment {
        let seq = self.nxt;
        self.nxt += len;
        self.data(now, seq, len)
    }

    /// The segment of `len` bytes from `seq`.
    pub(super) fn data(&mut self, now: Time, seq: u64, len: u64) -> Segment {
        let end = seq + len;
        let new = end > self.max;
        if new {
            self.max = end;
            if self.timed.is_none() {
                self.timed = Some((end, now));
            }
        } else {
            // Karn: the ACK of a segment sent twice could be for either.
            self.timed.take_if(|(timed, _)| *timed > seq && *timed <= end);
        }
        if self.deadline.is_none() {
            self.deadline = Some(now + self.rtt.timeout());
        }
        let (flags, ecn) = self.ecn_of(new);
        let mut segment = Segment { seq, len: len as u16, flags, ecn, ..Segment::default() };
        if self.timestamps {
            segment.flags = segment.flags | Flags::TIMESTAMP;
            segment.stamp = Stamp::at(now);
        }
        segment
    }

    /// Control bits and ECN codepoint of a data segment; `new`: whether it carries new data.
    fn ecn_of(&mut self, new: bool) -> (Flags, Ecn) {
        if !self.ecn.agreed {
            return (Flags::ACK, Ecn::NotEct);
        }
        let cwr = new && std::mem::take(&mut self.ecn.cwr_due);
        let capable = new || self.profile.ect_on_retransmit;
        (Flags::ACK.with(Flags::CWR, cwr), if capable { Ecn::Ect0 } else { Ecn::NotEct })
    }
}
