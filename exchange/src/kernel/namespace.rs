//! Namespaces: a user namespace for the capabilities, a network namespace for each exchange.
//!
//! Nothing outside is visible or changed, and each network ends with the thread that created it.

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::{fs, io};

/// Acquires the capability to create networks. To be called before any thread is started.
///
/// If user namespaces are forbidden, root needs none.
pub(super) fn enter() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    if unshare(CloneFlags::CLONE_NEWUSER).is_err() {
        return Ok(());
    }
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Moves this thread into a new, empty network.
pub(super) fn isolate() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET)
        .map_err(io::Error::from)
        .map_err(|error| io::Error::new(error.kind(), format!("a network of its own: {error}")))
}

/// Sets `net.ipv4.<name>` of this thread's network.
pub(super) fn set(name: &str, value: &impl ToString) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value.to_string())
        .map_err(|error| io::Error::new(error.kind(), format!("net.ipv4.{name}: {error}")))
}
