//! Quantities in units that can be converted only for a known network.

use crate::quantity_error::QuantityError;
use crate::size::{Bytes, Rate};
use crate::text::{
    self, FREQUENCY_UNITS, PACKET_RATE_UNITS, PACKET_UNITS, RATE_SPELLINGS, RATE_UNITS, SIZE_UNITS,
    TIME_UNITS,
};
use crate::time::Span;
use std::fmt;

/// A queue length: in packets, in bytes, or as the time it takes to drain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A number of packets (controllers may use fractions of one).
    Packets(f64),
    /// A number of bytes.
    Bytes(Bytes),
    /// Bytes that the link sends in this time.
    Delay(Span),
}

/// A link's rate, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkRate {
    /// Bits per second.
    Bits(Rate),
    /// Packets per second, of the scenario's segment size.
    Packets(f64),
}

/// A frequency, Hz.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Frequency(f64);

impl Amount {
    /// Reads `"300 packets"`, `"1.5 MB"` or `"20 ms"`.
    pub fn parse(text: &str) -> Result<Amount, QuantityError> {
        let (_, unit) = text::split(text);
        if has_unit(TIME_UNITS, unit) {
            return Span::parse(text).map(Amount::Delay);
        }
        if has_unit(SIZE_UNITS, unit) {
            return Bytes::parse(text).map(Amount::Bytes);
        }
        let units = [PACKET_UNITS, SIZE_UNITS, TIME_UNITS].concat();
        text::parse_float(text, &units, "a queue").map(Amount::Packets)
    }

    /// In packets of `packet` bytes on a link of `rate`.
    pub fn packets(self, packet: f64, rate: Rate) -> f64 {
        match self {
            Amount::Packets(count) => count,
            Amount::Bytes(size) => size.get() as f64 / packet,
            Amount::Delay(span) => span.seconds() * rate.packets_per_second(packet),
        }
    }
}

impl LinkRate {
    /// Reads `"8 Mbit/s"`, `"8 Mbps"` or `"1250 packets/s"`.
    pub fn parse(text: &str) -> Result<LinkRate, QuantityError> {
        let (_, unit) = text::split(text);
        if has_unit(PACKET_RATE_UNITS, unit) {
            return text::parse_float(text, PACKET_RATE_UNITS, "a rate").map(LinkRate::Packets);
        }
        let units = [RATE_UNITS, PACKET_RATE_UNITS, RATE_SPELLINGS].concat();
        let bits = text::parse_float(text, &units, "a rate")?;
        Ok(LinkRate::Bits(Rate::from_bits_per_second(bits)))
    }

    /// In bit/s, where packets are of `packet` bytes.
    pub fn bits(self, packet: f64) -> Rate {
        match self {
            LinkRate::Bits(rate) => rate,
            LinkRate::Packets(count) => Rate::from_bits_per_second(count * packet * 8.0),
        }
    }
}

impl Frequency {
    /// A frequency of `hertz`; None unless positive and finite.
    pub fn new(hertz: f64) -> Option<Frequency> {
        (hertz > 0.0 && hertz.is_finite()).then_some(Frequency(hertz))
    }

    /// The frequency, Hz.
    pub fn hertz(self) -> f64 {
        self.0
    }

    /// Period in whole nanoseconds (at least one).
    pub fn period(self) -> Span {
        Span::from_seconds(1.0 / self.0).max(Span::from_nanos(1))
    }

    /// Reads `"160 Hz"`.
    pub fn parse(text: &str) -> Result<Frequency, QuantityError> {
        let hertz = text::parse_float(text, FREQUENCY_UNITS, "a frequency")?;
        Frequency::new(hertz).ok_or_else(|| text::out_of_range(text, "is not a frequency", "more than 0 Hz"))
    }
}

fn has_unit(units: &[text::Unit], unit: &str) -> bool {
    units.iter().any(|(name, _)| *name == unit)
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Packets(count) => write!(f, "{count} packets"),
            Amount::Bytes(size) => size.fmt(f),
            Amount::Delay(span) => span.fmt(f),
        }
    }
}

impl fmt::Display for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkRate::Bits(rate) => rate.fmt(f),
            LinkRate::Packets(count) => write!(f, "{count} packets/s"),
        }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_in_three_units_is_the_same_queue() {
        let rate = Rate::parse("8 Mbit/s").unwrap();
        for text in ["100 packets", "100 kB", "100 ms"] {
            assert_eq!(Amount::parse(text).unwrap().packets(1000.0, rate), 100.0, "{text}");
        }
    }

    #[test]
    fn a_rate_in_packets_is_converted_by_the_segment() {
        let rate = LinkRate::parse("1250 packets/s").unwrap();
        assert_eq!(rate.bits(1000.0), Rate::parse("10 Mbit/s").unwrap());
    }

    #[test]
    fn errors_name_every_unit_of_the_quantity() {
        let error = Amount::parse("300").unwrap_err().to_string();
        assert!(error.contains("packets") && error.contains("MB") && error.contains("ms"), "{error}");
        let error = LinkRate::parse("-8 Mbit/s").unwrap_err().to_string();
        assert!(error.contains("negative"), "{error}");
        assert!(Frequency::parse("0 Hz").is_err());
    }
}
