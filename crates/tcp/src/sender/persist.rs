//! A closed window: RFC 9293, section 3.8.6.1; and one that opens a little (section 3.8.6.2.1).
//!
//! Window updates are not acknowledged and may get lost. So while the receiver
//! has no room, one byte more is sent now and then; its ACK says how things
//! stand. The first probe comes after a retransmission timeout, the next ones
//! after ever longer intervals. A byte that the receiver did not take was never
//! sent, as far as everything else is concerned.

use super::Sender;
use crate::mark::Mark;
use crate::segment::Segment;
use sojourn_units::Time;

/// Probing a closed window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    /// Probes since the window was open.
    sent: u16,
    /// One goes out next.
    pub(super) due: bool,
    /// What the receiver may have taken: the end of the last probe.
    pub(super) taken: Mark,
    /// `Max(SND.WND)`, bytes: about the receiver's buffer.
    pub(super) widest: u32,
}

impl Persist {
    /// What goes into the usable window `room`, where `len` does not fit: all of it where it is half of the receiver's
    /// buffer, for a receiver that never has room for a segment (RFC 9293, section 3.8.6.2.1, rule 3); else nothing
    /// less than `len`, which waits.
    pub(super) fn worth_filling(&self, room: u64, len: u64) -> u64 {
        if room > 0 && 2 * room >= u64::from(self.widest) { room } else { len }
    }
}

impl Sender {
    /// Starts the timer where data waits, nothing is under way, and the window is closed, or too small for what waits.
    #[inline]
    pub(super) fn arm_persist(&mut self, now: Time) {
        let blocked = self.una == self.max && self.is_blocked();
        if !blocked {
            self.timers.persist = Time::NEVER;
            if self.edge > self.max {
                self.persist = Persist { sent: 0, due: false, ..self.persist };
            }
        } else if self.timers.persist == Time::NEVER && !self.persist.due {
            let interval = self.rtt.timeout().saturating_mul(1 << self.persist.sent.min(MOST_DOUBLINGS));
            self.timers.persist = now + interval.min(self.config.profile.max_rto);
        }
    }

    /// Whether data wait that the receiver has no room for.
    #[cold]
    fn is_blocked(&self) -> bool {
        self.end_of_stream > self.max && self.new_data() == 0
    }

    pub(super) fn persist_timed_out(&mut self) {
        self.persist.due = true;
    }

    /// One byte beyond the window, or what little there is room for (RFC 9293, section 3.8.6.2.1, rule 4).
    pub(super) fn probe_window(&mut self, now: Time) -> Option<Segment> {
        self.persist.due = false;
        if self.end_of_stream == self.max || self.una < self.max || self.new_data() > 0 {
            return None;
        }
        if self.edge > self.max {
            return Some(self.advance(now, self.edge - self.max));
        }
        let seq = self.max;
        let segment = self.segment(now, seq, 1, false);
        self.persist.sent = self.persist.sent.saturating_add(1);
        self.persist.taken = Mark::at(seq + 1);
        self.arm_persist(now);
        Some(segment)
    }

    /// The receiver has taken the byte of a probe: it was sent after all.
    pub(super) fn accept_probe(&mut self, ack: u64) {
        if self.persist.taken == Mark::at(ack) && ack > self.max {
            self.max = ack;
            self.nxt = ack;
            self.persist.taken = Mark::NONE;
        }
    }
}

/// Doublings of the interval at the most.
const MOST_DOUBLINGS: u16 = 16;
