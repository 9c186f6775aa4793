//! The process that has started this one, and writes to its stdin.

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd;
use std::thread;

/// Ends this process once no other can write to its stdin, whatever its threads do meanwhile.
pub fn end_with_it() {
    thread::spawn(|| {
        while !is_gone() {}
        exit_at_once();
    });
}

/// Waits for the end of the parent; false: a signal came in between.
fn is_gone() -> bool {
    let stdin = io::stdin();
    // POLLHUP is reported whatever is polled for.
    let mut polled = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    poll(&mut polled, PollTimeout::NONE) != Err(nix::Error::EINTR)
}

#[allow(unsafe_code, reason = "no crate in use wraps it")]
fn exit_at_once() -> ! {
    // SAFETY: it only ends the process, without handlers that would wait for its threads.
    unsafe { libc::_exit(1) }
}
