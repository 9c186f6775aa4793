//! Meaning of an input, and its invariants.

#![allow(unreachable_pub)] // the fuzz targets reach it

use sojourn_params::{ErrorKind, Expected, InputError};
use sojourn_scenario::{Diagnostics, Files, Scenario};
use sojourn_sim::Run;
use std::rc::Rc;

/// Readers under test.
pub const WORLDS: [&str; 2] = ["scenario", "recording"];

/// Checks one input of a reader.
pub fn live(world: &str, bytes: &[u8]) {
    match world {
        "scenario" => scenario(bytes),
        _ => recording(bytes),
    }
}

/// The bytes are a scenario file; a few short files are beside it.
fn scenario(bytes: &[u8]) {
    let beside: Files = Rc::new(|name| {
        let files = [("x.trace", "1\n3\n3\n9\n"), ("x.csv", "0.5,1000\n0.7,30000\n")];
        let found = files.iter().find(|(file, _)| *file == name);
        found
            .map(|(_, text)| text.as_bytes().to_vec())
            .ok_or_else(|| InputError::new(ErrorKind::File, "there is no such file", Expected::Unstated))
    });
    match Scenario::parse_beside(bytes, "f.toml", &[], &beside) {
        Ok(scenario) => {
            assert!(scenario.to_json().is_object());
            if let Err(errors) = scenario.with_qdisc("codel") {
                check_errors(&errors);
            }
            run(&scenario);
        }
        Err(errors) => check_errors(&errors),
    }
}

/// The bytes are a recording, beside a scenario that uses it.
fn recording(bytes: &[u8]) {
    let bytes = bytes.to_vec();
    let beside: Files = Rc::new(move |_| Ok(bytes.clone()));
    match Scenario::parse_beside(RECORDED.as_bytes(), "f.toml", &[], &beside) {
        Ok(scenario) => run(&scenario),
        Err(errors) => check_errors(&errors),
    }
}

/// Checks that every error has one clear line.
fn check_errors(errors: &Diagnostics) {
    assert!(!errors.lines().is_empty());
    for line in errors.lines() {
        assert!(line.chars().count() < 2000 && !line.contains(['\n', '\r', '\0']), "{line}");
    }
}

/// Runs the beginning of a scenario; a law may reject its link.
fn run(scenario: &Scenario) {
    let flows: f64 = scenario.flow_count();
    if flows > MOST_FLOWS || scenario.topology.links.len() > MOST_LINKS {
        return;
    }
    let mut run = Run::new(scenario, 1);
    let mut left = TURNS;
    while run.advance_some(EVENTS) && left > 0 {
        left -= 1;
    }
    // Packets are conserved in a run cut short, too.
    run.assert_conservation();
}

/// Flows and links of networks that are run.
const MOST_FLOWS: f64 = 200.0;
const MOST_LINKS: usize = 200;
/// Length of a run.
const TURNS: u32 = 40;
const EVENTS: u64 = 100;

const RECORDED: &str = "title = 'a recording'\nduration = '2 s'\n[bottleneck]\ndelay = '5 ms'\nbuffer = '20 packets'\n\
                        qdisc = 'codel'\ntrace = { file = 'x' }\n[[flows]]\ncount = 2\n";
