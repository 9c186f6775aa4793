//! PI: proportional-integral control of the backlog.
//!
//! C. Hollot, V. Misra, D. Towsley, W. Gong, "Analysis and Design of
//! Controllers for AQM Routers Supporting TCP Flows", IEEE Transactions on
//! Automatic Control 47(6), 2002. Every period T
//!
//! ```text
//! p <- p + a (q - q_ref) - b (q_old - q_ref)                          (1)
//! ```
//!
//! which is C(s) = K (s/z + 1)/s by Tustin's rule, a, b = K (1/z +- T/2).
//! Where no gains are given they follow the paper's design for N flows, link
//! rate C (packets/s) and round-trip time R (queueing at the target included):
//!
//! ```text
//! z   = 2 N / (R^2 C)                      the slow pole of TCP, cancelled  (2)
//! K   = w_g |j w_g R + 1| / ((R C)^3 / (2N)^2),  w_g = z                    (3)
//! ```
//!
//! p is clamped to [0, 1] and the clamped value is kept, so the integrator does
//! not wind up. After a stall the integral part uses the real elapsed time.
//! While the link stands still p is kept.

use crate::catalogue::Entry;
use crate::law::{Controller, Gauges, Given, Observation};
use crate::linear::{Linear, Rest};
use crate::parts::load::{Load, Path};
use crate::parts::missed;
use crate::sampled::Sampled;
use crate::site::{Network, Site};
use sojourn_units::param::Described;
use sojourn_units::{Amount, Fault, Frequency, Page, Prob, Span, math};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "pi",
        summary: "proportional-integral control of the backlog about a target",
        idea: "Every period the probability moves by a times the present error of the backlog less b times the \
               previous one. The integral part holds the target whatever the load; the gains decide how \
               fast. Without gains they are designed for the scenario's flows, rate and round-trip time.",
        equation: "p <- p + a (q - q_ref) - b (q_old - q_ref),  clamped to [0, 1]",
        source: "C. Hollot, V. Misra, D. Towsley, W. Gong, IEEE Transactions on Automatic Control 47(6), 2002",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Pi::law(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of PI.
    pub struct Params {
        /// backlog to hold; a time or bytes are turned into packets at the link's first rate
        target: Option<Amount> = None, "q_ref", "within the buffer" if |_| true,
            "100 packets, the ARM-PFC paper's set-point; half of the buffer where that is less";
        /// gain on the present error, 1/packet; without a and b the gains are designed for the scenario
        a: Option<f64> = None, "a", "more than b" if |a| a.is_none_or(|a| a > 0.0),
            "designed by the rule of Hollot et al. 2002";
        /// gain on the previous error, 1/packet
        b: Option<f64> = None, "b", "more than 0, less than a" if |b| b.is_none_or(|b| b > 0.0),
            "designed by the rule of Hollot et al. 2002";
        /// sampling frequency
        rate: Option<Frequency> = None, "f_s", "0.1 Hz to 1 MHz"
            if |rate| rate.is_none_or(|rate| (0.1..=1e6).contains(&rate.hertz())),
            "160 Hz, the example of Hollot et al. 2002, or ten samples in 1/z where that is faster";
    }
}

/// The gains of equation (1), per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// On the present error.
    pub a: f64,
    /// On the previous error.
    pub b: f64,
}

/// The PI controller.
#[derive(Clone, Debug)]
pub struct Pi {
    target: f64,
    gains: Gains,
    period: Span,

    p: f64,
    /// The previous error, packets.
    error: f64,
}

impl Pi {
    /// PI in front of the link at `site`, from p = 0 and an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<Pi, Fault> {
        let target = site.target(params.target, USUAL_TARGET)?;
        let network = network(site, target);
        let rate = params.rate.unwrap_or_else(|| sampling(network.as_ref().ok()));
        let gains = match (params.a, params.b) {
            (Some(a), Some(b)) if a > b => Gains { a, b },
            (Some(a), Some(b)) => {
                let what = format!(
                    "{a} is not above b = {b}, so the integral gain a - b is not positive; legal: more than b"
                );
                return Err(Fault::new("a", what));
            }
            (None, None) => designed(network?, rate)?,
            (Some(_), None) => return Err(Fault::new("b", ONE_GAIN)),
            (None, Some(_)) => return Err(Fault::new("a", ONE_GAIN)),
        };
        Ok(Pi { target, gains, period: rate.period(), p: 0.0, error: -target })
    }

    /// The law of this controller.
    pub fn law(params: &Params, site: &Site) -> Result<Sampled<Pi>, Fault> {
        Pi::new(params, site).map(Sampled::new)
    }

    /// The gains in use.
    pub fn gains(&self) -> Gains {
        self.gains
    }
}

