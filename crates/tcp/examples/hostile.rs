//! Prints an input of a fuzz target as a packet exchange: `cargo run -p sojourn-tcp --example hostile -- pair FILE`.

#[path = "../tests/hostile/world/mod.rs"]
mod world;

use std::process::ExitCode;
use world::journal::Journal;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [world, file] = words.as_slice() else {
        eprintln!("hostile: needs a world ({}) and a file", world::WORLDS.join(", "));
        return ExitCode::from(2);
    };
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("hostile: {file}: {error}");
            return ExitCode::from(2);
        }
    };
    // A failing input is printed up to the failure.
    let mut journal = Journal::on();
    let run = || world::run_input(world, &bytes, &mut journal);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    print!("{}", journal.text());
    if outcome.is_err() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
