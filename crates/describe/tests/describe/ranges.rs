//! Bounds of every parameter, as its reader has them.

use sojourn_aqm::{LawSpec, catalogue};
use sojourn_params::{Bound, Described, ErrorKind, Errors, Field, InputError, Kind, Quantity, Value};
use sojourn_scenario::apps::{APPS, App};
use sojourn_scenario::links::{LINK_MODELS, Trace};
use sojourn_scenario::tables::File;
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;

/// Reads a value that is a table, and forgets it.
type Read = fn(&Value) -> Result<(), Errors>;

#[test]
fn a_closed_end_is_in_the_range_and_an_open_one_is_not() {
    let laws = catalogue::LAWS.iter().map(|entry| entry.page).collect();
    let Kind::Entry(ccs) = Choice::kind() else { panic!("congestion controls are entries of a catalogue") };
    let catalogues: [(Vec<_>, Read); 4] = [
        (laws, |value| LawSpec::read(value).map(drop)),
        ((ccs.pages)(), |value| Choice::read(value).map(drop)),
        ((APPS.pages)(), |value| App::read(value).map(drop)),
        ((LINK_MODELS.pages)(), |value| Trace::read(value).map(drop)),
    ];
    let mut checked = check(&File::fields(), &mut Vec::new(), |value| File::read(value).map(drop));
    checked += check(&Profile::fields(), &mut Vec::new(), |value| Profile::read(value).map(drop));
    for (pages, read) in catalogues {
        for page in pages {
            checked += check(&(page.fields)(), &mut vec![page.stem], read);
        }
    }
    assert!(checked > 200, "{checked}");
}

/// Checks the ends of these parameters in the table at `path`, and those in tables below; the number of ends.
fn check(fields: &[Field], path: &mut Vec<&'static str>, read: Read) -> usize {
    let mut checked = 0;
    for field in fields {
        path.push(field.key);
        match &field.kind {
            Kind::Keys(inner) => checked += check(&inner(), path, read),
            Kind::Tables(inner) => {
                path.push("[]");
                checked += check(&inner(), path, read);
                path.pop();
            }
            _ => {
                for bound in [field.bounds.low, field.bounds.high].into_iter().flatten() {
                    check_end(field, bound, path, read);
                    checked += 1;
                }
            }
        }
        path.pop();
    }
    checked
}

fn check_end(field: &Field, bound: Bound, path: &[&str], read: Read) {
    // Keys with the names of links and classes are read beside the network.
    if path.contains(&"set") {
        return;
    }
    let mut value = match (&field.kind, bound.at.value()) {
        // The least queue, in one of its units.
        (Kind::Queue, Value::Whole(number)) => Value::Text(format!("{number} packets")),
        (_, value) => value,
    };
    for key in path.iter().rev() {
        value = match *key {
            "[]" => Value::List(vec![value]),
            key => Value::Table(vec![(key.into(), value)]),
        };
    }
    let key = path.join(".").replace(".[]", "[0]");
    // In range, a value may still not fit the others.
    let is_of_it = |error: &InputError| error.key == key.as_str() && error.kind != ErrorKind::Conflict;
    let errors: Vec<_> = read(&value).err().into_iter().flatten().filter(is_of_it).collect();
    if bound.is_open {
        let [error] = errors.as_slice() else { panic!("{key} may be {}", bound.at) };
        assert_eq!(error.expected, field.range().into(), "{error}");
    } else {
        assert!(errors.is_empty(), "{errors:?}");
    }
}
