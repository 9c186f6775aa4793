//! Descriptions of parameters.

use crate::catalogue::Catalogue;
use crate::error::{Errors, InputError};
use crate::value::Value;
use sojourn_units::text::{
    self, FREQUENCY_UNITS, PACKET_RATE_UNITS, PACKET_UNITS, RATE_SPELLINGS, RATE_UNITS, SIZE_UNITS,
    TIME_UNITS,
};
use std::collections::BTreeSet;
use std::fmt;

/// Form of a type's values, for schemas and help.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A queue length: `"300 packets"`, `"1.5 MB"`, `"20 ms"`.
    Queue,
    /// A time: `"20 ms"`.
    Time,
    /// A rate: `"8 Mbit/s"`, `"1250 packets/s"`.
    Rate,
    /// A frequency: `"160 Hz"`.
    Frequency,
    /// A size: `"1500 B"`.
    Size,
    /// A plain number.
    Number,
    /// An integer.
    Whole,
    /// A list of integers; a single one needs no brackets.
    Wholes,
    /// True or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or false; true is the first of them.
    WordOrFlag(&'static [&'static str]),
    /// A time, or two times in a table under one of these words: `{ spread = ["38 ms", "42 ms"] }`.
    Times(&'static [&'static str]),
    /// A distribution of times: `"3 s"`, `{ exponential = "3 s" }`.
    TimeDraw,
    /// A distribution of sizes: `"12 packets"`, `{ pareto = "10 kB", shape = 1.2 }`.
    SizeDraw,
    /// A list of names.
    Names,
    /// A value whose kind another key determines.
    Any,
    /// Text, or a table with keys of its own, such as this.
    Form(&'static str),
    /// A table with these keys.
    Keys(fn() -> Vec<Field>),
    /// An entry of a catalogue with its parameters, in one of the forms of [`Catalogue`].
    Entry(&'static Catalogue),
    /// The same, or a file: `{ file = NAME }`.
    EntryOrFile(&'static Catalogue),
    /// A list of tables with these keys.
    Tables(fn() -> Vec<Field>),
    /// Any text.
    Text,
}

/// Description of one parameter.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name in files and on the command line.
    pub key: &'static str,
    /// Symbol in the source; empty where it has none.
    pub symbol: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// True where a table without it is refused.
    pub is_required: bool,
    /// Default; absent: it is derived, or there is none.
    pub default: Value,
    /// Bounds of a whole number, both included.
    pub bounds: Option<(i64, i64)>,
    /// Valid range, in words; empty where the kind suffices.
    pub rule: &'static str,
    /// Reason of the default; of an absent one also what applies.
    pub why: &'static str,
    /// Meaning.
    pub about: &'static str,
    /// Source of the definition; empty: that of its table, or Sojourn.
    pub source: &'static str,
}

impl Field {
    /// The range in words; empty where the kind suffices.
    pub fn range(&self) -> String {
        self.bounds.map_or_else(|| self.rule.into(), |(low, high)| format!("{low} to {high}"))
    }

    /// Error of a table without this required key.
    pub fn missing(&self) -> InputError {
        let range = self.range();
        let range = if range.is_empty() { range } else { format!(" ({range})") };
        let expected = match &self.kind {
            Kind::Text => format!("text in quotes{range}"),
            kind => format!("a {kind} such as {}{range}", kind.example()),
        };
        InputError::missing(expected).at(self.key)
    }
}

/// Description of an algorithm of a catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Name in files, on the command line, and of its file.
    pub stem: &'static str,
    /// Summary, one line.
    pub summary: &'static str,
    /// Description, a few sentences.
    pub idea: &'static str,
    /// Equation, as text; empty where there is none.
    pub equation: &'static str,
    /// Source of the definition.
    pub source: &'static str,
    /// Parameters.
    pub fields: fn() -> Vec<Field>,
}

/// A type that a parameter can have.
pub trait Quantity: Sized {
    /// True for a type without which a table is refused: [`Required`](crate::Required).
    const IS_REQUIRED: bool = false;

    /// Kind of the values.
    fn kind() -> Kind;
    /// Reads a value.
    fn read(value: &Value) -> Result<Self, Errors>;
    /// The value that `read` reads back.
    fn write(&self) -> Value;
}

