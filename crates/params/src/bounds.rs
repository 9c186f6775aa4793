//! Ranges of parameters.

use crate::field::Quantity;
use crate::value::Value;
use serde_core::ser::{Serialize, SerializeStruct, Serializer};
use sojourn_units::{Amount, Bytes, Frequency, LinkRate, Packets, Prob, Rate, Span};
use std::cmp::Ordering;
use std::fmt;

/// The interval of a parameter's values.
///
/// ```
/// use sojourn_params::{Bounds, Edge};
/// const SHARE: Bounds = Bounds::above(Edge::Number(0.0)).to(Edge::Number(1.0));
/// assert!(SHARE.contain(&1.0) && !SHARE.contain(&0.0));
/// assert_eq!(SHARE.to_string(), "more than 0, at most 1");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The lower end, if there is one.
    pub low: Option<Bound>,
    /// The upper end, if there is one.
    pub high: Option<Bound>,
}

/// One end of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Its place.
    pub at: Edge,
    /// True if the interval does not contain it.
    pub is_open: bool,
}

/// A value at an end of an interval, as a file has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edge {
    /// An integer; zero also of a queue, whatever its unit.
    Whole(i64),
    /// A plain number.
    Number(f64),
    /// A quantity with its unit.
    Text(&'static str),
}

/// A type whose values have an order, so that its parameters may have bounds.
pub trait Ordered: Quantity {
    /// The order of the value and an edge; none where the two do not compare.
    fn order(&self, edge: Edge) -> Option<Ordering>;
}

impl Bounds {
    /// Any value.
    pub const NONE: Bounds = Bounds { low: None, high: None };

    /// From `low` on.
    pub const fn at_least(low: Edge) -> Bounds {
        Bounds { low: Some(Bound { at: low, is_open: false }), high: None }
    }

    /// More than `low`.
    pub const fn above(low: Edge) -> Bounds {
        Bounds { low: Some(Bound { at: low, is_open: true }), high: None }
    }

    /// The same up to `high`.
    pub const fn to(self, high: Edge) -> Bounds {
        Bounds { high: Some(Bound { at: high, is_open: false }), ..self }
    }

    /// The same up to, but not including, `high`.
    pub const fn below(self, high: Edge) -> Bounds {
        Bounds { high: Some(Bound { at: high, is_open: true }), ..self }
    }

    /// The same, with the ends of `other` where it has none.
    pub fn or(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.or(other.low), high: self.high.or(other.high) }
    }

    /// True without ends.
    pub fn is_none(&self) -> bool {
        *self == Bounds::NONE
    }

    /// True for a value between the ends, and for one that does not compare with them.
    pub fn contain<T: Ordered>(&self, value: &T) -> bool {
        let is_outside = |bound: Option<Bound>, outside: Ordering| {
            bound.is_some_and(|bound| match value.order(bound.at) {
                Some(Ordering::Equal) => bound.is_open,
                order => order == Some(outside),
            })
        };
        !is_outside(self.low, Ordering::Less) && !is_outside(self.high, Ordering::Greater)
    }
}

impl Edge {
    /// The edge as a value.
    pub fn value(self) -> Value {
        match self {
            Edge::Whole(whole) => Value::Whole(whole),
            Edge::Number(number) => Value::Number(number),
            Edge::Text(text) => Value::Text(text.into()),
        }
    }

    /// The edge as a quantity.
    fn read<T: Quantity>(self) -> T {
        T::read(&self.value()).expect("a bound is written as a value of its parameter")
    }

    /// The edge of numbers.
    fn number(self) -> f64 {
        self.read()
    }
}

impl From<i64> for Edge {
    fn from(whole: i64) -> Edge {
        Edge::Whole(whole)
    }
}

impl From<f64> for Edge {
    fn from(number: f64) -> Edge {
        Edge::Number(number)
    }
}

impl From<&'static str> for Edge {
    fn from(text: &'static str) -> Edge {
        Edge::Text(text)
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edge::Whole(whole) => whole.fmt(f),
            Edge::Number(number) if number.abs() >= 1e6 => write!(f, "{number:e}"),
            Edge::Number(number) => number.fmt(f),
            Edge::Text(text) => f.write_str(text),
        }
    }
}

/// In words: `1 to 100`; `more than 0, at most 1`; empty without ends.
impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = |bound: Bound| {
            let words = if bound.is_open { "more than" } else { "at least" };
            format!("{words} {}", bound.at)
        };
        let high = |bound: Bound| {
            let words = if bound.is_open { "less than" } else { "at most" };
            format!("{words} {}", bound.at)
        };
        match (self.low, self.high) {
            (None, None) => Ok(()),
            (Some(least), None) => f.write_str(&low(least)),
            (None, Some(most)) => f.write_str(&high(most)),
            (Some(least), Some(most)) if !least.is_open && !most.is_open => {
                write!(f, "{} to {}", least.at, most.at)
            }
            (Some(least), Some(most)) => write!(f, "{}, {}", low(least), high(most)),
        }
    }
}