impl Controller for Pi {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, seen: &Observation) -> Prob {
        let Gains { a, b } = self.gains;
        let error = seen.backlog_packets - self.target;
        if missed::stands_still(seen) {
            self.error = error;
            return Prob::clamped(self.p);
        }
        // The part of the integral that equation (1) does not hold when more than a period went by.
        let late = seen.elapsed / self.period.seconds() - 1.0;
        let stalled = if late > 0.5 { (a - b) * late * (error + self.error) / 2.0 } else { 0.0 };
        let p = Prob::clamped(self.p + a * error - b * self.error + stalled);
        (self.p, self.error) = (p.get(), error);
        p
    }

    fn reset(&mut self) {
        (self.p, self.error) = (0.0, -self.target);
    }

    fn retune(&mut self, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = Pi::new(&Params::from_values(given)?, site)?;
        // The last backlog, about the new target: it is no jump of the queue.
        let error = self.error + (self.target - fresh.target);
        *self = Pi { p: self.p, error, ..fresh };
        Ok(())
    }

    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn linear(&self, _rest: &Rest) -> Option<Linear> {
        // Equation (1), and C(s) of which it is the sampled form.
        Some(Linear::steps(self.gains.a, self.gains.b, self.period))
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        out.gauge("a", "1/packet", self.gains.a);
        out.gauge("b", "1/packet", self.gains.b);
        out.gauge("rate", "Hz", 1.0 / self.period.seconds());
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("error", "packets", self.error);
    }
}

/// Equations (2) and (3), sampled every `period` seconds.
pub fn design(network: Network, period: f64) -> Gains {
    let Network { flows, capacity, rtt } = network;
    let z = slow_pole(&network);
    let crossover = z;
    let plant = math::pow_int(rtt * capacity, 3) / math::pow_int(2.0 * flows, 2);
    let k = crossover * math::hypot(crossover * rtt, 1.0) / plant;
    Gains { a: k * (1.0 / z + period / 2.0), b: k * (1.0 / z - period / 2.0) }
}

/// The design, where this sampling frequency allows one: b is positive up to T = 2/z.
fn designed(network: Network, rate: Frequency) -> Result<Gains, Fault> {
    let gains = design(network, rate.period().seconds());
    if gains.b > 0.0 {
        return Ok(gains);
    }
    let least = network.flows / (network.rtt * network.rtt * network.capacity);
    let what = format!(
        "{rate} is too slow to design gains for this link and load; legal: more than {least:.1} Hz, or give a and b"
    );
    Err(Fault::new("rate", what))
}

/// What the gains are designed for. Where the flows are unknown, windows of ten packets.
fn network(site: &Site, target: f64) -> Result<Network, Fault> {
    let path = Path::new(None, None, target, site).map_err(|_| {
        let what =
            "the gains cannot be designed without a link rate and a round-trip time above 0; give a and b";
        Fault::new("a", what)
    })?;
    let Path { capacity, rtt, .. } = path;
    let flows = site.long_flows(None);
    Ok(flows.map_or_else(|| path.under(Load::new(None, &path)), |flows| Network { flows, capacity, rtt }))
}

/// The paper's frequency, or ten samples in 1/z where the loop is faster than that needs.
fn sampling(network: Option<&Network>) -> Frequency {
    let z = network.map_or(0.0, slow_pole);
    let hertz = (SAMPLES * z).clamp(USUAL_RATE, FASTEST_RATE);
    Frequency::new(hertz).expect("a frequency above 0")
}

/// Equation (2).
fn slow_pole(network: &Network) -> f64 {
    2.0 * network.flows / (network.rtt * network.rtt * network.capacity)
}

/// Samples in 1/z, at least.
const SAMPLES: f64 = 10.0;
/// The frequencies where none is given, Hz.
const USUAL_RATE: f64 = 160.0;
const FASTEST_RATE: f64 = 1e6;
const ONE_GAIN: &str = "is missing beside the other gain; legal: both of a and b, or neither";

