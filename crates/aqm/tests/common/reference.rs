//! Numbers from outside, in tests/reference/maths.json.

use serde_json::Value;

/// An entry: its numbers, and their tolerance.
struct Reference {
    values: Vec<f64>,
    rtol: f64,
    atol: f64,
}

/// Asserts that the numbers are those of the entry `key`.
pub(crate) fn hold(key: &str, ours: &[f64]) {
    let Reference { values, rtol, atol } = read(key);
    assert_eq!(values.len(), ours.len(), "{key}");
    for (value, ours) in values.iter().zip(ours) {
        let off = (ours - value).abs();
        assert!(off <= atol + rtol * value.abs(), "{key}: ours {ours}, reference {value}");
    }
}

fn read(key: &str) -> Reference {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/maths.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let entry = all.get(key).unwrap_or_else(|| panic!("{key} is not in maths.json"));
    let number = |value: &Value| value.as_f64().unwrap();
    let values = match &entry["value"] {
        Value::Array(items) => items.iter().map(number).collect(),
        single => vec![number(single)],
    };
    Reference { values, rtol: number(&entry["rtol"]), atol: number(&entry["atol"]) }
}
