//! The sender's timers: one deadline at a time matters, the earliest.

use sojourn_units::Time;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// Nothing was acknowledged for too long (RFC 6298).
    Retransmit,
    /// The ACKs of a flight's end are late (RFC 8985, section 7.2).
    Probe,
    /// What was overtaken has not come in time (RFC 8985, section 6.2, step 5).
    Reorder,
    /// The receiver's window is still closed (RFC 9293, section 3.8.6.1).
    Persist,
    /// The next segment may leave.
    Pace,
}

/// When each is due; `NEVER` where it is off.
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

    /// The earliest deadline.
    pub(super) fn next(&self) -> Option<Time> {
        let next = self.retransmit.min(self.probe).min(self.reorder).min(self.persist).min(self.pace);
        (next < Time::NEVER).then_some(next)
    }

    /// A timer that is due by `now`, which it turns off; what is sent may go out before more is asked.
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
