//! Any file leads to a run or to one line per error.
//!
//! [`world`] defines the meaning of an input; `fuzz/` searches for inputs that break a reader or the plant behind it.
//! Its corpus is stored there, and replayed here.

mod world;

use std::fs;
use std::panic::catch_unwind;
use std::path::PathBuf;
use world::{WORLDS, live};

/// Every stored input: corpora and regressions.
#[test]
fn stored_inputs_pass() {
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut failed = Vec::new();
    for world in WORLDS {
        let folders = ["corpus", "regressions"].map(|kind| fuzz.join(kind).join(world));
        let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        assert!(paths.len() >= LEAST_KEPT, "{} inputs are kept for {world}", paths.len());
        for path in paths {
            let bytes = fs::read(&path).unwrap();
            if catch_unwind(|| live(world, &bytes)).is_err() {
                failed.push(path);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The files of the gallery.
#[test]
fn every_scenario_of_the_gallery_begins_to_run() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut folders = vec![root];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "toml") {
                live("scenario", &fs::read(&path).unwrap());
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
}

/// Fewest stored inputs of each world.
const LEAST_KEPT: usize = 20;
