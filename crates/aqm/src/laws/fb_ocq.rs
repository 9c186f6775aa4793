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
//! w and mu are averages of counts. There is no integral action: the equilibrium
//! is (1 - p) w = mu, as accurate as these averages. (5) is derived for drops.
//! Marks do not reduce the load; for the same p, w is then the load that would be
//! offered if marks were drops:
//!
//! ```text
//! w = arrivals + marks / (1 - p), per second                                (7)
//! ```

use crate::analysis::{Analysis, Bounds};
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{Linear, OperatingPoint, Rational, Signal};
use crate::link_context::LinkContext;
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
        /// Marks count as drops.
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
             by then";
        /// queue at which half of the service rate is used, packets; 1 is M/M/1
        a "a": Option<f64> = None, in above 0.0 to 1e6, "1, the paper's; less where R would not be 2 t_c";
        /// sampling period
        period "T_s": Option<Span> = None, in "100 us" to "1 s",
            "10 ms, or t_c / 5 where that is shorter: much less than t_c";
        /// time constant of the average of the offered load
        tau_w "tau_w": Option<Span> = None, in "1 ms" to "1 min",
            "1 s; where the round-trip time is known, 10 of them if that is shorter and 5 if that is longer, at least \
             2 ms: a faster one follows the effect of p on the load";
        /// measure of the offered load: packets, or packets with marks counted as drops
        load "w": LoadMeasure = LoadMeasure::Virtual,
            "with offered packets alone the equilibrium is above the target where packets are marked";
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
    time_constant: f64,
    half: Option<f64>,
    period: Span,
    load_time: f64,
    load: LoadMeasure,
    service: Service,
    bias: bool,
    p_max: f64,
    curve: Profile,
    start: State,

    state: State,
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
    /// w, packets/s.
    offered: f64,
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
        let Params { form, load, service: source, bias, .. } = *params;
        let t_c = params.t_c.unwrap_or_else(|| time_constant(context.base_rtt));
        let unset = if form == Form::Profile { RED_P } else { 1.0 };
        let rate = service * context.packet;
        let start = State { offered: 0.0, service, rate, stopped: false, left: [service, rate], p: 0.0 };
        let controller = FbOcq {
            target,
            form,
            time_constant: t_c.seconds(),
            half: params.a,
            period: params.period.unwrap_or_else(|| period(t_c)),
            load_time: load_time(params.tau_w, context.base_rtt),
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
        let half = self.half.unwrap_or_else(|| half(self.target, service, PRICE * self.time_constant));
        Problem::with_x_s(Queue { service, half }, self.target)
    }

    /// Penalty eps of the feedback, s^2/packet.
    pub fn penalty(&self) -> f64 {
        let problem = self.problem();
        // Only a faster link can make the value of `a` too large for t_c.
        problem.penalty(self.time_constant.min(problem.price() / PRICE))
    }

    fn check(&self) -> Result<(), InputError> {
        let price = self.problem().price();
        match self.half {
            Some(half) if self.time_constant >= price => {
                let problem = format!("makes R = {price:.4} s, not above t_c = {} s", self.time_constant);
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
        self.state.observe_load(observed, self.load, self.load_time);
        match self.service {
            Service::Link => self.state.observe_size(observed),
            Service::Measured => self.state.observe_service(observed),
        }
        let p = match self.form {
            Form::Profile => self.curve.root(observed.backlog_packets, self.p_max),
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
        out.gauge("offered", "packets/s", self.state.offered);
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
                out.gauge("t_c", "s", self.time_constant);
                out.gauge("tau_w", "s", self.load_time);
            }
        }
        out.gauge("period", "s", self.period.seconds());
        out.gauge("p_max", "1", self.p_max);
    }
}

impl FbOcq {
    /// Equation (5): share of the offered load above u.
    fn excess(&self, backlog: f64) -> f64 {
        let offered = self.state.offered;
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
        };
        let offered = counted * point.network.capacity;
        let held = -self.slope(point.backlog) / offered;
        // Per packet/s of growth of the backlog.
        let growth = passes * counted / offered;
        let (time, period) = (self.load_time, self.period.seconds());
        let weight = 1.0 - math::exp(-period / time);
        // The average without and with the effect of p: (1 + tau s) and tau s, and both in samples.
        let continuous = Rational::new([held, held * time + growth], [1.0 - fed_back, time]);
        let kept = weight - 1.0;
        let grown = growth * weight / period;
        let above = [held + grown, held * kept - grown];
        let sampled = Rational::new(above, [1.0, kept - fed_back * weight]);
        Some(Linear::both(continuous, sampled, self.period))
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
    /// Equation (7), averaged.
    fn observe_load(&mut self, observed: &Observation, load: LoadMeasure, time: f64) {
        let marks = match load {
            LoadMeasure::Virtual => observed.marked_packets / (1.0 - self.p.min(MOST_TAKEN)),
            LoadMeasure::Offered => 0.0,
        };
        approach(&mut self.offered, observed.arrived_packets + marks, observed.elapsed, time);
    }

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

/// tau_w, s: default twice t_c, and at least [`ROUND_TRIPS`] of a long RTT.
fn load_time(given: Option<Span>, base_rtt: Option<Span>) -> f64 {
    let trips = base_rtt.map_or(Span::ZERO, |rtt| rtt.saturating_mul(ROUND_TRIPS));
    given.unwrap_or(trips.max(time_constant(base_rtt) * 2)).seconds()
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
        let mut params = Params { t_c: Some(Span::from_millis(200)), ..Params::default() };
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
            let mut controller = built(|params| params.load = load);
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
        let params = Params { target: Some(Amount::Packets(10.0)), ..Params::default() };
        let times = |params: &Params, context: &LinkContext| {
            let built = FbOcq::new(params, context).unwrap();
            (built.time_constant, built.period.seconds(), built.load_time)
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
        assert_eq!(load_time(None, None), 1.0);
        assert_eq!(load_time(None, Some(Span::from_millis(20))), 0.2);
        assert_eq!(load_time(None, Some(Span::from_millis(100))), 1.0);
        assert_eq!(load_time(None, Some(Span::from_millis(600))), 3.0);
        assert_eq!(load_time(Some(Span::from_millis(200)), Some(Span::from_millis(600))), 0.2);
    }
}
