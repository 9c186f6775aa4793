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
//! Default gains follow the paper's design for N flows, link
//! rate C (packets/s) and round-trip time R (queueing at the target included):
//!
//! ```text
//! z   = 2 N / (R^2 C)                      the slow pole of TCP, cancelled  (2)
//! K   = w_g |j w_g R + 1| / ((R C)^3 / (2N)^2),  w_g = z                    (3)
//! ```
//!
//! p is clamped to [0, 1] and the clamped value is the next p, so that there is no
//! windup. After a stall the integral part uses the actual elapsed time. Without a
//! link rate p is constant.

use crate::analysis::{Analysis, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{Linear, OperatingPoint};
use crate::link_context::{LinkContext, Network};
use crate::parts::load::{Load, Path};
use crate::parts::stall;
use crate::periodic::Periodic;
use sojourn_params::{Described, ErrorKind, Given, InputError, Page};
use sojourn_units::{Amount, Frequency, Prob, Span, math};

/// Catalogue entry.
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
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Pi::law(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of PI.
    pub struct Params {
        /// backlog to hold; a time or bytes are converted to packets at the link's first rate
        target "q_ref": Option<Amount> = None, where "within the buffer",
            "100 packets, the ARM-PFC paper's set-point; half of the buffer where that is less";
        /// gain on the present error, 1/packet; without a and b the gains are designed for the scenario
        a "a": Option<f64> = None, above 0.0, where "more than b", "designed by the rule of Hollot et al. 2002";
        /// gain on the previous error, 1/packet
        b "b": Option<f64> = None, above 0.0, where "less than a", "designed by the rule of Hollot et al. 2002";
        /// sampling frequency
        rate "f_s": Option<Frequency> = None, in "0.1 Hz" to "1 MHz",
            "160 Hz, the example of Hollot et al. 2002, or ten samples in 1/z where that is faster";
    }
}

/// Gains of equation (1), per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiGains {
    /// Gain on the present error.
    pub a: f64,
    /// Gain on the previous error.
    pub b: f64,
}

/// The PI controller.
#[derive(Clone, Debug)]
pub struct Pi {
    target: f64,
    gains: PiGains,
    period: Span,

    p: f64,
    /// Previous error, packets.
    error: f64,
}

impl Pi {
    /// PI on the link of `context`, from p = 0 and an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Pi, InputError> {
        let target = context.target(params.target, USUAL_TARGET)?;
        let network = network(context, target);
        let rate = params.rate.unwrap_or_else(|| sampling(network.as_ref().ok()));
        let gains = match (params.a, params.b) {
            (Some(a), Some(b)) if a > b => PiGains { a, b },
            (Some(a), Some(b)) => {
                let problem = format!("is not above b = {b}, so the integral gain a - b is not positive");
                return Err(InputError::conflict(a, problem, "more than b").at("a"));
            }
            (None, None) => designed(network?, rate)?,
            (Some(_), None) => return Err(one_gain().at("b")),
            (None, Some(_)) => return Err(one_gain().at("a")),
        };
        Ok(Pi { target, gains, period: rate.period(), p: 0.0, error: -target })
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<Pi>, InputError> {
        Pi::new(params, context).map(Periodic::new)
    }

    /// The gains in use.
    pub fn gains(&self) -> PiGains {
        self.gains
    }
}

impl Controller for Pi {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, observed: &Observation) -> Prob {
        let PiGains { a, b } = self.gains;
        let error = observed.backlog_packets - self.target;
        if stall::has_no_rate(observed) {
            self.error = error;
            return Prob::clamped(self.p);
        }
        // The integral over the elapsed time beyond one period, which equation (1) does not include.
        let late = observed.elapsed / self.period.seconds() - 1.0;
        let stalled = if late > 0.5 { (a - b) * late * (error + self.error) / 2.0 } else { 0.0 };
        let p = Prob::clamped(self.p + a * error - b * self.error + stalled);
        (self.p, self.error) = (p.get(), error);
        p
    }

    fn reset(&mut self) {
        (self.p, self.error) = (0.0, -self.target);
    }

    fn set_params(&mut self, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Pi::new(given.params.of()?, context)?;
        // The last backlog, relative to the new target: a change of target is no step of the backlog.
        let error = self.error + (self.target - fresh.target);
        *self = Pi { p: self.p, error, ..fresh };
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("error", "packets", self.error);
    }
}

