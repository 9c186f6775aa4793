//! Parameters that describe themselves.
//!
//! A parameter is defined once: its symbol, unit, legal range, default and why
//! that default stand beside the field in the [`params!`](crate::params) macro. From that one
//! place come reading and checking, `sojourn explain`, the Python classes and
//! the JSON schema.

use crate::prob::Prob;
use crate::quantity::{Amount, Frequency, LinkRate};
use crate::size::{Bytes, Rate};
use crate::text::{
    self, FREQUENCY_UNITS, PACKET_RATE_UNITS, PACKET_UNITS, RATE_SPELLINGS, RATE_UNITS, SIZE_UNITS,
    TIME_UNITS,
};
use crate::time::Span;
use std::fmt;

/// A value as it stands in a scenario file or on the command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not given.
    Absent,
    /// A string; quantities with units are strings.
    Text(String),
    /// A number with a point.
    Number(f64),
    /// A whole number.
    Whole(i64),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Value>),
    /// Keys with values, in the order written.
    Table(Vec<(String, Value)>),
}

/// What is wrong with one value, in one line: `what` says what is wrong and what is legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key whose value is refused.
    pub key: String,
    /// What is wrong; what is legal.
    pub what: String,
}

/// What a value of a type looks like, for schemas and help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A length of queue: `"300 packets"`, `"1.5 MB"`, `"20 ms"`.
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
    /// A whole number.
    Whole,
    /// A list of whole numbers; one alone may stand without brackets.
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
    /// A disc: `"red:min=50packets"`, or a table of its law and the law's parameters.
    Disc,
    /// A congestion control: `"cubic:hystart=false"`, or a table of its name and its parameters.
    Control,
    /// A list of names.
    Names,
    /// Of the kind that another key decides.
    Any,
    /// Text, or a table with keys of its own, such as this.
    Form(&'static str),
    /// A table of its own.
    Table,
    /// A list of tables.
    Tables,
    /// Any text.
    Text,
}

/// One parameter, as people are told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name in files and on the command line.
    pub key: &'static str,
    /// Its symbol in the source.
    pub symbol: &'static str,
    /// What a value looks like.
    pub kind: Kind,
    /// Its value where none is given.
    pub default: Value,
    /// The legal range, in words.
    pub rule: &'static str,
    /// Why that default.
    pub why: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// What is told of an algorithm of a catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its name in files, on the command line, and of its file.
    pub stem: &'static str,
    /// One line.
    pub summary: &'static str,
    /// How it works, in a few sentences.
    pub idea: &'static str,
    /// Its equation, in text; empty where there is none.
    pub equation: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Its parameters.
    pub fields: fn() -> Vec<Field>,
}

/// A type that a parameter can have.
pub trait Quantity: Sized {
    /// What a value looks like.
    fn kind() -> Kind;
    /// Reads a value; the refusal says what is legal.
    fn read(value: &Value) -> Result<Self, String>;
    /// The value, such that `read` gives it back.
    fn write(&self) -> Value;
}

/// A struct of parameters that was made by [`params!`](crate::params).
pub trait Described: Default {
    /// All parameters, in order.
    fn fields() -> Vec<Field>;
    /// Sets one parameter; refuses unknown keys and illegal values.
    fn assign(&mut self, key: &str, value: &Value) -> Result<(), Fault>;
    /// All parameters with their values, in order.
    fn values(&self) -> Vec<(&'static str, Value)>;

    /// Defaults, with the given ones set in order.
    fn from_values(given: &[(String, Value)]) -> Result<Self, Fault> {
        let mut params = Self::default();
        for (key, value) in given {
            params.assign(key, value)?;
        }
        Ok(params)
    }
}

impl Kind {
    /// A value of this kind, as it is written.
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
            Kind::Disc => "\"red:min=50packets,max=150packets\"",
            Kind::Control => "\"cubic:hystart=false\"",
            Kind::Form(example) => example,
            Kind::Table | Kind::Tables => "{ key = value }",
            Kind::Word(_) | Kind::WordOrFlag(_) | Kind::Text => "\"text\"",
        }
    }

    /// The units that fit, where a value has one.
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
            Kind::Disc => "disc",
            Kind::Control => "congestion control",
            Kind::Form(_) => "text or table",
            Kind::Table => "table",
            Kind::Tables => "list of tables",
            Kind::Text => "text",
        })
    }
}

