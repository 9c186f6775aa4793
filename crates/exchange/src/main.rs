//! `exchange [--kernel] FILE…|FOLDER…`: plays packet-exchange scripts, to our TCP or to this machine's.

use sojourn_exchange::kernel;
use sojourn_exchange::ours::Ours;
use sojourn_exchange::play::{Failure, play};
use sojourn_exchange::script::Script;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, thread};

fn main() -> ExitCode {
    let mut arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let to_kernel = arguments.first().is_some_and(|first| first.as_os_str() == "--kernel");
    arguments.drain(..usize::from(to_kernel));
    if arguments.is_empty() {
        eprintln!("exchange [--kernel] FILE...|FOLDER...");
        return ExitCode::from(2);
    }
    let mut files = Vec::new();
    for argument in &arguments {
        if let Err(error) = find(argument, &mut files) {
            eprintln!("{}: {error}", argument.display());
            return ExitCode::from(2);
        }
    }
    if to_kernel {
        return replay(&files);
    }
    let failures = files.iter().filter(|file| !run(file)).count();
    println!("{} scripts, {failures} failures", files.len());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays those scripts to the kernel that are for it. Most of the time of each is waiting: several run at once.
fn replay(files: &[PathBuf]) -> ExitCode {
    if let Err(why) = kernel::prepare() {
        println!("skipped: kernel exchanges ({why})");
        return ExitCode::SUCCESS;
    }
    let (next, played, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(outcome) = replayed(file) else { continue };
                    played.fetch_add(1, Ordering::Relaxed);
                    failures.fetch_add(usize::from(!tell(file, outcome)), Ordering::Relaxed);
                }
            });
        }
    });
    let failures = failures.into_inner();
    println!("{} scripts, {failures} failures", played.into_inner());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// None where the script is not for the kernel.
fn replayed(file: &Path) -> Option<Result<String, String>> {
    let script = match read(file) {
        Ok(script) => script,
        Err(complaint) => return Some(Err(complaint)),
    };
    if script.setup.not_for_kernel.is_some() {
        return None;
    }
    let passed = kernel::replay(&script).map_err(|failure| report(&script, &failure));
    Some(passed.map(|_| script.title))
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
    tell(file, played(file))
}

fn tell(file: &Path, outcome: Result<String, String>) -> bool {
    let name = file.display();
    match outcome {
        Ok(title) => println!("ok    {name}: {title}"),
        Err(complaint) => {
            println!("FAIL  {name}{complaint}");
            return false;
        }
    }
    true
}

fn played(file: &Path) -> Result<String, String> {
    let script = read(file)?;
    let mut host = Ours::new(&script.setup).map_err(|error| format!(": {error}"))?;
    play(&script, &mut host).map_err(|failure| report(&script, &failure))?;
    Ok(script.title)
}

fn read(file: &Path) -> Result<Script, String> {
    let text = fs::read_to_string(file).map_err(|error| format!(": {error}"))?;
    Script::read(&text).map_err(|fault| format!(":{}: {}", fault.line, fault.message))
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

/// How many exchanges the kernel plays at once.
const AT_ONCE: usize = 16;
