//! Values of tests, as TOML writes them.

use sojourn_params::Value;

/// The value of `{ poisson = '50 ms' }`.
pub(crate) fn value(text: &str) -> Value {
    let file = toml::from_str::<toml::Table>(&format!("x = {text}")).unwrap();
    of_toml(&file["x"])
}

fn of_toml(from: &toml::Value) -> Value {
    match from {
        toml::Value::String(text) => Value::Text(text.clone()),
        toml::Value::Integer(whole) => Value::Whole(*whole),
        toml::Value::Float(number) => Value::Number(*number),
        toml::Value::Boolean(flag) => Value::Flag(*flag),
        toml::Value::Array(items) => Value::List(items.iter().map(of_toml).collect()),
        toml::Value::Table(table) => {
            Value::Table(table.iter().map(|(key, of)| (key.clone(), of_toml(of))).collect())
        }
        toml::Value::Datetime(time) => panic!("{time}"),
    }
}
