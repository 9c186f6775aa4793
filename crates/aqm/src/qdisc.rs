//! Queueing disciplines: they hold packets in front of a link.

use crate::flow_shares::FlowShares;
use crate::gauges::Gauges;
use crate::law::{Backlog, FlowId};
use sojourn_params::{Given, InputError};
use sojourn_units::{Amount, Ecn, Rate, Span, Time};
use std::fmt;

/// A packet as a qdisc sees it.
pub trait Packet {
    /// Size on the wire, bytes.
    fn len(&self) -> u32;
    /// ECN bits.
    fn ecn(&self) -> Ecn;
    /// Sets congestion experienced; called for ECN-capable packets only.
    fn set_ce(&mut self);
    /// Flow.
    fn flow(&self) -> FlowId;
    /// True for a length of 0, which no packet has.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Cause of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Verdict of the law.
    Law,
    /// Full buffer.
    Overflow,
    /// A filter of ACKs: a later one acknowledges more.
    AckFilter,
}

/// Receiver of drops and marks, and reader of what packets carry.
pub trait Sink<P> {
    /// A packet was dropped.
    fn dropped(&mut self, now: Time, packet: P, cause: Cause);
    /// A packet was marked with congestion experienced.
    fn marked(&mut self, now: Time, packet: &P);
    /// The acknowledgment in the header of a TCP segment; None: the packet carries none. Packets stay small, as those of
    /// a plant keep their contents elsewhere; only a filter of ACKs reads them.
    fn ack(&self, _packet: &P) -> Option<Ack> {
        None
    }
}

/// The acknowledgment of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Number of its connection among those of its flow.
    pub connection: u32,
    /// Next byte expected.
    pub number: u64,
    /// Blocks of the SACK option, the latest first, each from its first byte to the one after its last; empty: none.
    pub sack: [(u64, u64); 3],
    /// It carries no payload, and no control bit beside ACK.
    pub is_pure: bool,
}

/// Properties of a flow that classifiers use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowTag {
    /// Number of its class.
    pub class: u32,
    /// Number of the host that its packets come from.
    pub from_host: u32,
    /// Number of the host that they go to.
    pub to_host: u32,
    /// DSCP of its packets.
    pub dscp: u8,
    /// Base RTT of its path; None: unknown. A router estimates it, as from a handshake that it forwards; a scenario knows it.
    pub base_rtt: Option<Span>,
}

/// A queueing discipline in front of a link.
pub trait Qdisc<P: Packet>: Send {
    /// A packet arrives.
    fn enqueue(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>);
    /// Takes the next packet for the link, with its sojourn time.
    fn dequeue(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<(P, Span)>;
    /// Time of the next update.
    fn next_update(&self) -> Option<Time>;
    /// The update due at `due`, at `now`.
    fn on_update(&mut self, due: Time, now: Time);
    /// The link rate has changed.
    fn link_changed(&mut self, now: Time, rate: Rate);
    /// A flow has packets from now on. A flow without a call has the default tag.
    fn flow_joined(&mut self, _flow: FlowId, _tag: FlowTag) {}
    /// A flow begins a new connection; on a real network its packets would have a new 5-tuple.
    fn connection_began(&mut self, _now: Time, _flow: FlowId) {}
    /// Time before which no packet can be taken, though some are held; in the past for a qdisc that does not wait. An
    /// arrival may make it earlier.
    fn not_before(&self) -> Time {
        Time::ZERO
    }
    /// Sets those parameters that `change` gives; the others keep their values. On an error nothing has changed.
    fn set_params(&mut self, now: Time, change: &Given) -> Result<(), InputError>;
    /// It may remove ACKs.
    fn filters_acks(&self) -> bool {
        false
    }
    /// Names of its queues, or of groups of them, which measurements distinguish; none where all packets are alike.
    fn queue_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// Number, among `queue_names`, of the queue that a packet goes to when it arrives; called only where there are names.
    fn queue_of(&self, _packet: &P) -> u8 {
        0
    }
    /// Its shares of flows, where they may be set from outside.
    fn shares(&mut self) -> Option<&mut dyn FlowShares> {
        None
    }
    /// Backlog.
    fn backlog(&self) -> Backlog;
    /// Counts since the start.
    fn counts(&self) -> Counts;
    /// Target backlog of the law, packets.
    fn target_packets(&self) -> Option<f64>;
    /// Reports the law's inner values.
    fn gauges(&self, out: &mut dyn Gauges);
}

/// Packet counts since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets arrived.
    pub offered: u64,
    /// Packets departed to the link.
    pub delivered: u64,
    /// Packets dropped by the law.
    pub dropped_by_law: u64,
    /// Packets dropped at a full buffer.
    pub overflowed: u64,
    /// ACKs removed by a filter.
    pub filtered: u64,
    /// Packets marked.
    pub marked: u64,
}

impl Counts {
    /// Packets dropped, whatever the cause.
    pub fn dropped(&self) -> u64 {
        self.dropped_by_law + self.overflowed + self.filtered
    }

    /// Conservation of packets: offered = delivered + dropped + held.
    pub fn conserve(&self, held: u32) -> bool {
        self.offered == self.delivered + self.dropped() + u64::from(held)
    }
}

/// Capacity of a qdisc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(u64),
    /// Unlimited.
    Unlimited,
}

impl Limit {
    /// True if a packet of `len` bytes fits on top of `backlog`.
    pub fn admits(self, backlog: Backlog, len: u32) -> bool {
        match self {
            Limit::Packets(most) => backlog.packets < most,
            Limit::Bytes(most) => backlog.bytes + u64::from(len) <= most,
            Limit::Unlimited => true,
        }
    }

    /// Limit in packets of `packet` bytes; infinite: unlimited.
    pub fn packets(self, packet: f64) -> f64 {
        match self {
            Limit::Packets(most) => f64::from(most),
            Limit::Bytes(most) => most as f64 / packet,
            Limit::Unlimited => f64::INFINITY,
        }
    }

    /// Limit from an amount; a delay is converted at `rate`.
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
