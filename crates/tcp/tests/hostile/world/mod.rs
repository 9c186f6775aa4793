//! A hostile world, told byte by byte.
//!
//! An input is a string of bytes: a [`Setup`] of sixteen, then what happens. The
//! three worlds read it in their own way ([`from_anywhere`] for a sender,
//! [`to_anyone`] for a receiver, [`pair`] for both with a network between
//! them); what is missing at its end is zeros. The watchers ([`watch`]) hold sender
//! and receiver to what must be true whatever happens, and panic where it is not.
//!
//! A corpus is worth what its bytes mean: a new choice takes a byte that was
//! reserved or a value that was unused, and no byte changes its meaning.

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

/// The worlds by name: what a folder of inputs is called.
pub const WORLDS: [&str; 3] = ["sender", "receiver", "pair"];

/// Lives through the input in the world of this name.
pub fn live(world: &str, bytes: &[u8], journal: &mut Journal) {
    let mut input = Input::new(bytes);
    let setup = Setup::read(&mut input);
    match world {
        "sender" => from_anywhere::live(&setup, input, journal),
        "receiver" => to_anyone::live(&setup, input, journal),
        "pair" => {
            pair::live(&setup, input, journal);
        }
        _ => panic!("no world is called {world:?}: {WORLDS:?}"),
    }
}
