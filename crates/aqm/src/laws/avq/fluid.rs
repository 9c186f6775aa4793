//! Fluid AVQ: the virtual queue and the virtual rate of Kunniyur and Srikant's own fluid model.
//!
//! ```text
//! C~' = alpha (gamma C - lambda),  0 <= C~ <= C                       (1)
//! VQ' = lambda - C~,  0 <= VQ <= B                                    (2)
//! p   = 1 - C~ / lambda  where VQ = B and lambda > C~, else 0         (3)
//! ```
//!
//! In (2) and (3) lambda is the arrival rate, in (1) its accepted share, or all of it with `offered`.
//! Packets that arrive at random fill the virtual queue for a part of the time already at a load below C~, so that
//! their p is smoother than (3).

use super::{Params, virtual_buffer};
use crate::fluid_law::{FluidLaw, FluidStep};
use crate::gauges::Gauges;
use crate::link_context::LinkContext;
use sojourn_params::{Given, InputError};
use sojourn_units::{Rate, Time};

/// AVQ of a fluid.
#[derive(Clone)]
pub struct FluidAvq {
    params: Params,
    /// B, packets.
    buffer: f64,
    /// Bytes of a packet.
    packet: f64,
    /// C, packets/s; the last value above 0.
    capacity: f64,
    stopped: bool,

    /// C~, packets/s.
    rate: f64,
    /// VQ, packets.
    queue: f64,
    p: f64,
}

impl FluidAvq {
    /// AVQ with these parameters, from an empty virtual queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<FluidAvq, InputError> {
        let buffer = virtual_buffer(params.buffer, context)?;
        let capacity = context.capacity();
        let stopped = capacity <= 0.0;
        let rate = params.start * capacity;
        Ok(FluidAvq {
            params: params.clone(),
            buffer,
            packet: context.packet,
            capacity,
            stopped,
            rate,
            queue: 0.0,
            p: 0.0,
        })
    }
}

impl FluidLaw for FluidAvq {
    fn step(&mut self, over: &FluidStep) {
        if self.stopped {
            return;
        }
        let Params { alpha, gamma, offered, .. } = self.params;
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
            // The virtual capacity keeps its share of the link rate.
            let share = if self.capacity > 0.0 { self.rate / self.capacity } else { self.params.start };
            (self.rate, self.capacity) = (share * capacity, capacity);
        }
    }

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = FluidAvq::new(given.params.of()?, context)?;
        let FluidAvq { capacity, stopped, rate, queue, p, .. } = *self;
        *self = FluidAvq { capacity, stopped, rate, queue, p, ..fresh };
        Ok(())
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p);
        out.gauge("virtual_rate", "bit/s", 8.0 * self.packet * self.rate);
        out.gauge("virtual_queue", "B", self.packet * self.queue);
    }
}
