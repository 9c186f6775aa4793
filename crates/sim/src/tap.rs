//! The interface through which the packets of a run are recorded, with their contents.
//!
//! A [`sojourn_measure::Probe`] measures events; a [`Tap`] sees headers. It is a type parameter of the simulation too,
//! and `()` taps nothing: all its calls are compiled away.

use sojourn_aqm::Cause;
use sojourn_tcp::{Segment, Sender};
use sojourn_units::{Ecn, Span, Time};

/// Receives the packets of ends and links, with their contents.
///
/// Events of one direction of a link come in the order of time, and so do those of an end, perhaps ahead of their time.
pub trait Tap {
    /// Packets are recorded; false: no method is called.
    const IS_ON: bool = true;

    /// Links whose packets are recorded, by number, which makes them shared ones.
    fn links(&self) -> Vec<u32>;
    /// A flow with the next number was added.
    fn joined(&mut self, _flow: Joined) {}
    /// An end sends a packet.
    fn sent(&mut self, _at: Time, _packet: Sight<'_>) {}
    /// The wire duplicated a packet; the copy is at this place of the pool.
    fn copied(&mut self, _from: u32, _to: u32) {}
    /// A packet of a connection arrives at the sender of its data.
    fn came_back(&mut self, _at: Time, _packet: Sight<'_>) {}
    /// A packet arrives at the near end of a link.
    fn offered(&mut self, _now: Time, _link: u32, _packet: Sight<'_>) {}
    /// The qdisc of a link marked a packet.
    fn marked(&mut self, _now: Time, _link: u32, _packet: Sight<'_>) {}
    /// The qdisc of a link dropped a packet.
    fn dropped(&mut self, _now: Time, _link: u32, _packet: Sight<'_>, _cause: Cause) {}
    /// A link begins to send a packet that waited for `sojourn`; it arrives at the far end at `arrival`, unless the wire
    /// has impairments: then [`Tap::crossed`] follows for those that do.
    fn transmitted(
        &mut self,
        _now: Time,
        _link: u32,
        _packet: Sight<'_>,
        _sojourn: Span,
        _arrival: Option<Time>,
    ) {
    }
    /// A packet arrives behind a wire with impairments.
    fn crossed(&mut self, _at: Time, _link: u32, _packet: Sight<'_>) {}
    /// All events up to `until` have been reported.
    fn settled(&mut self, _until: Time) {}
    /// The sender of a flow has processed an event.
    fn sender(&mut self, _at: Time, _flow: u32, _event: SenderEvent, _sender: &Sender) {}
}

/// Taps nothing.
impl Tap for () {
    const IS_ON: bool = false;

    fn links(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// A new flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Its number.
    pub flow: u32,
    /// The number of its class.
    pub class: u32,
    /// DSCP of its packets.
    pub dscp: u8,
    /// Payload of a full TCP segment without options, bytes; None: datagrams.
    pub mss: Option<u32>,
    /// The first leg of its way back: packets on earlier legs of the flow are on the way to the receiver.
    pub reverse: u32,
}

/// Event that a sender has processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderEvent {
    /// An acknowledgment, or segments sent.
    Progress,
    /// One of its timers has expired: that of retransmissions, of RACK, of a tail loss probe, of pacing.
    Timer,
}

/// A packet with its contents.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The number of its flow.
    pub flow: u32,
    /// The leg that it is on.
    pub leg: u32,
    /// Size with headers, bytes.
    pub size: u32,
    /// Present ECN codepoint.
    pub ecn: Ecn,
    /// Its contents.
    pub contents: Contents<'a>,
}

/// Contents of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Contents<'a> {
    /// A segment of a connection.
    Segment {
        /// The segment as it was sent: its ECN codepoint may have changed since.
        segment: &'a Segment,
        /// Number of the connection among those of its flow, to the last 16 bits.
        connection: u16,
        /// Place in the pool, which no other packet on its way has.
        place: u32,
    },
    /// The request of a transaction on a connection.
    Request(u16),
    /// A datagram.
    Datagram,
    /// Nothing legible: the wire has damaged it.
    Damaged,
}
