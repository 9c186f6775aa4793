//! Tail loss probes: RFC 8985, section 7.
//!
//! When the last segments of a flight are lost, no ACK says so. Two round trips
//! after them one segment more goes out: its ACK tells RACK what is missing,
//! long before the retransmission timer would.

use super::Sender;
use crate::mark::Mark;
use crate::segment::Segment;
use sojourn_units::{Span, Time};

/// A loss probe (section 5.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// `TLP.end_seq`: what was outstanding when the probe went out.
    end: Mark,
    /// `TLP.is_retrans`: whether it was sent before.
    again: bool,
    /// Whether the round-trip time was measured since the last one.
    measured: bool,
    /// It goes out next.
    pub(super) due: bool,
}

impl Probe {
    /// Section 7.1.
    pub(super) fn forget(&mut self) {
        self.end = Mark::NONE;
        self.again = false;
        self.due = false;
    }

    pub(super) fn measured(&mut self) {
        self.measured = true;
    }
}

impl Sender {
    /// Section 7.2: the timer starts after new data was sent, or acknowledged; it is off in trouble.
    pub(super) fn arm_probe(&mut self, now: Time, news: bool) {
        if !self.probes || self.una == self.max || !self.is_calm() || !self.loss_point.is_none() {
            self.timers.probe = Time::NEVER;
        } else if news && self.probe.end.is_none() {
            self.timers.probe = (now + self.probe_timeout()).min(self.timers.retransmit);
        }
    }

    /// `TLP_calc_PTO`; the receiver is taken to delay its ACKs as our own would.
    fn probe_timeout(&self) -> Span {
        let Some(smoothed) = self.rtt.smoothed_s() else { return WITHOUT_MEASUREMENT };
        let delay = if self.flight() <= self.mss { self.config.profile.ack_delay } else { Span::ZERO };
        Span::from_seconds(2.0 * smoothed) + delay
    }

    /// Section 7.3: the timer has expired.
    pub(super) fn probe_timed_out(&mut self, now: Time) {
        self.probe.due = self.probe.end.is_none() && self.probe.measured;
        self.timers.retransmit = now + self.rtt.timeout();
    }

    /// `TLP_send_probe`.
    pub(super) fn send_probe(&mut self, now: Time) -> Option<Segment> {
        self.probe.due = false;
        if self.una == self.max || !self.is_calm() {
            return None;
        }
        let len = self.new_data();
        self.probe.again = len == 0;
        let segment = if len > 0 {
            self.advance(now, len)
        } else {
            let from = self.last_segment.max(self.una);
            self.resend(now, from, self.max - from)
        };
        self.probe.end = Mark::at(self.max);
        self.probe.measured = false;
        self.timers.probe = Time::NEVER;
        self.timers.retransmit = now + self.rtt.timeout();
        Some(segment)
    }

    /// Section 7.4.2, `TLP_process_ack`: `twice` came more than once.
    pub(super) fn on_ack_of_probe(&mut self, segment: &Segment, twice: Option<(u64, u64)>, duplicate: bool) {
        let Some(end) = self.probe.end.get().filter(|end| segment.ack >= *end) else { return };
        let bare = segment.sack.iter(segment.ack).next().is_none();
        if !self.probe.again || twice.is_some_and(|(_, to)| to == end) {
            self.probe.end = Mark::NONE;
        } else if segment.ack > end {
            // It has repaired the only loss, which is answered like any other.
            self.probe.end = Mark::NONE;
            self.answer_loss();
        } else if bare && duplicate {
            self.probe.end = Mark::NONE;
        }
    }
}

/// The timeout before the first measurement (section 7.2).
const WITHOUT_MEASUREMENT: Span = Span::from_secs(1);
