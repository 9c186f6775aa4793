//! FB-OCQ: the optimal control of a queue as a law, by feedback in closed form.
//!
//! A. Radwan, H.-L. To, W.-J. Hwang, "Optimal Control for Bufferbloat Queue
//! Management Using Indirect Method with Parametric Optimization", Scientific
//! Programming, 2016. The paper solves for the input u to accept of an offered
//! load w (problem and solution: [`sojourn_optim::ocq`]) and simulates a law with
//! a "square-root drop function" that it does not define. Here, every T_s:
//!
//! ```text
//! p = 1 - u / w, within 0 and p_max                                         (5)
//! u = u*(q) + mu - u_s
//! ```
//!
//! u* is the infinite-horizon feedback with its equilibrium at the target:
//! `form = sqrt` is equation (3) of `ocq`, whose p grows far from the target as a
//! square root of the queue; `deadbeat` reaches the target in one period. At
//! equilibrium the model's queue is served at u_s, a queue at a busy link at mu:
//! without the difference, the bias, the equilibrium is below the target.
//!
//! `form = profile` is one reading of "square-root drop function", RED's line
//! bent to a root:
//!
//! ```text
//! p = p_max sqrt((q - lo) / (hi - lo)), from lo on, at most 1               (6)
//! ```
//!
//! mu is an average of counts, and so is the published w: the equilibrium is
//! (1 - p) w = mu, as accurate as these averages. (5) is derived for drops. Marks
//! do not reduce the load; for the same p, w is then the load that would be offered
//! if marks were drops:
//!
//! ```text
//! w = arrivals + marks / (1 - p), per second                                (7)
//! ```
//!
//! Both w miss the target where p saturates at 0 or the link idles, as their mean
//! then differs from mu / (1 - p). `load = integral` takes the load at which the
//! mean of the queue is the target:
//!
//! ```text
//! w = mu / (1 - p_w),  tau_w p_w' = (1 - p_w) k (q - x_s) / mu              (8)
//! ```
//!
//! with k = 1/t_c - 1/R, the slope of -u at the target. The loop is that of a PI
//! controller of gain (1 - p_w) k / mu and zero 1/tau_w. TCP's gain from p to the
//! queue is R0 mu / (2 p), its slow pole sqrt(2 p) / R0 (Hollot et al. 2002), and
//!
//! ```text
//! k = 2 p_w / ((1 - p_w) R0),  tau_w = R0 / sqrt(2 p_w)                     (9)
//! ```
//!
//! cancel both: the loop is 1 / (s tau_w) below the round trip, at any load.
//!
//! (8) winds up where a queue cannot follow it: the error is at least -x_s, so a peak of slow start, 40 x_s high,
//! would take 40 times as long to forget, while the link idles under its signals. It is bounded from above,
//!
//! ```text
//! q - x_s <= 3 x_s                                                          (10)
//! ```
//!
//! And the problem's u is at most w: p = 0 while the flows do not fill the link, busy less than 3/4 of the last R0.

use crate::analysis::{Analysis, Bounds};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{FOLLOWS_THE_LOAD, Linear, OperatingPoint, Rational, Signal};
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
            "10 ms, or t_c / 5 where that is shorter: much less than t_c";
        /// time constant of the offered load
        tau_w "tau_w": Option<Span> = None, in "1 ms" to "1 min",
            "1 s; where the round-trip time is known, 10 of them if that is shorter and 5 if that is longer, at least \
             2 ms: a faster one follows the effect of p on the load; with load = integral TCP's slow time constant, \
             R0 / sqrt(2 p), at least 3 of them";
        /// measure of the offered load: the integral of the error, packets, or packets with marks counted as drops
        load "w": Option<LoadMeasure> = None, where "integral only for sqrt, with its bias",
            "integral for sqrt with its bias, else virtual; counts miss the target where p saturates or the link idles";
        /// source of the service rate: the link's rate and the mean packet size, or departures under a backlog
        service "mu": Service = Service::Link, "the link rate is known";
        /// raise the input by mu - u_s
        bias "mu - u_s": bool = true, "at equilibrium a busy link serves mu, not u_s";
        /// largest p; profile reaches it at hi and rises beyond
        p_max "p_max": Option<f64> = None, in above 0.0 to 1.0, "1; for profile 0.1, RED's";
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
    form: Form,
    t_c: TimeConstant,
    half: Option<f64>,
    period: Span,
    tau_w: TimeConstant,
    base_rtt: f64,
    load: LoadMeasure,
    service: Service,
    bias: bool,
    p_max: f64,
    curve: Profile,
    start: State,

    state: State,
}

