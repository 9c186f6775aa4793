//! Descriptions of parameters.

use crate::bounds::Bounds;
use crate::catalogue::Catalogue;
use crate::error::{ErrorKind, Errors, InputError};
use crate::table::Table;
use crate::value::Value;
use sojourn_units::Expected;
use sojourn_units::text::{
    self, FREQUENCY_UNITS, PACKET_RATE_UNITS, PACKET_UNITS, RATE_SPELLINGS, RATE_UNITS, SIZE_UNITS,
    TIME_UNITS,
};
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
    /// A number of packets: `300`, `"300 packets"`.
    Packets,
    /// A list of integers; a single one needs no brackets.
    Wholes,
    /// A plain number, or one of these words.
    NumberOr(&'static [&'static str]),
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
    /// A list of values of this kind.
    List(&'static Kind),
    /// The name of a node, a link or a class.
    Name,
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
    /// Bounds of its values.
    pub bounds: Bounds,
    /// What bounds do not say of its valid values, in words; empty where they and the kind suffice.
    pub rule: &'static str,
    /// Reason of the default; of an absent one also what applies; empty where a value is required.
    pub why: &'static str,
    /// Meaning.
    pub about: &'static str,
    /// Source of the definition; empty: that of its table, or Sojourn.
    pub source: &'static str,
}

impl Field {
    /// The range in words; empty where the kind suffices.
    pub fn range(&self) -> String {
        let parts = [self.bounds.to_string(), self.rule.into()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// Error of a value out of the range.
    fn out_of_range(&self, value: &Value) -> InputError {
        let error = InputError::out_of_range(value, self.range());
        match self.kind {
            // Texts have no order.
            Kind::Text => InputError { problem: "is not allowed".into(), ..error },
            _ => error,
        }
    }

    /// Error of a table without this required key.
    pub fn missing(&self) -> InputError {
        InputError::missing(self.expected(&[])).at(self.key)
    }

    /// Values that would do, in one of `units`: `a time such as "20 ms" (ns, us, ms, s; more than 0 s)`.
    fn expected(&self, units: &[String]) -> String {
        let details: Vec<String> =
            [units.join(", "), self.range()].into_iter().filter(|detail| !detail.is_empty()).collect();
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join("; ")) };
        match (&self.kind, self.example()) {
            (Kind::Text, _) => format!("text in quotes{details}"),
            (kind, Some(example)) => format!("a {kind} such as {example}{details}"),
            (kind, None) => format!("a {kind}{details}"),
        }
    }

    /// A value in range, as a file has it.
    fn example(&self) -> Option<String> {
        match (&self.kind, &self.default) {
            (kind, default) if kind.is_scalar() && *default != Value::Absent => Some(default.to_string()),
            (Kind::Number, _) if !self.bounds.contain(&0.1) => None,
            (Kind::Whole | Kind::Packets, _) if !self.bounds.contain(&50.0) => None,
            (kind, _) => Some(kind.example().into()),
        }
    }

    /// An error of the type's reader with what the parameter adds: an example, and its range.
    fn completed(&self, error: InputError) -> InputError {
        let is_plain = self.kind.is_scalar() || matches!(self.kind, Kind::TimeDraw | Kind::SizeDraw);
        if !error.key.is_empty() || error.hint.is_some() || !is_plain {
            return error;
        }
        let expected = match (error.kind, &error.expected) {
            (ErrorKind::Type, Expected::OneOf(units)) => self.expected(units),
            (ErrorKind::Type, _) => self.expected(&[]),
            (ErrorKind::Range, _) if !self.range().is_empty() => self.range(),
            _ => return error,
        };
        InputError { expected: expected.into(), ..error }
    }
}

