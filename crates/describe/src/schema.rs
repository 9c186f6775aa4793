//! The JSON schema of scenario files, for editors.

use serde_json::{Map, Value as Json, json};
use sojourn_aqm::catalogue::{LAW_CATALOGUE, QDISC_CATALOGUE};
use sojourn_params::{Bounds, Catalogue, Described, Field, Kind, Page};
use sojourn_scenario::apps::APPS;
use sojourn_scenario::links::LINK_MODELS;
use sojourn_scenario::tables::File;
use sojourn_tcp::catalogue::CC_CATALOGUE;

/// The catalogues, each defined once and referred to.
static CATALOGUES: [&Catalogue; 5] = [&LAW_CATALOGUE, &QDISC_CATALOGUE, &CC_CATALOGUE, &APPS, &LINK_MODELS];

/// The JSON schema (2020-12) of a scenario file, TOML tables being objects.
pub fn schema() -> Json {
    let mut schema = table(&File::fields());
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "Sojourn scenario".into();
    schema["description"] = "A network, its qdiscs, its flows and its changes.".into();
    schema["$defs"] = CATALOGUES.iter().map(|catalogue| (name(catalogue), entry(catalogue))).collect();
    schema
}

/// An object with these keys, and no others.
fn table(fields: &[Field]) -> Json {
    // The keys that a change sets are patterns such as LINK.rate.
    let is_of_a_change = |field: &Field| field.key.contains('.');
    if fields.iter().all(is_of_a_change) && !fields.is_empty() {
        return changes(fields);
    }
    let properties = fields.iter().map(|field| (field.key.to_string(), property(field))).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| field.is_required).map(|field| field.key).collect();
    object(&properties, &required)
}

/// An object whose keys hold the names of links and classes.
fn changes(fields: &[Field]) -> Json {
    let mut patterns = Map::new();
    let mut nested = Map::new();
    for field in fields {
        let pattern =
            field.key.replace("LINK", NAME_OF_LINK).replace("CLASS", NAME).replace("KEY", PARAMETER);
        patterns.insert(format!("^{}$", pattern.replace('.', r"\.")), property(field));
        // TOML reads a dotted key without quotes as a table in a table.
        let inner = field.key.split('.').nth(1).unwrap_or_default();
        let value = if inner == "qdisc" { json!({ "type": "object" }) } else { property(field) };
        nested.insert(inner.into(), value);
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

fn property(field: &Field) -> Json {
    let mut schema = of_kind(&field.kind);
    if let (Kind::Tables(_), true) = (&field.kind, field.is_required) {
        schema["minItems"] = 1.into();
    }
    match field.kind {
        Kind::Number | Kind::Whole => limit(&mut schema, &field.bounds),
        Kind::Packets => limit(&mut schema["anyOf"][0], &field.bounds),
        _ => {}
    }
    let default = json!(field.default);
    // An empty list or table is no default that an editor could fill in.
    if !default.is_null() && default != json!([]) && default != json!({}) {
        schema["default"] = default;
    }
    let parts = [
        ("; expected ", field.range()),
        ("; default: ", field.why.into()),
        ("; source: ", field.source.into()),
    ];
    let parts =
        parts.iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| format!("{label}{text}"));
    schema["description"] = format!("{}{}", field.about, parts.collect::<String>()).into();
    schema
}

/// Limits a number to its bounds.
fn limit(schema: &mut Json, bounds: &Bounds) {
    let ends = [(bounds.low, "minimum", "exclusiveMinimum"), (bounds.high, "maximum", "exclusiveMaximum")];
    for (bound, closed, open) in ends {
        if let Some(bound) = bound {
            schema[if bound.is_open { open } else { closed }] = json!(bound.at.value());
        }
    }
}

/// Name of the definition of a catalogue.
fn name(catalogue: &Catalogue) -> String {
    let words = catalogue.a_kind.split(' ').skip(1);
    words.collect::<Vec<_>>().join("_")
}

fn reference(catalogue: &Catalogue) -> Json {
    json!({ "$ref": format!("#/$defs/{}", name(catalogue)) })
}

/// An entry of a catalogue: a SPEC, a table of its name with the table of its parameters, or the short form of it.
fn entry(catalogue: &Catalogue) -> Json {
    let pages = (catalogue.pages)();
    let stems: Vec<&str> = pages.iter().map(|page| page.stem).collect();
    let spec = json!({ "type": "string", "pattern": format!("^ *({}) *(:.+)?$", stems.join("|")) });
    let parameters = |page: &Page| {
        let mut table = of_kind(&Kind::Keys(page.fields));
        table["description"] = page.summary.into();
        table
    };
    let nested =
        |page: &Page| object(&Map::from_iter([(page.stem.to_string(), parameters(page))]), &[page.stem]);
    let tagged = |page: &Page, tag: &str| {
        let mut table = parameters(page);
        table["properties"][tag] = json!({ "const": page.stem });
        let mut required = vec![json!(tag)];
        required.extend(table["required"].as_array().into_iter().flatten().cloned());
        table["required"] = json!(required);
        table
    };
    let mut forms = vec![spec];
    for page in &pages {
        forms.extend(catalogue.tag.filter(|_| catalogue.has_short_form(page)).map(|tag| tagged(page, tag)));
        forms.push(nested(page));
    }
    json!({ "anyOf": forms })
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
        Kind::Packets => {
            let text = json!({ "type": "string", "pattern": pattern(&kind.units()) });
            json!({ "anyOf": [of_kind(&Kind::Whole), text] })
        }
        Kind::Wholes => {
            let whole = of_kind(&Kind::Whole);
            json!({ "anyOf": [whole, { "type": "array", "items": whole }] })
        }
        Kind::List(items) => json!({ "type": "array", "items": of_kind(items) }),
        Kind::NumberOr(words) => json!({ "anyOf": [{ "type": "number" }, { "enum": words }] }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::WordOrFlag(words) => json!({ "anyOf": [{ "enum": words }, { "type": "boolean" }] }),
        Kind::Form(example) => {
            json!({ "type": ["string", "object"], "examples": [example.trim_matches('"')] })
        }
        Kind::Text | Kind::Name => json!({ "type": "string" }),
        Kind::Any => json!({}),
        Kind::Keys(fields) => table(&fields()),
        Kind::Tables(fields) => json!({ "type": "array", "items": table(&fields()) }),
        Kind::Entry(catalogue) => reference(catalogue),
        Kind::EntryOrFile(catalogue) => {
            let file = object(&Map::from_iter([("file".to_string(), of_kind(&Kind::Text))]), &["file"]);
            json!({ "anyOf": [reference(catalogue), file] })
        }
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
