//! The command `exchange`, as its user meets it: a clear line for whatever is wrong, and the exit code for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for each test, gone with it.
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

/// One line on the error output, which says this, and exit code 2.
#[track_caller]
fn refuses(place: &Path, hint: &str) {
    let Output { status, stdout, stderr } = exchange(&[place]);
    let told = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{told}");
    assert!(stdout.is_empty() && told.lines().count() == 1 && told.contains(hint), "{told}");
}

#[test]
fn help_has_an_example() {
    let said = exchange(&[Path::new("--help")]);
    assert!(said.status.success());
    assert!(String::from_utf8(said.stdout).unwrap().contains("  exchange --kernel crates/exchange/scripts"));
}

#[test]
fn what_is_no_script_is_refused_with_a_line() {
    let folder = Folder::new("refused");
    refuses(Path::new("--colour"), "--colour");
    refuses(&folder.0.join("nowhere.pkt"), "nowhere.pkt");
    refuses(&folder.0, "no script in it");
    refuses(&folder.file("binary.pkt", [0xff, 0xfe, 0, 1]), "not a text");
    refuses(&folder.file("zeros.pkt", [0; 100]), "not a text");
    refuses(&folder.file("long.pkt", vec![b'/'; 2 << 20]), "1 MiB");
    refuses(&folder.file("fault.pkt", format!("{HEAD}+0 fly")), "fault.pkt:3: \"fly\"");
    refuses(
        &folder.file("option.pkt", format!("{HEAD}--color=blue\n+0 connect")),
        "option.pkt:3: \"--color\"",
    );
    refuses(&folder.file("many.pkt", format!("{HEAD}+0 < ack 0 times 999999999999")), "many.pkt:3: ");
}

/// One fault keeps the others from being played, and each is told.
#[test]
fn every_fault_is_told() {
    let folder = Folder::new("faults");
    let good = folder.file("good.pkt", format!("{HEAD}+0 connect\n+0 > S 0:0(0)"));
    let bad = folder.file("bad.pkt", format!("{HEAD}+0 fly"));
    let said = exchange(&[&good, &bad, &folder.0.join("nowhere.pkt")]);
    assert_eq!((said.status.code(), said.stdout.len()), (Some(2), 0));
    assert_eq!(String::from_utf8(said.stderr).unwrap().lines().count(), 2);
    assert!(exchange(&[&good]).status.success());
}

#[test]
fn a_script_that_does_not_hold_is_one() {
    let folder = Folder::new("fails");
    let said = exchange(&[&folder.file("fails.pkt", format!("{HEAD}+0 connect\n+1 > S 0:0(0)"))]);
    assert_eq!(said.status.code(), Some(1));
    assert!(String::from_utf8(said.stdout).unwrap().contains("fails.pkt:4: A sender"));
}

/// A pending script may fail; one that holds is pending no more.
#[test]
fn pending_is_what_fails() {
    let folder = Folder::new("pending");
    let script = |time: &str| format!("{HEAD}--pending=a reason\n+0 connect\n{time} > S 0:0(0)");
    assert!(exchange(&[&folder.file("fails.pkt", script("+1"))]).status.success());
    assert_eq!(exchange(&[&folder.file("holds.pkt", script("+0"))]).status.code(), Some(1));
}
