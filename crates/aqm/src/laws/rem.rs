//! REM: random exponential marking.
//!
//! S. Athuraliya, V. Li, S. Low, Q. Yin, "REM: Active Queue Management", IEEE
//! Network 15(3), 2001. A link has a price. Every period T it moves by what the
//! backlog q and the offered packets x are above what they should be, and the
//! probability of a mark grows with it:
//!
//! ```text
//! mu <- max(0, mu + gamma (alpha (q - q*) + x - c)),  c = C T       (1)
//! p   = 1 - phi^-mu                                                 (2)
//! ```
//!
//! On a path the prices add up, and so does the logarithm of what is left
//! unmarked: a source sees the sum in the share of its packets that is marked.
//! The paper also allows to take the growth of the backlog for x - c
//! (`mismatch = backlog`):
//!
//! ```text
//! mu <- max(0, mu + gamma (q - (1 - alpha) q_old - alpha q*))       (3)
//! ```
//!
//! Near rest both are PI, with g = gamma ln(phi) (1 - p): (1) has the gains
//! g (1 + alpha) and g while the link is busy, (3) has g and g (1 - alpha).
//! That is so with marks. Where packets are dropped instead, the offered x is
//! not what fills the queue: at rest x (1 - p) = c, so that x - c is above 0 and
//! the price stands still below the target only,
//!
//! ```text
//! q = q* - (c / alpha) p / (1 - p)                                      (4)
//! ```
//!
//! and (1) has g (alpha + 1 / (1 - p)) and g / (1 - p), while p grows by the
//! factor 1 + g c / (1 - p)^2. (3) sees the queue alone and holds its target.
//! After a stall the backlog's part counts once for each period of real time.
//! While the link stands still the price is kept.
//!
//! A packet meets p as it arrives or, as its authors have it in ns-2 where it marks,
//! as it leaves (`signal_at`).

use crate::catalogue::Entry;
use crate::law::{Controller, Gauges, Given, Observation};
use crate::linear::{Linear, Rest, Signal};
use crate::parts::missed;
use crate::parts::signal_at::{SKIPS_THE_QUEUE, SignalAt};
use crate::sampled::Sampled;
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Fault, Page, Prob, Rate, Span, math};

