//! Writes what follows from the Rust sources, so that nobody writes it twice.
//!
//! ```text
//! cargo run -q -p xtask -- generate           writes the files
//! cargo run -q -p xtask -- generate --check   says which differ, and fails
//! cargo run -q -p xtask -- bless --reason WHY  writes the golden traces, and the reason beside them
//! ```

mod clauses;
mod laws;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["generate"] => finish(generated().iter().all(write)),
        ["generate", "--check"] => finish(generated().iter().filter(|file| !is_current(file)).count() == 0),
        ["bless", "--reason", reason] if !reason.trim().is_empty() => finish(bless(reason.trim())),
        ["bless", ..] => {
            eprintln!(
                "xtask: bless wants a reason: cargo run -p xtask -- bless --reason \"why verdicts change\""
            );
            ExitCode::from(2)
        }
        _ => {
            eprintln!("xtask: legal: generate, generate --check, bless --reason WHY");
            ExitCode::from(2)
        }
    }
}

/// Writes the traces that differ, removes those of no law, and notes the reason for each law.
fn bless(reason: &str) -> bool {
    let stale = stale_vectors();
    if stale.is_empty() {
        println!("xtask: vectors/ is current; no reason noted");
        return true;
    }
    let mut laws: Vec<&str> = stale.iter().filter_map(|path| path.split('/').next()).collect();
    laws.dedup();
    let reasons = VECTORS.to_owned() + "/REASONS.md";
    let mut text = fs::read_to_string(place(&reasons)).unwrap_or_else(|_| REASONS.into());
    text += &format!("- {}: {}\n", laws.join(", "), reason.split_whitespace().collect::<Vec<_>>().join(" "));
    let vectors = every_vector();
    stale.iter().all(|path| {
        println!("xtask: {VECTORS}/{path}");
        let file = format!("{VECTORS}/{path}");
        match vectors.iter().find(|vector| vector.path == *path) {
            Some(vector) => write_text(&file, &vector.text),
            None => fs::remove_file(place(&file)).is_ok(),
        }
    }) && write_text(&reasons, &text)
}

/// The traces of what happens to a law, and those of single clauses.
fn every_vector() -> Vec<vectors::Vector> {
    vectors::vectors().into_iter().chain(clauses::vectors()).collect()
}

/// The traces that differ from what the laws answer, are missing, or belong to no law.
fn stale_vectors() -> Vec<String> {
    let vectors = every_vector();
    let current = |path: &str, text: &str| {
        fs::read_to_string(place(&format!("{VECTORS}/{path}"))).is_ok_and(|found| found == text)
    };
    let differ = vectors.iter().filter(|vector| !current(&vector.path, &vector.text));
    let mut stale: Vec<String> = differ.map(|vector| vector.path.clone()).collect();
    let known = |path: &str| vectors.iter().any(|vector| vector.path == path);
    stale.extend(traces().into_iter().filter(|path| !known(path)));
    stale.sort();
    stale
}

/// The traces that are there.
fn traces() -> Vec<String> {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().collect::<Vec<_>>();
    let folders = entries(&place(VECTORS)).into_iter().filter(|entry| entry.path().is_dir());
    let files = folders.flat_map(|folder| {
        let law = folder.file_name().to_string_lossy().into_owned();
        entries(&folder.path()).into_iter().map(move |file| format!("{law}/{}", file.file_name().display()))
    });
    // What somebody's editor left there is not ours to remove.
    files.filter(|file| Path::new(file).extension().is_some_and(|end| end == "jsonl")).collect()
}

/// A generated file: its place in the repository, and what belongs there.
struct Generated {
    path: &'static str,
    text: String,
}

fn generated() -> [Generated; 2] {
    let schema = serde_json::to_string_pretty(&sojourn_scenario::schema()).expect("a JSON value") + "\n";
    [
        Generated { path: "python/sojourn/laws.py", text: laws::module() },
        Generated { path: "schema/scenario.schema.json", text: schema },
    ]
}

fn write(file: &Generated) -> bool {
    write_text(file.path, &file.text)
}

fn write_text(file: &str, text: &str) -> bool {
    let path = place(file);
    let folder = path.parent().unwrap_or(&path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
    if let Err(error) = &written {
        eprintln!("xtask: {file}: cannot be written: {error}");
    }
    written.is_ok()
}

fn is_current(file: &Generated) -> bool {
    let current = fs::read_to_string(place(file.path)).is_ok_and(|text| text == file.text);
    if !current {
        eprintln!("xtask: {} is not what the sources say; run: cargo run -p xtask -- generate", file.path);
    }
    current
}

fn place(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

fn finish(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Where the golden traces are.
const VECTORS: &str = "vectors";

/// The head of the file of reasons.
const REASONS: &str = "# Why the golden traces are what they are

One line for each time that verdicts changed: the laws, and why. Written by `cargo run -p xtask -- bless --reason WHY`.

";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_files_are_current() {
        assert!(generated().iter().all(is_current), "run: cargo run -p xtask -- generate");
    }

    #[test]
    fn the_golden_traces_are_what_the_laws_answer() {
        let stale = stale_vectors();
        assert!(
            stale.is_empty(),
            "{stale:?} differ; if that is meant: cargo run -p xtask -- bless --reason WHY"
        );
    }

    #[test]
    fn a_file_that_differs_or_is_missing_is_told() {
        let [laws, _] = generated();
        assert!(!is_current(&Generated { text: laws.text.clone() + "\n", ..laws }));
        assert!(!is_current(&Generated { path: "python/sojourn/none.py", text: String::new() }));
    }
}
