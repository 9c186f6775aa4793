//! What an input means, and what must be true of it.

#![allow(unreachable_pub)] // the fuzz targets reach it

use sojourn_scenario::{Faults, Files, Scenario};
use sojourn_sim::Run;
use std::rc::Rc;

/// What inputs are for.
pub const WORLDS: [&str; 2] = ["scenario", "recording"];

/// Lives through one input of a world.
pub fn live(world: &str, bytes: &[u8]) {
    match world {
        "scenario" => scenario(bytes),
        _ => recording(bytes),
    }
}

/// The bytes are a scenario file; beside it stand files that hold a few lines each.
fn scenario(bytes: &[u8]) {
    let beside: Files = Rc::new(|name| {
        let files = [("x.trace", "1\n3\n3\n9\n"), ("x.csv", "0.5,1000\n0.7,30000\n")];
        let found = files.iter().find(|(file, _)| *file == name);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "there is no such file".to_string())
    });
    match Scenario::parse_beside(bytes, "f.toml", &[], &beside) {
        Ok(scenario) => {
            assert!(!scenario.describe().is_empty());
            assert!(scenario.to_json().is_object());
            assert!(scenario.notes().iter().all(|note| note.ends_with('.') && !note.contains('\n')));
            if let Err(faults) = scenario.with_disc("codel") {
                told(&faults);
            }
            run(&scenario);
        }
        Err(faults) => told(&faults),
    }
}

/// The bytes are what a link could do once, beside a scenario that uses it.
fn recording(bytes: &[u8]) {
    let bytes = bytes.to_vec();
    let beside: Files = Rc::new(move |_| Ok(bytes.clone()));
    match Scenario::parse_beside(RECORDED.as_bytes(), "f.toml", &[], &beside) {
        Ok(scenario) => run(&scenario),
        Err(faults) => told(&faults),
    }
}

/// One clear line a fault.
fn told(faults: &Faults) {
    assert!(!faults.lines().is_empty());
    for line in faults.lines() {
        assert!(line.chars().count() < 2000 && !line.contains(['\n', '\r', '\0']), "{line}");
    }
}

/// The beginning of a run; a law may refuse its place.
fn run(scenario: &Scenario) {
    let flows: f64 = scenario.flow_count();
    if flows > MOST_FLOWS || scenario.topology.links.len() > MOST_LINKS {
        return;
    }
    let Ok(mut run) = Run::new(scenario, 1) else { return };
    let mut left = TURNS;
    while run.advance_some(EVENTS) && left > 0 {
        left -= 1;
    }
    // Also where it was cut short every packet must be somewhere.
    run.assert_conservation();
}

/// Flows and links of networks that are run.
const MOST_FLOWS: f64 = 200.0;
const MOST_LINKS: usize = 200;
/// So much of a run.
const TURNS: u32 = 40;
const EVENTS: u64 = 100;

const RECORDED: &str = "title = 'a recording'\nduration = '2 s'\n[bottleneck]\ndelay = '5 ms'\nbuffer = '20 packets'\n\
                        disc = 'codel'\ntrace = { file = 'x' }\n[[flows]]\ncount = 2\n";
