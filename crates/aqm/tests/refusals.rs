//! Errors of the parameters of laws, a line each: key, value, rule.

use sojourn_aqm::{Designed, Entry, LawSpec, LinkContext, catalogue};
use sojourn_params::{Errors, Expected, Field, InputError, Kind, Value};
use sojourn_units::{Rate, Span};
use std::fmt::Write as _;

/// A link that every law can be built for.
fn place() -> LinkContext {
    let rate = Rate::from_bits_per_second(10e6);
    LinkContext {
        rate,
        packet: 1000.0,
        limit: 300.0,
        flows: Some(60.0),
        base_rtt: Some(Span::from_millis(200)),
    }
}

/// The same link with less known of it, or with another size.
fn link(name: &str) -> LinkContext {
    let link = place();
    match name {
        "a link" => link,
        "a stopped link" => LinkContext { rate: Rate::ZERO, ..link },
        "an unlimited buffer" => LinkContext { limit: f64::INFINITY, ..link },
        "a buffer of 16 packets" => LinkContext { limit: 16.0, ..link },
        "unknown flows" => LinkContext { flows: None, ..link },
        "unknown traffic" => LinkContext { flows: None, base_rtt: None, ..link },
        "1 Gbit/s and 1 ms" => {
            let rate = Rate::from_bits_per_second(1e9);
            LinkContext { rate, packet: 1500.0, limit: 800.0, base_rtt: Some(Span::from_millis(1)), ..link }
        }
        other => panic!("no link \"{other}\""),
    }
}

/// Parameters in range each that contradict each other or their link.
const CONTRADICTIONS: &[(&str, &[&str])] = &[
    (
        "a link",
        &[
            "ared:target=50packets,min=20packets",
            "ared:target=201packets",
            "ared:low=1,high=0.5",
            "ared:max=301packets",
            "arm_pfc:target=400packets",
            "arm_pfc:coincidence=5",
            "arm_pfc:base=ramp,coincidence=7",
            "blue:decrease=0.05",
            "blue:threshold=400packets",
            "cobalt:target=100ms",
            "codel:target=100ms",
            "cpc:target=400packets",
            "cpc:rtt=50ms",
            "cpc:period=300ms",
            "cpc:smoothing=1s",
            "cpc:kp=0.1",
            "cpc:form=autotune,adapt=load",
            "fb_ocq:target=301packets",
            "fb_ocq:a=40",
            "fb_ocq:lo=150packets,hi=100packets",
            "fb_ocq:hi=301packets",
            "fb_ocq:form=deadbeat,load=integral",
            "fb_ocq:form=receding,horizon=10s",
            "fb_ocq:form=receding,period=100us,delay=10s",
            "pi:target=900packets",
            "pi:a=1e-5",
            "pi_pd:target=300packets",
            "pid:kp=1e-5,ki=1e-5",
            "pid:target=900packets",
            "red:target=100packets",
            "red:thresholds=auto,target=201packets",
            "red:thresholds=auto,min=100packets",
            "red:min=200packets,max=150packets",
            "red:max=400packets",
            // With min alone the message names min, a third of max.
            "red:min=100ms",
            "rem:target=301packets",
        ],
    ),
    ("a stopped link", &["docsis_pie", "fb_ocq", "pi", "sred:buffer=10ms"]),
    ("an unlimited buffer", &["docsis_pie", "pie:activity=true"]),
    ("a buffer of 16 packets", &["pie:delay=departure_rate"]),
    ("unknown flows", &["arm_pfc:form=paper", "cpc:form=paper", "pi_pd:schedule=false"]),
    ("unknown traffic", &["pid:adapt=none"]),
    ("1 Gbit/s and 1 ms", &["pi:target=50packets,rate=160Hz"]),
];
/// The last values in range.
const ACCEPTED: &[(&str, &[&str])] = &[
    ("a link", &["ared:target=200packets", "red:thresholds=auto,target=200packets"]),
    ("1 Gbit/s and 1 ms", &["pi:target=50packets,rate=500Hz"]),
];

