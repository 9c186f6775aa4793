//! Output of `sojourn list` and `sojourn explain`, as JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_aqm::catalogue as aqm;
use sojourn_describe::{TOPICS, Topic, topic, topic_with};
use sojourn_measure::{METRICS, Metric, metric_named};
use sojourn_params::Page;
use sojourn_params::{Field, Kind};
use sojourn_scenario::links::Framing;
use sojourn_scenario::{App, Key};
use sojourn_tcp::settings::{PROFILE_PAGES, SETTINGS, Setting, setting};
use sojourn_tcp::{Profile, catalogue as tcp};

/// Everything of a kind (`laws`, `qdiscs`, `ccs`, `apps`, `profiles`, `settings`, `metrics`; `topics`, `keys` of scenario files)
/// as a JSON array.
#[pyfunction]
pub(crate) fn catalogue_json(kind: &str) -> PyResult<String> {
    let pages: Vec<Value> = match kind {
        "laws" => aqm::LAWS.iter().map(|entry| page_entry("law", &entry.page)).collect(),
        "qdiscs" => aqm::QDISCS.iter().map(|page| page_entry("qdisc", page)).collect(),
        "ccs" => tcp::CCS.iter().map(|entry| page_entry("cc", &entry.page)).collect(),
        "apps" => App::PAGES.iter().map(app_entry).collect(),
        "profiles" => PROFILE_PAGES.iter().map(profile_entry).collect(),
        "settings" => SETTINGS.iter().map(setting_entry).collect(),
        "metrics" => METRICS.iter().map(metric_entry).collect(),
        "topics" => TOPICS.iter().map(topic_entry).chain([link_page()]).collect(),
        "keys" => sojourn_scenario::explain().iter().map(key_row).collect(),
        other => {
            return Err(PyValueError::new_err(format!(
                "\"{other}\" is no kind; expected laws, qdiscs, ccs, apps, profiles, settings, metrics, topics, keys"
            )));
        }
    };
    Ok(Value::Array(pages).to_string())
}

/// The entry of one name, as a JSON object; None where it is unknown.
#[pyfunction]
pub(crate) fn explain_json(name: &str) -> Option<String> {
    let of =
        |kind, pages: &[Page]| pages.iter().find(|page| page.stem == name).map(|page| page_entry(kind, page));
    let law = aqm::law(name).map(|entry| page_entry("law", &entry.page));
    let scenario = || (name == "scenario").then(scenario_page);
    law.or_else(|| of("qdisc", aqm::QDISCS))
        .or_else(|| tcp::cc(name).map(|entry| page_entry("cc", &entry.page)))
        .or_else(|| App::PAGES.iter().find(|page| page.stem == name).map(app_entry))
        .or_else(|| PROFILE_PAGES.iter().find(|page| page.stem == name).map(profile_entry))
        .or_else(|| setting(name).map(setting_entry))
        .or_else(|| metric_named(name).map(metric_entry))
        .or_else(scenario)
        .or_else(|| (name == "link").then(link_page))
        .or_else(|| topic(name).map(topic_entry))
        .or_else(|| {
            Framing::named().find(|(page, _)| page.stem == name).map(|(page, _)| page_entry("framing", page))
        })
        .or_else(|| key_entry(name))
        .or_else(|| topic_with(name).map(topic_entry))
        .map(|page| page.to_string())
}

/// The JSON schema of scenario files.
#[pyfunction]
pub(crate) fn schema_json() -> String {
    sojourn_describe::schema().to_string()
}

fn page_entry(kind: &str, page: &Page) -> Value {
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

/// An application has no parameters but keys of its group of flows; those that not all applications have are listed.
fn app_entry(page: &Page) -> Value {
    let mut app = page_entry("app", page);
    let keys = App::keys(page.stem);
    let is_own = |key: &&Key| {
        let name = |one: &String| one.split(' ').next() == Some(key.name);
        (key.is_of_some_apps() || key.path() == "flows.count") && keys.iter().any(name)
    };
    app["fields"] = sojourn_scenario::explain().iter().filter(is_own).map(key_row).collect();
    app["keys"] = keys.into();
    app
}

fn topic_entry(topic: &Topic) -> Value {
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

/// The keys of every direction of a link, and their tables.
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
            "Keys in {}, and in `back` of {}, the other direction. Its defaults are the same rate, delay and framing, \
            without a qdisc or a limit. In [[links]], too, a link has no qdisc by default; a buffer alone is tail_drop, \
            which --qdisc does not replace.",
            forward.join(", "),
            with_back.join(", "),
        ),
        "equation": "",
        "source": "",
        "fields": keys.map(row).collect::<Vec<Value>>(),
    })
}

