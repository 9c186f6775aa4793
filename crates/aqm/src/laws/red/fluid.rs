//! Fluid RED: the average backlog as a first-order lag at the pace of the arrivals.
//!
//! ```text
//! x' = -lambda ln(1 - w_q) (q - x)                                    (1)
//! ```
//!
//! Exact over a step of constant lambda and q: n arrivals leave (1 - w_q)^n of q - x. At an empty queue lambda is at
//! least C, as the law counts idle time in packets that the link could have sent. p is [`Red::share`]; 0 with at most
//! one packet (in byte mode: one byte) queued, as in the law.

use super::Red;
use crate::fluid_law::{FluidLaw, FluidStep};
use crate::forward_law;
use crate::gauges::Gauges;
use crate::law::Law;
use crate::link_context::LinkContext;
use sojourn_units::math;

/// RED of a fluid.
#[derive(Clone)]
pub struct FluidRed {
    law: Red,
    average: Average,
}

/// Average backlog.
#[derive(Clone, Copy)]
pub(crate) struct Average {
    /// Packets of the link.
    pub(crate) packets: f64,
    /// The present backlog is large enough for a verdict.
    judges: bool,
    /// Bytes of a packet of the link.
    packet: f64,
}

impl FluidRed {
    /// That of a law at its start.
    pub fn new(law: Red, context: &LinkContext) -> FluidRed {
        FluidRed { law, average: Average::new(context) }
    }
}

impl FluidLaw for FluidRed {
    fn step(&mut self, over: &FluidStep) {
        self.average.step(over, &self.law);
    }

    fn p(&self) -> f64 {
        self.average.share(&self.law)
    }

    fn marks(&self) -> Option<bool> {
        Some(self.average.marks(&self.law))
    }

    forward_law!(self => self.law; on_link_change, set_params);

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p());
        out.gauge("average", "packets", self.average.packets);
    }
}

impl Average {
    pub(crate) fn new(context: &LinkContext) -> Average {
        Average { packets: 0.0, judges: false, packet: context.packet }
    }

    /// Equation (1).
    pub(crate) fn step(&mut self, over: &FluidStep, law: &Red) {
        let idle = law.ageing_rate(over.capacity, self.packet);
        let rate = if over.backlog <= 0.0 { over.arrival_rate.max(idle) } else { over.arrival_rate };
        let kept = math::pow(1.0 - law.weight(), rate * over.dt);
        self.packets += (1.0 - kept) * (over.backlog - self.packets);
        self.judges = law.judges(over.backlog, over.backlog * self.packet);
    }

    pub(crate) fn share(self, law: &Red) -> f64 {
        if self.judges { law.share(law.counted(self.packets)) } else { 0.0 }
    }

    pub(crate) fn marks(self, law: &Red) -> bool {
        law.marks_about(law.counted(self.packets))
    }
}