/// A time constant, s.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TimeConstant {
    Fixed(f64),
    /// By (9), and at least this.
    Scheduled(f64),
}

/// Backlogs at which the profile starts, and at which it reaches p_max.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Profile {
    lo: f64,
    hi: f64,
}

/// Averages, and p.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    /// w as counted, packets/s.
    offered: f64,
    /// p_w of (8).
    held: f64,
    /// Share of the time with a backlog, an average over R0.
    busy: f64,
    /// mu, packets/s.
    service: f64,
    /// Last link rate above 0, bytes/s.
    rate: f64,
    stopped: bool,
    /// Average departure rates, packets/s and bytes/s; their ratio is the mean size.
    left: [f64; 2],
    p: f64,
}

impl FbOcq {
    /// FB-OCQ on the link of `context`, from p = 0 and an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<FbOcq, InputError> {
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
        let Params { form, service: source, bias, .. } = *params;
        let load = measure(params)?;
        let t_c = params.t_c.unwrap_or_else(|| time_constant(context.base_rtt));
        let base_rtt = context.base_rtt.unwrap_or(UNKNOWN_RTT).seconds();
        let [response, average] = match load {
            LoadMeasure::Integral => scheduled(params, context.base_rtt),
            _ => [t_c, load_time(params.tau_w, context.base_rtt)]
                .map(|time| TimeConstant::Fixed(time.seconds())),
        };
        let unset = if form == Form::Profile { RED_P } else { 1.0 };
        let rate = service * context.packet;
        let start = State {
            offered: 0.0,
            held: expected_p(context, target),
            busy: 0.0,
            service,
            rate,
            stopped: false,
            left: [service, rate],
            p: 0.0,
        };
        let controller = FbOcq {
            target,
            form,
            t_c: response,
            half: params.a,
            period: params.period.unwrap_or_else(|| period(t_c)),
            tau_w: average,
            base_rtt,
            load,
            service: source,
            bias,
            p_max: params.p_max.unwrap_or(unset),
            curve: Profile::new(params, target, context)?,
            start,
            state: start,
        };
        controller.check()?;
        Ok(controller)
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<FbOcq>, InputError> {
        FbOcq::new(params, context).map(Periodic::new)
    }

    /// Present control problem.
    pub fn problem(&self) -> Problem {
        let service = self.state.service;
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
        // Only a faster link can make the value of `a` too large for t_c.
        let least = self.t_c.least().min(price / PRICE);
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

    /// p of (9): below the least one the gain would not be bounded.
    fn scheduled_p(&self) -> f64 {
        self.state.held.clamp(LEAST_P, MOST_TAKEN)
    }

    /// R0 with the queue at the target, s.
    fn round_trip(&self) -> f64 {
        self.base_rtt + self.target / self.state.service
    }

    fn check(&self) -> Result<(), InputError> {
        let price = self.problem().price();
        match self.half {
            Some(half) if self.t_c.least() >= price => {
                let problem = format!("makes R = {price:.4} s, not above t_c = {} s", self.t_c.least());
                Err(InputError::conflict(half, problem, "a smaller a, or a shorter t_c").at("a"))
            }
            _ => Ok(()),
        }
    }
}

impl Controller for FbOcq {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, observed: &Observation) -> Prob {
        self.observe_load(observed);
        match self.service {
            Service::Link => self.state.observe_size(observed),
            Service::Measured => self.state.observe_service(observed),
        }
        let p = match self.form {
            Form::Profile => self.curve.root(observed.backlog_packets, self.p_max),
            _ if !self.is_filled() => 0.0,
            Form::Sqrt | Form::Deadbeat => self.excess(observed.backlog_packets).min(self.p_max),
        };
        let p = Prob::clamped(p);
        self.state.p = p.get();
        p
    }

    fn reset(&mut self) {
        self.state = self.start;
    }

    fn on_link_change(&mut self, rate: Rate) {
        self.state.follow(rate);
    }

    fn set_params(&mut self, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = FbOcq::new(given.params.of()?, context)?;
        *self = FbOcq { state: self.state, ..fresh };
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("offered", "packets/s", self.offered());
        out.gauge("service", "packets/s", self.state.service);
    }
}

impl Analysis for FbOcq {
    fn steady_state_p(&self, backlog: f64) -> Option<Prob> {
        let root = || Prob::clamped(self.curve.root(backlog, self.p_max));
        (self.form == Form::Profile).then(root)
    }

    fn bounds(&self) -> Bounds {
        let most_p = if self.form == Form::Profile { 1.0 } else { self.p_max };
        Bounds { most_p, ..Bounds::default() }
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        if self.form == Form::Profile {
            let slope = self.curve.slope(point.backlog, self.p_max)?;
            return Some(Linear::both(Rational::constant(slope), Rational::constant(slope), self.period));
        }
        self.feedback(point)
    }