impl Analysis for Pi {
    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn noise(&self, _point: &OperatingPoint) -> NoiseModel {
        NoiseModel { integrates: true, ..NoiseModel::default() }
    }

    fn linear(&self, _point: &OperatingPoint) -> Option<Linear> {
        // Equation (1), and C(s), of which it is the sampled form.
        Some(Linear::steps(self.gains.a, self.gains.b, self.period))
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        out.gauge("a", "1/packet", self.gains.a);
        out.gauge("b", "1/packet", self.gains.b);
        out.gauge("rate", "Hz", 1.0 / self.period.seconds());
    }
}

/// Equations (2) and (3), sampled every `period` seconds.
pub fn design(network: Network, period: f64) -> PiGains {
    let Network { flows, capacity, rtt } = network;
    let z = slow_pole(&network);
    let crossover = z;
    let plant = math::pow_int(rtt * capacity, 3) / math::pow_int(2.0 * flows, 2);
    let k = crossover * math::hypot(crossover * rtt, 1.0) / plant;
    PiGains { a: k * (1.0 / z + period / 2.0), b: k * (1.0 / z - period / 2.0) }
}

/// Design at a sampling frequency; an error for T above 2/z, where b would not be positive.
fn designed(network: Network, rate: Frequency) -> Result<PiGains, InputError> {
    let gains = design(network, rate.period().seconds());
    if gains.b > 0.0 {
        return Ok(gains);
    }
    let least = network.flows / (network.rtt * network.rtt * network.capacity);
    let problem = "is too slow to design gains for this link and load";
    let expected = format!("more than {least:.1} Hz, or give a and b");
    Err(InputError::conflict(rate, problem, expected).at("rate"))
}

/// Error of a gain without the other one.
fn one_gain() -> InputError {
    InputError::new(ErrorKind::Missing, "is missing beside the other gain", "both of a and b, or neither")
}

/// Network of the design; an unknown number of flows has windows of ten packets.
fn network(context: &LinkContext, target: f64) -> Result<Network, InputError> {
    let path = Path::new(None, None, target, context).map_err(|_| {
        let problem = "the gains cannot be designed without a link rate and a round-trip time above 0";
        InputError::new(ErrorKind::Missing, problem, "values of a and b").at("a")
    })?;
    let Path { capacity, rtt, .. } = path;
    let flows = context.long_flows(None);
    Ok(flows.map_or_else(|| path.under(Load::new(None, &path)), |flows| Network { flows, capacity, rtt }))
}

/// Default sampling frequency: the paper's, or ten samples in 1/z if that is faster.
fn sampling(network: Option<&Network>) -> Frequency {
    let z = network.map_or(0.0, slow_pole);
    let hertz = (SAMPLES * z).clamp(USUAL_RATE, FASTEST_RATE);
    Frequency::new(hertz).expect("a frequency above 0")
}

/// Equation (2).
fn slow_pole(network: &Network) -> f64 {
    2.0 * network.flows / (network.rtt * network.rtt * network.capacity)
}

/// Least number of samples in 1/z.
const SAMPLES: f64 = 10.0;
/// Range of the default frequency, Hz.
const USUAL_RATE: f64 = 160.0;
const FASTEST_RATE: f64 = 1e6;