/// `{ "low": 0, "high": 1, "open": ["low"] }`, where `open` lists the ends that are not in it; null without ends.
impl Serialize for Bounds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_none() {
            return serializer.serialize_none();
        }
        let end = |bound: Option<Bound>| bound.map_or(Value::Absent, |bound| bound.at.value());
        let ends = [("low", self.low), ("high", self.high)];
        let open = ends.iter().filter(|(_, bound)| bound.is_some_and(|bound| bound.is_open));
        let mut bounds = serializer.serialize_struct("Bounds", 3)?;
        bounds.serialize_field("low", &end(self.low))?;
        bounds.serialize_field("high", &end(self.high))?;
        bounds.serialize_field("open", &open.map(|(name, _)| *name).collect::<Vec<_>>())?;
        bounds.end()
    }
}

/// Types whose values compare as they are.
macro_rules! ordered {
    ($($type:ty),*) => {$(
        impl Ordered for $type {
            fn order(&self, edge: Edge) -> Option<Ordering> {
                self.partial_cmp(&edge.read::<$type>())
            }
        }
    )*};
}

ordered!(f64, u32, u64, Packets, Prob, Span, Bytes, Rate, Frequency);

/// By the number, whatever its unit: only zero is the same in all of them.
impl Ordered for Amount {
    fn order(&self, edge: Edge) -> Option<Ordering> {
        let number = match self {
            Amount::Packets(count) => *count,
            Amount::Bytes(size) => size.get() as f64,
            Amount::Delay(span) => span.seconds(),
        };
        number.partial_cmp(&edge.number())
    }
}

/// Rates of one unit; packets and bits compare where the size of a packet is known.
impl Ordered for LinkRate {
    fn order(&self, edge: Edge) -> Option<Ordering> {
        match (self, edge.read()) {
            (LinkRate::Bits(rate), LinkRate::Bits(edge)) => rate.partial_cmp(&edge),
            (LinkRate::Packets(count), LinkRate::Packets(edge)) => count.partial_cmp(&edge),
            _ => None,
        }
    }
}

/// A value that is not given has no order.
impl<T: Ordered> Ordered for Option<T> {
    fn order(&self, edge: Edge) -> Option<Ordering> {
        self.as_ref().and_then(|value| value.order(edge))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Bounds = Bounds::above(Edge::Text("0 s")).to(Edge::Text("1 h"));

    #[test]
    fn an_open_end_is_not_in_the_interval() {
        assert!(!TIMES.contain(&Span::ZERO) && TIMES.contain(&Span::from_nanos(1)));
        assert!(TIMES.contain(&Span::from_secs(3600)) && !TIMES.contain(&Span::from_secs(3601)));
        let share = Bounds::at_least(Edge::Number(0.0)).below(Edge::Number(1.0));
        assert!(share.contain(&0.0) && !share.contain(&1.0) && !share.contain(&-0.1));
        assert!(share.contain(&None::<f64>) && Bounds::NONE.contain(&f64::MAX));
    }

    #[test]
    fn zero_is_the_same_queue_in_any_unit() {
        let positive = Bounds::above(Edge::Whole(0));
        for (text, is_positive) in [("0 packets", false), ("0 B", false), ("0 s", false), ("1 ms", true)] {
            assert_eq!(positive.contain(&Amount::parse(text).unwrap()), is_positive, "{text}");
        }
    }

    #[test]
    fn packets_and_bits_do_not_compare() {
        let rates = Bounds::at_least(Edge::Text("1 bit/s")).to(Edge::Text("1 kbit/s"));
        for (text, is_within) in [("0 bit/s", false), ("1 kbit/s", true), ("1e9 packets/s", true)] {
            assert_eq!(rates.contain(&LinkRate::parse(text).unwrap()), is_within, "{text}");
        }
    }

    #[test]
    fn words_say_which_ends_are_open() {
        let [zero, million] = [Edge::Number(0.0), Edge::Number(1e6)];
        for (bounds, words) in [
            (Bounds::NONE, ""),
            (Bounds::at_least(zero), "at least 0"),
            (Bounds::above(zero), "more than 0"),
            (Bounds::NONE.to(zero), "at most 0"),
            (Bounds::at_least(zero).to(million), "0 to 1e6"),
            (Bounds::at_least(zero).below(million), "at least 0, less than 1e6"),
            (Bounds::above(zero).below(million), "more than 0, less than 1e6"),
            (TIMES, "more than 0 s, at most 1 h"),
        ] {
            assert_eq!(bounds.to_string(), words);
        }
    }
}
