//! Interface of queue laws: events, verdicts, observations.

use crate::analysis::{Analysis, NoModel};
use crate::gauges::Gauges;
use crate::link_context::LinkContext;
use dyn_clone::DynClone;
use sojourn_params::{ErrorKind, Given, InputError};
use sojourn_units::{Ecn, Prob, Rate, Span, Time};

/// Flow of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// Content of a qdisc, without the packet in transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

/// A packet that arrives at a qdisc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Current time.
    pub now: Time,
    /// Size on the wire, bytes.
    pub len: u32,
    /// ECN bits.
    pub ecn: Ecn,
    /// Flow.
    pub flow: FlowId,
    /// Backlog without this packet.
    pub backlog: Backlog,
    /// Flow of the queued packet that [`Verdict::DropBoth`] would drop too, chosen uniformly at random. None for a
    /// law without [`Properties::wants_victim`], or at an empty queue.
    pub victim: Option<FlowId>,
    /// Two uniform draws from [0, 1), made by the host for this packet. The second one has chosen the victim, if any.
    pub u: [f64; 2],
}

impl Arrival {
    /// Verdict that signals congestion: mark if ECN-capable, else drop.
    pub fn signalled(&self) -> Verdict {
        if self.ecn.is_capable() { Verdict::Mark } else { Verdict::Drop }
    }
}

/// A packet about to depart from a qdisc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// Current time.
    pub now: Time,
    /// Size on the wire, bytes.
    pub len: u32,
    /// ECN bits.
    pub ecn: Ecn,
    /// Flow.
    pub flow: FlowId,
    /// Sojourn time.
    pub sojourn: Span,
    /// Backlog without this packet.
    pub backlog: Backlog,
    /// Two uniform draws from [0, 1), made by the host for this packet.
    pub u: [f64; 2],
}

impl Departure {
    /// As [`Arrival::signalled`].
    pub fn signalled(&self) -> Verdict {
        if self.ecn.is_capable() { Verdict::Mark } else { Verdict::Drop }
    }
}

/// Decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accept it unchanged.
    Pass,
    /// Accept it with congestion experienced; only for ECN-capable packets.
    Mark,
    /// Discard it.
    Drop,
    /// Discard it and the victim; only for an arrival with a victim.
    DropBoth,
}

/// Packet that is dropped when an arrival does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The arriving packet.
    #[default]
    Tail,
    /// Packets from the head, as many as make room.
    Head,
}

/// Queue state at an update, and counts since the last update.
///
/// Counts are `f64` because a fluid plant has fractions of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// Current time.
    pub now: Time,
    /// Actual time since the last update, s, also after a stall.
    pub elapsed: f64,
    /// Backlog, packets.
    pub backlog_packets: f64,
    /// Backlog, bytes.
    pub backlog_bytes: f64,
    /// Sojourn time of the packet at the head so far, s; 0 at an empty queue.
    pub head_sojourn: f64,
    /// Packets arrived, dropped ones included.
    pub arrived_packets: f64,
    /// Bytes arrived, dropped ones included.
    pub arrived_bytes: f64,
    /// Packets departed to the link.
    pub departed_packets: f64,
    /// Bytes departed to the link.
    pub departed_bytes: f64,
    /// Packets dropped, overflow included.
    pub dropped_packets: f64,
    /// Packets marked.
    pub marked_packets: f64,
    /// Time with a backlog, s.
    pub busy: f64,
    /// Link rate, if known to the host.
    pub capacity: Option<Rate>,
    /// Configured base RTT.
    pub base_rtt: Option<Span>,
    /// Mean packet size, bytes.
    pub mean_packet: f64,
    /// Buffer limit, packets; infinite: unlimited.
    pub limit: f64,
    /// Share of arrivals dropped or marked by the law.
    pub applied: Prob,
}

/// A queue law: verdicts on packets, and updates at times of its own choice.
///
/// Contract of the host: time is monotonic; at one instant, changes of the link and of the parameters precede updates,
/// and updates precede packets; after a stall there is one update with the actual `elapsed`; `Mark` takes effect only
/// on ECN-capable packets.
pub trait Law: DynClone + Send {
    /// A packet arrives; also called at a full buffer.
    fn on_arrival(&mut self, _arrival: &Arrival) -> Verdict {
        Verdict::Pass
    }
    /// A packet is about to depart.
    fn on_departure(&mut self, _departure: &Departure) -> Verdict {
        Verdict::Pass
    }
    /// The link found the queue empty.
    fn on_idle(&mut self, _now: Time) {}
    /// A packet was dropped because the last arrival did not fit, whatever the verdict on it.
    fn on_overflow(&mut self, _now: Time) {}
    /// The link rate has changed.
    fn on_link_change(&mut self, _now: Time, _rate: Rate) {}
    /// Replaces the parameters by those of `given`; `context` has the last link rate above 0.
    ///
    /// The law then equals one built from both, except that it keeps its state, measurements and estimates included.
    /// With the parameters and the context that it was built from, this has no effect. On an error the law is
    /// unchanged.
    fn set_params(&mut self, _now: Time, _given: &Given, _context: &LinkContext) -> Result<(), InputError> {
        Err(fixed())
    }
    /// Time of the next update.
    fn next_update(&self) -> Option<Time> {
        None
    }
    /// The update due at `due`.
    fn on_update(&mut self, _due: Time, _observed: &Observation) {}
    /// Probability with which each packet that arrives (departs: [`Properties::at_departure`]) is independently
    /// dropped or marked until the next update. None: verdicts depend on more than that, so that the fluid plant
    /// needs a [`FluidLaw`](crate::FluidLaw) in its place.
    fn probability(&self) -> Option<Prob> {
        None
    }
    /// Fixed properties.
    fn properties(&self) -> Properties {
        Properties::default()
    }
    /// Analytical model.
    fn analysis(&self) -> &dyn Analysis {
        &NoModel
    }
    /// Reports the inner values by name.
    fn gauges(&self, _out: &mut dyn Gauges) {}
}

