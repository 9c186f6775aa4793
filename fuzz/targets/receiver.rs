#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_fuzz::world::{journal::Journal, live};

fuzz_target!(|bytes: &[u8]| live("receiver", bytes, &mut Journal::off()));
