//! Instants and durations in whole nanoseconds.

use crate::quantity_error::QuantityError;
use crate::text::{self, TIME_UNITS};
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A duration in nanoseconds; never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

const NANOS_PER_SECOND: f64 = 1e9;

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every event.
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND
    }

    /// Time since `earlier`; zero where it is not later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Zero.
    pub const ZERO: Span = Span(0);

    /// A duration of whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// A duration of whole microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000)
    }

    /// A duration of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// A duration of whole seconds.
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * 1_000_000_000)
    }

    /// The nearest nanosecond to `seconds`; negative and NaN give zero.
    pub fn from_seconds(seconds: f64) -> Span {
        // Integers and the distance to them are exact here; `round` is a function call on most processors.
        let nanos = seconds * NANOS_PER_SECOND;
        let whole = nanos as u64;
        let up = nanos - whole as f64 >= 0.5;
        Span(whole.saturating_add(u64::from(up)))
    }

    /// Whole nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND
    }

    /// The longer of this duration and `other`.
    pub fn max(self, other: Span) -> Span {
        Ord::max(self, other)
    }

    /// This duration less `other`, at least zero.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// This duration times `factor`, saturating.
    pub const fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }

    /// Reads `"20 ms"`; units from ns to h.
    pub fn parse(text: &str) -> Result<Span, QuantityError> {
        text::parse_exact(text, TIME_UNITS, "a time").and_then(|nanos| {
            u64::try_from(nanos)
                .map(Span)
                .map_err(|_| text::out_of_range(text, "is too long", "at most 584 years"))
        })
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        Span(self.0 * factor)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            1..1_000 => ("ns", 1),
            1_000..1_000_000 => ("us", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000),
        };
        write!(f, "{} {unit}", text::decimal(self.0, scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_with_the_largest_unit_that_fits() {
        assert_eq!(Span::from_millis(20).to_string(), "20 ms");
        assert_eq!(Span::from_seconds(1.5).to_string(), "1.5 s");
        assert_eq!(Span::from_nanos(1_234_567).to_string(), "1.234567 ms");
        assert_eq!(Span::ZERO.to_string(), "0 s");
    }

    #[test]
    fn seconds_are_rounded_to_the_nearest_nanosecond() {
        for nanos in [0.0, 0.49999999999999994, 0.5, 1.5, 2.5, 4503599627370495.5, 9e15, 1e30, -0.6, f64::NAN]
        {
            assert_eq!(
                Span::from_seconds(nanos / 1e9).nanos(),
                (nanos / 1e9 * 1e9).round() as u64,
                "{nanos}"
            );
        }
    }

    #[test]
    fn read_exactly() {
        assert_eq!(Span::parse("20 ms"), Ok(Span::from_millis(20)));
        assert_eq!(Span::parse("0.3us"), Ok(Span::from_nanos(300)));
        assert_eq!(Span::parse("1e-3 s"), Ok(Span::from_millis(1)));
        assert_eq!(Span::parse("2 min"), Ok(Span::from_secs(120)));
        assert_eq!(Span::parse("9007199254740993 ns"), Ok(Span::from_nanos(9_007_199_254_740_993)));
    }

    #[test]
    fn an_error_names_the_expected_form() {
        for (text, hint) in [
            ("20", "needs a unit"),
            ("-20 ms", "negative"),
            ("20 MS", "\"ms\""),
            ("nan ms", "not a number"),
            ("1e300 s", "too large"),
            ("", "empty"),
        ] {
            let error = Span::parse(text).unwrap_err().to_string();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
    }
}
