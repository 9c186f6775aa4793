//! The scripts that hold for a kernel's TCP, played to this machine's.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Scripts that are replayed, at least.
const LEAST: usize = 120;

/// A process of its own, since only one with a single thread may have networks of its own.
#[test]
fn scripts_hold_for_the_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let exchange = Command::new(env!("CARGO_BIN_EXE_exchange")).arg("--kernel").arg(folder).output().unwrap();
    let said = String::from_utf8_lossy(&exchange.stdout);
    let told = String::from_utf8_lossy(&exchange.stderr);
    let code = exchange.status.code();
    assert!(matches!(code, Some(0 | LACKING)), "{said}{told}");
    // Past what the test harness keeps to itself, on lines of their own: what this machine cannot play, or not now.
    for line in said.lines().filter(|line| line.starts_with("skipped: ") || line.starts_with("late ")) {
        writeln!(std::io::stderr(), "\n{line}").unwrap();
    }
    let last = said.lines().last().unwrap_or("");
    if last.starts_with("skipped: ") {
        return;
    }
    let played = last.split(' ').next().and_then(|number| number.parse().ok());
    assert!(played >= Some(LEAST), "{last}: {LEAST} are promised");
}

/// Exit code where the machine cannot.
const LACKING: i32 = 3;
