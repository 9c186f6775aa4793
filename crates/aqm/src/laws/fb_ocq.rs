//! FB-OCQ: the optimal control of a queue as a law, by feedback in closed form.
//!
//! A. Radwan, H.-L. To, W.-J. Hwang, "Optimal Control for Bufferbloat Queue
//! Management Using Indirect Method with Parametric Optimization", Scientific
//! Programming, 2016. The paper solves for the input u that is to be let in of
//! an offered load w ([`sojourn_optim::ocq`] has the problem and the solution),
//! and simulates a law with a "square-root drop function" that it does not
//! write down. Ours, every T_s:
//!
//! ```text
//! p = 1 - u / w, within 0 and p_max                                         (5)
//! u = u*(q) + mu - u_s
//! ```
//!
//! u* is the feedback of the long run that rests at the target: `form = sqrt`
//! takes equation (3) of `ocq`, whose p grows far from the target as a square
//! root of the queue; `deadbeat` wants to be at the target after one period.
//! The model's queue loses u_s at rest, the queue in front of a busy link mu:
//! without the difference, the bias, the law rests below its target.
//!
//! `form = profile` is what "square-root drop function" may have meant, RED's
//! line bent to a root:
//!
//! ```text
//! p = p_max sqrt((q - lo) / (hi - lo)), from lo on, at most 1               (6)
//! ```
//!
//! w and mu are averages of what was counted. Nothing here integrates an error:
//! the law rests where (1 - p) w = mu, so it is as good as they are. (5) takes
//! away what it hits. A mark does not; so that the same p is asked for, w is
//! then the load that would be offered if marks were drops:
//!
//! ```text
//! w = arrivals + marks / (1 - p), per second                                (7)
//! ```

use crate::catalogue::Entry;
use crate::law::{Bounds, Controller, Gauges, Given, Observation};
use crate::linear::{Linear, Rational, Rest, Signal};
use crate::sampled::Sampled;
use crate::site::Site;
use sojourn_optim::ocq::{Problem, Queue};
use sojourn_units::param::Described;
use sojourn_units::{Amount, Fault, Page, Prob, Rate, Span, math};

sojourn_units::choice! {
    /// Where p comes from.
    pub enum Form {
        /// The feedback with a penalty.
        Sqrt = "sqrt",
        /// The feedback that is at rest after one period.
        Deadbeat = "deadbeat",
        /// A curve over the queue.
        Profile = "profile",
    }
}

sojourn_units::choice! {
    /// What the offered load counts.
    pub enum Load {
        /// Marks as if they were drops.
        Virtual = "virtual",
        /// Packets.
        Offered = "offered",
    }
}

