//! The JSON schema of scenario files, for editors.

use serde_json::{Map, Value as Json, json};
use sojourn_aqm::catalogue;
use sojourn_params::Page;
use sojourn_params::spec::canonical;
use sojourn_params::{Field, Kind};
use sojourn_scenario::{Key, Preset, keys_of};
use sojourn_tcp::catalogue::CCS;

/// The JSON schema (2020-12) of a scenario file, TOML tables being objects.
pub fn schema() -> Json {
    let mut schema = table("");
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "Sojourn scenario".into();
    schema["description"] = "A network, its qdiscs, its flows and its changes.".into();
    schema
}

/// An object with the keys of one table, and no others.
fn table(name: &str) -> Json {
    let mut properties = Map::new();
    for key in keys_of(name) {
        properties.insert(key.name.into(), property(key));
    }
    let required = keys_of(name).filter(|key| key.preset == Preset::Required);
    let (alone, either): (Vec<&Key>, Vec<&Key>) = required.partition(|key| key.instead().is_none());
    let mut table = object(&properties, &alone.iter().map(|key| key.name).collect::<Vec<_>>());
    for key in either {
        table["oneOf"] = json!([{ "required": [key.name] }, { "required": [key.instead()] }]);
    }
    table
}

/// An object whose keys hold the names of links and classes.
fn settings(name: &str) -> Json {
    let mut patterns = Map::new();
    let mut nested = Map::new();
    for key in keys_of(name) {
        let pattern = key.name.replace("LINK", NAME_OF_LINK).replace("CLASS", NAME).replace("KEY", PARAMETER);
        patterns.insert(format!("^{}$", pattern.replace('.', r"\.")), property(key));
        // TOML reads a dotted key without quotes as a table in a table.
        let inner = key.name.split('.').nth(1).unwrap_or_default();
        nested
            .insert(inner.into(), if inner == "qdisc" { json!({ "type": "object" }) } else { property(key) });
    }
    nested.insert("back".into(), json!({ "type": "object" }));
    patterns.insert(format!("^{NAME}$"), object(&nested, &[]));
    json!({ "type": "object", "patternProperties": patterns, "additionalProperties": false, "minProperties": 1 })
}

fn object(properties: &Map<String, Json>, required: &[&str]) -> Json {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Json {
    let mut schema = match key.kind() {
        Kind::Table if key.path() == "at.set" => settings("at.set"),
        Kind::Table => table(&key.path()),
        Kind::Tables => {
            let mut list = json!({ "type": "array", "items": table(&key.path()) });
            if key.preset == Preset::Required {
                list["minItems"] = 1.into();
            }
            list
        }
        Kind::Qdisc => qdisc(),
        Kind::Control => control(),
        kind => of_kind(&kind),
    };
    if let Some((low, high)) = key.bounds {
        schema["minimum"] = low.into();
        schema["maximum"] = high.into();
    }
    if let Some(value) = key.preset.value() {
        schema["default"] = json!(value);
    }
    let range = key.range();
    let expected = if range.is_empty() { range } else { format!("; expected {range}") };
    let default = match key.preset {
        Preset::Words(_) | Preset::Profile(_) => format!("; default: {}", key.preset),
        _ => String::new(),
    };
    let source = if key.source.is_empty() { String::new() } else { format!("; source: {}", key.source) };
    schema["description"] = format!("{}{expected}{default}{source}", key.about).into();
    schema
}

/// A qdisc: a SPEC, or a table of a law and its parameters.
fn qdisc() -> Json {
    named("law", catalogue::LAWS.iter().map(|entry| &entry.page))
}

/// A congestion control: a SPEC, or a table of its name and its parameters.
fn control() -> Json {
    named("name", CCS.iter().map(|entry| &entry.page))
}

/// An entry of a catalogue: a SPEC, or a table of the name under `key` and the parameters.
fn named<'a>(key: &str, pages: impl Iterator<Item = &'a Page> + Clone) -> Json {
    let tables = pages.clone().map(|page| {
        let mut properties = Map::new();
        properties.insert(key.into(), json!({ "const": page.stem }));
        properties.extend((page.fields)().iter().map(|field| (field.key.to_string(), parameter(field))));
        json!({
            "type": "object",
            "description": page.summary,
            "properties": properties,
            "required": [key],
            "additionalProperties": false,
        })
    });
    let stems: Vec<&str> = pages.map(|page| page.stem).collect();
    let spec = json!({ "type": "string", "pattern": format!("^ *({}) *(:.+)?$", stems.join("|")) });
    json!({ "anyOf": std::iter::once(spec).chain(tables).collect::<Vec<_>>() })
}

