//! Recovery by SACK with a pipe that is only counted, as ns-2's Sack1 does.
//!
//! Fall and Floyd, Simulation-based comparisons of Tahoe, Reno and SACK TCP
//! (1996), the forerunner of RFC 6675. Nothing is ever taken for lost: the
//! flight less three segments is on its way at the start, each segment sent
//! adds one, each duplicate ACK takes one away, and each partial ACK two (the
//! lost segment, and its second sending). While that leaves room in the window,
//! the first hole below what is SACKed is sent again, or else new data.

use super::acknowledge::Effect;
use super::{DUP_THRESHOLD, Repair, Sender};
use crate::segment::Segment;
use sojourn_units::Time;

/// Recovery with a counted pipe in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedRecovery {
    /// Recovery ends when everything below this is acknowledged.
    until: u64,
    /// What is missing below this was sent again.
    retransmitted: u64,
    /// Bytes taken to be on their way.
    pub(super) pipe: u64,
}

impl Sender {
    /// A duplicate ACK that says something new.
    pub(super) fn on_counted_duplicate(&mut self, now: Time) {
        if let Some(Repair::Counted(counted)) = self.repair.get_mut() {
            counted.pipe = counted.pipe.saturating_sub(self.mss);
            return;
        }
        // What was under way at a timeout says nothing of what the timeout sent.
        if !self.timed_out_at.is_none() {
            return;
        }
        self.dup_acks += 1;
        if self.dup_acks == DUP_THRESHOLD && self.loss_point.get().is_none_or(|point| self.una > point) {
            self.start_counted_recovery(now);
        }
    }

    fn start_counted_recovery(&mut self, now: Time) {
        self.reduce_for_loss();
        let retransmitted = self.una + self.first_hole();
        let pipe = self.flight().saturating_sub(u64::from(DUP_THRESHOLD) * self.mss);
        self.repair.set(Repair::Counted(CountedRecovery { until: self.max, retransmitted, pipe }));
        self.timers.retransmit = now + self.rtt.timeout();
    }

    pub(super) fn new_ack_in_counted_recovery(&mut self, counted: CountedRecovery) -> Effect {
        let pipe = counted.pipe.saturating_sub(2 * self.mss);
        let ends = self.una >= counted.until;
        if ends {
            self.repair.clear();
        } else {
            self.repair.set(Repair::Counted(CountedRecovery { pipe, ..counted }));
        }
        Effect { restart: true, grow: false }
    }

    pub(super) fn next_in_counted_recovery(
        &mut self,
        now: Time,
        mut counted: CountedRecovery,
    ) -> Option<Segment> {
        if counted.pipe + self.mss > self.window || self.ecn.hold {
            return None;
        }
        let hole = self.board.next_hole(counted.retransmitted.max(self.una));
        let segment = if hole < self.board.highest() {
            let len = self.mss.min(self.board.hole_end(hole, self.max) - hole);
            counted.retransmitted = hole + len;
            self.data(now, hole, len)
        } else {
            let len = Some(self.new_data()).filter(|len| *len > 0)?;
            self.advance(now, len)
        };
        counted.pipe += u64::from(segment.len);
        self.repair.set(Repair::Counted(counted));
        Some(segment)
    }
}