impl Fault {
    /// A fault of `key`.
    pub fn new(key: impl Into<String>, what: impl Into<String>) -> Fault {
        Fault { key: key.into(), what: what.into() }
    }

    /// A value that cannot be read; the rule is told where the refusal tells none.
    pub fn of_value(key: &str, what: String, rule: &str) -> Fault {
        Fault::new(key, if what.contains("legal: ") { what } else { format!("{what}; legal: {rule}") })
    }

    /// A key that does not exist, with the nearest that does.
    pub fn unknown(key: &str, legal: &[&str]) -> Fault {
        let hint = text::did_you_mean(key, legal.iter().copied());
        let legal = if legal.is_empty() {
            "takes no parameters".into()
        } else {
            format!("legal: {}", legal.join(", "))
        };
        Fault::new(key, format!("unknown key{hint} ({legal})"))
    }

    /// The same fault, of a key inside `table`.
    pub fn inside(self, table: &str) -> Fault {
        Fault { key: format!("{table}.{}", self.key), what: self.what }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.what)
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Absent => f.write_str("not set"),
            Value::Text(text) => write!(f, "\"{text}\""),
            Value::Number(number) => write!(f, "{number:?}"),
            Value::Whole(number) => number.fmt(f),
            Value::Flag(flag) => flag.fmt(f),
            Value::List(items) => {
                f.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if place == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Value::Table(entries) => {
                f.write_str("{")?;
                for (place, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key} = {value}", if place == 0 { " " } else { ", " })?;
                }
                f.write_str(" }")
            }
        }
    }
}

/// Quantities that are written as text with a unit.
macro_rules! written_with_a_unit {
    ($($type:ty => $kind:ident, $example:literal;)*) => {$(
        impl Quantity for $type {
            fn kind() -> Kind {
                Kind::$kind
            }
            fn read(value: &Value) -> Result<Self, String> {
                match value {
                    Value::Text(text) => <$type>::parse(text),
                    Value::Number(_) | Value::Whole(_) => {
                        let refusal = <$type>::parse(&value.to_string()).err().unwrap_or_default();
                        let told = refusal.contains("write it like");
                        Err(if told { refusal } else { format!("{refusal}; write it like {:?}", $example) })
                    }
                    other => Err(format!("{other} is not text with a unit; write it like {:?}", $example)),
                }
            }
            fn write(&self) -> Value {
                Value::Text(self.to_string())
            }
        }
    )*};
}

written_with_a_unit! {
    Amount => Queue, "300 packets";
    Span => Time, "20 ms";
    LinkRate => Rate, "8 Mbit/s";
    Rate => Rate, "8 Mbit/s";
    Frequency => Frequency, "160 Hz";
    Bytes => Size, "1500 B";
}

impl Quantity for f64 {
    fn kind() -> Kind {
        Kind::Number
    }
    fn read(value: &Value) -> Result<f64, String> {
        match value {
            Value::Number(number) if number.is_finite() => Ok(*number),
            Value::Whole(number) => Ok(*number as f64),
            Value::Number(number) => Err(format!("{number} is not a finite number")),
            other => Err(format!("{other} is not a number; write it like 0.1")),
        }
    }
    fn write(&self) -> Value {
        Value::Number(*self)
    }
}

impl Quantity for Prob {
    fn kind() -> Kind {
        Kind::Number
    }
    fn read(value: &Value) -> Result<Prob, String> {
        let number = f64::read(value)?;
        Prob::new(number).ok_or_else(|| format!("{number} is not a probability; legal: 0 to 1"))
    }
    fn write(&self) -> Value {
        Value::Number(self.get())
    }
}

impl Quantity for u64 {
    fn kind() -> Kind {
        Kind::Whole
    }
    fn read(value: &Value) -> Result<u64, String> {
        match value {
            Value::Whole(number) => {
                u64::try_from(*number).map_err(|_| format!("{number} is negative; legal: 0 or more"))
            }
            other => Err(format!("{other} is not a whole number; write it like 50")),
        }
    }
    fn write(&self) -> Value {
        Value::Whole(*self as i64)
    }
}

impl Quantity for u32 {
    fn kind() -> Kind {
        Kind::Whole
    }
    fn read(value: &Value) -> Result<u32, String> {
        u32::try_from(u64::read(value)?)
            .map_err(|_| format!("{value} is too large; legal: at most {}", u32::MAX))
    }
    fn write(&self) -> Value {
        Value::Whole(i64::from(*self))
    }
}

