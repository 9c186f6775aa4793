//! Periods ahead: the load that is on its way, and the inputs that are decided.
//!
//! TCP is clocked by its ACKs: a packet that departs is followed by an arrival a base RTT later, and windows of W packets grow by
//! 1/W of it. A signal takes W/2 packets away, a base RTT after its packet has left the queue.

use super::receding::Measured;

/// The next periods, as far as a round trip reaches.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ahead {
    slots: Vec<Slot>,
}

/// A period ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slot {
    /// Departures whose ACKs are followed by arrivals then.
    acknowledged: f64,
    /// Signals that reduce its load.
    signals: f64,
    /// Decided input, packets/s.
    input: f64,
}

impl Ahead {
    pub(super) fn new(periods: usize) -> Ahead {
        Ahead { slots: vec![Slot::default(); periods.max(1)] }
    }

    pub(super) fn periods(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn reset(&mut self) {
        self.slots.fill(Slot::default());
    }

    /// Records a period.
    pub(super) fn observe(&mut self, measured: &Measured) {
        let passed =
            (measured.elapsed / measured.period).round().clamp(1.0, self.slots.len() as f64) as usize;
        let input = self.slots[self.slots.len() - 1].input;
        self.slots.rotate_left(passed);
        let kept = self.slots.len() - passed;
        self.slots[kept..].fill(Slot { input, ..Slot::default() });
        let base_rtt = measured.base_rtt / measured.period;
        self.spread(base_rtt, |slot, share| slot.acknowledged += share * measured.departed);
        let after = measured.round_trip_periods().max(1).min(self.slots.len());
        self.slots[after - 1].signals += measured.signals;
    }

    /// Takes an input from a period on, until another one is taken.
    pub(super) fn decide(&mut self, from: usize, input: f64) {
        self.slots[from..].iter_mut().for_each(|slot| slot.input = input);
    }

    /// Packets that arrive in a period.
    pub(super) fn arrivals(&self, measured: &Measured, place: usize) -> f64 {
        let grown = (1.0 + measured.growth()) * self.clocked(measured, place);
        (grown - measured.half_window() * self.signals(place)).max(0.0)
    }

    /// Packets that ACKs clock in a period; beyond the base RTT those of a busy link.
    pub(super) fn clocked(&self, measured: &Measured, place: usize) -> f64 {
        let known = measured.base_rtt / measured.period - 1.0;
        match self.slots.get(place) {
            Some(slot) if place as f64 <= known => slot.acknowledged,
            _ => measured.service() * measured.period,
        }
    }

    /// Signals that take effect in a period.
    pub(super) fn signals(&self, place: usize) -> f64 {
        self.slots.get(place).map_or(0.0, |slot| slot.signals)
    }

    /// Packets of the decided input of a period.
    pub(super) fn decided(&self, measured: &Measured, place: usize) -> f64 {
        self.slots[place].input * measured.period
    }

    /// Spreads a count of the last period over the two periods in which it is `after` as many.
    fn spread(&mut self, after: f64, mut add: impl FnMut(&mut Slot, f64)) {
        let place = (after - 1.0).clamp(0.0, (self.slots.len() - 1) as f64);
        let (first, share) = (place as usize, place.fract());
        add(&mut self.slots[first], 1.0 - share);
        if share > 0.0 {
            add(&mut self.slots[first + 1], share);
        }
    }
}
