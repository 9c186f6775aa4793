//! Tail loss probes: RFC 8985, section 7.
//!
//! No ACK reports the loss of the last segments of a flight. Two round trips after them one more segment is sent: its
//! ACK shows RACK what is missing, long before the retransmission timeout.

use super::Sender;
use crate::opt_seq::OptSeq;
use crate::segment::Segment;
use sojourn_units::{Span, Time};

/// State of the loss probe (section 5.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// `TLP.end_seq`: end of the data outstanding when the probe was sent.
    end_seq: OptSeq,
    /// `TLP.is_retrans`: the probe was a retransmission.
    is_retrans: bool,
    /// The round-trip time was sampled since the last probe.
    measured: bool,
    /// The probe is to be sent next.
    pub(super) due: bool,
}

impl Probe {
    /// Resets the state (section 7.1).
    pub(super) fn forget(&mut self) {
        self.end_seq = OptSeq::NONE;
        self.is_retrans = false;
        self.due = false;
    }

    pub(super) fn measured(&mut self) {
        self.measured = true;
    }
}

impl Sender {
    /// Schedules the probe after new data was sent or acknowledged (section 7.2); cancels it in recovery.
    pub(super) fn arm_probe(&mut self, now: Time, news: bool) {
        if !self.probes || self.una == self.max || !self.has_no_loss() || !self.recovery_point.is_none() {
            self.timers.probe = Time::NEVER;
        } else if news && self.probe.end_seq.is_none() {
            self.timers.probe = (now + self.probe_timeout()).min(self.timers.retransmit);
        }
    }

    /// `TLP_calc_PTO`; assumes that the receiver delays its ACKs as our own would.
    fn probe_timeout(&self) -> Span {
        let Some(smoothed) = self.rtt.smoothed_s() else { return WITHOUT_MEASUREMENT };
        let delay = if self.flight() <= self.mss { self.config.profile.ack_delay } else { Span::ZERO };
        Span::from_seconds(2.0 * smoothed) + delay
    }

    /// Handles expiry of the probe timer (section 7.3).
    pub(super) fn probe_timed_out(&mut self, now: Time) {
        self.probe.due = self.probe.end_seq.is_none() && self.probe.measured;
        self.timers.retransmit = now + self.rtt.timeout();
    }

    /// `TLP_send_probe`.
    pub(super) fn send_probe(&mut self, now: Time) -> Option<Segment> {
        self.probe.due = false;
        if self.una == self.max || !self.has_no_loss() {
            return None;
        }
        let len = self.new_data();
        self.probe.is_retrans = len == 0;
        let segment = if len > 0 {
            self.advance(now, len)
        } else {
            let from = self.last_segment.max(self.una);
            self.resend(now, from, self.max - from)
        };
        self.probe.end_seq = OptSeq::some(self.max);
        self.probe.measured = false;
        self.timers.probe = Time::NEVER;
        self.timers.retransmit = now + self.rtt.timeout();
        Some(segment)
    }

    /// `TLP_process_ack` (section 7.4.2); `twice`: data reported as duplicate.
    pub(super) fn on_ack_of_probe(&mut self, segment: &Segment, twice: Option<(u64, u64)>, duplicate: bool) {
        let Some(end) = self.probe.end_seq.get().filter(|end| segment.ack >= *end) else { return };
        let bare = segment.sack.iter(segment.ack).next().is_none();
        if !self.probe.is_retrans || twice.is_some_and(|(_, to)| to == end) {
            self.probe.end_seq = OptSeq::NONE;
        } else if segment.ack > end {
            // The probe has repaired the only loss, which is answered like any other.
            self.probe.end_seq = OptSeq::NONE;
            self.reduce_cwnd_for_loss();
        } else if bare && duplicate {
            self.probe.end_seq = OptSeq::NONE;
        }
    }
}

/// Probe timeout before the first RTT sample (section 7.2).
const WITHOUT_MEASUREMENT: Span = Span::from_secs(1);
