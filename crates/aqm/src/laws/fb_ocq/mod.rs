//! FB-OCQ: the optimal control of a queue as a law, by feedback in closed form.
//!
//! A. Radwan, H.-L. To, W.-J. Hwang, "Optimal Control for Bufferbloat Queue
//! Management Using Indirect Method with Parametric Optimization", Scientific
//! Programming, 2016. The paper solves for the input u to accept of an offered
//! load w (problem and solution: [`sojourn_optim::ocq`]) and simulates a law with
//! a "square-root drop function" that it does not define. Here, every T_s (equations have the numbers of the law's page):
//!
//! ```text
//! p = 1 - u / w, within 0 and p_max                                         (7)
//! u = u*(q) + mu - u_s
//! ```
//!
//! u* is the infinite-horizon feedback with its equilibrium at the target:
//! `form = sqrt` is equation (5), whose p grows far from the target as a
//! square root of the queue; `deadbeat` reaches the target in one period. At
//! equilibrium the model's queue is served at u_s, a queue at a busy link at mu:
//! without the difference, the bias, the equilibrium is below the target.
//!
//! `form = receding` solves the problem again each period over a horizon ([`sojourn_optim::ocq::Receding`]).
//!
//! `form = profile` is one reading of "square-root drop function", RED's line
//! bent to a root:
//!
//! ```text
//! p = p_max sqrt((q - lo) / (hi - lo)), from lo on, at most 1               (9)
//! ```
//!
//! mu is an average of counts, and so is the published w: the equilibrium is
//! (1 - p) w = mu, as accurate as these averages. (7) is derived for drops. Marks
//! do not reduce the load; for the same p, w is then the load that would be offered
//! if marks were drops:
//!
//! ```text
//! w = arrivals + marks / (1 - p), per second                                (8)
//! ```
//!
//! Both w miss the target where p saturates at 0 or the link idles, as their mean
//! then differs from mu / (1 - p). `load = integral` takes the load at which the
//! mean of the queue is the target:
//!
//! ```text
//! w = mu / (1 - p_w),  tau_w p_w' = (1 - p_w) k min(q - x_s, 3 x_s) / mu   (14)
//! ```
//!
//! with k = 1/t_c - 1/R, the slope of -u at the target. The loop is that of a PI
//! controller of gain (1 - p_w) k / mu and zero 1/tau_w. TCP's gain from p to the
//! queue is R0 mu / (2 p), its slow pole sqrt(2 p) / R0 (Hollot et al. 2002), and
//!
//! ```text
//! k = 2 p_w / ((1 - p_w) R0),  tau_w = R0 / sqrt(2 p_w)                    (15)
//! ```
//!
//! cancel both: the loop is 1 / (s tau_w) below the round trip, at any load.
//!
//! Without its bound (14) would wind up where a queue cannot follow it: the error is at least -x_s, so a peak of slow
//! start, 40 x_s high, would take 40 times as long to forget, while the link idles under its signals. And the problem's u is at most w: p = 0 while the flows do not fill the link, busy less than 3/4 of the last R0.

mod ahead;
mod defaults;
mod linear;
mod profile;
mod receding;
mod service;

use self::defaults::{PRICE, TimeConstant, UNKNOWN_RTT, expected_p, half, period, time_constants};
use self::profile::Profile;
use self::receding::{ClosedForm, Measured, Receding, Settings, Times};
use self::service::ServiceRate;
use crate::analysis::{Analysis, Bounds};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{Linear, OperatingPoint, Rational};
use crate::link_context::LinkContext;
use crate::parts::stall;
use crate::periodic::Periodic;
use sojourn_optim::ocq::{Problem, Queue};
use sojourn_params::{Described, ErrorKind, Given, InputError, Page};
use sojourn_units::{Amount, Prob, Rate, Span, math};

sojourn_params::choice! {
    /// Control function.
    pub enum Form {
        /// Feedback with a penalty.
        Sqrt = "sqrt",
        /// Feedback that reaches the target in one period.
        Deadbeat = "deadbeat",
        /// Optimum over a horizon, solved again each period.
        Receding = "receding",
        /// Curve over the backlog.
        Profile = "profile",
    }
}

