//! Fluid adaptive RED: fluid RED whose max_p takes the law's own steps at the law's own times.

use super::Ared;
use crate::fluid_law::{FluidLaw, FluidStep};
use crate::forward_law;
use crate::gauges::Gauges;
use crate::law::Law;
use crate::laws::red::fluid::Average;
use crate::link_context::LinkContext;

/// Adaptive RED of a fluid.
#[derive(Clone)]
pub struct FluidAred {
    law: Ared,
    average: Average,
}

impl FluidAred {
    /// That of a law at its start.
    pub fn new(law: Ared, context: &LinkContext) -> FluidAred {
        FluidAred { law, average: Average::new(context) }
    }
}

impl FluidLaw for FluidAred {
    fn step(&mut self, over: &FluidStep) {
        self.average.step(over, self.law.red());
        self.law.follow(over.now, self.law.red().counted(self.average.packets));
    }

    fn p(&self) -> f64 {
        self.average.share(self.law.red())
    }

    fn marks(&self) -> Option<bool> {
        Some(self.average.marks(self.law.red()))
    }

    forward_law!(self => self.law; on_link_change, set_params);

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p());
        out.gauge("average", "packets", self.average.packets);
        out.gauge("max_p", "1", self.law.red().max_p());
    }
}
