//! Windows of time with metrics of their own.

use sojourn_params::{ErrorKind, Errors, InputError, Kind, Quantity, Value};
use sojourn_units::Span;
use std::fmt;

/// Windows of a run, as a file has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windows {
    /// From one time to another.
    Between(Span, Span),
    /// From the start, and from each change of the schedule, to the next one or the end.
    Phases,
    /// From 0 s to the end.
    Run,
    /// From the end of the warm-up to the end.
    Measured,
    /// Windows of this length, one after the other from 0 s; the last one may be shorter.
    Every(Span),
}

/// The list of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowList(pub(crate) Vec<Windows>);

impl Windows {
    fn parse(text: &str) -> Result<Windows, Errors> {
        let words = text.trim();
        if let Some(length) = words.strip_prefix("every ") {
            return Ok(Windows::Every(Span::parse(length)?));
        }
        if let Some((from, until)) = words.split_once("..") {
            return Ok(Windows::Between(Span::parse(from)?, Span::parse(until)?));
        }
        match words {
            "phases" => Ok(Windows::Phases),
            "run" => Ok(Windows::Run),
            "measured" => Ok(Windows::Measured),
            _ => Err(InputError::new(ErrorKind::Syntax, "is no window of time", FORMS).found(text).into()),
        }
    }
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Windows::Between(from, until) => write!(f, "{from}..{until}"),
            Windows::Phases => f.write_str("phases"),
            Windows::Run => f.write_str("run"),
            Windows::Measured => f.write_str("measured"),
            Windows::Every(length) => write!(f, "every {length}"),
        }
    }
}

impl Quantity for WindowList {
    const RULE: &'static str =
        "`\"10 s..40 s\"`, phases, run (from 0 s), measured (after the warm-up), `\"every 1 s\"`";

    fn kind() -> Kind {
        Kind::List(&Kind::Text)
    }
    fn read(value: &Value) -> Result<WindowList, Errors> {
        let Value::List(items) = value else {
            return Err(InputError::of_type(value, "is not a list of windows", EXAMPLE).into());
        };
        let mut windows = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let one = String::read(item).and_then(|text| Windows::parse(&text));
            windows.push(one.map_err(|errors| errors.at(place))?);
        }
        Ok(WindowList(windows))
    }
    fn write(&self) -> Value {
        Value::List(self.0.iter().map(|one| Value::Text(one.to_string())).collect())
    }
}

/// Forms of a window, in words.
const FORMS: &str = "\"10 s..40 s\", \"phases\", \"run\", \"measured\" or \"every 1 s\"";
const EXAMPLE: &str = "a list such as [\"10 s..40 s\", \"phases\"]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_written_as_it_is_read() {
        for text in ["10 s..40 s", "phases", "run", "measured", "every 250 ms"] {
            assert_eq!(Windows::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Windows::parse(" 0s .. 1500ms ").unwrap().to_string(), "0 s..1.5 s");
        for text in ["", "10 s", "every", "10..40 s", "..", "phase"] {
            assert!(Windows::parse(text).is_err(), "{text}");
        }
    }
}
