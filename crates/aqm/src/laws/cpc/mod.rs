//! CPC: cascade probability control, an inner loop for the windows and an outer one for the backlog.
//!
//! H.-L. To et al., "Cascade Probability Control to Mitigate Bufferbloat under
//! Multiple Real-World TCP Stacks", Mathematical Problems in Engineering 2015,
//! 628583. The plant is split at the packets in flight F = N W. The inner loop
//! controls F to its reference by p; the outer loop controls the backlog to its
//! target by the reference of F. With e = q_ref - q and D = dq/dt:
//!
//! ```text
//! dW/dp = -K_1 e^(-s R) / (1 + T_1 s),  dq/dW = N / (1 + R s)
//!         K_1 = (R C)^3 / (4 N^3),  T_1 = R^2 C / (2 N)                       (1)
//! p     = integral of (F - F_ref) / (N T_I)                                   (2)
//! F_ref = C R + N (K_P e + K_i integral of e - K_d D)                         (3)
//! T_I   = K_1 (T_a + T_b)                                                     (4)
//! K_P   = (T_a + T_b) / (2 N T_c),  K_i = K_P / (T_a + T_b),
//!         K_d = K_P T_a T_b / (T_a + T_b)                                     (5)
//! ```
//!
//! (4) and (5) are the magnitude optimum: the closed loop's gain is 1 up to the
//! highest frequency possible. `form = paper` is the paper's: its inner loop
//! neglects the delay, T_a + T_b = 2 T_1, T_a T_b = 2 T_1^2, T_c = R.
//! `form = delay_aware` counts the delay as one more lag: T_a + T_b = 2 (T_1 + R),
//! T_a T_b = 2 T_1 (T_1 + R), T_c = 2 R; its phase margin is 61 degrees instead of
//! 38 on the paper's example. The equations were missing in the text used; these
//! are derived from its description and the model that it cites.
//! `form = autotune` chooses T_I, K_P, K_i and K_d by margins (`autotune.rs`), the
//! counterpart of the paper's "autotune mode"; they are parameters, too.
//!
//! Every period F is measured as lambda (T_p + q / C), or as lambda R with
//! `measure = rate`, where lambda is the smoothed rate of accepted packets. N (K_P, K_i,
//! K_d) and N T_I depend on the number of flows by T_1 and N K_1 alone, and with
//! `adapt = load` these follow from the average p: no N is needed. p and F_ref are
//! clamped, and the integral of e is constant while either is saturated. A late
//! update acts for one round-trip time at most; without a link rate p is constant.

mod autotune;

use crate::analysis::{Analysis, Bounds, Limited, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{Cascade, FOLLOWS_THE_LOAD, InSamples, Linear, OperatingPoint, Rational};
use crate::link_context::{LinkContext, Network};
pub use crate::parts::load::Adapt;
use crate::parts::load::{CAPACITY, CAPACITY_IN_PACKETS, FLOWS, Load, Path, RTT, is_capacity, unknown};
use crate::parts::stall;
use crate::periodic::Periodic;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, LinkRate, Prob, Rate, Span, math};

sojourn_params::choice! {
    /// Design of the two loops.
    pub enum Form {
        /// For windows, queue and the delay of a round trip between them.
        DelayAware = "delay_aware",
        /// For windows and queue alone.
        Paper = "paper",
        /// For a phase margin of 60 degrees, the delay included, or as given by inner, kp, ki and kd.
        Autotune = "autotune",
    }
}

