//! `exchange [--kernel|--profile=NAME] FILE|FOLDER...`: plays packet-exchange scripts to our TCP or to the kernel's.

#[cfg(target_os = "linux")]
use sojourn_exchange::kernel;
use sojourn_exchange::ours::Ours;
#[cfg(target_os = "linux")]
use sojourn_exchange::play::Late;
use sojourn_exchange::play::{Failure, play};
use sojourn_exchange::script::Script;
use sojourn_exchange::setup;
use sojourn_exchange::stand_in::StandIn;
use sojourn_tcp::Profile;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fmt};

const HELP: &str = "\
exchange [--kernel|--profile=NAME] FILE|FOLDER...
Plays packet-exchange scripts (*.pkt) to Sojourn's TCP, and reports where it differs from them.

  --kernel   play the scripts meant for it to the TCP of this machine's kernel, in real time (Linux; seconds)
  --profile=NAME
             play the scripts meant for the kernel to Sojourn's TCP under a profile, in the kernel's place
  --help     this

For example, one script, and all scripts of the project:
  exchange exchange/scripts/prr/figure_1.pkt
  exchange --kernel exchange/scripts
  exchange --profile=linux exchange/scripts

Exit code: 0 all pass; 1 one fails; 2 invalid input; 3 not possible on this machine; 130 interrupted.
The syntax of scripts: docs/howto/exchange-scripts.md";

fn main() -> ExitCode {
    let arguments = match Arguments::read(env::args_os().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => return invalid_input(&[error]),
    };
    if arguments.help {
        say(HELP);
        return ExitCode::SUCCESS;
    }
    let mut files = Vec::new();
    let errors: Vec<String> =
        arguments.places.iter().filter_map(|place| find(place, &mut files).err()).collect();
    let (scripts, unread): (Vec<_>, Vec<_>) = files.iter().map(|file| read(file)).partition(Result::is_ok);
    let errors = [errors, unread.into_iter().filter_map(Result::err).collect()].concat();
    if !errors.is_empty() {
        return invalid_input(&errors);
    }
    let scripts: Vec<(&PathBuf, Script)> = files.iter().zip(scripts.into_iter().flatten()).collect();
    if arguments.kernel {
        return replay(&scripts);
    }
    if let Some(profile) = &arguments.profile {
        return stand_in(&scripts, profile);
    }
    let pending = scripts.iter().filter(|(_, script)| script.setup.pending.is_some()).count();
    let failures = scripts.iter().filter(|(file, script)| !report_outcome(file, &played(script))).count();
    close(&format!("{} scripts, {failures} failures, {pending} pending", scripts.len()), failures)
}

/// Arguments of the command.
#[derive(Default)]
struct Arguments {
    kernel: bool,
    profile: Option<Profile>,
    help: bool,
    places: Vec<PathBuf>,
}

impl Arguments {
    fn read(words: impl Iterator<Item = OsString>) -> Result<Arguments, String> {
        let mut arguments = Arguments::default();
        for word in words {
            match word.to_str() {
                Some("--kernel") => arguments.kernel = true,
                Some("--help" | "-h") => arguments.help = true,
                Some(flag) if flag.starts_with("--profile=") => {
                    arguments.profile = Some(setup::profile(&flag["--profile=".len()..])?);
                }
                Some(flag) if flag.starts_with('-') => {
                    return Err(format!("{flag}: no such flag; expected --kernel, --profile=NAME or --help"));
                }
                _ => arguments.places.push(word.into()),
            }
        }
        if arguments.places.is_empty() && !arguments.help {
            return Err("no script; name a file or a folder, or see --help".into());
        }
        Ok(arguments)
    }
}

/// Collects all scripts at or below `place`, in order of their names.
fn find(place: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !place.is_dir() {
        files.push(place.into());
        return Ok(());
    }
    let before = files.len();
    descend(place, files).map_err(|error| file_error(place, error))?;
    let none = "no script in it; a script is a file whose name ends with .pkt";
    if files.len() > before { Ok(()) } else { Err(file_error(place, none)) }
}

