//! Law of a controller: independent marks or drops with its probability, at one end of the queue.

use crate::analysis::Analysis;
use crate::gauges::Gauges;
use crate::law::{Arrival, Controller, Departure, Law, Observation, Properties, Verdict};
use crate::link_context::LinkContext;
use crate::parts::ticks::Ticks;
use sojourn_params::{Given, InputError};
use sojourn_units::{Prob, Rate, Time};

/// Runs a controller every period and applies its probability to each arrival (or departure) independently
/// (Bernoulli trials).
#[derive(Clone, Debug)]
pub struct Periodic<C> {
    controller: C,
    ticks: Ticks,
    p: Prob,
    at_departure: bool,
}

impl<C: Controller + Clone> Periodic<C> {
    /// The law of `controller`; first update one period after the start.
    pub fn new(controller: C) -> Periodic<C> {
        let ticks = Ticks::new(controller.period());
        Periodic { controller, ticks, p: Prob::ZERO, at_departure: false }
    }

    /// Applies the probability to departures, not to arrivals.
    pub fn at_departure(self) -> Periodic<C> {
        Periodic { at_departure: true, ..self }
    }
}

impl<C: Controller + Clone> Law for Periodic<C> {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let hit = !self.at_departure && self.p.happens(arrival.u[0]);
        if hit { arrival.signalled() } else { Verdict::Pass }
    }

    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        let hit = self.at_departure && self.p.happens(departure.u[0]);
        if hit { departure.signalled() } else { Verdict::Pass }
    }

    fn on_link_change(&mut self, _now: Time, rate: Rate) {
        self.controller.on_link_change(rate);
    }

    fn set_params(&mut self, now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        self.controller.set_params(given, context)?;
        self.ticks.retime(now, self.controller.period());
        Ok(())
    }

    fn next_update(&self) -> Option<Time> {
        Some(self.ticks.due())
    }

    fn on_update(&mut self, due: Time, observed: &Observation) {
        self.p = self.controller.update(observed);
        self.ticks.met(due, observed.now);
        self.ticks.pace(observed.now, self.controller.period());
    }

    fn probability(&self) -> Option<Prob> {
        Some(self.p)
    }

    fn properties(&self) -> Properties {
        Properties { at_departure: self.at_departure, ..Properties::default() }
    }

    fn analysis(&self) -> &dyn Analysis {
        self.controller.analysis()
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p.get());
        self.controller.gauges(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    #[derive(Clone)]
    struct Elapsed(f64);

    impl Controller for Elapsed {
        fn period(&self) -> Span {
            Span::from_millis(10)
        }
        fn update(&mut self, observed: &Observation) -> Prob {
            self.0 = observed.elapsed;
            Prob::ZERO
        }
        fn reset(&mut self) {}
    }

    /// Multiplies its period, ms, with each update.
    #[derive(Clone)]
    struct Paced(f64, f64);

    impl Controller for Paced {
        fn period(&self) -> Span {
            Span::from_seconds(self.0 / 1000.0)
        }
        fn update(&mut self, _observed: &Observation) -> Prob {
            self.0 *= self.1;
            Prob::ZERO
        }
        fn reset(&mut self) {}
    }

    #[test]
    fn the_period_may_change_with_an_update() {
        let mut law = Periodic::new(Paced(10.0, 2.0));
        for (at, next) in [(10, 30), (30, 70), (70, 150)] {
            let due = law.next_update().unwrap();
            assert_eq!(due, Time::ZERO + Span::from_millis(at));
            law.on_update(due, &Observation { now: due, ..Observation::default() });
            assert_eq!(law.next_update(), Some(Time::ZERO + Span::from_millis(next)));
        }
    }

    #[test]
    fn a_late_update_that_shortens_the_period_is_followed_by_none_at_once() {
        let mut law = Periodic::new(Paced(40.0, 0.25));
        let (due, late) = (law.next_update().unwrap(), Time::ZERO + Span::from_millis(75));
        law.on_update(due, &Observation { now: late, ..Observation::default() });
        assert_eq!(law.next_update(), Some(Time::ZERO + Span::from_millis(80)));
    }

    #[test]
    fn after_a_stall_there_is_one_update_and_the_grid_is_kept() {
        let mut law = Periodic::new(Elapsed(0.0));
        let due = law.next_update().unwrap();
        assert_eq!(due, Time::ZERO + Span::from_millis(10));
        let late = Time::ZERO + Span::from_millis(37);
        law.on_update(due, &Observation { now: late, elapsed: 0.037, ..Observation::default() });
        assert_eq!(law.controller.0, 0.037);
        assert_eq!(law.next_update(), Some(Time::ZERO + Span::from_millis(40)));
    }
}
