//! Errors of quantities.

use std::fmt;

/// A text or a number that is not the quantity that it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// Class of the error.
    pub kind: QuantityErrorKind,
    /// The text, or the part of it that is wrong, quoted; none if there is nothing.
    pub found: Option<String>,
    /// The problem: `needs a unit`.
    pub problem: String,
    /// The nearest valid value, quoted.
    pub hint: Option<String>,
    /// Texts that would do.
    pub expected: Expected,
}

/// Class of a [`QuantityError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityErrorKind {
    /// Not of the form of a quantity.
    Form,
    /// A quantity that its type cannot hold.
    Range,
}

/// Values that an error's reader may write instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// No statement.
    #[default]
    Unstated,
    /// In words: `0 to 1`.
    Text(String),
    /// One of these.
    OneOf(Vec<String>),
    /// Such as this example.
    Like(String),
}

impl Expected {
    /// One of these words.
    pub fn one_of<T: Into<String>>(words: impl IntoIterator<Item = T>) -> Expected {
        Expected::OneOf(words.into_iter().map(Into::into).collect())
    }

    /// The expected values alone; empty where there is no statement.
    pub fn text(&self) -> String {
        match self {
            Expected::Unstated => String::new(),
            Expected::Text(text) | Expected::Like(text) => text.clone(),
            Expected::OneOf(words) => words.join(", "),
        }
    }
}

impl From<&str> for Expected {
    fn from(text: &str) -> Expected {
        Expected::Text(text.into())
    }
}

impl From<String> for Expected {
    fn from(text: String) -> Expected {
        Expected::Text(text)
    }
}

/// As the end of a sentence that names the error.
impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Unstated => Ok(()),
            Expected::Text(text) => write!(f, "; expected {text}"),
            Expected::OneOf(words) => write!(f, " (expected {})", words.join(", ")),
            Expected::Like(example) => write!(f, "; write it like {example}"),
        }
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(found) = &self.found {
            write!(f, "{found} ")?;
        }
        f.write_str(&self.problem)?;
        if let Some(hint) = &self.hint {
            write!(f, "; did you mean {hint}?")?;
        }
        self.expected.fmt(f)
    }
}

impl std::error::Error for QuantityError {}