fn descend(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut inside = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    inside.sort_by_key(fs::DirEntry::path);
    for entry in inside {
        // Links to folders are skipped, as they may form cycles.
        if entry.file_type()?.is_dir() {
            descend(&entry.path(), files)?;
        } else if entry.path().extension().is_some_and(|end| end == "pkt") {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<Script, String> {
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(|error| file_error(file, error))?;
    opened.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| file_error(file, error))?;
    if bytes.len() as u64 > LONGEST {
        return Err(file_error(file, "longer than 1 MiB; a script is a short text"));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| file_error(file, "not a text; a script is one, in UTF-8"))?;
    Script::read(&text)
        .map_err(|wrong| format!("{}:{}: {}", file.display(), wrong.line.max(1), wrong.message))
}

fn file_error(place: &Path, message: impl fmt::Display) -> String {
    format!("{}: {message}", place.display())
}

fn played(script: &Script) -> Result<String, String> {
    let mut host = Ours::new(&script.setup);
    match (play(script, &mut host), &script.setup.pending) {
        (Ok(_), None) => Ok(script.title.clone()),
        (Ok(_), Some(_)) => Err(": passes; it is no longer pending".into()),
        (Err(_), Some(why)) => Ok(format!("{} (pending: {why})", script.title)),
        (Err(failure), None) => Err(report(script, &failure, "")),
    }
}

/// Plays the scripts meant for the kernel to our TCP under a profile.
fn stand_in(scripts: &[(&PathBuf, Script)], profile: &Profile) -> ExitCode {
    let for_it: Vec<_> = scripts.iter().filter(|(_, script)| script.setup.not_for_kernel.is_none()).collect();
    let played = |script: &Script| {
        let mut host = StandIn::new(&script.setup, profile);
        play(script, &mut host).map(|_| script.title.clone()).map_err(|failure| report(script, &failure, ""))
    };
    let failures = for_it.iter().filter(|(file, script)| !report_outcome(file, &played(script))).count();
    close(&format!("{} scripts, {failures} failures", for_it.len()), failures)
}

/// Plays the scripts meant for the kernel: all together, as most of the time of each is waiting, then those that failed
/// again, one after another.
#[cfg(target_os = "linux")]
fn replay(scripts: &[(&PathBuf, Script)]) -> ExitCode {
    if let Err(why) = kernel::prepare() {
        return unsupported(&format!("{why}; they need /dev/net/tun, and user namespaces or root"));
    }
    let (for_it, others): (Vec<_>, Vec<_>) =
        scripts.iter().partition(|(_, script)| script.setup.not_for_kernel.is_none());
    for (file, script) in &others {
        let why = script.setup.not_for_kernel.as_deref().unwrap_or("");
        say(&format!("skip  {}: {}: {why}", file.display(), script.title));
    }
    let (mut failures, mut late) = (0, 0);
    for (file, script) in replay_together(&for_it) {
        if let Some(outcome) = replay_alone(script) {
            failures += usize::from(!report_outcome(file, &outcome));
        } else {
            say(&format!("late  {}: {}", file.display(), script.title));
            late += 1;
        }
    }
    if late > 0 {
        say(&format!("{late} not judged: this machine is too busy, or too slow, to play them in time"));
    }
    let last = format!("{} scripts, {failures} failures, {} not for the kernel", for_it.len(), others.len());
    let code = close(&last, failures);
    if failures == 0 && late > 0 { ExitCode::from(3) } else { code }
}

/// Plays scripts to the kernel, many at once; returns those that failed.
#[cfg(target_os = "linux")]
fn replay_together<'a>(scripts: &[&'a (&'a PathBuf, Script)]) -> Vec<&'a (&'a PathBuf, Script)> {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(&one) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (file, script) = one;
                    match kernel::replay(script) {
                        Ok(_) => say(&format!("ok    {}: {}", file.display(), script.title)),
                        Err(_) => failed.lock().unwrap().push(one),
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap()
}

/// Plays a script to the kernel again, up to [`TRIES`] in all; None if it could not be played in time at the last.
#[cfg(target_os = "linux")]
fn replay_alone(script: &Script) -> Option<Result<String, String>> {
    let mut tries = 2;
    loop {
        match kernel::replay(script) {
            Ok(_) => return Some(Ok(format!("{} (at try {tries})", script.title))),
            Err(_) if tries < TRIES => tries += 1,
            Err(failure) if failure.late == Some(Late::Script) => return None,
            Err(failure) => {
                return Some(Err(report(script, &failure, &format!(" (at each of {TRIES} tries)"))));
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn replay(_: &[(&PathBuf, Script)]) -> ExitCode {
    unsupported("they need Linux")
}

/// Prints the outcome of a script, returning whether it passed.
fn report_outcome(file: &Path, outcome: &Result<String, String>) -> bool {
    let name = file.display();
    match outcome {
        Ok(title) => say(&format!("ok    {name}: {title}")),
        Err(complaint) => say(&format!("FAIL  {name}{complaint}")),
    }
    outcome.is_ok()
}

fn report(script: &Script, failure: &Failure, again: &str) -> String {
    let Failure { line, expected, seen, passed, .. } = failure;
    let mut text = format!(
        ":{line}: {}{again}\n      expected {expected}\n      seen     {seen}\n      so far:\n",
        script.title
    );
    for segment in passed {
        let arrow = if segment.sent { '>' } else { '<' };
        text += &format!("        {:.6} {arrow} {}\n", segment.at.seconds(), segment.packet.text());
    }
    text.trim_end().into()
}

/// Prints the last line, and returns the exit code.
fn close(line: &str, failures: usize) -> ExitCode {
    say(line);
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a line for each error in the input.
fn invalid_input(errors: &[String]) -> ExitCode {
    for error in errors {
        eprintln!("{error}");
    }
    ExitCode::from(2)
}

/// Reports a missing capability of this machine.
fn unsupported(message: &str) -> ExitCode {
    say(&format!("skipped: kernel exchanges: {message}"));
    ExitCode::from(3)
}

/// Prints a line; exits if the output is closed.
fn say(line: &str) {
    if writeln!(io::stdout(), "{line}").is_err() {
        std::process::exit(1);
    }
}

/// Longest script, bytes.
const LONGEST: u64 = 1 << 20;
/// Exchanges played to the kernel at once.
#[cfg(target_os = "linux")]
const AT_ONCE: usize = 16;
/// Most tries of an exchange, the first beside others: a busy machine delays the kernel's timers, and no clock of a
/// process shows by how much.
#[cfg(target_os = "linux")]
const TRIES: u32 = 3;