sojourn_units::choice! {
    /// Where the service rate comes from.
    pub enum Service {
        /// The link's rate over the mean size of what left.
        Link = "link",
        /// What left while there was a backlog.
        Measured = "measured",
    }
}

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "fb_ocq",
        summary: "optimal control of the queue: lets in what leads to a target at the least cost",
        idea: "A packet that waits costs something each second, a packet turned away costs something once. The input \
               that makes the sum least has a closed form: a rate that falls with the queue. Every period \
               the law takes that rate, and hits the share by which the offered load exceeds it. It \
               counts the load itself, so neither the number of flows nor the round-trip time need be known.",
        equation: "p = 1 - (u + mu - u_s) / w,  u = g - (q - x_s) sqrt(s^2 + 1 / (eps (a + q))),  g = mu q / (a + q)",
        source: "A. Radwan, H.-L. To, W.-J. Hwang, Scientific Programming, 2016",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(FbOcq::law(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of FB-OCQ.
    pub struct Params {
        /// backlog to hold, except that profile holds none: its curve alone is set by it; a time or bytes are turned
        /// into packets at the link's first rate
        target: Option<Amount> = None, "x_s", "more than 0, within the buffer" if |_| true,
            "40 packets, the paper's simulation; half of the buffer where that is less";
        /// where p comes from: the feedback with a penalty, the one without, or a curve over the queue
        form: Form = Form::Sqrt, "u*", "sqrt, deadbeat or profile" if |_| true,
            "deadbeat takes all or nothing: with marks the queue swings from empty to full";
        /// time constant of the feedback at the target
        t_c: Option<Span> = None, "t_c", "1 ms to 1 min; with a, less than R = (a + target)^2 / (a mu)"
            if |t_c| t_c.is_none_or(|t_c| (Span::from_millis(1)..=Span::from_secs(60)).contains(&t_c)),
            "500 ms, or 5 round-trip times where that is known and shorter, at least 1 ms: TCP must have answered \
             meanwhile";
        /// queue at which half of the service rate is used, packets; 1 is M/M/1
        a: Option<f64> = None, "a", "more than 0, at most 1e6" if |a| a.is_none_or(|a| a > 0.0 && a <= 1e6),
            "1, the paper's; less where R would not be 2 t_c";
        /// sampling period
        period: Option<Span> = None, "T_s", "100 us to 1 s"
            if |period| period.is_none_or(|period| (Span::from_micros(100)..=Span::from_secs(1)).contains(&period)),
            "10 ms, or t_c / 5 where that is shorter: much less than t_c";
        /// time constant of the average of the offered load
        tau_w: Option<Span> = None, "tau_w", "1 ms to 1 min"
            if |tau| tau.is_none_or(|tau| (Span::from_millis(1)..=Span::from_secs(60)).contains(&tau)),
            "1 s; where the round-trip time is known, 10 of them if that is shorter and 5 if that is longer, at least \
             2 ms: a faster one chases what p does to the load";
        /// what the offered load counts: packets, or marks as if they were drops
        load: Load = Load::Virtual, "w", "virtual or offered" if |_| true,
            "offered packets alone rest above the target where packets are marked";
        /// where the service rate comes from: the link's rate and the mean size of packets, or what left under a backlog
        service: Service = Service::Link, "mu", "link or measured" if |_| true, "a link knows its rate";
        /// whether the input is raised by mu - u_s
        bias: bool = true, "mu - u_s", "true or false" if |_| true,
            "at rest a busy link takes mu, not u_s";
        /// the most p, except that profile reaches it at hi and goes on
        p_max: Option<f64> = None, "p_max", "more than 0, at most 1" if |p| p.is_none_or(|p| p > 0.0 && p <= 1.0),
            "1; for profile 0.1, RED's";
        /// backlog from which profile hits
        lo: Option<Amount> = None, "x_lo", "less than hi" if |_| true, "half the target";
        /// backlog at which profile hits with p_max
        hi: Option<Amount> = None, "x_hi", "more than lo, within the buffer" if |_| true,
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
    load: Load,
    service: Service,
    bias: bool,
    p_max: f64,
    curve: Curve,
    start: State,

    state: State,
}

/// Where the profile begins, and where it has p_max.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Curve {
    lo: f64,
    hi: f64,
}

/// What has been learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    /// w, packets/s.
    offered: f64,
    /// mu, packets/s.
    service: f64,
    /// The link's rate when it last had one, bytes/s.
    rate: f64,
    stopped: bool,
    /// What left, averaged: packets/s and bytes/s; their ratio is the mean size.
    left: [f64; 2],
    p: f64,
}

impl FbOcq {
    /// FB-OCQ in front of the link at `site`, from p = 0 and an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<FbOcq, Fault> {
        let target = site.target(params.target, USUAL_TARGET)?;
        if target <= 0.0 {
            return Err(Fault::new("target", format!("{target} packets is no backlog; legal: more than 0")));
        }
        let service = site.capacity();
        if service <= 0.0 {
            let what = "cannot be told of a link that stands still; legal: a link rate above 0";
            return Err(Fault::new("service", what));
        }
        let Params { form, load, service: source, bias, .. } = *params;
        let t_c = params.t_c.unwrap_or_else(|| time_constant(site.base_rtt));
        let unset = if form == Form::Profile { RED_P } else { 1.0 };
        let rate = service * site.packet;
        let start = State { offered: 0.0, service, rate, stopped: false, left: [service, rate], p: 0.0 };
        let controller = FbOcq {
            target,
            form,
            time_constant: t_c.seconds(),
            half: params.a,
            period: params.period.unwrap_or_else(|| period(t_c)),
            load_time: load_time(params.tau_w, site.base_rtt),
            load,
            service: source,
            bias,
            p_max: params.p_max.unwrap_or(unset),
            curve: Curve::new(params, target, site)?,
            start,
            state: start,
        };
        controller.check()?;
        Ok(controller)
    }

    /// The law of this controller.
    pub fn law(params: &Params, site: &Site) -> Result<Sampled<FbOcq>, Fault> {
        FbOcq::new(params, site).map(Sampled::new)
    }

    /// The problem that is solved at present.
    pub fn problem(&self) -> Problem {
        let service = self.state.service;
        let half = self.half.unwrap_or_else(|| half(self.target, service, PRICE * self.time_constant));
        Problem::resting_at(Queue { service, half }, self.target)
    }

    /// The penalty eps of its feedback, s^2/packet.
    pub fn penalty(&self) -> f64 {
        let problem = self.problem();
        // Only a faster link can make a given `a` too large for t_c.
        problem.penalty(self.time_constant.min(problem.price() / PRICE))
    }

    fn check(&self) -> Result<(), Fault> {
        let price = self.problem().price();
        match self.half {
            Some(half) if self.time_constant >= price => {
                let what = format!(
                    "{half} makes R = {price:.4} s, not above t_c = {} s; legal: a smaller a, or a shorter t_c",
                    self.time_constant
                );
                Err(Fault::new("a", what))
            }
            _ => Ok(()),
        }
    }
}

