//! BLUE's twin: the law itself, told of overflow and idleness as the fluid has them.
//!
//! The fluid overflows while it loses anything, and its link is idle while the queue is empty and less arrives than
//! the link could send. Each is told at every step; how often p may move for it is the law's to say.

use super::{Step, Twin};
use sojourn_aqm::law::Given;
use sojourn_aqm::laws::blue as law;
use sojourn_aqm::{Arrival, Backlog, FlowId, Gauges, Law, Site};
use sojourn_units::param::Described;
use sojourn_units::{Ecn, Fault, Rate, Time};

/// The twin of BLUE.
#[derive(Clone)]
pub struct Blue {
    law: law::Blue,
    /// Bytes of a packet.
    packet: f64,
}

impl Blue {
    /// The twin of the BLUE that is given this.
    pub fn new(given: &Given, site: &Site) -> Result<Blue, Fault> {
        let law = law::Blue::new(&law::Params::from_values(given)?, site)?;
        Ok(Blue { law, packet: site.packet })
    }

    /// A packet that finds this backlog; only where one may come.
    fn arrival(&self, over: &Step) -> Arrival {
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

impl Twin for Blue {
    fn step(&mut self, over: &Step) {
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

    fn on_link_change(&mut self, now: Time, rate: Rate) {
        self.law.on_link_change(now, rate);
    }

    fn retune(&mut self, now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        self.law.retune(now, given, site)
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        self.law.gauges(out);
    }
}
