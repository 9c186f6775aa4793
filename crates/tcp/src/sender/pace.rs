//! Pacing: segments leave at even distances.
//!
//! The rate is a little above a window in a round trip, so that the window stays
//! what limits the flow: twice that in slow start, where it doubles in a round
//! trip, and 1.25 times after (RFC 9002, section 7.7, which leaves the factor
//! open; 1.25 is its example).

use super::Sender;
use crate::cc::CongestionControl;
use crate::segment::Segment;
use sojourn_units::{Span, Time};

impl Sender {
    /// Whether a segment must wait for its turn; the timer is set where it must.
    pub(super) fn waits_for_pace(&mut self, now: Time) -> bool {
        if self.next_release <= now {
            return false;
        }
        self.timers.pace = self.next_release;
        true
    }

    /// A segment leaves: the next one follows a segment's time later.
    pub(super) fn note_pace(&mut self, now: Time, segment: &Segment) {
        let Some(smoothed) = self.rtt.smoothed_s() else { return };
        let factor = if self.window < self.cc.ssthresh().get() { IN_SLOW_START } else { AFTER };
        let gap = smoothed * f64::from(segment.len) / (factor * self.window as f64);
        // Stamps may have been forged: it waits no longer than the timer would.
        self.next_release = self.next_release.max(now) + Span::from_seconds(gap).min(self.rtt.timeout());
    }
}

/// Windows in a round trip in slow start.
const IN_SLOW_START: f64 = 2.0;
/// And after.
const AFTER: f64 = 1.25;
