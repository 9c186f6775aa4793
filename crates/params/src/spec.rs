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

/// Parameters with those of tables within, `KEY.INNER = VALUE`, in one table each; a text beside them, `KEY = NAME`, is
/// the name of the entry whose parameters they are.
///
/// ```
/// use sojourn_params::{Spec, Value, nested};
/// let Spec { params, .. } = Spec::parse("drr:law=codel,law.target=7 ms,quantum=300 B").unwrap();
/// let [(law, table), _] = &nested(&params)[..] else { panic!() };
/// assert_eq!((law.as_str(), table.to_string().as_str()), ("law", r#"{ codel = { target = "7 ms" } }"#));
/// ```
pub fn nested(params: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut gathered: Vec<(String, Value)> = Vec::new();
    let mut tables = Vec::new();
    for (key, value) in params {
        let Some((outer, inner)) = key.split_once('.') else {
            gathered.push((key.clone(), value.clone()));
            continue;
        };
        let inner = (inner.to_string(), value.clone());
        match gathered.iter_mut().find(|(known, _)| known == outer) {
            Some((_, Value::Table(entries))) => match entries.as_mut_slice() {
                [(_, Value::Table(of_entry))] => of_entry.push(inner),
                _ => entries.push(inner),
            },
            Some((_, named @ Value::Text(_))) => {
                let Value::Text(name) = named else { continue };
                *named = Value::Table(vec![(std::mem::take(name), Value::Table(vec![inner]))]);
            }
            Some(_) => gathered.push((key.clone(), value.clone())),
            None => {
                tables.push(outer);
                gathered.push((outer.into(), Value::Table(vec![inner])));
            }
        }
    }
    for (key, value) in &mut gathered {
        // What is within the parameters of an entry is for its reader.
        if let (Value::Table(entries), true) = (value, tables.contains(&key.as_str())) {
            *entries = nested(entries);
        }
    }
    gathered
}

/// A value in a SPEC: without quotes, integers without a point.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => {
            let number = format!("{number:?}");
            number.strip_suffix(".0").unwrap_or(&number).into()
        }
        Value::List(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Items of a list: text between commas outside of brackets and braces.
fn items(list: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    list.split(|letter| {
        depth += i32::from(matches!(letter, '[' | '{')) - i32::from(matches!(letter, ']' | '}'));
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

/// A scalar of a SPEC: an integer, a number, true or false, or else text; text in quotes, as a file has it, is text.
fn scalar(text: &str) -> Value {
    if let Some(quoted) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        return Value::Text(quoted.into());
    }
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
