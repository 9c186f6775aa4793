//! What a disc is: the holder of packets.

use crate::law::{Backlog, FlowId, Gauges, Given};
use sojourn_units::{Amount, Ecn, Fault, Rate, Span, Time};
use std::fmt;

/// What a disc needs to know of a packet.
pub trait Packet {
    /// Size on the wire, bytes.
    fn len(&self) -> u32;
    /// Its ECN bits.
    fn ecn(&self) -> Ecn;
    /// Sets congestion experienced; only asked of ECN-capable packets.
    fn set_ce(&mut self);
    /// Its flow.
    fn flow(&self) -> FlowId;
    /// Whether it carries nothing; a packet never does.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The law said so.
    Law,
    /// The buffer was full.
    Overflow,
}

/// Who is told of the packets that do not simply pass.
pub trait Sink<P> {
    /// The packet is gone.
    fn dropped(&mut self, now: Time, packet: P, cause: Cause);
    /// The packet now carries congestion experienced.
    fn marked(&mut self, now: Time, packet: &P);
}

/// A holder of packets in front of a link.
pub trait Disc<P: Packet>: Send {
    /// A packet arrives.
    fn enqueue(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>);
    /// The link asks for a packet; the answer comes with how long it was held.
    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)>;
    /// When the disc wants to be updated next.
    fn next_update(&self) -> Option<Time>;
    /// An update that was due at `due` and happens at `now`.
    fn on_update(&mut self, due: Time, now: Time);
    /// The link has a new rate.
    fn link_changed(&mut self, now: Time, rate: Rate);
    /// Its law is given these parameters besides those that it was given before. Where the law refuses, nothing has changed.
    fn retune(&mut self, now: Time, set: &Given) -> Result<(), Fault>;
    /// What is held.
    fn backlog(&self) -> Backlog;
    /// What has come and gone since the start.
    fn counts(&self) -> Counts;
    /// The backlog that the law tries to hold, packets.
    fn target_packets(&self) -> Option<f64>;
    /// Shows the law's inner values.
    fn gauges(&self, out: &mut dyn Gauges);
}

/// Packets since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that asked to be let in.
    pub offered: u64,
    /// Packets handed to the link.
    pub delivered: u64,
    /// Packets dropped by the law.
    pub dropped_by_law: u64,
    /// Packets dropped because the buffer was full.
    pub overflowed: u64,
    /// Packets marked and let in.
    pub marked: u64,
}

impl Counts {
    /// Packets dropped for whatever cause.
    pub fn dropped(&self) -> u64 {
        self.dropped_by_law + self.overflowed
    }

    /// Whether every packet is accounted for: offered = delivered + dropped + held.
    pub fn conserve(&self, held: u32) -> bool {
        self.offered == self.delivered + self.dropped() + u64::from(held)
    }
}

/// How much a disc may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
    /// Whatever comes.
    Unlimited,
}

impl Limit {
    /// Whether a packet of `len` bytes still fits on top of `backlog`.
    pub fn admits(self, backlog: Backlog, len: u32) -> bool {
        match self {
            Limit::Packets(most) => backlog.packets < most,
            Limit::Bytes(most) => backlog.bytes + u64::from(len) <= most,
            Limit::Unlimited => true,
        }
    }

    /// The limit in packets of `packet` bytes; infinite where there is none.
    pub fn packets(self, packet: f64) -> f64 {
        match self {
            Limit::Packets(most) => f64::from(most),
            Limit::Bytes(most) => most as f64 / packet,
            Limit::Unlimited => f64::INFINITY,
        }
    }

    /// The limit that an amount means for packets of `packet` bytes on a link of `rate`.
    pub fn from_amount(amount: Amount, rate: Rate) -> Limit {
        match amount {
            Amount::Packets(most) => Limit::Packets(most as u32),
            Amount::Bytes(most) => Limit::Bytes(most.get()),
            Amount::Delay(span) => Limit::Bytes((rate.bits_per_second() * span.seconds() / 8.0) as u64),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(most) => write!(f, "{most} packets"),
            Limit::Bytes(most) => sojourn_units::Bytes::new(*most).fmt(f),
            Limit::Unlimited => f.write_str("no limit"),
        }
    }
}