impl Controller for FbOcq {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, seen: &Observation) -> Prob {
        self.state.observe_load(seen, self.load, self.load_time);
        match self.service {
            Service::Link => self.state.observe_size(seen),
            Service::Measured => self.state.observe_service(seen),
        }
        let p = match self.form {
            Form::Profile => self.curve.root(seen.backlog_packets, self.p_max),
            Form::Sqrt | Form::Deadbeat => self.excess(seen.backlog_packets).min(self.p_max),
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

    fn retune(&mut self, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = FbOcq::new(&Params::from_values(given)?, site)?;
        *self = FbOcq { state: self.state, ..fresh };
        Ok(())
    }

    fn settled(&self, backlog: f64) -> Option<Prob> {
        let root = || Prob::clamped(self.curve.root(backlog, self.p_max));
        (self.form == Form::Profile).then(root)
    }

    fn bounds(&self) -> Bounds {
        let most_p = if self.form == Form::Profile { 1.0 } else { self.p_max };
        Bounds { most_p, ..Bounds::default() }
    }

    fn linear(&self, rest: &Rest) -> Option<Linear> {
        if self.form == Form::Profile {
            let slope = self.curve.slope(rest.backlog, self.p_max)?;
            return Some(Linear::both(Rational::constant(slope), Rational::constant(slope), self.period));
        }
        self.feedback(rest)
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

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("offered", "packets/s", self.state.offered);
        out.gauge("service", "packets/s", self.state.service);
    }
}

impl FbOcq {
    /// Equation (5): the share of the offered load that is more than what is to be let in.
    fn excess(&self, backlog: f64) -> f64 {
        let offered = self.state.offered;
        let input = self.input(backlog).max(0.0);
        if offered > input { 1.0 - input / offered } else { 0.0 }
    }

    /// Equation (5) at rest, where u = (1 - p) w and what is let in is C: with dw the deviation of the average w,
    ///
    /// ```text
    /// dp = -u' / w dq + (1 - p) / w dw,  w = C / (1 - p) by (7) or where packets are dropped, else C
    /// ```
    ///
    /// By (7), and where packets are dropped, a period counts (C T + dq - dq_old) / (1 - p_old), so p moves w: the
    /// average becomes an integral.
    fn feedback(&self, rest: &Rest) -> Option<Linear> {
        if rest.p >= self.p_max.min(MOST_TAKEN) {
            return None;
        }
        let passes = 1.0 - rest.p;
        let (counted, fed_back) = match (self.load, rest.signal) {
            (Load::Virtual, _) | (Load::Offered, Signal::Drop) => (1.0 / passes, 1.0),
            (Load::Offered, Signal::Mark) => (1.0, 0.0),
            (Load::Offered, Signal::Both { .. }) => return None,
        };
        let offered = counted * rest.network.capacity;
        let held = -self.slope(rest.backlog) / offered;
        // Of one packet a second that the backlog grows by.
        let growth = passes * counted / offered;
        let (time, period) = (self.load_time, self.period.seconds());
        let weight = 1.0 - math::exp(-period / time);
        // The average without and with what p moves: (1 + tau s) and tau s, and the same in samples.
        let continuous = Rational::new([held, held * time + growth], [1.0 - fed_back, time]);
        let kept = weight - 1.0;
        let grown = growth * weight / period;
        let above = [held + grown, held * kept - grown];
        let sampled = Rational::new(above, [1.0, kept - fed_back * weight]);
        Some(Linear::both(continuous, sampled, self.period))
    }

