//! RED's twin: the average backlog as a lag whose pace is that of the arrivals.
//!
//! ```text
//! x' = -lambda ln(1 - w_q) (q - x)                                    (1)
//! ```
//!
//! Over a step on which lambda and q stay that is exact: (1 - w_q)^n is left of q - x after n arrivals. Before an
//! empty queue the idle time counts as the packets that it could have sent, so that lambda is C. p is the share of
//! [`law::Red::share`]; with at most one packet waiting (in byte mode: one
//! byte) it is 0, as the law has it.

use super::{Step, Twin};
use sojourn_aqm::law::Given;
use sojourn_aqm::laws::red as law;
use sojourn_aqm::{Gauges, Law, Site};
use sojourn_units::param::Described;
use sojourn_units::{Fault, Rate, Time, math};

/// The twin of RED.
#[derive(Clone)]
pub struct Red {
    law: law::Red,
    average: Average,
}

/// The average backlog, packets of the link, and whether it speaks of the present.
#[derive(Clone, Copy)]
pub(super) struct Average {
    pub(super) packets: f64,
    waits: bool,
    /// Bytes of a packet of the link.
    packet: f64,
}

impl Red {
    /// The twin of the RED that is given this.
    pub fn new(given: &Given, site: &Site) -> Result<Red, Fault> {
        let law = law::Red::new(&law::Params::from_values(given)?, site)?;
        Ok(Red { law, average: Average::new(site) })
    }
}

impl Twin for Red {
    fn step(&mut self, over: &Step) {
        self.average.step(over, &self.law);
    }

    fn p(&self) -> f64 {
        self.average.share(&self.law)
    }

    fn marks(&self) -> Option<bool> {
        Some(self.average.marks(&self.law))
    }

    fn on_link_change(&mut self, now: Time, rate: Rate) {
        self.law.on_link_change(now, rate);
    }

    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        self.law.retune(now, given, site)
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p());
        out.gauge("average", "packets", self.average.packets);
    }
}

impl Average {
    pub(super) fn new(site: &Site) -> Average {
        Average { packets: 0.0, waits: false, packet: site.packet }
    }

    /// Equation (1).
    pub(super) fn step(&mut self, over: &Step, law: &law::Red) {
        let idle = law.ageing_rate(over.capacity, self.packet);
        let rate = if over.backlog <= 0.0 { over.arrival_rate.max(idle) } else { over.arrival_rate };
        let kept = math::pow(1.0 - law.weight(), rate * over.dt);
        self.packets += (1.0 - kept) * (over.backlog - self.packets);
        self.waits = law.judges(over.backlog, over.backlog * self.packet);
    }

    pub(super) fn share(self, law: &law::Red) -> f64 {
        if self.waits { law.share(law.counted(self.packets)) } else { 0.0 }
    }

    pub(super) fn marks(self, law: &law::Red) -> bool {
        law.marks_about(law.counted(self.packets))
    }
}
