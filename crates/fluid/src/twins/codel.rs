//! CoDel's twin: its control law as a rate of signals.
//!
//! Once the delay has been above the target for an interval, signals come `interval / sqrt(count)` apart, each
//! raising the count:
//!
//! ```text
//! count' = sqrt(count) / interval,  p = count' / (departures per second)      (1)
//! ```
//!
//! The count of packets is a stair, that of (1) a line through the middle of its steps: where the law enters with a
//! count of n, (1) begins at n - 1/2. A delay below the target, or a backlog within one MTU, ends it at once; on
//! entry within 16 intervals n is what the count rose by the last time, as in the law. p hits what departs.

use super::{Step, Twin};
use sojourn_aqm::law::Given;
use sojourn_aqm::laws::codel as law;
use sojourn_aqm::{Gauges, Law, Site};
use sojourn_units::param::Described;
use sojourn_units::{Bytes, Fault, Time};

/// The twin of CoDel.
#[derive(Clone)]
pub struct Codel {
    target: f64,
    interval: f64,
    /// The backlog that is left alone, packets, the departing one besides.
    spared: f64,
    target_packets: Option<f64>,

    /// For how long the delay has been above the target, s.
    above: f64,
    dropping: bool,
    /// When the next signal would come, s.
    due: f64,
    count: f64,
    /// The count on the last entry.
    entered: f64,
    p: f64,
}

impl Codel {
    /// The twin of the CoDel that is given this.
    pub fn new(given: &Given, site: &Site) -> Result<Codel, Fault> {
        let params = law::Params::from_values(given)?;
        let law = law::Codel::new(&params, site)?;
        let largest = site.packet.max(law::SMALLEST_MAXPACKET as f64);
        Ok(Codel {
            target: params.target.seconds(),
            interval: params.interval.seconds(),
            spared: params.mtu.map_or(largest, |size: Bytes| size.get() as f64) / site.packet,
            target_packets: law.target_packets(),
            above: 0.0,
            dropping: false,
            due: 0.0,
            count: 0.0,
            entered: 0.0,
            p: 0.0,
        })
    }

    /// Equation (1) over a step: the root of the count rises by dt / (2 interval).
    fn rise(&mut self, dt: f64) {
        let root = self.count.sqrt() + dt / (2.0 * self.interval);
        self.count = root * root;
    }

    fn enter(&mut self, now: f64) {
        let risen = self.count + 0.5 - self.entered;
        let recent = now - self.due < RECENT * self.interval;
        self.entered = if risen > 1.0 && recent { risen } else { 1.0 };
        self.count = self.entered - 0.5;
        self.dropping = true;
    }
}

impl Twin for Codel {
    fn step(&mut self, over: &Step) {
        let now = over.now.seconds();
        if over.sojourn < self.target || over.backlog - 1.0 <= self.spared {
            (self.above, self.p) = (0.0, 0.0);
            self.dropping = false;
            return;
        }
        self.above += over.dt;
        if self.above < self.interval {
            return;
        }
        if !self.dropping {
            self.enter(now);
        }
        self.rise(over.dt);
        let gap = self.interval / self.count.sqrt();
        self.due = now + gap;
        let departures = gap * (over.capacity + over.dropped_rate);
        self.p = if departures > 1.0 { 1.0 / departures } else { 1.0 };
    }

    fn p(&self) -> f64 {
        self.p
    }

    fn at_departure(&self) -> bool {
        true
    }

    fn retune(&mut self, _now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = Codel::new(given, site)?;
        let Codel { above, dropping, due, count, entered, p, .. } = *self;
        *self = Codel { above, dropping, due, count, entered, p, ..fresh };
        Ok(())
    }

    fn target_packets(&self) -> Option<f64> {
        self.target_packets
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("count", "packets", self.count);
        out.gauge("dropping", "1", f64::from(u8::from(self.dropping)));
    }
}

/// Intervals within which a drop state is the last one going on.
const RECENT: f64 = 16.0;