impl Quantity for Vec<u64> {
    fn kind() -> Kind {
        Kind::Wholes
    }
    fn read(value: &Value) -> Result<Vec<u64>, String> {
        match value {
            Value::List(items) => items.iter().map(u64::read).collect(),
            Value::Whole(_) => u64::read(value).map(|number| vec![number]),
            other => Err(format!("{other} is not a list of whole numbers; write it like [7, 9]")),
        }
    }
    fn write(&self) -> Value {
        Value::List(self.iter().map(Quantity::write).collect())
    }
}

/// The place of the word that a value of the kind [`Kind::WordOrFlag`] names: the first for true, none for false.
///
/// Errors: a hint at the word that may be meant, empty where there is none.
pub fn word_or_flag(value: &Value, words: &[&'static str]) -> Result<Option<usize>, String> {
    match value {
        Value::Flag(true) => Ok(Some(0)),
        Value::Flag(false) => Ok(None),
        Value::Text(text) => match words.iter().position(|word| word == text) {
            Some(place) => Ok(Some(place)),
            None => Err(crate::did_you_mean(text, words.iter().copied())),
        },
        _ => Err(String::new()),
    }
}

impl Quantity for bool {
    fn kind() -> Kind {
        Kind::Flag
    }
    fn read(value: &Value) -> Result<bool, String> {
        match value {
            Value::Flag(flag) => Ok(*flag),
            other => Err(format!("{other} is neither true nor false")),
        }
    }
    fn write(&self) -> Value {
        Value::Flag(*self)
    }
}

impl Quantity for String {
    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<String, String> {
        match value {
            Value::Text(text) => Ok(text.clone()),
            other => Err(format!("{other} is not text; write it in quotes")),
        }
    }
    fn write(&self) -> Value {
        Value::Text(self.clone())
    }
}

/// A parameter that may be left out.
impl<T: Quantity> Quantity for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }
    fn read(value: &Value) -> Result<Option<T>, String> {
        T::read(value).map(Some)
    }
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Absent, Quantity::write)
    }
}

/// Defines an enum of which a parameter names one member by its word.
///
/// ```
/// sojourn_units::choice! {
///     /// How fast.
///     pub enum Pace {
///         /// one step after the other
///         Slow = "slow",
///         /// all at once
///         Fast = "fast",
///     }
/// }
/// use sojourn_units::param::{Quantity, Value};
/// assert_eq!(Pace::read(&Value::Text("fast".into())), Ok(Pace::Fast));
/// assert!(Pace::read(&Value::Text("fats".into())).unwrap_err().contains("did you mean \"fast\"?"));
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$about:meta])+
                $member:ident = $word:literal,
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$about])+ $member,)+
        }

        impl $crate::param::Quantity for $name {
            fn kind() -> $crate::param::Kind {
                $crate::param::Kind::Word(&[$($word),+])
            }
            fn read(value: &$crate::param::Value) -> Result<Self, String> {
                let word = <String as $crate::param::Quantity>::read(value)?;
                match word.as_str() {
                    $($word => Ok($name::$member),)+
                    _ => {
                        let words = [$($word),+];
                        let hint = $crate::did_you_mean(&word, words);
                        Err(format!("\"{word}\" is none of the words{hint} (legal: {})", words.join(", ")))
                    }
                }
            }
            fn write(&self) -> $crate::param::Value {
                $crate::param::Value::Text(match self { $($name::$member => $word.into(),)+ })
            }
        }
    };
}

