//! Laws that say nothing: what is lost is lost because the buffer is full, which is the fluid's own doing.

use super::{Step, Twin};
use sojourn_aqm::law::Given;
use sojourn_aqm::{Law, Overflow, Site, catalogue};
use sojourn_units::{Fault, Time};

/// The twin of tail drop and of head drop.
#[derive(Clone)]
pub struct Silent {
    law: Box<dyn Law>,
}

impl Silent {
    /// The twin of the law called `stem`.
    pub fn new(stem: &str, given: &Given, site: &Site) -> Result<Silent, Fault> {
        let entry = catalogue::law(stem).ok_or_else(|| Fault::new("law", format!("{stem} is unknown")))?;
        Ok(Silent { law: (entry.build)(given, site)? })
    }
}

impl Twin for Silent {
    fn step(&mut self, _over: &Step) {}

    fn p(&self) -> f64 {
        0.0
    }

    /// Where the head makes room its loss is seen one waiting time sooner.
    fn at_departure(&self) -> bool {
        self.law.overflow() == Overflow::Head
    }

    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        self.law.retune(now, given, site)
    }
}
