//! Output of `sojourn list` and `sojourn explain`, as JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_aqm::catalogue as aqm;
use sojourn_describe::{TOPICS, Topic, topic, topic_with};
use sojourn_measure::{METRICS, Metric, WINDOW_METRICS, metric_named};
use sojourn_params::{Described, Field, Kind, Page, Path, Value as Default, forms_of_words};
use sojourn_scenario::apps::APPS;
use sojourn_scenario::links::{Framing, Impairments, LINK_MODELS};
use sojourn_scenario::tables::{Direction, File};
use sojourn_scenario::{Key, keys};
use sojourn_tcp::cc::KERNEL;
use sojourn_tcp::{PROFILE_PAGES, Profile, catalogue as tcp};

/// Everything of a kind (`laws`, `qdiscs`, `ccs`, `apps`, `links`, `impairments`, `profiles`, `settings`, `metrics`, `window_metrics`;
/// `topics`, `keys`: every parameter of a scenario and of the entries) as a JSON array.
#[pyfunction]
pub(crate) fn catalogue_json(kind: &str) -> PyResult<String> {
    let entries: Vec<Value> = match kind {
        "impairments" => Impairments::fields().iter().map(impairment_entry).collect(),
        "settings" => Profile::fields().iter().map(setting_entry).collect(),
        "metrics" => METRICS.iter().map(metric_entry).collect(),
        "window_metrics" => WINDOW_METRICS.iter().map(metric_entry).collect(),
        "topics" => TOPICS.iter().map(topic_entry).chain([link_page()]).collect(),
        "keys" => every_key(),
        other => {
            let found = CATALOGUES.iter().find(|(name, ..)| *name == other);
            let (_, kind, pages) = found.ok_or_else(|| {
                let names = CATALOGUES.iter().map(|(name, ..)| *name);
                let names: Vec<&str> = names
                    .chain(["impairments", "settings", "metrics", "window_metrics", "topics", "keys"])
                    .collect();
                let expected = names.join(", ");
                PyValueError::new_err(format!("\"{other}\" is no kind; expected {expected}"))
            })?;
            pages().iter().map(|page| page_entry(kind, page)).collect()
        }
    };
    Ok(Value::Array(entries).to_string())
}

/// Catalogues of entries with parameters: the plural, the kind, the pages.
type Catalogued = (&'static str, &'static str, fn() -> Vec<Page>);
static CATALOGUES: &[Catalogued] = &[
    ("laws", "law", || aqm::LAWS.iter().map(|entry| entry.page).collect()),
    ("qdiscs", "qdisc", aqm::qdiscs),
    ("ccs", "cc", tcp::CC_CATALOGUE.pages),
    ("apps", "app", APPS.pages),
    ("links", "link model", LINK_MODELS.pages),
    ("profiles", "profile", || PROFILE_PAGES.to_vec()),
];

/// The entry of one name, as a JSON object; None where it is unknown.
#[pyfunction]
pub(crate) fn explain_json(name: &str) -> Option<String> {
    let of_catalogues = || {
        let found = |(_, kind, pages): &Catalogued| {
            let page = pages().into_iter().find(|page| page.stem == name)?;
            Some(page_entry(kind, &page))
        };
        CATALOGUES.iter().find_map(found)
    };
    let framing = || Framing::named().find(|(page, _)| page.stem == name);
    of_catalogues()
        .or_else(|| Profile::fields().iter().find(|field| field.key == name).map(setting_entry))
        .or_else(|| metric_named(name).map(metric_entry))
        .or_else(|| (name == "scenario").then(scenario_page))
        .or_else(|| (name == "link").then(link_page))
        .or_else(|| topic(name).map(topic_entry))
        .or_else(|| framing().map(|(page, _)| page_entry("framing", page)))
        .or_else(|| parameter_entry(name))
        .or_else(|| key_entry(name))
        .or_else(|| topic_with(name).map(topic_entry))
        .map(|page| page.to_string())
}

/// Every parameter: the keys of a scenario file, and those of each entry of a catalogue.
fn every_key() -> Vec<Value> {
    let of_files = keys().iter().map(|key| {
        let mut row = key_row(key);
        row["of"] = "scenario".into();
        row["set"] = key.first.to_string().into();
        row
    });
    let of_entries = CATALOGUES.iter().flat_map(|(_, kind, pages)| {
        pages().into_iter().flat_map(move |page| {
            let fields = if *kind == "profile" { Vec::new() } else { (page.fields)() };
            let rows: Vec<Value> = fields
                .iter()
                .map(|parameter| {
                    let mut row = field(parameter);
                    row["key"] = format!("{}.{}", page.stem, parameter.key).into();
                    row["of"] = (*kind).into();
                    row["set"] = place_of(kind, page.stem, parameter.key).into();
                    row
                })
                .collect();
            rows
        })
    });
    let listed = |mut row: Value| {
        row["name"] = row["key"].clone();
        row["summary"] = row["about"].clone();
        row
    };
    of_files.chain(of_entries).map(listed).collect()
}

