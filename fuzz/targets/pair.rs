#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_fuzz::world::{journal::Journal, run_input};

fuzz_target!(|bytes: &[u8]| run_input("pair", bytes, &mut Journal::off()));
