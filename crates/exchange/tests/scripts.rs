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

/// The page on the kernel names each script that it does not play as ours does, and says how many there are.
#[test]
fn what_differs_on_the_kernel_is_explained() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/deviations/linux.md");
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
        let told = page.lines().any(|line| {
            line.split("not played:").nth(1).is_some_and(|rest| rest.contains(&format!("`{name}`")))
        });
        assert!(!told || begins(text, &["--kernel=no"]), "{name} is played");
    }
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
