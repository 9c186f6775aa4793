//! `exchange [--kernel] FILE|FOLDER...`: plays packet-exchange scripts, to our TCP or to this machine's.

#[cfg(target_os = "linux")]
use sojourn_exchange::kernel::{self, Patience, Replay};
use sojourn_exchange::ours::Ours;
#[cfg(target_os = "linux")]
use sojourn_exchange::play::Late;
use sojourn_exchange::play::{Failure, play};
use sojourn_exchange::script::Script;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fmt};

const HELP: &str = "\
exchange [--kernel] FILE|FOLDER...
Plays packet-exchange scripts (*.pkt) to Sojourn's TCP, and says where it does not answer as they have it.

  --kernel   play those that are for it to the TCP of this machine's kernel, in real time (Linux; seconds)
  --help     this

For example, one script, and all that the project has:
  exchange crates/exchange/scripts/prr/figure_1.pkt
  exchange --kernel crates/exchange/scripts

Exit code: 0 all hold; 1 one does not; 2 the input is wrong; 3 this machine cannot; 130 interrupted.
The form of a script: docs/howto/exchange-scripts.md";

fn main() -> ExitCode {
    let arguments = match Arguments::read(env::args_os().skip(1)) {
        Ok(arguments) => arguments,
        Err(fault) => return wrong(&[fault]),
    };
    if arguments.help {
        say(HELP);
        return ExitCode::SUCCESS;
    }
    let mut files = Vec::new();
    let faults: Vec<String> =
        arguments.places.iter().filter_map(|place| find(place, &mut files).err()).collect();
    let (scripts, unread): (Vec<_>, Vec<_>) = files.iter().map(|file| read(file)).partition(Result::is_ok);
    let faults = [faults, unread.into_iter().filter_map(Result::err).collect()].concat();
    if !faults.is_empty() {
        return wrong(&faults);
    }
    let scripts: Vec<(&PathBuf, Script)> = files.iter().zip(scripts.into_iter().flatten()).collect();
    if arguments.kernel {
        return replay(&scripts);
    }
    let pending = scripts.iter().filter(|(_, script)| script.setup.pending.is_some()).count();
    let failures = scripts.iter().filter(|(file, script)| !tell(file, &played(script))).count();
    close(&format!("{} scripts, {failures} failures, {pending} pending", scripts.len()), failures)
}

/// What the user asks for.
#[derive(Default)]
struct Arguments {
    kernel: bool,
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
                Some(flag) if flag.starts_with('-') => {
                    return Err(format!("{flag}: no such flag; there are --kernel and --help"));
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

/// All scripts at or below `place`, in the order of their names.
fn find(place: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !place.is_dir() {
        files.push(place.into());
        return Ok(());
    }
    let before = files.len();
    descend(place, files).map_err(|error| fault(place, error))?;
    let none = "no script in it; a script is a file whose name ends with .pkt";
    if files.len() > before { Ok(()) } else { Err(fault(place, none)) }
}

fn descend(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut inside = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    inside.sort_by_key(fs::DirEntry::path);
    for entry in inside {
        // Links to folders are left alone: they may lead back.
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
    let opened = File::open(file).map_err(|error| fault(file, error))?;
    opened.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| fault(file, error))?;
    if bytes.len() as u64 > LONGEST {
        return Err(fault(file, "longer than 1 MiB; a script is a short text"));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| fault(file, "not a text; a script is one, in UTF-8"))?;
    Script::read(&text)
        .map_err(|wrong| format!("{}:{}: {}", file.display(), wrong.line.max(1), wrong.message))
}

fn fault(place: &Path, what: impl fmt::Display) -> String {
    format!("{}: {what}", place.display())
}

fn played(script: &Script) -> Result<String, String> {
    let mut host = Ours::new(&script.setup).map_err(|error| format!(": {error}"))?;
    match (play(script, &mut host), &script.setup.pending) {
        (Ok(_), None) => Ok(script.title.clone()),
        (Ok(_), Some(_)) => Err(": holds; it is pending no more".into()),
        (Err(_), Some(why)) => Ok(format!("{} (pending: {why})", script.title)),
        (Err(failure), None) => Err(report(script, &failure, "")),
    }
}

/// Plays those scripts to the kernel that are for it. Most of the time of each is waiting: several run at once.
#[cfg(target_os = "linux")]
fn replay(scripts: &[(&PathBuf, Script)]) -> ExitCode {
    use std::sync::atomic::{AtomicUsize, Ordering};

    let patience = match kernel::prepare() {
        Ok(patience) => patience,
        Err(why) => return lacks(&format!("{why}; they need /dev/net/tun, and user namespaces or root")),
    };
    let (for_it, others): (Vec<_>, Vec<_>) =
        scripts.iter().partition(|(_, script)| script.setup.not_for_kernel.is_none());
    for (file, script) in &others {
        let why = script.setup.not_for_kernel.as_deref().unwrap_or("");
        say(&format!("skip  {}: {}: {why}", file.display(), script.title));
    }
    let (next, failures, late) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((file, script)) = for_it.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(outcome) = replayed(script, patience) {
                        failures.fetch_add(usize::from(!tell(file, &outcome)), Ordering::Relaxed);
                    } else {
                        say(&format!("late  {}: {}", file.display(), script.title));
                        late.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let (failures, late) = (failures.into_inner(), late.into_inner());
    if late > 0 {
        say(&format!("{late} not judged: this machine is too busy, or too slow, to play them in time"));
    }
    let last = format!("{} scripts, {failures} failures, {} not for the kernel", for_it.len(), others.len());
    let code = close(&last, failures);
    if failures == 0 && late > 0 { ExitCode::from(3) } else { code }
}

#[cfg(not(target_os = "linux"))]
fn replay(_: &[(&PathBuf, Script)]) -> ExitCode {
    lacks("they need Linux")
}

/// None where it could not be played in time, however often it was tried.
#[cfg(target_os = "linux")]
fn replayed(script: &Script, patience: Patience) -> Option<Result<String, String>> {
    let Replay { tries, outcome } = kernel::replay(script, patience);
    let again =
        if tries > 1 { format!(" (at try {tries}: before, something was late)") } else { String::new() };
    match outcome {
        Ok(_) => Some(Ok(format!("{}{again}", script.title))),
        Err(failure) if failure.late == Some(Late::Script) => None,
        Err(failure) => Some(Err(report(script, &failure, &again))),
    }
}

/// Says how a script went, and whether it holds.
fn tell(file: &Path, outcome: &Result<String, String>) -> bool {
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

/// The last line, and what it comes to.
fn close(line: &str, failures: usize) -> ExitCode {
    say(line);
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The input is wrong: a line for each fault.
fn wrong(faults: &[String]) -> ExitCode {
    for fault in faults {
        eprintln!("{fault}");
    }
    ExitCode::from(2)
}

/// This machine lacks something.
fn lacks(what: &str) -> ExitCode {
    say(&format!("skipped: kernel exchanges: {what}"));
    ExitCode::from(3)
}

/// A line for the user. Where nobody listens any more there is nothing left to do.
fn say(line: &str) {
    if writeln!(io::stdout(), "{line}").is_err() {
        std::process::exit(1);
    }
}

/// No script is longer, bytes.
const LONGEST: u64 = 1 << 20;
/// How many exchanges the kernel plays at once.
#[cfg(target_os = "linux")]
const AT_ONCE: usize = 16;
