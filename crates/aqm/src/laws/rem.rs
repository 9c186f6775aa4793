//! REM: random exponential marking.
//!
//! S. Athuraliya, V. Li, S. Low, Q. Yin, "REM: Active Queue Management", IEEE
//! Network 15(3), 2001. Every period T the price mu of a link changes by the excess
//! of the backlog q and of the offered packets x, and the probability of a mark
//! grows with it:
//!
//! ```text
//! mu <- max(0, mu + gamma (alpha (q - q*) + x - c)),  c = C T       (1)
//! p   = 1 - phi^-mu                                                 (2)
//! ```
//!
//! Prices add up along a path, as do the logarithms of the unmarked shares: the
//! share of marks at a source depends on the sum. In the paper's alternative the
//! growth of the backlog replaces x - c (`mismatch = backlog`):
//!
//! ```text
//! mu <- max(0, mu + gamma (q - (1 - alpha) q_old - alpha q*))       (3)
//! ```
//!
//! About the equilibrium both are PI, with g = gamma ln(phi) (1 - p): (1) has the
//! gains g (1 + alpha) and g while the link is busy, (3) has g and g (1 - alpha).
//! This holds for marks. Under drops only x (1 - p) enters the queue: at
//! equilibrium x (1 - p) = c, so that x - c is above 0 and the backlog below the
//! target,
//!
//! ```text
//! q = q* - (c / alpha) p / (1 - p)                                      (4)
//! ```
//!
//! and (1) has g (alpha + 1 / (1 - p)) and g / (1 - p), while p grows by the
//! factor 1 + g c / (1 - p)^2. (3) depends on the queue alone and holds its target.
//! After a stall the backlog term counts once per elapsed period. Without a link
//! rate the price is constant.
//!
//! p applies at arrival or, as for marks in the authors' ns-2 code, at departure
//! (`signal_at`).

use crate::analysis::{Analysis, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{Linear, OperatingPoint, Signal};
use crate::link_context::LinkContext;
use crate::parts::signal_at::{SKIPS_THE_QUEUE, SignalAt};
use crate::parts::stall;
use crate::periodic::Periodic;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, Prob, Rate, Span, math};

