//! The interface through which a run of packets is observed.

use crate::{ProbeTime, RoundTrip};
use sojourn_aqm::{Backlog, Cause};
use sojourn_units::{Span, Time};

/// Receives all events that are measured.
///
/// Events of a link come in the order of time. So do those of a flow, but perhaps ahead of their time, and those of two
/// flows in any order. Every method does nothing unless it is overridden, and a probe is a type parameter: an event that
/// is not observed costs nothing.
pub trait Probe {
    /// Enables [`Probe::backlog`], for which the qdisc is queried.
    const NEEDS_BACKLOG: bool = true;

    /// Backlog of the qdisc of `link` from `now` on.
    fn backlog(&mut self, _now: Time, _link: u32, _backlog: Backlog) {}
    /// A packet was offered to the qdisc of `link`.
    fn offered(&mut self, _now: Time, _link: u32, _packet: Queued) {}
    /// The qdisc of `link` handed over a packet that it held for `sojourn`.
    fn delivered(&mut self, _now: Time, _link: u32, _packet: Queued, _sojourn: Span) {}
    /// The next packet that the qdisc of `link` drops is the one that it is offered.
    fn refused(&mut self, _now: Time, _link: u32) {}
    /// The qdisc of `link` dropped a packet.
    fn dropped(&mut self, _now: Time, _link: u32, _packet: Queued, _cause: Cause) {}
    /// The qdisc of `link` marked a packet.
    fn marked(&mut self, _now: Time, _link: u32, _packet: Queued) {}
    /// The wire of `link` lost or damaged a packet of `flow`; `at` is its time of arrival at the far end, perhaps ahead.
    fn lost(&mut self, _at: Time, _link: u32, _flow: u32) {}
    /// A flow of `class` with the next number was added.
    fn joined(&mut self, _flow: u32, _class: u32) {}
    /// A flow of `class` begins; its number may have belonged to one of the class that has ended.
    fn began(&mut self, _at: Time, _flow: u32, _class: u32) {}
    /// A flow of `class` was rejected: the class had its maximum of flows.
    fn rejected(&mut self, _at: Time, _class: u32) {}
    /// The transfer that a flow began at `started` has reached the receiver's application in full.
    fn completed(&mut self, _at: Time, _flow: u32, _started: Time) {}
    /// Time that a flow's player played since its last report, and time that it stalled.
    fn played(&mut self, _at: Time, _flow: u32, _played: Span, _stalled: Span) {}
    /// A probe of a responsiveness test over this flow's user is answered, so long after it was sent.
    fn probed(&mut self, _at: Time, _flow: u32, _of: ProbeTime, _duration: Span) {}
    /// A flow's receiver takes in `bytes` of data, which its application reads at once.
    fn received(&mut self, _at: Time, _flow: u32, _bytes: u64) {}
    /// A flow's application, which reads at a rate of its own, has read from `since` to `at`; `by` gives the bytes read
    /// in all at a time between the two.
    fn read(&mut self, _since: Time, _at: Time, _flow: u32, _by: &dyn Fn(Time) -> u64) {}
    /// A flow sends a datagram.
    fn sent(&mut self, _at: Time, _flow: u32) {}
    /// A datagram arrives `delay` after it was sent.
    fn datagram(&mut self, _at: Time, _flow: u32, _delay: Span) {}
    /// A datagram comes back `rtt` after it was sent.
    fn came_back(&mut self, _at: Time, _flow: u32, _rtt: Span) {}
    /// The sender has processed the acknowledgment of timed packets.
    fn round_trip(&mut self, _at: Time, _flow: u32, _measured: RoundTrip) {}
    /// Congestion window of a flow after an action of its sender.
    fn window(&mut self, _at: Time, _flow: u32, _window: Cwnd) {}
    /// A flow has stopped sending new data.
    fn stopped(&mut self, _at: Time, _flow: u32) {}
}

/// A packet at a qdisc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Number of its flow.
    pub flow: u32,
    /// Number of its queue among those that the qdisc names; without meaning where it names none.
    pub queue: u8,
}

/// A congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cwnd {
    /// The window, bytes.
    pub bytes: u64,
    /// Payload of a full segment, bytes.
    pub segment: u32,
}
