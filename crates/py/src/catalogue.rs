//! What `sojourn list` and `sojourn explain` tell, as JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_aqm::catalogue as aqm;
use sojourn_tcp::catalogue as tcp;
use sojourn_units::param::{self, Field};

/// Everything of a kind (`laws`, `discs`, `ccs`, `apps`) as a JSON array.
#[pyfunction]
pub(crate) fn catalogue_json(kind: &str) -> PyResult<String> {
    let pages: Vec<Value> = match kind {
        "laws" => aqm::LAWS.iter().map(|entry| aqm_page("law", &entry.page)).collect(),
        "discs" => aqm::DISCS.iter().map(|page| aqm_page("disc", page)).collect(),
        "ccs" => tcp::CCS.iter().map(tcp_page).collect(),
        "apps" => vec![bulk()],
        other => {
            return Err(PyValueError::new_err(format!(
                "\"{other}\" is no kind; legal: laws, discs, ccs, apps"
            )));
        }
    };
    Ok(Value::Array(pages).to_string())
}

/// All that is told of one name, as a JSON object; None where it is unknown.
#[pyfunction]
pub(crate) fn explain_json(name: &str) -> Option<String> {
    let law = aqm::law(name).map(|entry| aqm_page("law", &entry.page));
    let disc = || aqm::DISCS.iter().find(|page| page.stem == name).map(|page| aqm_page("disc", page));
    let cc = || tcp::cc(name).map(tcp_page);
    let rest = || match name {
        "bulk" => Some(bulk()),
        "scenario" => Some(scenario_page()),
        _ => None,
    };
    law.or_else(disc).or_else(cc).or_else(rest).map(|page| page.to_string())
}

/// The JSON schema of scenario files.
#[pyfunction]
pub(crate) fn schema_json() -> String {
    sojourn_scenario::schema().to_string()
}

fn aqm_page(kind: &str, page: &aqm::Page) -> Value {
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

fn tcp_page(page: &tcp::Page) -> Value {
    json!({
        "kind": "cc",
        "name": page.stem,
        "summary": page.summary,
        "idea": page.idea,
        "equation": page.equation,
        "source": page.source,
        "fields": [],
    })
}

fn bulk() -> Value {
    json!({
        "kind": "app",
        "name": "bulk",
        "summary": "a long flow that always has data to send",
        "idea": "The sender is never without data: what it sends is decided by its window alone.",
        "equation": "",
        "source": "RFC 7928, section 5",
        "fields": [],
    })
}

fn scenario_page() -> Value {
    let keys = sojourn_scenario::explain().iter().map(|key| {
        json!({
            "key": key.path(),
            "symbol": "",
            "kind": key.kind().to_string(),
            "default": key.preset.to_string(),
            "rule": key.range(),
            "why": "",
            "about": key.about,
        })
    });
    json!({
        "kind": "scenario",
        "name": "scenario",
        "summary": "a scenario file: one link, its disc, its flows, and what changes when",
        "idea": "A TOML file. Quantities are text with a unit. [bottleneck] is the congested link of a dumbbell; \
                 each [[flows]] is a group of like flows, each [[at]] a change during the run.",
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

fn json_of(value: &param::Value) -> Value {
    match value {
        param::Value::Absent => Value::Null,
        param::Value::Text(text) => json!(text),
        param::Value::Number(number) => json!(number),
        param::Value::Whole(number) => json!(number),
        param::Value::Flag(flag) => json!(flag),
        param::Value::List(items) => items.iter().map(json_of).collect(),
        param::Value::Table(entries) => {
            entries.iter().map(|(key, value)| (key.clone(), json_of(value))).collect()
        }
    }
}