/// The key that sets a parameter of an entry, in a dumbbell whose first group of flows has the entry.
fn place_of(kind: &str, entry: &str, parameter: &str) -> String {
    match kind {
        "law" | "qdisc" => format!("bottleneck.qdisc.{parameter}"),
        "cc" => format!("flows[0].cc.{parameter}"),
        "app" => format!("flows[0].app.{entry}.{parameter}"),
        "link model" => format!("bottleneck.trace.{entry}.{parameter}"),
        _ => format!("flows[0].tcp.{parameter}"),
    }
}

/// The JSON schema of scenario files.
#[pyfunction]
pub(crate) fn schema_json() -> String {
    sojourn_describe::schema().to_string()
}

fn page_entry(kind: &str, page: &Page) -> Value {
    let mut entry = json!({
        "kind": kind,
        "name": page.stem,
        "summary": page.summary,
        "idea": page.idea,
        "equation": page.equation,
        "source": page.source,
        "fields": (page.fields)().iter().map(field).collect::<Vec<Value>>(),
    });
    if kind == "cc" {
        entry["live_only"] = KERNEL.iter().any(|known| known.stem == page.stem).into();
    }
    entry
}

/// One parameter of an entry, `pi.target`, of a table of it, `drr.reserved.rate`, or of an entry within, `drr.law.target`.
fn parameter_entry(name: &str) -> Option<Value> {
    let (stem, path) = name.split_once('.')?;
    let (kind, page) = CATALOGUES.iter().find_map(|(_, kind, pages)| {
        pages().into_iter().find(|page| page.stem == stem).map(|page| (*kind, page))
    })?;
    let Parameter { of, field: parameter, source } = parameter_at(format!("{kind} {stem}"), &page, path)?;
    let inner = match &parameter.kind {
        Kind::Keys(fields) => fields(),
        _ => Vec::new(),
    };
    let below = inner.iter().map(|inner| {
        let mut row = field(inner);
        row["key"] = format!("{}.{}", parameter.key, inner.key).into();
        row
    });
    Some(json!({
        "kind": "parameter",
        "name": name,
        "summary": parameter.about,
        "idea": format!("A parameter of the {of}: `{}`.", place_of(kind, stem, path)),
        "equation": "",
        "source": if parameter.source.is_empty() { source } else { parameter.source },
        "fields": std::iter::once(field(&parameter)).chain(below).collect::<Vec<Value>>(),
    }))
}

/// A parameter, and what it is one of.
struct Parameter {
    of: String,
    field: Field,
    /// Source of what it is one of.
    source: &'static str,
}