fn parameter(field: &Field) -> Json {
    let mut schema = of_kind(&field.kind);
    let default = json!(canonical(field.default.clone(), &field.kind));
    if !default.is_null() {
        schema["default"] = default;
    }
    schema["description"] =
        format!("{}; expected {}; default: {}", field.about, field.rule, field.why).into();
    schema
}

fn of_kind(kind: &Kind) -> Json {
    match kind {
        Kind::Queue | Kind::Time | Kind::Rate | Kind::Frequency | Kind::Size => {
            json!({ "type": "string", "pattern": pattern(&kind.units()), "examples": [example(kind)] })
        }
        Kind::Times(words) => {
            let tables = words.iter().map(|word| {
                let ends =
                    json!({ "type": "array", "items": of_kind(&Kind::Time), "minItems": 2, "maxItems": 2 });
                json!({
                    "type": "object",
                    "properties": { *word: ends },
                    "required": [word],
                    "additionalProperties": false,
                })
            });
            json!({ "anyOf": std::iter::once(of_kind(&Kind::Time)).chain(tables).collect::<Vec<_>>() })
        }
        Kind::TimeDraw | Kind::SizeDraw => distribution(kind),
        Kind::Number => json!({ "type": "number" }),
        Kind::Whole => json!({ "type": "integer" }),
        Kind::Wholes => {
            let whole = of_kind(&Kind::Whole);
            json!({ "anyOf": [whole, { "type": "array", "items": whole }] })
        }
        Kind::Names => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::WordOrFlag(words) => json!({ "anyOf": [{ "enum": words }, { "type": "boolean" }] }),
        Kind::Form(example) => {
            json!({ "type": ["string", "object"], "examples": [example.trim_matches('"')] })
        }
        Kind::Text => json!({ "type": "string" }),
        Kind::Qdisc => qdisc(),
        Kind::Control => control(),
        Kind::Any => json!({}),
        Kind::Table => json!({ "type": "object" }),
        Kind::Tables => json!({ "type": "array" }),
    }
}

/// A distribution: a constant quantity, or a table that names it.
fn distribution(kind: &Kind) -> Json {
    let one = json!({ "type": "string", "pattern": pattern(&kind.units()), "examples": [example(kind)] });
    let number = of_kind(&Kind::Number);
    let pair =
        |items: [&Json; 2]| json!({ "type": "array", "prefixItems": items, "minItems": 2, "maxItems": 2 });
    let named = |word: &str, value: &Json, second: Option<&str>| {
        let mut properties = Map::new();
        properties.insert(word.into(), value.clone());
        properties.extend(second.map(|key| (key.to_string(), number.clone())));
        let required: Vec<&str> = std::iter::once(word).chain(second).collect();
        object(&properties, &required)
    };
    let rows = json!({ "type": "array", "items": pair([&one, &number]), "minItems": 1 });
    json!({ "anyOf": [
        one,
        named("exponential", &one, None),
        named("uniform", &pair([&one, &one]), None),
        named("pareto", &one, Some("shape")),
        named("lognormal", &one, Some("sigma")),
        named("table", &rows, None),
        named("file", &of_kind(&Kind::Text), None),
    ] })
}

fn example(kind: &Kind) -> &'static str {
    kind.example().trim_matches('"')
}

/// A non-negative number, and one of these units.
fn pattern(units: &[&str]) -> String {
    format!(r"^\s*\+?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9]+)?\s*({})\s*$", units.join("|"))
}

/// The name of a link, of either direction, in a pattern whose dots are letters.
const NAME_OF_LINK: &str = "[A-Za-z0-9_-]+(.back)?";
/// The name of a link or of a class.
const NAME: &str = "[A-Za-z0-9_-]+";
/// The name of a parameter.
const PARAMETER: &str = "[a-z0-9_]+";
