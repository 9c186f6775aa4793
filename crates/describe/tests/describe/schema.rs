//! Every key of the table has a property in the schema.

use sojourn_describe::schema;
use sojourn_scenario::{Key, Preset, explain};

#[test]
fn every_key_is_explained_and_in_the_schema() {
    let schema = schema();
    for key in explain() {
        assert!(!key.about.is_empty(), "{}", key.path());
        let property = property_of(&schema, key);
        assert_eq!(property["description"].as_str().unwrap().split(';').next(), key.about.split(';').next());
        if key.table == "at.set" {
            continue;
        }
        let table = table_of(&schema, key.table);
        let required = table["required"].as_array().unwrap();
        // One of two keys must be given.
        let either = table["oneOf"].as_array().is_some_and(|ways| ways[0]["required"][0] == key.name);
        assert_eq!(either || required.iter().any(|name| name == key.name), key.preset == Preset::Required);
    }
    assert_eq!(schema["properties"]["flows"]["items"]["properties"]["count"]["maximum"], 1_000_000);
    assert_eq!(schema["properties"]["warmup"]["default"], "0 s");
    let set = table_of(&schema, "at.set")["patternProperties"].as_object().unwrap();
    let nested = &set["^[A-Za-z0-9_-]+$"]["properties"];
    assert_eq!(nested["rate"], set[r"^[A-Za-z0-9_-]+(\.back)?\.rate$"]);
}

fn property_of<'a>(schema: &'a serde_json::Value, key: &Key) -> &'a serde_json::Value {
    let table = table_of(schema, key.table);
    assert_eq!(table["additionalProperties"], false, "{}", key.table);
    let patterns = table["patternProperties"].as_object();
    let ending = key.name.split('.').nth(1).unwrap_or_default();
    // Keys that contain names are under patterns.
    patterns
        .and_then(|all| all.iter().find(|(pattern, _)| pattern.contains(&format!(r"\.{ending}"))))
        .map_or(&table["properties"][key.name], |(_, property)| property)
}

fn table_of<'a>(schema: &'a serde_json::Value, table: &str) -> &'a serde_json::Value {
    table.split('.').filter(|step| !step.is_empty()).fold(schema, |at, step| {
        let inner = &at["properties"][step];
        if inner["type"] == "array" { &inner["items"] } else { inner }
    })
}
