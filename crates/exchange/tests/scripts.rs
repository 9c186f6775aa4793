//! Every script of the folder, played to our TCP.

use sojourn_exchange::ours::Ours;
use sojourn_exchange::play::play;
use sojourn_exchange::script::Script;
use std::fs;
use std::path::Path;

/// Scripts in all, at least.
const LEAST: usize = 80;

/// All are kept, but for those that say why they are not yet.
#[test]
fn every_script_is_kept() {
    let scripts = all();
    let mut faults = Vec::new();
    for (name, text) in &scripts {
        match outcome(text) {
            Err(complaint) => faults.push(format!("{name}: {complaint}")),
            Ok(true) => faults.push(format!("{name}: passes; it is pending no more")),
            Ok(false) => {}
        }
    }
    assert!(faults.is_empty(), "{} of {} scripts:\n{}", faults.len(), scripts.len(), faults.join("\n"));
}

#[test]
fn there_are_enough_of_them() {
    let scripts = all();
    assert!(scripts.len() >= LEAST, "{} scripts, {LEAST} are promised", scripts.len());
}

/// A script is for the kernel, or says why it is not.
#[test]
fn every_script_says_whether_it_is_for_the_kernel() {
    let silent = |(name, text): (String, String)| (!text.contains("\n--kernel=")).then_some(name);
    let silent: Vec<_> = all().into_iter().filter_map(silent).collect();
    assert!(silent.is_empty(), "{}", silent.join(", "));
}

/// All scripts, pending or not, can be read: what they cite is checked there.
#[test]
fn every_script_can_be_read() {
    let read =
        |(name, text): &(String, String)| Script::read(text).err().map(|fault| format!("{name}: {fault}"));
    let faults: Vec<_> = all().iter().filter_map(read).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether a script that is pending is kept nevertheless.
fn outcome(text: &str) -> Result<bool, String> {
    let script = Script::read(text).map_err(|fault| fault.to_string())?;
    let mut host = Ours::new(&script.setup)?;
    let played = play(&script, &mut host).map_err(|failure| {
        format!("line {}: expected {}, seen {}", failure.line, failure.expected, failure.seen)
    });
    if script.setup.pending.is_some() { Ok(played.is_ok()) } else { played.map(|_| false) }
}

/// Name (topic/script) and text of each script, in the order of names.
fn all() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let entries = |place: &Path| {
        let mut paths: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let name = |path: &Path| {
        path.strip_prefix(&folder).unwrap().with_extension("").to_str().unwrap().replace('\\', "/")
    };
    let files = entries(&folder).into_iter().flat_map(|topic| entries(&topic));
    files.map(|file| (name(&file), fs::read_to_string(&file).unwrap())).collect()
}
