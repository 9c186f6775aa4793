//! Writes what follows from the Rust sources, so that nobody writes it twice.
//!
//! ```text
//! cargo run -q -p xtask -- generate           writes the files
//! cargo run -q -p xtask -- generate --check   says which differ, and fails
//! ```

mod laws;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["generate"] => finish(generated().iter().all(write)),
        ["generate", "--check"] => finish(generated().iter().filter(|file| !is_current(file)).count() == 0),
        _ => {
            eprintln!("xtask: legal: generate, generate --check");
            ExitCode::from(2)
        }
    }
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
    let path = place(file);
    let folder = path.parent().unwrap_or(&path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, &file.text));
    if let Err(error) = &written {
        eprintln!("xtask: {}: cannot be written: {error}", file.path);
    }
    written.is_ok()
}

fn is_current(file: &Generated) -> bool {
    let current = fs::read_to_string(place(file)).is_ok_and(|text| text == file.text);
    if !current {
        eprintln!("xtask: {} is not what the sources say; run: cargo run -p xtask -- generate", file.path);
    }
    current
}

fn place(file: &Generated) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file.path)
}

fn finish(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_files_are_current() {
        assert!(generated().iter().all(is_current), "run: cargo run -p xtask -- generate");
    }

    #[test]
    fn a_file_that_differs_or_is_missing_is_told() {
        let [laws, _] = generated();
        assert!(!is_current(&Generated { text: laws.text.clone() + "\n", ..laws }));
        assert!(!is_current(&Generated { path: "python/sojourn/none.py", text: String::new() }));
    }
}
