//! Numbers of datagrams sent in equal steps of time.

use super::{free, over};
use sojourn_measure::Probe;
use sojourn_sim::Simulation;
use sojourn_units::{Span, Time};
use sojourn_workload::DatagramsPlan;

/// Datagrams in each step.
struct Counts {
    step: Span,
    sent: Vec<f64>,
}

impl Probe for Counts {
    fn sent(&mut self, at: Time, _flow: u32) {
        let step = (at.nanos() / self.step.nanos()) as usize;
        if let Some(sent) = self.sent.get_mut(step) {
            *sent += 1.0;
        }
    }
}

/// The datagrams of all sources together in so many steps, under one seed.
pub(crate) fn counts(sources: Vec<DatagramsPlan>, step: Span, steps: usize, seed: u64) -> Vec<f64> {
    let counts = Counts { step, sent: vec![0.0; steps] };
    let mut simulation = Simulation::new(over(vec![free()], sources, None), seed, counts);
    simulation.advance(Time::ZERO + step * steps as u64);
    std::mem::take(&mut simulation.probe().sent)
}

/// The sums of `width` neighbours each.
pub(crate) fn aggregated(counts: &[f64], width: usize) -> Vec<f64> {
    counts.chunks_exact(width).map(|chunk| chunk.iter().sum()).collect()
}
