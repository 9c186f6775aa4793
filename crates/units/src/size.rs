//! Sizes in bytes and rates in bits per second.

use crate::quantity_error::QuantityError;
use crate::text::{self, PACKET_UNITS, RATE_SPELLINGS, RATE_UNITS, SIZE_UNITS};
use crate::time::Span;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// A number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packets(u32);

/// A rate in bit/s; finite and never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(f64);

const BITS_PER_BYTE: f64 = 8.0;

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// A number of bytes.
    pub const fn new(count: u64) -> Bytes {
        Bytes(count)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bits.
    pub fn bits(self) -> f64 {
        self.0 as f64 * BITS_PER_BYTE
    }

    /// Reads `"1.5 MB"`.
    pub fn parse(text: &str) -> Result<Bytes, QuantityError> {
        let count = text::parse_exact(text, SIZE_UNITS, "a size")?;
        u64::try_from(count)
            .map(Bytes)
            .map_err(|_| text::out_of_range(text, "is too large", "at most 16 EiB"))
    }
}

impl Packets {
    /// A number of packets.
    pub const fn new(count: u32) -> Packets {
        Packets(count)
    }

    /// The number of packets.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Reads `"300 packets"`; a part of one is an error.
    pub fn parse(text: &str) -> Result<Packets, QuantityError> {
        let count = text::parse_float(text, PACKET_UNITS, "a number of packets")?;
        if count.fract() != 0.0 {
            return Err(text::out_of_range(text, "is not a whole number of packets", "whole packets"));
        }
        if count > f64::from(u32::MAX) {
            return Err(text::out_of_range(text, "is too large", "at most 4294967295 packets"));
        }
        Ok(Packets(count as u32))
    }
}

impl Rate {
    /// Rate 0.
    pub const ZERO: Rate = Rate(0.0);

    /// A rate of `bits` per second; NaN and negative values give zero.
    pub fn from_bits_per_second(bits: f64) -> Rate {
        Rate(if bits > 0.0 { bits.min(f64::MAX) } else { 0.0 })
    }

    /// Bits per second.
    pub fn bits_per_second(self) -> f64 {
        self.0
    }

    /// Packets of `packet` bytes per second.
    pub fn packets_per_second(self, packet: f64) -> f64 {
        self.0 / (packet * BITS_PER_BYTE)
    }

    /// Transmission time of `size`, to the nearest nanosecond; infinite at rate 0.
    pub fn time_for(self, size: Bytes) -> Span {
        Span::from_seconds(size.bits() / self.0)
    }

    /// Reads `"8 Mbit/s"`.
    pub fn parse(text: &str) -> Result<Rate, QuantityError> {
        text::parse_float(text, &[RATE_UNITS, RATE_SPELLINGS].concat(), "a rate").map(Rate)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            0..10_000 => ("B", 1),
            10_000..1_000_000 => ("kB", 1_000),
            1_000_000..1_000_000_000 => ("MB", 1_000_000),
            _ => ("GB", 1_000_000_000),
        };
        write!(f, "{} {unit}", text::decimal(self.0, scale))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, scale) in RATE_UNITS[1..5].iter().rev() {
            let value = self.0 / *scale as f64;
            // Only a spelling that reads back as the same rate is used.
            if value >= 1.0 && value * *scale as f64 == self.0 {
                return write!(f, "{value} {unit}");
            }
        }
        write!(f, "{} bit/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_its_bits_over_the_rate() {
        let rate = Rate::parse("8 Mbit/s").unwrap();
        assert_eq!(rate.time_for(Bytes::new(1000)), Span::from_millis(1));
        assert_eq!(rate.packets_per_second(1000.0), 1000.0);
        assert!(Rate::ZERO.time_for(Bytes::new(1)) > Span::from_secs(1 << 30));
    }

    #[test]
    fn the_units_of_providers_are_bits() {
        for (text, bits) in [
            ("10 Mbps", 1e7),
            ("10mbps", 1e7),
            ("10 Mb/s", 1e7),
            ("10 mbit/s", 1e7),
            ("64 kbps", 64e3),
            ("64 Kbps", 64e3),
            ("64 kb/s", 64e3),
            ("2.5 Gbps", 2.5e9),
            ("2.5 gbps", 2.5e9),
            ("1 Tbps", 1e12),
            ("9600 bps", 9600.0),
        ] {
            assert_eq!(Rate::parse(text).map(Rate::bits_per_second), Ok(bits), "{text}");
        }
    }

    #[test]
    fn a_rate_in_bytes_is_never_proposed_alone() {
        for (text, meant) in [
            ("10 MBps", "did you mean \"Mbit/s\" or, in bytes, \"MB/s\"?"),
            ("10 KBps", "did you mean \"kbit/s\" or, in bytes, \"kB/s\"?"),
            ("10 mB/s", "did you mean \"Mbit/s\" or, in bytes, \"MB/s\"?"),
            ("10 Mbits/s", "did you mean \"Mbit/s\"?"),
            ("10 MBit/s", "did you mean \"Mbit/s\"?"),
        ] {
            let refused = Rate::parse(text).unwrap_err().to_string();
            assert!(refused.contains(meant), "{text}: {refused}");
        }
        let refused = Rate::parse("8 \u{41c}bit/s").unwrap_err().to_string();
        assert!(
            refused.contains("is not a unit of a rate (it holds '\u{41c}', U+041C) (expected "),
            "{refused}"
        );
        let refused = Rate::parse("\u{ff18} Mbit/s").unwrap_err().to_string();
        assert!(
            refused.contains("is not a number with a unit (it holds '\u{ff18}', U+FF18); write it"),
            "{refused}"
        );
        let refused = Rate::parse("8 miles").unwrap_err().to_string();
        assert_eq!(
            refused,
            "\"miles\" is not a unit of a rate \
             (expected bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s, GB/s)"
        );
    }

    #[test]
    fn quantities_are_written_with_common_units() {
        assert_eq!(Rate::parse("8 Mbit/s").unwrap().to_string(), "8 Mbit/s");
        assert_eq!(Rate::parse("1.5 MB/s").unwrap().to_string(), "12 Mbit/s");
        assert_eq!(Rate::parse("0.1 bit/s").unwrap().to_string(), "0.1 bit/s");
        assert_eq!(Bytes::parse("1.5 MB").unwrap().to_string(), "1.5 MB");
        assert_eq!(Bytes::parse("1500B").unwrap().to_string(), "1500 B");
    }

    #[test]
    fn numbers_of_packets_are_whole() {
        for text in ["300 packets", "300packets", "3e2 packets"] {
            assert_eq!(Packets::parse(text), Ok(Packets::new(300)), "{text}");
        }
        assert_eq!(Packets::parse("1 packet").unwrap().get(), 1);
        for (text, problem) in [
            ("1.5 packets", "is not a whole number of packets; expected whole packets"),
            ("1e10 packets", "is too large; expected at most 4294967295 packets"),
            ("-1 packets", "is negative; expected a number of packets of at least 0"),
            ("300", "needs a unit (expected packets, packet)"),
        ] {
            assert_eq!(Packets::parse(text).unwrap_err().to_string(), format!("\"{text}\" {problem}"));
        }
    }
}
