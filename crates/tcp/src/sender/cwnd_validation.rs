//! Congestion window validation: RFC 5681, section 4.1, and RFC 7661.
//!
//! An unused window carries little information on the network, and so does an old one. `Restart` returns to the
//! initial window after an idle RTO. `Validate` compares the window with `pipeACK`, the most that was acknowledged in
//! a recent round trip: below half of the window it is not validated, grows only while it is full, and a loss halves it
//! from the part in use.

use super::Sender;
use crate::cc::CongestionControl;
use crate::profile::UnusedWindow;
use sojourn_units::{Bytes, Span, Time};

/// `pipeACK` and the phase (RFC 7661, section 4).
#[derive(Clone, Debug, Default)]
pub(super) struct PipeAck {
    /// Start of the sample in progress, and SND.UNA then.
    began: Option<(Time, u64)>,
    /// Greatest sample of each part of the sampling period, and start of the part; the present one first.
    parts: [(u64, Time); PARTS],
    /// Start of the non-validated phase.
    unvalidated: Option<Time>,
    /// `LossFlightSize`, and the bytes retransmitted since, in recovery from a non-validated window.
    loss: Option<(u64, u64)>,
}

impl PipeAck {
    /// Takes one sample a round trip, and keeps the greatest of the last `max(3 RTT, 1 s)` (section 4.2).
    fn sample(&mut self, now: Time, una: u64, rtt: Span) {
        let Some((began, base)) = self.began else {
            self.began = Some((now, una));
            return;
        };
        if now.since(began) < rtt {
            return;
        }
        self.began = Some((now, una));
        let part = Span::from_nanos((rtt * 3).max(MIN_PERIOD).nanos() / PARTS as u64);
        if now.since(self.parts[0].1) >= part {
            self.parts.rotate_right(1);
            self.parts[0] = (0, now);
        }
        self.parts[0].0 = self.parts[0].0.max(una - base);
        let oldest = part * (PARTS as u64);
        for old in &mut self.parts[1..] {
            if now.since(old.1) > oldest {
                *old = (0, old.1);
            }
        }
    }

    /// `pipeACK`; None: undefined.
    fn value(&self) -> Option<u64> {
        self.parts.iter().map(|part| part.0).max().filter(|most| *most > 0)
    }

    /// Makes `pipeACK` undefined again (section 4.4.1, end).
    fn forget(&mut self) {
        *self = PipeAck::default();
    }
}

impl Sender {
    pub(super) fn pipe_ack(&self) -> Option<&PipeAck> {
        self.rare.as_ref()?.pipe_ack.as_ref()
    }

    fn pipe_ack_mut(&mut self) -> Option<&mut PipeAck> {
        self.rare.as_mut()?.pipe_ack.as_mut()
    }

    /// Returns whether an ACK may grow the window; `before`: FlightSize before it, bytes.
    pub(super) fn is_cwnd_limited(&self, before: u64) -> bool {
        let full = before + self.mss > self.cwnd;
        match self.config.profile.unused_window {
            UnusedWindow::Keep => true,
            UnusedWindow::Restart => full || (self.in_slow_start() && 2 * before > self.cwnd),
            UnusedWindow::Validate => {
                full || self.pipe_ack().is_none_or(|pipe_ack| pipe_ack.unvalidated.is_none())
            }
        }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.cc.ssthresh().get()
    }

    /// Samples `pipeACK` on an ACK of new data outside recovery.
    pub(super) fn sample_pipe_ack(&mut self, now: Time) {
        let Some(pipe_ack) = self.rare.as_mut().and_then(|rare| rare.pipe_ack.as_mut()) else { return };
        let rtt = self.rtt.smoothed_s().map_or(MIN_PERIOD, Span::from_seconds);
        pipe_ack.sample(now, self.una, rtt);
        let used = pipe_ack.value().is_none_or(|pipe| pipe >= self.cwnd / 2);
        pipe_ack.unvalidated = if used { None } else { pipe_ack.unvalidated.or(Some(now)) };
    }