/// The value of the parameter `key` of a table with `fields`; `is_valid` is its range.
pub fn read_parameter<T: Quantity>(
    key: &str,
    value: &Value,
    fields: fn() -> Vec<Field>,
    is_valid: fn(&T) -> bool,
) -> Result<T, Errors> {
    let field = || fields().into_iter().find(|field| field.key == key).expect("a key of the table");
    let errors = match T::read(value) {
        Ok(read) if is_valid(&read) => return Ok(read),
        Ok(_) => field().out_of_range(value).into(),
        Err(errors) => errors.map(|error| field().completed(error)),
    };
    Err(errors.at(key))
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

impl Page {
    /// True if it has the parameter.
    pub fn has(&self, key: &str) -> bool {
        (self.fields)().iter().any(|field| field.key == key)
    }
}

/// A type that a parameter can have.
pub trait Quantity: Sized {
    /// Bounds of all its values.
    const BOUNDS: Bounds = Bounds::NONE;
    /// What bounds do not say of its valid values, in words.
    const RULE: &'static str = "";

    /// Kind of the values.
    fn kind() -> Kind;
    /// Reads a value; errors of one of another kind, or out of the range of the type.
    fn read(value: &Value) -> Result<Self, Errors>;
    /// The value that `read` reads back.
    fn write(&self) -> Value;
    /// The value after a change to another; one with parameters keeps those that the other does not give.
    fn after(&self, change: &Self) -> Self
    where
        Self: Clone,
    {
        change.clone()
    }
}

/// A struct of parameters made by [`params!`](crate::params).
pub trait Described: Sized {
    /// All parameters, in order.
    fn fields() -> Vec<Field>;
    /// Their keys, in order.
    fn keys() -> Vec<&'static str>;
    /// The value of one parameter; absent where there is none.
    fn value(&self, key: &str) -> Value;
    /// Sets one parameter; errors of an unknown key or an invalid value.
    fn assign(&mut self, key: &str, value: &Value) -> Result<(), Errors>;
    /// Takes the value of one parameter from another struct.
    fn take(&mut self, key: &str, other: &Self);
    /// Reads its parameters from a table, which keeps the errors; none where there are any.
    fn from_table(table: &mut Table<'_>) -> Option<Self>;

    /// True for the key of a parameter.
    fn has(key: &str) -> bool {
        Self::keys().contains(&key)
    }

    /// All parameters with their values, in order.
    fn values(&self) -> Vec<(&'static str, Value)> {
        Self::keys().into_iter().map(|key| (key, self.value(key))).collect()
    }

    /// The parameters of a table, defaults filled in, or the errors of it, as far as they are listed.
    fn from_values(values: &[(String, Value)]) -> Result<Self, Errors> {
        let mut table = Table::of(values, &Self::keys());
        let params = Self::from_table(&mut table);
        table.end(params)
    }

    /// The values that differ from the defaults, in order.
    fn changed(&self) -> Vec<(String, Value)> {
        let values =
            Self::fields().into_iter().map(|field| (field.key, self.value(field.key), field.default));
        values.filter(|(_, value, usual)| value != usual).map(|(key, value, _)| (key.into(), value)).collect()
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
            Kind::NumberOr(_) => "1",
            Kind::Whole | Kind::Packets => "50",
            Kind::Wholes => "[7, 9]",
            Kind::List(Kind::Rate) => "[\"500 kbit/s\", \"2 Mbit/s\"]",
            Kind::List(_) => "[\"a\", \"b\"]",
            Kind::Name => "\"a\"",
            Kind::Any => "\"50 packets\"",
            Kind::Flag => "true",
            Kind::Form(example) => example,
            Kind::Entry(catalogue) | Kind::EntryOrFile(catalogue) => catalogue.example,
            Kind::Keys(_) | Kind::Tables(_) => "{ key = value }",
            Kind::Word(_) | Kind::WordOrFlag(_) | Kind::Text => "\"text\"",
        }
    }

    /// True for a single number, with or without a unit.
    fn is_scalar(&self) -> bool {
        let has_unit = matches!(self, Kind::Queue | Kind::Time | Kind::Rate | Kind::Frequency | Kind::Size);
        has_unit || matches!(self, Kind::Number | Kind::Whole | Kind::Packets)
    }

    /// Units of a value of this kind, if it has one.
    pub fn units(&self) -> Vec<&'static str> {
        let lists: &[&[text::Unit]] = match self {
            Kind::Queue => &[PACKET_UNITS, SIZE_UNITS, TIME_UNITS],
            Kind::Packets => &[PACKET_UNITS],
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
            Kind::NumberOr(_) => "number or word",
            Kind::Whole => "whole number",
            Kind::Packets => "number of packets",
            Kind::Wholes => "list of whole numbers",
            Kind::List(kind) => return write!(f, "list of {kind}s"),
            Kind::Name => "name",
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