    /// The slope of u at x, 1/s: u* = g - (x - x_s) r, r^2 = s^2 + 1 / (eps (a + x)) by (3) of `ocq`, where the
    /// secant s of g falls as 1 / (a + x).
    fn slope(&self, x: f64) -> f64 {
        let problem = self.problem();
        let (queue, rest) = (problem.queue(), problem.rest());
        let steepness = queue.secant(x, x);
        if self.form == Form::Deadbeat {
            return steepness - 1.0 / self.period.seconds();
        }
        let (s, far) = (queue.secant(x, rest), queue.half + x);
        let r = (s * s + 1.0 / (self.penalty() * far)).sqrt();
        steepness - r + (x - rest) * (r * r + s * s) / (2.0 * r * far)
    }

    fn input(&self, backlog: f64) -> f64 {
        let problem = self.problem();
        let input = match self.form {
            Form::Deadbeat => problem.deadbeat(backlog, self.period.seconds()),
            _ => problem.input(backlog, self.penalty()),
        };
        let bias = if self.bias { self.state.service - problem.rest_input() } else { 0.0 };
        input + bias
    }
}

impl State {
    /// Equation (7), averaged.
    fn observe_load(&mut self, seen: &Observation, load: Load, time: f64) {
        let marks = match load {
            Load::Virtual => seen.marked_packets / (1.0 - self.p.min(MOST_TAKEN)),
            Load::Offered => 0.0,
        };
        approach(&mut self.offered, seen.arrived_packets + marks, seen.elapsed, time);
    }

    fn observe_size(&mut self, seen: &Observation) {
        if seen.departed_packets > 0.0 && seen.departed_bytes > 0.0 {
            let [packets, bytes] = &mut self.left;
            approach(packets, seen.departed_packets, seen.elapsed, SERVICE_TIME);
            approach(bytes, seen.departed_bytes, seen.elapsed, SERVICE_TIME);
            self.service = (self.rate * (*packets / *bytes)).clamp(SLOWEST, FASTEST);
        }
    }

    /// Only periods that were busy throughout: what passes an empty queue says nothing of the link.
    fn observe_service(&mut self, seen: &Observation) {
        if !self.stopped && seen.elapsed > 0.0 && seen.busy > BUSY * seen.elapsed {
            approach(&mut self.service, seen.departed_packets, seen.elapsed, SERVICE_TIME);
            self.service = self.service.max(SLOWEST);
        }
    }

    /// A link that stands still is expected to come back as it was.
    fn follow(&mut self, rate: Rate) {
        let bytes = rate.bits_per_second() / 8.0;
        self.stopped = bytes <= 0.0;
        if !self.stopped {
            self.service = (self.service * (bytes / self.rate)).clamp(SLOWEST, FASTEST);
            self.rate = bytes;
        }
    }
}

impl Curve {
    fn new(params: &Params, target: f64, site: &Site) -> Result<Curve, Fault> {
        let lo = params.lo.map_or(target / 2.0, |lo| site.packets(lo));
        let hi = params.hi.map_or((1.5 * target).min(site.limit), |hi| site.packets(hi));
        if lo >= hi {
            let what = format!("{lo} packets is not below hi = {hi} packets; legal: less than hi");
            return Err(Fault::new("lo", what));
        }
        if hi > site.limit {
            let what = format!(
                "{hi} packets is above the buffer of {} packets; legal: within the buffer",
                site.limit
            );
            return Err(Fault::new("hi", what));
        }
        Ok(Curve { lo, hi })
    }

    /// Equation (6).
    fn root(self, backlog: f64, p_max: f64) -> f64 {
        p_max * ((backlog - self.lo).max(0.0) / (self.hi - self.lo)).sqrt()
    }

