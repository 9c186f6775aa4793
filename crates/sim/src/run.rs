//! One run, from the first packet to the metrics.

use crate::engine::Simulation;
use crate::recorder::{Measured, Recorder};
use crate::results::{self, Balance, Outcome, Series, Step};
use crate::topology;
use sojourn_aqm::{Gauges, Law};
use sojourn_scenario::Scenario;
use sojourn_units::{Fault, Span, Time};

/// A run of a scenario under one seed, advanced bit by bit.
pub struct Run {
    simulation: Simulation<Recorder>,
    scenario: Scenario,
    /// The number of the link that is watched.
    link: usize,
    step: Span,
    step_start: Time,
    series: Series,
    /// Bits sent and bits that could have been sent at the last step.
    last: (f64, f64),
    /// The same at the end of the warm-up.
    warm: Option<(f64, f64)>,
}

impl Run {
    /// The run at its start; a law may refuse its place.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Run, Fault> {
        Run::with_laws(scenario, seed, Vec::new())
    }

    /// The run under laws of the caller's own, such as those written in Python, one for each replaceable link in order.
    pub fn with_laws(scenario: &Scenario, seed: u64, own: Vec<Box<dyn Law>>) -> Result<Run, Fault> {
        let network = topology::network_under(scenario, seed, topology::laws(scenario, own)?);
        let link = scenario.topology.managed().next().expect("a link has a disc");
        let measured = Measured { from: Time::ZERO + scenario.warmup, until: Time::ZERO + scenario.duration };
        let step = scenario.sample.unwrap_or_else(|| step_for(scenario.duration));
        let recorder = Recorder::new(link as u32, network.flows.len(), measured, step);
        Ok(Run {
            series: Series::new(recorder.windows.sampled()),
            simulation: Simulation::new(network, seed, recorder),
            step,
            scenario: scenario.clone(),
            link,
            step_start: Time::ZERO,
            last: (0.0, 0.0),
            warm: None,
        })
    }

    /// The share of simulated time that is done.
    pub fn progress(&self) -> f64 {
        self.simulation.now().seconds() / self.scenario.duration.seconds()
    }

    /// Goes on for a moment, so that a caller can look up in between; says whether there is more.
    pub fn advance(&mut self) -> bool {
        let end = Time::ZERO + self.scenario.duration;
        let step_end = (self.step_start + self.step).min(end);
        let warm = Time::ZERO + self.scenario.warmup;
        let stop = if self.warm.is_none() { warm.min(step_end) } else { step_end };
        if !self.simulation.advance_some(stop, EVENTS_PER_TURN) {
            return true;
        }
        if self.warm.is_none() && stop == warm {
            self.warm = Some(self.bits());
        }
        if stop == step_end {
            self.end_step(stop);
        }
        stop < end
    }

    /// The outcome, when there is no more.
    pub fn finish(mut self) -> Outcome {
        self.simulation.assert_conservation();
        self.simulation.finish_reading(Time::ZERO + self.scenario.duration);
        let (before, after) = (self.warm.unwrap_or_else(|| self.bits()), self.bits());
        let starts = self.scenario.at.iter().map(|change| change.time.seconds());
        let mut stretches: Vec<f64> = std::iter::once(0.0).chain(starts).collect();
        stretches.dedup();
        let target = self.simulation.disc(self.link as u32).and_then(sojourn_aqm::Disc::target_packets);
        let counts = self.simulation.counts();
        let balance = self.balance();
        let tcp = self.scenario.flows.iter().flat_map(|group| (0..group.count).map(|_| group.app.is_tcp()));
        let recorder = self.simulation.probe();
        let long_lived = recorder.received_bytes.iter().zip(tcp).filter(|(_, tcp)| *tcp);
        let long_lived: Vec<u64> = long_lived.map(|(bytes, _)| *bytes).collect();
        let metrics = results::metrics(&results::Measured {
            recorder,
            series: &self.series,
            span: self.scenario.duration - self.scenario.warmup,
            utilization: utilization(before, after),
            target,
            stretches: &stretches,
            long_lived: &long_lived,
        });
        let sojourn_distribution = recorder.sojourns.cumulative().map(|(nanos, share)| (nanos * 1e-9, share));
        Outcome {
            link: self.scenario.topology.links[self.link].name.clone(),
            metrics,
            sojourn_distribution: sojourn_distribution.collect(),
            series: self.series,
            balance,
            counts,
        }
    }

    fn end_step(&mut self, stop: Time) {
        let start = std::mem::replace(&mut self.step_start, stop);
        let bits = self.bits();
        let mut p = ProbabilityGauge(None);
        if let Some(disc) = self.simulation.disc(self.link as u32) {
            disc.gauges(&mut p);
        }
        let step = Step {
            end_s: stop.seconds(),
            length_s: stop.since(start).seconds(),
            tally: self.simulation.probe().end_step(stop),
            utilization: utilization(self.last, bits),
            p: p.0,
        };
        self.series.push(&step, self.simulation.probe().windows.end_step(stop));
        self.last = bits;
    }

    fn bits(&self) -> (f64, f64) {
        let link = self.link as u32;
        let (sent, capacity) = (self.simulation.sent_bits(link), self.simulation.capacity_bits(link));
        sent.zip(capacity).expect("the bottleneck has a disc")
    }

    fn balance(&self) -> Balance {
        let disc = self.simulation.disc(self.link as u32).expect("the bottleneck has a disc");
        let counts = disc.counts();
        Balance {
            offered: counts.offered,
            delivered: counts.delivered,
            dropped: counts.dropped(),
            held: u64::from(disc.backlog().packets),
        }
    }
}

/// Picks the gauge `p` out of a law's.
struct ProbabilityGauge(Option<f64>);

impl Gauges for ProbabilityGauge {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        if name == "p" {
            self.0 = Some(value);
        }
    }
}

fn utilization(before: (f64, f64), after: (f64, f64)) -> f64 {
    (after.0 - before.0) / (after.1 - before.1)
}

/// The shortest of 1, 2, 5, 10 ... ms with at most `MOST_STEPS` steps in `duration`:
/// so many points whatever the duration.
fn step_for(duration: Span) -> Span {
    let mut unit = Span::from_millis(1);
    loop {
        for factor in [1, 2, 5] {
            let step = unit.saturating_mul(factor);
            if step.saturating_mul(MOST_STEPS) >= duration {
                return step;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

/// Events and arrivals between two looks of the caller: some ten milliseconds.
const EVENTS_PER_TURN: u64 = 100_000;
/// Points of a series whose step is not given.
const MOST_STEPS: u64 = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_has_at_most_2000_points() {
        assert_eq!(step_for(Span::from_secs(100)), Span::from_millis(50));
        assert_eq!(step_for(Span::from_secs(2)), Span::from_millis(1));
        assert_eq!(step_for(Span::from_secs(3600)), Span::from_secs(2));
    }
}
