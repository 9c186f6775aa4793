//! Every script of the folder, played to our TCP.

use sojourn_exchange::ours::Ours;
use sojourn_exchange::play::play;
use sojourn_exchange::script::Script;
use std::fs;
use std::path::Path;

/// Scripts that fail for a reason that is known. One that passes does not belong here.
const PENDING: &[(&str, &str)] = &[];

/// Scripts in all, at least.
const LEAST: usize = 80;

#[test]
fn every_script_is_kept() {
    let scripts = all();
    let pending = |name: &str| PENDING.iter().any(|(pending, _)| *pending == name);
    let mut faults = Vec::new();
    for (name, text) in &scripts {
        match (outcome(text), pending(name)) {
            (Err(complaint), false) => faults.push(format!("{name}: {complaint}")),
            (Ok(()), true) => faults.push(format!("{name}: passes; it is pending no more")),
            _ => {}
        }
    }
    for (name, _) in PENDING.iter().filter(|(name, _)| !scripts.iter().any(|(script, _)| script == name)) {
        faults.push(format!("{name}: is pending, and does not exist"));
    }
    assert!(faults.is_empty(), "{} of {} scripts:\n{}", faults.len(), scripts.len(), faults.join("\n"));
}

#[test]
fn there_are_enough_of_them() {
    let scripts = all();
    assert!(scripts.len() >= LEAST, "{} scripts, {LEAST} are promised", scripts.len());
}

/// All scripts, pending or not, can be read: what they cite is checked there.
#[test]
fn every_script_can_be_read() {
    let read =
        |(name, text): &(String, String)| Script::read(text).err().map(|fault| format!("{name}: {fault}"));
    let faults: Vec<_> = all().iter().filter_map(read).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn outcome(text: &str) -> Result<(), String> {
    let script = Script::read(text).map_err(|fault| fault.to_string())?;
    let mut host = Ours::new(&script.setup)?;
    let played = play(&script, &mut host).map_err(|failure| {
        format!("line {}: expected {}, seen {}", failure.line, failure.expected, failure.seen)
    });
    played.map(|_| ())
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
