//! Framing, traces and impairments of links, in files.

use crate::common::{LEAST, bottleneck, datagrams, missing};
use sojourn_params::Quantity;
use sojourn_params::Value;
use sojourn_scenario::links::{Framing, Impairments, SchedulePlan};
use sojourn_scenario::{Diagnostics, Files, Scenario};
use sojourn_units::{Prob, Rate};
use std::rc::Rc;

/// Two opportunities in 2 ms.
const TRACE: &str = "1\n2\n";

fn parse(text: &str) -> Result<Scenario, Diagnostics> {
    let files: Files = Rc::new(|name| match name {
        "x.trace" => Ok(TRACE.into()),
        "bad.trace" => Ok("1\n0\n".into()),
        "late.trace" => Ok("60000\n".into()),
        "sizes.csv" => Ok("100 B, 3\n1 kB, 1\n".into()),
        "bad.csv" => Ok("100 B, 3\n1 kB\n".into()),
        _ => Err(missing(name)),
    });
    Scenario::parse_beside(text.as_bytes(), "f.toml", &[], &files)
}

/// A dumbbell with these lines in the stead of its rate.
fn dumbbell(lines: &str) -> Result<Scenario, Diagnostics> {
    parse(&LEAST.replace("rate = \"10 Mbit/s\"", lines))
}

fn lines(refused: Result<Scenario, Diagnostics>) -> Vec<String> {
    refused.unwrap_err().lines()
}

#[test]
fn a_link_has_a_rate_or_a_trace() {
    let scenario = dumbbell("trace = { file = \"x.trace\" }").unwrap();
    let link = bottleneck(&scenario);
    let Some(SchedulePlan::Recorded(recording)) = &link.medium.link_schedule else { panic!("no recording") };
    assert_eq!(recording.stamps(), [1, 2]);
    assert_eq!(link.rate, Rate::from_bits_per_second(2.0 * 1504.0 * 8.0 / 0.002));
    assert_eq!(link.medium.framing, Framing::TUN);
    let back = &scenario.topology.links[1];
    assert_eq!(
        (back.rate, &back.medium.link_schedule, back.medium.framing),
        (link.rate, &None, Framing::TUN)
    );
    let errors = lines(dumbbell("trace = { file = \"x.trace\" }\nrate = \"1 Mbit/s\""));
    assert_eq!(errors, ["f.toml:4:1: bottleneck.trace: stands beside rate; expected one of the two"]);
    assert!(lines(dumbbell(""))[0].starts_with("f.toml:3:2: bottleneck.rate: is missing; expected a rate"));
}

#[test]
fn an_error_of_a_trace_has_its_line() {
    for (given, expected) in [
        (
            "{ file = \"bad.trace\" }",
            ".file: bad.trace, line 2: 0 after 1: time runs back; expected 1 or more",
        ),
        ("{ file = \"no.trace\" }", ".file: no.trace is not there"),
        (
            "{ file = \"late.trace\" }",
            ".file: late.trace: the first delivery is at 60 s; expected one before the end of the run at 60 s",
        ),
        (
            "{ lte = {} }",
            ".lte.mean: is missing; expected a rate such as \"8 Mbit/s\" (1 kbit/s to 100 Gbit/s)",
        ),
    ] {
        assert_eq!(
            lines(dumbbell(&format!("trace = {given}"))),
            [format!("f.toml:4:11: bottleneck.trace{expected}")]
        );
    }
    let text = LEAST.replace("rate = \"10 Mbit/s\"", "trace = { file = \"x.trace\" }");
    let errors = lines(Scenario::parse(text.as_bytes(), "f.toml", &[]));
    assert_eq!(
        errors,
        ["f.toml:4:11: bottleneck.trace.file: is not there: this text has no files beside it"]
    );
}

#[test]
fn a_trace_has_no_rate_to_change() {
    let change = "[[at]]\ntime = \"1 s\"\nset = { \"bottleneck.rate\" = \"1 Mbit/s\" }\n";
    let text = LEAST.replace("rate = \"10 Mbit/s\"", "trace = { file = \"x.trace\" }") + change;
    let expected = "\"bottleneck\" has a trace and no rate; expected a link with a rate";
    assert_eq!(lines(parse(&text)), [format!("f.toml:9:9: at[0].set.bottleneck.rate: {expected}")]);
    assert!(parse(&text.replace("bottleneck.rate", "bottleneck.back.rate")).is_ok());
}

