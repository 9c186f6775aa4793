//! A name with parameters in text: `"red:min=50 packets,max=150 packets"`.

use crate::draws::{SizeDraw, TimeDraw};
use crate::{Field, InputError, Kind, Quantity, Value};
use sojourn_units::{Amount, Bytes, Frequency, LinkRate, Span};
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
                InputError::new("", format!("\"{}\" is not KEY=VALUE; {SPEC}", item.trim()))
            })?;
            params.push((key.trim().to_string(), value_of(value.trim())));
        }
        Ok(Spec { name: name.into(), params })
    }

    /// The same, its parameters in the order of `fields` and in the form of their types; refuses keys given twice.
    pub fn in_order(mut self, fields: &[Field]) -> Result<Spec, InputError> {
        if self.params.len() > MOST_PARAMS {
            let message = format!("{} parameters are more than {} has", self.params.len(), self.name);
            return Err(InputError::new("", message));
        }
        for (place, (key, _)) in self.params.iter().enumerate() {
            if self.params[..place].iter().any(|(earlier, _)| earlier == key) {
                return Err(InputError::new(
                    key,
                    format!("\"{key}\" is given twice; expected each key once"),
                ));
            }
        }
        let rank = |key: &str| fields.iter().position(|field| field.key == key).unwrap_or(fields.len());
        for (key, value) in &mut self.params {
            if let Some(field) = fields.get(rank(key)) {
                *value = canonical(std::mem::replace(value, Value::Absent), &field.kind);
            }
        }
        self.params.sort_by_key(|(key, _)| rank(key));
        Ok(self)
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

/// Replaces parameters by those of `set`, and adds those that are new.
pub fn merge_params(params: &mut Vec<(String, Value)>, set: &[(String, Value)]) {
    for (key, value) in set {
        match params.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => old.clone_from(value),
            None => params.push((key.clone(), value.clone())),
        }
    }
}

/// The value in the form of its type, if it can be read.
pub fn canonical(value: Value, kind: &Kind) -> Value {
    fn rewritten<T: Quantity>(value: &Value) -> Option<Value> {
        T::read(value).ok().map(|quantity| quantity.write())
    }
    let written = match kind {
        Kind::Queue => rewritten::<Amount>(&value),
        Kind::Time => rewritten::<Span>(&value),
        Kind::Rate => rewritten::<LinkRate>(&value),
        Kind::Frequency => rewritten::<Frequency>(&value),
        Kind::Size => rewritten::<Bytes>(&value),
        Kind::Number => rewritten::<f64>(&value),
        Kind::TimeDraw => rewritten::<TimeDraw>(&value),
        Kind::SizeDraw => rewritten::<SizeDraw>(&value),
        Kind::Wholes => rewritten::<Vec<u64>>(&value),
        _ => None,
    };
    written.unwrap_or(value)
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

/// Limit of the number of parameters.
const MOST_PARAMS: usize = 100;

const SPEC: &str = "expected NAME or NAME:KEY=VALUE,KEY=VALUE";
