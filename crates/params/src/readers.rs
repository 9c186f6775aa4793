//! Types of parameters: reading and writing of their values.

use crate::field::{Kind, Quantity};
use crate::value::Value;
use sojourn_units::{Amount, Bytes, Frequency, LinkRate, Prob, Rate, Span, did_you_mean};

/// Quantities in text with a unit.
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
                        let is_explained = refusal.contains("write it like");
                        Err(if is_explained { refusal } else { format!("{refusal}; write it like {:?}", $example) })
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
        Prob::new(number).ok_or_else(|| format!("{number} is not a probability; expected 0 to 1"))
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
                u64::try_from(*number).map_err(|_| format!("{number} is negative; expected 0 or more"))
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
            .map_err(|_| format!("{value} is too large; expected at most {}", u32::MAX))
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

/// Index of the word of a value of kind [`Kind::WordOrFlag`]: the first for true, none for false.
///
/// Errors: a suggestion of a similar word, empty where there is none.
pub fn word_or_flag(value: &Value, words: &[&'static str]) -> Result<Option<usize>, String> {
    match value {
        Value::Flag(true) => Ok(Some(0)),
        Value::Flag(false) => Ok(None),
        Value::Text(text) => match words.iter().position(|word| word == text) {
            Some(place) => Ok(Some(place)),
            None => Err(did_you_mean(text, words.iter().copied())),
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

/// An optional parameter.
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
