//! The price law of one queue in continuous time.
//!
//! Equations (i) to (iii), or (4), of `price.rs`. About its equilibrium the law is, from packets to price,
//!
//! ```text
//! form = pi      K_P + K_I / s
//! form = price   1 / sigma
//! ```

use super::Sqm;
use super::price::{LinkView, PiGains, Price, PriceLaw, QueueView};
use crate::analysis::{Analysis, Bounds};
use crate::entry::Designed;
use crate::fluid_law::{FluidLaw, FluidStep, PricedShare};
use crate::gauges::Gauges;
use crate::law::{Arrival, Law, Verdict};
use crate::linear::{Linear, OperatingPoint, Rational};
use crate::link_context::LinkContext;
use sojourn_params::{Given, InputError};
use sojourn_units::{Prob, Time};

/// Prices of queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct FluidForm {
    pub(super) law: PriceLaw,
    /// T, s.
    pub(super) target: f64,
}

impl FluidForm {
    /// That of the parameters.
    pub(super) fn of(sqm: &Sqm) -> FluidForm {
        FluidForm { law: PriceLaw::of(sqm), target: sqm.target.seconds() }
    }
}

/// The price law, with its form without packets.
pub(super) fn designed(form: FluidForm, share: PricedShare) -> Designed {
    let law = QueuePrice { form, share, price: Price::default() };
    Designed::new(law.clone()).with_fluid(law)
}

/// Price law of one queue.
#[derive(Clone)]
struct QueuePrice {
    form: FluidForm,
    share: PricedShare,
    price: Price,
}

impl QueuePrice {
    fn queue(&self, backlog: f64) -> QueueView {
        let PricedShare { rate, delay, scale } = self.share;
        QueueView { backlog, rate, delay, scale }
    }

    fn gains(&self) -> PiGains {
        PiGains::of(self.share.rate, self.share.delay)
    }
}

impl FluidLaw for QueuePrice {
    fn step(&mut self, over: &FluidStep) {
        let is_absent = over.backlog <= 0.0 && over.arrival_rate <= 0.0;
        if is_absent || self.share.rate <= 0.0 {
            self.price = Price::default();
            return;
        }
        let [backlog, rate] = over.link.unwrap_or([over.backlog, self.share.rate]);
        let link = LinkView { backlog, rate, target: self.form.target };
        self.price.advance(over.dt, self.form.law, &self.queue(over.backlog), &link);
    }

    fn p(&self) -> f64 {
        match self.form.law {
            PriceLaw::Pi | PriceLaw::Price { .. } => self.price.price(),
            PriceLaw::Predictive | PriceLaw::Delay => 0.0,
        }
    }

    fn on_share(&mut self, share: &PricedShare) {
        self.share = *share;
    }

    fn set_params(&mut self, _: Time, given: &Given, _: &LinkContext) -> Result<(), InputError> {
        self.form = FluidForm::of(given.params.of()?);
        Ok(())
    }
}

/// The queue alone before a link of its share.
impl Law for QueuePrice {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let queue = self.queue(f64::from(arrival.backlog.packets));
        let link = LinkView { backlog: queue.backlog, rate: queue.rate, target: self.form.target };
        let is_signalled = self.price.judge(arrival.now, self.form.law, &queue, &link);
        if is_signalled { arrival.signalled() } else { Verdict::Pass }
    }

    fn set_params(&mut self, now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        FluidLaw::set_params(self, now, given, context)
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.price.price());
    }
}

impl Analysis for QueuePrice {
    fn target_packets(&self) -> Option<f64> {
        (self.form.law == PriceLaw::Pi).then_some(self.share.rate * self.form.target)
    }

    fn steady_state_p(&self, backlog: f64) -> Option<Prob> {
        let PriceLaw::Price { beta } = self.form.law else { return None };
        Some(Prob::clamped((backlog - beta) / self.share.scale))
    }

    fn linear(&self, _point: &OperatingPoint) -> Option<Linear> {
        match self.form.law {
            PriceLaw::Pi => {
                let PiGains { by_error, by_integral, .. } = self.gains();
                let law = Rational::new([by_integral, by_error], [0.0, 1.0]);
                Some(Linear::new(Some(law), None).assuming(true, ABOVE_THE_TARGET))
            }
            PriceLaw::Price { .. } => {
                Some(Linear::new(Some(Rational::constant(1.0 / self.share.scale)), None))
            }
            PriceLaw::Predictive | PriceLaw::Delay => None,
        }
    }

    fn bounds(&self) -> Bounds {
        match self.form.law {
            PriceLaw::Price { beta } => Bounds { most_p: 1.0, spared: beta },
            PriceLaw::Predictive | PriceLaw::Pi | PriceLaw::Delay => Bounds::default(),
        }
    }

    fn derived(&self, out: &mut dyn Gauges) {
        match self.form.law {
            PriceLaw::Pi => {
                let PiGains { usual, by_error, by_integral } = self.gains();
                out.gauge("p^", "1", usual);
                out.gauge("K_P", "1/packet", by_error);
                out.gauge("K_I", "1/(packet s)", by_integral);
            }
            PriceLaw::Price { .. } => out.gauge("sigma", "packets", self.share.scale),
            PriceLaw::Predictive | PriceLaw::Delay => (),
        }
    }
}

/// The branches of equations (i) and (ii) of the price law that the linear model has.
const ABOVE_THE_TARGET: &str = "The backlog of the link is not below its target: while it is, the error of a queue is at \
                                most its part of the link's. The error of a queue is at most 3 C_i T: of a greater one \
                                the integral counts so much.";