sojourn_params::choice! {
    /// Measurement of the packets in flight.
    pub enum Measure {
        /// Arrival rate times the RTT at the present backlog.
        Flight = "flight",
        /// Arrival rate times the RTT of the design.
        Rate = "rate",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "cpc",
        summary: "two loops: p controls the packets in flight, the backlog sets their reference",
        idea: "The packets in flight are measured as accepted packets per second times the round-trip time. An inner \
               loop moves p until they equal the reference of an outer loop: the bandwidth-delay product, corrected by \
               the backlog's error, its integral and its rate of change. Both loops are designed in closed form \
               for the link and the load; the load is estimated by the average probability, so the number of \
               flows need not be known.",
        equation: "p <- p + T (F - F_ref) / (N T_I);  F_ref = C R + N (K_P e + K_i sum(e) T - K_d (lambda - C))",
        source: "H.-L. To et al., Mathematical Problems in Engineering 2015, 628583",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Cpc::law(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of CPC.
    pub struct Params {
        /// backlog to hold; a time or bytes are converted to packets at the link's first rate
        target "q_ref": Option<Amount> = None, where "within the buffer",
            "100 packets, that of pi and arm_pfc, for comparisons; the paper's run for Reno holds 80 ms; half of the buffer where that is less";
        /// design of the loops: with or without the delay of a round trip
        form "T_a, T_b, T_c": Form = Form::DelayAware,
            "the paper's, without it, has a phase margin of 38 degrees and cycles where the round trip is longer";
        /// measure of the packets in flight: lambda (T_p + q / C) or lambda R
        measure "F": Measure = Measure::Flight, "rate needs no T_p and is less damped";
        /// input of the gain schedule: the average p and the link's rate, or nothing
        adapt "p": Option<Adapt> = None,
            "load for delay_aware: no number of flows is needed; none for the others, whose design is fixed";
        /// long flows that the loops are designed for, to begin with where they follow the load
        flows "N": Option<f64> = None, within FLOWS,
            "the scenario's; where unknown and adapt = load the design begins at p = 0.02";
        /// link rate that the loops are designed for
        capacity "C": Option<LinkRate> = None,
            within CAPACITY, where CAPACITY_IN_PACKETS if |rate| rate.is_none_or(is_capacity),
            "the link's";
        /// round-trip time that the loops are designed for, queueing at the target included
        rtt "R": Option<Span> = None, within RTT, where "more than the target's queueing delay",
            "the scenario's (100 ms where unknown), and the target's queueing delay";
        /// sampling period
        period "T": Option<Span> = None, within RTT, where "at most rtt", "20 ms, at most a quarter of rtt";
        /// time constant of the averages of the arrivals
        smoothing "tau_f": Option<Span> = None, within RTT, where "at most rtt",
            "a quarter of rtt: it takes little from the phase margin";
        /// integral time of the inner loop under autotune, packets s
        inner "T_I": Option<f64> = None, above 0.0, where "with form = autotune",
            "for a phase margin of 60 degrees";
        /// proportional gain of the outer loop under autotune: windows by backlog
        kp "K_P": Option<f64> = None, above 0.0, where "with form = autotune",
            "for a phase margin of 60 degrees";
        /// integral gain of the outer loop under autotune, 1/s
        ki "K_i": Option<f64> = None, above 0.0, where "with form = autotune",
            "the greatest with a modulus margin of a half";
        /// derivative gain of the outer loop under autotune, s
        kd "K_d": Option<f64> = None, above 0.0, where "with form = autotune",
            "T_d = T_i / 4 (Astrom and Hagglund 1984)";
        /// the largest probability
        max_p "p_max": Prob = Prob::ONE, above 0.0, "any load can be held";
    }
}

/// Constants of the two loops, equations (1), (4) and (5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpcDesign {
    /// K_1, packets: gain from p to the window.
    pub window_gain: f64,
    /// T_1, time constant of the windows, s.
    pub window_time: f64,
    /// T_I, packets s: integral time of the inner loop.
    pub inner: f64,
    /// K_P, 1: from the error of the backlog to the window.
    pub proportional: f64,
    /// K_i, 1/s.
    pub integral: f64,
    /// K_d, s.
    pub derivative: f64,
}

/// The CPC controller.
#[derive(Clone, Debug)]
pub struct Cpc {
    target: f64,
    form: Form,
    measure: Measure,
    adapts: bool,
    period: Span,
    smoothing: f64,
    max_p: f64,
    start: Start,

    path: Path,
    load: Load,
    network: Network,
    design: CpcDesign,
    /// lambda, packets/s.
    admitted: f64,
    /// N K_i times the integral of e, packets.
    integral: f64,
    /// F - F_ref, packets.
    excess: f64,
    p: f64,
}

/// Gains of the two loops that are parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Gains {
    /// T_I, packets s.
    inner: Option<f64>,
    /// K_P.
    proportional: Option<f64>,
    /// K_i, 1/s.
    integral: Option<f64>,
    /// K_d, s.
    derivative: Option<f64>,
}

/// Initial state.
#[derive(Clone, Copy, Debug)]
struct Start {
    path: Path,
    load: Load,
    network: Network,
    design: CpcDesign,
}