    /// Reduces an unused window before new data is sent.
    #[inline]
    pub(super) fn validate_cwnd(&mut self, now: Time) {
        // With data in flight the window is in use, and only `Validate` may find it too wide.
        if self.una == self.max || self.pipe_ack().is_some() {
            self.reduce_unused(now);
        }
    }

    #[cold]
    fn reduce_unused(&mut self, now: Time) {
        match self.config.profile.unused_window {
            UnusedWindow::Keep => {}
            UnusedWindow::Restart => {
                if self.una == self.max && self.max > 0 && now.since(self.last_sent) > self.rtt.timeout() {
                    let initial = self.config.profile.initial_window.saturating_mul(self.mss);
                    self.set_window(self.cwnd.min(initial));
                }
            }
            UnusedWindow::Validate => self.end_non_validated_periods(now),
        }
    }

    /// Applies section 4.4.3 for each non-validated period that has passed.
    fn end_non_validated_periods(&mut self, now: Time) {
        while let Some(since) = self.pipe_ack().and_then(|pipe_ack| pipe_ack.unvalidated)
            && now.since(since) >= NON_VALIDATED_PERIOD
        {
            let initial = self.config.profile.initial_window.saturating_mul(self.mss);
            let ssthresh = self.cc.ssthresh().get().max(self.cwnd / 4 * 3);
            self.cc.set_ssthresh(Bytes::new(ssthresh));
            self.set_window(self.cwnd.min((self.cwnd / 2).max(initial)));
            if let Some(pipe_ack) = self.pipe_ack_mut() {
                pipe_ack.unvalidated = Some(since + NON_VALIDATED_PERIOD);
            }
        }
    }

    /// Reduces a non-validated window on congestion with `flight` bytes outstanding (section 4.4.1), returning the
    /// bytes taken as used.
    pub(super) fn reduce_unvalidated(&mut self, flight: u64) -> Option<u64> {
        let pipe_ack = self.pipe_ack().filter(|pipe_ack| pipe_ack.unvalidated.is_some())?;
        let used = pipe_ack.value().unwrap_or(0).max(flight);
        self.set_window((used / 2).max(self.mss));
        Some(used)
    }

    /// Starts to count retransmitted bytes, which the end of recovery subtracts from `used`.
    pub(super) fn start_loss_accounting(&mut self, used: u64) {
        if let Some(pipe_ack) = self.pipe_ack_mut() {
            pipe_ack.loss = Some((used, 0));
        }
    }

    pub(super) fn count_retransmitted(&mut self, len: u64) {
        if let Some((_, repaired)) = self.pipe_ack_mut().and_then(|pipe_ack| pipe_ack.loss.as_mut()) {
            *repaired += len;
        }
    }

    /// Discards the samples of `pipeACK`.
    pub(super) fn reset_pipe_ack(&mut self) {
        if let Some(pipe_ack) = self.pipe_ack_mut() {
            pipe_ack.forget();
        }
    }

    /// Cancels the count: nothing was lost.
    pub(super) fn cancel_loss_accounting(&mut self) {
        if let Some(pipe_ack) = self.pipe_ack_mut() {
            pipe_ack.loss = None;
        }
    }

    /// Sets the window at the end of recovery (section 4.4.1).
    pub(super) fn end_loss_accounting(&mut self) {
        let Some(pipe_ack) = self.rare.as_mut().and_then(|rare| rare.pipe_ack.as_mut()) else { return };
        let loss = pipe_ack.loss;
        pipe_ack.forget();
        if let Some((used, repaired)) = loss {
            self.set_window((used.saturating_sub(repaired) / 2).max(self.mss));
            self.cc.set_ssthresh(Bytes::new(self.cwnd));
        }
    }
}

/// Parts of the sampling period (section 4.5.1).
const PARTS: usize = 5;
/// The sampling period's least length (section 4.2).
const MIN_PERIOD: Span = Span::from_secs(1);
/// Non-validated period (section 4.4).
const NON_VALIDATED_PERIOD: Span = Span::from_secs(300);
