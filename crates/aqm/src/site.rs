//! Where a law is put: what it may know of its link and its traffic when it is built.

use sojourn_units::{Amount, Fault, Rate, Span};

/// The place of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// The link's rate.
    pub rate: Rate,
    /// Mean packet size on the wire, bytes.
    pub packet: f64,
    /// The buffer's limit, packets; infinite where there is none.
    pub limit: f64,
    /// How many long flows are expected, where that is known.
    pub flows: Option<f64>,
    /// The round-trip time without queueing, where that is known.
    pub base_rtt: Option<Span>,
}

/// The network that a controller is designed for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Long flows, N.
    pub flows: f64,
    /// Link rate C, packets/s.
    pub capacity: f64,
    /// Round-trip time R at the operating point, s.
    pub rtt: f64,
}

impl Site {
    /// The link's rate, packets/s.
    pub fn capacity(&self) -> f64 {
        self.rate.packets_per_second(self.packet)
    }

    /// The long flows to design for: those that a law is given, or else those that are expected; none is unknown.
    pub fn long_flows(&self, given: Option<f64>) -> Option<f64> {
        given.or(self.flows).filter(|flows| *flows > 0.0)
    }

    /// A length of queue, in packets.
    pub fn packets(&self, amount: Amount) -> f64 {
        amount.packets(self.packet, self.rate)
    }

    /// A target of a law, in packets: what is given, refused where the buffer cannot hold it, or else `usual`
    /// packets, half of the buffer where that is less.
    pub fn target(&self, given: Option<Amount>, usual: f64) -> Result<f64, Fault> {
        let Some(amount) = given else { return Ok(usual.min(self.limit / 2.0)) };
        let target = self.packets(amount);
        if target <= self.limit {
            return Ok(target);
        }
        let what =
            format!("{amount} is above the buffer of {} packets; legal: within the buffer", self.limit);
        Err(Fault::new("target", what))
    }
}
