//! Fluid BLUE: the law itself, driven by the fluid's overflow and idleness.
//!
//! The queue overflows while it loses fluid; the link is idle while the queue is empty and the arrival rate is below
//! its capacity. Both events repeat at every step: the law's own `freeze_time` limits the changes of p.

use super::Blue;
use crate::fluid_law::{FluidLaw, FluidStep};
use crate::forward_law;
use crate::gauges::Gauges;
use crate::law::{Arrival, Backlog, FlowId, Law};
use crate::link_context::LinkContext;
use sojourn_units::Ecn;

/// BLUE of a fluid.
#[derive(Clone)]
pub struct FluidBlue {
    law: Blue,
    /// Bytes of a packet.
    packet: f64,
}

impl FluidBlue {
    /// That of a law at its start.
    pub fn new(law: Blue, context: &LinkContext) -> FluidBlue {
        FluidBlue { law, packet: context.packet }
    }

    /// A packet that arrives at this backlog.
    fn arrival(&self, over: &FluidStep) -> Arrival {
        let backlog = over.backlog.max(0.0);
        Arrival {
            now: over.now,
            len: self.packet as u32,
            ecn: Ecn::NotEct,
            flow: FlowId(0),
            backlog: Backlog { packets: backlog as u32, bytes: (backlog * self.packet) as u64 },
            victim: None,
            u: [1.0; 2],
        }
    }
}

impl FluidLaw for FluidBlue {
    fn step(&mut self, over: &FluidStep) {
        if over.arrival_rate > 0.0 {
            self.law.on_arrival(&self.arrival(over));
        }
        if over.overflow_rate > 0.0 {
            self.law.on_overflow(over.now);
        }
        if over.backlog <= 0.0 && over.arrival_rate < over.capacity {
            self.law.on_idle(over.now);
        }
    }

    fn p(&self) -> f64 {
        self.law.p()
    }

    forward_law!(self => self.law; on_link_change, set_params);

    fn gauges(&self, out: &mut dyn Gauges) {
        self.law.gauges(out);
    }
}
