//! Values of files and of the command line.

use serde_core::{Serialize, Serializer};
use std::fmt;

/// A value from a scenario file or the command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Absent,
    /// A string; quantities with units are strings.
    Text(String),
    /// A floating-point number.
    Number(f64),
    /// An integer.
    Whole(i64),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Value>),
    /// Keys with values, in the order written.
    Table(Vec<(String, Value)>),
}

/// As JSON has it: null for an absent value.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Absent => serializer.serialize_none(),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Number(number) => serializer.serialize_f64(*number),
            Value::Whole(number) => serializer.serialize_i64(*number),
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::List(items) => serializer.collect_seq(items),
            Value::Table(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Absent => f.write_str("not set"),
            Value::Text(text) => write!(f, "\"{text}\""),
            Value::Number(number) => write!(f, "{number:?}"),
            Value::Whole(number) => number.fmt(f),
            Value::Flag(flag) => flag.fmt(f),
            Value::List(items) => {
                f.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if place == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Value::Table(entries) => {
                f.write_str("{")?;
                for (place, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key} = {value}", if place == 0 { " " } else { ", " })?;
                }
                f.write_str(" }")
            }
        }
    }
}
