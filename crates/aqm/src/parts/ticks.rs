//! Times of periodic updates, on a grid from the start.

use sojourn_units::{Span, Time};

/// A grid of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    period: Span,
    due: Time,
}

impl Ticks {
    /// A grid with a `period` above 0; the first time is one period after the start.
    pub fn new(period: Span) -> Ticks {
        Ticks { period, due: Time::ZERO + period }
    }

    /// Next time.
    pub fn due(&self) -> Time {
        self.due
    }

    /// Advances past the update due at `due` that came at `now`; those missed in a stall are skipped.
    pub fn met(&mut self, due: Time, now: Time) {
        let missed = now.since(due).nanos() / self.period.nanos();
        self.due = due + self.period.saturating_mul(missed + 1);
    }

    /// Changes the period after an update at `now`: the grid goes on from the last time of the old one, and the next time
    /// is after `now`.
    pub fn pace(&mut self, now: Time, period: Span) {
        if period != self.period {
            let last = moved(self.due, self.period, Span::ZERO);
            self.period = period;
            self.met(last, now);
        }
    }

    /// Changes the period, counted from the last time; the next time is `now` if that has passed.
    pub fn retime(&mut self, now: Time, period: Span) {
        if period != self.period {
            self.due = moved(self.due, self.period, period).max(now);
            self.period = period;
        }
    }
}

/// Due time after a change of period: `due` was one period `old` after the last event, the result is `new` after it.
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
        assert_eq!(ticks.due(), at(90), "an update at a time of the grid counts for that time");
    }

    #[test]
    fn a_new_period_is_counted_from_the_last_time() {
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
        assert_eq!(ticks.due(), at(40), "a due time that has passed is now");
    }
}
