//! The instants at which a law is updated: every period, on a grid from the start.

use sojourn_units::{Span, Time};

/// A grid of instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    period: Span,
    due: Time,
}

impl Ticks {
    /// Every `period`, which is more than 0; the first one period after the start.
    pub fn new(period: Span) -> Ticks {
        Ticks { period, due: Time::ZERO + period }
    }

    /// The next instant.
    pub fn due(&self) -> Time {
        self.due
    }

    /// Goes on from the update that was due at `due` and came at `now`; those missed in a stall are not made
    /// up for.
    pub fn met(&mut self, due: Time, now: Time) {
        let missed = now.since(due).nanos() / self.period.nanos();
        self.due = due + self.period.saturating_mul(missed + 1);
    }

    /// Another period from `now` on: counted from the last instant, and where that is past the next one is now.
    pub fn retime(&mut self, now: Time, period: Span) {
        if period != self.period {
            self.due = moved(self.due, self.period, period).max(now);
            self.period = period;
        }
    }
}

/// When something is due that was due at `due`, `old` after its last time, and now comes `new` after it.
pub fn moved(due: Time, old: Span, new: Span) -> Time {
    Time::from_nanos(due.nanos() - old.nanos().min(due.nanos())) + new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_kept_through_a_stall() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut ticks = Ticks::new(Span::from_millis(15));
        assert_eq!(ticks.due(), at(15));
        ticks.met(at(15), at(15));
        assert_eq!(ticks.due(), at(30));
        ticks.met(at(30), at(59));
        assert_eq!(ticks.due(), at(60));
        ticks.met(at(60), at(75));
        assert_eq!(ticks.due(), at(90), "an update at an instant of the grid is that instant's own");
    }

    #[test]
    fn another_period_is_counted_from_the_last_instant() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut ticks = Ticks::new(Span::from_millis(15));
        ticks.met(at(15), at(15));
        ticks.retime(at(18), Span::from_millis(15));
        assert_eq!(ticks.due(), at(30));
        ticks.retime(at(18), Span::from_millis(5));
        assert_eq!(ticks.due(), at(20));
        ticks.retime(at(19), Span::from_millis(40));
        assert_eq!(ticks.due(), at(55));
        ticks.retime(at(40), Span::from_millis(10));
        assert_eq!(ticks.due(), at(40), "what would have been due is due now");
    }
}