/// Default target, packets.
const USUAL_TARGET: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Rate;

    fn context() -> LinkContext {
        let rate = Rate::from_bits_per_second(3750.0 * 8000.0);
        LinkContext {
            rate,
            packet: 1000.0,
            limit: 800.0,
            flows: Some(60.0),
            base_rtt: Some(Span::from_millis(200)),
        }
    }

    #[test]
    fn one_step_is_equation_1() {
        let params = Params { a: Some(2e-3), b: Some(1e-3), ..Params::default() };
        let mut pi = Pi::new(&params, &context()).unwrap();
        let period = pi.period().seconds();
        let seen =
            |backlog| Observation { backlog_packets: backlog, elapsed: period, ..Observation::default() };
        assert_eq!(pi.update(&seen(150.0)).get(), 2e-3 * 50.0 + 1e-3 * 100.0);
        assert_eq!(pi.update(&seen(140.0)).get(), 0.2 + 2e-3 * 40.0 - 1e-3 * 50.0);
    }

    #[test]
    fn it_does_not_wind_up() {
        let params = Params { a: Some(2e-3), b: Some(1e-3), ..Params::default() };
        let mut pi = Pi::new(&params, &context()).unwrap();
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
    fn without_a_link_rate_p_is_constant() {
        let params = Params { a: Some(2e-3), b: Some(1e-3), ..Params::default() };
        let mut pi = Pi::new(&params, &context()).unwrap();
        let seen = |backlog| Observation {
            backlog_packets: backlog,
            elapsed: 1.0 / 160.0,
            ..Observation::default()
        };
        let p = pi.update(&seen(150.0));
        let standing = Observation { capacity: Some(Rate::ZERO), ..seen(800.0) };
        (0..1000).for_each(|_| assert_eq!(pi.update(&standing), p));
        // Afterwards: 2e-3 (700 - 100) - 1e-3 (800 - 100).
        assert!((pi.update(&seen(700.0)).get() - (p.get() + 0.5)).abs() < 1e-12);
    }

    #[test]
    fn a_stall_integrates_the_elapsed_time() {
        let params = Params { a: Some(2e-5), b: Some(1e-5), ..Params::default() };
        let seen = |elapsed| Observation { backlog_packets: 200.0, elapsed, ..Observation::default() };
        let period = Frequency::new(160.0).unwrap().period().seconds();
        let (mut steady, mut stalled) =
            (Pi::new(&params, &context()).unwrap(), Pi::new(&params, &context()).unwrap());
        steady.update(&seen(period));
        stalled.update(&seen(period));
        for _ in 0..50 {
            steady.update(&seen(period));
        }
        stalled.update(&seen(50.0 * period));
        assert!((steady.p - stalled.p).abs() < 1e-9, "{} {}", steady.p, stalled.p);
    }

    #[test]
    fn unknown_flows_have_windows_of_ten_packets_and_a_short_buffer_halves_the_target() {
        let blind = LinkContext { flows: None, ..context() };
        let path = Path::new(None, None, 100.0, &blind).unwrap();
        let window_of_ten = LinkContext { flows: Some(path.rtt * path.capacity / 10.0), ..context() };
        let [unknown, known] =
            [blind, window_of_ten].map(|context| Pi::new(&Params::default(), &context).unwrap().gains());
        assert!((unknown.a / known.a - 1.0).abs() < 1e-12 && (unknown.b / known.b - 1.0).abs() < 1e-12);
        let short = LinkContext { limit: 50.0, ..context() };
        assert_eq!(Pi::new(&Params::default(), &short).unwrap().target, 25.0);
    }

    #[test]
    fn a_fast_loop_is_sampled_faster() {
        let rate = Rate::from_bits_per_second(1e9);
        let base_rtt = Some(Span::from_millis(1));
        let fast = LinkContext { rate, packet: 1500.0, limit: 50.0, flows: Some(20.0), base_rtt };
        let pi = Pi::new(&Params::default(), &fast).unwrap();
        let network = network(&fast, 25.0).unwrap();
        assert!((pi.period().seconds() * slow_pole(&network) - 0.1).abs() < 1e-6);
    }
}
