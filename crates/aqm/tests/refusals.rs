//! Every parameter of every law refuses what is out of range in one line: key, value, rule, source.

use sojourn_aqm::catalogue::{self, Entry};
use sojourn_aqm::{Law, Site};
use sojourn_units::param::{Field, Kind};
use sojourn_units::{Fault, Rate, Span, Value};

/// A place where every law is at home.
fn place() -> Site {
    let rate = Rate::from_bits_per_second(10e6);
    Site { rate, packet: 1000.0, limit: 300.0, flows: Some(60.0), base_rtt: Some(Span::from_millis(200)) }
}

fn built(entry: &Entry, key: &str, value: Value) -> Result<Box<dyn Law>, Fault> {
    (entry.build)(&[(key.to_string(), value)], &place())
}

/// Values that are of the kind, and absurd for nearly any parameter.
fn absurd(kind: &Kind) -> Vec<Value> {
    let texts = |all: &[&str]| all.iter().map(|text| Value::Text((*text).into())).collect();
    match kind {
        Kind::Queue => texts(&["0 packets", "-1 packets", "1e30 packets", "0 B"]),
        Kind::Time => texts(&["0 s", "-1 s", "1 ns", "1e6 h"]),
        Kind::Rate => texts(&["0 bit/s", "-1 bit/s", "1e30 bit/s", "0 packets/s"]),
        Kind::Frequency => texts(&["0 Hz", "-1 Hz", "1e30 Hz"]),
        Kind::Size => texts(&["0 B", "-1 B", "1e30 B"]),
        Kind::Number => [-1.0, 0.0, 1e300].map(Value::Number).to_vec(),
        Kind::Whole => [-1, 0, i64::MAX].map(Value::Whole).to_vec(),
        Kind::Wholes => vec![Value::List(Vec::new()), Value::List(vec![Value::Whole(-1)])],
        Kind::Flag => texts(&["maybe"]),
        Kind::Word(_) => texts(&["nonsense"]),
        other => panic!("no absurd value is known for a {other}"),
    }
}

#[test]
fn every_parameter_refuses_what_is_out_of_range_and_says_what_is_legal() {
    for entry in catalogue::LAWS {
        for field in (entry.page.fields)() {
            let refusals: Vec<Fault> = absurd(&field.kind)
                .into_iter()
                .filter_map(|value| built(entry, field.key, value.clone()).err())
                .inspect(|fault| is_told(entry, &field, fault))
                .collect();
            assert!(!refusals.is_empty(), "{}.{} takes everything", entry.page.stem, field.key);
        }
    }
}

/// The other kind of value and what is no number at all.
#[test]
fn every_parameter_refuses_what_is_not_of_its_kind() {
    for entry in catalogue::LAWS {
        for field in (entry.page.fields)() {
            for value in [Value::Number(f64::NAN), Value::Text("x".into()), Value::List(vec![])] {
                if let Err(fault) = built(entry, field.key, value) {
                    is_told(entry, &field, &fault);
                } else {
                    panic!("{}.{} takes no value of any kind", entry.page.stem, field.key);
                }
            }
        }
    }
}

fn is_told(entry: &Entry, field: &Field, fault: &Fault) {
    let line = format!("{}.{fault}", entry.page.stem);
    assert!(!line.contains('\n'), "{line:?}");
    assert!(line.contains("legal: ") || line.contains("write it like") || line.contains("give "), "{line}");
    if let Some((_, rule)) = line.split_once("is out of range; ") {
        assert_eq!(rule, format!("legal: {} ({})", field.rule, field.why), "{line}");
        assert!(field.why.len() > 3, "{line}: no reason");
    }
}
