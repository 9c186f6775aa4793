//! What `sojourn list` and `sojourn explain` tell, as JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_aqm::catalogue as aqm;
use sojourn_scenario::links::Framing;
use sojourn_scenario::metrics::{METRICS, Metric, metric_named};
use sojourn_scenario::{App, Key, TOPICS, Topic, json_of, topic, topic_with};
use sojourn_tcp::knobs::{KNOBS, Knob, PROFILE_PAGES, knob};
use sojourn_tcp::{Profile, catalogue as tcp};
use sojourn_units::Page;
use sojourn_units::param::{Field, Kind};

/// Everything of a kind (`laws`, `discs`, `ccs`, `apps`, `profiles`, `knobs`, `metrics`; `topics`, `keys` of scenario files)
/// as a JSON array.
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
        "topics" => TOPICS.iter().map(told_topic).chain([link_page()]).collect(),
        "keys" => sojourn_scenario::explain().iter().map(key_row).collect(),
        other => {
            return Err(PyValueError::new_err(format!(
                "\"{other}\" is no kind; legal: laws, discs, ccs, apps, profiles, knobs, metrics, topics, keys"
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
        .or_else(|| (name == "link").then(link_page))
        .or_else(|| topic(name).map(told_topic))
        .or_else(|| {
            Framing::named().find(|(page, _)| page.stem == name).map(|(page, _)| told("framing", page))
        })
        .or_else(|| told_key(name))
        .or_else(|| topic_with(name).map(told_topic))
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

/// An application has no parameters of its own but keys of its group of flows; those that not all have are told.
fn told_app(page: &Page) -> Value {
    let mut app = told("app", page);
    let keys = App::keys(page.stem);
    let is_own = |key: &&Key| {
        let name = |one: &String| one.split(' ').next() == Some(key.name);
        (key.is_of_some_apps() || key.path() == "flows.count") && keys.iter().any(name)
    };
    app["fields"] = sojourn_scenario::explain().iter().filter(is_own).map(key_row).collect();
    app["keys"] = keys.into();
    app
}

fn told_topic(topic: &Topic) -> Value {
    json!({
        "kind": "topic",
        "name": topic.name,
        "summary": topic.summary,
        "idea": topic.idea,
        "equation": "",
        "source": topic.source,
        "fields": [],
        "forms": (topic.forms)(),
    })
}

/// What every direction of a link may have, and in which tables.
fn link_page() -> Value {
    let keys =
        sojourn_scenario::explain().iter().filter(|key| key.table == "bottleneck" && key.is_of_a_link());
    let (mut forward, mut with_back) = (Vec::new(), Vec::new());
    for key in sojourn_scenario::explain().iter().filter(|key| key.is_of_a_link() && key.name == "rate") {
        match key.table.strip_suffix(".back") {
            None => forward.push(header(key.table)),
            Some(table) => with_back.push(header(table)),
        }
    }
    let row = |key: &Key| {
        let mut row = key_row(key);
        row["key"] = key.name.into();
        row
    };
    json!({
        "kind": "link",
        "name": "link",
        "summary": "the keys of one direction of a link, in whatever table it stands",
        "idea": format!(
            "They stand in {}, and in `back` of {}, the other direction. That one has the same rate, delay and framing where \
             it says nothing, and a disc or a limit only where it is given one. In [[links]], too, a link has a disc only \
             where it is given one; a buffer alone is tail_drop, which --disc leaves alone.",
            forward.join(", "),
            with_back.join(", "),
        ),
        "equation": "",
        "source": "",
        "fields": keys.map(row).collect::<Vec<Value>>(),
    })
}

/// What a table begins with in a file, `[home.up]` or `[[links]]`.
fn header(table: &str) -> String {
    let is_one_of_several = |key: &Key| key.path() == table && matches!(key.kind(), Kind::Tables);
    if sojourn_scenario::explain().iter().any(is_one_of_several) {
        format!("[[{table}]]")
    } else {
        format!("[{table}]")
    }
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
        Kind::WordOrFlag(words) => format!("{}, false", words.join(", ")),
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

/// A key of a scenario as faults name it, `flows[0].tcp.prr`, or all keys of one last name; with those below it, but for
/// those that are told once elsewhere.
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
    let is_meant = |key: &Key| meant.iter().any(|one| one.path() == key.path());
    let is_below = |key: &Key| meant.iter().any(|one| key.path().starts_with(&format!("{}.", one.path())));
    let below: Vec<&Key> = all.iter().filter(|key| is_below(key)).collect();
    let flows_alone = name == "flows";
    let told_elsewhere =
        |key: &Key| key.is_of_a_link() || key.is_of_some_apps() || (flows_alone && key.table == "flows.tcp");
    let keys = all.iter().filter(|key| is_meant(key) || (is_below(key) && !told_elsewhere(key)));
    Some(json!({
        "kind": "key",
        "name": name,
        "summary": summary,
        "idea": told_once(&below, flows_alone),
        "equation": "",
        "source": "",
        "fields": keys.map(key_row).collect::<Vec<Value>>(),
    }))
}

/// Where keys are told that many tables have, or few applications.
fn told_once(below: &[&Key], flows_alone: bool) -> String {
    let mut said = Vec::new();
    let of_links: Vec<&&Key> = below.iter().filter(|key| key.is_of_a_link()).collect();
    if let Some(first) = of_links.first() {
        let names = of_links.iter().filter(|key| key.table == first.table).map(|key| key.name);
        let names = names.collect::<Vec<_>>().join(", ");
        let mut tables: Vec<&str> = of_links.iter().map(|key| key.table).collect();
        tables.dedup();
        let tables = tables.join(", ");
        said.push(format!("The keys of a link ({names}) stand in {tables}: `sojourn explain link`."));
    }
    if flows_alone {
        said.push(
            "The keys that only some apps have are told with each app, `sojourn explain web`; the knobs in tcp = { KEY = \
             VALUE } with a profile, `sojourn explain default`, and one by one, `sojourn explain prr`; how a distribution \
             is written by `sojourn explain distribution`."
                .into(),
        );
    }
    said.join(" ")
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
        "default": match key.instead() {
            Some(other) => format!("{}, or {other}", key.preset),
            None => key.preset.to_string(),
        },
        "rule": key.range(),
        "why": "",
        "about": key.about,
        "source": key.source,
    })
}

/// What may stand at the top of a file, and where the rest is told.
fn scenario_page() -> Value {
    let keys = sojourn_scenario::explain().iter().filter(|key| key.table.is_empty()).map(key_row);
    json!({
        "kind": "scenario",
        "name": "scenario",
        "summary": "a scenario file: a network and its discs, the traffic, and what changes when",
        "idea": "A TOML file. Quantities are text with a unit. A file has one network: [bottleneck] is the \
                 congested link of a dumbbell, [parking_lot], [two_bottlenecks] and [home] are others, [[links]] makes any; \
                 each [[flows]] is a class of like flows, each [[at]] a change during the run. What \
                 implementations of TCP differ in stands in tcp = { KEY = VALUE }. --set names one of \
                 several by its place, counted from 0: --set flows[0].count=20, --set at[1].time=\"30 s\".\n\n\
                 What stands in a table is told by its name, `sojourn explain links`, flows, at, home and so on; each key by \
                 its own, `sojourn explain bottleneck.rate`. Told once: `sojourn explain link` (the keys of every link), \
                 distribution, trace, framing, impairments, each app (`sojourn explain web`, `sojourn list apps`), each \
                 law and each profile of TCP.",
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
