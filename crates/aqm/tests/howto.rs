//! The law that docs/howto/add-a-law.md adds: as the page shows it, it compiles and is right.

use sojourn_aqm::{Site, law};
use sojourn_units::{Rate, Value};

#[path = "../../../docs/howto/wave.rs"]
#[allow(unreachable_pub)] // in the law's own crate these names are reached
mod wave;

// What a law file finds in its own crate.
mod catalogue {
    pub(crate) use sojourn_aqm::catalogue::Entry;
}
mod sampled {
    pub(crate) use sojourn_aqm::Sampled;
}
mod site {
    pub(crate) use sojourn_aqm::Site;
}

#[test]
fn the_entry_builds_a_law_from_its_parameters() {
    let rate = Rate::from_bits_per_second(10e6);
    let site = Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None };
    let given = |key: &str, value: &str| [(key.to_owned(), Value::Text(value.into()))];
    let law: Box<dyn law::Law> = (wave::ENTRY.build)(&given("length", "20 s"), &site).unwrap();
    assert_eq!(law.next_update().unwrap().nanos(), 10_000_000);
    assert_eq!((wave::ENTRY.build)(&given("length", "1 ms"), &site).err().unwrap().key, "length");
    assert_eq!((wave::ENTRY.build)(&given("lenght", "20 s"), &site).err().unwrap().key, "lenght");
}