/// The target where none is given, packets.
const USUAL_TARGET: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Rate;

    fn site() -> Site {
        let rate = Rate::from_bits_per_second(3750.0 * 8000.0);
        Site { rate, packet: 1000.0, limit: 800.0, flows: Some(60.0), base_rtt: Some(Span::from_millis(200)) }
    }

    #[test]
    fn one_step_is_equation_1() {
        let params = Params { a: Some(2e-3), b: Some(1e-3), ..Params::default() };
        let mut pi = Pi::new(&params, &site()).unwrap();
        let period = pi.period().seconds();
        let seen =
            |backlog| Observation { backlog_packets: backlog, elapsed: period, ..Observation::default() };
        assert_eq!(pi.update(&seen(150.0)).get(), 2e-3 * 50.0 + 1e-3 * 100.0);
        assert_eq!(pi.update(&seen(140.0)).get(), 0.2 + 2e-3 * 40.0 - 1e-3 * 50.0);
    }

    #[test]
    fn it_does_not_wind_up() {
        let params = Params { a: Some(2e-3), b: Some(1e-3), ..Params::default() };
        let mut pi = Pi::new(&params, &site()).unwrap();
        let seen = |backlog| Observation {
            backlog_packets: backlog,
            elapsed: 1.0 / 160.0,
            ..Observation::default()
        };
        for _ in 0..10_000 {
            pi.update(&seen(800.0));
        }
        assert_eq!(pi.p, 1.0);
        pi.update(&seen(0.0));
        assert!(pi.p < 1.0, "leaves the limit at the first error of the other sign");
    }

    #[test]
    fn while_the_link_stands_still_p_is_kept() {
        let params = Params { a: Some(2e-3), b: Some(1e-3), ..Params::default() };
        let mut pi = Pi::new(&params, &site()).unwrap();
        let seen = |backlog| Observation {
            backlog_packets: backlog,
            elapsed: 1.0 / 160.0,
            ..Observation::default()
        };
        let p = pi.update(&seen(150.0));
        let standing = Observation { capacity: Some(Rate::ZERO), ..seen(800.0) };
        (0..1000).for_each(|_| assert_eq!(pi.update(&standing), p));
        // It goes on from there: 2e-3 (700 - 100) - 1e-3 (800 - 100).
        assert!((pi.update(&seen(700.0)).get() - (p.get() + 0.5)).abs() < 1e-12);
    }

    #[test]
    fn a_stall_integrates_the_time_that_went_by() {
        let params = Params { a: Some(2e-5), b: Some(1e-5), ..Params::default() };
        let seen = |elapsed| Observation { backlog_packets: 200.0, elapsed, ..Observation::default() };
        let period = Frequency::new(160.0).unwrap().period().seconds();
        let (mut steady, mut stalled) =
            (Pi::new(&params, &site()).unwrap(), Pi::new(&params, &site()).unwrap());
        steady.update(&seen(period));
        stalled.update(&seen(period));
        for _ in 0..50 {
            steady.update(&seen(period));
        }
        stalled.update(&seen(50.0 * period));
        assert!((steady.p - stalled.p).abs() < 1e-9, "{} {}", steady.p, stalled.p);
    }

    #[test]
    fn a_frequency_below_the_design_is_refused_with_the_least_that_works() {
        let rate = Rate::from_bits_per_second(1e9);
        let base_rtt = Some(Span::from_millis(1));
        let fast = Site { rate, packet: 1500.0, limit: 800.0, flows: Some(100.0), base_rtt };
        let rate = Frequency::new(160.0);
        let params = Params { target: Some(Amount::Packets(50.0)), rate, ..Params::default() };
        let fault = Pi::new(&params, &fast).unwrap_err();
        assert_eq!(fault.key, "rate");
        assert!(fault.what.contains("legal: more than 468.8 Hz"), "{fault}");
        let params = Params { rate: Frequency::new(500.0), ..params };
        assert!(Pi::new(&params, &fast).unwrap().gains().b > 0.0);
    }

    #[test]
    fn a_target_above_the_buffer_and_a_lone_gain_are_refused() {
        let params = Params { target: Some(Amount::Packets(900.0)), ..Params::default() };
        assert_eq!(Pi::new(&params, &site()).unwrap_err().key, "target");
        let params = Params { a: Some(1e-5), ..Params::default() };
        assert_eq!(Pi::new(&params, &site()).unwrap_err().key, "b");
        let still = Site { rate: Rate::from_bits_per_second(0.0), ..site() };
        let told = Pi::new(&Params::default(), &still).unwrap_err().to_string();
        assert_eq!(
            told,
            "a: the gains cannot be designed without a link rate and a round-trip time above 0; give a and b"
        );
    }

    #[test]
    fn untold_flows_are_windows_of_ten_packets_and_a_short_buffer_halves_the_target() {
        let blind = Site { flows: None, ..site() };
        let path = Path::new(None, None, 100.0, &blind).unwrap();
        let window_of_ten = Site { flows: Some(path.rtt * path.capacity / 10.0), ..site() };
        let [untold, told] =
            [blind, window_of_ten].map(|site| Pi::new(&Params::default(), &site).unwrap().gains());
        assert!((untold.a / told.a - 1.0).abs() < 1e-12 && (untold.b / told.b - 1.0).abs() < 1e-12);
        let short = Site { limit: 50.0, ..site() };
        assert_eq!(Pi::new(&Params::default(), &short).unwrap().target, 25.0);
    }

    #[test]
    fn a_fast_loop_is_sampled_faster() {
        let rate = Rate::from_bits_per_second(1e9);
        let base_rtt = Some(Span::from_millis(1));
        let fast = Site { rate, packet: 1500.0, limit: 50.0, flows: Some(20.0), base_rtt };
        let pi = Pi::new(&Params::default(), &fast).unwrap();
        let network = network(&fast, 25.0).unwrap();
        assert!((pi.period().seconds() * slow_pole(&network) - 0.1).abs() < 1e-6);
    }
}
