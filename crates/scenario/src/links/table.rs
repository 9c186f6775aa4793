//! Entries of a small table, read one by one.

use sojourn_params::Quantity;
use sojourn_params::Value;
use sojourn_units::did_you_mean;
use std::fmt;

/// Entries with known keys.
pub(super) struct Entries<'a>(&'a [(String, Value)]);

impl<'a> Entries<'a> {
    /// The entries; rejects keys not among `known`.
    pub(super) fn of(entries: &'a [(String, Value)], known: &[&str]) -> Result<Entries<'a>, String> {
        for (place, (key, _)) in entries.iter().enumerate() {
            if !known.contains(&key.as_str()) {
                let hint = did_you_mean(key, known.iter().copied());
                return Err(format!("\"{key}\" is unknown{hint} (expected {})", known.join(", ")));
            }
            if entries[..place].iter().any(|(other, _)| other == key) {
                return Err(format!("\"{key}\" is given twice; expected once"));
            }
        }
        Ok(Entries(entries))
    }

    /// The value of a key; None where it is not given.
    pub(super) fn get<T: Quantity>(&self, name: &str) -> Result<Option<T>, String> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| T::read(value).map_err(|message| format!("{name}: {message}"))).transpose()
    }

    /// The value of a required key; `example` is one.
    pub(super) fn required<T: Quantity>(&self, name: &str, example: &str) -> Result<T, String> {
        self.get(name)?.ok_or_else(|| format!("{name} is missing; expected {example}"))
    }

    /// The table under a key; its errors have the whole path.
    pub(super) fn inner<T: Quantity>(&self, name: &str) -> Result<Option<T>, String> {
        match self.value(name) {
            Some(value @ Value::Table(_)) => {
                T::read(value).map(Some).map_err(|message| format!("{name}.{message}"))
            }
            _ => self.get(name),
        }
    }

    /// The value of a key as given.
    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// Rejects a value out of range.
pub(super) fn within(fits: bool, name: &str, value: &dyn fmt::Display, rule: &str) -> Result<(), String> {
    if fits { Ok(()) } else { Err(format!("{name}: {value} is out of range; expected {rule}")) }
}
