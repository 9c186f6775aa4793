//! PID: proportional, integral and derivative control of the backlog.
//!
//! S. Ryu, C. Rump, "Application of a PID Feedback Control Algorithm for
//! Adaptive Queue Management to Support TCP Congestion Control", Journal of
//! Communications and Networks 6(2), 2004, as cited by S. Ryu, B. Ryu, M. Jeong,
//! S. Park, "PI-PD Controller for Adaptive and Robust Active Queue Management
//! for Internet Congestion Control", sections 2.6 and 4.1, whose equation
//! numbers these are. Every period T_s, with e = q - q_ref,
//!
//! ```text
//! p(k) = p(k-1) + a_1 e(k) - b_1 e(k-1) + c_1 e(k-2)                     (6)
//!        a_1 = K_P + K_D/T_s + K_I T_s/2,  b_1 = K_P + 2 K_D/T_s - K_I T_s/2,
//!        c_1 = K_D/T_s
//! ```
//!
//! Default gains follow the design of section 4.1 for N flows, link
//! rate C (packets/s) and round-trip time R (queueing at the target included):
//!
//! ```text
//! P(s) = (C^2 / 2N) / ((s + p_1)(s + p_2)),  p_1 = 2N/(R^2 C), p_2 = 1/R  (1)
//! (K_P1 + K_D1 s)(K_P2 + K_I2/s)                                         (5)
//!        s^2 + 2 xi w_n s + w_n^2 under PD,  w_n = 2/(R xi);
//!        PI keeps w_n and puts its zero on p_1
//! ```
//!
//! and all three are multiplied by kappa. Without kappa the loop is unstable:
//! the design neglects the delay e^(-s R), and kappa compensates for it.
//!
//! `form = velocity` is (6) to the letter: p is clamped to [0, 1] and the clamped
//! value is the next p(k-1). At a light load that misses the target: the
//! derivative part takes p below 0, the clamped part is lost from the sum, and p
//! is too high on average. `form = position` clamps the sum of the errors alone
//! to [0, 1] and adds the other two parts every period:
//!
//! ```text
//! I(k) = I(k-1) + K_I T_s (e(k) + e(k-1))/2
//! p(k) = I(k) + K_P e(k) + K_D (e(k) - e(k-1))/T_s                       (6')
//! ```
//!
//! Without clamping both are equal. Without a link rate p is constant. After a
//! stall the missed periods are replayed.

use crate::analysis::{Analysis, NoiseModel};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{FOLLOWS_THE_LOAD, Linear, OperatingPoint, Rational};
use crate::link_context::{LinkContext, Network};
pub use crate::parts::load::Adapt;
use crate::parts::load::{
    CAPACITY, CAPACITY_IN_PACKETS, FLOWS, GainSchedule, Load, Path, RTT, is_capacity, unknown,
};
use crate::parts::stall;
use crate::periodic::Periodic;
use sojourn_params::{Described, ErrorKind, Given, InputError, Page};
use sojourn_units::{Amount, Frequency, LinkRate, Prob, Rate, Span, math};

