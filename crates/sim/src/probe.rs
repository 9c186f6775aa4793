//! What a run can be watched by.

use crate::round_trip::RoundTrip;
use sojourn_aqm::{Backlog, Cause};
use sojourn_units::{Span, Time};

/// Told of everything that is measured. What concerns a link is told in the
/// order of time; what concerns a flow, too, but it may be told before its time,
/// and what concerns two flows in any order. Every method does nothing unless it is
/// overridden, and a probe is a type parameter: what is not watched costs nothing.
pub trait Probe {
    /// Whether it is told of the backlog, which the disc must be asked for.
    const ASKS_FOR_BACKLOG: bool = true;

    /// The disc in front of `link` now holds this.
    fn backlog(&mut self, _now: Time, _link: u32, _backlog: Backlog) {}
    /// A packet of `flow` was offered to the disc in front of `link`.
    fn offered(&mut self, _now: Time, _link: u32, _flow: u32) {}
    /// The disc in front of `link` handed over a packet of `flow` that it held for `sojourn`.
    fn delivered(&mut self, _now: Time, _link: u32, _flow: u32, _sojourn: Span) {}
    /// The disc in front of `link` dropped a packet of `flow`.
    fn dropped(&mut self, _now: Time, _link: u32, _flow: u32, _cause: Cause) {}
    /// The disc in front of `link` marked a packet of `flow`.
    fn marked(&mut self, _now: Time, _link: u32, _flow: u32) {}
    /// The wire of `link` lost a packet of `flow`, or damaged it so that its receiver throws it away; `at` is when it
    /// comes to the far end, or would. It may be told before its time.
    fn lost(&mut self, _at: Time, _link: u32, _flow: u32) {}
    /// There is one more flow, of `class`, with the next number.
    fn joined(&mut self, _flow: u32, _class: u32) {}
    /// A flow of `class` begins; its number may have belonged to one of the class that has ended.
    fn began(&mut self, _at: Time, _flow: u32, _class: u32) {}
    /// A flow of `class` was to begin, and there were as many already as there may be.
    fn turned_away(&mut self, _at: Time, _class: u32) {}
    /// What a flow began to transfer at `started` is with its receiver's application, all of it.
    fn completed(&mut self, _at: Time, _flow: u32, _started: Time) {}
    /// The player of a flow has played for so long since it last told, and stood still for so long for want of data.
    fn played(&mut self, _at: Time, _flow: u32, _played: Span, _stood: Span) {}
    /// A flow's receiver takes in `bytes` of data, which its application reads at once.
    fn received(&mut self, _at: Time, _flow: u32, _bytes: u64) {}
    /// A flow's application, which reads at a rate of its own, has read on from `since` to `at`; `by` tells what it had
    /// read in all at a time between the two, bytes.
    fn read(&mut self, _since: Time, _at: Time, _flow: u32, _by: &dyn Fn(Time) -> u64) {}
    /// A flow sends a datagram.
    fn sent(&mut self, _at: Time, _flow: u32) {}
    /// A datagram arrives that was sent so long ago.
    fn datagram(&mut self, _at: Time, _flow: u32, _delay: Span) {}
    /// A datagram comes back that was sent so long ago.
    fn came_back(&mut self, _at: Time, _flow: u32, _rtt: Span) {}
    /// The acknowledgment of timed packets comes back, and the sender has taken it in.
    fn round_trip(&mut self, _at: Time, _flow: u32, _measured: RoundTrip) {}
    /// A flow's sender has acted, and has this congestion window now.
    fn window(&mut self, _at: Time, _flow: u32, _window: Window) {}
    /// A flow has stopped sending new data.
    fn stopped(&mut self, _at: Time, _flow: u32) {}
}

/// A congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its bytes.
    pub bytes: u64,
    /// The bytes of a full segment's payload.
    pub segment: u32,
}
