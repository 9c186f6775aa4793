//! Applications over TCP: their timing to the round trip, their sharing of a link against theory, their coming and going.
//!
//! Figures are printed with `cargo test -p sojourn-sim --test transfers -- --nocapture`.

mod coming;
mod idle_path;
mod sharing;

use sojourn_scenario::Scenario;
use sojourn_sim::{Probe, Simulation, topology};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

fn scenario(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::parse(text.as_bytes(), "test", &overrides).unwrap_or_else(|faults| panic!("{faults}"))
}

/// What flows did, in the order of time of each.
#[derive(Default)]
struct Lives {
    /// When, of which class, which flow.
    began: Vec<(Time, u32, u32)>,
    /// When, of which class.
    turned_away: Vec<(Time, u32)>,
    done: Vec<Done>,
    /// Flows that stopped, and when.
    stopped: Vec<(Time, u32)>,
    played: Span,
    stood: Span,
    /// Bytes since a flow began.
    bytes: BTreeMap<u32, u64>,
    class_of: BTreeMap<u32, u32>,
}

/// Something that was completed.
struct Done {
    at: Time,
    class: u32,
    took: Span,
    /// Payload that came since its flow began.
    bytes: u64,
}

impl Lives {
    /// How long everything took that was completed, in the order of the telling.
    fn times(&self) -> Vec<f64> {
        self.done.iter().map(|done| done.took.seconds()).collect()
    }
}

impl Probe for Lives {
    fn began(&mut self, at: Time, flow: u32, class: u32) {
        self.began.push((at, class, flow));
        self.bytes.insert(flow, 0);
        self.class_of.insert(flow, class);
    }
    fn turned_away(&mut self, at: Time, class: u32) {
        self.turned_away.push((at, class));
    }
    fn received(&mut self, _at: Time, flow: u32, bytes: u64) {
        *self.bytes.entry(flow).or_default() += bytes;
    }
    fn completed(&mut self, at: Time, flow: u32, started: Time) {
        let (bytes, class) = (self.bytes[&flow], self.class_of[&flow]);
        self.done.push(Done { at, class, took: at.since(started), bytes });
    }
    fn played(&mut self, _at: Time, _flow: u32, played: Span, stood: Span) {
        (self.played, self.stood) = (self.played + played, self.stood + stood);
    }
    fn stopped(&mut self, at: Time, flow: u32) {
        self.stopped.push((at, flow));
    }
}

/// The lives of a scenario's flows, under this seed.
fn lives(text: &str, overrides: &[(&str, &str)], seed: u64) -> Lives {
    let scenario = scenario(text, overrides);
    let network = topology::network(&scenario, seed).unwrap();
    let mut simulation = Simulation::new(network, seed, Lives::default());
    simulation.advance(Time::ZERO + scenario.duration);
    simulation.assert_conservation();
    std::mem::take(simulation.probe())
}
