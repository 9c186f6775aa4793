//! Fluid CoDel: the control law as a rate of signals.
//!
//! After an interval above the target, signals are `interval / sqrt(count)` apart, and each increments the count:
//!
//! ```text
//! count' = sqrt(count) / interval,  p = count' / (departures per second)      (1)
//! ```
//!
//! The law's count is a staircase, that of (1) a line through the middle of its steps: where the law enters with a
//! count of n, (1) starts at n - 1/2. A delay below the target, or a backlog within one MTU, ends the drop state at
//! once. On re-entry within 16 intervals n is the rise of the count in the last drop state, as in the law. p applies
//! to departures.

use super::{Params, SMALLEST_MAXPACKET};
use crate::fluid_law::{FluidLaw, FluidStep};
use crate::gauges::Gauges;
use crate::link_context::LinkContext;
use sojourn_params::{Given, InputError};
use sojourn_units::{Bytes, Time};

/// CoDel of a fluid.
#[derive(Clone)]
pub struct FluidCodel {
    target: f64,
    interval: f64,
    /// Largest backlog without signals, packets, not counting the departing one.
    spared: f64,

    /// Time since the delay exceeded the target, s.
    above: f64,
    dropping: bool,
    /// Time of the next signal, s.
    due: f64,
    count: f64,
    /// Count at the last entry.
    entered: f64,
    p: f64,
}

impl FluidCodel {
    /// CoDel with these parameters, from an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<FluidCodel, InputError> {
        let largest = context.packet.max(SMALLEST_MAXPACKET as f64);
        Ok(FluidCodel {
            target: params.target.seconds(),
            interval: params.interval.seconds(),
            spared: params.mtu.map_or(largest, |size: Bytes| size.get() as f64) / context.packet,
            above: 0.0,
            dropping: false,
            due: 0.0,
            count: 0.0,
            entered: 0.0,
            p: 0.0,
        })
    }

    /// Equation (1) over a step: sqrt(count) rises by dt / (2 interval).
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

impl FluidLaw for FluidCodel {
    fn step(&mut self, over: &FluidStep) {
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

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = FluidCodel::new(given.params.of()?, context)?;
        let FluidCodel { above, dropping, due, count, entered, p, .. } = *self;
        *self = FluidCodel { above, dropping, due, count, entered, p, ..fresh };
        Ok(())
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("count", "packets", self.count);
        out.gauge("dropping", "1", f64::from(u8::from(self.dropping)));
    }
}

/// Intervals within which a drop state continues the last one.
const RECENT: f64 = 16.0;