sojourn_units::choice! {
    /// What stands for the excess x - c.
    pub enum Mismatch {
        /// What was offered less what the link can carry, equation (1).
        Rate = "rate",
        /// The growth of the backlog, equation (3).
        Backlog = "backlog",
    }
}

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "rem",
        summary: "random exponential marking: a price that adds up excess rate and excess backlog",
        idea: "The link has a price, which rises while more is offered than it carries or while the backlog is above \
               the target, and falls otherwise. A packet is marked with 1 - phi^-price. So the price finds what \
               the load needs, and the backlog stays at the target whatever the load; prices of links in a row \
               add up in what a source sees.",
        equation: "mu <- max(0, mu + gamma (alpha (q - q*) + x - c));  p = 1 - phi^-mu",
        source: "S. Athuraliya, V. Li, S. Low, Q. Yin, \"REM: Active Queue Management\", IEEE Network 15(3), 2001",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Rem::law(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of REM.
    pub struct Params {
        /// backlog to hold; a time or bytes are turned into packets at the link's first rate
        target: Option<Amount> = None, "q*", "within the buffer" if |_| true,
            "20 packets, Athuraliya et al. 2001; half of the buffer where that is less";
        /// step of the price for one packet of excess
        gamma: f64 = 0.001, "gamma", "more than 0, at most 1000" if |gamma| *gamma > 0.0 && *gamma <= 1000.0,
            "Athuraliya et al. 2001";
        /// weight of the backlog against the rate
        alpha: f64 = 0.1, "alpha", "more than 0, at most 10" if |alpha| *alpha > 0.0 && *alpha <= 10.0,
            "Athuraliya et al. 2001";
        /// base of the probability; its logarithm turns a price into a rate of marks
        phi: f64 = 1.001, "phi", "more than 1, at most 1000" if |phi| *phi > 1.0 && *phi <= 1000.0,
            "Athuraliya et al. 2001";
        /// sampling period
        period: Span = Span::from_millis(2), "T", "1 us to 1 h"
            if |period| (Span::from_micros(1)..=Span::from_secs(3600)).contains(period),
            "ns-2; the paper leaves it open";
        /// what stands for x - c: rate or backlog
        mismatch: Mismatch = Mismatch::Rate, "x - c", "rate or backlog" if |_| true,
            "Athuraliya et al. 2001, the rule itself; backlog is what they allow in its place";
        /// where packets are marked or dropped: enqueue or dequeue
        signal_at: SignalAt = SignalAt::Enqueue, "place", "enqueue or dequeue" if |_| true,
            "as every law here that judges arrivals; ns-2's REM marks at dequeue, which spares the signal the queue";
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
    /// The price at which p is so near 1 that it need not rise.
    highest: f64,

    price: f64,
    /// The previous error, packets.
    error: f64,
}

impl Rem {
    /// REM in front of the link at `site`, from a price of 0 and an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<Rem, Fault> {
        let target = site.target(params.target, USUAL_TARGET)?;
        let highest = -math::ln(1.0 - HIGHEST_P) / math::ln(params.phi);
        let (capacity, packet) = (site.capacity(), site.packet);
        Ok(Rem { params: params.clone(), target, capacity, packet, highest, price: 0.0, error: -target })
    }

    /// The law of this controller.
    pub fn law(params: &Params, site: &Site) -> Result<Sampled<Rem>, Fault> {
        Rem::new(params, site).map(Sampled::new)
    }

    /// c of a period, packets.
    fn carried(&self) -> f64 {
        self.capacity * self.params.period.seconds()
    }

    /// x - c of equation (1), or q - q_old of equation (3), packets.
    fn mismatch(&self, seen: &Observation, error: f64) -> f64 {
        match self.params.mismatch {
            Mismatch::Rate => seen.arrived_bytes / self.packet - self.capacity * seen.elapsed,
            Mismatch::Backlog => error - self.error,
        }
    }

    /// The errors of the periods since the last update, added up: on time the present one or, for equation
    /// (3), the previous one; the periods that were missed on a straight line between them.
    fn errors(&self, seen: &Observation, error: f64) -> f64 {
        let one = match self.params.mismatch {
            Mismatch::Rate => error,
            Mismatch::Backlog => self.error,
        };
        let late = seen.elapsed / self.params.period.seconds() - 1.0;
        if late > 0.5 { one + late * f64::midpoint(error, self.error) } else { one }
    }
}

impl Controller for Rem {
    fn period(&self) -> Span {
        self.params.period
    }