sojourn_params::choice! {
    /// Measure of the excess x - c.
    pub enum Mismatch {
        /// Offered packets less the capacity of the link, equation (1).
        Rate = "rate",
        /// Growth of the backlog, equation (3).
        Backlog = "backlog",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "rem",
        summary: "random exponential marking: a price that adds up excess rate and excess backlog",
        idea: "The link has a price, which rises while more is offered than it carries or while the backlog is above \
               the target, and falls otherwise. A packet is marked with 1 - phi^-price. So the price converges to the \
               value that the load needs, and the backlog to the target for any load; the prices of a path \
               add up at the source.",
        equation: "mu <- max(0, mu + gamma (alpha (q - q*) + x - c));  p = 1 - phi^-mu",
        source: "S. Athuraliya, V. Li, S. Low, Q. Yin, \"REM: Active Queue Management\", IEEE Network 15(3), 2001",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Rem::law(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of REM.
    pub struct Params {
        /// backlog to hold; a time or bytes are converted to packets at the link's first rate
        target "q*": Option<Amount> = None, where "within the buffer",
            "20 packets, Athuraliya et al. 2001; half of the buffer where that is less";
        /// step of the price for one packet of excess
        gamma "gamma": f64 = 0.001, in above 0.0 to 1000.0, "Athuraliya et al. 2001";
        /// weight of the backlog against the rate
        alpha "alpha": f64 = 0.1, in above 0.0 to 10.0, "Athuraliya et al. 2001";
        /// base of the probability; its logarithm turns a price into a rate of marks
        phi "phi": f64 = 1.001, in above 1.0 to 1000.0, "Athuraliya et al. 2001";
        /// sampling period
        period "T": Span = Span::from_millis(2), in "1 us" to "1 h", "ns-2; the paper leaves it open";
        /// measure of x - c: rate or backlog
        mismatch "x - c": Mismatch = Mismatch::Rate,
            "Athuraliya et al. 2001, the rule itself; backlog is what they allow in its place";
        /// end of the queue at which packets are marked or dropped: enqueue or dequeue
        signal_at "place": SignalAt = SignalAt::Enqueue,
            "as the other laws with verdicts on arrivals; ns-2's REM marks at dequeue, so that signals skip the queue";
    }
}

/// The REM controller.
#[derive(Clone, Debug)]
pub struct Rem {
    params: Params,
    target: f64,
    /// C, packets/s.
    capacity: f64,
    /// Bytes of a packet.
    packet: f64,
    /// Largest price, at p = [`HIGHEST_P`].
    highest: f64,

    price: f64,
    /// Previous error, packets.
    error: f64,
}

impl Rem {
    /// REM on the link of `context`, from a price of 0 and an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Rem, InputError> {
        let target = context.target(params.target, USUAL_TARGET)?;
        let highest = -math::ln(1.0 - HIGHEST_P) / math::ln(params.phi);
        let (capacity, packet) = (context.capacity(), context.packet);
        Ok(Rem { params: params.clone(), target, capacity, packet, highest, price: 0.0, error: -target })
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<Rem>, InputError> {
        let law = Periodic::new(Rem::new(params, context)?);
        Ok(if params.signal_at.is_departure() { law.at_departure() } else { law })
    }

    /// c of a period, packets.
    fn carried(&self) -> f64 {
        self.capacity * self.params.period.seconds()
    }

    /// x - c of equation (1), or q - q_old of equation (3), packets.
    fn mismatch(&self, observed: &Observation, error: f64) -> f64 {
        match self.params.mismatch {
            Mismatch::Rate => observed.arrived_bytes / self.packet - self.capacity * observed.elapsed,
            Mismatch::Backlog => error - self.error,
        }
    }

    /// Sum of the errors of the periods since the last update: on time the present one or, for equation (3), the
    /// previous one; missed periods are interpolated linearly between them.
    fn errors(&self, observed: &Observation, error: f64) -> f64 {
        let one = match self.params.mismatch {
            Mismatch::Rate => error,
            Mismatch::Backlog => self.error,
        };
        let late = observed.elapsed / self.params.period.seconds() - 1.0;
        if late > 0.5 { one + late * f64::midpoint(error, self.error) } else { one }
    }
}

impl Controller for Rem {
    fn period(&self) -> Span {
        self.params.period
    }

    fn update(&mut self, observed: &Observation) -> Prob {
        let Params { gamma, alpha, phi, .. } = self.params;
        let error = observed.backlog_packets - self.target;
        if !stall::has_no_rate(observed) {
            let excess = alpha * self.errors(observed, error) + self.mismatch(observed, error);
            self.price = (self.price + gamma * excess).clamp(0.0, self.highest);
        }
        self.error = error;
        Prob::clamped(probability(phi, self.price))
    }

    fn reset(&mut self) {
        (self.price, self.error) = (0.0, -self.target);
    }

    fn on_link_change(&mut self, rate: Rate) {
        self.capacity = rate.packets_per_second(self.packet);
    }

    fn set_params(&mut self, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Rem::new(given.params.of()?, context)?;
        self.params.signal_at.check_unchanged(fresh.params.signal_at)?;
        let Rem { capacity, price, .. } = *self;
        // The last backlog, relative to the new target.
        let error = self.error + (self.target - fresh.target);
        *self = Rem { capacity, price, error, ..fresh };
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("price", "1", self.price);
        out.gauge("error", "packets", self.error);
    }
}

impl Analysis for Rem {
    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn equilibrium_backlog(&self, p: Prob, signal: Signal) -> Option<f64> {
        let beyond = match self.params.mismatch {
            // (4): the drops are offered in excess of c.
            Mismatch::Rate => self.carried() * (1.0 / signal.passes(p.get()) - 1.0),
            Mismatch::Backlog => 0.0,
        };
        Some(self.target - beyond / self.params.alpha)
    }

    fn noise(&self, _point: &OperatingPoint) -> NoiseModel {
        NoiseModel { integrates: true, ..NoiseModel::default() }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        if self.params.signal_at.is_departure() {
            return Some(Linear::none(SKIPS_THE_QUEUE));
        }
        // d p = ln(phi) (1 - p) d mu by (2); x = (c + q - q_old) / theta, with theta of the last p.
        let Params { gamma, alpha, phi, mismatch, period, .. } = self.params;
        let g = gamma * math::ln(phi) * (1.0 - point.p);
        Some(match mismatch {
            Mismatch::Rate => {
                let passes = point.signal.passes(point.p);
                let fed_back = match point.signal {
                    Signal::Mark => 0.0,
                    Signal::Drop => g * self.carried() / (passes * passes),
                    Signal::Both { .. } => return None,
                };
                Linear::kept(1.0 + fed_back, [g * (alpha + 1.0 / passes), g / passes], period)
            }
            Mismatch::Backlog => Linear::steps(g, g * (1.0 - alpha), period),
        })
    }
}

/// Equation (2).
fn probability(phi: f64, price: f64) -> f64 {
    1.0 - math::pow(phi, -price)
}

/// Largest p: anti-windup of the price.
const HIGHEST_P: f64 = 0.999;

/// Default target, packets.
const USUAL_TARGET: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 packets/s, two in a period of 2 ms.
    fn context() -> LinkContext {
        LinkContext::example()
    }

    fn rem(change: impl Fn(&mut Params)) -> Rem {
        let mut params = Params { target: Some(Amount::Packets(100.0)), gamma: 1.0, ..Params::default() };
        change(&mut params);
        Rem::new(&params, &context()).unwrap()
    }

    fn seen(backlog: f64, arrived: f64, elapsed: f64) -> Observation {
        let bytes = arrived * 1000.0;
        Observation {
            backlog_packets: backlog,
            arrived_packets: arrived,
            arrived_bytes: bytes,
            elapsed,
            ..Observation::default()
        }
    }

    #[test]
    fn one_step_is_equation_1() {
        let mut rem = rem(|_| ());
        // 0.1 (103 - 100) + 3 - 2 = 1.3, then 0.1 (99 - 100) + 1 - 2 = -1.1.
        let p = rem.update(&seen(103.0, 3.0, 0.002)).get();
        assert!((rem.price - 1.3).abs() < 1e-12);
        assert!((p - (1.0 - math::pow(1.001, -1.3))).abs() < 1e-15);
        rem.update(&seen(99.0, 1.0, 0.002));
        assert!((rem.price - 0.2).abs() < 1e-12);
        rem.update(&seen(0.0, 0.0, 0.002));
        assert_eq!(rem.price, 0.0, "a price is never negative");
    }

    /// ns-2 2.35 under a constant 12 Mbit/s of packets of 1000 B on 8 Mbit/s, gamma 1: prob_ read every 2 ms while
    /// the backlog grew by one packet in each.
    #[test]
    fn ns2_takes_the_same_steps() {
        let mut rem = rem(|_| ());
        rem.price = -math::ln(1.0 - 0.016_750) / math::ln(1.001);
        for (backlog, expected) in [
            (109.0, 0.018_615),
            (110.0, 0.020_575),
            (111.0, 0.022_629),
            (112.0, 0.024_775),
            (113.0, 0.027_015),
        ] {
            let p = rem.update(&seen(backlog, 3.0, 0.002)).get();
            assert!((p - expected).abs() < 3e-6, "{backlog}: {p}, ns-2 {expected}");
        }
    }

    #[test]
    fn one_step_is_equation_3() {
        let mut rem = rem(|params| params.mismatch = Mismatch::Backlog);
        rem.error = 10.0;
        // q - (1 - alpha) q_old - alpha q* = 113 - 0.9 110 - 10 = 4; arrivals do not matter.
        rem.update(&seen(113.0, 50.0, 0.002));
        assert!((rem.price - 4.0).abs() < 1e-12, "{}", rem.price);
    }

    /// Small deviations from equilibrium: equation (1) has the gains g (1 + alpha) and g, equation (3) g and
    /// g (1 - alpha).
    #[test]
    fn near_equilibrium_it_is_pi() {
        let (gamma, phi) = (0.01, 1.1);
        for (mismatch, a, b) in [(Mismatch::Rate, 1.1, 1.0), (Mismatch::Backlog, 1.0, 0.9)] {
            let mut rem = rem(|params| (params.gamma, params.phi, params.mismatch) = (gamma, phi, mismatch));
            (rem.price, rem.error) = (2.0, 0.1);
            let p = probability(phi, 2.0);
            let g = gamma * math::ln(phi) * (1.0 - p);
            // The backlog grew by 0.2 packets, so that 2.2 arrived at a busy link.
            let step = rem.update(&seen(100.3, 2.2, 0.002)).get() - p;
            let expected = g * (a * 0.3 - b * 0.1);
            assert!((step / expected - 1.0).abs() < 1e-3, "{step}, expected {expected}");
        }
    }

    #[test]
    fn a_stall_counts_the_elapsed_periods() {
        let (mut steady, mut stalled) = (rem(|_| ()), rem(|_| ()));
        for rem in [&mut steady, &mut stalled] {
            rem.update(&seen(110.0, 2.0, 0.002));
        }
        for _ in 0..50 {
            steady.update(&seen(110.0, 2.0, 0.002));
        }
        stalled.update(&seen(110.0, 100.0, 0.1));
        assert!((steady.price - stalled.price).abs() < 1e-9, "{} {}", steady.price, stalled.price);
    }

    #[test]
    fn it_does_not_wind_up() {
        let mut rem = rem(|_| ());
        let p = rem.update(&seen(300.0, 1e6, 100.0)).get();
        assert!((p - HIGHEST_P).abs() < 1e-12, "{p}");
        assert!(rem.update(&seen(0.0, 0.0, 0.002)).get() < p, "it falls at once");
        rem.on_link_change(Rate::from_bits_per_second(0.0));
        assert!(rem.update(&seen(300.0, 0.0, 1e9)).get() <= HIGHEST_P + 1e-12);
    }

    #[test]
    fn without_a_link_rate_the_price_is_constant() {
        for mismatch in [Mismatch::Rate, Mismatch::Backlog] {
            let mut rem = rem(|params| params.mismatch = mismatch);
            rem.update(&seen(103.0, 3.0, 0.002));
            let price = rem.price;
            let standing = Observation { capacity: Some(Rate::ZERO), ..seen(300.0, 50.0, 0.002) };
            (0..1000).for_each(|_| _ = rem.update(&standing));
            assert_eq!(rem.price, price);
            rem.update(&seen(299.0, 1.0, 0.002));
            assert!(rem.price > price, "it continues from there");
        }
    }
}
