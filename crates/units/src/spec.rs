//! A name with parameters, as people write it: `"red:min=50 packets,max=150 packets"`.

use crate::draw::{SizeDraw, TimeDraw};
use crate::param::{Fault, Field, Kind, Quantity, Value};
use crate::quantity::{Amount, Frequency, LinkRate};
use crate::size::Bytes;
use crate::time::Span;
use std::fmt;

/// Something of a catalogue and its given parameters.
///
/// What [`Display`](fmt::Display) prints is its label, which reads back as the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Its stem.
    pub name: String,
    /// The parameters that are given.
    pub params: Vec<(String, Value)>,
}

impl Spec {
    /// Reads `NAME` or `NAME:KEY=VALUE,KEY=VALUE`; whether there is such a thing others know.
    pub fn parse(spec: &str) -> Result<Spec, Fault> {
        let (name, list) = match spec.split_once(':') {
            Some((name, list)) => (name.trim(), Some(list)),
            None => (spec.trim(), None),
        };
        let mut params = Vec::new();
        for item in list.into_iter().flat_map(items) {
            let (key, value) = item
                .split_once('=')
                .ok_or_else(|| Fault::new("", format!("\"{}\" is not KEY=VALUE; {SPEC}", item.trim())))?;
            params.push((key.trim().to_string(), value_of(value.trim())));
        }
        Ok(Spec { name: name.into(), params })
    }

    /// The same, its parameters in the order of `fields` and as their types write them; refuses keys given twice.
    pub fn in_order(mut self, fields: &[Field]) -> Result<Spec, Fault> {
        if self.params.len() > MOST_PARAMS {
            let what = format!("{} parameters are more than {} has", self.params.len(), self.name);
            return Err(Fault::new("", what));
        }
        for (place, (key, _)) in self.params.iter().enumerate() {
            if self.params[..place].iter().any(|(earlier, _)| earlier == key) {
                return Err(Fault::new(key, format!("\"{key}\" is given twice; legal: each key once")));
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

/// The value as its own type writes it, where it can be read at all.
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

/// A value as it stands in a SPEC: without quotes, whole numbers without a point.
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

/// The items of a list: what stands between commas that are in no brackets.
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

/// A scalar of a SPEC: a whole number, a number, true or false, or else text.
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

/// More parameters than anything has.
const MOST_PARAMS: usize = 100;

const SPEC: &str = "legal: NAME or NAME:KEY=VALUE,KEY=VALUE";
