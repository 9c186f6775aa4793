//! Pacing: segments leave at even intervals.
//!
//! The rate is above one window per round trip, so that the window stays the limit: twice that in slow start, where
//! the window doubles in a round trip, and 1.25 times afterwards (RFC 9002, section 7.7, which leaves the factor open;
//! 1.25 is its example).

use super::Sender;
use crate::cc::CongestionControl;
use crate::segment::Segment;
use sojourn_units::{Span, Time};

impl Sender {
    /// Pacing rate of payload (bits/s); None: segments are not paced, or there is no RTT sample yet.
    pub fn pacing_rate(&self) -> Option<f64> {
        let smoothed = self.rtt.smoothed_s().filter(|_| self.paces)?;
        let factor = if self.cwnd < self.cc.ssthresh().get() { IN_SLOW_START } else { AFTER };
        Some(8.0 * factor * self.cwnd as f64 / smoothed)
    }

    /// Returns whether a segment must wait, in which case the timer is set.
    pub(super) fn awaits_pacing(&mut self, now: Time) -> bool {
        if self.next_release <= now {
            return false;
        }
        self.timers.pace = self.next_release;
        true
    }

    /// Sets the earliest time of the next segment after `segment`.
    pub(super) fn schedule_next_release(&mut self, now: Time, segment: &Segment) {
        let Some(smoothed) = self.rtt.smoothed_s() else { return };
        let factor = if self.cwnd < self.cc.ssthresh().get() { IN_SLOW_START } else { AFTER };
        let gap = smoothed * f64::from(segment.len) / (factor * self.cwnd as f64);
        // A forged stamp could inflate the RTT: the wait is at most a retransmission timeout.
        self.next_release = self.next_release.max(now) + Span::from_seconds(gap).min(self.rtt.timeout());
    }
}

/// Windows per round trip in slow start.
const IN_SLOW_START: f64 = 2.0;
/// Windows per round trip afterwards.
const AFTER: f64 = 1.25;
