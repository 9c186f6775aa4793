//! Fast recovery, driven by duplicate ACKs alone.
//!
//! RFC 5681, section 3.2 (Reno), RFC 6582 (NewReno), RFC 3042 (limited transmit). Each duplicate ACK signals that a
//! segment has left the network, and inflates the window by one segment, so that a new one may follow.

use super::acknowledge::Effect;
use super::{DUP_THRESH, RecoveryState, Sender};
use crate::cc::Recovery;
use crate::profile::LimitedTransmit;
use crate::segment::Segment;
use sojourn_units::Time;

/// State of fast recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastRecovery {
    /// `recover`: recovery ends when everything below is acknowledged.
    recovery_point: u64,
    /// Inflation of the window by duplicate ACKs, bytes.
    pub(super) inflation: i64,
    /// A partial ACK has arrived.
    partial: bool,
}

impl Sender {
    pub(super) fn on_duplicate_ack(&mut self, now: Time) {
        self.dup_acks += 1;
        if let Some(RecoveryState::Fast(fast)) = self.recovery.get_mut() {
            fast.inflation += self.mss as i64;
        } else if self.dup_acks == DUP_THRESH
            && self.recovery_point.get().is_none_or(|point| self.una > point)
        {
            self.fast_retransmit(now);
        }
    }

    /// RFC 5681, section 3.2, steps 2 and 3, with `recover` of RFC 6582.
    fn fast_retransmit(&mut self, now: Time) {
        self.enter_loss_recovery();
        let inflation = i64::from(DUP_THRESH) * self.mss as i64;
        self.recovery.set(RecoveryState::Fast(FastRecovery {
            recovery_point: self.max,
            inflation,
            partial: false,
        }));
        self.timers.retransmit = now + self.rtt.timeout();
    }

    /// RFC 5681, section 3.2, step 6; RFC 6582, section 3.2, step 3.
    pub(super) fn new_ack_in_fast_recovery(&mut self, fast: FastRecovery, acked: u64) -> Effect {
        let newreno = self.algorithm == Recovery::NewReno;
        if newreno && self.una < fast.recovery_point {
            self.on_partial_ack(fast, acked);
            // Section 4: the "impatient" variant restarts the timer on the first partial ACK only.
            return Effect { restart: !fast.partial, grow: false };
        }
        self.recovery.clear();
        self.end_loss_accounting();
        if self.config.profile.cautious_exit && newreno {
            // Section 3.2, step 3, first option: no burst when little is in flight.
            let most = self.flight().max(self.mss) + self.mss;
            self.set_window(self.cwnd.min(most));
        }
        Effect { restart: true, grow: self.config.profile.grow_on_exit }
    }

    /// RFC 6582, section 3.2, step 3, partial acknowledgment.
    fn on_partial_ack(&mut self, fast: FastRecovery, acked: u64) {
        let refill = if acked >= self.mss { self.mss as i64 } else { 0 };
        // The inflated window deflates by the bytes acknowledged, at most to zero.
        let empty = -(self.cwnd as i64);
        let inflation = (fast.inflation - acked as i64).max(empty) + refill;
        self.recovery.set(RecoveryState::Fast(FastRecovery { inflation, partial: true, ..fast }));
        self.resend = true;
    }

    pub(super) fn next_in_fast_recovery(&mut self, now: Time, fast: FastRecovery) -> Option<Segment> {
        let len = self.new_data();
        let usable = self.cwnd.saturating_add_signed(fast.inflation).max(self.mss);
        let fits = len > 0 && self.nxt + len - self.una <= usable && !self.ecn.hold;
        fits.then(|| self.advance(now, len))
    }

    /// Bytes beyond the window that the first two duplicate ACKs allow (RFC 3042).
    pub(super) fn limited_transmit(&self) -> u64 {
        let allowed = match self.config.profile.limited_transmit {
            LimitedTransmit::NewData => self.nxt == self.max,
            LimitedTransmit::Next => true,
        };
        let early = allowed && self.dup_acks < DUP_THRESH;
        if early { u64::from(self.dup_acks) * self.mss } else { 0 }
    }
}
