#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_fuzz::files::live;

fuzz_target!(|bytes: &[u8]| live("scenario", bytes));
