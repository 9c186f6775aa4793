//! Whatever a file holds, it ends in a run or in a line a fault.
//!
//! [`world`] says what an input means; `fuzz/` looks for inputs that upset a reader or the plant behind it. What it found
//! on its way is kept there, and lived through here again.

mod world;

use std::fs;
use std::panic::catch_unwind;
use std::path::PathBuf;
use world::{WORLDS, live};

/// Every input that is kept: corpora, and what once went wrong.
#[test]
fn nothing_that_was_found_before_goes_wrong() {
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

/// The files that come with Sojourn.
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

/// Inputs that are kept for each world, at least.
const LEAST_KEPT: usize = 20;
