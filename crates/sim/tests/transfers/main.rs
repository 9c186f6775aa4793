//! Applications over TCP: timing in round trips, sharing of a link against theory, churn.
//!
//! Figures are printed with `cargo test -p sojourn-sim --test transfers -- --nocapture`.

mod churn;
mod idle_path;
mod memory;
mod sharing;

use sojourn_aqm::Cause;
use sojourn_measure::{Probe, Queued};
use sojourn_scenario::Scenario;
use sojourn_sim::{Simulation, topology};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

fn scenario(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::parse(text.as_bytes(), "test", &overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Events of flows, in the order of time of each.
#[derive(Default)]
struct Connections {
    /// Time, class and flow.
    began: Vec<(Time, u32, u32)>,
    /// Time and class.
    rejected: Vec<(Time, u32)>,
    done: Vec<Done>,
    /// Stop times of flows.
    stopped: Vec<(Time, u32)>,
    /// Packets that a qdisc dropped.
    dropped: u32,
    played: Span,
    stalled: Span,
    /// Bytes since a flow began.
    bytes: BTreeMap<u32, u64>,
    class_of: BTreeMap<u32, u32>,
}

/// A completed transfer, page or request.
struct Done {
    at: Time,
    class: u32,
    took: Span,
    /// Payload received since its flow began.
    bytes: u64,
}

impl Connections {
    /// Completion times in the order of the reports.
    fn times(&self) -> Vec<f64> {
        self.done.iter().map(|done| done.took.seconds()).collect()
    }
}

impl Probe for Connections {
    fn began(&mut self, at: Time, flow: u32, class: u32) {
        self.began.push((at, class, flow));
        self.bytes.insert(flow, 0);
        self.class_of.insert(flow, class);
    }
    fn rejected(&mut self, at: Time, class: u32) {
        self.rejected.push((at, class));
    }
    fn dropped(&mut self, _now: Time, _link: u32, _packet: Queued, _cause: Cause) {
        self.dropped += 1;
    }
    fn received(&mut self, _at: Time, flow: u32, bytes: u64) {
        *self.bytes.entry(flow).or_default() += bytes;
    }
    fn completed(&mut self, at: Time, flow: u32, started: Time) {
        let (bytes, class) = (self.bytes[&flow], self.class_of[&flow]);
        self.done.push(Done { at, class, took: at.since(started), bytes });
    }
    fn played(&mut self, _at: Time, _flow: u32, played: Span, stalled: Span) {
        (self.played, self.stalled) = (self.played + played, self.stalled + stalled);
    }
    fn stopped(&mut self, at: Time, flow: u32) {
        self.stopped.push((at, flow));
    }
}

/// Events of a scenario's flows, under this seed.
fn connections(text: &str, overrides: &[(&str, &str)], seed: u64) -> Connections {
    let scenario = scenario(text, overrides);
    let network = topology::network(&scenario, seed);
    let mut simulation = Simulation::new(network, seed, Connections::default());
    simulation.advance(Time::ZERO + scenario.duration);
    simulation.assert_conservation();
    std::mem::take(simulation.probe())
}
