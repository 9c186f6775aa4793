//! Scripts played to the kernel's TCP.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Least number of scripts played.
const LEAST: usize = 120;

/// Runs in a process of its own, since only a single-threaded one may create a user namespace.
#[test]
fn scripts_hold_for_the_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let exchange = Command::new(env!("CARGO_BIN_EXE_exchange")).arg("--kernel").arg(folder).output().unwrap();
    let output = String::from_utf8_lossy(&exchange.stdout);
    let errors = String::from_utf8_lossy(&exchange.stderr);
    let code = exchange.status.code();
    let failures = || output.lines().filter(|line| !line.starts_with("ok ") && !line.starts_with("skip "));
    assert!(matches!(code, Some(0 | LACKING)), "{}\n{errors}", failures().collect::<Vec<_>>().join("\n"));
    // Bypasses the capture of the test harness: scripts that this machine cannot play, or not at present.
    for line in output.lines().filter(|line| line.starts_with("skipped: ") || line.starts_with("late ")) {
        writeln!(std::io::stderr(), "\n{line}").unwrap();
    }
    let last = output.lines().last().unwrap_or("");
    if last.starts_with("skipped: ") {
        return;
    }
    let played = last.split(' ').next().and_then(|number| number.parse().ok());
    assert!(played >= Some(LEAST), "{last}: {LEAST} are promised");
}

/// Exit code of a machine without the capabilities.
const LACKING: i32 = 3;