/// Defines a struct of parameters together with all that is told of them.
///
/// Each field reads: documentation; `name: type = default`, symbol; the legal
/// range in words and as a predicate; why that default (and its source).
///
/// ```
/// sojourn_units::params! {
///     /// Parameters of a leaky integrator.
///     pub struct Params {
///         /// weight of a new sample in the average
///         weight: f64 = 0.002, "w_q", "0 < weight <= 1" if |w| *w > 0.0 && *w <= 1.0,
///             "Floyd and Jacobson 1993";
///     }
/// }
/// use sojourn_units::param::{Described, Value};
/// assert!(Params::default().assign("weight", &Value::Number(2.0)).is_err());
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $about:literal])+
                $field:ident : $type:ty = $default:expr, $symbol:literal,
                    $rule:literal if $legal:expr, $why:literal;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $about])+ pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::param::Described for $name {
            fn fields() -> Vec<$crate::param::Field> {
                #[allow(unused_variables)]
                let default = <$name as Default>::default();
                vec![$($crate::param::Field {
                    key: stringify!($field),
                    symbol: $symbol,
                    kind: <$type as $crate::param::Quantity>::kind(),
                    default: $crate::param::Quantity::write(&default.$field),
                    rule: $rule,
                    why: $why,
                    about: concat!($($about),+).trim_ascii(),
                },)*]
            }

            #[allow(unused_variables)]
            fn assign(
                &mut self,
                key: &str,
                value: &$crate::param::Value,
            ) -> Result<(), $crate::param::Fault> {
                match key {
                    $(stringify!($field) => {
                        let read = <$type as $crate::param::Quantity>::read(value)
                            .map_err(|what| $crate::param::Fault::of_value(key, what, $rule))?;
                        let legal: fn(&$type) -> bool = $legal;
                        if !legal(&read) {
                            let what = format!("{value} is out of range; legal: {} ({})", $rule, $why);
                            return Err($crate::param::Fault::new(key, what));
                        }
                        self.$field = read;
                        Ok(())
                    })*
                    _ => Err($crate::param::Fault::unknown(key, &[$(stringify!($field)),*])),
                }
            }

            fn values(&self) -> Vec<(&'static str, $crate::param::Value)> {
                vec![$((stringify!($field), $crate::param::Quantity::write(&self.$field)),)*]
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    params! {
        /// Parameters of nothing in particular.
        #[allow(unreachable_pub)]
        pub struct Sample {
            /// the set-point
            target: Amount = Amount::Packets(100.0), "q_ref", "any queue" if |_| true, "made up";
            /// the gain
            gain: Option<f64> = None, "a", "more than 0" if |a| a.is_none_or(|a| a > 0.0), "made up";
        }
    }

    #[test]
    fn reading_gives_back_what_was_written() {
        let mut sample = Sample::default();
        sample.assign("gain", &Value::Number(0.5)).unwrap();
        let written: Vec<(String, Value)> =
            sample.values().into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        assert_eq!(Sample::from_values(&written), Ok(sample));
    }

    #[test]
    fn an_example_of_a_kind_is_read_by_its_type() {
        fn reads<T: Quantity>() -> bool {
            let example = T::kind().example().trim_matches('"').to_string();
            let units = T::kind().units();
            T::read(&Value::Text(example.clone())).is_ok() && units.iter().any(|unit| example.ends_with(unit))
        }
        assert!(reads::<Amount>() && reads::<Span>() && reads::<LinkRate>());
        assert!(reads::<Frequency>() && reads::<Bytes>());
        assert!(Kind::Flag.units().is_empty());
    }

    #[test]
    fn a_list_may_have_one_number_without_brackets() {
        let seven = Ok(vec![7]);
        assert_eq!(Vec::<u64>::read(&Value::Whole(7)), seven);
        assert_eq!(Vec::<u64>::read(&Value::List(vec![Value::Whole(7)])), seven);
        let said = Vec::<u64>::read(&Value::List(vec![Value::Text("x".into())])).unwrap_err();
        assert_eq!(said, "\"x\" is not a whole number; write it like 50");
        let said = Vec::<u64>::read(&Value::Flag(true)).unwrap_err();
        assert_eq!(said, "true is not a list of whole numbers; write it like [7, 9]");
    }

    #[test]
    fn a_fault_names_key_value_rule_and_source() {
        let fault = Sample::default().assign("gain", &Value::Number(-1.0)).unwrap_err();
        assert_eq!(fault.to_string(), "gain: -1.0 is out of range; legal: more than 0 (made up)");
        let fault = Sample::default().assign("gian", &Value::Number(1.0)).unwrap_err();
        assert_eq!(fault.to_string(), "gian: unknown key; did you mean \"gain\"? (legal: target, gain)");
        let fault = Sample::default().assign("target", &Value::Whole(100)).unwrap_err();
        assert!(fault.to_string().contains("needs a unit"), "{fault}");
        let fault = Sample::default().assign("target", &Value::Number(f64::NAN)).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "target: \"NaN\" is not a number with a unit; write it like \"300 packets\"; legal: any queue"
        );
    }
}