sojourn_params::choice! {
    /// State carried from one period to the next.
    pub enum Form {
        /// Sum of the errors.
        Position = "position",
        /// p.
        Velocity = "velocity",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "pid",
        summary: "proportional, integral and derivative control of the backlog about a target",
        idea: "Every period the probability is moved by the error of the backlog, by its first difference, and by \
               its second difference; the last is the derivative part, which responds to a growing queue before \
               it is long. Without gains they are designed for the scenario's flows, rate and round-trip time. \
               Where the flows are unknown the gains follow the average probability, which determines TCP's \
               window and so the number of flows; an unknown round-trip time is taken as 100 ms.",
        equation: "p <- p + a1 e(k) - b1 e(k-1) + c1 e(k-2),  e = q - q_ref,  clamped to [0, 1]",
        source: "S. Ryu, C. Rump, Journal of Communications and Networks 6(2), 2004",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Pid::law(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of PID.
    pub struct Params {
        /// backlog to hold; a time or bytes are converted to packets at the link's first rate
        target "Q_ref": Option<Amount> = None, where "within the buffer",
            "100 packets, pi's, so that the two compare; the paper has 200 packets in a buffer of 800; half of the buffer where that is less";
        /// state carried from one period to the next: the sum of the errors, or p
        form "form": Form = Form::Position,
            "the paper's, velocity, misses the target where p is small; both are equal while p is not clamped to 0 or 1";
        /// proportional gain, 1/packet; without kp, ki and kd the gains are designed
        kp "K_P": Option<f64> = None, at least 0.0, "the paper's design; its Table 1 has 6.2e-5";
        /// integral gain, 1/(packet s)
        ki "K_I": Option<f64> = None, above 0.0, "the paper's design; its Table 1 has 3.12e-5";
        /// derivative gain, s/packet
        kd "K_D": Option<f64> = None, at least 0.0,
            "the paper's design: 5.1e-6 for its network; the 5.1e-5 in its Table 1 is a misprint";
        /// overshoot that the design without delay may have
        overshoot "MOS": f64 = 0.05, in above 0.0 to below 1.0, "the paper: a damping of 0.69";
        /// factor of the designed gains
        kappa "kappa": f64 = 0.05, in above 0.0 to 1.0,
            "the paper, by trial; with the delay the phase margin is 54 degrees";
        /// sampling frequency
        rate "f_s": Option<Frequency> = None, in "0.1 Hz" to "1 MHz",
            "the paper's 29.5 Hz at a round-trip time of 0.246 s, and as many samples in any other";
        /// input of the gain schedule: the average p and the link's rate, or nothing
        adapt "p": Option<Adapt> = None, "none, as the paper; load where the flows are unknown";
        /// long flows that the gains are designed for, to begin with where they are scheduled
        flows "N": Option<f64> = None, within FLOWS, "the scenario's; where unknown the design begins at p = 0.02";
        /// link rate that the gains are designed for
        capacity "C": Option<LinkRate> = None,
            within CAPACITY, where CAPACITY_IN_PACKETS if |rate| rate.is_none_or(is_capacity),
            "the link's";
        /// round-trip time that the gains are designed for, queueing at the target included
        rtt "R_0": Option<Span> = None, within RTT,
            "the scenario's (100 ms where unknown), and the target's queueing delay";
    }
}

/// TCP and queue about an operating point, without the delay: gain / ((s + slow)(s + fast)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoPolePlant {
    /// C^2 / 2N, packets/s^2.
    pub gain: f64,
    /// p_1, 1/s: pole of the window.
    pub slow: f64,
    /// p_2, 1/s: pole of the queue.
    pub fast: f64,
}

/// Gains of K_P + K_I/s + K_D s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PidGains {
    /// K_P, 1/packet.
    pub p: f64,
    /// K_I, 1/(packet s).
    pub i: f64,
    /// K_D, s/packet.
    pub d: f64,
}

/// Coefficients a_1, b_1, c_1 of equation (6), 1/packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PidCoefficients {
    /// Coefficient of the present error.
    pub a: f64,
    /// Coefficient of the last error, subtracted.
    pub b: f64,
    /// Coefficient of the error before that.
    pub c: f64,
}

/// The PID controller.
#[derive(Clone, Debug)]
pub struct Pid {
    target: f64,
    form: Form,
    period: Span,
    design: Specification,
    start: State,

    now: State,
}

/// State.
#[derive(Clone, Copy, Debug)]
struct State {
    gains: PidGains,
    /// Inputs of the gain schedule; None: a fixed design.
    schedule: Option<GainSchedule>,
    p: f64,
    /// I(k-1).
    sum: f64,
    /// Errors e(k-1), e(k-2), packets.
    errors: [f64; 2],
}

/// Specification of the loop.
#[derive(Clone, Copy, Debug)]
struct Specification {
    /// xi.
    damping: f64,
    kappa: f64,
}

impl Pid {
    /// PID on the link of `context`, from p = 0 and an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Pid, InputError> {
        let target = context.target(params.target, USUAL_TARGET)?;
        let path = Path::new(params.capacity, params.rtt, target, context)?;
        let period = params.rate.map_or_else(|| paper_period(path.rtt), Frequency::period);
        let design = Specification { damping: damping(params.overshoot), kappa: params.kappa };
        let (gains, schedule) = match (params.kp, params.ki, params.kd) {
            (Some(p), Some(i), Some(d)) => (PidGains { p, i, d }, None),
            (None, None, None) => design.begin(params, context, path)?,
            (None, _, _) => return Err(all_gains().at("kp")),
            (_, None, _) => return Err(all_gains().at("ki")),
            (_, _, None) => return Err(all_gains().at("kd")),
        };
        // The sum that gives p = 0 at an empty queue.
        let sum = Prob::clamped(gains.p * target).get();
        let start = State { gains, schedule, p: 0.0, sum, errors: [-target; 2] };
        Ok(Pid { target, form: params.form, period, design, start, now: start })
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<Pid>, InputError> {
        Pid::new(params, context).map(Periodic::new)
    }

    /// The gains in use.
    pub fn gains(&self) -> PidGains {
        self.now.gains
    }
}