    fn update(&mut self, seen: &Observation) -> Prob {
        let Params { gamma, alpha, phi, .. } = self.params;
        let error = seen.backlog_packets - self.target;
        if !missed::stands_still(seen) {
            let excess = alpha * self.errors(seen, error) + self.mismatch(seen, error);
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

    fn retune(&mut self, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = Rem::new(&Params::from_values(given)?, site)?;
        self.params.signal_at.stays(fresh.params.signal_at)?;
        let Rem { capacity, price, .. } = *self;
        // The last backlog, about the new target.
        let error = self.error + (self.target - fresh.target);
        *self = Rem { capacity, price, error, ..fresh };
        Ok(())
    }

    fn at_departure(&self) -> bool {
        self.params.signal_at == SignalAt::Dequeue
    }

    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn stands_at(&self, p: Prob, signal: Signal) -> Option<f64> {
        let beyond = match self.params.mismatch {
            // (4): what is dropped is offered beyond c.
            Mismatch::Rate => self.carried() * (1.0 / signal.passes(p.get()) - 1.0),
            Mismatch::Backlog => 0.0,
        };
        Some(self.target - beyond / self.params.alpha)
    }

    fn linear(&self, rest: &Rest) -> Option<Linear> {
        if self.at_departure() {
            return Some(Linear::none(SKIPS_THE_QUEUE));
        }
        // d p = ln(phi) (1 - p) d mu by (2); x = (c + q - q_old) / theta, where the last p let in theta.
        let Params { gamma, alpha, phi, mismatch, period, .. } = self.params;
        let g = gamma * math::ln(phi) * (1.0 - rest.p);
        Some(match mismatch {
            Mismatch::Rate => {
                let passes = rest.signal.passes(rest.p);
                let fed_back = match rest.signal {
                    Signal::Mark => 0.0,
                    Signal::Drop => g * self.carried() / (passes * passes),
                    Signal::Both { .. } => return None,
                };
                Linear::kept(1.0 + fed_back, [g * (alpha + 1.0 / passes), g / passes], period)
            }
            Mismatch::Backlog => Linear::steps(g, g * (1.0 - alpha), period),
        })
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("price", "1", self.price);
        out.gauge("error", "packets", self.error);
    }
}

/// Equation (2).
fn probability(phi: f64, price: f64) -> f64 {
    1.0 - math::pow(phi, -price)
}

/// Where the price stops rising: what it added up at p = 1 it would have to lose again.
const HIGHEST_P: f64 = 0.999;

/// The target where none is given, packets.
const USUAL_TARGET: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 packets/s, two in a period of 2 ms.
    fn site() -> Site {
        let rate = Rate::from_bits_per_second(8e6);
        Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None }
    }

    fn rem(change: impl Fn(&mut Params)) -> Rem {
        let mut params = Params { target: Some(Amount::Packets(100.0)), gamma: 1.0, ..Params::default() };
        change(&mut params);
        Rem::new(&params, &site()).unwrap()
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

    /// Small changes about rest: equation (1) has the gains g (1 + alpha) and g, equation (3) g and g (1 - alpha).
    #[test]
    fn near_rest_it_is_pi() {
        let (gamma, phi) = (0.01, 1.1);
        for (mismatch, a, b) in [(Mismatch::Rate, 1.1, 1.0), (Mismatch::Backlog, 1.0, 0.9)] {
            let mut rem = rem(|params| (params.gamma, params.phi, params.mismatch) = (gamma, phi, mismatch));
            (rem.price, rem.error) = (2.0, 0.1);
            let p = probability(phi, 2.0);
            let g = gamma * math::ln(phi) * (1.0 - p);
            // The backlog grew by 0.2 packets, so on a busy link 2.2 came.
            let step = rem.update(&seen(100.3, 2.2, 0.002)).get() - p;
            let expected = g * (a * 0.3 - b * 0.1);
            assert!((step / expected - 1.0).abs() < 1e-3, "{step}, expected {expected}");
        }
    }

    #[test]
    fn a_stall_counts_the_time_that_went_by() {
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
    fn while_the_link_stands_still_the_price_is_kept() {
        for mismatch in [Mismatch::Rate, Mismatch::Backlog] {
            let mut rem = rem(|params| params.mismatch = mismatch);
            rem.update(&seen(103.0, 3.0, 0.002));
            let price = rem.price;
            let standing = Observation { capacity: Some(Rate::ZERO), ..seen(300.0, 50.0, 0.002) };
            (0..1000).for_each(|_| _ = rem.update(&standing));
            assert_eq!(rem.price, price);
            rem.update(&seen(299.0, 1.0, 0.002));
            assert!(rem.price > price, "it goes on from there");
        }
    }

    #[test]
    fn a_target_above_the_buffer_is_refused() {
        let params = Params { target: Some(Amount::Packets(301.0)), ..Params::default() };
        assert_eq!(Rem::new(&params, &site()).unwrap_err().key, "target");
    }
}
