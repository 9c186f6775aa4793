//! The sender's timers.

use sojourn_units::Time;

/// Timers by purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// Retransmission timeout (RFC 6298).
    Retransmit,
    /// Tail loss probe (RFC 8985, section 7.2).
    Probe,
    /// RACK reordering timeout (RFC 8985, section 6.2, step 5).
    Reorder,
    /// Zero-window probe (RFC 9293, section 3.8.6.1).
    Persist,
    /// Pacing.
    Pace,
}

/// Expiry of each timer; `NEVER`: off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub(super) retransmit: Time,
    pub(super) probe: Time,
    pub(super) reorder: Time,
    pub(super) persist: Time,
    pub(super) pace: Time,
}

impl Timers {
    pub(super) const OFF: Timers = Timers {
        retransmit: Time::NEVER,
        probe: Time::NEVER,
        reorder: Time::NEVER,
        persist: Time::NEVER,
        pace: Time::NEVER,
    };

    /// Earliest expiry.
    pub(super) fn next(&self) -> Option<Time> {
        let next = self.retransmit.min(self.probe).min(self.reorder).min(self.persist).min(self.pace);
        (next < Time::NEVER).then_some(next)
    }

    /// Turns off and returns a timer that has expired by `now`; its segments may be sent before the next call.
    pub(super) fn take_due(&mut self, now: Time) -> Option<Alarm> {
        let all = [
            (Alarm::Pace, &mut self.pace),
            (Alarm::Reorder, &mut self.reorder),
            (Alarm::Probe, &mut self.probe),
            (Alarm::Persist, &mut self.persist),
            (Alarm::Retransmit, &mut self.retransmit),
        ];
        let (alarm, due) = all.into_iter().find(|(_, due)| **due <= now)?;
        *due = Time::NEVER;
        Some(alarm)
    }
}
