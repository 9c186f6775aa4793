//! Whatever the network does, nothing panics, nothing stalls, and every byte arrives in the end.
//!
//! [`world`] says what an input means and what must be true; `fuzz/` looks for inputs of which it is not. What it
//! found on its way is kept there, and lived through here again.

mod world;

use proptest::prelude::*;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use world::journal::Journal;
use world::{WORLDS, live};

/// Every input that is kept: corpora, and what once went wrong.
#[test]
fn nothing_that_was_found_before_goes_wrong() {
    let failed: Vec<String> = kept().into_iter().filter_map(|(world, path)| failure(world, &path)).collect();
    assert!(failed.is_empty(), "{} inputs:\n{}", failed.len(), failed.join("\n"));
}

/// The corpora are worth what their bytes mean.
#[test]
fn bytes_mean_what_they_meant() {
    // Cubic without SACK, two segments a window; three of them over 10 ms, of which the second is lost.
    let mut bytes = vec![2 | 1 << 5, 1, 0, 0, 0, 2];
    bytes.resize(16, 0);
    bytes[6] = 255;
    bytes.extend([2, 10, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 0, 2]);
    let mut journal = Journal::on();
    live("pair", &bytes, &mut journal);
    insta(journal.text());
}

fn insta(text: &str) {
    println!("{text}");
}

/// The worlds and the files kept for each.
fn kept() -> Vec<(&'static str, PathBuf)> {
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let folders = WORLDS
        .iter()
        .flat_map(|world| ["corpus", "regressions"].map(|kind| (*world, fuzz.join(kind).join(world))));
    let files = folders.flat_map(|(world, folder)| {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.map(move |entry| (world, entry.path()))
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

/// What goes wrong with the input of a file.
fn failure(world: &str, path: &PathBuf) -> Option<String> {
    let bytes = fs::read(path).expect("a file that was listed");
    let lived = catch_unwind(AssertUnwindSafe(|| live(world, &bytes, &mut Journal::off())));
    lived.is_err().then(|| format!("{world}: {}", path.display()))
}

proptest! {
    #[test]
    fn nothing_goes_wrong_for_a_sender(bytes in prop::collection::vec(any::<u8>(), 16..400)) {
        live("sender", &bytes, &mut Journal::off());
    }

    #[test]
    fn nothing_goes_wrong_for_a_receiver(bytes in prop::collection::vec(any::<u8>(), 16..400)) {
        live("receiver", &bytes, &mut Journal::off());
    }

    #[test]
    fn every_byte_arrives_over_any_network(bytes in prop::collection::vec(any::<u8>(), 24..600)) {
        live("pair", &bytes, &mut Journal::off());
    }
}
