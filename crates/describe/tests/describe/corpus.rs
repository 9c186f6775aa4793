//! Every scenario of the fuzzing corpus can be described.

use crate::common::missing;
use sojourn_describe::{describe, warnings};
use sojourn_scenario::{Files, Scenario};
use std::path::Path;
use std::rc::Rc;

#[test]
fn kept_inputs_are_described() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/scenario"));
    let files: Files = Rc::new(|name| match name {
        "x.trace" => Ok(b"1\n3\n3\n9\n".to_vec()),
        "x.csv" => Ok(b"0.5,1000\n0.7,30000\n".to_vec()),
        _ => Err(missing(name)),
    });
    let mut described = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read(entry.unwrap().path()).unwrap();
        let Ok(scenario) = Scenario::parse_beside(&text, "f.toml", &[], &files) else { continue };
        assert!(!describe(&scenario).is_empty());
        assert!(warnings(&scenario).iter().all(|line| line.ends_with('.') && !line.contains('\n')));
        described += 1;
    }
    assert!(described > 50, "{described} inputs are scenarios");
}