impl Cpc {
    /// CPC on the link of `context`, from p = 0 and an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Cpc, InputError> {
        let target = context.target(params.target, USUAL_TARGET)?;
        let path = Path::new(params.capacity, params.rtt, target, context)?;
        let waiting = target / path.capacity;
        if path.rtt < waiting {
            let [rtt, waits] = [path.rtt, waiting].map(Span::from_seconds);
            let problem = format!("is less than the queueing delay of the target, {waits}");
            let expected = "more than the target's queueing delay";
            return Err(InputError::conflict(rtt, problem, expected).at("rtt"));
        }
        let start = Start::new(params, context, path)?;
        let mut controller = Cpc {
            target,
            form: params.form,
            measure: params.measure,
            adapts: adapt(params) == Adapt::Load,
            period: within("period", params.period, PERIOD.min(share(path.rtt)), path.rtt)?,
            smoothing: within("smoothing", params.smoothing, share(path.rtt), path.rtt)?.seconds(),
            max_p: params.max_p.get(),
            start,
            path,
            load: start.load,
            network: start.network,
            design: start.design,
            admitted: 0.0,
            integral: 0.0,
            excess: 0.0,
            p: 0.0,
        };
        controller.reset();
        Ok(controller)
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<Cpc>, InputError> {
        Cpc::new(params, context).map(Periodic::new)
    }

    /// Present design.
    pub fn design(&self) -> CpcDesign {
        self.design
    }
}

impl Controller for Cpc {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, observed: &Observation) -> Prob {
        // Without a link rate the samples have no information on the flows.
        if !stall::has_no_rate(observed) {
            self.average(observed);
            if self.adapts {
                self.follow(observed);
            }
            self.act(observed.backlog_packets, observed.elapsed.min(self.path.rtt));
        }
        Prob::clamped(self.p)
    }

    fn reset(&mut self) {
        let Start { path, load, network, design } = self.start;
        (self.path, self.load, self.network, self.design) = (path, load, network, design);
        (self.admitted, self.integral, self.excess, self.p) = (0.0, 0.0, 0.0, 0.0);
    }

    fn on_link_change(&mut self, rate: Rate) {
        self.path.follow(rate);
    }

    fn set_params(&mut self, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Cpc::new(given.params.of()?, context)?;
        let Cpc { load, admitted, integral, excess, p, .. } = *self;
        *self = Cpc { load, admitted, integral, excess, p, ..fresh };
        if self.adapts {
            self.redesign();
        }
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("excess", "packets", self.excess);
        out.gauge("admitted", "packets/s", self.admitted);
        out.gauge("design_flows", "1", self.network.flows);
    }
}

impl Analysis for Cpc {
    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn bounds(&self) -> Bounds {
        Bounds { most_p: self.max_p, ..Bounds::default() }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        let network = if self.adapts { self.path.under(Load::at(point.p)) } else { self.network };
        let design = self.design_for(network);
        let (n, period, one_over_s) =
            (network.flows, self.period.seconds(), Rational::new([1.0], [0.0, 1.0]));
        let CpcDesign { inner, proportional, integral, derivative, .. } = design;
        let inner = one_over_s.clone() * (1.0 / (n * inner));
        let outer = Rational::new([n * integral, n * proportional, n * derivative], [0.0, 1.0]);
        let cascade = Some(Cascade { inner, outer });

        let rate = Rational::new([0.0, 1.0], [1.0, self.smoothing]);
        let continuous = Some(self.whole(point, &network, [rate, one_over_s.clone(), one_over_s]));
        let weight = self.weight();
        let rate = Rational::new([weight / period, -weight / period], [1.0, weight - 1.0]);
        // (3) uses the integral of the last period, (2) adds the present one.
        let [before, now] = [vec![0.0, period], vec![period]].map(|above| Rational::new(above, [1.0, -1.0]));
        let transfer = self.whole(point, &network, [rate, before, now]);
        let linear = Linear::new(continuous, Some(InSamples { transfer, period: self.period }));
        Some(Linear { cascade, ..linear }.assuming(true, AT_ONCE).assuming(self.adapts, FOLLOWS_THE_LOAD))
    }