    fn target_packets(&self) -> Option<f64> {
        (self.form != Form::Profile).then_some(self.target)
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        match self.form {
            Form::Profile => {
                out.gauge("lo", "packets", self.curve.lo);
                out.gauge("hi", "packets", self.curve.hi);
            }
            Form::Sqrt | Form::Deadbeat => {
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
    /// Averages w: equation (7), or (8).
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

    /// Equation (8), and bounded: (p - p_w) of the linear law, whether or not p saturates.
    fn integrate(&mut self, observed: &Observation, time: f64) {
        if self.state.stopped || stall::has_no_rate(observed) {
            return;
        }
        let round_trip = self.round_trip();
        approach(&mut self.state.busy, observed.busy, observed.elapsed, round_trip);
        let steepness = 1.0 / self.time_constant() - 1.0 / self.problem().price();
        let excess = (observed.backlog_packets - self.target).min(MOST_EXCESS * self.target);
        let error = steepness * excess / self.state.service;
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
            LoadMeasure::Integral => self.state.service / (1.0 - self.state.held),
            LoadMeasure::Virtual | LoadMeasure::Offered => self.state.offered,
        }
    }

    /// Equation (5): share of the offered load above u.
    fn excess(&self, backlog: f64) -> f64 {
        let offered = self.offered();
        let input = self.input(backlog).max(0.0);
        if offered > input { 1.0 - input / offered } else { 0.0 }
    }

    /// Equation (5) about the equilibrium u = (1 - p) w = C: with dw the deviation of the average w,
    ///
    /// ```text
    /// dp = -u' / w dq + (1 - p) / w dw,  w = C / (1 - p) by (7) or under drops, else C
    /// ```
    ///
    /// By (7), and under drops, a period counts (C T + dq - dq_old) / (1 - p_old), so that p moves w: the average
    /// becomes an integral.
    fn feedback(&self, point: &OperatingPoint) -> Option<Linear> {
        if point.p >= self.p_max.min(MOST_TAKEN) {
            return None;
        }
        let passes = 1.0 - point.p;
        let (counted, fed_back) = match (self.load, point.signal) {
            (LoadMeasure::Virtual, _) | (LoadMeasure::Offered, Signal::Drop) => (1.0 / passes, 1.0),
            (LoadMeasure::Offered, Signal::Mark) => (1.0, 0.0),
            (LoadMeasure::Offered, Signal::Both { .. }) => return None,
            (LoadMeasure::Integral, _) => return Some(self.proportional_integral(point)),
        };
        let offered = counted * point.network.capacity;
        let held = -self.slope(point.backlog) / offered;
        // Per packet/s of growth of the backlog.
        let growth = passes * counted / offered;
        let (time, period) = (self.load_time(), self.period.seconds());
        let weight = 1.0 - math::exp(-period / time);
        // The average without and with the effect of p: (1 + tau s) and tau s, and both in samples.
        let continuous = Rational::new([held, held * time + growth], [1.0 - fed_back, time]);
        let kept = weight - 1.0;
        let grown = growth * weight / period;
        let above = [held + grown, held * kept - grown];
        let sampled = Rational::new(above, [1.0, kept - fed_back * weight]);
        Some(Linear::both(continuous, sampled, self.period))
    }

    /// Equations (5) and (8) about the target, with the constants that (9) has there.
    fn proportional_integral(&self, point: &OperatingPoint) -> Linear {
        let mut law = self.clone();
        (law.state.held, law.state.service) = (point.p, point.network.capacity);
        let gain = -law.slope(point.backlog) * (1.0 - point.p) / point.network.capacity;
        let (time, period) = (law.load_time(), law.period.seconds());
        let weight = 1.0 - math::exp(-period / time);
        let continuous = Rational::new([gain, gain * time], [0.0, time]);
        let sampled = Rational::new([gain * (1.0 + weight), -gain], [1.0, -1.0]);
        let scheduled = [self.t_c, self.tau_w].iter().any(|time| matches!(time, TimeConstant::Scheduled(_)));
        Linear::both(continuous, sampled, self.period).assuming(scheduled, FOLLOWS_THE_LOAD)
    }

    /// Slope of u at x, 1/s: u* = g - (x - x_s) r, r^2 = s^2 + 1 / (eps (a + x)) by (3) of `ocq`, with the secant s of
    /// g falling as 1 / (a + x).
    fn slope(&self, x: f64) -> f64 {
        let problem = self.problem();
        let (queue, x_s) = (problem.queue(), problem.x_s());
        let steepness = queue.secant(x, x);
        if self.form == Form::Deadbeat {
            return steepness - 1.0 / self.period.seconds();
        }
        let (s, far) = (queue.secant(x, x_s), queue.half + x);
        let r = (s * s + 1.0 / (self.penalty() * far)).sqrt();
        steepness - r + (x - x_s) * (r * r + s * s) / (2.0 * r * far)
    }

    fn input(&self, backlog: f64) -> f64 {
        let problem = self.problem();
        let input = match self.form {
            Form::Deadbeat => problem.deadbeat(backlog, self.period.seconds()),
            _ => problem.input(backlog, self.penalty()),
        };
        let bias = if self.bias { self.state.service - problem.u_s() } else { 0.0 };
        input + bias
    }
}

impl State {
    fn observe_size(&mut self, observed: &Observation) {
        if observed.departed_packets > 0.0 && observed.departed_bytes > 0.0 {
            let [packets, bytes] = &mut self.left;
            approach(packets, observed.departed_packets, observed.elapsed, SERVICE_TIME);
            approach(bytes, observed.departed_bytes, observed.elapsed, SERVICE_TIME);
            self.service = (self.rate * (*packets / *bytes)).clamp(SLOWEST, FASTEST);
        }
    }

    /// Only periods that were busy throughout: departures from an empty queue do not measure the link.
    fn observe_service(&mut self, observed: &Observation) {
        if !self.stopped && observed.elapsed > 0.0 && observed.busy > BUSY * observed.elapsed {
            approach(&mut self.service, observed.departed_packets, observed.elapsed, SERVICE_TIME);
            self.service = self.service.max(SLOWEST);
        }
    }

    /// A link without a rate keeps its last one.
    fn follow(&mut self, rate: Rate) {
        let bytes = rate.bits_per_second() / 8.0;
        self.stopped = bytes <= 0.0;
        if !self.stopped {
            self.service = (self.service * (bytes / self.rate)).clamp(SLOWEST, FASTEST);
            self.rate = bytes;
        }
    }
}

impl TimeConstant {
    fn least(self) -> f64 {
        match self {
            TimeConstant::Fixed(time) | TimeConstant::Scheduled(time) => time,
        }
    }
}

impl Profile {
    fn new(params: &Params, target: f64, context: &LinkContext) -> Result<Profile, InputError> {
        let lo = params.lo.map_or(target / 2.0, |lo| context.packets(lo));
        let hi = params.hi.map_or((1.5 * target).min(context.limit), |hi| context.packets(hi));
        if lo >= hi {
            let problem = format!("is not below hi = {hi} packets");
            return Err(InputError::conflict(format!("{lo} packets"), problem, "less than hi").at("lo"));
        }
        if hi > context.limit {
            return Err(context.above_the_buffer(format!("{hi} packets")).at("hi"));
        }
        Ok(Profile { lo, hi })
    }

    /// Equation (6).
    fn root(self, backlog: f64, p_max: f64) -> f64 {
        p_max * ((backlog - self.lo).max(0.0) / (self.hi - self.lo)).sqrt()
    }

    /// Slope of (6) for p between 0 and 1.
    fn slope(self, backlog: f64, p_max: f64) -> Option<f64> {
        let p = self.root(backlog, p_max);
        (p > 0.0 && p < 1.0).then(|| p / (2.0 * (backlog - self.lo)))
    }
}

/// Moves an average towards `count` in `elapsed` seconds, with a time constant.
fn approach(average: &mut f64, count: f64, elapsed: f64, time: f64) {
    if elapsed > 0.0 {
        *average += (1.0 - math::exp(-elapsed / time)) * (count / elapsed - *average);
    }
}

/// Default t_c: it follows a short RTT.
fn time_constant(base_rtt: Option<Span>) -> Span {
    base_rtt.map_or(LONGEST, |rtt| (rtt.saturating_mul(ROUND_TRIPS)).clamp(SHORTEST, LONGEST))
}

/// Default T_s.
fn period(t_c: Span) -> Span {
    Span::from_nanos(t_c.nanos() / UPDATES).min(SAMPLING)
}

/// Measure of the load; its integral is defined at an equilibrium at the target alone.
fn measure(params: &Params) -> Result<LoadMeasure, InputError> {
    let holds = params.form == Form::Sqrt && params.bias;
    match params.load {
        Some(LoadMeasure::Integral) if !holds => {
            let problem = "holds the target, which this form does not";
            Err(InputError::conflict("integral", problem, "form = sqrt with its bias").at("load"))
        }
        Some(load) => Ok(load),
        None if holds => Ok(LoadMeasure::Integral),
        None => Ok(LoadMeasure::Virtual),
    }
}

/// tau_w for counts: default twice t_c, and at least [`ROUND_TRIPS`] of a long RTT.
fn load_time(given: Option<Span>, base_rtt: Option<Span>) -> Span {
    let trips = base_rtt.map_or(Span::ZERO, |rtt| rtt.saturating_mul(ROUND_TRIPS));
    given.unwrap_or(trips.max(time_constant(base_rtt) * 2))
}

/// t_c and tau_w for the integral: constant where given, else by (9) and at least some RTTs, 500 ms where unknown.
fn scheduled(params: &Params, base_rtt: Option<Span>) -> [TimeConstant; 2] {
    let least =
        |trips| base_rtt.map_or(LONGEST, |rtt| rtt.max(SHORTEST_TRIP).saturating_mul(trips)).seconds();
    let by_rule = |given: Option<Span>, trips| {
        given.map_or(TimeConstant::Scheduled(least(trips)), |time| TimeConstant::Fixed(time.seconds()))
    };
    [by_rule(params.t_c, LEAST_TRIPS[0]), by_rule(params.tau_w, LEAST_TRIPS[1])]
}

/// First p_w: 2 / W^2 of the expected flows, 0 where they are unknown.
fn expected_p(context: &LinkContext, target: f64) -> f64 {
    let in_flight = context.capacity() * context.base_rtt.unwrap_or(UNKNOWN_RTT).seconds() + target;
    context
        .long_flows(None)
        .map_or(0.0, |flows| (2.0 * (flows / in_flight) * (flows / in_flight)).min(MOST_TAKEN))
}

/// Largest a up to 1 with R of at least `price`; if there is none, the a up to 1 with the largest R.
///
/// R = (a + x)^2 / (a mu) falls with a up to a = x, where it is 4 x / mu.
fn half(target: f64, service: f64, price: f64) -> f64 {
    let flow = price * service;
    if flow <= 4.0 * target {
        return target.min(1.0);
    }
    let middle = flow - 2.0 * target;
    let root = (flow * (flow - 4.0 * target)).sqrt();
    (2.0 * target * target / (middle + root)).min(1.0)
}

/// Least R, in time constants t_c.
const PRICE: f64 = 2.0;
/// RTTs in t_c, and least number of them in the average of the offered load.
const ROUND_TRIPS: u64 = 5;
/// RTTs in the least t_c and tau_w of (9): about one packet a window, TCP does not follow (9)'s model.
const LEAST_TRIPS: [u64; 2] = [2, 3];
const SHORTEST_TRIP: Span = Span::from_micros(200);
/// Range of the default t_c.
const SHORTEST: Span = Span::from_millis(1);
const LONGEST: Span = Span::from_millis(500);
/// Least number of updates within t_c, and the longest default period.
const UPDATES: u64 = 5;
const SAMPLING: Span = Span::from_millis(10);
/// Time constant of the average of the service rate, s.
const SERVICE_TIME: f64 = 1.0;
/// Least share of a period with a backlog to count as busy throughout: times are rounded.
const BUSY: f64 = 1.0 - 1e-6;
/// Range of service rates, packets/s.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e12;
/// Largest p in (7), where a mark counts as ten packets: beyond, timeouts dominate TCP.
const MOST_TAKEN: f64 = 0.9;
/// Least p of (9): windows of 32 packets.
const LEAST_P: f64 = 0.002;
/// Largest excess of the backlog in (10), in targets: a buffer of four targets never exceeds it.
const MOST_EXCESS: f64 = 3.0;
/// Least busy share at which the integral signals: windows that halve when they fill the path average 3/4 of it.
const LEAST_BUSY: f64 = 0.75;
/// Base RTT of (9) where it is unknown: RFC 8289's interval.
const UNKNOWN_RTT: Span = Span::from_millis(100);
/// max_p of RED (Floyd 1997).
const RED_P: f64 = 0.1;

/// Default target, packets.
const USUAL_TARGET: f64 = 40.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// 1250 packets/s; the numbers below are for t_c = 0.2 s.
    fn context() -> LinkContext {
        let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
        LinkContext { rate, packet: 1000.0, limit: 100.0, flows: None, base_rtt: None }
    }

    fn built(change: impl Fn(&mut Params)) -> FbOcq {
        let load = Some(LoadMeasure::Virtual);
        let mut params = Params { t_c: Some(Span::from_millis(200)), load, ..Params::default() };
        change(&mut params);
        FbOcq::new(&params, &context()).unwrap()
    }

    /// A period of 10 ms with `arrived` packets and a busy link.
    fn seen(backlog: f64, arrived: f64) -> Observation {
        Observation {
            elapsed: 0.01,
            backlog_packets: backlog,
            arrived_packets: arrived,
            departed_packets: 12.5,
            departed_bytes: 12500.0,
            busy: 0.01,
            ..Observation::default()
        }
    }

    /// Probability at a backlog under an offered load of 2000 packets/s.
    fn p(controller: &mut FbOcq, backlog: f64) -> f64 {
        controller.state.offered = 2000.0;
        controller.update(&seen(backlog, 20.0)).get()
    }

    #[test]
    fn equation_5_by_hand() {
        // g, u_s and psi put into the first form of (3): u = u* + 1250 - u_s is 1465.0501 packets/s at 10
        // packets, 1250 at the target and 1099.9669 at 90.
        let mut controller = built(|_| ());
        for (backlog, expected) in [(10.0, 0.2674749595671806), (40.0, 0.375), (90.0, 0.4500165676636839)] {
            assert!((p(&mut controller, backlog) - expected).abs() < 1e-12, "{backlog}");
        }
        // Target in one period: 1150.7259 packets/s at 41.
        let mut controller = built(|params| params.form = Form::Deadbeat);
        assert!((p(&mut controller, 41.0) - 0.42463704994192786).abs() < 1e-12);
        assert_eq!([p(&mut controller, 90.0), p(&mut controller, 0.0)], [1.0, 0.0]);
    }

    #[test]
    fn equation_6_by_hand() {
        let mut controller = built(|params| params.form = Form::Profile);
        let at = [10.0, 20.0, 40.0, 60.0, 100.0].map(|backlog| p(&mut controller, backlog));
        let expected = [0.0, 0.0, 0.1 * 0.5_f64.sqrt(), 0.1, 0.1 * 2.0_f64.sqrt()];
        assert_eq!(at, expected);
        assert_eq!(controller.target_packets(), None, "its equilibrium depends on the load");
    }

    #[test]
    fn equation_7_counts_marks_as_drops() {
        // A share of 0.375 of 20 packets is marked: w = 20 + 7.5 / 0.625 = 32 packets a period.
        let marked = Observation { marked_packets: 7.5, ..seen(40.0, 20.0) };
        let weight = 1.0 - math::exp(-0.01);
        for (load, count) in [(LoadMeasure::Virtual, 3200.0), (LoadMeasure::Offered, 2000.0)] {
            let mut controller = built(|params| params.load = Some(load));
            p(&mut controller, 40.0);
            controller.update(&marked);
            let expected = 2000.0 + weight * (count - 2000.0);
            assert!((controller.state.offered - expected).abs() < 1e-9, "{load:?}");
        }
    }

    #[test]
    fn p_is_0_without_load_and_falls_at_once_after_an_excess() {
        let mut controller = built(|_| ());
        for _ in 0..10_000 {
            controller.update(&seen(100.0, 1e4));
        }
        let excess = controller.state.p;
        assert!(controller.update(&seen(0.0, 12.0)).get() < excess);
        let idle = Observation { elapsed: 60.0, ..Observation::default() };
        assert_eq!(controller.update(&idle), Prob::ZERO);
        assert_eq!(controller.update(&Observation { elapsed: 0.0, ..idle }), Prob::ZERO);
    }

    #[test]
    fn a_is_1_unless_the_price_would_be_below_two_time_constants() {
        let half = |controller: &FbOcq| controller.problem().queue().half;
        assert_eq!(half(&built(|_| ())), 1.0);
        // 5 packets: R = 36/1250 s with a = 1; with the a of R = 0.4 s: (a + 5)^2 = 500 a.
        let short = built(|params| params.target = Some(Amount::Packets(5.0)));
        assert!((half(&short) - (490.0 - 240_000.0_f64.sqrt()) / 2.0).abs() < 1e-9, "{}", half(&short));
        assert!((short.problem().price() - 0.4).abs() < 1e-12);
        // Below 4 x / (2 t_c) packets/s every R is large enough.
        let mut slow = built(|_| ());
        slow.on_link_change(Rate::from_bits_per_second(8000.0));
        assert_eq!((half(&slow), slow.problem().price()), (1.0, 1681.0));
    }

    #[test]
    fn the_service_rate_is_that_of_the_link_or_of_departures() {
        let half = Observation { departed_packets: 6.25, departed_bytes: 6250.0, ..seen(40.0, 20.0) };
        let small = Observation { departed_packets: 25.0, ..seen(40.0, 20.0) };
        let idle = Observation { busy: 0.005, departed_packets: 1.0, ..half };
        for (service, observed, expected) in [
            (Service::Link, half, 1250.0),
            (Service::Link, small, 2500.0),
            (Service::Measured, half, 625.0),
            (Service::Measured, idle, 1250.0),
        ] {
            let mut controller = built(|params| params.service = service);
            (0..2000).for_each(|_| _ = controller.update(&observed));
            assert!((controller.state.service - expected).abs() < 1e-3, "{service:?}");
        }
    }

    #[test]
    fn a_stopped_link_resumes_with_its_state() {
        for service in [Service::Link, Service::Measured] {
            let mut controller = built(|params| params.service = service);
            controller.on_link_change(Rate::ZERO);
            let still = Observation { departed_packets: 0.0, departed_bytes: 0.0, ..seen(40.0, 0.0) };
            (0..1000).for_each(|_| _ = controller.update(&still));
            assert_eq!(controller.state.service, 1250.0);
            controller.on_link_change(Rate::from_bits_per_second(20e6));
            assert_eq!(controller.state.service, 2500.0);
            controller.reset();
            assert_eq!(controller.state, controller.start);
        }
    }

    #[test]
    fn a_short_round_trip_shortens_the_defaults() {
        // 1 Gbit/s with packets of 1500 B: t_c = 5 ms, T_s = 1 ms, tau_w = 10 ms.
        let rate = Rate::from_bits_per_second(1e9);
        let base_rtt = Some(Span::from_millis(1));
        let near = LinkContext { rate, packet: 1500.0, limit: 50.0, flows: None, base_rtt };
        let load = Some(LoadMeasure::Virtual);
        let params = Params { target: Some(Amount::Packets(10.0)), load, ..Params::default() };
        let times = |params: &Params, context: &LinkContext| {
            let built = FbOcq::new(params, context).unwrap();
            (built.t_c.least(), built.period.seconds(), built.tau_w.least())
        };
        assert_eq!(times(&params, &near), (0.005, 0.001, 0.01));
        let price = FbOcq::new(&params, &near).unwrap().problem().price();
        assert!((price - 0.01).abs() < 1e-12, "R = 2 t_c: {price}");
        // The shortest defaults.
        let nearer = LinkContext { base_rtt: Some(Span::from_micros(10)), ..near };
        assert_eq!(times(&params, &nearer), (0.001, 0.0002, 0.002));
        // Constant from 100 ms on, and for an unknown RTT.
        for base_rtt in [None, Some(Span::from_millis(100)), Some(Span::from_millis(200))] {
            assert_eq!(times(&params, &LinkContext { base_rtt, ..near }), (0.5, 0.01, 1.0));
        }
        let given = Params { t_c: Some(Span::from_millis(20)), ..params };
        assert_eq!(times(&given, &near), (0.02, 0.004, 0.01));
    }

    #[test]
    fn a_known_round_trip_sets_the_average() {
        let time = |given, rtt: Option<u64>| load_time(given, rtt.map(Span::from_millis)).seconds();
        assert_eq!(time(None, None), 1.0);
        assert_eq!(time(None, Some(20)), 0.2);
        assert_eq!(time(None, Some(100)), 1.0);
        assert_eq!(time(None, Some(600)), 3.0);
        assert_eq!(time(Some(Span::from_millis(200)), Some(600)), 0.2);
        let least =
            |rtt| scheduled(&Params::default(), Some(Span::from_micros(rtt))).map(TimeConstant::least);
        for (rtt, expected) in [(100_000, [0.2, 0.3]), (250_000, [0.5, 0.75]), (1, [0.0004, 0.0006])] {
            assert!(
                least(rtt).iter().zip(expected).all(|(ours, other)| (ours - other).abs() < 1e-12),
                "{rtt}"
            );
        }
    }

    /// R0 of the integral's tests, s: an unknown base RTT, and 40 packets at 1250/s.
    const R0: f64 = 0.132;

    #[test]
    fn equation_9_by_hand() {
        let mut controller = FbOcq::new(&Params::default(), &context()).unwrap();
        let mut at = |p: f64| {
            controller.state.held = p;
            let k = 1.0 / controller.time_constant() - 1.0 / controller.problem().price();
            (k, controller.load_time())
        };
        let near = |(k, time): (f64, f64), (of, other): (f64, f64)| {
            assert!(
                (k / of - 1.0).abs() < 1e-12 && (time / other - 1.0).abs() < 1e-12,
                "{k} {time}, not {of} {other}"
            );
        };
        near(at(0.01), (0.02 / (0.99 * R0), R0 / 0.02_f64.sqrt()));
        near(at(0.0), (0.004 / (0.998 * R0), R0 / 0.004_f64.sqrt()));
        // Heavy loads: t_c = tau_w = 0.5 s, and R = 41^2 / 1250 s.
        near(at(0.3), (2.0 - 1250.0 / 1681.0, 0.5));
        let fixed = built(|params| params.load = None);
        assert_eq!((fixed.time_constant(), fixed.t_c), (0.2, TimeConstant::Fixed(0.2)));
    }

    #[test]
    fn the_integral_is_of_the_error_alone_and_bounded() {
        let mut controller = built(|params| (params.load, params.tau_w) = (None, Some(Span::from_secs(1))));
        controller.state.held = 0.1;
        // k = 1/0.2 s - 1/R: 10 packets too many for 10 ms; the counts have no effect.
        let k = 5.0 - 1250.0 / 1681.0;
        let expected = 0.1 + (1.0 - math::exp(-0.01)) * 0.9 * k * 10.0 / 1250.0;
        controller.update(&seen(50.0, 77.0));
        assert!((controller.state.held - expected).abs() < 1e-12);
        // Below the target for as long, where p is 0, it returns: saturation does not move the mean.
        for backlog in [100.0, 0.0, 0.0, 60.0, 40.0] {
            controller.update(&seen(backlog, 0.0));
        }
        assert!((controller.state.held - expected).abs() < 1e-3, "{}", controller.state.held);
        (0..100_000).for_each(|_| _ = controller.update(&seen(100.0, 0.0)));
        assert_eq!(controller.state.held, MOST_TAKEN);
        (0..100_000).for_each(|_| _ = controller.update(&seen(0.0, 0.0)));
        assert_eq!((controller.state.held, controller.state.p), (0.0, 0.0));
    }

    #[test]
    fn equation_10_bounds_a_peak() {
        let after = |backlog| {
            let mut controller = built(|params| params.load = None);
            controller.update(&seen(backlog, 0.0));
            controller.state.held
        };
        assert!(after(159.0) < after(160.0) && after(160.0) > 0.0);
        assert_eq!(after(1600.0), after(160.0), "four targets");
    }

    #[test]
    fn it_does_not_signal_to_flows_that_do_not_fill_the_link() {
        let mut controller = built(|params| params.load = None);
        controller.state.held = 0.1;
        // From an idle link on, R0 ln 4 of full periods make 3/4: the nineteenth ends after 0.183 s.
        let mut full =
            |periods| (0..periods).map(|_| controller.update(&seen(50.0, 20.0)).get()).sum::<f64>();
        assert_eq!(full(18), 0.0);
        assert!(full(1) > 0.1);
        let gaps = Observation { busy: 0.007, ..seen(50.0, 20.0) };
        (0..100).for_each(|_| _ = controller.update(&gaps));
        assert_eq!(controller.state.p, 0.0);
        // Counts of a load below mu are p = 0 by themselves.
        let mut counts = built(|_| ());
        assert!(p(&mut counts, 40.0) > 0.0);
    }

    #[test]
    fn a_stopped_link_does_not_move_the_integral() {
        let mut controller = built(|params| params.load = None);
        controller.update(&seen(100.0, 0.0));
        let before = controller.state.held;
        assert!(before > 0.0);
        controller.on_link_change(Rate::ZERO);
        controller.update(&seen(100.0, 0.0));
        assert_eq!(controller.state.held, before);
        // p_w is the flows' p: another rate does not change it, and w follows.
        controller.on_link_change(Rate::from_bits_per_second(20e6));
        assert_eq!((controller.state.held, controller.offered()), (before, 2500.0 / (1.0 - before)));
    }

    #[test]
    fn the_integral_starts_at_the_p_of_the_expected_flows() {
        // W = 1250 R0 / 20 = 8.25 packets.
        let known = LinkContext { flows: Some(20.0), ..context() };
        let start = |context: LinkContext| FbOcq::new(&Params::default(), &context).unwrap().state.held;
        assert!((start(known) - 2.0 / (8.25 * 8.25)).abs() < 1e-12);
        assert_eq!(start(context()), 0.0);
        assert_eq!(start(LinkContext { flows: Some(1e6), ..known }), MOST_TAKEN);
    }

    #[test]
    fn the_integral_is_for_forms_with_their_equilibrium_at_the_target() {
        let load = Some(LoadMeasure::Integral);
        for params in [
            Params { form: Form::Deadbeat, ..Params::default() },
            Params { form: Form::Profile, ..Params::default() },
            Params { bias: false, ..Params::default() },
        ] {
            assert!(FbOcq::new(&Params { load, ..params.clone() }, &context()).is_err());
            assert_eq!(FbOcq::new(&params, &context()).unwrap().load, LoadMeasure::Virtual);
        }
    }
}
