//! Transmission: selection of the next bytes, and their segment.

use super::{RecoveryState, Scheme, Sender};
use crate::cc::Recovery;
use crate::opt_seq::OptSeq;
use crate::profile::Pipe;
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Ecn, Time};

impl Sender {
    /// Returns the next segment on an established connection.
    #[inline]
    pub(super) fn next(&mut self, now: Time) -> Option<Segment> {
        if self.ack_due {
            return Some(self.ack_of_fin());
        }
        if self.paces && self.awaits_pacing(now) {
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
            Some(frto) => self.next_in_frto(now, frto),
            None if self.has_no_loss() => self.next_in_order(now),
            None => self.next_after_loss(now),
        }
    }

    /// Common case: nothing is missing or lost.
    pub(super) fn has_no_loss(&self) -> bool {
        self.board.is_empty()
            && self.recovery.is_none()
            && (self.scheme != Scheme::Rack || self.rack.lost.is_empty())
    }

    /// Sends the next data in order, as the windows allow.
    #[inline]
    pub(super) fn next_in_order(&mut self, now: Time) -> Option<Segment> {
        if self.nxt == self.end_of_stream || self.ecn.hold {
            return None;
        }
        self.validate_cwnd(now);
        let len = self.next_len();
        let early = if self.dup_acks == 0 { 0 } else { self.limited_transmit() };
        let end = self.nxt + len;
        // FIN alone is not data: the congestion window does not limit it.
        let bare_fin = self.closing && self.nxt + 1 == self.end_of_stream;
        let fits = self.ecn_prr().map_or(end - self.una <= self.cwnd + early, |prr| prr.allows(len));
        if end > self.snd_edge.max(self.max) || !(fits || bare_fin) {
            // Data that only waits for the receiver's window needs the persist timer.
            if self.una == self.max {
                self.arm_persist(now);
            }
            return None;
        }
        if early > 0 {
            self.beyond_window += len;
        }
        if let Some(prr) = self.ecn_prr_mut() {
            prr.sent(len);
        }
        Some(self.advance(now, len))
    }

    /// Sends while data is missing or marked lost.
    #[cold]
    pub(super) fn next_after_loss(&mut self, now: Time) -> Option<Segment> {
        match self.recovery.get() {
            _ if self.scheme == Scheme::Rack => self.next_with_rack(now),
            Some(&RecoveryState::Fast(fast)) => self.next_in_fast_recovery(now, fast),
            Some(&RecoveryState::Sack(sack)) => self.next_in_sack_recovery(now, sack),
            Some(&RecoveryState::Counted(counted)) => self.next_in_counted_recovery(now, counted),
            None if self.config.profile.pipe == Pipe::Counted => self.next_in_order(now),
            _ => self.next_outside_recovery(now),
        }
    }

    /// Retransmits the first unacknowledged segment.
    #[cold]
    pub(super) fn retransmit_first(&mut self, now: Time) -> Segment {
        self.resend = false;
        if self.scheme == Scheme::Rack {
            return self.resend_first_lost(now);
        }
        self.count_in_prr_sack(self.first_hole());
        self.data(now, self.una, self.first_hole())
    }

    /// Bytes from `una` that fit in one retransmission.
    pub(super) fn first_hole(&self) -> u64 {
        self.mss.min(self.board.hole_end(self.una, self.max) - self.una)
    }

    /// Length of the next segment in order, including FIN if it fits.
    pub(super) fn next_len(&self) -> u64 {
        let rest = self.end_of_stream - self.nxt;
        let most = self.snd_edge.min(self.una.saturating_add(self.cwnd));
        let fin_fits = self.closing && rest == self.mss + 1 && self.end_of_stream <= most;
        let len = if fin_fits { rest } else { self.mss.min(rest) };
        if self.nxt + len <= self.snd_edge {
            return len;
        }
        // Data sent before needs no new room (RFC 9293, section 3.8.6): the segment ends where it does.
        if self.nxt < self.max {
            len.min(self.max - self.nxt)
        } else {
            self.persist.worth_filling(self.room(), len)
        }
    }

    /// Usable window, bytes.
    fn room(&self) -> u64 {
        self.snd_edge.saturating_sub(self.nxt)
    }

    /// Length of the next new segment if the receiver has room for it; otherwise 0.
    pub(super) fn new_data(&self) -> u64 {
        let len = self.next_len();
        if self.nxt + len <= self.snd_edge.max(self.max) { len } else { 0 }
    }

    /// Sends the next `len` sequence numbers in order.
    #[inline]
    pub(super) fn advance(&mut self, now: Time, len: u64) -> Segment {
        let seq = self.nxt;
        self.nxt += len;
        self.data(now, seq, len)
    }

    /// Sends `len` sequence numbers from `seq`.
    #[inline]
    pub(super) fn data(&mut self, now: Time, seq: u64, len: u64) -> Segment {
        let end = seq + len;
        let new = end > self.max;
        self.last_sent = now;
        if new {
            self.note_new(now, seq, end);
        } else {
            // Karn: the ACK of a retransmitted segment is ambiguous.
            if self.timed.get().is_some_and(|timed| timed > seq && timed <= end) {
                self.timed = OptSeq::NONE;
            }
            self.on_retransmit(now, seq, end);
            self.count_retransmitted(len);
        }
        if self.timers.retransmit == Time::NEVER {
            self.timers.retransmit = now + self.rtt.timeout();
        }
        if new {
            self.arm_probe(now, true);
        }
        let segment = self.segment(now, seq, len, new);
        if self.paces {
            self.schedule_next_release(now, &segment);
        }
        segment
    }

    /// Records a first transmission.
    fn note_new(&mut self, now: Time, seq: u64, end: u64) {
        let full = self.max - self.last_segment == self.mss;
        let from = std::mem::replace(&mut self.max, end);
        self.last_segment = seq.max(from);
        if self.times_all || self.algorithm == Recovery::Sack {
            self.history.push(from, end, now, full);
        }
        if !self.times_all && self.timed.is_none() {
            (self.timed, self.timed_at) = (OptSeq::some(end), now);
        }
    }

    /// Builds a segment; `new`: it carries new data.
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

    /// Control bits and ECN codepoint of a data segment; `new`: it carries new data.
    fn ecn_of(&mut self, new: bool) -> (Flags, Ecn) {
        if !self.ecn.agreed {
            return (Flags::ACK, Ecn::NotEct);
        }
        let capable = new || self.config.profile.ect_on_retransmit;
        // A packet that a router cannot mark may be lost unnoticed, and CWR with it (RFC 3168, section 6.1.2).
        let cwr = capable && std::mem::take(&mut self.ecn.cwr_due);
        let codepoint = if self.config.ect1 { Ecn::Ect1 } else { Ecn::Ect0 };
        (Flags::ACK.with(Flags::CWR, cwr), if capable { codepoint } else { Ecn::NotEct })
    }
}