    fn noise(&self, point: &OperatingPoint) -> NoiseModel {
        let network = if self.adapts { self.path.under(Load::at(point.p)) } else { self.network };
        let CpcDesign { proportional, integral, derivative, .. } = self.design_for(network);
        let (period, weight) = (self.period.seconds(), self.weight());
        let growth = Rational::new([weight / period, -weight / period], [1.0, weight - 1.0]);
        let sum = Rational::new([0.0, period], [1.0, -1.0]);
        let outer = growth * derivative + sum * integral + Rational::constant(proportional);
        let (product, flight) = (self.path.capacity * self.path.rtt, self.flight_at(point));
        let room = [flight - FLIGHT[0] * product, FLIGHT[1] * product - flight];
        let limited = Limited { name: "F_ref", transfer: outer * -network.flows, room };
        NoiseModel { limited: Some(limited), ..NoiseModel::default() }
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        out.gauge("period", "s", self.period.seconds());
        out.gauge("smoothing", "s", self.smoothing);
        if self.form == Form::Autotune {
            let CpcDesign { inner, proportional, integral, derivative, .. } = self.start.design;
            out.gauge("inner", "packets s", inner);
            out.gauge("kp", "1", proportional);
            out.gauge("ki", "1/s", integral);
            out.gauge("kd", "s", derivative);
        }
    }
}

impl Cpc {
    /// Share of a period's rate in its average.
    fn weight(&self) -> f64 {
        1.0 - math::exp(-self.period.seconds() / self.smoothing)
    }

    /// F at an equilibrium, packets.
    fn flight_at(&self, point: &OperatingPoint) -> f64 {
        self.path.capacity
            * match self.measure {
                Measure::Flight => self.base_rtt() + point.backlog / self.path.capacity,
                Measure::Rate => self.path.rtt,
            }
    }

    /// Both loops as one controller, from q to lambda, to its integral in (3) and to the one in (2). At equilibrium
    /// lambda = C, so that F rises by R lambda and, if the present backlog is measured, by q.
    fn whole(
        &self,
        point: &OperatingPoint,
        network: &Network,
        [rate, sum, steps]: [Rational; 3],
    ) -> Rational {
        let (rtt, queued) = match self.measure {
            Measure::Flight => (self.base_rtt() + point.backlog / self.path.capacity, 1.0),
            Measure::Rate => (self.path.rtt, 0.0),
        };
        let n = network.flows;
        let CpcDesign { inner, proportional, integral, derivative, .. } = self.design_for(*network);
        let now = rate * (rtt + n * derivative) + Rational::constant(queued + n * proportional);
        (now + sum * (n * integral)) * (steps * (1.0 / (n * inner)))
    }

    /// Averages the rate of accepted packets. Dropped packets are not in flight and not in the queue; if they counted,
    /// an unresponsive overload would exceed F_ref at any p.
    fn average(&mut self, observed: &Observation) {
        let elapsed = observed.elapsed.max(SHORTEST);
        let weight = 1.0 - math::exp(-elapsed / self.smoothing);
        let admitted = observed.arrived_packets - observed.dropped_packets;
        self.admitted += weight * (admitted / elapsed - self.admitted);
    }

    /// Updates the design from the average p.
    fn follow(&mut self, observed: &Observation) {
        // At an empty queue TCP is not at its equilibrium, and p has no information on the flows.
        if observed.backlog_packets > 0.0 {
            self.load.observe(self.p, observed.elapsed);
        }
        self.redesign();
    }

    fn redesign(&mut self) {
        self.network = self.path.under(self.load);
        self.design = self.design_for(self.network);
    }

    /// Design for a load that the law follows; else that of its start.
    fn design_for(&self, network: Network) -> CpcDesign {
        if self.adapts { design(network, self.form) } else { self.start.design }
    }

    /// Equations (2) and (3) over `step` seconds.
    fn act(&mut self, backlog: f64, step: f64) {
        let flows = self.network.flows;
        let error = self.target - backlog;
        let product = self.path.capacity * self.path.rtt;
        let lift = flows * (self.design.proportional * error - self.design.derivative * self.growth(backlog));
        let wished = product + lift + self.integral;
        let [least, most] = FLIGHT.map(|share| share * product);
        let wanted = wished.clamp(least, most);

        let deaf =
            if error > 0.0 { wished > most || self.p <= 0.0 } else { wished < least || self.p >= self.max_p };
        if !deaf {
            self.integral += flows * self.design.integral * error * step;
        }
        self.excess = self.flight(backlog) - wanted;
        let p = self.p + step * self.excess / (flows * self.design.inner);
        self.p = p.clamp(0.0, self.max_p);
    }

