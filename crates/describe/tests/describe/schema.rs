//! Every key of a file has a property in the schema.

use serde_json::Value as Json;
use sojourn_describe::schema;
use sojourn_scenario::{Key, keys};

#[test]
fn every_key_is_explained_and_in_the_schema() {
    let schema = schema();
    for key in keys() {
        let field = &key.field;
        assert!(!field.about.is_empty(), "{}", key.path());
        let property = property_of(&schema, key);
        let description = property["description"].as_str().unwrap();
        assert_eq!(description.split(';').next(), field.about.split(';').next());
        if ["LINK.rate", "LINK.delay", "LINK.qdisc.KEY", "CLASS.count"].contains(&field.key) {
            continue;
        }
        let required = table_of(&schema, &key.table)["required"].as_array().unwrap();
        assert_eq!(required.iter().any(|name| name == field.key), field.is_required, "{}", key.path());
    }
    let flows = &schema["properties"]["flows"]["items"]["properties"];
    assert_eq!(flows["count"]["maximum"], 1_000_000);
    let entries = |of: &Json| {
        let name = of["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap().to_string();
        schema["$defs"][name]["anyOf"].as_array().unwrap().clone()
    };
    let ccs = entries(&flows["cc"]);
    let scalable =
        ccs.iter().map(|one| &one["properties"]["scalable"]["properties"]).find(|one| !one.is_null());
    let b = &scalable.unwrap()["b"];
    assert_eq!((&b["exclusiveMinimum"], &b["exclusiveMaximum"]), (&0.0.into(), &1.0.into()));
    let impairments = &schema["properties"]["bottleneck"]["properties"]["impairments"]["properties"];
    assert_eq!((&impairments["loss"]["minimum"], &impairments["loss"]["maximum"]), (&0.into(), &1.into()));
    assert_eq!(schema["properties"]["warmup"]["default"], "0 s");
    let apps = entries(&flows["app"]);
    let web = apps.iter().find(|one| !one["properties"]["web"].is_null());
    let drr = entries(&schema["properties"]["bottleneck"]["properties"]["qdisc"]);
    let drr = drr.iter().map(|one| &one["properties"]["drr"]["properties"]).find(|one| !one.is_null());
    assert_eq!(drr.unwrap()["law"]["$ref"], "#/$defs/law");
    assert_eq!(web.unwrap()["properties"]["web"]["properties"]["objects"]["default"], 50);
    let set = table_of(&schema, "at.set")["patternProperties"].as_object().unwrap();
    let nested = &set["^[A-Za-z0-9_-]+$"]["properties"];
    assert_eq!(nested["rate"], set[r"^[A-Za-z0-9_-]+(\.back)?\.rate$"]);
}

fn property_of<'a>(schema: &'a Json, key: &Key) -> &'a Json {
    let table = table_of(schema, &key.table);
    assert_eq!(table["additionalProperties"], false, "{}", key.table);
    let patterns = table["patternProperties"].as_object();
    let ending = key.name().split('.').nth(1).unwrap_or_default();
    // Keys that contain names are under patterns.
    patterns
        .and_then(|all| all.iter().find(|(pattern, _)| pattern.contains(&format!(r"\.{ending}"))))
        .map_or(&table["properties"][key.name()], |(_, property)| property)
}

fn table_of<'a>(schema: &'a Json, table: &str) -> &'a Json {
    table.split('.').filter(|step| !step.is_empty()).fold(schema, |at, step| {
        let inner = &at["properties"][step];
        if inner["type"] == "array" { &inner["items"] } else { inner }
    })
}
