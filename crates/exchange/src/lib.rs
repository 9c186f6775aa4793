//! Packet exchanges as data.
//!
//! A [`script`] says, one event a line, what comes to a host and what the host must send, and when: the form is
//! packetdrill's where packetdrill has a word for it. [`play`] holds a [`Host`](play::Host) to it. [`ours`] is the host
//! that this project is: a sender or a receiver of `sojourn-tcp`. [`kernel`] is this machine's TCP.

#[cfg(target_os = "linux")]
pub mod kernel;
pub mod ours;
pub mod play;
pub mod script;
pub mod setup;
