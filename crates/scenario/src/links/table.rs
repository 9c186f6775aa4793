//! The entries of a small table, read one by one.

use sojourn_units::param::Quantity;
use sojourn_units::{Value, did_you_mean};
use std::fmt;

/// Entries whose keys all are known.
pub(super) struct Entries<'a>(&'a [(String, Value)]);

impl<'a> Entries<'a> {
    /// The entries; refuses keys that are not among `legal`.
    pub(super) fn of(entries: &'a [(String, Value)], legal: &[&str]) -> Result<Entries<'a>, String> {
        for (place, (key, _)) in entries.iter().enumerate() {
            if !legal.contains(&key.as_str()) {
                let hint = did_you_mean(key, legal.iter().copied());
                return Err(format!("\"{key}\" is unknown{hint} (legal: {})", legal.join(", ")));
            }
            if entries[..place].iter().any(|(other, _)| other == key) {
                return Err(format!("\"{key}\" is given twice; legal: each key once"));
            }
        }
        Ok(Entries(entries))
    }

    /// The value of a key; None where it is not given.
    pub(super) fn get<T: Quantity>(&self, name: &str) -> Result<Option<T>, String> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| T::read(value).map_err(|what| format!("{name}: {what}"))).transpose()
    }

    /// The value of a key that must be given; `example` is one.
    pub(super) fn required<T: Quantity>(&self, name: &str, example: &str) -> Result<T, String> {
        self.get(name)?.ok_or_else(|| format!("{name} is missing; legal: {example}"))
    }

    /// The table under a key; what is wrong in it is told by the whole path.
    pub(super) fn inner<T: Quantity>(&self, name: &str) -> Result<Option<T>, String> {
        match self.value(name) {
            Some(value @ Value::Table(_)) => {
                T::read(value).map(Some).map_err(|what| format!("{name}.{what}"))
            }
            _ => self.get(name),
        }
    }

    /// The value of a key as it stands.
    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// Refuses a value that is not legal.
pub(super) fn within(legal: bool, name: &str, value: &dyn fmt::Display, rule: &str) -> Result<(), String> {
    if legal { Ok(()) } else { Err(format!("{name}: {value} is out of range; legal: {rule}")) }
}
