//! Packet exchanges as scripts.
//!
//! A [`script`] lists, one event per line, the segments that a host receives and those that it must send, with their
//! times, in a subset of packetdrill's syntax with extensions. [`play`] plays it to a [`Host`](play::Host), and
//! compares. [`ours`] is a sender or a receiver of `sojourn-tcp` as a host, [`kernel`] the TCP of this machine, and
//! [`stand_in`] ours in the kernel's place.

#[cfg(target_os = "linux")]
pub mod kernel;
pub mod ours;
pub mod play;
pub mod script;
pub mod setup;
pub mod stand_in;
