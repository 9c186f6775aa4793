//! Senders on a shared link against theory: buffer requirement, fairness of equal flows, and the steady state of DCTCP.
//!
//! Figures are printed with `cargo test -p sojourn-sim --test transport_theory -- --nocapture`; add `--include-ignored`
//! for more of them.

mod buffers;
mod dctcp;
mod shares;

use sojourn_aqm::{Arrival, Law, Verdict};
use sojourn_measure::{LinkOutcome, Reading};
use sojourn_scenario::Scenario;
use sojourn_sim::Run;
use std::sync::{Arc, Mutex};

fn scenario(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::parse(text.as_bytes(), "test", &overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(text: &str, overrides: &[(&str, &str)], seed: u64) -> LinkOutcome {
    finish(Run::new(&scenario(text, overrides), seed))
}

fn finish(mut run: Run) -> LinkOutcome {
    while run.advance() {}
    run.finish().links.remove(0)
}

fn number(outcome: &LinkOutcome, name: &str) -> f64 {
    match outcome.all.metrics.iter().find(|(key, _)| *key == name).map(|(_, metric)| metric) {
        Some(Reading::Number(value)) => *value,
        other => panic!("{name} is {other:?}"),
    }
}

/// Marks packets that find more than so many ahead, and records which arrivals those were.
#[derive(Clone)]
struct Step {
    above: u32,
    marked: Arc<Mutex<Vec<bool>>>,
}

impl Step {
    fn above(packets: u32) -> Step {
        Step { above: packets, marked: Arc::default() }
    }
}

impl Law for Step {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let marked = arrival.backlog.packets > self.above;
        self.marked.lock().unwrap().push(marked);
        if marked { arrival.signalled() } else { Verdict::Pass }
    }
}
