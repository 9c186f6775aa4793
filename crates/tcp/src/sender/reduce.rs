//! Answers to congestion.
//!
//! A loss, a timeout and an echo each reduce the window, once for a window of
//! data, whichever comes first (RFC 5681, sections 3.1 and 3.2; RFC 3168, section
//! 6.1.2). All reductions are here, since each must leave the same behind: that
//! CWR is due, and what to go back to should it prove wrong.

use super::{Repair, Scheme, Sender};
use crate::cc::{CongestionControl, Signal};
use crate::mark::Mark;
use crate::profile::Halving;
use sojourn_units::{Bytes, Time};

impl Sender {
    /// Something was lost, and is sent again next.
    pub(super) fn reduce_for_loss(&mut self) {
        self.answer_loss();
        self.loss_point = Mark::at(self.max);
        self.resend = true;
        self.timed = Mark::NONE;
    }

    /// Something was lost.
    pub(super) fn answer_loss(&mut self) {
        // A window that ECN has reduced already is not reduced again for a loss in it. The segment
        // that starts at the point carries CWR: its loss is a new instance (RFC 3168, section 6.1.2).
        if self.ecn.point.get().is_some_and(|point| self.una < point) {
            self.undo.clear();
            return;
        }
        self.save_for_undo(false);
        let flight = self.flight_at_loss();
        self.tell(&Signal::Loss { flight });
        if let Some(used) = self.cut_unvalidated(flight) {
            self.await_repair(used);
        }
        self.note_reduction();
    }

    /// What a loss is answered from, bytes.
    fn flight_at_loss(&self) -> u64 {
        match self.scheme {
            Scheme::Selective if self.halves_pipe() => self.unrepaired_pipe(),
            // RFC 5681, section 3.2, step 2: without what limited transmit sent.
            Scheme::Fast | Scheme::Selective | Scheme::Counted => self.used_window(self.beyond_window),
            Scheme::Rack => self.used_window(0),
        }
    }

    /// FlightSize less `extra` bytes, at most the window: a reduction starts from no more than was allowed.
    ///
    /// FlightSize counts what was sent and not cumulatively acknowledged (RFC 5681, section 2), and so also what was
    /// SACKed above a hole: when one recovery follows another that is more than the network holds. Equation (4) is an
    /// upper bound, and RFC 9438, section 4.6 speaks of data "in the network". ns-3 goes by what is in flight alone.
    fn used_window(&self, extra: u64) -> u64 {
        let flight = self.flight() - extra;
        let as_ns3 = self.scheme == Scheme::Selective && self.config.profile.halving == Halving::Pipe;
        if as_ns3 && self.repair.is_none() { flight } else { flight.min(self.window) }
    }

    /// A retransmission that went out at `sent` was lost: once more, for all of those that the last answer let out
    /// (RFC 5681, section 4.3). Proportional rate reduction is an answer already (RFC 8985, section 9.3).
    pub(super) fn answer_lost_retransmission(&mut self, now: Time, sent: Time) {
        let Some(Repair::Rack(rack)) = self.repair.get_mut() else { return };
        if rack.prr.is_some() || sent < rack.answered {
            return;
        }
        rack.answered = now;
        self.undo.clear();
        self.tell(&Signal::Loss { flight: self.used_window(0) });
        self.note_reduction();
    }

    /// Nothing was acknowledged for too long.
    pub(super) fn answer_timeout(&mut self) {
        let marked = self.ecn.point.get().is_some_and(|point| self.una < point) && !self.ecn.timeout_last;
        let again = self.timed_out_at == Mark::at(self.una);
        if self.repair.is_some() || marked {
            // Nothing may be taken back any more.
            self.undo.clear();
        } else if !again {
            self.save_for_undo(true);
        }
        // RFC 5681, equation (4), says "no more than". A retransmission that is lost stops the ACKs, not the duplicates, and
        // for each of them a new segment was sent; when recovery has ended, what lies beyond it may be SACKed. What a
        // timeout takes for lost, though, was under way.
        let lost_by_timeout = self.repair.is_none() && !self.loss_point.is_none();
        let flight = if lost_by_timeout { self.flight() } else { self.used_window(0) };
        let again = again && self.config.profile.halving != Halving::Window;
        self.tell(&Signal::Timeout { flight, again: again || marked });
        self.forget_usage();
        self.note_reduction();
        self.ecn.timeout_last = true;
    }

    /// The receiver echoes congestion.
    pub(super) fn answer_echo(&mut self) {
        let flight = self.used_window(0);
        self.tell(&Signal::EcnEcho { flight });
        if self.cut_unvalidated(flight).is_some() {
            // Nothing is to be repaired.
            self.forget_usage();
            self.cc.set_ssthresh(Bytes::new(self.window));
        }
        self.ecn.point = Mark::at(self.max);
        self.note_reduction();
    }

    fn note_reduction(&mut self) {
        self.ecn.cwr_due = self.ecn.agreed;
        self.ecn.timeout_last = false;
    }
}