/// The parameter at a path of keys below an entry; an entry within is the default.
fn parameter_at(of: String, page: &Page, path: &str) -> Option<Parameter> {
    let (key, inner) = path.split_once('.').map_or((path, None), |(key, inner)| (key, Some(inner)));
    let field = (page.fields)().into_iter().find(|field| field.key == key)?;
    let Some(inner) = inner else { return Some(Parameter { of, field, source: page.source }) };
    match (&field.kind, &field.default) {
        (Kind::Keys(fields), _) => {
            let field = fields().into_iter().find(|field| field.key == inner)?;
            Some(Parameter { of: format!("table {key} of the {of}"), field, source: page.source })
        }
        (Kind::Entry(catalogue), Default::Text(default)) => {
            let page = (catalogue.pages)()[catalogue.place(default).ok()?];
            parameter_at(format!("{} {default}, the default of {key}", catalogue.kind), &page, inner)
        }
        _ => None,
    }
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

/// The keys of every direction of a link.
fn link_page() -> Value {
    json!({
        "kind": "link",
        "name": "link",
        "summary": "the keys of one direction of a link, in whatever table it stands",
        "idea": "Keys in [bottleneck], [parking_lot], [two_bottlenecks], [home.up], [home.down] and [[links]], and in `back` \
                 of all but home's, the other direction. Its defaults are the same rate, delay and framing, without a \
                 qdisc or a limit. In [[links]], too, a link has no qdisc by default; a buffer alone is tail_drop, which \
                 --qdisc does not replace.",
        "equation": "",
        "source": "",
        "fields": Direction::fields().iter().map(field).collect::<Vec<Value>>(),
    })
}

/// An impairment: a key of `impairments`, several of which may stand together.
fn impairment_entry(impairment: &Field) -> Value {
    let fields = match impairment.kind {
        Kind::Keys(inner) => inner(),
        _ => vec![impairment.clone()],
    };
    json!({
        "kind": "impairment",
        "name": impairment.key,
        "summary": impairment.about,
        "idea": "",
        "equation": "",
        "source": impairment.source,
        "fields": fields.iter().map(field).collect::<Vec<Value>>(),
    })
}

fn setting_entry(setting: &Field) -> Value {
    let values = match &setting.kind {
        kind @ (Kind::Word(_) | Kind::WordOrFlag(_)) => words(kind).join(", "),
        kind if setting.range().is_empty() => kind.to_string(),
        kind => format!("{kind}, {}", setting.range()),
    };
    json!({
        "kind": "setting",
        "name": setting.key,
        "summary": setting.about,
        "idea": format!("A key of tcp in [[flows]], {values}. Default: {} ({}).", Profile::by_profile(setting), setting.why),
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
    let path = Path::from(name).without_places();
    let meant: Vec<&Key> = match keys().iter().find(|key| key.path() == path) {
        Some(key) => vec![key],
        None => keys().iter().filter(|key| key.name() == path).collect(),
    };
    // Tables of one kind have the same keys, each described once.
    let mut described: Vec<(&Key, Vec<String>)> = Vec::new();
    for key in meant {
        let is_same = |(one, _): &&mut (&Key, Vec<String>)| {
            (one.field.about, one.field.why) == (key.field.about, key.field.why)
        };
        match described.iter_mut().find(is_same) {
            Some((_, others)) => others.push(key.path()),
            None => described.push((key, Vec::new())),
        }
    }
    let others: Vec<&str> = described.iter().flat_map(|(_, others)| others).map(String::as_str).collect();
    let meant: Vec<&Key> = described.iter().map(|(key, _)| *key).collect();
    let (name, summary) = match meant.as_slice() {
        [] => return None,
        [key] if others.is_empty() => (key.path(), key.field.about),
        [key] => (path, key.field.about),
        _ => (path, "keys of a scenario file"),
    };
    let is_of_a_link =
        |key: &Key| key.table != name && Direction::has(key.name()) && key.table != "flows.access";
    let is_meant = |key: &Key| meant.iter().any(|one| one.path() == key.path());
    let is_below = |key: &Key| meant.iter().any(|one| key.path().starts_with(&format!("{}.", one.path())));
    let has_links =
        keys().iter().any(|key| is_below(key) && Direction::has(key.name()) && key.table != "flows.access");
    let is_elsewhere = |key: &Key| is_of_a_link(key) || (name == "flows" && key.table == "flows.tcp");
    let shown = keys().iter().filter(|key| is_meant(key) || (is_below(key) && !is_elsewhere(key)));
    let mut idea = Vec::new();
    let also = format!("The same key in other tables: {}.", others.join(", "));
    if !others.is_empty() {
        idea.push(also.as_str());
    }
    if has_links {
        idea.push("Keys of a link, in `back` too: `sojourn explain link`.");
    }
    if name == "flows" {
        idea.push(
            "Keys of an app: `sojourn explain web`. Settings in tcp = { KEY = VALUE }: `sojourn explain default` for a \
             profile, `sojourn explain prr` for one. Distributions: `sojourn explain distribution`.",
        );
    }
    Some(json!({
        "kind": "key",
        "name": name,
        "summary": summary,
        "idea": idea.join(" "),
        "equation": "",
        "source": "",
        "fields": shown.map(key_row).collect::<Vec<Value>>(),
    }))
}

fn key_row(key: &Key) -> Value {
    let mut row = field(&key.field);
    row["key"] = key.path().into();
    row
}

/// The top-level keys of a file, and pointers to the rest.
fn scenario_page() -> Value {
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
        "fields": File::fields().iter().map(field).collect::<Vec<Value>>(),
    })
}

fn field(field: &Field) -> Value {
    json!({
        "key": field.key,
        "symbol": field.symbol,
        "kind": field.kind.to_string(),
        "units": field.kind.units(),
        "words": words(&field.kind),
        "keys": match field.kind {
            Kind::Keys(fields) => fields().iter().map(|field| field.key).collect(),
            _ => Vec::new(),
        },
        "is_required": field.is_required,
        "default": field.default,
        "rule": field.range(),
        "bounds": field.bounds,
        "why": field.why,
        "about": field.about,
        "source": field.source,
    })
}

/// The values of an enumeration; none for another kind.
fn words(kind: &Kind) -> Vec<String> {
    match kind {
        Kind::Word(words) => words.iter().map(ToString::to_string).collect(),
        Kind::WordOrFlag(words) => forms_of_words(words),
        _ => Vec::new(),
    }
}
