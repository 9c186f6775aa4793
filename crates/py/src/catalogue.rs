//! What `sojourn list` and `sojourn explain` tell, as JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_aqm::catalogue as aqm;
use sojourn_scenario::metrics::{METRICS, Metric, metric_named};
use sojourn_scenario::{App, Key, json_of};
use sojourn_tcp::knobs::{KNOBS, Knob, PROFILE_PAGES, knob};
use sojourn_tcp::{Profile, catalogue as tcp};
use sojourn_units::Page;
use sojourn_units::param::{Field, Kind};

/// Everything of a kind (`laws`, `discs`, `ccs`, `apps`, `profiles`, `knobs`, `metrics`) as a JSON array.
#[pyfunction]
pub(crate) fn catalogue_json(kind: &str) -> PyResult<String> {
    let pages: Vec<Value> = match kind {
        "laws" => aqm::LAWS.iter().map(|entry| told("law", &entry.page)).collect(),
        "discs" => aqm::DISCS.iter().map(|page| told("disc", page)).collect(),
        "ccs" => tcp::CCS.iter().map(|entry| told("cc", &entry.page)).collect(),
        "apps" => App::PAGES.iter().map(told_app).collect(),
        "profiles" => PROFILE_PAGES.iter().map(told_profile).collect(),
        "knobs" => KNOBS.iter().map(told_knob).collect(),
        "metrics" => METRICS.iter().map(told_metric).collect(),
        other => {
            return Err(PyValueError::new_err(format!(
                "\"{other}\" is no kind; legal: laws, discs, ccs, apps, profiles, knobs, metrics"
            )));
        }
    };
    Ok(Value::Array(pages).to_string())
}

/// All that is told of one name, as a JSON object; None where it is unknown.
#[pyfunction]
pub(crate) fn explain_json(name: &str) -> Option<String> {
    let of = |kind, pages: &[Page]| pages.iter().find(|page| page.stem == name).map(|page| told(kind, page));
    let law = aqm::law(name).map(|entry| told("law", &entry.page));
    let scenario = || (name == "scenario").then(scenario_page);
    law.or_else(|| of("disc", aqm::DISCS))
        .or_else(|| tcp::cc(name).map(|entry| told("cc", &entry.page)))
        .or_else(|| App::PAGES.iter().find(|page| page.stem == name).map(told_app))
        .or_else(|| PROFILE_PAGES.iter().find(|page| page.stem == name).map(told_profile))
        .or_else(|| knob(name).map(told_knob))
        .or_else(|| metric_named(name).map(told_metric))
        .or_else(scenario)
        .or_else(|| told_key(name))
        .map(|page| page.to_string())
}

/// The JSON schema of scenario files.
#[pyfunction]
pub(crate) fn schema_json() -> String {
    sojourn_scenario::schema().to_string()
}

fn told(kind: &str, page: &Page) -> Value {
    json!({
        "kind": kind,
        "name": page.stem,
        "summary": page.summary,
        "idea": page.idea,
        "equation": page.equation,
        "source": page.source,
        "fields": (page.fields)().iter().map(field).collect::<Vec<Value>>(),
    })
}

/// An application has no parameters of its own but keys of its group of flows.
fn told_app(page: &Page) -> Value {
    let mut app = told("app", page);
    app["keys"] = App::keys(page.stem).into();
    app
}

/// A profile is what its knobs stand at.
fn told_profile(page: &Page) -> Value {
    let profile = Profile::named(page.stem).unwrap_or_default();
    let fields = KNOBS.iter().map(|knob| {
        json!({
            "key": knob.name,
            "symbol": "",
            "kind": (knob.kind)().to_string(),
            "default": knob.told(&profile),
            "rule": knob.range(),
            "why": "",
            "about": knob.about,
            "source": knob.source,
        })
    });
    let mut told = told("profile", page);
    told["fields"] = fields.collect();
    told
}

fn told_knob(knob: &Knob) -> Value {
    let (kind, range) = ((knob.kind)(), knob.range());
    let legal = match &kind {
        Kind::Word(words) => words.join(", "),
        _ if range.is_empty() => kind.to_string(),
        _ => format!("{kind}, {range}"),
    };
    json!({
        "kind": "knob",
        "name": knob.name,
        "summary": knob.about,
        "idea": format!("A key of [flows.tcp]; legal: {legal}. Where it is not given: {}.", knob.by_profile()),
        "equation": "",
        "source": knob.source,
        "fields": [],
    })
}

fn told_metric(metric: &Metric) -> Value {
    json!({
        "kind": "metric",
        "name": metric.name,
        "summary": metric.about,
        "unit": metric.unit,
        "idea": "",
        "equation": "",
        "source": "",
        "fields": [],
    })
}

/// A key of a scenario as faults name it, `flows[0].tcp.prr`, or all keys of one last name; with those below it.
fn told_key(name: &str) -> Option<Value> {
    let path = without_places(name);
    let all = sojourn_scenario::explain();
    let meant: Vec<&Key> = match all.iter().find(|key| key.path() == path) {
        Some(key) => vec![key],
        None => all.iter().filter(|key| key.name == path).collect(),
    };
    let (name, summary) = match meant.as_slice() {
        [] => return None,
        [key] => (key.path(), key.about),
        _ => (path, "keys of a scenario file"),
    };
    let is_below = |key: &Key, over: &Key| key.path().starts_with(&format!("{}.", over.path()));
    let keys =
        all.iter().filter(|key| meant.iter().any(|one| key.path() == one.path() || is_below(key, one)));
    Some(json!({
        "kind": "key",
        "name": name,
        "summary": summary,
        "idea": "",
        "equation": "",
        "source": "",
        "fields": keys.map(key_row).collect::<Vec<Value>>(),
    }))
}

/// `flows[0].tcp` as `flows.tcp`.
fn without_places(name: &str) -> String {
    let parts = name.split('[').enumerate();
    parts
        .map(|(at, part)| if at == 0 { part } else { part.split_once(']').map_or(part, |(_, rest)| rest) })
        .collect()
}

fn key_row(key: &Key) -> Value {
    json!({
        "key": key.path(),
        "symbol": "",
        "kind": key.kind().to_string(),
        "default": key.preset.to_string(),
        "rule": key.range(),
        "why": "",
        "about": key.about,
        "source": key.source,
    })
}

fn scenario_page() -> Value {
    let keys = sojourn_scenario::explain().iter().map(key_row);
    json!({
        "kind": "scenario",
        "name": "scenario",
        "summary": "a scenario file: a network and its discs, the traffic, and what changes when",
        "idea": "A TOML file. Quantities are text with a unit. A file has one network: [bottleneck] is the \
                 congested link of a dumbbell, [parking_lot], [two_bottlenecks] and [home] are others, [[links]] makes any; \
                 each [[flows]] is a class of like flows, each [[at]] a change during the run. What \
                 implementations of TCP differ in stands in tcp = { KEY = VALUE }. --set names one of \
                 several by its place, counted from 0: --set flows[0].count=20, --set at[1].time=\"30 s\".",
        "equation": "",
        "source": "",
        "fields": keys.collect::<Vec<Value>>(),
    })
}

fn field(field: &Field) -> Value {
    json!({
        "key": field.key,
        "symbol": field.symbol,
        "kind": field.kind.to_string(),
        "default": json_of(&field.default),
        "rule": field.rule,
        "why": field.why,
        "about": field.about,
    })
}
