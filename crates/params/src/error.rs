//! Errors of values.

use sojourn_units::did_you_mean;
use std::fmt;

/// Error of one value, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// Key of the value.
    pub key: String,
    /// The error, and what was expected.
    pub message: String,
}

impl InputError {
    /// An error of `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> InputError {
        InputError { key: key.into(), message: message.into() }
    }

    /// Error of a value that cannot be read; names the valid range where the message does not.
    pub fn of_value(key: &str, message: String, rule: &str) -> InputError {
        InputError::new(
            key,
            if message.contains("expected ") { message } else { format!("{message}; expected {rule}") },
        )
    }

    /// Error of an unknown key, with the nearest known one.
    pub fn unknown(key: &str, known: &[&str]) -> InputError {
        let hint = did_you_mean(key, known.iter().copied());
        let expected = if known.is_empty() {
            "takes no parameters".into()
        } else {
            format!("expected {}", known.join(", "))
        };
        InputError::new(key, format!("unknown key{hint} ({expected})"))
    }

    /// The same error for a key inside `table`.
    pub fn inside(self, table: &str) -> InputError {
        InputError { key: format!("{table}.{}", self.key), message: self.message }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for InputError {}