    /// F: packets in flight.
    fn flight(&self, backlog: f64) -> f64 {
        self.admitted
            * match self.measure {
                Measure::Flight => self.base_rtt() + backlog / self.path.capacity,
                Measure::Rate => self.path.rtt,
            }
    }

    /// T_p, s.
    fn base_rtt(&self) -> f64 {
        (self.path.rtt - self.target / self.path.capacity).max(0.0)
    }

    /// D: growth of the backlog, packets/s.
    fn growth(&self, backlog: f64) -> f64 {
        let growth = self.admitted - self.path.capacity;
        if backlog <= 0.0 { growth.max(0.0) } else { growth }
    }
}

/// Equations (1), (4) and (5).
pub fn design(network: Network, form: Form) -> CpcDesign {
    let Network { flows, rtt, .. } = network;
    let [window_gain, window_time] = windows(network);
    // Lags of the outer loop: sum and product of the two of the closed inner loop, and that of the queue.
    let (sum, product, queue) = match form {
        Form::Paper => (2.0 * window_time, 2.0 * window_time * window_time, rtt),
        Form::DelayAware => (2.0 * (window_time + rtt), 2.0 * window_time * (window_time + rtt), 2.0 * rtt),
        Form::Autotune => return autotune::tuned(network, &Gains::default()),
    };
    let proportional = sum / (2.0 * flows * queue);
    CpcDesign {
        window_gain,
        window_time,
        inner: window_gain * sum,
        proportional,
        integral: proportional / sum,
        derivative: proportional * product / sum,
    }
}

/// K_1, packets, and T_1, s: equation (1).
fn windows(network: Network) -> [f64; 2] {
    let Network { flows, capacity, rtt } = network;
    [math::pow_int(rtt * capacity / flows, 3) / 4.0, rtt * rtt * capacity / (2.0 * flows)]
}

impl CpcDesign {
    /// Integral time of the outer loop, s.
    pub fn integral_time(&self) -> f64 {
        self.proportional / self.integral
    }

    /// Derivative time of the outer loop, s.
    pub fn derivative_time(&self) -> f64 {
        self.derivative / self.proportional
    }
}

impl Start {
    fn new(params: &Params, context: &LinkContext, path: Path) -> Result<Start, InputError> {
        let flows = context.long_flows(params.flows);
        let load = Load::new(flows, &path);
        let network = match (adapt(params), flows) {
            (Adapt::Load, _) => path.under(load),
            (Adapt::Nothing, Some(flows)) => Network { flows, capacity: path.capacity, rtt: path.rtt },
            (Adapt::Nothing, None) => return Err(unknown("flows", "the number of long flows")),
        };
        let gains = Gains::of(params)?;
        let design = match params.form {
            Form::Autotune => autotune::tuned(network, &gains),
            form => design(network, form),
        };
        Ok(Start { path, load, network, design })
    }
}

impl Gains {
    /// Gains among the parameters; an error where the form has none, or adapts them.
    fn of(params: &Params) -> Result<Gains, InputError> {
        let Params { inner, kp: proportional, ki: integral, kd: derivative, .. } = *params;
        if params.form == Form::Autotune {
            if params.adapt == Some(Adapt::Load) {
                let problem = "contradicts form = autotune, whose gains are fixed";
                return Err(InputError::conflict("load", problem, "none").at("adapt"));
            }
            return Ok(Gains { inner, proportional, integral, derivative });
        }
        let given = [("inner", inner), ("kp", proportional), ("ki", integral), ("kd", derivative)];
        match given.into_iter().find_map(|(key, value)| Some((key, value?))) {
            Some((key, value)) => {
                let problem = "is a gain of form = autotune";
                Err(InputError::conflict(value, problem, "form = autotune, or no gains").at(key))
            }
            None => Ok(Gains::default()),
        }
    }
}

fn adapt(params: &Params) -> Adapt {
    let usual = match params.form {
        Form::DelayAware => Adapt::Load,
        Form::Paper | Form::Autotune => Adapt::Nothing,
    };
    params.adapt.unwrap_or(usual)
}

