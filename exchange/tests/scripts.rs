//! All scripts of the folder, played to our TCP.

mod common;

use common::all;
use sojourn_exchange::ours::Ours;
use sojourn_exchange::play::play;
use sojourn_exchange::script::Script;
use std::fs;
use std::path::Path;

/// Least number of scripts.
const LEAST: usize = 80;

/// All pass, except those that give a reason for pending.
#[test]
fn every_script_passes() {
    let scripts = all();
    let mut errors = Vec::new();
    for (name, text) in &scripts {
        match outcome(text) {
            Err(complaint) => errors.push(format!("{name}: {complaint}")),
            Ok(true) => errors.push(format!("{name}: passes; it is no longer pending")),
            Ok(false) => {}
        }
    }
    assert!(errors.is_empty(), "{} of {} scripts:\n{}", errors.len(), scripts.len(), errors.join("\n"));
}

#[test]
fn there_are_enough_scripts() {
    let scripts = all();
    assert!(scripts.len() >= LEAST, "{} scripts, {LEAST} are promised", scripts.len());
}

/// A script is for the kernel, or gives a reason.
#[test]
fn every_script_is_for_the_kernel_or_gives_a_reason() {
    let silent = |(name, text): (String, String)| (!text.contains("\n--kernel=")).then_some(name);
    let silent: Vec<_> = all().into_iter().filter_map(silent).collect();
    assert!(silent.is_empty(), "{}", silent.join(", "));
}

/// All scripts, pending or not, can be read, which checks their sources.
#[test]
fn every_script_can_be_read() {
    let read =
        |(name, text): &(String, String)| Script::read(text).err().map(|error| format!("{name}: {error}"));
    let errors: Vec<_> = all().iter().filter_map(read).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// The page on the kernel names each script that is not played to it, and their number.
#[test]
fn differences_of_the_kernel_are_explained() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/deviations/linux.md");
    let page = fs::read_to_string(page).unwrap();
    let scripts = all();
    let begins = |text: &str, starts: &[&str]| {
        text.lines().any(|line| starts.iter().any(|start| line.starts_with(start)))
    };
    let played = scripts.iter().filter(|(_, text)| begins(text, &["--kernel=yes"]));
    let same = played.clone().filter(|(_, text)| !begins(text, &["ours:", "kernel:"]));
    let counts = format!(
        "Of {} scripts {} are played to it, {} of them without such a line.",
        scripts.len(),
        played.count(),
        same.count()
    );
    assert!(page.contains(&counts), "{counts}");
    for (name, text) in &scripts {
        let differs = begins(text, &["--kernel=no", "ours:", "kernel:"]);
        assert!(!differs || page.contains(&format!("`{name}`")), "{name} is not in docs/deviations/linux.md");
        let is_listed = page.lines().any(|line| {
            line.split("not played:").nth(1).is_some_and(|rest| rest.contains(&format!("`{name}`")))
        });
        assert!(!is_listed || begins(text, &["--kernel=no"]), "{name} is played");
    }
}

/// Returns whether a pending script passes nevertheless.
fn outcome(text: &str) -> Result<bool, String> {
    let script = Script::read(text).map_err(|error| error.to_string())?;
    let mut host = Ours::new(&script.setup);
    let played = play(&script, &mut host).map_err(|failure| {
        format!("line {}: expected {}, seen {}", failure.line, failure.expected, failure.seen)
    });
    if script.setup.pending.is_some() { Ok(played.is_ok()) } else { played.map(|_| false) }
}
