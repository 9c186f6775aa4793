//! The law of docs/howto/add-a-law.md compiles and passes its tests.

use sojourn_aqm::{LinkContext, law};
use sojourn_params::Value;
use sojourn_units::Rate;

#[path = "../../../docs/howto/wave.rs"]
#[allow(unreachable_pub)] // in the law's own crate these names are reached
mod wave;

// Modules that a law file imports from its own crate.
mod entry {
    pub(crate) use sojourn_aqm::{Designed, Entry};
}
mod gauges {
    pub(crate) use sojourn_aqm::Gauges;
}
mod periodic {
    pub(crate) use sojourn_aqm::Periodic;
}
mod link_context {
    pub(crate) use sojourn_aqm::LinkContext;
}

#[test]
fn the_entry_builds_a_law_from_its_parameters() {
    let rate = Rate::from_bits_per_second(10e6);
    let context = LinkContext { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None };
    let read = |key: &str, value: &str| (wave::ENTRY.read)(&[(key.into(), Value::Text(value.into()))]);
    let given = read("length", "20 s").unwrap();
    let law = (wave::ENTRY.design)(given.params.as_ref(), &context).unwrap().law();
    assert_eq!(law.next_update().unwrap().nanos(), 10_000_000);
    assert_eq!(read("length", "1 ms").unwrap_err().first().key, "length");
    assert_eq!(read("lenght", "20 s").unwrap_err().first().key, "lenght");
}