/// Value of `key`, or `usual`; an error above the RTT, for which no loop is designed.
fn within(key: &str, given: Option<Span>, usual: Span, rtt: f64) -> Result<Span, InputError> {
    match given {
        Some(span) if span.seconds() > rtt => {
            let problem = format!("is longer than the round trip of {}", Span::from_seconds(rtt));
            Err(InputError::conflict(span, problem, "at most rtt").at(key))
        }
        Some(span) => Ok(span),
        None => Ok(usual),
    }
}

/// A quarter of the round-trip time.
fn share(rtt: f64) -> Span {
    Span::from_seconds(rtt / 4.0).max(Span::from_nanos(1))
}

/// Default sampling period for an RTT of 80 ms or more.
const PERIOD: Span = Span::from_millis(20);
/// Range of F_ref, in bandwidth-delay products.
const FLIGHT: [f64; 2] = [0.25, 2.0];
/// Shortest time between updates, s.
const SHORTEST: f64 = 1e-9;

/// Assumption of the transfer function.
const AT_ONCE: &str = "In s both loops measure without delay; the sampled-data form is the law as it runs.";
/// Default target, packets.
const USUAL_TARGET: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 flows on 1250 packets/s with 0.2 s without queueing: R = 0.28 s, W = 3.5 packets.
    fn context() -> LinkContext {
        let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
        let base_rtt = Some(Span::from_millis(200));
        LinkContext { rate, packet: 1000.0, limit: 300.0, flows: Some(100.0), base_rtt }
    }

    /// A period with so many arrivals per second.
    fn seen(backlog: f64, rate: f64) -> Observation {
        let elapsed = 0.02;
        let arrived_packets = rate * elapsed;
        Observation { backlog_packets: backlog, elapsed, arrived_packets, ..Observation::default() }
    }

    fn built(change: impl Fn(&mut Params)) -> Cpc {
        let mut params = Params::default();
        change(&mut params);
        Cpc::new(&params, &context()).unwrap()
    }

    /// A fixed design, and averages of the last observation alone.
    fn fixed(params: &mut Params) {
        params.adapt = Some(Adapt::Nothing);
        params.smoothing = Some(Span::from_micros(100));
    }

    fn off(ours: f64, expected: f64) -> bool {
        (ours - expected).abs() > 1e-12
    }

    #[test]
    fn the_first_steps_are_equations_2_and_3() {
        // K_1 = 3.5^3 / 4, T_1 = 0.49 s, so T_a + T_b = 1.54 s and N T_I = 1650.6875 packets s;
        // N K_P = 1.375, N K_i = 1 / (4 R), N K_d = 0.67375 s. 50 packets/s above the link's rate.
        let mut controller = built(fixed);
        let flight = 1300.0 * (0.2 + 130.0 / 1250.0);
        let mut wanted = 350.0 - 1.375 * 30.0 - 0.67375 * 50.0;
        let mut p = 0.0;
        for _ in 0..3 {
            p += 0.02 * (flight - wanted) / 1650.6875;
            let ours = controller.update(&seen(130.0, 1300.0)).get();
            assert!(!off(ours, p), "{ours} {p}");
            wanted -= 30.0 / (4.0 * 0.28) * 0.02;
        }
        let mut literal = built(|params| {
            fixed(params);
            params.form = Form::Paper;
            params.measure = Measure::Rate;
        });
        // N T_I = 2 k_dc T_1, N K_P = T_1 / R, N K_d = T_1^2 / R.
        let wanted = 350.0 - 1.75 * 30.0 - 0.8575 * 50.0;
        let p = 0.02 * (1300.0 * 0.28 - wanted) / (2.0 * 1071.875 * 0.49);
        let ours = literal.update(&seen(130.0, 1300.0)).get();
        assert!(!off(ours, p), "{ours} {p}");
    }

    #[test]
    fn dropped_packets_are_not_in_flight() {
        // 1500 packets/s offered, a sixth of them dropped: the backlog, D and F are constant.
        let mut controller = built(fixed);
        let dropping = Observation { dropped_packets: 5.0, ..seen(100.0, 1500.0) };
        let p = controller.update(&dropping).get();
        assert!(!off(p, 0.0) && !off(controller.excess, 0.0), "{p}");
        // An empty queue and a load below the link rate: the backlog is constant, too.
        let mut controller = built(fixed);
        controller.update(&seen(0.0, 500.0));
        assert_eq!(controller.growth(0.0), 0.0);
        assert!(!off(controller.growth(1.0), -750.0));
    }

    #[test]
    fn it_does_not_wind_up() {
        let mut controller = built(|params| params.max_p = Prob::clamped(0.5));
        (0..10_000).for_each(|_| _ = controller.update(&seen(300.0, 5000.0)));
        assert_eq!(controller.p, 0.5);
        let kept = controller.integral;
        controller.update(&seen(300.0, 5000.0));
        assert_eq!(controller.integral, kept, "p cannot rise");
        assert!(kept > -2.0 * 350.0, "{kept}");
        (0..100).for_each(|_| _ = controller.update(&seen(0.0, 0.0)));
        let p = controller.p;
        assert!(p < 0.5, "{p}");
        (0..10_000).for_each(|_| _ = controller.update(&seen(0.0, 0.0)));
        let kept = controller.integral;
        controller.update(&seen(0.0, 0.0));
        assert_eq!((controller.p, controller.integral), (0.0, kept), "p cannot fall");
        assert!(kept < 2.0 * 350.0, "{kept}");
    }

    #[test]
    fn a_stall_counts_as_one_round_trip_at_most() {
        let stalled = |elapsed| {
            let mut controller = built(fixed);
            let late = Observation { elapsed, arrived_packets: 1300.0 * elapsed, ..seen(130.0, 0.0) };
            controller.update(&late).get()
        };
        let step = stalled(0.02);
        assert!(!off(stalled(0.28), 14.0 * step) && !off(stalled(50.0), 14.0 * step));
        assert!(stalled(1e18) < 1.0);
    }

    #[test]
    fn without_a_link_rate_p_is_constant() {
        let mut controller = built(|_| ());
        (0..100).for_each(|_| _ = controller.update(&seen(130.0, 1400.0)));
        let (p, integral) = (controller.p, controller.integral);
        assert!(p > 0.0);
        controller.on_link_change(Rate::ZERO);
        let standing = Observation { capacity: Some(Rate::ZERO), ..seen(300.0, 0.0) };
        (0..1000).for_each(|_| _ = controller.update(&standing));
        assert_eq!((controller.p, controller.integral), (p, integral));
        controller.on_link_change(Rate::from_bits_per_second(5e6));
        assert_eq!((controller.path.capacity, controller.path.rtt), (625.0, 0.2 + 0.16));
        controller.update(&seen(200.0, 700.0));
        assert!(controller.p != p);
    }

    #[test]
    fn a_fixed_design_measures_the_link_as_it_is() {
        let mut controller = built(fixed);
        let before = controller.design;
        controller.on_link_change(Rate::from_bits_per_second(4e7));
        controller.update(&seen(100.0, 5000.0));
        assert_eq!(controller.design, before);
        // Equilibrium on the new link: F is its bandwidth-delay product, and p is constant.
        assert!(controller.excess.abs() < 1e-9, "{}", controller.excess);
    }

    #[test]
    fn a_reset_is_a_new_controller() {
        let mut controller = built(|_| ());
        let run = |controller: &mut Cpc| -> Vec<Prob> {
            (0..80).map(|k| controller.update(&seen(f64::from(k * 3), 1250.0 + f64::from(k)))).collect()
        };
        let first = run(&mut controller);
        controller.on_link_change(Rate::from_bits_per_second(6e6));
        controller.update(&seen(10.0, 100.0));
        controller.on_link_change(Rate::ZERO);
        controller.reset();
        assert_eq!(run(&mut controller), first);
    }

    #[test]
    fn it_is_designed_without_flows_and_without_a_round_trip_time() {
        let blind = LinkContext { flows: None, base_rtt: None, ..context() };
        let controller = Cpc::new(&Params::default(), &blind).unwrap();
        // p = 0.02 means windows of ten packets on 1250 packets/s by 100 + 80 ms.
        assert!(off(controller.network.flows, 0.0) && !off(controller.network.flows, 22.5));
        let near = LinkContext { base_rtt: Some(Span::from_millis(1)), ..blind };
        let params = Params { target: Some(Amount::Packets(5.0)), ..Params::default() };
        let controller = Cpc::new(&params, &near).unwrap();
        assert_eq!(controller.period(), Span::from_micros(1250), "a quarter of 1 + 4 ms");
    }
}
