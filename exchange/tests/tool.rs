//! The command `exchange`: error messages and exit codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Temporary folder of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("exchange-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const HEAD: &str = "// A sender\n// RFC 5681, section 3.1\n";

fn exchange(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_exchange")).args(arguments).output().unwrap()
}

/// Asserts one line on stderr with this text, and exit code 2.
#[track_caller]
fn refuses(place: &Path, hint: &str) {
    let Output { status, stdout, stderr } = exchange(&[place]);
    let errors = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{errors}");
    assert!(stdout.is_empty() && errors.lines().count() == 1 && errors.contains(hint), "{errors}");
}

#[test]
fn help_has_an_example() {
    let output = exchange(&[Path::new("--help")]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("  exchange --kernel exchange/scripts"));
}

#[test]
fn invalid_scripts_are_refused_with_a_line() {
    let folder = Folder::new("refused");
    refuses(Path::new("--colour"), "--colour");
    refuses(&folder.0.join("nowhere.pkt"), "nowhere.pkt");
    refuses(&folder.0, "no script in it");
    refuses(&folder.file("binary.pkt", [0xff, 0xfe, 0, 1]), "not a text");
    refuses(&folder.file("zeros.pkt", [0; 100]), "not a text");
    refuses(&folder.file("long.pkt", vec![b'/'; 2 << 20]), "1 MiB");
    refuses(&folder.file("error.pkt", format!("{HEAD}+0 fly")), "error.pkt:3: \"fly\"");
    refuses(
        &folder.file("option.pkt", format!("{HEAD}--color=blue\n+0 connect")),
        "option.pkt:3: \"--color\"",
    );
    refuses(&folder.file("many.pkt", format!("{HEAD}+0 < ack 0 times 999999999999")), "many.pkt:3: ");
}

/// An error in one script prevents all from being played, and each error is reported.
#[test]
fn every_error_is_reported() {
    let folder = Folder::new("errors");
    let good = folder.file("good.pkt", format!("{HEAD}+0 connect\n+0 > S 0:0(0)"));
    let bad = folder.file("bad.pkt", format!("{HEAD}+0 fly"));
    let output = exchange(&[&good, &bad, &folder.0.join("nowhere.pkt")]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 2);
    assert!(exchange(&[&good]).status.success());
}

#[test]
fn a_failing_script_has_exit_code_1() {
    let folder = Folder::new("fails");
    let output = exchange(&[&folder.file("fails.pkt", format!("{HEAD}+0 connect\n+1 > S 0:0(0)"))]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("fails.pkt:4: A sender"));
}

/// A pending script may fail; one that passes is no longer pending.
#[test]
fn a_pending_script_must_fail() {
    let folder = Folder::new("pending");
    let script = |time: &str| format!("{HEAD}--pending=a reason\n+0 connect\n{time} > S 0:0(0)");
    assert!(exchange(&[&folder.file("fails.pkt", script("+1"))]).status.success());
    assert_eq!(exchange(&[&folder.file("holds.pkt", script("+0"))]).status.code(), Some(1));
}
