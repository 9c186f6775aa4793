//! One direction of a link: its qdisc, its transmitter and its wire.

use sojourn_aqm::Qdisc;
use sojourn_scenario::links::Framing;
use sojourn_sim::network::LinkPlan;
use sojourn_sim::{Packet, Wire};
use sojourn_units::{Bytes, Rate, Span, Time};

/// A link.
pub(crate) struct Link {
    rate: Rate,
    /// Delay of packets sent from now on.
    pub(crate) delay: Span,
    framing: Framing,
    /// The qdisc; None: an unlimited queue, whose departures follow on arrival.
    pub(crate) qdisc: Option<Box<dyn Qdisc<Packet>>>,
    /// The qdisc names several queues.
    pub(crate) is_divided: bool,
    wire: Option<Box<Wire>>,
    /// The transmitter is free from this time on.
    pub(crate) free: Time,
    /// The time of the next dequeue; None: the qdisc is empty.
    pub(crate) next: Option<Time>,
    /// The last arrival at the far end, which nothing overtakes.
    last_arrival: Time,
    begun_bits: f64,
    begun_rate: Rate,
    /// Bits that could have been sent up to the last change of the rate.
    could: (Time, f64),
}

/// A packet that was sent.
pub(crate) struct Sent {
    /// Time of its arrival at the far end.
    pub(crate) at: Time,
    pub(crate) lost: bool,
    pub(crate) corrupt: bool,
    pub(crate) bleached: bool,
    pub(crate) twice: bool,
}

impl Link {
    pub(crate) fn new(plan: LinkPlan) -> Link {
        let LinkPlan { rate, delay, qdisc, framing, impairments, .. } = plan;
        Link {
            rate,
            delay,
            framing,
            is_divided: qdisc.as_ref().is_some_and(|qdisc| !qdisc.queue_names().is_empty()),
            qdisc,
            wire: impairments,
            free: Time::ZERO,
            next: None,
            last_arrival: Time::ZERO,
            begun_bits: 0.0,
            begun_rate: rate,
            could: (Time::ZERO, 0.0),
        }
    }

    /// Time of the next update or departure.
    pub(crate) fn next_event(&self) -> Option<Time> {
        [self.next, self.next_update()].into_iter().flatten().min()
    }

    pub(crate) fn next_update(&self) -> Option<Time> {
        self.qdisc.as_ref()?.next_update()
    }

    /// Sends a packet of `len` bytes from `start` on.
    pub(crate) fn send(&mut self, start: Time, len: u32) -> Sent {
        let wire = Bytes::new(self.framing.on_wire(len).into());
        self.free = start + self.rate.time_for(wire);
        self.begun_bits += wire.bits();
        self.begun_rate = self.rate;
        let at = self.last_arrival.max(self.free + self.delay);
        self.last_arrival = at;
        let Some(wire) = &mut self.wire else {
            return Sent { at, lost: false, corrupt: false, bleached: false, twice: false };
        };
        let fate = wire.carry(at);
        let sojourn_sim::Fate { at, lost, corrupt, bleached, twice } = fate;
        Sent { at, lost, corrupt, bleached, twice }
    }

    /// The next dequeue: as soon as the transmitter is free and the qdisc gives a packet.
    pub(crate) fn schedule(&mut self, now: Time) {
        let Some(qdisc) = &self.qdisc else { return };
        let is_empty = qdisc.backlog().packets == 0;
        self.next = (!is_empty).then(|| self.free.max(qdisc.not_before()).max(now));
    }

    /// The rate from now on; the packet that is being sent finishes at the old one.
    pub(crate) fn change_rate(&mut self, now: Time, rate: Rate) {
        let from = now.max(self.free);
        self.could = (from, self.could.1 + from.since(self.could.0).seconds() * self.rate.bits_per_second());
        self.rate = rate;
        if let Some(qdisc) = &mut self.qdisc {
            qdisc.link_changed(now, rate);
        }
    }

    /// Bits sent by `now`, and those that could have been sent.
    pub(crate) fn bits(&self, now: Time) -> (f64, f64) {
        let left = self.free.since(now).seconds() * self.begun_rate.bits_per_second();
        let (since, before) = self.could;
        let ahead = since.since(now).seconds() * self.begun_rate.bits_per_second();
        let could = before - ahead + now.since(since).seconds() * self.rate.bits_per_second();
        (self.begun_bits - left, could)
    }
}
