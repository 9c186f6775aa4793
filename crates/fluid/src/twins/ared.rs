//! Adaptive RED's twin: RED's, whose max_p takes the law's own steps at the law's own times.

use super::red::Average;
use super::{Step, Twin};
use sojourn_aqm::law::Given;
use sojourn_aqm::laws::ared as law;
use sojourn_aqm::{Gauges, Law, Site};
use sojourn_units::param::Described;
use sojourn_units::{Fault, Rate, Time};

/// The twin of adaptive RED.
#[derive(Clone)]
pub struct Ared {
    law: law::Ared,
    average: Average,
}

impl Ared {
    /// The twin of the adaptive RED that is given this.
    pub fn new(given: &Given, site: &Site) -> Result<Ared, Fault> {
        let law = law::Ared::new(&law::Params::from_values(given)?, site)?;
        Ok(Ared { law, average: Average::new(site) })
    }
}

impl Twin for Ared {
    fn step(&mut self, over: &Step) {
        self.average.step(over, self.law.red());
        self.law.follow(over.now, self.law.red().counted(self.average.packets));
    }

    fn p(&self) -> f64 {
        self.average.share(self.law.red())
    }

    fn marks(&self) -> Option<bool> {
        Some(self.average.marks(self.law.red()))
    }

    fn on_link_change(&mut self, now: Time, rate: Rate) {
        self.law.on_link_change(now, rate);
    }

    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        self.law.retune(now, given, site)
    }

    fn target_packets(&self) -> Option<f64> {
        self.law.target_packets()
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p());
        out.gauge("average", "packets", self.average.packets);
        out.gauge("max_p", "1", self.law.red().max_p());
    }
}
