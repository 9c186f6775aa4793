//! Reductions of the congestion window.
//!
//! A loss, a timeout and an ECN echo each reduce the window, once per window of data, whichever comes first (RFC 5681,
//! sections 3.1 and 3.2; RFC 3168, section 6.1.2). All reductions are here, since each must record the same: that CWR
//! is due, and the state to restore if it proves spurious.

use super::{RecoveryState, Scheme, Sender};
use crate::cc::{CongestionControl, Signal};
use crate::opt_seq::OptSeq;
use crate::profile::Halving;
use sojourn_units::{Bytes, Time};

impl Sender {
    /// Reduces the window for a loss, and schedules its retransmission.
    pub(super) fn enter_loss_recovery(&mut self) {
        self.reduce_cwnd_for_loss();
        self.recovery_point = OptSeq::some(self.max);
        self.resend = true;
        self.timed = OptSeq::NONE;
    }

    /// Reduces the window for a loss.
    pub(super) fn reduce_cwnd_for_loss(&mut self) {
        // A window already reduced by ECN is not reduced again for a loss in it. The segment that starts at the point
        // carries CWR: its loss is a new instance (RFC 3168, section 6.1.2).
        if self.ecn.point.get().is_some_and(|point| self.una < point) {
            self.undo.clear();
            return;
        }
        self.save_for_undo(false);
        let flight = self.flight_at_loss();
        self.signal(&Signal::Loss { flight });
        if let Some(used) = self.reduce_unvalidated(flight) {
            self.start_loss_accounting(used);
        }
        self.after_reduction();
    }

    /// FlightSize for the reduction at a loss, bytes.
    fn flight_at_loss(&self) -> u64 {
        match self.scheme {
            Scheme::Selective if self.halves_pipe() => self.pipe_before_retransmission(),
            // RFC 5681, section 3.2, step 2: excluding data sent by limited transmit.
            Scheme::Fast | Scheme::Selective | Scheme::Counted => self.flight_in_cwnd(self.beyond_window),
            Scheme::Rack => self.flight_in_cwnd(0),
        }
    }

    /// FlightSize less `extra` bytes, at most the window: a reduction starts from no more than was allowed.
    ///
    /// FlightSize counts data not cumulatively acknowledged (RFC 5681, section 2), and so also data SACKed above a
    /// hole: when one recovery follows another, that is more than the network holds. Equation (4) is an upper bound,
    /// and RFC 9438, section 4.6 refers to data "in the network". ns-3 uses the data in flight alone.
    fn flight_in_cwnd(&self, extra: u64) -> u64 {
        let flight = self.flight() - extra;
        let as_ns3 = self.scheme == Scheme::Selective && self.config.profile.halving == Halving::Pipe;
        if as_ns3 && self.recovery.is_none() { flight } else { flight.min(self.cwnd) }
    }

    /// Reduces the window again for the loss of a retransmission sent at `sent`, once for all retransmissions since
    /// the last reduction (RFC 5681, section 4.3). With PRR the reduction is in progress already (RFC 8985, section
    /// 9.3).
    pub(super) fn reduce_for_lost_retransmission(&mut self, now: Time, sent: Time) {
        let Some(RecoveryState::Rack(rack)) = self.recovery.get_mut() else { return };
        if rack.prr.is_some() || sent < rack.reduced_at {
            return;
        }
        rack.reduced_at = now;
        self.undo.clear();
        self.signal(&Signal::Loss { flight: self.flight_in_cwnd(0) });
        self.after_reduction();
    }

    /// Reduces the window for a retransmission timeout.
    pub(super) fn reduce_for_timeout(&mut self) {
        let marked = self.ecn.point.get().is_some_and(|point| self.una < point) && !self.ecn.timeout_last;
        let repeated = self.timed_out_at == OptSeq::some(self.una);
        if self.recovery.is_some() || marked {
            // No undo from here on.
            self.undo.clear();
        } else if !repeated {
            self.save_for_undo(true);
        }
        // RFC 5681, equation (4), says "no more than". A lost retransmission stops the ACKs, but not the duplicates,
        // each of which let a new segment out; after recovery, data beyond it may be SACKed. Data that a timeout marks
        // as lost was in flight, however.
        let lost_by_timeout = self.recovery.is_none() && !self.recovery_point.is_none();
        let flight = if lost_by_timeout { self.flight() } else { self.flight_in_cwnd(0) };
        let repeated = repeated && self.config.profile.halving != Halving::Window;
        self.signal(&Signal::Timeout { flight, again: repeated || marked });
        self.reset_pipe_ack();
        self.after_reduction();
        self.ecn.timeout_last = true;
    }

    /// Reduces the window for an ECN echo.
    pub(super) fn reduce_for_ecn(&mut self) {
        let flight = self.flight_in_cwnd(0);
        self.signal(&Signal::EcnEcho { flight });
        if self.reduce_unvalidated(flight).is_some() {
            // There is nothing to retransmit.
            self.reset_pipe_ack();
            self.cc.set_ssthresh(Bytes::new(self.cwnd));
        }
        self.ecn.point = OptSeq::some(self.max);
        self.after_reduction();
    }

    fn after_reduction(&mut self) {
        self.ecn.cwr_due = self.ecn.agreed;
        self.ecn.timeout_last = false;
    }
}
