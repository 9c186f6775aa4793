//! Taking the answer to a loss back that was none.
//!
//! RFC 4015: after a spurious timeout the window covers what is outstanding and the
//! ACK's worth more, and slow start leads to where it was. After a spurious fast
//! retransmit the window is what it was.

use super::rack::Heard;
use super::{Scheme, Sender};
use crate::cc::{CongestionControl, Curve};
use crate::mark::Mark;
use crate::segment::Stamp;
use sojourn_units::{Bytes, Span, Time};

/// What a reduction of the window may have to be taken back to.
#[derive(Clone)]
pub(super) struct Undo {
    curve: Curve,
    /// `pipe_prev` (RFC 4015, section 3.1, step 0).
    threshold: u64,
    by_timeout: bool,
    /// `RetransmitTS` (RFC 3522, section 3.2, step 2).
    pub(super) stamp: RetransmitTs,
    /// Where recovery began: what was acknowledged.
    pub(super) from: u64,
    /// Retransmissions of earlier recoveries that were outstanding then, segments: their D-SACKs cannot be told apart.
    earlier: u32,
    /// Those and the segments sent again since, less those that D-SACKs show as duplicates: nothing was lost when it comes
    /// to 0. None before the first.
    pub(super) unnecessary: Option<u32>,
    /// When this is acknowledged, recovery is over; D-SACKs may come for a window more.
    until: u64,
    recovered: bool,
    /// Whether congestion was echoed since.
    marked: bool,
}

/// `RetransmitTS` of RFC 3522: when the oldest outstanding segment was sent again first.
#[derive(Clone, Copy, Debug)]
pub(super) enum RetransmitTs {
    /// It was sent once, and will be sent again.
    Due,
    /// Then or later, and no acceptable ACK has come since.
    Sent(Stamp),
    /// Says nothing any more: the first acceptable ACK has come.
    Void,
}

impl RetransmitTs {
    /// The stamp, for the first acceptable ACK alone.
    pub(super) fn take(&mut self) -> Option<Stamp> {
        match std::mem::replace(self, RetransmitTs::Void) {
            RetransmitTs::Sent(stamp) => Some(stamp),
            RetransmitTs::Due | RetransmitTs::Void => None,
        }
    }
}

impl Sender {
    /// Keeps what stands now, in case the reduction that follows proves wrong.
    pub(super) fn save_for_undo(&mut self, by_timeout: bool) {
        if !self.config.profile.undo && !self.config.profile.frto {
            return;
        }
        let threshold = self.flight().max(self.cc.ssthresh().get());
        let stamp = match self.was_sent_again() {
            true if self.timestamps => RetransmitTs::Sent(self.sent_again_at),
            true => RetransmitTs::Void,
            false => RetransmitTs::Due,
        };
        self.undo.set(Undo {
            curve: self.cc.clone(),
            threshold,
            by_timeout,
            stamp,
            from: self.una,
            earlier: self.retransmissions_outstanding(),
            unnecessary: None,
            until: self.max,
            recovered: false,
            marked: false,
        });
    }

    /// Whether the oldest outstanding segment has been sent again: an earlier recovery may have sent again what lies
    /// beyond its own end. The ACK of that retransmission echoes a stamp from before this recovery.
    fn was_sent_again(&self) -> bool {
        match self.scheme {
            Scheme::Rack => self.rack.was_sent_again(self.una),
            _ => self.una < self.resent_below,
        }
    }

    /// Segments sent again by earlier recoveries that have not arrived; more than there can be where nobody counts them.
    fn retransmissions_outstanding(&self) -> u32 {
        match self.scheme {
            Scheme::Rack => self.rack.pieces_sent_again() as u32,
            _ if self.una < self.resent_below => u32::MAX,
            _ => 0,
        }
    }

    /// A window after recovery no D-SACK speaks of it.
    pub(super) fn expire_undo(&mut self) {
        let una = self.una;
        // What the ACK at hand lets out is not yet among what was sent.
        let next = self.max + self.window;
        let Some(undo) = self.undo.get_mut().filter(|undo| una >= undo.until) else { return };
        if undo.recovered {
            self.undo.clear();
        } else {
            (undo.recovered, undo.until) = (true, next);
        }
    }

    /// The segment at `seq`, up to `end`, is sent again.
    ///
    /// `RetransmitTS` is that of the oldest outstanding segment and of no other (RFC 3522, section 3.2).
    pub(super) fn note_sent_again(&mut self, now: Time, seq: u64, end: u64) {
        let alone = match self.scheme {
            Scheme::Rack => self.rack.pieces_sent_again() <= 1,
            _ => self.una >= self.resent_below,
        };
        if alone {
            self.sent_again_at = Stamp::at(now);
        }
        self.resent_below = self.resent_below.max(end);
        let stamped = self.timestamps;
        let Some(undo) = self.undo.get_mut() else { return };
        if matches!(undo.stamp, RetransmitTs::Due) {
            let oldest = stamped && seq == undo.from;
            undo.stamp = if oldest { RetransmitTs::Sent(Stamp::at(now)) } else { RetransmitTs::Void };
        }
        undo.unnecessary = Some(undo.unnecessary.unwrap_or(undo.earlier).saturating_add(1));
    }

    /// The receiver echoes congestion: what was reduced stays so (RFC 4015, section 3.4).
    pub(super) fn keep_reduction(&mut self) {
        if let Some(undo) = self.undo.get_mut() {
            undo.marked = true;
        }
    }

    /// RFC 4015, section 3.1, steps 8 to 11.
    ///
    /// The window stays where a mark has asked for it, too (section 3.4).
    pub(super) fn take_back(&mut self, now: Time, acked: u64, heard: &Heard) {
        self.frto = None;
        self.resend = false;
        self.repair.clear();
        self.loss_point = Mark::NONE;
        self.timed_out_at = Mark::NONE;
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.nxt = self.max;
        self.rack.forget_losses(self.una, heard);
        self.forget_repair();
        let Some(undo) = self.undo.take().filter(|undo| !undo.marked) else { return };
        let before = undo.curve.window().get();
        self.cc = undo.curve;
        if undo.by_timeout {
            let initial = self.config.profile.initial_window.saturating_mul(self.mss);
            self.cc.set_window(Bytes::new(self.flight() + acked.min(initial)));
            self.cc.set_ssthresh(Bytes::new(undo.threshold));
            self.rtt_after_spike = Mark::at(self.max);
        } else {
            self.cc.set_window(Bytes::new(before.max(self.window)));
        }
        self.window = self.cc.window().get();
        self.restart_timer(now);
    }

    /// Step 11: the first sample from data sent after a spurious timeout widens the timer.
    pub(super) fn adapt_after_spike(&mut self, ack: u64, sample: Span) {
        if self.rtt_after_spike.get().is_some_and(|end| ack > end) {
            self.rtt_after_spike = Mark::NONE;
            self.rtt.widen(&self.config.profile, sample);
        }
    }
}
