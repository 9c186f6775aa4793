//! The scripts that hold for a kernel's TCP, played to this machine's.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

/// Scripts that are replayed, at least.
const LEAST: usize = 25;

/// A process of its own, since only one with a single thread may have networks of its own.
#[test]
fn scripts_hold_for_the_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let exchange = Command::new(env!("CARGO_BIN_EXE_exchange")).arg("--kernel").arg(folder).output().unwrap();
    let said = String::from_utf8_lossy(&exchange.stdout);
    assert!(exchange.status.success(), "{said}{}", String::from_utf8_lossy(&exchange.stderr));
    let last = said.lines().last().unwrap_or("");
    if last.starts_with("skipped: ") {
        // To the terminal, past what the test harness keeps to itself.
        std::io::Write::write_all(&mut std::io::stderr(), format!("{last}\n").as_bytes()).unwrap();
        return;
    }
    let played = last.split(' ').next().and_then(|number| number.parse().ok());
    assert!(played >= Some(LEAST), "{last}: {LEAST} are promised");
}
