//! Recovery by SACK with a counted pipe, as in ns-2's Sack1.
//!
//! Fall and Floyd, Simulation-based comparisons of Tahoe, Reno and SACK TCP (1996), the forerunner of RFC 6675. No
//! segment is ever marked lost. The pipe starts at FlightSize less three segments; each segment sent adds one, each
//! duplicate ACK subtracts one, and each partial ACK two (the lost segment and its retransmission). While the pipe
//! leaves room in the window, the first hole below the highest SACKed byte is retransmitted, or else new data is sent.

use super::acknowledge::Effect;
use super::{DUP_THRESH, RecoveryState, Sender};
use crate::segment::Segment;
use sojourn_units::Time;

/// State of recovery with a counted pipe.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedRecovery {
    /// Recovery ends when everything below is acknowledged.
    recovery_point: u64,
    /// `HighRxt`: holes below have been retransmitted.
    high_rxt: u64,
    /// Estimate of the bytes in flight.
    pub(super) pipe: u64,
}

impl Sender {
    /// Handles a duplicate ACK with new SACK information.
    pub(super) fn on_counted_duplicate(&mut self, now: Time) {
        if let Some(RecoveryState::Counted(counted)) = self.recovery.get_mut() {
            counted.pipe = counted.pipe.saturating_sub(self.mss);
            return;
        }
        // Data in flight at a timeout carries no information on what was sent after it.
        if !self.timed_out_at.is_none() {
            return;
        }
        self.dup_acks += 1;
        if self.dup_acks == DUP_THRESH && self.recovery_point.get().is_none_or(|point| self.una > point) {
            self.start_counted_recovery(now);
        }
    }

    fn start_counted_recovery(&mut self, now: Time) {
        self.enter_loss_recovery();
        let high_rxt = self.una + self.first_hole();
        let pipe = self.flight().saturating_sub(u64::from(DUP_THRESH) * self.mss);
        self.recovery.set(RecoveryState::Counted(CountedRecovery {
            recovery_point: self.max,
            high_rxt,
            pipe,
        }));
        self.timers.retransmit = now + self.rtt.timeout();
    }

    pub(super) fn new_ack_in_counted_recovery(&mut self, counted: CountedRecovery) -> Effect {
        let pipe = counted.pipe.saturating_sub(2 * self.mss);
        let ends = self.una >= counted.recovery_point;
        if ends {
            self.recovery.clear();
        } else {
            self.recovery.set(RecoveryState::Counted(CountedRecovery { pipe, ..counted }));
        }
        Effect { restart: true, grow: false }
    }

    pub(super) fn next_in_counted_recovery(
        &mut self,
        now: Time,
        mut counted: CountedRecovery,
    ) -> Option<Segment> {
        if counted.pipe + self.mss > self.cwnd || self.ecn.hold {
            return None;
        }
        let hole = self.board.next_hole(counted.high_rxt.max(self.una));
        let segment = if hole < self.board.highest() {
            let len = self.mss.min(self.board.hole_end(hole, self.max) - hole);
            counted.high_rxt = hole + len;
            self.data(now, hole, len)
        } else {
            let len = Some(self.new_data()).filter(|len| *len > 0)?;
            self.advance(now, len)
        };
        counted.pipe += u64::from(segment.len);
        self.recovery.set(RecoveryState::Counted(counted));
        Some(segment)
    }
}
