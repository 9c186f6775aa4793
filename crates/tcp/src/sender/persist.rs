//! Zero-window probing (RFC 9293, section 3.8.6.1) and silly window avoidance (section 3.8.6.2.1).
//!
//! Window updates are not acknowledged and may be lost. While the receiver's window is closed, a probe of one byte is
//! sent from time to time; its ACK reports the window. The first probe is sent after a retransmission timeout, further
//! ones at increasing intervals. A probe byte that the receiver did not take counts as never sent.

use super::Sender;
use crate::opt_seq::OptSeq;
use crate::segment::Segment;
use sojourn_units::Time;

/// State of zero-window probing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    /// Probes since the window was open.
    sent: u16,
    /// A probe is due.
    pub(super) due: bool,
    /// End of the last probe, which the receiver may have taken.
    pub(super) taken: OptSeq,
    /// `Max(SND.WND)`, bytes: estimate of the receiver's buffer.
    pub(super) widest: u32,
}

impl Persist {
    /// Bytes to send into the usable window `room`, which is less than `len`: all of it if it is half of the
    /// receiver's buffer, for a receiver that never has room for a segment (RFC 9293, section 3.8.6.2.1, rule 3);
    /// otherwise `len`, which has to wait.
    pub(super) fn worth_filling(&self, room: u64, len: u64) -> u64 {
        if room > 0 && 2 * room >= u64::from(self.widest) { room } else { len }
    }
}

impl Sender {
    /// Starts the timer if data waits, nothing is in flight, and the window is closed or too small.
    #[inline]
    pub(super) fn arm_persist(&mut self, now: Time) {
        let blocked = self.una == self.max && self.is_blocked();
        if !blocked {
            self.timers.persist = Time::NEVER;
            if self.snd_edge > self.max {
                self.persist = Persist { sent: 0, due: false, ..self.persist };
            }
        } else if self.timers.persist == Time::NEVER && !self.persist.due {
            let interval = self.rtt.timeout().saturating_mul(1 << self.persist.sent.min(MAX_DOUBLINGS));
            self.timers.persist = now + interval.min(self.config.profile.max_rto);
        }
    }

    /// Returns whether data waits for the receiver's window.
    #[cold]
    fn is_blocked(&self) -> bool {
        self.end_of_stream > self.max && self.new_data() == 0
    }

    pub(super) fn persist_timed_out(&mut self) {
        self.persist.due = true;
    }

    /// Sends one byte beyond the window, or as much as fits in a small one (RFC 9293, section 3.8.6.2.1, rule 4).
    pub(super) fn probe_window(&mut self, now: Time) -> Option<Segment> {
        self.persist.due = false;
        if self.end_of_stream == self.max || self.una < self.max || self.new_data() > 0 {
            return None;
        }
        if self.snd_edge > self.max {
            return Some(self.advance(now, self.snd_edge - self.max));
        }
        let seq = self.max;
        let segment = self.segment(now, seq, 1, false);
        self.persist.sent = self.persist.sent.saturating_add(1);
        self.persist.taken = OptSeq::some(seq + 1);
        self.arm_persist(now);
        Some(segment)
    }

    /// Counts the byte of a probe as sent once the receiver has taken it.
    pub(super) fn accept_probe(&mut self, ack: u64) {
        if self.persist.taken == OptSeq::some(ack) && ack > self.max {
            self.max = ack;
            self.nxt = ack;
            self.persist.taken = OptSeq::NONE;
        }
    }
}

/// Maximum doublings of the interval.
const MAX_DOUBLINGS: u16 = 16;
