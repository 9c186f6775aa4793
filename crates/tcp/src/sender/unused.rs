//! Windows that are not used: RFC 5681, section 4.1, and RFC 7661.
//!
//! A window that was not filled says nothing of the network, and an old one
//! little. `Restart` takes it back to the initial window after an idle timeout.
//! `Validate` compares it with `pipeACK`, the most that was acknowledged in a
//! round trip lately: below half of it the window is not validated, grows only
//! while it is full, and is cut by what was really used when something is lost.

use super::Sender;
use crate::cc::CongestionControl;
use crate::profile::UnusedWindow;
use sojourn_units::{Bytes, Span, Time};

/// `pipeACK` and its phase (RFC 7661, section 4).
#[derive(Clone, Debug, Default)]
pub(super) struct PipeAck {
    /// The sample in progress: when it began, and what was acknowledged then.
    began: Option<(Time, u64)>,
    /// The greatest sample of each part of the sampling period, and when the part began; the present one first.
    parts: [(u64, Time); PARTS],
    /// When the window ceased to be validated.
    unvalidated: Option<Time>,
    /// `LossFlightSize`, and what was sent again since, in recovery from an unvalidated window.
    loss: Option<(u64, u64)>,
}

impl PipeAck {
    /// Section 4.2: one sample a round trip, the greatest of the last `max(3 RTT, 1 s)`.
    fn sample(&mut self, now: Time, una: u64, rtt: Span) {
        let Some((began, base)) = self.began else {
            self.began = Some((now, una));
            return;
        };
        if now.since(began) < rtt {
            return;
        }
        self.began = Some((now, una));
        let part = Span::from_nanos((rtt * 3).max(LEAST_PERIOD).nanos() / PARTS as u64);
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

    /// None: undefined.
    fn value(&self) -> Option<u64> {
        self.parts.iter().map(|part| part.0).max().filter(|most| *most > 0)
    }

    /// Section 4.4.1, its end: undefined again.
    fn forget(&mut self) {
        *self = PipeAck::default();
    }
}

impl Sender {
    /// Whether an ACK may let the window grow; `before` bytes were outstanding.
    pub(super) fn window_is_used(&self, before: u64) -> bool {
        let full = before + self.mss > self.window;
        match self.config.profile.unused_window {
            UnusedWindow::Keep => true,
            UnusedWindow::Restart => full || (self.in_slow_start() && 2 * before > self.window),
            UnusedWindow::Validate => {
                full || self.usage.as_ref().is_none_or(|usage| usage.unvalidated.is_none())
            }
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.cc.ssthresh().get()
    }

    /// An ACK of new data, outside recovery.
    pub(super) fn note_usage(&mut self, now: Time) {
        let Some(usage) = &mut self.usage else { return };
        let rtt = self.rtt.smoothed_s().map_or(LEAST_PERIOD, Span::from_seconds);
        usage.sample(now, self.una, rtt);
        let used = usage.value().is_none_or(|pipe| pipe >= self.window / 2);
        usage.unvalidated = if used { None } else { usage.unvalidated.or(Some(now)) };
    }

    /// Before new data is sent.
    #[inline]
    pub(super) fn look_at_window(&mut self, now: Time) {
        // With data outstanding the window is in use; only one that is watched may be too wide all the same.
        if self.una == self.max || self.usage.is_some() {
            self.narrow_unused(now);
        }
    }

    #[cold]
    fn narrow_unused(&mut self, now: Time) {
        match self.config.profile.unused_window {
            UnusedWindow::Keep => {}
            UnusedWindow::Restart => {
                if self.una == self.max && self.max > 0 && now.since(self.last_sent) > self.rtt.timeout() {
                    let initial = self.config.profile.initial_window.saturating_mul(self.mss);
                    self.set_window(self.window.min(initial));
                }
            }
            UnusedWindow::Validate => self.leave_unvalidated(now),
        }
    }

    /// Section 4.4.3, for each non-validated period that has passed.
    fn leave_unvalidated(&mut self, now: Time) {
        while let Some(since) = self.usage.as_ref().and_then(|usage| usage.unvalidated)
            && now.since(since) >= NON_VALIDATED_PERIOD
        {
            let initial = self.config.profile.initial_window.saturating_mul(self.mss);
            let ssthresh = self.cc.ssthresh().get().max(self.window / 4 * 3);
            self.cc.set_ssthresh(Bytes::new(ssthresh));
            self.set_window(self.window.min((self.window / 2).max(initial)));
            if let Some(usage) = &mut self.usage {
                usage.unvalidated = Some(since + NON_VALIDATED_PERIOD);
            }
        }
    }

    /// Section 4.4.1: congestion in an unvalidated window of which `flight` bytes were in use; what is taken for used.
    pub(super) fn cut_unvalidated(&mut self, flight: u64) -> Option<u64> {
        let usage = self.usage.as_ref().filter(|usage| usage.unvalidated.is_some())?;
        let used = usage.value().unwrap_or(0).max(flight);
        self.set_window((used / 2).max(self.mss));
        Some(used)
    }

    /// The end of recovery will take what is sent again until then off the `used` bytes.
    pub(super) fn await_repair(&mut self, used: u64) {
        if let Some(usage) = &mut self.usage {
            usage.loss = Some((used, 0));
        }
    }

    pub(super) fn note_repaired(&mut self, len: u64) {
        if let Some((_, repaired)) = self.usage.as_mut().and_then(|usage| usage.loss.as_mut()) {
            *repaired += len;
        }
    }

    /// What was used until now says nothing any more.
    pub(super) fn forget_usage(&mut self) {
        if let Some(usage) = &mut self.usage {
            usage.forget();
        }
    }

    /// Nothing was lost.
    pub(super) fn forget_repair(&mut self) {
        if let Some(usage) = &mut self.usage {
            usage.loss = None;
        }
    }

    /// Section 4.4.1, at the end of recovery.
    pub(super) fn settle_after_recovery(&mut self) {
        let Some(usage) = &mut self.usage else { return };
        let loss = usage.loss;
        usage.forget();
        if let Some((used, repaired)) = loss {
            self.set_window((used.saturating_sub(repaired) / 2).max(self.mss));
            self.cc.set_ssthresh(Bytes::new(self.window));
        }
    }
}

/// Parts of the sampling period (section 4.5.1).
const PARTS: usize = 5;
/// The sampling period's least length (section 4.2).
const LEAST_PERIOD: Span = Span::from_secs(1);
/// How long an unused window is kept (section 4.4).
const NON_VALIDATED_PERIOD: Span = Span::from_secs(300);
