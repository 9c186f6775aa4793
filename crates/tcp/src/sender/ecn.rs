//! ECN: RFC 3168, section 6.1.

use super::Sender;
use super::prr::{Before, Delivery, PrrState};
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
        let before = Before { flight: self.flight(), cwnd: self.cwnd };
        self.reduce_for_ecn();
        if self.config.profile.ecn_prr && self.recovery.is_none() && self.cwnd >= self.mss {
            let prr = self.start_prr(before, 0);
            self.rare.iter_mut().for_each(|rare| rare.ecn_prr = prr);
        }
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

    /// State of the reduction that is in progress since an echo.
    pub(super) fn ecn_prr(&self) -> Option<&PrrState> {
        self.rare.as_ref()?.ecn_prr.as_ref()
    }

    pub(super) fn ecn_prr_mut(&mut self) -> Option<&mut PrrState> {
        self.rare.as_mut()?.ecn_prr.as_mut()
    }

    /// Ends that reduction.
    pub(super) fn end_ecn_prr(&mut self) {
        self.rare.iter_mut().for_each(|rare| rare.ecn_prr = None);
    }

    /// Returns whether it goes on, until more than `point` is acknowledged: the window does not grow meanwhile.
    pub(super) fn is_reducing_for_ecn(&self) -> bool {
        self.ecn_prr().is_some() && self.ecn.point.get().is_some_and(|point| self.una <= point)
    }

    /// Lets an ACK send its share of the window that an echo has reduced; `delivered`: bytes that it delivers.
    #[cold]
    pub(super) fn reduce_evenly(&mut self, delivered: i64, advanced: bool) {
        // With nothing outstanding no ACK is left that could let anything out.
        let goes_on = self.is_reducing_for_ecn() && self.recovery.is_none() && self.una < self.max;
        let pipe = self.unsacked_before(0);
        let mss = self.mss;
        if !goes_on {
            self.end_ecn_prr();
        } else if let Some(prr) = self.ecn_prr_mut() {
            prr.on_ack(Delivery { data: delivered, pipe, is_safe: advanced }, mss);
        }
    }

    /// Returns whether echoes have left too small a window to send anything.
    pub(super) fn awaits_timer(&self) -> bool {
        self.ecn.hold || self.cwnd < self.mss
    }

    /// Resumes sending when the timer expires with nothing outstanding.
    pub(super) fn resume(&mut self) {
        self.ecn.hold = false;
        self.end_ecn_prr();
        if self.cwnd < self.mss {
            self.set_window(self.mss);
        }
    }
}
