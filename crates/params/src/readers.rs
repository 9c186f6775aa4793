//! Types of parameters: reading and writing of their values.

use crate::bounds::{Bounds, Edge};
use crate::error::{ErrorKind, Errors, InputError};
use crate::field::{Kind, Quantity};
use crate::value::Value;
use sojourn_units::{Amount, Bytes, Expected, Frequency, LinkRate, Packets, Prob, Rate, Span};

/// Quantities in text with a unit.
macro_rules! written_with_a_unit {
    ($($type:ty => $kind:ident, $example:literal;)*) => {$(
        impl Quantity for $type {
            fn kind() -> Kind {
                Kind::$kind
            }
            fn read(value: &Value) -> Result<Self, Errors> {
                match value {
                    Value::Text(text) => Ok(<$type>::parse(text)?),
                    // Without a unit; the error lists them.
                    Value::Number(_) | Value::Whole(_) => Ok(<$type>::parse(&value.to_string())?),
                    other => {
                        let expected = Expected::Like(format!("{:?}", $example));
                        Err(InputError::of_type(other, "is not text with a unit", expected).into())
                    }
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
    fn read(value: &Value) -> Result<f64, Errors> {
        match value {
            Value::Number(number) if number.is_finite() => Ok(*number),
            Value::Whole(number) => Ok(*number as f64),
            Value::Number(_) => {
                Err(InputError::new(ErrorKind::Range, "is not a finite number", "a finite one")
                    .found(value)
                    .into())
            }
            other => Err(InputError::of_type(other, "is not a number", Expected::Like("0.1".into())).into()),
        }
    }
    fn write(&self) -> Value {
        Value::Number(*self)
    }
}

impl Quantity for Prob {
    const BOUNDS: Bounds = Bounds::at_least(Edge::Whole(0)).to(Edge::Whole(1));

    fn kind() -> Kind {
        Kind::Number
    }
    fn read(value: &Value) -> Result<Prob, Errors> {
        let number = f64::read(value)?;
        Prob::new(number).ok_or_else(|| {
            InputError::new(ErrorKind::Range, "is not a probability", "0 to 1").found(value).into()
        })
    }
    fn write(&self) -> Value {
        Value::Number(self.get())
    }
}

impl Quantity for u64 {
    fn kind() -> Kind {
        Kind::Whole
    }
    fn read(value: &Value) -> Result<u64, Errors> {
        match value {
            Value::Whole(number) => u64::try_from(*number).map_err(|_| {
                InputError::new(ErrorKind::Range, "is negative", "0 or more").found(number).into()
            }),
            other => {
                Err(InputError::of_type(other, "is not a whole number", Expected::Like("50".into())).into())
            }
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
    fn read(value: &Value) -> Result<u32, Errors> {
        u32::try_from(u64::read(value)?).map_err(|_| {
            let expected = format!("at most {}", u32::MAX);
            InputError::new(ErrorKind::Range, "is too large", expected).found(value).into()
        })
    }
    fn write(&self) -> Value {
        Value::Whole(i64::from(*self))
    }
}

impl Quantity for Packets {
    fn kind() -> Kind {
        Kind::Packets
    }
    fn read(value: &Value) -> Result<Packets, Errors> {
        match value {
            Value::Text(text) => Ok(Packets::parse(text)?),
            _ => u32::read(value).map(Packets::new),
        }
    }
    fn write(&self) -> Value {
        self.get().write()
    }
}

impl Quantity for Vec<u64> {
    fn kind() -> Kind {
        Kind::Wholes
    }
    fn read(value: &Value) -> Result<Vec<u64>, Errors> {
        match value {
            Value::List(items) => items.iter().map(u64::read).collect(),
            Value::Whole(_) => u64::read(value).map(|number| vec![number]),
            other => {
                let expected = Expected::Like("[7, 9]".into());
                Err(InputError::of_type(other, "is not a list of whole numbers", expected).into())
            }
        }
    }
    fn write(&self) -> Value {
        Value::List(self.iter().map(Quantity::write).collect())
    }
}

impl Quantity for Vec<String> {
    fn kind() -> Kind {
        Kind::List(&Kind::Name)
    }
    fn read(value: &Value) -> Result<Vec<String>, Errors> {
        match value {
            Value::List(items) => items.iter().map(String::read).collect(),
            other => {
                let expected = Expected::Like(Self::kind().example().into());
                Err(InputError::of_type(other, "is not a list of names", expected).into())
            }
        }
    }
    fn write(&self) -> Value {
        Value::List(self.iter().map(Quantity::write).collect())
    }
}

/// Index of the word of a value of kind [`Kind::WordOrFlag`]: the first for true, none for false; `problem` is like
/// `is no form of PRR`.
pub fn word_or_flag(
    value: &Value,
    words: &[&'static str],
    problem: &str,
) -> Result<Option<usize>, InputError> {
    let expected = || Expected::one_of(forms_of_words(words));
    match value {
        Value::Flag(true) => Ok(Some(0)),
        Value::Flag(false) => Ok(None),
        Value::Text(text) => match words.iter().position(|word| word == text) {
            Some(place) => Ok(Some(place)),
            None => Err(quoted_flag(value).unwrap_or_else(|| {
                let error = InputError::unknown_name(text, problem, words.iter().copied());
                InputError { expected: expected(), ..error }
            })),
        },
        other => Err(InputError::of_type(other, problem, expected())),
    }
}

/// Error of true or false in quotes.
fn quoted_flag(value: &Value) -> Option<InputError> {
    match value {
        Value::Text(text) if text == "true" || text == "false" => {
            Some(InputError::of_type(value, "stands in quotes", format!("{text} without them")))
        }
        _ => None,
    }
}

/// All forms of a value of kind [`Kind::WordOrFlag`]: `rfc9406 or true, hybrid, false`.
pub fn forms_of_words(words: &[&str]) -> Vec<String> {
    let forms = words.iter().enumerate();
    let forms =
        forms.map(|(place, word)| if place == 0 { format!("{word} or true") } else { (*word).into() });
    forms.chain(["false".into()]).collect()
}

/// One of `words`, by its place; `problem` is like `is none of the words`.
pub fn word(value: &Value, words: &[&'static str], problem: &str) -> Result<usize, InputError> {
    match value {
        Value::Text(text) => words
            .iter()
            .position(|word| word == text)
            .ok_or_else(|| InputError::unknown_name(text, problem, words.iter().copied())),
        other => Err(InputError::of_type(other, problem, Expected::one_of(words.iter().copied()))),
    }
}

impl Quantity for bool {
    fn kind() -> Kind {
        Kind::Flag
    }
    fn read(value: &Value) -> Result<bool, Errors> {
        match value {
            Value::Flag(flag) => Ok(*flag),
            other => Err(quoted_flag(other)
                .unwrap_or_else(|| InputError::of_type(other, "is neither true nor false", "true or false"))
                .into()),
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
    fn read(value: &Value) -> Result<String, Errors> {
        match value {
            Value::Text(text) => Ok(text.clone()),
            other => Err(InputError::of_type(other, "is not text", "text in quotes").into()),
        }
    }
    fn write(&self) -> Value {
        Value::Text(self.clone())
    }
}

/// The entries of a table.
pub fn table_of(value: &Value) -> Result<&[(String, Value)], InputError> {
    match value {
        Value::Table(entries) => Ok(entries),
        _ => Err(InputError::of_type(value, "is not a table", Expected::Text("{ KEY = VALUE }".into()))),
    }
}

/// An optional parameter.
impl<T: Quantity> Quantity for Option<T> {
    const BOUNDS: Bounds = T::BOUNDS;
    const RULE: &'static str = T::RULE;

    fn kind() -> Kind {
        T::kind()
    }
    fn read(value: &Value) -> Result<Option<T>, Errors> {
        T::read(value).map(Some)
    }
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Absent, Quantity::write)
    }
}
