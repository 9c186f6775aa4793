//! A law from a controller: each packet is marked or dropped with its probability, at one end of the queue.

use crate::law::{Arrival, Bounds, Controller, Departure, Gauges, Given, Law, Observation, Verdict};
use crate::linear::{Linear, Rest, Signal};
use crate::parts::ticks::Ticks;
use crate::site::Site;
use sojourn_units::{Fault, Prob, Rate, Time};

/// Runs a controller every period and applies its probability to each arrival (or departure)
/// independently (Bernoulli trials).
#[derive(Clone, Debug)]
pub struct Sampled<C> {
    controller: C,
    ticks: Ticks,
    p: Prob,
}

impl<C: Controller + Clone> Sampled<C> {
    /// The law of `controller`; its first update is one period after the start.
    pub fn new(controller: C) -> Sampled<C> {
        let ticks = Ticks::new(controller.period());
        Sampled { controller, ticks, p: Prob::ZERO }
    }
}

impl<C: Controller + Clone> Law for Sampled<C> {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let hit = !self.at_departure() && self.p.happens(arrival.u[0]);
        if hit { arrival.signalled() } else { Verdict::Pass }
    }

    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        let hit = self.at_departure() && self.p.happens(departure.u[0]);
        if hit { departure.signalled() } else { Verdict::Pass }
    }

    fn on_link_change(&mut self, _now: Time, rate: Rate) {
        self.controller.on_link_change(rate);
    }

    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        self.controller.retune(given, site)?;
        self.ticks.retime(now, self.controller.period());
        Ok(())
    }

    fn next_update(&self) -> Option<Time> {
        Some(self.ticks.due())
    }

    fn on_update(&mut self, due: Time, seen: &Observation) {
        self.p = self.controller.update(seen);
        self.ticks.met(due, seen.now);
    }

    fn target_packets(&self) -> Option<f64> {
        self.controller.target_packets()
    }

    fn stands_at(&self, p: Prob, signal: Signal) -> Option<f64> {
        self.controller.stands_at(p, signal)
    }

    fn probability(&self) -> Option<Prob> {
        Some(self.p)
    }

    fn at_departure(&self) -> bool {
        self.controller.at_departure()
    }

    fn settled(&self, backlog: f64) -> Option<Prob> {
        self.controller.settled(backlog)
    }

    fn linear(&self, rest: &Rest) -> Option<Linear> {
        self.controller.linear(rest)
    }

    fn bounds(&self) -> Bounds {
        self.controller.bounds()
    }

    fn derived(&self, out: &mut dyn Gauges) {
        self.controller.derived(out);
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
        fn update(&mut self, seen: &Observation) -> Prob {
            self.0 = seen.elapsed;
            Prob::ZERO
        }
        fn reset(&mut self) {}
    }

    #[test]
    fn after_a_stall_there_is_one_update_and_the_grid_is_kept() {
        let mut law = Sampled::new(Elapsed(0.0));
        let due = law.next_update().unwrap();
        assert_eq!(due, Time::ZERO + Span::from_millis(10));
        let late = Time::ZERO + Span::from_millis(37);
        law.on_update(due, &Observation { now: late, elapsed: 0.037, ..Observation::default() });
        assert_eq!(law.controller.0, 0.037);
        assert_eq!(law.next_update(), Some(Time::ZERO + Span::from_millis(40)));
    }
}
