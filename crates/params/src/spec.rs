//! A name with parameters in text: `"red:min=50 packets,max=150 packets"`.

use crate::error::{ErrorKind, InputError};
use crate::value::Value;
use std::fmt;

/// An entry of a catalogue with its given parameters.
///
/// [`Display`](fmt::Display) prints its label, which reads back as the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Name of the entry.
    pub name: String,
    /// Given parameters.
    pub params: Vec<(String, Value)>,
}

impl Spec {
    /// Reads `NAME` or `NAME:KEY=VALUE,KEY=VALUE`; callers check that the entry exists.
    pub fn parse(spec: &str) -> Result<Spec, InputError> {
        let (name, list) = match spec.split_once(':') {
            Some((name, list)) => (name.trim(), Some(list)),
            None => (spec.trim(), None),
        };
        let mut params = Vec::new();
        for item in list.into_iter().flat_map(items) {
            let (key, value) = item.split_once('=').ok_or_else(|| {
                let found = format!("\"{}\"", item.trim());
                InputError::new(ErrorKind::Syntax, "is not KEY=VALUE", SPEC).found(found)
            })?;
            params.push((key.trim().to_string(), value_of(value.trim())));
        }
        Ok(Spec { name: name.into(), params })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (place, (key, value)) in self.params.iter().enumerate() {
            f.write_str(if place == 0 { ":" } else { "," })?;
            write!(f, "{key}={}", plain(value))?;
        }
        Ok(())
    }
}

/// A value in a SPEC: without quotes, integers without a point.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => {
            let number = format!("{number:?}");
            number.strip_suffix(".0").unwrap_or(&number).into()
        }
        other => other.to_string(),
    }
}

/// Items of a list: text between commas outside of brackets.
fn items(list: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    list.split(|letter| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        letter == ',' && depth <= 0
    })
    .collect()
}

/// A value of a SPEC: a list in brackets or a scalar.
fn value_of(text: &str) -> Value {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some("") => Value::List(Vec::new()),
        Some(list) => Value::List(list.split(',').map(|item| scalar(item.trim())).collect()),
        None => scalar(text),
    }
}

/// A scalar of a SPEC: an integer, a number, true or false, or else text.
fn scalar(text: &str) -> Value {
    if let Ok(whole) = text.parse() {
        return Value::Whole(whole);
    }
    match text {
        "true" => Value::Flag(true),
        "false" => Value::Flag(false),
        _ => text.parse().map_or_else(|_| Value::Text(text.into()), Value::Number),
    }
}

const SPEC: &str = "NAME or NAME:KEY=VALUE,KEY=VALUE";
