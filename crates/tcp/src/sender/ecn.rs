//! ECN: RFC 3168, section 6.1.

use super::Sender;
use crate::mark::Mark;
use crate::profile::EcnAtOne;
use crate::segment::{Flags, Segment};
use sojourn_units::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    pub(super) asked: bool,
    pub(super) agreed: bool,
    /// What was outstanding at the last reduction: one reduction a window of data.
    pub(super) point: Mark,
    /// Tell the receiver with the next new segment that the window was reduced.
    pub(super) cwr_due: bool,
    /// Nothing is sent until the timer expires.
    pub(super) hold: bool,
    /// The last reduction came at a window of one segment.
    at_one: bool,
    /// The last reduction of the window was a timeout's.
    pub(super) timeout_last: bool,
}

impl EcnState {
    pub(super) fn new(asked: bool) -> EcnState {
        EcnState { asked, ..EcnState::default() }
    }
}

impl Sender {
    /// Whether an ACK echoes congestion, which is answered.
    pub(super) fn note_echo(&mut self, now: Time, segment: &Segment) -> bool {
        let echo = segment.flags.has(Flags::ECE);
        if echo {
            self.keep_reduction();
            self.on_echo(now, segment.ack);
        } else {
            self.ecn.at_one = false;
        }
        echo
    }

    /// RFC 3168, section 6.1.2: the window is reduced once for a window of data.
    fn on_echo(&mut self, now: Time, ack: u64) {
        let reopened = self.config.profile.ecn_after_timeout && self.ecn.timeout_last;
        let covered = |point: Mark| point.get().is_some_and(|point| ack <= point);
        if !reopened && (covered(self.ecn.point) || covered(self.loss_point)) {
            return;
        }
        let one = self.window <= self.mss;
        self.answer_echo();
        match self.config.profile.ecn_at_one {
            EcnAtOne::WaitForTimer | EcnAtOne::Two if one => {
                self.ecn.hold = true;
                self.timers.retransmit = now + self.rtt.timeout();
            }
            EcnAtOne::BackOff if one && self.ecn.at_one => self.rtt.back_off(&self.config.profile),
            _ => {}
        }
        self.ecn.at_one = one;
        // An ACK that acknowledges nothing new starts no timer.
        if self.window < self.mss && self.timers.retransmit == Time::NEVER {
            self.timers.retransmit = now + self.rtt.timeout();
        }
    }

    /// Whether echoes have left too little to send anything with.
    pub(super) fn waits_for_timer(&self) -> bool {
        self.ecn.hold || self.window < self.mss
    }

    /// The timer has expired with nothing outstanding: it is time for a segment.
    pub(super) fn go_on(&mut self) {
        self.ecn.hold = false;
        if self.window < self.mss {
            self.set_window(self.mss);
        }
    }
}
