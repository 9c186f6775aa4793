//! Times that differ from flow to flow.

use sojourn_params::{At, Edge, Errors, Expected, InputError, Kind, Ordered, Quantity, Value};
use sojourn_units::Span;
use std::cmp::Ordering;
use std::fmt;

/// Times spread evenly from the first flow to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The first flow's.
    pub from: Span,
    /// The last flow's.
    pub to: Span,
}

/// Start times of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Each at a time drawn uniformly from the first to the second, by the run's seed.
    Random(Spread),
    /// Evenly from the first flow to the last.
    Even(Spread),
}

impl Spread {
    /// The same time for every flow.
    pub const fn constant(time: Span) -> Spread {
        Spread { from: time, to: time }
    }

    /// The time of flow `index` of `count`: exact at both ends; a lone flow has the first.
    pub fn at(&self, index: u32, count: u32) -> Span {
        let last = u128::from(count.saturating_sub(1));
        let index = u128::from(index).min(last);
        if last == 0 {
            return self.from;
        }
        let sum = u128::from(self.from.nanos()) * (last - index) + u128::from(self.to.nanos()) * index;
        Span::from_nanos(((sum + last / 2) / last) as u64)
    }

    /// The mean over `count` flows, s.
    pub(crate) fn mean_seconds(&self, count: u32) -> f64 {
        if count <= 1 {
            return self.from.seconds();
        }
        f64::midpoint(self.from.seconds(), self.to.seconds())
    }

    /// The shortest of the times.
    pub(crate) fn earliest(&self) -> Span {
        self.from.min(self.to)
    }

    /// The longest of the times.
    pub fn latest(&self) -> Span {
        self.from.max(self.to)
    }
}

impl Start {
    /// No flow starts later.
    pub fn latest(&self) -> Span {
        match self {
            Start::Random(times) | Start::Even(times) => times.latest(),
        }
    }
}

impl Quantity for Spread {
    fn kind() -> Kind {
        Kind::Times(&["spread"])
    }
    fn read(value: &Value) -> Result<Spread, Errors> {
        read(value, &["spread"]).map(|(_, times)| times)
    }
    fn write(&self) -> Value {
        if self.from == self.to { self.from.write() } else { write("spread", *self) }
    }
}

/// By the longest of the times.
impl Ordered for Spread {
    fn order(&self, edge: Edge) -> Option<Ordering> {
        self.latest().order(edge)
    }
}

impl Quantity for Start {
    fn kind() -> Kind {
        Kind::Times(&["spread", "random"])
    }
    fn read(value: &Value) -> Result<Start, Errors> {
        let (word, times) = read(value, &["spread", "random"])?;
        Ok(if word == "random" { Start::Random(times) } else { Start::Even(times) })
    }
    fn write(&self) -> Value {
        match self {
            Start::Random(times) => write("random", *times),
            Start::Even(times) => times.write(),
        }
    }
}

/// A time, or a table of one of `words` and two times.
fn read(value: &Value, words: &[&'static str]) -> Result<(&'static str, Spread), Errors> {
    let Value::Table(entries) = value else {
        return Span::read(value).map(|time| ("spread", Spread::constant(time)));
    };
    let tables = words.iter().map(|word| format!("{{ {word} = [TIME, TIME] }}"));
    let expected = Expected::one_of(std::iter::once("TIME".into()).chain(tables));
    let [(key, times)] = entries.as_slice() else {
        return Err(InputError::of_type(value, "is not one key with two times", expected).into());
    };
    let Some(word) = words.iter().find(|word| *word == key) else {
        return Err(InputError { expected, ..InputError::unknown_key(key, words.iter().copied()) }.into());
    };
    let ends = match times {
        Value::List(ends) if ends.len() == 2 => {
            Span::read(&ends[0]).and_then(|from| Ok(Spread { from, to: Span::read(&ends[1])? }))
        }
        other => Err(InputError::of_type(other, "is not a list of two times", expected).into()),
    };
    ends.map(|times| (*word, times)).at(word)
}

fn write(word: &str, times: Spread) -> Value {
    Value::Table(vec![(word.into(), Value::List(vec![times.from.write(), times.to.write()]))])
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { self.from.fmt(f) } else { write!(f, "{} to {}", self.from, self.to) }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Start::Random(times) => write!(f, "at random between {} and {}", times.from, times.to),
            Start::Even(times) if times.from == times.to => write!(f, "at {times}"),
            Start::Even(times) => write!(f, "evenly from {times}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::value;

    #[test]
    fn a_spread_is_even_and_exact_at_both_ends() {
        let spread = Spread { from: Span::from_millis(38), to: Span::from_millis(42) };
        assert_eq!(spread.at(0, 5), Span::from_millis(38));
        assert_eq!(spread.at(1, 5), Span::from_millis(39));
        assert_eq!(spread.at(4, 5), Span::from_millis(42));
        assert_eq!(spread.at(0, 1), Span::from_millis(38));
        let back = Spread { from: spread.to, to: spread.from };
        assert_eq!(back.at(1, 5), Span::from_millis(41));
        let whole = Spread { from: Span::ZERO, to: Span::from_nanos(u64::MAX) };
        assert_eq!(whole.at(u32::MAX - 1, u32::MAX).nanos(), u64::MAX);
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        let spread = Spread { from: Span::ZERO, to: Span::from_secs(1) };
        for start in [Start::Random(spread), Start::Even(spread), Start::Even(Spread::constant(spread.to))] {
            assert_eq!(Start::read(&start.write()), Ok(start));
        }
    }

    #[test]
    fn an_error_names_the_expected_form() {
        for (text, message) in [
            ("{ random = ['0 s', '1 s'] }", "random: unknown key (expected TIME, { spread = [TIME, TIME] })"),
            ("{ spred = '1 s' }", "spred: unknown key; did you mean \"spread\"? (expected TIME, "),
            ("{ spread = '1 s' }", "spread: \"1 s\" is not a list of two times (expected TIME, "),
            ("{ spread = ['0 s', 1] }", "spread: \"1\" needs a unit"),
            ("{}", "{ } is not one key with two times (expected TIME, "),
        ] {
            let error = Spread::read(&value(text)).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
