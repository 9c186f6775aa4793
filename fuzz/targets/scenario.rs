#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_fuzz::files::live;
use sojourn_scenario::Scenario;

fuzz_target!(|bytes: &[u8]| {
    live("scenario", bytes);
    if let Ok(scenario) = Scenario::parse(bytes, "f.toml", &[]) {
        assert!(!sojourn_describe::describe(&scenario).is_empty());
    }
});
