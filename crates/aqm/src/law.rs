//! What a law is told, and what it answers.

use crate::linear::{Linear, Rest, Signal};
use crate::site::Site;
use dyn_clone::DynClone;
use sojourn_units::{Ecn, Fault, Prob, Rate, Span, Time, Value};

/// Which flow a packet belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// What a disc holds; the packet on the wire is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets held.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
}

/// A packet that asks to be let in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// The present.
    pub now: Time,
    /// Size on the wire, bytes.
    pub len: u32,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// Its flow.
    pub flow: FlowId,
    /// The backlog without this packet.
    pub backlog: Backlog,
    /// The flow of the held packet that [`Verdict::DropBoth`] would drop too: one chosen at random,
    /// each as likely as any other. Only where the law asks for one and a packet is held.
    pub victim: Option<FlowId>,
    /// Two uniform draws from [0, 1), made by the host for this packet alone. Where the law asks for a
    /// victim the second one has chosen it.
    pub u: [f64; 2],
}

impl Arrival {
    /// The verdict on a packet that is to carry a signal: a mark where it can, else a drop.
    pub fn signalled(&self) -> Verdict {
        if self.ecn.is_capable() { Verdict::Mark } else { Verdict::Drop }
    }
}

/// A packet that is about to leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// The present.
    pub now: Time,
    /// Size on the wire, bytes.
    pub len: u32,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// Its flow.
    pub flow: FlowId,
    /// How long it was held.
    pub sojourn: Span,
    /// The backlog without this packet.
    pub backlog: Backlog,
    /// Two uniform draws from [0, 1), made by the host for this packet alone.
    pub u: [f64; 2],
}

impl Departure {
    /// As [`Arrival::signalled`].
    pub fn signalled(&self) -> Verdict {
        if self.ecn.is_capable() { Verdict::Mark } else { Verdict::Drop }
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let it through as it is.
    Pass,
    /// Let it through with congestion experienced; only for ECN-capable packets.
    Mark,
    /// Discard it.
    Drop,
    /// Discard it and the victim; only to an arrival that has one.
    DropBoth,
}

/// Which packet goes when one does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The one that arrives.
    #[default]
    Tail,
    /// The one at the head, or as many from there as make room.
    Head,
}

/// What a controller sees at its sampling instant.
///
/// Counts are `f64` because a fluid plant has fractions of packets. Everything
/// that is counted is counted since the last update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// The present.
    pub now: Time,
    /// Seconds since the last update: the real ones, also after a stall.
    pub elapsed: f64,
    /// Backlog now, packets.
    pub backlog_packets: f64,
    /// Backlog now, bytes.
    pub backlog_bytes: f64,
    /// How long the packet at the head has been held, s; 0 where there is none.
    pub head_sojourn: f64,
    /// Packets offered.
    pub arrived_packets: f64,
    /// Bytes offered.
    pub arrived_bytes: f64,
    /// Packets handed to the link.
    pub departed_packets: f64,
    /// Bytes handed to the link.
    pub departed_bytes: f64,
    /// Packets dropped, overflow included.
    pub dropped_packets: f64,
    /// Packets marked.
    pub marked_packets: f64,
    /// Seconds during which there was a backlog.
    pub busy: f64,
    /// The link's rate, where the host knows it.
    pub capacity: Option<Rate>,
    /// The configured round-trip time without queueing, where there is one.
    pub base_rtt: Option<Span>,
    /// Mean packet size, bytes.
    pub mean_packet: f64,
    /// The buffer's limit, packets; infinite where there is none.
    pub limit: f64,
    /// The share of arrivals that was really dropped or marked by the law.
    pub applied: Prob,
}

/// The parameters that are given, by their keys; the others stand at their defaults.
pub type Given = [(String, Value)];

/// A queue law: per-packet verdicts, and updates at times of its own choosing.
///
/// The host's contract: time never runs back; at *t* come first changes of the
/// link and of the parameters, then updates due at *t*, then packets; after a
/// stall there is one update with the real `elapsed`; `Mark` is obeyed only for
/// ECN-capable packets.
pub trait Law: DynClone + Send {
    /// A packet asks to be let in. Called for every arrival, also when the buffer is full.
    fn on_arrival(&mut self, _arrival: &Arrival) -> Verdict {
        Verdict::Pass
    }
    /// A packet is about to leave.
    fn on_departure(&mut self, _departure: &Departure) -> Verdict {
        Verdict::Pass
    }
    /// The link asked for a packet and there was none.
    fn on_idle(&mut self, _now: Time) {}
    /// A packet was dropped because the one just judged did not fit, whatever the verdict.
    fn on_overflow(&mut self, _now: Time) {}
    /// The link has a new rate.
    fn on_link_change(&mut self, _now: Time, _rate: Rate) {}
    /// From now on it stands under other parameters: `given` are all that it is given, `site` is its place with the
    /// link's present rate (the last one above 0).
    ///
    /// The law is then what one built there would be, except that it keeps its state: what it has seen and
    /// learnt. So under its own parameters and at its own place nothing happens. A law that refuses stays as it was.
    fn retune(&mut self, _now: Time, _given: &Given, _site: &Site) -> Result<(), Fault> {
        Err(Fault::new("law", FIXED))
    }
    /// Which packet goes when one does not fit; always the same.
    fn overflow(&self) -> Overflow {
        Overflow::Tail
    }
    /// Whether arrivals must name a victim; always the same.
    fn wants_victim(&self) -> bool {
        false
    }
    /// When the law wants to be updated next.
    fn next_update(&self) -> Option<Time> {
        None
    }
    /// An update that was due at `due`.
    fn on_update(&mut self, _due: Time, _seen: &Observation) {}
    /// The backlog that the law tries to hold, packets.
    fn target_packets(&self) -> Option<f64> {
        None
    }
    /// The backlog at which it stands still while `p` holds the traffic, packets: its target, where nothing else that
    /// it counts is off there. Below 0 it never stands still.
    fn stands_at(&self, _p: Prob, _signal: Signal) -> Option<f64> {
        self.target_packets()
    }
    /// The probability with which any packet that arrives now (or leaves: [`Law::at_departure`]) is dropped or marked,
    /// where there is one: it moves at updates alone, and each packet is judged by itself. A plant without packets
    /// lives on it.
    fn probability(&self) -> Option<Prob> {
        None
    }
    /// Whether [`Law::probability`] is of packets that leave; always the same.
    fn at_departure(&self) -> bool {
        false
    }
    /// The probability that it comes to where the backlog stays at so many packets: of a law without a target, that
    /// rests where its curve meets the traffic's.
    fn settled(&self, _backlog: f64) -> Option<Prob> {
        None
    }
    /// Its transfer functions about a point of rest, where it has any.
    fn linear(&self, _rest: &Rest) -> Option<Linear> {
        None
    }
    /// Whether it marks what is ECN-capable, instead of dropping it, where it gives `p`.
    fn marks_at(&self, _p: Prob) -> bool {
        true
    }
    /// Between which bounds it works, wherever it rests.
    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
    /// Shows the parameters that it derived from its place, by their keys.
    fn derived(&self, _out: &mut dyn Gauges) {}
    /// Shows its inner values by name.
    fn gauges(&self, _out: &mut dyn Gauges) {}
}

