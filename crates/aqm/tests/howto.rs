//! The law that docs/howto/add-a-law.md adds: as the page shows it, it compiles and is right.

use sojourn_aqm::catalogue::Entry;
use sojourn_aqm::{Site, law};
use sojourn_units::param::Described;
use sojourn_units::{Page, Rate, Value};

#[path = "../../../docs/howto/wave.rs"]
#[allow(unreachable_pub)] // in the law's own crate these names are reached
mod wave;

// What a law file finds in its own crate.
mod sampled {
    pub(crate) use sojourn_aqm::Sampled;
}
mod site {
    pub(crate) use sojourn_aqm::Site;
}

fn read<P: Described>(given: &[(String, Value)]) -> Result<P, sojourn_units::Fault> {
    P::from_values(given)
}

const ENTRY: Entry =
    // The entry begins.
    Entry {
        page: Page {
            stem: "wave",
            summary: "a probability that rises and falls in time, whatever the queue does",
            idea: "A toy: it shows how a law is written, and how flows answer to marks that come and go.",
            equation: "p(t) = p_max (1 - |1 - 2 t / L|),  t in [0, L)",
            source: "none; a triangle",
            fields: wave::Params::fields,
        },
        build: |given, site| Ok(Box::new(wave::Wave::law(&read(given)?, site)?)),
    }
    // The entry ends.
;

#[test]
fn the_entry_builds_a_law_from_its_parameters() {
    let rate = Rate::from_bits_per_second(10e6);
    let site = Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None };
    let given = |key: &str, value: &str| [(key.to_owned(), Value::Text(value.into()))];
    let law: Box<dyn law::Law> = (ENTRY.build)(&given("length", "20 s"), &site).unwrap();
    assert_eq!(law.next_update().unwrap().nanos(), 10_000_000);
    assert_eq!((ENTRY.build)(&given("length", "1 ms"), &site).err().unwrap().key, "length");
    assert_eq!((ENTRY.build)(&given("lenght", "20 s"), &site).err().unwrap().key, "lenght");
}
