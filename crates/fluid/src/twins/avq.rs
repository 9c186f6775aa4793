//! AVQ's twin: the virtual queue and the virtual rate of Kunniyur and Srikant's own fluid model.
//!
//! ```text
//! C~' = alpha (gamma C - lambda),  0 <= C~ <= C                       (1)
//! VQ' = lambda - C~,  0 <= VQ <= B                                    (2)
//! p   = 1 - C~ / lambda  where VQ = B and lambda > C~, else 0         (3)
//! ```
//!
//! In (2) and (3) lambda is what arrives, in (1) what of it the law lets in, or all of it where that is asked for.
//! Packets are not a fluid: where they come at random the virtual queue is full for a part of the time already at a
//! load below C~, and p is smoother than (3).

use super::{Step, Twin};
use sojourn_aqm::law::Given;
use sojourn_aqm::laws::avq as law;
use sojourn_aqm::{Gauges, Site};
use sojourn_units::param::Described;
use sojourn_units::{Fault, Rate, Time};

/// The twin of AVQ.
#[derive(Clone)]
pub struct Avq {
    params: law::Params,
    /// B, packets.
    buffer: f64,
    /// Bytes of a packet.
    packet: f64,
    /// C, packets/s; the last one above 0.
    capacity: f64,
    stopped: bool,

    /// C~, packets/s.
    rate: f64,
    /// VQ, packets.
    queue: f64,
    p: f64,
}

impl Avq {
    /// The twin of the AVQ that is given this.
    pub fn new(given: &Given, site: &Site) -> Result<Avq, Fault> {
        let params = law::Params::from_values(given)?;
        let buffer = law::virtual_buffer(params.buffer, site)?;
        let capacity = site.capacity();
        let stopped = capacity <= 0.0;
        let rate = params.start * capacity;
        Ok(Avq { params, buffer, packet: site.packet, capacity, stopped, rate, queue: 0.0, p: 0.0 })
    }
}

impl Twin for Avq {
    fn step(&mut self, over: &Step) {
        if self.stopped {
            return;
        }
        let law::Params { alpha, gamma, offered, .. } = self.params;
        let arrives = over.arrival_rate;
        let counted = if offered { arrives } else { arrives - over.dropped_rate };
        self.rate += alpha * (gamma * self.capacity - counted) * over.dt;
        self.rate = self.rate.clamp(0.0, self.capacity);
        self.queue = (self.queue + (arrives - self.rate) * over.dt).clamp(0.0, self.buffer);
        let full = self.queue >= self.buffer && arrives > self.rate;
        self.p = if full { 1.0 - self.rate / arrives } else { 0.0 };
    }

    fn p(&self) -> f64 {
        self.p
    }

    fn on_link_change(&mut self, _now: Time, rate: Rate) {
        let capacity = rate.packets_per_second(self.packet);
        self.stopped = capacity <= 0.0;
        if !self.stopped {
            // The virtual link stays the same share of the real one.
            let share = if self.capacity > 0.0 { self.rate / self.capacity } else { self.params.start };
            (self.rate, self.capacity) = (share * capacity, capacity);
        }
    }

    fn retune(&mut self, _now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = Avq::new(given, site)?;
        let Avq { capacity, stopped, rate, queue, p, .. } = *self;
        *self = Avq { capacity, stopped, rate, queue, p, ..fresh };
        Ok(())
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p);
        out.gauge("virtual_rate", "bit/s", 8.0 * self.packet * self.rate);
        out.gauge("virtual_queue", "B", self.packet * self.queue);
    }
}
