//! ECN: RFC 3168, section 6.1.

use super::Sender;
use crate::opt_seq::OptSeq;
use crate::profile::EcnAtOne;
use crate::segment::{Flags, Segment};
use sojourn_units::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    pub(super) requested: bool,
    pub(super) agreed: bool,
    /// SND.NXT at the last reduction: one reduction per window of data.
    pub(super) point: OptSeq,
    /// CWR is due on the next new segment.
    pub(super) cwr_due: bool,
    /// Nothing is sent until the retransmission timer expires.
    pub(super) hold: bool,
    /// The last reduction was at a window of one segment.
    at_one: bool,
    /// The last reduction was by a timeout.
    pub(super) timeout_last: bool,
}

impl EcnState {
    pub(super) fn new(requested: bool) -> EcnState {
        EcnState { requested, ..EcnState::default() }
    }
}

impl Sender {
    /// Handles the ECE bit of an ACK, returning whether it echoes congestion.
    pub(super) fn on_ecn_feedback(&mut self, now: Time, segment: &Segment) -> bool {
        let echo = segment.flags.has(Flags::ECE);
        if echo {
            self.forbid_undo();
            self.on_echo(now, segment.ack);
        } else {
            self.ecn.at_one = false;
        }
        echo
    }

    /// Reduces the window, once per window of data (RFC 3168, section 6.1.2).
    fn on_echo(&mut self, now: Time, ack: u64) {
        let reopened = self.config.profile.ecn_after_timeout && self.ecn.timeout_last;
        let covered = |point: OptSeq| point.get().is_some_and(|point| ack <= point);
        if !reopened && (covered(self.ecn.point) || covered(self.recovery_point)) {
            return;
        }
        let one = self.cwnd <= self.mss;
        self.reduce_for_ecn();
        match self.config.profile.ecn_at_one {
            EcnAtOne::WaitForTimer | EcnAtOne::Two if one => {
                self.ecn.hold = true;
                self.timers.retransmit = now + self.rtt.timeout();
            }
            EcnAtOne::BackOff if one && self.ecn.at_one => self.rtt.back_off(&self.config.profile),
            _ => {}
        }
        self.ecn.at_one = one;
        // An ACK without new data starts no timer.
        if self.cwnd < self.mss && self.timers.retransmit == Time::NEVER {
            self.timers.retransmit = now + self.rtt.timeout();
        }
    }

    /// Returns whether echoes have left too small a window to send anything.
    pub(super) fn awaits_timer(&self) -> bool {
        self.ecn.hold || self.cwnd < self.mss
    }

    /// Resumes sending when the timer expires with nothing outstanding.
    pub(super) fn resume(&mut self) {
        self.ecn.hold = false;
        if self.cwnd < self.mss {
            self.set_window(self.mss);
        }
    }
}