fn built_for(spec: &str, name: &str) -> Result<Designed, InputError> {
    LawSpec::parse(spec).expect("valid parameters").design(&link(name))
}

/// The sentences are in `snapshots/errors.snap`; `INSTA_UPDATE=always` writes them anew.
#[test]
fn contradictions_are_named() {
    let mut text = String::new();
    for (name, specs) in CONTRADICTIONS {
        for spec in *specs {
            let error = built_for(spec, name).err().unwrap_or_else(|| panic!("{spec} on {name} is accepted"));
            writeln!(text, "{spec} on {name}\n  {error}").unwrap();
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("errors", text));
    for (name, specs) in ACCEPTED {
        specs.iter().for_each(|spec| assert_eq!(built_for(spec, name).err(), None, "{spec} on {name}"));
    }
}

fn built(entry: &Entry, key: &str, value: Value) -> Result<Designed, Errors> {
    Ok(LawSpec::new(entry.page.stem, &[(key.into(), value)])?.design(&place())?)
}

/// Values of the right kind, out of range for nearly any parameter.
fn invalid(kind: &Kind) -> Vec<Value> {
    let texts = |all: &[&str]| all.iter().map(|text| Value::Text((*text).into())).collect();
    match kind {
        Kind::Queue => texts(&["0 packets", "-1 packets", "1e30 packets", "0 B"]),
        Kind::Time => texts(&["0 s", "-1 s", "1 ns", "1e6 h"]),
        Kind::Rate => texts(&["0 bit/s", "-1 bit/s", "1e30 bit/s", "0 packets/s"]),
        Kind::Frequency => texts(&["0 Hz", "-1 Hz", "1e30 Hz"]),
        Kind::Size => texts(&["0 B", "-1 B", "1e30 B"]),
        Kind::Number => [-1.0, 0.0, 1e300].map(Value::Number).to_vec(),
        Kind::Whole | Kind::Packets => [-1, 0, i64::MAX].map(Value::Whole).to_vec(),
        Kind::Wholes => vec![Value::List(Vec::new()), Value::List(vec![Value::Whole(-1)])],
        Kind::Flag => texts(&["maybe"]),
        Kind::Word(_) => texts(&["nonsense"]),
        other => panic!("no invalid value is known for a {other}"),
    }
}

#[test]
fn an_error_names_the_valid_range_of_every_parameter() {
    for entry in catalogue::LAWS {
        for field in (entry.page.fields)() {
            let errors: Vec<InputError> = invalid(&field.kind)
                .into_iter()
                .filter_map(|value| built(entry, field.key, value).err())
                .flatten()
                .inspect(|error| check_error(entry, &field, error))
                .collect();
            assert!(!errors.is_empty(), "{}.{} accepts any value", entry.page.stem, field.key);
        }
    }
}

/// A value of the wrong kind, and non-numbers.
#[test]
fn every_parameter_rejects_values_of_other_kinds() {
    for entry in catalogue::LAWS {
        for field in (entry.page.fields)() {
            for value in [Value::Number(f64::NAN), Value::Text("x".into()), Value::List(vec![])] {
                let errors = built(entry, field.key, value).err();
                let Some(errors) = errors else {
                    panic!("{}.{} accepts a value of another kind", entry.page.stem, field.key);
                };
                errors.into_iter().for_each(|error| check_error(entry, &field, &error));
            }
        }
    }
}

fn check_error(entry: &Entry, field: &Field, error: &InputError) {
    let line = format!("{}.{error}", entry.page.stem);
    assert!(!line.contains('\n'), "{line:?}");
    assert_ne!(error.expected, Expected::Unstated, "{line}");
    if error.problem == "is out of range" {
        assert_eq!(error.expected, field.range().into(), "{line}");
    }
    assert!(field.why.len() > 3, "{line}: no reason");
}
