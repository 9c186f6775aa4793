//! Link and traffic parameters that a law is built from.

use sojourn_params::InputError;
use sojourn_units::{Amount, Rate, Span};
use std::fmt;

/// Link, buffer and expected traffic of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkContext {
    /// Link rate.
    pub rate: Rate,
    /// Mean packet size on the wire, bytes.
    pub packet: f64,
    /// Buffer limit, packets; infinite: unlimited.
    pub limit: f64,
    /// Expected number of long flows, if known.
    pub flows: Option<f64>,
    /// Base RTT, if known.
    pub base_rtt: Option<Span>,
}

/// Network model for the design of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Long flows, N.
    pub flows: f64,
    /// Link rate C, packets/s.
    pub capacity: f64,
    /// Round-trip time R at the operating point, s.
    pub rtt: f64,
}

impl LinkContext {
    /// Link rate, packets/s.
    pub fn capacity(&self) -> f64 {
        self.rate.packets_per_second(self.packet)
    }

    /// Number of long flows to design for: `given`, else the expected number; None: unknown.
    pub fn long_flows(&self, given: Option<f64>) -> Option<f64> {
        given.or(self.flows).filter(|flows| *flows > 0.0)
    }

    /// Converts an amount to packets.
    pub fn packets(&self, amount: Amount) -> f64 {
        amount.packets(self.packet, self.rate)
    }

    /// Target of a law, packets: `given`, an error above the buffer limit; else `usual`, at most half of the buffer.
    pub fn target(&self, given: Option<Amount>, usual: f64) -> Result<f64, InputError> {
        let Some(amount) = given else { return Ok(usual.min(self.limit / 2.0)) };
        let target = self.packets(amount);
        if target <= self.limit { Ok(target) } else { Err(self.above_the_buffer(amount).at("target")) }
    }

    /// Error of a queue length above the buffer limit.
    pub(crate) fn above_the_buffer(&self, found: impl fmt::Display) -> InputError {
        let problem = format!("is above the buffer of {} packets", self.limit);
        InputError::conflict(found, problem, "within the buffer")
    }
}

#[cfg(test)]
impl LinkContext {
    /// A link for tests: 8 Mbit/s, packets of 1000 B, a buffer of 300 packets, unknown traffic.
    pub(crate) fn example() -> LinkContext {
        LinkContext {
            rate: Rate::from_bits_per_second(8e6),
            packet: 1000.0,
            limit: 300.0,
            flows: None,
            base_rtt: None,
        }
    }
}