/// A struct of parameters made by [`params!`](crate::params).
pub trait Described: Default {
    /// All parameters, in order.
    fn fields() -> Vec<Field>;
    /// True for the key of a parameter.
    fn has(key: &str) -> bool;
    /// Keys of the required parameters.
    fn required() -> Vec<&'static str>;
    /// Sets one parameter; errors of an unknown key or an invalid value.
    fn assign(&mut self, key: &str, value: &Value) -> Result<(), Errors>;
    /// Takes the value of one parameter from another struct.
    fn take(&mut self, key: &str, other: &Self);
    /// All parameters with their values, in order.
    fn values(&self) -> Vec<(&'static str, Value)>;

    /// The parameters of a table, defaults filled in, or the errors of it, as far as they are listed.
    fn from_values(values: &[(String, Value)]) -> Result<Self, Errors> {
        let mut params = Self::default();
        let (mut errors, mut seen) = (Vec::new(), BTreeSet::new());
        for (key, value) in values {
            if errors.len() > MOST_ERRORS {
                break;
            }
            if !seen.insert(key.as_str()) {
                errors.push(InputError::repeated().at(key));
            } else if let Err(refused) = params.assign(key, value) {
                errors.extend(refused);
            }
        }
        for key in Self::required().into_iter().filter(|key| !seen.contains(key)) {
            // A key that is misspelled is not missing, too.
            let quoted = format!("\"{key}\"");
            if errors.iter().all(|error| error.hint.as_ref() != Some(&quoted)) {
                let field = Self::fields().into_iter().find(|field| field.key == key);
                errors.extend(field.map(|field| field.missing()));
            }
        }
        Errors::unless_any(params, errors)
    }

    /// The values that differ from the defaults, in order.
    fn changed(&self) -> Vec<(String, Value)> {
        let usual = Self::default().values();
        let pairs = self.values().into_iter().zip(usual);
        pairs
            .filter(|((_, value), (_, usual))| value != usual)
            .map(|((key, value), _)| (key.into(), value))
            .collect()
    }
}

impl Kind {
    /// Example of a value of this kind.
    pub fn example(&self) -> &'static str {
        match self {
            Kind::Queue => "\"300 packets\"",
            Kind::Time | Kind::Times(_) | Kind::TimeDraw => "\"20 ms\"",
            Kind::Rate => "\"8 Mbit/s\"",
            Kind::Frequency => "\"160 Hz\"",
            Kind::Size | Kind::SizeDraw => "\"1500 B\"",
            Kind::Number => "0.1",
            Kind::Whole => "50",
            Kind::Wholes => "[7, 9]",
            Kind::Names => "[\"a\", \"b\"]",
            Kind::Any => "\"50 packets\"",
            Kind::Flag => "true",
            Kind::Form(example) => example,
            Kind::Entry(catalogue) | Kind::EntryOrFile(catalogue) => catalogue.example,
            Kind::Keys(_) | Kind::Tables(_) => "{ key = value }",
            Kind::Word(_) | Kind::WordOrFlag(_) | Kind::Text => "\"text\"",
        }
    }

    /// Units of a value of this kind, if it has one.
    pub fn units(&self) -> Vec<&'static str> {
        let lists: &[&[text::Unit]] = match self {
            Kind::Queue => &[PACKET_UNITS, SIZE_UNITS, TIME_UNITS],
            Kind::Time | Kind::Times(_) | Kind::TimeDraw => &[TIME_UNITS],
            Kind::Rate => &[RATE_UNITS, PACKET_RATE_UNITS, RATE_SPELLINGS],
            Kind::Frequency => &[FREQUENCY_UNITS],
            Kind::Size => &[SIZE_UNITS],
            Kind::SizeDraw => &[PACKET_UNITS, SIZE_UNITS],
            _ => &[],
        };
        lists.concat().into_iter().map(|(name, _)| name).collect()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Queue => "queue",
            Kind::Time => "time",
            Kind::Rate => "rate",
            Kind::Frequency => "frequency",
            Kind::Size => "size",
            Kind::Number => "number",
            Kind::Whole => "whole number",
            Kind::Wholes => "list of whole numbers",
            Kind::Names => "list of names",
            Kind::Any => "value of that parameter",
            Kind::Flag => "true or false",
            Kind::Word(_) => "word",
            Kind::WordOrFlag(_) => "word or false",
            Kind::Times(_) => "time or times",
            Kind::TimeDraw => "time or distribution of times",
            Kind::SizeDraw => "size or distribution of sizes",
            Kind::Form(_) => "text or table",
            Kind::Entry(catalogue) | Kind::EntryOrFile(catalogue) => catalogue.kind,
            Kind::Keys(_) => "table",
            Kind::Tables(_) => "list of tables",
            Kind::Text => "text",
        })
    }
}

/// Errors of one table beyond which further ones are not collected.
pub(crate) const MOST_ERRORS: usize = 100;
