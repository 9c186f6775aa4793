//! One run, from the first packet to the metrics.

mod observed;

use crate::engine::Simulation;
use crate::packet::Packet;
use crate::record::Records;
use crate::tap::Tap;
use crate::topology::{self, CustomQdisc};
pub use observed::{Observed, Plant, watchlist};
use sojourn_aqm::{Law, Qdisc};
use sojourn_measure::{Outcome, Recorder, WindowRow};
use sojourn_scenario::Scenario;
use sojourn_units::{Span, Time};

/// A run of a scenario under one seed, advanced in steps.
pub struct Run(Observed<Simulation<Recorder>>);

/// The same with records, which change no outcome.
pub struct RecordedRun(Observed<Simulation<Recorder, Records>>);

// Both are compiled here, where the engine can be inlined without link-time optimisation.
impl Run {
    /// The run at its start.
    pub fn new(scenario: &Scenario, seed: u64) -> Run {
        Run::with_laws(scenario, seed, Vec::new())
    }

    /// The run under custom laws, such as those written in Python, one for each replaceable link in order.
    pub fn with_laws(scenario: &Scenario, seed: u64, own: Vec<Box<dyn Law>>) -> Run {
        Run::with_qdiscs(scenario, seed, own.into_iter().map(topology::under_law).collect())
    }

    /// The run with custom qdiscs, one for each replaceable link in order.
    pub fn with_qdiscs(scenario: &Scenario, seed: u64, own: Vec<CustomQdisc>) -> Run {
        Run(observed(scenario, seed, own, ()))
    }

    /// Share of the simulated time that is done.
    pub fn progress(&self) -> f64 {
        self.0.progress()
    }

    /// Advances for some milliseconds, so that the caller can act in between; returns whether there is more.
    pub fn advance(&mut self) -> bool {
        self.0.advance_some(EVENTS_PER_TURN)
    }

    /// The same for not much more than `most` events and arrivals.
    pub fn advance_some(&mut self, most: u64) -> bool {
        self.0.advance_some(most)
    }

    /// As [`Observed::end_early`].
    pub fn end_early(&mut self) -> Option<Time> {
        self.0.end_early()
    }

    /// Asserts that every packet is accounted for.
    pub fn assert_conservation(&self) {
        self.0.plant().assert_conservation();
    }

    /// The outcome, once the run has ended.
    pub fn finish(self) -> Outcome {
        self.0.finish().0
    }

    /// The outcome, and the metrics of the windows of the scenario, window by window.
    pub fn finish_with_windows(self) -> (Outcome, Vec<WindowRow>) {
        let (outcome, windows, _) = self.0.finish();
        (outcome, windows)
    }
}

impl RecordedRun {
    /// The run with custom qdiscs, if any, at its start.
    pub fn new(scenario: &Scenario, seed: u64, own: Vec<CustomQdisc>, records: Records) -> RecordedRun {
        RecordedRun(observed(scenario, seed, own, records))
    }

    /// Share of the simulated time that is done.
    pub fn progress(&self) -> f64 {
        self.0.progress()
    }

    /// Advances for some milliseconds, so that the caller can act in between; returns whether there is more.
    pub fn advance(&mut self) -> bool {
        self.0.advance_some(EVENTS_PER_TURN)
    }

    /// The records.
    pub fn records(&mut self) -> &Records {
        self.0.plant_mut().tap()
    }

    /// The outcome and the metrics of windows, once the run has ended, and the records, complete.
    pub fn finish(self) -> (Outcome, Vec<WindowRow>, Records) {
        let (outcome, windows, plant) = self.0.finish();
        let end = plant.now();
        let mut records = plant.into_tap();
        records.finish(end);
        (outcome, windows, records)
    }
}

/// A run in the packet plant at its start.
fn observed<T: Tap>(
    scenario: &Scenario,
    seed: u64,
    own: Vec<CustomQdisc>,
    tap: T,
) -> Observed<Simulation<Recorder, T>> {
    let given = !own.is_empty();
    let network = topology::network_under(scenario, seed, own);
    let watch = watchlist(scenario, &network);
    Observed::new(scenario, watch, given, |recorder| Simulation::tapped(network, seed, recorder, tap))
}

impl<T: Tap> Plant for Simulation<Recorder, T> {
    fn now(&self) -> Time {
        Simulation::now(self)
    }
    fn advance_some(&mut self, stop: Time, most: u64) -> bool {
        Simulation::advance_some(self, stop, most)
    }
    /// A tap holds back what may be out of order, and is settled often.
    fn latest_stop(&self) -> Time {
        if T::IS_ON { Simulation::now(self) + SETTLE } else { Time::NEVER }
    }
    fn settled(&mut self, stop: Time) {
        if T::IS_ON {
            self.tap().settled(stop);
        }
    }
    fn recorder(&mut self) -> &mut Recorder {
        self.probe()
    }
    fn qdisc(&self, link: u32) -> Option<&dyn Qdisc<Packet>> {
        Simulation::qdisc(self, link)
    }
    fn bits(&self, link: u32) -> Option<(f64, f64)> {
        self.sent_bits(link).zip(self.capacity_bits(link))
    }
    fn finish(&mut self, end: Time) {
        self.assert_conservation();
        self.finish_reading(end);
    }
    fn work(&self) -> u64 {
        let counts = self.counts();
        counts.events + counts.arrivals
    }
}

/// Events and arrivals in a turn: some ten milliseconds.
const EVENTS_PER_TURN: u64 = 100_000;
/// Longest simulated time between two settlements of a tap.
const SETTLE: Span = Span::from_millis(20);