sojourn_params::choice! {
    /// Measure of the offered load.
    pub enum LoadMeasure {
        /// Integral of the error of the backlog.
        Integral = "integral",
        /// Packets, and marks as drops.
        Virtual = "virtual",
        /// Packets.
        Offered = "offered",
    }
}

sojourn_params::choice! {
    /// Source of the service rate.
    pub enum Service {
        /// Link rate over the mean size of departed packets.
        Link = "link",
        /// Departures in periods with a backlog.
        Measured = "measured",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "fb_ocq",
        summary: "optimal control of the queue: admits the input that leads to a target at the least cost",
        idea: "A queued packet has a cost per second, a rejected packet a cost once. The input of least total cost \
               has a closed form: a rate that falls with the queue. Every period the law marks or drops the \
               share by which the offered load exceeds that rate. It measures the load itself, so neither the \
               number of flows nor the round-trip time need be known.",
        equation: "p = 1 - (u + mu - u_s) / w,  u = g - (q - x_s) sqrt(s^2 + 1 / (eps (a + q))),  g = mu q / (a + q)",
        source: "A. Radwan, H.-L. To, W.-J. Hwang, Scientific Programming, 2016",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(FbOcq::law(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of FB-OCQ.
    pub struct Params {
        /// backlog to hold; profile holds none, and only its curve depends on it; a time or bytes are converted
        /// to packets at the link's first rate
        target "x_s": Option<Amount> = None, above 0, where "within the buffer",
            "40 packets, the paper's simulation; half of the buffer where that is less";
        /// control function: feedback with a penalty, feedback without, or a curve over the backlog
        form "u*": Form = Form::Sqrt,
            "deadbeat admits all or nothing: with marks the queue oscillates between empty and full";
        /// time constant of the feedback at the target
        t_c "t_c": Option<Span> = None, in "1 ms" to "1 min", where "with a, less than R = (a + target)^2 / (a mu)",
            "500 ms, or 5 round-trip times where that is known and shorter, at least 1 ms: TCP must have responded \
             by then; with load = integral by the loop gain, which is 1, at least 2 of them";
        /// queue at which half of the service rate is used, packets; 1 is M/M/1
        a "a": Option<f64> = None, in above 0.0 to 1e6, "1, the paper's; less where R would not be 2 t_c";
        /// sampling period
        period "T_s": Option<Span> = None, in "100 us" to "1 s",
            "10 ms, or t_c / 5 where that is shorter: much less than t_c; with form = deadbeat at most half of the time in which \
             the target is served, at least 100 us: a queue that empties in a period is held in the mean of periods only";
        /// time constant of the offered load
        tau_w "tau_w": Option<Span> = None, in "1 ms" to "1 min",
            "1 s; where the round-trip time is known, 10 of them if that is shorter and 5 if that is longer, at least \
             2 ms: a faster one follows the effect of p on the load; with load = integral TCP's slow time constant, \
             R0 / sqrt(2 p), at least 3 of them";
        /// measure of the offered load: the integral of the error, packets, or packets with marks counted as drops
        load "w": Option<LoadMeasure> = None, where "integral only for sqrt and receding, with their bias",
            "integral for sqrt and receding with their bias, else virtual; counts miss the target where p saturates or the link idles";
        /// source of the service rate: the link's rate and the mean packet size, or departures under a backlog
        service "mu": Service = Service::Link, "the link rate is known";
        /// raise the input by mu - u_s
        bias "mu - u_s": bool = true, "at equilibrium a busy link serves mu, not u_s";
        /// largest p; profile reaches it at hi and rises beyond
        p_max "p_max": Option<f64> = None, in above 0.0 to 1.0, "1; for profile 0.1, RED's";
        /// receding: forecast the load of the next round trip by the ACK clock, instead of its average
        forecast "w(t)": bool = true, "TCP sends what its ACKs release";
        /// receding: time until p acts, through which the queue is predicted; 0 s: at once, on the packets themselves
        delay "tau": Option<Span> = None, in "0 s" to "10 s", "the base RTT and the delay of the present queue";
        /// receding: time constant of the penalty on changes of the input, t_u^4 = beta (a + target); 0 s: no penalty
        t_u "t_u": Option<Span> = None, in "0 s" to "1 min", "a fifth of R0, the base RTT with the target's delay: without it p is noisy and signals more";
        /// receding: length of the plan
        horizon "t_f": Option<Span> = None, in "100 us" to "10 s", where "at most 500 periods",
            "R0, or 5 t_u if that is longer, at least 10 periods and at most 100: beyond it the plan has the cost of returning \
             to the target";
        /// receding: iterations of an update; when they are spent, the law answers as sqrt does
        iterations: u32 = 40, in 0 to 1000, "fewer than 10 suffice nearly always; 40 take less than 1 ms";
        /// backlog from which profile marks or drops
        lo "x_lo": Option<Amount> = None, where "less than hi", "half the target";
        /// backlog at which the p of profile is p_max
        hi "x_hi": Option<Amount> = None, where "more than lo, within the buffer",
            "1.5 times the target, or the buffer where that is less";
    }
}

/// The FB-OCQ controller.
#[derive(Clone, Debug)]
pub struct FbOcq {
    target: f64,
    control: Control,
    t_c: TimeConstant,
    /// Largest t_c, as a share of R.
    share: f64,
    half: Option<f64>,
    period: Span,
    tau_w: TimeConstant,
    base_rtt: f64,
    load: LoadMeasure,
    service: Service,
    bias: bool,
    p_max: f64,
    /// Least p of (16).
    least_windowed: f64,
    start: State,

    state: State,
}

/// Control function, with what it alone needs.
#[derive(Clone, Debug)]
enum Control {
    Sqrt,
    Deadbeat,
    Receding(Box<Receding>),
    Profile(Profile),
}

/// Averages, and p.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    /// w as counted, packets/s.
    offered: f64,
    /// p_w of (14).
    held: f64,
    /// Share of the time with a backlog, an average over R0.
    busy: f64,
    service: ServiceRate,
    p: f64,
}

impl FbOcq {
    /// FB-OCQ on the link of `context`, from p = 0 and an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<FbOcq, InputError> {
        let [target, service] = target_and_service(params, context)?;
        let load = measure(params)?;
        let base_rtt = context.base_rtt.unwrap_or(UNKNOWN_RTT).seconds();
        let [t_c, tau_w] = time_constants(params, load, context.base_rtt);
        let served = Span::from_seconds(target / service);
        let period = params.period.unwrap_or_else(|| period(params, context.base_rtt, served));
        let times = Times { base_rtt, target: target / service, period: period.seconds() };
        let curve = Profile::new(params, target, context)?;
        let control = match params.form {
            Form::Sqrt => Control::Sqrt,
            Form::Deadbeat => Control::Deadbeat,
            Form::Receding => {
                Control::Receding(Box::new(Receding::new(Settings::new(params, times, service)?)))
            }
            Form::Profile => Control::Profile(curve),
        };
        let unset = if params.form == Form::Profile { RED_P } else { 1.0 };
        let start = State {
            offered: 0.0,
            held: expected_p(context, target),
            busy: 0.0,
            service: ServiceRate::new(service, context.packet),
            p: 0.0,
        };
        let controller = FbOcq {
            target,
            control,
            t_c,
            share: 1.0 / PRICE,
            half: params.a,
            period,
            tau_w,
            base_rtt,
            load,
            service: params.service,
            bias: params.bias,
            p_max: params.p_max.unwrap_or(unset),
            least_windowed: if start.held > 0.0 { LEAST_WINDOWED.min(start.held) } else { LEAST_WINDOWED },
            start,
            state: start,
        };
        controller.checked(params.t_c.is_some())
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<FbOcq>, InputError> {
        FbOcq::new(params, context).map(Periodic::new)
    }

    /// Present control problem.
    pub fn problem(&self) -> Problem {
        let service = self.state.service.packets;
        let half = self.half.unwrap_or_else(|| half(self.target, service, PRICE * self.t_c.least()));
        Problem::with_x_s(Queue { service, half }, self.target)
    }

    /// Penalty eps of the feedback, s^2/packet.
    pub fn penalty(&self) -> f64 {
        self.problem().penalty(self.time_constant())
    }

    /// t_c, s.
    fn time_constant(&self) -> f64 {
        let price = self.problem().price();
        // Only a link that became faster makes R too small for a t_c that was given.
        let least = self.t_c.least().min(price * self.share);
        match self.t_c {
            TimeConstant::Fixed(_) => least,
            TimeConstant::Scheduled(_) => {
                let p = self.scheduled_p();
                let steepness = 2.0 * p / ((1.0 - p) * self.round_trip());
                least.max(1.0 / (steepness + 1.0 / price))
            }
        }
    }

    /// tau_w, s.
    fn load_time(&self) -> f64 {
        match self.tau_w {
            TimeConstant::Fixed(time) => time,
            TimeConstant::Scheduled(least) => {
                least.max(self.round_trip() / (2.0 * self.scheduled_p()).sqrt())
            }
        }
    }

    /// p of (15): below the least one the gain would not be bounded.
    fn scheduled_p(&self) -> f64 {
        self.state.held.clamp(LEAST_P, MOST_TAKEN)
    }

    /// R0 with the queue at the target, s.
    fn round_trip(&self) -> f64 {
        self.base_rtt + self.target / self.state.service.packets
    }

    /// Refuses a value of `a` with which R is at most t_c. Half of R is the most of a t_c that is not given.
    fn checked(mut self, is_given: bool) -> Result<FbOcq, InputError> {
        let (price, t_c) = (self.problem().price(), self.t_c.least());
        if let Some(half) = self.half.filter(|_| t_c >= price) {
            let problem = format!("makes R = {price:.4} s, not above t_c = {t_c} s");
            return Err(InputError::conflict(half, problem, "a smaller a, or a shorter t_c").at("a"));
        }
        if is_given {
            self.share = self.share.max(t_c / price * (1.0 + f64::EPSILON));
        }
        Ok(self)
    }

    /// State for another measure of the load, whose w starts at the present one.
    fn state_under(&self, other: &FbOcq) -> State {
        if self.load == other.load {
            return self.state;
        }
        let offered = self.offered();
        let held = (1.0 - self.state.service.packets / offered).clamp(0.0, other.p_max.min(MOST_TAKEN));
        State { offered, held, busy: 1.0, ..self.state }
    }
}

impl Controller for FbOcq {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, observed: &Observation) -> Prob {
        self.observe_load(observed);
        self.state.service.observe(self.service, observed);
        let p = match &self.control {
            Control::Profile(curve) => curve.root(observed.backlog_packets, self.p_max),
            _ => self.optimal(observed).min(self.p_max),
        };
        let p = Prob::clamped(p);
        self.state.p = p.get();
        p
    }

    fn reset(&mut self) {
        self.state = self.start;
        if let Control::Receding(receding) = &mut self.control {
            receding.reset();
        }
    }

    fn on_link_change(&mut self, rate: Rate) {
        self.state.service.follow(rate);
    }

    fn set_params(&mut self, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let mut fresh = FbOcq::new(given.params.of()?, context)?;
        if let (Control::Receding(old), Control::Receding(new)) = (&self.control, &mut fresh.control) {
            old.hand_over(new);
        }
        fresh.state = self.state_under(&fresh);
        *self = fresh;
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("offered", "packets/s", self.offered());
        out.gauge("service", "packets/s", self.state.service.packets);
        if let Control::Receding(receding) = &self.control {
            out.gauge("fallbacks", "1", receding.fallbacks as f64);
        }
    }
}

impl Analysis for FbOcq {
    fn steady_state_p(&self, backlog: f64) -> Option<Prob> {
        let Control::Profile(curve) = &self.control else { return None };
        Some(Prob::clamped(curve.root(backlog, self.p_max)))
    }

    fn bounds(&self) -> Bounds {
        let most_p = if matches!(self.control, Control::Profile(_)) { 1.0 } else { self.p_max };
        Bounds { most_p, ..Bounds::default() }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        match &self.control {
            Control::Profile(curve) => {
                let slope = Rational::constant(curve.slope(point.backlog, self.p_max)?);
                Some(Linear::both(slope.clone(), slope, self.period))
            }
            Control::Receding(_) => Some(Linear::none(PLANS)),
            Control::Sqrt | Control::Deadbeat => self.feedback(point),
        }
    }

    fn target_packets(&self) -> Option<f64> {
        (!matches!(self.control, Control::Profile(_))).then_some(self.target)
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        match &self.control {
            Control::Profile(curve) => {
                out.gauge("lo", "packets", curve.lo);
                out.gauge("hi", "packets", curve.hi);
            }
            Control::Sqrt | Control::Deadbeat | Control::Receding(_) => {
                out.gauge("a", "packets", self.problem().queue().half);
                out.gauge("t_c", "s", self.time_constant());
                out.gauge("tau_w", "s", self.load_time());
            }
        }
        out.gauge("period", "s", self.period.seconds());
        out.gauge("p_max", "1", self.p_max);
    }
}

impl FbOcq {
    /// Averages w: equation (8), or (14).
    fn observe_load(&mut self, observed: &Observation) {
        let time = self.load_time();
        match self.load {
            LoadMeasure::Integral => self.integrate(observed, time),
            LoadMeasure::Virtual => {
                let marks = observed.marked_packets / (1.0 - self.state.p.min(MOST_TAKEN));
                approach(&mut self.state.offered, observed.arrived_packets + marks, observed.elapsed, time);
            }
            LoadMeasure::Offered => {
                approach(&mut self.state.offered, observed.arrived_packets, observed.elapsed, time);
            }
        }
    }

    /// Equation (14), and bounded: (p - p_w) of the linear law, whether or not p saturates.
    fn integrate(&mut self, observed: &Observation, time: f64) {
        if self.state.service.stopped || stall::has_no_rate(observed) {
            return;
        }
        let round_trip = self.round_trip();
        approach(&mut self.state.busy, observed.busy, observed.elapsed, round_trip);
        let steepness = 1.0 / self.time_constant() - 1.0 / self.problem().price();
        let excess = (observed.backlog_packets - self.target).min(MOST_EXCESS * self.target);
        let error = steepness * excess / self.state.service.packets;
        let held = &mut self.state.held;
        *held += (1.0 - math::exp(-observed.elapsed / time)) * (1.0 - *held) * error;
        *held = held.clamp(0.0, self.p_max.min(MOST_TAKEN));
    }

    /// True unless the offered load is known to be below mu; counts of it need no such test.
    fn is_filled(&self) -> bool {
        self.load != LoadMeasure::Integral || self.state.busy >= LEAST_BUSY
    }

    /// w, packets/s.
    fn offered(&self) -> f64 {
        match self.load {
            LoadMeasure::Integral => self.state.service.packets / (1.0 - self.state.held),
            LoadMeasure::Virtual | LoadMeasure::Offered => self.state.offered,
        }
    }

    /// Equation (7): share of the offered load above u.
    fn excess(&self, backlog: f64) -> f64 {
        let offered = self.offered();
        let input = self.input(backlog).max(0.0);
        if offered > input { 1.0 - input / offered } else { 0.0 }
    }

    /// p of a form that solves the problem: (7), or (16) within the budget of `receding`.
    fn optimal(&mut self, observed: &Observation) -> f64 {
        let backlog = observed.backlog_packets;
        let is_filled = self.is_filled();
        let closed_form = ClosedForm {
            input: if is_filled { self.input(backlog) } else { f64::INFINITY },
            p: if is_filled { self.excess(backlog) } else { 0.0 },
        };
        let measured = self.measured(observed);
        let Control::Receding(receding) = &mut self.control else { return closed_form.p };
        if !self.state.service.stopped && !stall::has_no_rate(observed) && observed.elapsed > 0.0 {
            receding.observe(&measured);
        }
        if is_filled { receding.p(&measured, closed_form) } else { receding.admit(&measured, closed_form) }
    }

    fn measured(&self, observed: &Observation) -> Measured {
        let problem = self.problem();
        let service = self.state.service.packets;
        let held = (1.0 - service / self.offered()).clamp(0.0, MOST_TAKEN);
        Measured {
            problem,
            bias: if self.bias { service - problem.u_s() } else { 0.0 },
            period: self.period.seconds(),
            elapsed: observed.elapsed,
            base_rtt: self.base_rtt,
            backlog: observed.backlog_packets,
            departed: observed.departed_packets,
            signals: observed.dropped_packets + observed.marked_packets,
            held,
            windowed: held.clamp(self.least_windowed, MOST_TAKEN),
        }
    }

    fn input(&self, backlog: f64) -> f64 {
        let problem = self.problem();
        let input = match self.control {
            Control::Deadbeat => problem.deadbeat(backlog, self.period.seconds()),
            _ => problem.input(backlog, self.penalty()),
        };
        let bias = if self.bias { self.state.service.packets - problem.u_s() } else { 0.0 };
        input + bias
    }
}

/// Moves an average towards `count` in `elapsed` seconds, with a time constant.
fn approach(average: &mut f64, count: f64, elapsed: f64, time: f64) {
    if elapsed > 0.0 {
        *average += (1.0 - math::exp(-elapsed / time)) * (count / elapsed - *average);
    }
}

/// Target, packets, and service rate, packets/s, both above 0.
fn target_and_service(params: &Params, context: &LinkContext) -> Result<[f64; 2], InputError> {
    let target = context.target(params.target, USUAL_TARGET)?;
    if target <= 0.0 {
        let error = InputError::new(ErrorKind::Range, "is no backlog", "more than 0");
        return Err(error.found(format!("{target} packets")).at("target"));
    }
    let service = context.capacity();
    if service <= 0.0 {
        let problem = "is unknown for a link without a rate";
        return Err(InputError::new(ErrorKind::Conflict, problem, "a link rate above 0").at("service"));
    }
    Ok([target, service])
}

/// Measure of the load; its integral is defined at an equilibrium at the target alone.
fn measure(params: &Params) -> Result<LoadMeasure, InputError> {
    let holds = matches!(params.form, Form::Sqrt | Form::Receding) && params.bias;
    match params.load {
        Some(LoadMeasure::Integral) if !holds => {
            let problem = "holds the target, which this form does not";
            Err(InputError::conflict("integral", problem, "form = sqrt or receding, with its bias")
                .at("load"))
        }
        Some(load) => Ok(load),
        None if holds => Ok(LoadMeasure::Integral),
        None => Ok(LoadMeasure::Virtual),
    }
}

/// Largest p in (8), where a mark counts as ten packets: beyond, timeouts dominate TCP.
const MOST_TAKEN: f64 = 0.9;
/// Least p of (15): windows of 32 packets.
const LEAST_P: f64 = 0.002;
/// Least p of (16): windows of 100 packets, unless those of the expected flows are larger.
const LEAST_WINDOWED: f64 = 0.0002;
/// Largest excess of the backlog in (14), in targets: a buffer of four targets never exceeds it.
const MOST_EXCESS: f64 = 3.0;
/// Least busy share at which the integral signals: windows that halve when they fill the path average 3/4 of it.
const LEAST_BUSY: f64 = 0.75;
/// max_p of RED (Floyd 1997).
const RED_P: f64 = 0.1;

/// Reason why `form = receding` has no linear model.
const PLANS: &str = "declares no transfer function with form = receding, whose p depends on a plan, on the bounds that are \
                     active in it, and on the signals of the last round trip; form = sqrt has one";

/// Default target, packets.
const USUAL_TARGET: f64 = 40.0;

#[cfg(test)]
mod tests;
