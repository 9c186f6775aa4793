//! A key: its name, type, default, range and meaning.

use crate::app::is_of_an_app;
use sojourn_params::Kind;
use sojourn_params::Value;
use sojourn_tcp::settings::Setting;
use std::fmt;

/// A key of a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its table, `"flows.access"`; empty at the top of the file.
    pub table: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// Default.
    pub preset: Preset,
    /// The range, in words.
    pub rule: &'static str,
    /// Meaning.
    pub about: &'static str,
    /// Source of the definition; empty for Sojourn's own.
    pub source: &'static str,
    /// The range of a whole number.
    pub bounds: Option<(i64, i64)>,
    pub(super) kind: fn() -> Kind,
    /// Reads a value of the key's type; returns whether it is in range.
    pub(super) in_range: fn(&Value) -> Result<bool, String>,
}

/// Default of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preset {
    /// None: the key is required.
    Required,
    /// This text.
    Text(&'static str),
    /// This whole number.
    Whole(i64),
    /// This number.
    Number(f64),
    /// Two times in a table under this word.
    Times(&'static str, [&'static str; 2]),
    /// Derived from other keys, or none; in words.
    Words(&'static str),
    /// The value of the profile of TCP.
    Profile(&'static Setting),
}

impl Key {
    /// Its dotted path, `"flows.count"`.
    pub fn path(&self) -> String {
        if self.table.is_empty() { self.name.into() } else { format!("{}.{}", self.table, self.name) }
    }

    /// True for keys listed with their applications.
    pub fn is_of_some_apps(&self) -> bool {
        self.table == "flows" && self.name != "segment" && is_of_an_app(self.name)
    }

    /// The alternative to a required key.
    pub fn instead(&self) -> Option<&'static str> {
        (self.name == "rate" && self.preset == Preset::Required).then_some("trace")
    }

    /// Kind of its values.
    pub fn kind(&self) -> Kind {
        (self.kind)()
    }

    /// Range in words; empty where the kind suffices.
    pub fn range(&self) -> String {
        match self.bounds {
            Some((low, high)) => format!("{low} to {high}"),
            None => self.rule.into(),
        }
    }

    /// Checks a value by itself.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        let in_range = match value {
            Value::Whole(_) if self.bounds.is_some() => (self.in_range)(value).unwrap_or(false),
            _ => (self.in_range)(value)?,
        };
        if in_range { Ok(()) } else { Err(format!("{value} is out of range; expected {}", self.range())) }
    }

    /// Error message of the missing key.
    pub(crate) fn missing(&self) -> String {
        let range = self.range();
        let range = if range.is_empty() { range } else { format!(" ({range})") };
        let expected = match self.kind() {
            Kind::Text => format!("text in quotes{range}"),
            Kind::Table => format!("a table [{}]", self.path()),
            Kind::Tables => format!("one or more tables [[{}]]", self.path()),
            kind => format!("a {kind} such as {}{range}", kind.example()),
        };
        format!("is missing; expected {expected}")
    }
}

impl Preset {
    /// The default as a value; None where it depends on more.
    pub fn value(&self) -> Option<Value> {
        match self {
            Preset::Required | Preset::Words(_) | Preset::Profile(_) => None,
            Preset::Text(text) => Some(Value::Text((*text).into())),
            Preset::Whole(number) => Some(Value::Whole(*number)),
            Preset::Number(number) => Some(Value::Number(*number)),
            Preset::Times(word, ends) => {
                let ends = ends.iter().map(|end| Value::Text((*end).into())).collect();
                Some(Value::Table(vec![((*word).into(), Value::List(ends))]))
            }
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.value()) {
            (Preset::Words(words), _) => f.write_str(words),
            (Preset::Profile(setting), _) => write!(f, "as the profile: {}", setting.by_profile()),
            (_, Some(value)) => value.fmt(f),
            (_, None) => f.write_str("required"),
        }
    }
}
