//! Flows with queues, as their weights and prices need them, and sums over them.

use crate::flow_shares::PathPrice;
use crate::qdiscs::sqm::rules::Rules;
use sojourn_units::Time;

/// A flow with a queue, as its weight and its price need it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    /// w.
    pub(super) weight: f64,
    /// Q; 0: its flow was not seen in the last period, nor since.
    pub(super) quantum: f64,
    /// D, s.
    pub(super) delay: f64,
    pub(super) class: u32,
    /// Bytes that the flow has sent.
    pub(super) bytes: f64,
    /// m_i and Pi_i, as its last packet had them.
    pub(super) path: PathPrice,
    pub(super) is_seen: bool,
    /// It has not sent a window of its share yet.
    pub(super) is_young: bool,
    /// Bytes that have come in this period, and those of them that were not lost as they came, from a time on: its begin, or that
    /// of the flow's share or connection.
    pub(super) came: f64,
    pub(super) kept: f64,
    pub(super) since: Time,
    /// Rate in the last period, packets/s, of a limited flow.
    pub(super) limited: Option<f64>,
    /// sigma, packets, and C_i that it is for; 0: none.
    pub(super) scale: f64,
    pub(super) scaled_for: f64,
}

impl Slot {
    /// w by these rules.
    pub(super) fn weight_by(&self, rules: &Rules) -> f64 {
        rules.weight(self.class, self.delay, self.bytes)
    }

    pub(super) fn is_mouse(&self) -> bool {
        self.bytes <= MOUSE
    }

    /// Q of a young flow; 0 of another.
    pub(super) fn young(&self) -> f64 {
        if self.is_young { self.quantum } else { 0.0 }
    }

    /// Time of this period in which the flow could send, s.
    pub(super) fn elapsed(&self, now: Time) -> f64 {
        now.since(self.since).seconds().max(SHORTEST)
    }

    /// Mean rate in that time, where packets have so many bytes, packets/s.
    pub(super) fn rate(&self, now: Time, packet: f64) -> f64 {
        self.came / packet / self.elapsed(now)
    }
}

/// Sums over flows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) count: u32,
    /// Of Q.
    pub(super) quanta: f64,
    /// Of 1 / D, 1/s.
    pub(super) frequencies: f64,
    /// Of the rates of limited flows, packets/s.
    pub(super) rates: f64,
}

impl Sums {
    pub(super) fn of<'a>(slots: impl Iterator<Item = &'a Slot>) -> Sums {
        let mut sums = Sums::default();
        slots.for_each(|slot| sums.add(slot));
        sums
    }

    pub(super) fn add(&mut self, slot: &Slot) {
        self.count += 1;
        self.quanta += slot.quantum;
        self.frequencies += slot.delay.recip();
        self.rates += slot.limited.unwrap_or(0.0);
    }

    pub(super) fn remove(&mut self, slot: &Slot) {
        self.count -= 1;
        self.quanta -= slot.quantum;
        self.frequencies -= slot.delay.recip();
        self.rates -= slot.limited.unwrap_or(0.0);
    }
}

/// Shortest time of a rate, s.
const SHORTEST: f64 = 1e-6;
/// Most bytes of a mouse.
pub(super) const MOUSE: f64 = 30_000.0;
