//! Generates files that follow from the Rust sources.
//!
//! ```text
//! cargo run -q -p xtask -- generate           writes the files
//! cargo run -q -p xtask -- generate --check   lists those that differ, and fails
//! cargo run -q -p xtask -- bless --reason WHY  writes the golden traces, and the reason
//! ```

mod classes;
mod clauses;
mod metrics;
mod qdisc_clauses;
mod qdisc_vectors;
mod vectors;

use classes::MODULES;
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
                "xtask: bless needs a reason: cargo run -p xtask -- bless --reason \"why verdicts change\""
            );
            ExitCode::from(2)
        }
        _ => {
            eprintln!("xtask: expected generate, generate --check, bless --reason WHY");
            ExitCode::from(2)
        }
    }
}

/// Writes the traces that differ, removes those of no law, and records the reason.
fn bless(reason: &str) -> bool {
    let stale = stale_vectors();
    if stale.is_empty() {
        println!("xtask: vectors/ is current; no reason recorded");
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

/// All traces: those of plots, and those of single clauses.
fn every_vector() -> Vec<vectors::Vector> {
    let of_laws = vectors::vectors().into_iter().chain(clauses::vectors());
    of_laws.chain(qdisc_vectors::vectors()).chain(qdisc_clauses::vectors()).collect()
}

/// Paths of the traces that differ from the answers of the laws, are missing, or belong to no law.
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

/// Paths of the present traces.
fn traces() -> Vec<String> {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().collect::<Vec<_>>();
    let folders = entries(&place(VECTORS)).into_iter().filter(|entry| entry.path().is_dir());
    let files = folders.flat_map(|folder| {
        let law = folder.file_name().to_string_lossy().into_owned();
        entries(&folder.path()).into_iter().map(move |file| format!("{law}/{}", file.file_name().display()))
    });
    // Other files there, such as those of an editor, are not removed.
    files.filter(|file| Path::new(file).extension().is_some_and(|end| end == "jsonl")).collect()
}

/// A generated file: its path in the repository, and its text.
struct Generated {
    path: &'static str,
    text: String,
}

fn generated() -> Vec<Generated> {
    let schema = serde_json::to_string_pretty(&sojourn_describe::schema()).expect("a JSON value") + "\n";
    let classes = MODULES.iter().map(|module| Generated { path: module.path, text: module.text() });
    let others = [
        Generated { path: "python/sojourn/result/metrics.py", text: metrics::module() },
        Generated { path: "schema/scenario.schema.json", text: schema },
    ];
    classes.chain(others).collect()
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
        eprintln!("xtask: {} differs from the sources; run: cargo run -p xtask -- generate", file.path);
    }
    current
}

fn place(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

fn finish(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Folder of the golden traces.
const VECTORS: &str = "vectors";

/// Head of the file of reasons.
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
    fn the_golden_traces_are_the_answers_of_the_laws() {
        let stale = stale_vectors();
        assert!(
            stale.is_empty(),
            "{stale:?} differ; if that is intended: cargo run -p xtask -- bless --reason WHY"
        );
    }

    #[test]
    fn a_file_that_differs_or_is_missing_is_not_current() {
        let laws = generated().swap_remove(0);
        assert!(!is_current(&Generated { text: laws.text.clone() + "\n", ..laws }));
        assert!(!is_current(&Generated { path: "python/sojourn/none.py", text: String::new() }));
    }
}
