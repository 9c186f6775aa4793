//! `exchange FILE…|FOLDER…`: plays packet-exchange scripts.

use sojourn_exchange::ours::Ours;
use sojourn_exchange::play::{Failure, play};
use sojourn_exchange::script::Script;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if arguments.is_empty() {
        eprintln!("exchange FILE...|FOLDER...");
        return ExitCode::from(2);
    }
    let mut files = Vec::new();
    for argument in &arguments {
        if let Err(error) = find(argument, &mut files) {
            eprintln!("{}: {error}", argument.display());
            return ExitCode::from(2);
        }
    }
    let failures = files.iter().filter(|file| !run(file)).count();
    println!("{} scripts, {failures} failures", files.len());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All scripts at or below `place`, in the order of their names.
fn find(place: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !place.is_dir() {
        files.push(place.into());
        return Ok(());
    }
    let mut inside =
        fs::read_dir(place)?.map(|entry| entry.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    inside.sort();
    let wanted = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|end| end == "pkt");
    inside.iter().filter(|path| wanted(path)).try_for_each(|path| find(path, files))
}

/// Plays one script, and says how it went.
fn run(file: &Path) -> bool {
    let name = file.display();
    match played(file) {
        Ok(title) => println!("ok    {name}: {title}"),
        Err(complaint) => {
            println!("FAIL  {name}{complaint}");
            return false;
        }
    }
    true
}

fn played(file: &Path) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|error| format!(": {error}"))?;
    let script = Script::read(&text).map_err(|fault| format!(":{}: {}", fault.line, fault.message))?;
    let mut host = Ours::new(&script.setup).map_err(|error| format!(": {error}"))?;
    play(&script, &mut host).map_err(|failure| report(&script, &failure))?;
    Ok(script.title)
}

fn report(script: &Script, failure: &Failure) -> String {
    let Failure { line, expected, seen, passed } = failure;
    let mut text = format!(
        ":{line}: {}\n      expected {expected}\n      seen     {seen}\n      so far:\n",
        script.title
    );
    for segment in passed {
        let arrow = if segment.sent { '>' } else { '<' };
        text += &format!("        {:.6} {arrow} {}\n", segment.at.seconds(), segment.packet.text());
    }
    text.trim_end().into()
}