/// The other direction has the same framing; impairments and traces are given for each direction.
#[test]
fn the_other_direction_has_the_framing_and_not_the_impairments() {
    let rate = "rate = \"10 Mbit/s\"\nframing = \"ethernet\"\nimpairments = { loss = 0.01 }";
    let scenario = dumbbell(rate).unwrap();
    let [there, back] = &scenario.topology.links[..] else { panic!("two directions") };
    assert_eq!((there.medium.framing, back.medium.framing), (framing("ethernet"), framing("ethernet")));
    assert_eq!(there.medium.impairments, Impairments { loss: Prob::clamped(0.01), ..Impairments::default() });
    assert!(back.medium.impairments.is_none());
    let own = "\nback = { framing = \"ip\", trace = { satellite = { mean = \"5 Mbit/s\" } }, impairments = { bleach = 1.0 } }";
    let scenario = dumbbell(&format!("{rate}{own}")).unwrap();
    let back = &scenario.topology.links[1];
    assert_eq!((back.rate, back.medium.framing), (Rate::from_bits_per_second(5e6), Framing::IP));
    assert!(back.medium.link_schedule.is_some() && back.medium.impairments.bleach == Prob::ONE);
}

fn framing(name: &str) -> Framing {
    Framing::read(&Value::Text(name.into())).unwrap()
}

/// In a graph, too; the JSON reads back as the same.
#[test]
fn media_read_back_from_json() {
    let graph = r#"title = "A graph"
duration = "60 s"
[[links]]
from = "a"
to = "b"
delay = "10 ms"
trace = { lte = { mean = "12 Mbit/s", volatility = 0.4 } }
qdisc = "red"
impairments = { bursts = { enter = 0.002, leave = 0.2 }, jitter = "2 ms", reorder = { probability = 0.1, late = "5 ms" } }
back = { rate = "2 Mbit/s", framing = { overhead = "44 B", cells = true } }
[[links]]
from = "b"
to = "c"
rate = "100 Mbit/s"
delay = "1 ms"
framing = "pppoe"
[[flows]]
from = "a"
to = "c"
"#;
    let dumbbells =
        ["trace = { file = \"x.trace\" }", "rate = \"10 Mbit/s\"\nimpairments = { duplicate = 0.1 }"];
    let texts = dumbbells.map(|lines| LEAST.replace("rate = \"10 Mbit/s\"", lines));
    for text in texts.iter().map(String::as_str).chain([graph]) {
        let scenario = parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let again = parse(&toml(&scenario)).unwrap_or_else(|errors| panic!("{errors}\n{}", toml(&scenario)));
        assert_eq!(again, scenario);
    }
}

/// A scenario's JSON as TOML.
fn toml(scenario: &Scenario) -> String {
    fn inline(value: &serde_json::Value) -> String {
        match value {
            serde_json::Value::Object(entries) => {
                let given = entries.iter().filter(|(_, value)| !value.is_null());
                let given = given.map(|(key, value)| format!("{key:?} = {}", inline(value)));
                format!("{{ {} }}", given.collect::<Vec<_>>().join(", "))
            }
            serde_json::Value::Array(items) => {
                format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
            }
            other => other.to_string(),
        }
    }
    let json = scenario.to_json();
    let keys = json.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
    let keys = keys.filter(|(_, value)| value.as_array().is_none_or(|list| !list.is_empty()));
    keys.map(|(key, value)| format!("{key} = {}\n", inline(value))).collect()
}

/// Sizes and times may be drawn from a table in a file; the scenario holds the table, so its JSON needs no file.
#[test]
fn a_distribution_may_be_in_a_file() {
    let group = |file: &str| {
        let keys = format!(
            "[[flows]]\napp = {{ cbr = {{ rate = \"1 Mbit/s\", size = {{ file = \"{file}\" }} }} }}\n"
        );
        parse(&LEAST.replace("[[flows]]", &keys))
    };
    let scenario = group("sizes.csv").unwrap();
    assert_eq!(datagrams(&scenario).mean_size(), 325.0);
    let table = serde_json::json!({ "table": [["100 B", 3.0], ["1000 B", 1.0]] });
    assert_eq!(scenario.to_json()["flows"][0]["app"]["cbr"]["size"], table);
    for (file, expected) in [
        (
            "bad.csv",
            "bad.csv, line 2: \"1 kB\" is not VALUE, SHARE; expected a value and its share, as in 10 kB, 0.5",
        ),
        ("no.csv", "no.csv is not there"),
    ] {
        assert_eq!(lines(group(file)), [format!("f.toml:7:36: flows[0].app.cbr.size: {expected}")]);
    }
}