/// The head of a table in a file, `[home.up]` or `[[links]]`.
fn header(table: &str) -> String {
    let is_one_of_several = |key: &Key| key.path() == table && matches!(key.kind(), Kind::Tables);
    if sojourn_scenario::explain().iter().any(is_one_of_several) {
        format!("[[{table}]]")
    } else {
        format!("[{table}]")
    }
}

/// A profile with the values of its settings.
fn profile_entry(page: &Page) -> Value {
    let profile = Profile::named(page.stem).unwrap_or_default();
    let fields = SETTINGS.iter().map(|setting| {
        json!({
            "key": setting.name,
            "symbol": "",
            "kind": (setting.kind)().to_string(),
            "default": setting.text(&profile),
            "rule": setting.range(),
            "why": "",
            "about": setting.about,
            "source": setting.source,
        })
    });
    let mut profile = page_entry("profile", page);
    profile["fields"] = fields.collect();
    profile
}

fn setting_entry(setting: &Setting) -> Value {
    let (kind, range) = ((setting.kind)(), setting.range());
    let values = match &kind {
        Kind::Word(words) => words.join(", "),
        Kind::WordOrFlag(words) => format!("{}, false", words.join(", ")),
        _ if range.is_empty() => kind.to_string(),
        _ => format!("{kind}, {range}"),
    };
    json!({
        "kind": "setting",
        "name": setting.name,
        "summary": setting.about,
        "idea": format!("A key of [flows.tcp], {values}. Default: {}.", setting.by_profile()),
        "equation": "",
        "source": setting.source,
        "fields": [],
    })
}

fn metric_entry(metric: &Metric) -> Value {
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

/// A key of a scenario as in errors, `flows[0].tcp.prr`, or all keys of one last name; with those below it, except
/// those explained elsewhere.
fn key_entry(name: &str) -> Option<Value> {
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
    let is_elsewhere =
        |key: &Key| key.is_of_a_link() || key.is_of_some_apps() || (flows_alone && key.table == "flows.tcp");
    let keys = all.iter().filter(|key| is_meant(key) || (is_below(key) && !is_elsewhere(key)));
    Some(json!({
        "kind": "key",
        "name": name,
        "summary": summary,
        "idea": pointers(&below, flows_alone),
        "equation": "",
        "source": "",
        "fields": keys.map(key_row).collect::<Vec<Value>>(),
    }))
}

/// Pointers to keys of many tables, or of few applications.
fn pointers(below: &[&Key], flows_alone: bool) -> String {
    let mut pointers = Vec::new();
    let of_links: Vec<&&Key> = below.iter().filter(|key| key.is_of_a_link()).collect();
    if let Some(first) = of_links.first() {
        let names = of_links.iter().filter(|key| key.table == first.table).map(|key| key.name);
        let names = names.collect::<Vec<_>>().join(", ");
        let mut tables: Vec<&str> = of_links.iter().map(|key| key.table).collect();
        tables.dedup();
        let tables = tables.join(", ");
        pointers.push(format!("Keys of a link ({names}) in {tables}: `sojourn explain link`."));
    }
    if flows_alone {
        pointers.push(
            "Keys of single apps: `sojourn explain web`. Settings in tcp = { KEY = VALUE }: `sojourn explain default` for a \
            profile, `sojourn explain prr` for one. Distributions: `sojourn explain distribution`."
                .into(),
        );
    }
    pointers.join(" ")
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

/// The top-level keys of a file, and pointers to the rest.
fn scenario_page() -> Value {
    let keys = sojourn_scenario::explain().iter().filter(|key| key.table.is_empty()).map(key_row);
    json!({
        "kind": "scenario",
        "name": "scenario",
        "summary": "a scenario file: a network and its qdiscs, the traffic, and changes",
        "idea": "A TOML file. Quantities are text with a unit. A file has one network: [bottleneck] is the \
                 congested link of a dumbbell, [parking_lot], [two_bottlenecks] and [home] are others, [[links]] makes any; \
                 each [[flows]] is a class of equal flows, each [[at]] a change during the run. Choices in which \
                 implementations of TCP differ are settings: tcp = { KEY = VALUE }. --set names one of \
                 several by its place, counted from 0: --set flows[0].count=20, --set at[1].time=\"30 s\".\n\n\
                 `sojourn explain links` (or flows, at, home and so on) lists the keys of a table, \
                 `sojourn explain bottleneck.rate` explains one key. Shared topics: `sojourn explain link` (keys of every link), \
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
        "default": field.default,
        "rule": field.rule,
        "why": field.why,
        "about": field.about,
    })
}