/// Properties of a law that never change; a host reads them once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Packet that is dropped on overflow.
    pub overflow: Overflow,
    /// Arrivals carry a [victim](Arrival::victim).
    pub wants_victim: bool,
    /// [`Law::probability`] applies to departures, not to arrivals.
    pub at_departure: bool,
}

/// A law that is a probability updated periodically.
pub trait Controller: DynClone + Send {
    /// Time from an update to the next; [`Periodic`](crate::periodic::Periodic) reads it again after each one.
    fn period(&self) -> Span;
    /// Probability to apply until the next update.
    fn update(&mut self, observed: &Observation) -> Prob;
    /// Restores the initial state.
    fn reset(&mut self);
    /// The link rate has changed.
    fn on_link_change(&mut self, _rate: Rate) {}
    /// As [`Law::set_params`]; the probability stays in force until the next update.
    fn set_params(&mut self, _given: &Given, _context: &LinkContext) -> Result<(), InputError> {
        Err(fixed())
    }
    /// Analytical model.
    fn analysis(&self) -> &dyn Analysis {
        &NoModel
    }
    /// Reports the inner values by name.
    fn gauges(&self, _out: &mut dyn Gauges) {}
}

/// Error of a law without [`Law::set_params`].
fn fixed() -> InputError {
    let problem = "has parameters that cannot change during a run";
    InputError::new(ErrorKind::Conflict, problem, "no change of them").at("law")
}

dyn_clone::clone_trait_object!(Law);
dyn_clone::clone_trait_object!(Controller);

impl Law for Box<dyn Law> {
    forward_law!(
        self => (**self);
        on_arrival, on_departure, on_idle, on_overflow, on_link_change, set_params, next_update, on_update,
        probability, properties, analysis, gauges
    );
}

/// Implements the named methods of [`Law`], or those that [`FluidLaw`](crate::FluidLaw) shares with it, by those of
/// another law: `forward_law!(self => self.law; gauges)`.
#[macro_export]
macro_rules! forward_law {
    ($self:ident => $law:expr; $($method:ident),+ $(,)?) => {
        $($crate::forward_law!(@ $method $self $law);)+
    };
    (@ on_arrival $self:ident $law:expr) => {
        fn on_arrival(&mut $self, arrival: &$crate::Arrival) -> $crate::Verdict {
            $law.on_arrival(arrival)
        }
    };
    (@ on_departure $self:ident $law:expr) => {
        fn on_departure(&mut $self, departure: &$crate::Departure) -> $crate::Verdict {
            $law.on_departure(departure)
        }
    };
    (@ on_idle $self:ident $law:expr) => {
        fn on_idle(&mut $self, now: ::sojourn_units::Time) {
            $law.on_idle(now);
        }
    };
    (@ on_overflow $self:ident $law:expr) => {
        fn on_overflow(&mut $self, now: ::sojourn_units::Time) {
            $law.on_overflow(now);
        }
    };
    (@ on_link_change $self:ident $law:expr) => {
        fn on_link_change(&mut $self, now: ::sojourn_units::Time, rate: ::sojourn_units::Rate) {
            $law.on_link_change(now, rate);
        }
    };
    (@ set_params $self:ident $law:expr) => {
        fn set_params(
            &mut $self,
            now: ::sojourn_units::Time,
            given: &::sojourn_params::Given,
            context: &$crate::LinkContext,
        ) -> Result<(), ::sojourn_params::InputError> {
            $law.set_params(now, given, context)
        }
    };
    (@ next_update $self:ident $law:expr) => {
        fn next_update(&$self) -> Option<::sojourn_units::Time> {
            $law.next_update()
        }
    };
    (@ on_update $self:ident $law:expr) => {
        fn on_update(&mut $self, due: ::sojourn_units::Time, observed: &$crate::Observation) {
            $law.on_update(due, observed);
        }
    };
    (@ probability $self:ident $law:expr) => {
        fn probability(&$self) -> Option<::sojourn_units::Prob> {
            $law.probability()
        }
    };
    (@ properties $self:ident $law:expr) => {
        fn properties(&$self) -> $crate::Properties {
            $law.properties()
        }
    };
    (@ analysis $self:ident $law:expr) => {
        fn analysis(&$self) -> &dyn $crate::Analysis {
            $law.analysis()
        }
    };
    (@ gauges $self:ident $law:expr) => {
        fn gauges(&$self, out: &mut dyn $crate::Gauges) {
            $law.gauges(out);
        }
    };
}
use forward_law;
