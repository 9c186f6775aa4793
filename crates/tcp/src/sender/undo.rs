//! Undo of spurious reductions.
//!
//! RFC 4015: after a spurious timeout the window covers the outstanding data plus that of the ACK, and slow start
//! leads back to the previous window. After a spurious fast retransmit the previous window is restored.

use super::rack::NewlyDelivered;
use super::{Scheme, Sender};
use crate::cc::{CongestionControl, Curve};
use crate::opt_seq::OptSeq;
use crate::segment::Stamp;
use sojourn_units::{Bytes, Span, Time};

/// State to restore if a reduction proves spurious.
#[derive(Clone)]
pub(super) struct Undo {
    curve: Curve,
    /// `pipe_prev` (RFC 4015, section 3.1, step 0).
    threshold: u64,
    by_timeout: bool,
    /// `RetransmitTS` (RFC 3522, section 3.2, step 2).
    pub(super) stamp: RetransmitTs,
    /// SND.UNA at the start of recovery.
    pub(super) from: u64,
    /// Outstanding retransmissions of earlier recoveries at that time, segments: their D-SACKs cannot be told apart.
    earlier: u32,
    /// `earlier` plus the segments retransmitted since, less those that D-SACKs report as duplicate: at 0 nothing was
    /// lost. None before the first.
    pub(super) unnecessary: Option<u32>,
    /// Recovery ends when this is acknowledged; D-SACKs may follow for one more window.
    until: u64,
    recovered: bool,
    /// An ECN echo has arrived since.
    marked: bool,
}

/// `RetransmitTS` of RFC 3522: time of the first retransmission of the oldest outstanding segment.
#[derive(Clone, Copy, Debug)]
pub(super) enum RetransmitTs {
    /// Not retransmitted yet.
    Due,
    /// Retransmitted at this stamp or later, and no acceptable ACK has arrived since.
    Sent(Stamp),
    /// Void: the first acceptable ACK has arrived.
    Void,
}

impl RetransmitTs {
    /// Takes the stamp, which is valid for the first acceptable ACK only.
    pub(super) fn take(&mut self) -> Option<Stamp> {
        match std::mem::replace(self, RetransmitTs::Void) {
            RetransmitTs::Sent(stamp) => Some(stamp),
            RetransmitTs::Due | RetransmitTs::Void => None,
        }
    }
}

impl Sender {
    /// Saves the present state before a reduction.
    pub(super) fn save_for_undo(&mut self, by_timeout: bool) {
        if !self.config.profile.undo && !self.config.profile.frto {
            return;
        }
        let threshold = self.flight().max(self.cc.ssthresh().get());
        let stamp = match self.was_retransmitted() {
            true if self.timestamps => RetransmitTs::Sent(self.retransmit_ts),
            true => RetransmitTs::Void,
            false => RetransmitTs::Due,
        };
        self.undo.set(Undo {
            curve: self.cc.clone(),
            threshold,
            by_timeout,
            stamp,
            from: self.una,
            earlier: self.unexplained_retransmissions(),
            unnecessary: None,
            until: self.max,
            recovered: false,
            marked: false,
        });
    }

    /// Returns whether the oldest outstanding segment was already retransmitted: an earlier recovery may have
    /// retransmitted data beyond its own end. The ACK of that retransmission echoes a stamp from before this recovery.
    fn was_retransmitted(&self) -> bool {
        match self.scheme {
            Scheme::Rack => self.rack.was_retransmitted(self.una),
            _ => self.una < self.retransmitted_below,
        }
    }

    /// Undelivered retransmissions of earlier recoveries, segments; `u32::MAX` if they are not counted.
    fn unexplained_retransmissions(&self) -> u32 {
        match self.scheme {
            Scheme::Rack => self.rack.outstanding_retransmissions() as u32,
            _ if self.una < self.retransmitted_below => u32::MAX,
            _ => 0,
        }
    }

    /// Drops the saved state one window after recovery, when no D-SACK can refer to it.
    pub(super) fn expire_undo(&mut self) {
        let una = self.una;
        // Data that the present ACK allows is not yet among the data sent.
        let next = self.max + self.cwnd;
        let Some(undo) = self.undo.get_mut().filter(|undo| una >= undo.until) else { return };
        if undo.recovered {
            self.undo.clear();
        } else {
            (undo.recovered, undo.until) = (true, next);
        }
    }

    /// Records the retransmission of the segment from `seq` to `end`.
    ///
    /// `RetransmitTS` applies to the oldest outstanding segment only (RFC 3522, section 3.2).
    pub(super) fn on_retransmit(&mut self, now: Time, seq: u64, end: u64) {
        let alone = match self.scheme {
            Scheme::Rack => self.rack.outstanding_retransmissions() <= 1,
            _ => self.una >= self.retransmitted_below,
        };
        if alone {
            self.retransmit_ts = Stamp::at(now);
        }
        self.retransmitted_below = self.retransmitted_below.max(end);
        let stamped = self.timestamps;
        let Some(undo) = self.undo.get_mut() else { return };
        if matches!(undo.stamp, RetransmitTs::Due) {
            let oldest = stamped && seq == undo.from;
            undo.stamp = if oldest { RetransmitTs::Sent(Stamp::at(now)) } else { RetransmitTs::Void };
        }
        undo.unnecessary = Some(undo.unnecessary.unwrap_or(undo.earlier).saturating_add(1));
    }

    /// Keeps the reduction, as the receiver echoes congestion (RFC 4015, section 3.4).
    pub(super) fn forbid_undo(&mut self) {
        if let Some(undo) = self.undo.get_mut() {
            undo.marked = true;
        }
    }

    /// Undoes the last reduction (RFC 4015, section 3.1, steps 8 to 11).
    ///
    /// The window stays reduced if an ECN mark required it as well (section 3.4).
    pub(super) fn undo_reduction(&mut self, now: Time, acked: u64, newly: &NewlyDelivered) {
        self.frto = None;
        self.resend = false;
        self.recovery.clear();
        self.recovery_point = OptSeq::NONE;
        self.timed_out_at = OptSeq::NONE;
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.nxt = self.max;
        self.rack.clear_losses(self.una, newly);
        self.cancel_loss_accounting();
        let Some(undo) = self.undo.take().filter(|undo| !undo.marked) else { return };
        let before = undo.curve.window().get();
        self.cc = undo.curve;
        if undo.by_timeout {
            let initial = self.config.profile.initial_window.saturating_mul(self.mss);
            self.cc.set_window(Bytes::new(self.flight() + acked.min(initial)));
            self.cc.set_ssthresh(Bytes::new(undo.threshold));
            self.spurious_timeout_end = OptSeq::some(self.max);
        } else {
            self.cc.set_window(Bytes::new(before.max(self.cwnd)));
        }
        self.cwnd = self.cc.window().get();
        self.restart_timer(now);
    }

    /// Widens the timeout by the first sample from data sent after a spurious timeout (step 11).
    pub(super) fn adapt_rto_after_spurious(&mut self, ack: u64, sample: Span) {
        if self.spurious_timeout_end.get().is_some_and(|end| ack > end) {
            self.spurious_timeout_end = OptSeq::NONE;
            self.rtt.widen(&self.config.profile, sample);
        }
    }
}