    /// The slope of (6), where p is between 0 and 1.
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

/// t_c where none is given: it follows a short round trip.
fn time_constant(base_rtt: Option<Span>) -> Span {
    base_rtt.map_or(LONGEST, |rtt| (rtt.saturating_mul(ROUND_TRIPS)).clamp(SHORTEST, LONGEST))
}

/// T_s where none is given.
fn period(t_c: Span) -> Span {
    Span::from_nanos(t_c.nanos() / UPDATES).min(SAMPLING)
}

/// tau_w, s: twice the t_c of such a path, and no less than so many round trips of a long one.
fn load_time(given: Option<Span>, base_rtt: Option<Span>) -> f64 {
    let trips = base_rtt.map_or(Span::ZERO, |rtt| rtt.saturating_mul(ROUND_TRIPS));
    given.unwrap_or(trips.max(time_constant(base_rtt) * 2)).seconds()
}

/// The largest a up to 1 with which R is at least `price`; where none is, the one of the largest R for a up to 1.
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

/// R is to be so many time constants t_c at least.
const PRICE: f64 = 2.0;
/// Round-trip times in t_c, and at least in the average of the offered load.
const ROUND_TRIPS: u64 = 5;
/// The least and the longest t_c that are taken by themselves.
const SHORTEST: Span = Span::from_millis(1);
const LONGEST: Span = Span::from_millis(500);
/// Updates within t_c at least, and the longest period that is taken by itself.
const UPDATES: u64 = 5;
const SAMPLING: Span = Span::from_millis(10);
/// Time constant of the average of the service rate, s.
const SERVICE_TIME: f64 = 1.0;
/// The share of a period with a backlog from which on it counts as busy throughout: clocks are rounded.
const BUSY: f64 = 1.0 - 1e-6;
/// Service rates that can be computed with, packets/s.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e12;
/// A mark stands for at most ten packets: TCP under a higher p lives on timeouts.
const MOST_TAKEN: f64 = 0.9;
/// max_p of RED (Floyd 1997).
const RED_P: f64 = 0.1;

/// The target where none is given, packets.
const USUAL_TARGET: f64 = 40.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// 1250 packets/s; the feedback's numbers below belong to t_c = 0.2 s.
    fn site() -> Site {
        let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
        Site { rate, packet: 1000.0, limit: 100.0, flows: None, base_rtt: None }
    }

    fn built(change: impl Fn(&mut Params)) -> FbOcq {
        let mut params = Params { t_c: Some(Span::from_millis(200)), ..Params::default() };
        change(&mut params);
        FbOcq::new(&params, &site()).unwrap()
    }

    /// A period of 10 ms in which so many packets came and the link was busy.
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

    /// The probability at a backlog under an offered load of 2000 packets/s.
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
        // At rest in one period: 1150.7259 packets/s at 41.
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
        assert_eq!(controller.target_packets(), None, "it rests where the load needs it to");
    }

    #[test]
    fn equation_7_counts_what_marks_stand_for() {
        // A share of 0.375 of 20 packets is marked: w = 20 + 7.5 / 0.625 = 32 packets a period.
        let marked = Observation { marked_packets: 7.5, ..seen(40.0, 20.0) };
        let weight = 1.0 - math::exp(-0.01);
        for (load, count) in [(Load::Virtual, 3200.0), (Load::Offered, 2000.0)] {
            let mut controller = built(|params| params.load = load);
            p(&mut controller, 40.0);
            controller.update(&marked);
            let expected = 2000.0 + weight * (count - 2000.0);
            assert!((controller.state.offered - expected).abs() < 1e-9, "{load:?}");
        }
    }

    #[test]
    fn after_silence_there_is_no_probability_and_after_excess_it_falls_at_once() {
        let mut controller = built(|_| ());
        for _ in 0..10_000 {
            controller.update(&seen(100.0, 1e4));
        }
        let excess = controller.state.p;
        assert!(controller.update(&seen(0.0, 12.0)).get() < excess);
        let silence = Observation { elapsed: 60.0, ..Observation::default() };
        assert_eq!(controller.update(&silence), Prob::ZERO);
        assert_eq!(controller.update(&Observation { elapsed: 0.0, ..silence }), Prob::ZERO);
    }