impl Controller for Pid {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, observed: &Observation) -> Prob {
        let error = observed.backlog_packets - self.target;
        if stall::has_no_rate(observed) {
            self.now.errors = [error; 2];
            return Prob::clamped(self.now.p);
        }
        self.follow(observed.elapsed);
        for error in stall::samples(self.now.errors[0], error, observed.elapsed, self.period.seconds()) {
            self.step(error);
        }
        Prob::clamped(self.now.p)
    }

    fn reset(&mut self) {
        self.now = self.start;
    }

    fn on_link_change(&mut self, rate: Rate) {
        if let Some(schedule) = &mut self.now.schedule {
            schedule.path.follow(rate);
        }
    }

    fn set_params(&mut self, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Pid::new(given.params.of()?, context)?;
        let State { p, sum, errors, schedule, .. } = self.now;
        // The last backlogs, relative to the new target; the sum compensates the change of K_P e.
        let risen = fresh.target - self.target;
        let schedule = fresh.now.schedule.map(|fresh| fresh.after(schedule));
        let errors = errors.map(|error| error - risen);
        *self = Pid { now: State { schedule, p, errors, ..fresh.now }, ..fresh };
        self.follow(0.0);
        self.now.sum = Prob::clamped(sum + self.now.gains.p * risen).get();
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("error", "packets", self.now.errors[0]);
        if let Some(schedule) = self.now.schedule {
            out.gauge("design_p", "1", schedule.load.p());
        }
    }
}

impl Analysis for Pid {
    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn noise(&self, _point: &OperatingPoint) -> NoiseModel {
        NoiseModel { integrates: self.form == Form::Velocity, ..NoiseModel::default() }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        // The gains follow the average p, which is p at equilibrium; they scale errors, which are zero there.
        let gains = self.now.schedule.map_or(self.now.gains, |GainSchedule { path, .. }| {
            self.design.gains(path.under(Load::at(point.p)))
        });
        let PidCoefficients { a, b, c } = gains.sampled(self.period.seconds());
        let continuous = Rational::new([gains.i, gains.p, gains.d], [0.0, 1.0]);
        let linear = Linear::both(continuous, Rational::new([a, -b, c], [1.0, -1.0]), self.period);
        Some(linear.assuming(self.now.schedule.is_some(), FOLLOWS_THE_LOAD))
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        let PidGains { p, i, d } = self.now.gains;
        out.gauge("kp", "1/packet", p);
        out.gauge("ki", "1/(packet s)", i);
        out.gauge("kd", "s/packet", d);
        out.gauge("rate", "Hz", 1.0 / self.period.seconds());
    }
}

impl Pid {
    fn step(&mut self, error: f64) {
        let p = match self.form {
            Form::Velocity => self.velocity(error),
            Form::Position => self.position(error),
        };
        self.now.p = Prob::clamped(p).get();
        self.now.errors = [error, self.now.errors[0]];
    }

    /// Equation (6).
    fn velocity(&self, error: f64) -> f64 {
        let State { gains, p, errors: [last, before], .. } = self.now;
        let PidCoefficients { a, b, c } = gains.sampled(self.period.seconds());
        p + a * error - b * last + c * before
    }

    /// Equation (6').
    fn position(&mut self, error: f64) -> f64 {
        let State { gains, sum, errors: [last, _], .. } = self.now;
        let period = self.period.seconds();
        self.now.sum = Prob::clamped(sum + gains.i * period * f64::midpoint(error, last)).get();
        self.now.sum + gains.p * error + gains.d * (error - last) / period
    }

    /// Updates the gains from the average p.
    fn follow(&mut self, elapsed: f64) {
        let Some(schedule) = &mut self.now.schedule else { return };
        schedule.load.observe(self.now.p, elapsed);
        self.now.gains = self.design.gains(schedule.path.under(schedule.load));
    }
}

impl Specification {
    /// Initial gains, and the inputs of their schedule.
    fn begin(
        self,
        params: &Params,
        context: &LinkContext,
        path: Path,
    ) -> Result<(PidGains, Option<GainSchedule>), InputError> {
        let flows = context.long_flows(params.flows);
        let usual = if flows.is_none() { Adapt::Load } else { Adapt::Nothing };
        if params.adapt.unwrap_or(usual) == Adapt::Load {
            let load = Load::new(flows, &path);
            return Ok((self.gains(path.under(load)), Some(GainSchedule { load, path })));
        }
        let flows = flows.ok_or_else(|| unknown("flows", "the number of long flows"))?;
        let network = Network { flows, capacity: path.capacity, rtt: path.rtt };
        Ok((self.gains(network), None))
    }

