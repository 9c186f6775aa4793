//! Arrival times of the users of a class.

use sojourn_random::Stream;
use sojourn_scenario::Arrivals;
use sojourn_units::{Span, Time};

/// Arrivals of a class.
pub(crate) struct Schedule {
    plan: Arrivals,
    draws: Stream,
    /// Number of past entries of a list.
    past: usize,
}

impl Schedule {
    pub(crate) fn new(plan: Arrivals, draws: Stream) -> Schedule {
        Schedule { plan, draws, past: 0 }
    }

    /// Time of the next arrivals after those at `now`; None: there are no more.
    pub(crate) fn next(&mut self, now: Time) -> Option<Time> {
        match &self.plan {
            Arrivals::Poisson(mean) => Some(now + Span::from_seconds(self.draws.exponential(mean.seconds()))),
            Arrivals::Every(step, _) => Some(now + *step),
            Arrivals::Listed(list) => list.times.get(self.past).map(|(after, _)| Time::ZERO + *after),
        }
    }

    /// Number of arrivals now, and the transfer size of each where the list has one, bytes.
    pub(crate) fn arrive(&mut self) -> (u32, Option<u64>) {
        match &self.plan {
            Arrivals::Poisson(_) => (1, None),
            Arrivals::Every(_, [least, most]) => {
                (least + (self.draws.uniform() * f64::from(most - least + 1)) as u32, None)
            }
            Arrivals::Listed(list) => {
                self.past += 1;
                (1, list.times.get(self.past - 1).and_then(|(_, bytes)| *bytes))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Listed;

    #[test]
    fn batches_are_drawn_alike_between_their_bounds() {
        let plan = Arrivals::Every(Span::from_secs(1), [0, 5]);
        let mut schedule = Schedule::new(plan, Stream::named(1, "batches"));
        let mut seen = [0_u32; 6];
        (0..60_000).for_each(|_| seen[schedule.arrive().0 as usize] += 1);
        // Each is binomial with a standard deviation of 91.
        assert!(seen.iter().all(|seen| seen.abs_diff(10_000) < 400), "{seen:?}");
        assert_eq!(schedule.next(Time::ZERO), Some(Time::ZERO + Span::from_secs(1)));
    }

    #[test]
    fn a_list_ends() {
        let times = [(Span::from_nanos(5), None), (Span::from_nanos(5), Some(7))];
        let list = Listed { file: "list".into(), times: times.into() };
        let mut schedule = Schedule::new(Arrivals::Listed(list), Stream::named(1, "list"));
        for (after, bytes) in times {
            assert_eq!(schedule.next(Time::ZERO), Some(Time::ZERO + after));
            assert_eq!(schedule.arrive(), (1, bytes));
        }
        assert_eq!(schedule.next(Time::from_nanos(5)), None);
    }
}