    #[test]
    fn a_is_one_unless_that_makes_a_packet_cheaper_than_two_time_constants() {
        let half = |controller: &FbOcq| controller.problem().queue().half;
        assert_eq!(half(&built(|_| ())), 1.0);
        // 5 packets: R = 36/1250 s with a = 1; with the a of R = 0.4 s: (a + 5)^2 = 500 a.
        let short = built(|params| params.target = Some(Amount::Packets(5.0)));
        assert!((half(&short) - (490.0 - 240_000.0_f64.sqrt()) / 2.0).abs() < 1e-9, "{}", half(&short));
        assert!((short.problem().price() - 0.4).abs() < 1e-12);
        // Below 4 x / (2 t_c) packets/s every R will do.
        let mut slow = built(|_| ());
        slow.on_link_change(Rate::from_bits_per_second(8000.0));
        assert_eq!((half(&slow), slow.problem().price()), (1.0, 1681.0));
    }

    #[test]
    fn the_service_rate_is_the_links_or_what_left() {
        let half = Observation { departed_packets: 6.25, departed_bytes: 6250.0, ..seen(40.0, 20.0) };
        let small = Observation { departed_packets: 25.0, ..seen(40.0, 20.0) };
        let idle = Observation { busy: 0.005, departed_packets: 1.0, ..half };
        for (service, seen, expected) in [
            (Service::Link, half, 1250.0),
            (Service::Link, small, 2500.0),
            (Service::Measured, half, 625.0),
            (Service::Measured, idle, 1250.0),
        ] {
            let mut controller = built(|params| params.service = service);
            (0..2000).for_each(|_| _ = controller.update(&seen));
            assert!((controller.state.service - expected).abs() < 1e-3, "{service:?}");
        }
    }

    #[test]
    fn a_link_that_stands_still_comes_back_as_it_was() {
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
    fn a_short_round_trip_makes_it_faster() {
        // 1 Gbit/s with packets of 1500 B: t_c = 5 ms, T_s = 1 ms, tau_w = 10 ms.
        let rate = Rate::from_bits_per_second(1e9);
        let base_rtt = Some(Span::from_millis(1));
        let near = Site { rate, packet: 1500.0, limit: 50.0, flows: None, base_rtt };
        let params = Params { target: Some(Amount::Packets(10.0)), ..Params::default() };
        let times = |params: &Params, site: &Site| {
            let built = FbOcq::new(params, site).unwrap();
            (built.time_constant, built.period.seconds(), built.load_time)
        };
        assert_eq!(times(&params, &near), (0.005, 0.001, 0.01));
        let price = FbOcq::new(&params, &near).unwrap().problem().price();
        assert!((price - 0.01).abs() < 1e-12, "R = 2 t_c: {price}");
        // As short as they may be.
        let nearer = Site { base_rtt: Some(Span::from_micros(10)), ..near };
        assert_eq!(times(&params, &nearer), (0.001, 0.0002, 0.002));
        // From 100 ms on, and where nothing is known, they are what they are.
        for base_rtt in [None, Some(Span::from_millis(100)), Some(Span::from_millis(200))] {
            assert_eq!(times(&params, &Site { base_rtt, ..near }), (0.5, 0.01, 1.0));
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

    #[test]
    fn what_contradicts_itself_is_refused() {
        let refused = |change: &dyn Fn(&mut Params)| {
            let mut params = Params::default();
            change(&mut params);
            FbOcq::new(&params, &site()).unwrap_err().to_string()
        };
        let told = refused(&|params| params.target = Some(Amount::Packets(0.0)));
        assert_eq!(told, "target: 0 packets is no backlog; legal: more than 0");
        let told = refused(&|params| params.target = Some(Amount::Packets(101.0)));
        assert_eq!(told, "target: 101 packets is above the buffer of 100 packets; legal: within the buffer");
        let told = refused(&|params| params.a = Some(40.0));
        let expected =
            "a: 40 makes R = 0.1280 s, not above t_c = 0.5 s; legal: a smaller a, or a shorter t_c";
        assert_eq!(told, expected);
        let told = refused(&|params| params.lo = Some(Amount::Packets(60.0)));
        assert_eq!(told, "lo: 60 packets is not below hi = 60 packets; legal: less than hi");
        let told = refused(&|params| params.hi = Some(Amount::Packets(101.0)));
        assert_eq!(told, "hi: 101 packets is above the buffer of 100 packets; legal: within the buffer");
        let still = Site { rate: Rate::ZERO, ..site() };
        assert_eq!(FbOcq::new(&Params::default(), &still).unwrap_err().key, "service");
    }
}