    /// Design of section 4.1, with windows of a packet or more.
    fn gains(self, network: Network) -> PidGains {
        let flows = network.flows.min(network.rtt * network.capacity);
        let plant = TwoPolePlant::of(Network { flows, ..network });
        let frequency = frequency(network.rtt, self.damping);
        let pd = pd(&plant, self.damping, frequency);
        let pi = pi(&plant, frequency, pd[0], plant.slow);
        PidGains::of(pd, pi).times(self.kappa)
    }
}

/// Error of a gain that is absent beside others.
fn all_gains() -> InputError {
    let problem = "is missing beside the other gains";
    InputError::new(ErrorKind::Missing, problem, "all of kp, ki and kd, or none")
}

/// xi: damping of a second-order system with this overshoot, exp(-pi xi / sqrt(1 - xi^2)).
pub fn damping(overshoot: f64) -> f64 {
    let log = -math::ln(overshoot);
    log / math::hypot(std::f64::consts::PI, log)
}

/// w_n, rad/s: the time constant 1/(xi w_n) is R/2.
pub fn frequency(rtt: f64, damping: f64) -> f64 {
    2.0 / (rtt * damping)
}

/// K_P1 and K_D1, for the closed-loop denominator s^2 + 2 xi w_n s + w_n^2.
pub fn pd(plant: &TwoPolePlant, damping: f64, frequency: f64) -> [f64; 2] {
    let proportional = (frequency * frequency - plant.slow * plant.fast) / plant.gain;
    [proportional, (2.0 * damping * frequency - plant.slow - plant.fast) / plant.gain]
}

/// K_P2 and K_I2, for the constant term w_n^2, with a zero at `zero`, 1/s.
pub fn pi(plant: &TwoPolePlant, frequency: f64, kp1: f64, zero: f64) -> [f64; 2] {
    let proportional = frequency * frequency / (plant.gain * kp1);
    [proportional, proportional * zero]
}

impl TwoPolePlant {
    /// Equation (1).
    pub fn of(network: Network) -> TwoPolePlant {
        let Network { flows, capacity, rtt } = network;
        let slow = 2.0 * flows / (rtt * rtt * capacity);
        TwoPolePlant { gain: capacity * capacity / (2.0 * flows), slow, fast: 1.0 / rtt }
    }
}

impl PidGains {
    /// Equation (5): a PD part and a PI part in series.
    pub fn of([p1, d1]: [f64; 2], [p2, i2]: [f64; 2]) -> PidGains {
        PidGains { p: p1 * p2 + d1 * i2, i: p1 * i2, d: d1 * p2 }
    }

    /// Gains times `factor`.
    pub fn times(self, factor: f64) -> PidGains {
        PidGains { p: self.p * factor, i: self.i * factor, d: self.d * factor }
    }

    /// Coefficients of equation (6): Tustin's rule for the integral, the backward difference for the derivative.
    pub fn sampled(self, period: f64) -> PidCoefficients {
        let (half, slope) = (self.i * period / 2.0, self.d / period);
        PidCoefficients { a: self.p + slope + half, b: self.p + 2.0 * slope - half, c: slope }
    }
}

/// 29.5 Hz at R = 0.246 s, and the same number of samples per RTT at any other.
fn paper_period(rtt: f64) -> Span {
    Span::from_seconds(rtt / (29.5 * 0.246)).max(LEAST_PERIOD)
}

/// Shortest default period: more updates add cost without information.
const LEAST_PERIOD: Span = Span::from_millis(1);

