//! Sending: which bytes go next, and the segment that carries them.

use super::{Repair, Scheme, Sender};
use crate::cc::Recovery;
use crate::mark::Mark;
use crate::profile::Pipe;
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Ecn, Time};

impl Sender {
    /// What goes next on an established connection.
    #[inline]
    pub(super) fn next(&mut self, now: Time) -> Option<Segment> {
        if self.ack_due {
            return Some(self.ack_of_fin());
        }
        if self.paces && self.waits_for_pace(now) {
            return None;
        }
        if self.resend {
            return Some(self.retransmit_first(now));
        }
        if self.probe.due
            && let Some(segment) = self.send_probe(now)
        {
            return Some(segment);
        }
        if self.persist.due {
            return self.probe_window(now);
        }
        match self.frto {
            Some(frto) => self.next_in_doubt(now, frto),
            None if self.is_calm() => self.next_in_order(now),
            None => self.next_in_trouble(now),
        }
    }

    /// The usual case: nothing is missing.
    pub(super) fn is_calm(&self) -> bool {
        self.board.is_empty()
            && self.repair.is_none()
            && (self.scheme != Scheme::Rack || self.rack.lost.is_empty())
    }

    /// The window says how far to go.
    #[inline]
    pub(super) fn next_in_order(&mut self, now: Time) -> Option<Segment> {
        if self.nxt == self.end_of_stream || self.ecn.hold {
            return None;
        }
        self.look_at_window(now);
        let len = self.next_len();
        let early = if self.dup_acks == 0 { 0 } else { self.limited_transmit() };
        let end = self.nxt + len;
        // FIN alone is no data: the congestion window does not hold it back.
        let bare_fin = self.closing && self.nxt + 1 == self.end_of_stream;
        if end > self.edge.max(self.max) || (end - self.una > self.window + early && !bare_fin) {
            // Data that waits for room alone waits for the receiver to say so.
            if self.una == self.max {
                self.arm_persist(now);
            }
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
        match self.repair.get() {
            _ if self.scheme == Scheme::Rack => self.next_with_rack(now),
            Some(&Repair::Fast(fast)) => self.next_in_fast_recovery(now, fast),
            Some(&Repair::Sack(sack)) => self.next_in_sack_recovery(now, sack),
            Some(&Repair::Counted(counted)) => self.next_in_counted_recovery(now, counted),
            None if self.config.profile.pipe == Pipe::Counted => self.next_in_order(now),
            _ => self.next_around_sacked(now),
        }
    }

    /// The first unacknowledged segment once more.
    #[cold]
    pub(super) fn retransmit_first(&mut self, now: Time) -> Segment {
        self.resend = false;
        if self.scheme == Scheme::Rack {
            return self.resend_first_lost(now);
        }
        self.note_in_recovery(self.first_hole());
        self.data(now, self.una, self.first_hole())
    }

    /// Bytes from `una` that one segment can send again.
    pub(super) fn first_hole(&self) -> u64 {
        self.mss.min(self.board.hole_end(self.una, self.max) - self.una)
    }

    /// Sequence numbers of the next segment in order: a segment's worth, FIN on its back where that fits.
    pub(super) fn next_len(&self) -> u64 {
        let rest = self.end_of_stream - self.nxt;
        let most = self.edge.min(self.una.saturating_add(self.window));
        let fin_fits = self.closing && rest == self.mss + 1 && self.end_of_stream <= most;
        let len = if fin_fits { rest } else { self.mss.min(rest) };
        if self.nxt + len <= self.edge {
            return len;
        }
        // What was sent before needs no new room (RFC 9293, section 3.8.6): a piece ends where that ends.
        if self.nxt < self.max {
            len.min(self.max - self.nxt)
        } else {
            self.persist.worth_filling(self.room(), len)
        }
    }

    /// The usable window.
    fn room(&self) -> u64 {
        self.edge.saturating_sub(self.nxt)
    }

    /// The same where the receiver has room for it; 0 otherwise.
    pub(super) fn new_data(&self) -> u64 {
        let len = self.next_len();
        if self.nxt + len <= self.edge.max(self.max) { len } else { 0 }
    }

    /// The next `len` sequence numbers in order.
    #[inline]
    pub(super) fn advance(&mut self, now: Time, len: u64) -> Segment {
        let seq = self.nxt;
        self.nxt += len;
        self.data(now, seq, len)
    }

    /// The segment of `len` sequence numbers from `seq`.
    #[inline]
    pub(super) fn data(&mut self, now: Time, seq: u64, len: u64) -> Segment {
        let end = seq + len;
        let new = end > self.max;
        self.last_sent = now;
        if new {
            self.note_new(now, seq, end);
        } else {
            // Karn: the ACK of a segment sent twice could be for either.
            if self.timed.get().is_some_and(|timed| timed > seq && timed <= end) {
                self.timed = Mark::NONE;
            }
            self.note_sent_again(now, seq, end);
            self.note_repaired(len);
        }
        if self.timers.retransmit == Time::NEVER {
            self.timers.retransmit = now + self.rtt.timeout();
        }
        if new {
            self.arm_probe(now, true);
        }
        let segment = self.segment(now, seq, len, new);
        if self.paces {
            self.note_pace(now, &segment);
        }
        segment
    }

    /// Bytes are sent for the first time.
    fn note_new(&mut self, now: Time, seq: u64, end: u64) {
        let full = self.max - self.last_segment == self.mss;
        let from = std::mem::replace(&mut self.max, end);
        self.last_segment = seq.max(from);
        if self.times_all || self.recovery == Recovery::Sack {
            self.history.push(from, end, now, full);
        }
        if !self.times_all && self.timed.is_none() {
            (self.timed, self.timed_at) = (Mark::at(end), now);
        }
    }

    /// A segment as it goes on the wire; `new`: whether it carries new data.
    #[inline]
    pub(super) fn segment(&mut self, now: Time, seq: u64, len: u64, new: bool) -> Segment {
        let (flags, ecn) = self.ecn_of(new);
        let fin = self.closing && seq + len == self.end_of_stream;
        let payload = len - u64::from(fin);
        let flags = flags.with(Flags::FIN, fin);
        let mut segment = Segment { seq, len: payload as u16, flags, ecn, ..Segment::default() };
        segment.ack = self.acknowledgment();
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
        let capable = new || self.config.profile.ect_on_retransmit;
        // What a router cannot mark may be lost unseen, and CWR with it (RFC 3168, section 6.1.2).
        let cwr = capable && std::mem::take(&mut self.ecn.cwr_due);
        (Flags::ACK.with(Flags::CWR, cwr), if capable { Ecn::Ect0 } else { Ecn::NotEct })
    }
}
