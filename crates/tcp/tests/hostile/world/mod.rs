//! A hostile environment driven by bytes.
//!
//! An input is a string of bytes: a [`Setup`] of sixteen, then events. The three worlds read it in their own way
//! ([`from_anywhere`] for a sender, [`to_anyone`] for a receiver, [`pair`] for both with a network between them);
//! missing bytes at its end are zeros. The watchers ([`watch`]) check the invariants of sender and receiver, and panic
//! on a violation.
//!
//! The meaning of a corpus must not change: a new choice takes a reserved byte or an unused value.

#![allow(unreachable_pub, reason = "in the fuzz targets this is what a library shows")]

pub mod from_anywhere;
pub mod input;
pub mod journal;
pub mod pair;
pub mod setup;
pub mod to_anyone;
pub mod watch;

use input::Input;
use journal::Journal;
use setup::Setup;

/// Worlds by name, which is that of their folder of inputs.
pub const WORLDS: [&str; 3] = ["sender", "receiver", "pair"];

/// Runs the input in the world of this name.
pub fn run_input(world: &str, bytes: &[u8], journal: &mut Journal) {
    let mut input = Input::new(bytes);
    let setup = Setup::read(&mut input);
    match world {
        "sender" => from_anywhere::run_input(&setup, input, journal),
        "receiver" => to_anyone::run_input(&setup, input, journal),
        "pair" => {
            pair::run_input(&setup, input, journal);
        }
        _ => panic!("no world is called {world:?}: {WORLDS:?}"),
    }
}
