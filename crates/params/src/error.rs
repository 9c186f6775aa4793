//! Errors of input values, as values.

use crate::path::Path;
use sojourn_units::{Expected, QuantityError, QuantityErrorKind, nearest};
use std::fmt;

/// An error of one value: which, what was found, what was expected.
///
/// [`Display`](fmt::Display) is the sentence for people, in one line; all of them are put together here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// Class of the error.
    pub kind: ErrorKind,
    /// Keys from the outermost table to the value; none: the value itself.
    pub key: Path,
    /// The value as found, if it is part of the sentence.
    pub found: Option<String>,
    /// The problem: `is out of range`.
    pub problem: String,
    /// The nearest valid value, quoted.
    pub hint: Option<String>,
    /// Values that would do.
    pub expected: Expected,
}

/// Class of an [`InputError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    /// The text is not of the form of a file, a SPEC or an override.
    Syntax,
    /// A table has no such key.
    UnknownKey,
    /// No entry, node or word of this name exists.
    UnknownName,
    /// A required key is absent.
    Missing,
    /// A key is given twice, or beside one that excludes it.
    Repeated,
    /// The value is of another type, or without a unit.
    Type,
    /// The value is out of its range.
    Range,
    /// The value does not fit others.
    Conflict,
    /// A file that the value names cannot be used.
    File,
}

impl ErrorKind {
    /// Name in data: `"unknown_key"`.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Syntax => "syntax",
            ErrorKind::UnknownKey => "unknown_key",
            ErrorKind::UnknownName => "unknown_name",
            ErrorKind::Missing => "missing",
            ErrorKind::Repeated => "repeated",
            ErrorKind::Type => "type",
            ErrorKind::Range => "range",
            ErrorKind::Conflict => "conflict",
            ErrorKind::File => "file",
        }
    }
}

impl InputError {
    /// An error of a value whose sentence does not repeat it.
    pub fn new(kind: ErrorKind, problem: impl Into<String>, expected: impl Into<Expected>) -> InputError {
        InputError {
            kind,
            key: Path::default(),
            found: None,
            problem: problem.into(),
            hint: None,
            expected: expected.into(),
        }
    }

    /// A key that a table does not have.
    pub fn unknown_key<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> InputError {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = nearest(key, known.iter().copied()).map(quoted);
        let expected =
            if known.is_empty() { Expected::one_of(["no parameters"]) } else { Expected::one_of(known) };
        InputError {
            hint,
            ..InputError::new(ErrorKind::UnknownKey, "unknown key", expected).at(Path::key(key))
        }
    }

    /// A name that does not exist; `problem` is like `is not a law`.
    pub fn unknown_name<'a>(
        name: &str,
        problem: impl Into<String>,
        known: impl IntoIterator<Item = &'a str>,
    ) -> InputError {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = nearest(name, known.iter().copied()).map(quoted);
        let error = InputError::new(ErrorKind::UnknownName, problem, Expected::one_of(known));
        InputError { hint, ..error.found(quoted(name)) }
    }

    /// A required key that is absent.
    pub fn missing(expected: impl Into<Expected>) -> InputError {
        InputError::new(ErrorKind::Missing, "is missing", expected)
    }

    /// A key that is given twice.
    pub fn repeated() -> InputError {
        InputError::new(ErrorKind::Repeated, "is given twice", "once")
    }

    /// A value of another type; `problem` is like `is not a number`.
    pub fn of_type(
        found: impl fmt::Display,
        problem: impl Into<String>,
        expected: impl Into<Expected>,
    ) -> InputError {
        InputError::new(ErrorKind::Type, problem, expected).found(found)
    }

    /// A value out of its range.
    pub fn out_of_range(found: impl fmt::Display, expected: impl Into<Expected>) -> InputError {
        InputError::new(ErrorKind::Range, "is out of range", expected).found(found)
    }

    /// A value that does not fit others, and is not part of the sentence.
    pub fn clash(problem: impl Into<String>, expected: impl Into<Expected>) -> InputError {
        InputError::new(ErrorKind::Conflict, problem, expected)
    }

    /// A value that does not fit others.
    pub fn conflict(
        found: impl fmt::Display,
        problem: impl Into<String>,
        expected: impl Into<Expected>,
    ) -> InputError {
        InputError::new(ErrorKind::Conflict, problem, expected).found(found)
    }

    /// The same error with the value in its sentence.
    pub fn found(self, found: impl fmt::Display) -> InputError {
        InputError { found: Some(found.to_string()), ..self }
    }

    /// The same error of a value inside `outer`: its key then begins with that.
    pub fn at(self, outer: impl Into<Path>) -> InputError {
        InputError { key: outer.into().join(self.key), ..self }
    }

    /// The same error of a value that means `name`.
    #[must_use]
    pub fn meaning(self, name: &str) -> InputError {
        InputError { hint: Some(quoted(name)), ..self }
    }

    /// True if `name` was probably meant.
    pub fn means(&self, name: &str) -> bool {
        self.hint.as_ref().is_some_and(|hint| *hint == quoted(name))
    }

    /// The same error with the beginning of its sentence: `BEFORE: FOUND PROBLEM`.
    pub fn after(self, before: &str) -> InputError {
        let found = self.found.map_or(String::new(), |found| format!("{found} "));
        InputError { found: None, problem: format!("{before}: {found}{}", self.problem), ..self }
    }

    /// The sentence without the key.
    pub fn message(&self) -> String {
        let found = self.found.as_ref().map_or(String::new(), |found| format!("{found} "));
        let hint = self.hint.as_ref().map_or(String::new(), |hint| format!("; did you mean {hint}?"));
        format!("{found}{}{hint}{}", self.problem, self.expected)
    }
}