/// Default target, packets.
const USUAL_TARGET: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's network: 60 flows, 3750 packets/s, R = 0.246 s.
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

    fn papers() -> Params {
        let target = Some(Amount::Packets(200.0));
        Params { target, rtt: Some(Span::from_millis(246)), ..Params::default() }
    }

    fn seen(backlog: f64, elapsed: f64) -> Observation {
        Observation { backlog_packets: backlog, elapsed, ..Observation::default() }
    }

    /// Repeats updates with a constant backlog.
    fn keep(pid: &mut Pid, backlog: f64, updates: usize) {
        let seen = seen(backlog, pid.period().seconds());
        for _ in 0..updates {
            pid.update(&seen);
        }
    }

    #[test]
    fn one_step_is_equation_6() {
        let params = Params {
            kp: Some(2e-4),
            ki: Some(1e-3),
            kd: Some(1e-5),
            rate: Frequency::new(20.0),
            form: Form::Velocity,
            ..papers()
        };
        let mut pid = Pid::new(&params, &context()).unwrap();
        // By hand at T = 50 ms: K_D/T = 2e-4, K_I T/2 = 2.5e-5.
        let (a, b, c) = (4.25e-4, 5.75e-4, 2e-4);
        let first = pid.update(&seen(400.0, 0.05)).get();
        assert!((first - (a * 200.0 + b * 200.0 - c * 200.0)).abs() < 1e-15, "{first}");
        let second = pid.update(&seen(350.0, 0.05)).get();
        assert!((second - first - (a * 150.0 - b * 200.0 - c * 200.0)).abs() < 1e-15, "{second}");
        let third = pid.update(&seen(350.0, 0.05)).get();
        assert!((third - second - (a * 150.0 - b * 150.0 + c * 200.0)).abs() < 1e-15, "{third}");
    }

    #[test]
    fn the_forms_are_equal_until_p_is_clamped() {
        let new = |form| Pid::new(&Params { form, ..papers() }, &context()).unwrap();
        let (mut position, mut velocity) = (new(Form::Position), new(Form::Velocity));
        let period = position.period().seconds();
        for backlog in [100.0, 180.0, 240.0, 230.0, 260.0, 260.0] {
            let [ours, papers] =
                [&mut position, &mut velocity].map(|pid| pid.update(&seen(backlog, period)).get());
            assert!(ours > 0.0 && (ours - papers).abs() < 1e-15, "{ours} {papers}");
        }
        // As far below as above; below, p is clamped, and only the sum has the full error.
        let before = position.now.p;
        for backlog in [0.0, 260.0, 260.0] {
            position.update(&seen(backlog, period));
            velocity.update(&seen(backlog, period));
        }
        let drift = [position, velocity].map(|pid| pid.now.p - before);
        assert!(drift[0].abs() < 5e-4 && drift[1] > 1e-2, "{drift:?}");
    }

    #[test]
    fn the_exact_design_is_the_papers_to_its_rounding() {
        let pid = Pid::new(&papers(), &context()).unwrap();
        let PidGains { p, i, d } = pid.gains();
        // kappa times (16); the paper rounds its poles to 0.53 and 4.05.
        for (ours, paper) in [(p, 6.2e-5), (i, 3.12e-5), (d, 5.1e-6)] {
            assert!((ours / paper - 1.0).abs() < 0.01, "{ours} {paper}");
        }
        assert!((1.0 / pid.period().seconds() - 29.5).abs() < 1e-6);
    }

    #[test]
    fn a_scheduled_design_begins_as_the_fixed_one_and_follows_p() {
        let fixed = Pid::new(&papers(), &context()).unwrap();
        let mut scheduled = Pid::new(&Params { adapt: Some(Adapt::Load), ..papers() }, &context()).unwrap();
        assert!((scheduled.gains().p / fixed.gains().p - 1.0).abs() < 1e-9);
        (scheduled.now.p, scheduled.now.sum) = (0.05, 0.05);
        scheduled.now.errors = [0.0; 2];
        keep(&mut scheduled, 200.0, 3000);
        // N = R C sqrt(p/2).
        let flows = 0.246 * 3750.0 * (0.05_f64 / 2.0).sqrt();
        let there = Pid::new(&Params { flows: Some(flows), ..papers() }, &context()).unwrap();
        assert!((scheduled.gains().p / there.gains().p - 1.0).abs() < 1e-6);
    }

    #[test]
    fn it_does_not_wind_up_and_p_is_constant_without_a_link_rate() {
        let mut pid = Pid::new(&papers(), &context()).unwrap();
        let period = pid.period().seconds();
        keep(&mut pid, 800.0, 100_000);
        assert_eq!((pid.now.p, pid.now.sum), (1.0, 1.0));
        pid.update(&seen(0.0, period));
        assert!(pid.now.p < 1.0, "leaves the limit at the first error of the other sign");
        let still = Observation { capacity: Some(Rate::from_bits_per_second(0.0)), ..seen(800.0, period) };
        let before = pid.now.p;
        for _ in 0..1000 {
            pid.update(&still);
        }
        assert_eq!(pid.now.p, before);
    }

    #[test]
    fn a_stall_integrates_the_elapsed_time() {
        let (mut steady, mut stalled) =
            (Pid::new(&papers(), &context()).unwrap(), Pid::new(&papers(), &context()).unwrap());
        let period = steady.period().seconds();
        steady.update(&seen(250.0, period));
        stalled.update(&seen(250.0, period));
        keep(&mut steady, 250.0, 50);
        stalled.update(&seen(250.0, 50.0 * period));
        assert!((steady.now.p - stalled.now.p).abs() < 1e-12, "{} {}", steady.now.p, stalled.now.p);
    }
}