/// What a law can do at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The largest p that it gives.
    pub most_p: f64,
    /// The backlog up to which it spares every packet, packets.
    pub spared: f64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { most_p: 1.0, spared: 0.0 }
    }
}

/// A law that is only "every so often, give me a probability".
pub trait Controller: DynClone + Send {
    /// The sampling period.
    fn period(&self) -> Span;
    /// The probability to apply until the next update.
    fn update(&mut self, seen: &Observation) -> Prob;
    /// Whether it is applied to packets as they leave, not as they arrive; always the same.
    fn at_departure(&self) -> bool {
        false
    }
    /// Back to the state at the start.
    fn reset(&mut self);
    /// The link has a new rate.
    fn on_link_change(&mut self, _rate: Rate) {}
    /// As [`Law::retune`]; its probability stays in force until its next update.
    fn retune(&mut self, _given: &Given, _site: &Site) -> Result<(), Fault> {
        Err(Fault::new("law", FIXED))
    }
    /// The backlog that the controller tries to hold, packets.
    fn target_packets(&self) -> Option<f64> {
        None
    }
    /// As [`Law::stands_at`].
    fn stands_at(&self, _p: Prob, _signal: Signal) -> Option<f64> {
        self.target_packets()
    }
    /// The probability that it comes to where the backlog stays at so many packets: of a law without a target, that
    /// rests where its curve meets the traffic's.
    fn settled(&self, _backlog: f64) -> Option<Prob> {
        None
    }
    /// Its transfer functions about a point of rest, where it has any.
    fn linear(&self, _rest: &Rest) -> Option<Linear> {
        None
    }
    /// Between which bounds it works, wherever it rests.
    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
    /// Shows the parameters that it derived from its place, by their keys.
    fn derived(&self, _out: &mut dyn Gauges) {}
    /// Shows its inner values by name.
    fn gauges(&self, _out: &mut dyn Gauges) {}
}

/// The refusal of a law that says nothing of other parameters.
const FIXED: &str = "takes no other parameters while it works; legal: leave it as it is";

/// Where a law shows its inner values.
pub trait Gauges {
    /// One value: its name and unit, and the number.
    fn gauge(&mut self, name: &'static str, unit: &'static str, value: f64);
}

dyn_clone::clone_trait_object!(Law);
dyn_clone::clone_trait_object!(Controller);

impl Law for Box<dyn Law> {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        (**self).on_arrival(arrival)
    }
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        (**self).on_departure(departure)
    }
    fn on_idle(&mut self, now: Time) {
        (**self).on_idle(now);
    }
    fn on_overflow(&mut self, now: Time) {
        (**self).on_overflow(now);
    }
    fn on_link_change(&mut self, now: Time, rate: Rate) {
        (**self).on_link_change(now, rate);
    }
    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        (**self).retune(now, given, site)
    }
    fn overflow(&self) -> Overflow {
        (**self).overflow()
    }
    fn wants_victim(&self) -> bool {
        (**self).wants_victim()
    }
    fn next_update(&self) -> Option<Time> {
        (**self).next_update()
    }
    fn on_update(&mut self, due: Time, seen: &Observation) {
        (**self).on_update(due, seen);
    }
    fn target_packets(&self) -> Option<f64> {
        (**self).target_packets()
    }
    fn stands_at(&self, p: Prob, signal: Signal) -> Option<f64> {
        (**self).stands_at(p, signal)
    }
    fn probability(&self) -> Option<Prob> {
        (**self).probability()
    }
    fn at_departure(&self) -> bool {
        (**self).at_departure()
    }
    fn settled(&self, backlog: f64) -> Option<Prob> {
        (**self).settled(backlog)
    }
    fn linear(&self, rest: &Rest) -> Option<Linear> {
        (**self).linear(rest)
    }
    fn marks_at(&self, p: Prob) -> bool {
        (**self).marks_at(p)
    }
    fn bounds(&self) -> Bounds {
        (**self).bounds()
    }
    fn derived(&self, out: &mut dyn Gauges) {
        (**self).derived(out);
    }
    fn gauges(&self, out: &mut dyn Gauges) {
        (**self).gauges(out);
    }
}