/// A name in quotes.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

impl From<QuantityError> for InputError {
    fn from(error: QuantityError) -> InputError {
        let QuantityError { kind, found, problem, hint, expected } = error;
        let kind = match kind {
            QuantityErrorKind::Form => ErrorKind::Type,
            QuantityErrorKind::Range => ErrorKind::Range,
        };
        InputError { kind, key: Path::default(), found, problem, hint, expected }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message())
    }
}

impl std::error::Error for InputError {}

/// Errors of one value, at least one: a table may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(Vec<InputError>);

impl Errors {
    /// Those errors inside `outer`.
    pub fn at(self, outer: impl Into<Path>) -> Errors {
        let outer = outer.into();
        self.map(|error| error.at(&outer))
    }

    /// What `change` makes of each of them.
    pub fn map(self, change: impl FnMut(InputError) -> InputError) -> Errors {
        Errors(self.0.into_iter().map(change).collect())
    }

    /// The first of them.
    pub fn first(&self) -> &InputError {
        &self.0[0]
    }
}

/// Errors of values that are read side by side, so that a file has all of its errors at once.
#[derive(Clone, Debug, Default)]
pub struct Collected(Vec<InputError>);

impl Collected {
    /// The value; its errors are added.
    pub fn take<T>(&mut self, read: Result<T, impl Into<Errors>>) -> Option<T> {
        read.map_err(|errors| self.0.extend(errors.into().0)).ok()
    }

    /// Adds an error.
    pub fn add(&mut self, error: InputError) {
        self.0.push(error);
    }

    /// Number of errors.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The value, or the errors where there are any; without errors there is a value.
    pub fn end<T>(self, value: Option<T>) -> Result<T, Errors> {
        if self.0.is_empty() { Ok(value.expect("a value is read or an error")) } else { Err(Errors(self.0)) }
    }
}

impl Extend<InputError> for Collected {
    fn extend<I: IntoIterator<Item = InputError>>(&mut self, errors: I) {
        self.0.extend(errors);
    }
}

/// A result whose errors may be of a value inside others.
pub trait At {
    /// The same; its errors are of a value inside `outer`.
    #[must_use]
    fn at(self, outer: impl Into<Path>) -> Self;
}

impl<T> At for Result<T, InputError> {
    fn at(self, outer: impl Into<Path>) -> Self {
        self.map_err(|error| error.at(outer))
    }
}

impl<T> At for Result<T, Errors> {
    fn at(self, outer: impl Into<Path>) -> Self {
        self.map_err(|errors| errors.at(outer))
    }
}

impl From<InputError> for Errors {
    fn from(error: InputError) -> Errors {
        Errors(vec![error])
    }
}

impl From<QuantityError> for Errors {
    fn from(error: QuantityError) -> Errors {
        InputError::from(error).into()
    }
}

impl IntoIterator for Errors {
    type Item = InputError;
    type IntoIter = std::vec::IntoIter<InputError>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// One error a line.
impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Errors {}
