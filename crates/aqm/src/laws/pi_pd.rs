//! PI-PD: integral control with a one-sample prediction when the backlog crosses its target.
//!
//! S. Ryu, B. Ryu, M. Jeong, S. Park, "PI-PD Controller for Adaptive and Robust
//! Active Queue Management for Internet Congestion Control"; equation numbers
//! are that paper's. Every period T_s, with the backlog Q and the buffer B,
//!
//! ```text
//! p(k) = p(k-1) + alpha ((Q_k + Q_{k-1})/2 - Q_ref) / Q_ref             (11)
//! p(k) = p(k-1) + alpha (Qhat_{k+1} - Q_ref) / (B - Q_ref)              (15)
//! Qhat_{k+1} = Q_k + g_k (g_k / g_{k-1})  or  Q_k + g_k,  g_k = Q_k - Q_{k-1}  (14)
//! ```
//!
//! with the first form of (14) while g_k and g_{k-1} have the same sign, else the
//! second. `form = switch` is section 3.3: (11) while the last two samples are on
//! the same side of the target, else (15). `form = sum` adds both every period,
//! `form = pd` is (15) alone.
//!
//! The paper's gain, 8e-4, fits one load: at R = 0.2533 s and 63 flows the queue
//! oscillates between empty and full. So alpha is designed for the plant, as an
//! integral controller whose time constant is twice the loop's small lags:
//!
//! ```text
//! K_i = 1 / (2 k (T_1 + 2 R + 1.5 T_s)),  k = R C / (2 p),  T_1 = R / sqrt(2 p)  (a)
//! alpha = K_i T_s S                                                              (b)
//! ```
//!
//! with S the packets by which the form divides its error: Q_ref for (11), B - Q_ref
//! for (15), the smaller one if they alternate. p in (a) is the average, an
//! estimate of the number of flows; there is no estimate with a value of alpha.
//!
//! `sampling = load` is the paper's last section, which would adapt T_s to the load
//! and has no rule: alpha is constant and T_s is the period for which (b) has it,
//!
//! ```text
//! T_s = 2 k alpha (T_1 + 2 R) / (S - 3 k alpha)                                  (c)
//! ```
//!
//! from 1 ms to R, a sample a round trip. A light load is sampled slowly, a heavy
//! one often. Where R is shorter than (c), alpha is that of (b) at R.
//!
//! p is clamped to [0, 1] and the clamped value is the next p(k-1), so that there
//! is no windup. Without a link rate p is constant. After a stall the missed
//! periods are replayed.

use crate::analysis::Analysis;
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{FOLLOWS_THE_LOAD, Linear, OperatingPoint};
use crate::link_context::{LinkContext, Network};
use crate::parts::load::{
    CAPACITY, CAPACITY_IN_PACKETS, FLOWS, GainSchedule, Load, Path, RTT, is_capacity, unknown,
};
use crate::parts::prediction::TcpQueue;
use crate::parts::stall;
use crate::periodic::Periodic;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, LinkRate, Prob, Rate, Span};

sojourn_params::choice! {
    /// Combination of the two parts.
    pub enum Form {
        /// (11) on one side of the target, (15) across it.
        Switch = "switch",
        /// Both, every period.
        Sum = "sum",
        /// (15) alone.
        Pd = "pd",
    }
}

sojourn_params::choice! {
    /// Source of the sampling period.
    pub enum Sampling {
        /// `period`.
        Fixed = "fixed",
        /// The average p, by (c).
        Load = "load",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "pi_pd",
        summary: "integral control of the backlog with a one-sample prediction across the target",
        idea: "Every period the probability is moved by the mean error of the last two samples; where the backlog has \
               just crossed the target, by the error predicted for the next sample. The gain alpha follows the \
               average probability, an estimate of the number of flows, which need not be known. The round-trip \
               time is rtt, else the scenario's, else 100 ms; an error in it affects settling time and damping, \
               not the target.",
        equation: "p <- p + alpha ((Q + Q_old)/2 - Q_ref) / Q_ref,  across Q_ref: p + alpha (Q_next - Q_ref) / (B - Q_ref)",
        source: "S. Ryu, B. Ryu, M. Jeong, S. Park, \"PI-PD Controller for Adaptive and Robust Active Queue Management \
                 for Internet Congestion Control\"",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(PiPd::law(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of PI-PD.
    pub struct Params {
        /// backlog to hold; a time or bytes are converted to packets at the link's first rate
        target "Q_ref": Option<Amount> = None, above 0, where "within the buffer and not all of it",
            "100 packets, pi's, so that the two compare; the paper has 200 packets in a buffer of 800; half of the buffer where that is less";
        /// active parts: (11) or (15) by the side of the target, both, or (15) alone
        form "form": Form = Form::Switch, "the paper's section 3.3";
        /// step of p at an error equal to its divisor; without it the step follows the load
        alpha "alpha": Option<f64> = None, in above 0.0 to 1.0,
            "designed for the link and the load: the paper's 8e-4 oscillates at 63 flows and 0.2533 s; a \
             fixed 2e-4 is stable from 63 flows on up to 0.25 s. With sampling = load 8e-4, and less where the \
             period would be longer than its bound";
        /// source of the sampling period: its key, or the load, for a constant alpha
        sampling "T_s": Sampling = Sampling::Fixed, "the paper's; load is its future work";
        /// sampling period, the longest one with sampling = load
        period "T_s": Option<Span> = None, in "10 us" to "10 s",
            "the paper's 50 ms, or where that is less 0.9 Q_ref / C, so that a period cannot empty the queue; 1 ms or more. With \
             sampling = load the round-trip time";
        /// alpha (with sampling = load the period) follows the average p and the link's rate
        schedule "p": bool = true, "no number of flows is needed; false keeps the alpha of the flows";
        /// long flows that alpha is designed for, to begin with where it is scheduled
        flows "N": Option<f64> = None, within FLOWS, "the scenario's; where unknown alpha begins at p = 0.02";
        /// link rate that alpha is designed for
        capacity "C": Option<LinkRate> = None,
            within CAPACITY, where CAPACITY_IN_PACKETS if |rate| rate.is_none_or(is_capacity),
            "the link's";
        /// round-trip time that alpha is designed for, queueing at the target included
        rtt "R_0": Option<Span> = None, within RTT,
            "the scenario's (100 ms where unknown), and the target's queueing delay";
    }
}

/// The PI-PD controller.
#[derive(Clone, Debug)]
pub struct PiPd {
    target: f64,
    /// B, packets.
    buffer: f64,
    form: Form,
    sampling: Sampling,
    /// T_s; if it follows the load, the longest one, and None: R.
    period: Option<Span>,
    /// alpha, or 0 where it is designed.
    alpha: f64,
    start: State,

    now: State,
}

/// State.
#[derive(Clone, Copy, Debug)]
struct State {
    alpha: f64,
    /// T_s.
    period: Span,
    /// Inputs of the schedule of alpha, or of T_s; None: constant.
    schedule: Option<GainSchedule>,
    p: f64,
    /// Q_{k-1}, packets.
    backlog: f64,
    /// g_{k-1}, packets.
    growth: f64,
}

impl PiPd {
    /// PI-PD on the link of `context`, from p = 0 and an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<PiPd, InputError> {
        let target = room_both_ways(params.target, context)?;
        let path = Path::new(params.capacity, params.rtt, target, context)?;
        let sampling = params.sampling;
        let usual = (sampling == Sampling::Fixed).then(|| usual_period(target, path.capacity));
        let period = params.period.or(usual);
        let buffer = if context.limit.is_finite() { context.limit } else { UNLIMITED * target };
        let alpha = match sampling {
            Sampling::Fixed => params.alpha.unwrap_or_default(),
            Sampling::Load => params.alpha.unwrap_or(PAPERS_ALPHA),
        };
        let first = period.unwrap_or(Span::from_seconds(path.rtt));
        let start = State { alpha, period: first, schedule: None, p: 0.0, backlog: 0.0, growth: 0.0 };
        let mut controller =
            PiPd { target, buffer, form: params.form, sampling, period, alpha, start, now: start };
        controller.begin(params, context, path)?;
        controller.reset();
        Ok(controller)
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<PiPd>, InputError> {
        PiPd::new(params, context).map(Periodic::new)
    }

    /// alpha in use.
    pub fn alpha(&self) -> f64 {
        self.now.alpha
    }
}

impl Controller for PiPd {
    fn period(&self) -> Span {
        self.now.period
    }

    fn update(&mut self, observed: &Observation) -> Prob {
        if stall::has_no_rate(observed) {
            (self.now.backlog, self.now.growth) = (observed.backlog_packets, 0.0);
            return Prob::clamped(self.now.p);
        }
        // The samples are those of the period that has passed.
        let (last, period) = (self.now.backlog, self.now.period.seconds());
        self.follow(observed.elapsed);
        for backlog in stall::samples(last, observed.backlog_packets, observed.elapsed, period) {
            self.step(backlog);
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
        let fresh = PiPd::new(given.params.of()?, context)?;
        let State { p, backlog, growth, schedule, period, .. } = self.now;
        let adapted = self.sampling == Sampling::Load && fresh.sampling == Sampling::Load;
        let schedule = fresh.now.schedule.map(|fresh| fresh.after(schedule));
        *self = PiPd { now: State { schedule, p, backlog, growth, ..fresh.now }, ..fresh };
        self.follow(0.0);
        if adapted {
            // In force until the next update, as after a change of the link.
            self.now.period = period;
        }
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("error", "packets", self.now.backlog - self.target);
        out.gauge("alpha", "1", self.now.alpha);
        if self.sampling == Sampling::Load {
            out.gauge("period", "s", self.now.period.seconds());
        }
        if let Some(schedule) = self.now.schedule {
            out.gauge("design_p", "1", schedule.load.p());
        }
    }
}

impl Analysis for PiPd {
    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        // Equation (11), on one side of the target.
        if self.form != Form::Switch {
            return None;
        }
        let (alpha, period) = self.now.schedule.map_or((self.now.alpha, self.now.period), |schedule| {
            self.designed(&plant_at(&GainSchedule { load: Load::at(point.p), ..schedule }))
        });
        let half = alpha / (2.0 * self.target);
        let one_sided = Linear { partial: Some(ONE_SIDED), ..Linear::steps(half, -half, period) };
        Some(one_sided.assuming(true, ONE_SIDE).assuming(self.now.schedule.is_some(), FOLLOWS_THE_LOAD))
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        out.gauge("alpha", "1", self.now.alpha);
        out.gauge("period", "s", self.now.period.seconds());
    }
}

impl PiPd {
    fn step(&mut self, backlog: f64) {
        let State { alpha, p, backlog: last, growth, .. } = self.now;
        let same_side = (backlog >= self.target) == (last >= self.target);
        let mean = || self.mean_error(backlog, last);
        let ahead = || self.error_ahead(backlog, backlog - last, growth);
        let error = match self.form {
            Form::Switch if same_side => mean(),
            Form::Switch | Form::Pd => ahead(),
            Form::Sum => mean() + ahead(),
        };
        self.now.p = Prob::clamped(p + alpha * error).get();
        (self.now.backlog, self.now.growth) = (backlog, backlog - last);
    }

    /// Fraction of equation (11).
    fn mean_error(&self, backlog: f64, last: f64) -> f64 {
        (f64::midpoint(backlog, last) - self.target) / self.target
    }

    /// Fraction of equation (15).
    fn error_ahead(&self, backlog: f64, growth: f64, last_growth: f64) -> f64 {
        let next = predicted(backlog, growth, last_growth).clamp(0.0, self.buffer);
        (next - self.target) / (self.buffer - self.target)
    }

    /// Sets the initial alpha and T_s, and the schedule of one of them.
    fn begin(&mut self, params: &Params, context: &LinkContext, path: Path) -> Result<(), InputError> {
        if self.sampling == Sampling::Fixed && params.alpha.is_some() {
            return Ok(());
        }
        let flows = context.long_flows(params.flows);
        let plant = if params.schedule {
            let schedule = GainSchedule { load: Load::new(flows, &path), path };
            self.start.schedule = Some(schedule);
            plant_at(&schedule)
        } else {
            let flows = flows.ok_or_else(|| unknown("flows", "the number of long flows"))?;
            TcpQueue::of(Network { flows, capacity: path.capacity, rtt: path.rtt })
        };
        (self.start.alpha, self.start.period) = self.designed(&plant);
        Ok(())
    }

    /// Updates alpha and T_s from the average p.
    fn follow(&mut self, elapsed: f64) {
        let Some(schedule) = &mut self.now.schedule else { return };
        schedule.load.observe(self.now.p, elapsed);
        let plant = plant_at(schedule);
        (self.now.alpha, self.now.period) = self.designed(&plant);
    }

    /// alpha and T_s: equation (b), or (c) within its bounds.
    fn designed(&self, plant: &TcpQueue) -> (f64, Span) {
        let (low, high) = (self.target, self.buffer - self.target);
        let spread = match self.form {
            Form::Switch => low.min(high),
            Form::Pd => high,
            Form::Sum => 1.0 / (1.0 / low + 1.0 / high),
        };
        let longest = self.period.unwrap_or(Span::from_seconds(plant.tau1));
        let period = match self.sampling {
            Sampling::Fixed => longest,
            Sampling::Load => {
                let fitting = fitting_period(plant, self.alpha / spread).min(longest.seconds());
                Span::from_seconds(fitting).max(SHORTEST.min(longest))
            }
        };
        let alpha = (integral_gain(plant, period.seconds()) * period.seconds() * spread).min(1.0);
        let most = if self.sampling == Sampling::Load { self.alpha } else { 1.0 };
        (alpha.min(most), period)
    }
}

fn plant_at(schedule: &GainSchedule) -> TcpQueue {
    TcpQueue::at(schedule.load.p(), schedule.path.capacity, schedule.path.rtt)
}

/// Equation (14): backlog at the next sample, from its last two steps. After a step of 0 there is no ratio; the ratio
/// is limited to `MOST_RATIO`.
pub fn predicted(backlog: f64, growth: f64, last_growth: f64) -> f64 {
    let keeps_on = (growth >= 0.0) == (last_growth >= 0.0);
    if !keeps_on || last_growth == 0.0 {
        return backlog + growth;
    }
    backlog + growth * (growth / last_growth).clamp(0.0, MOST_RATIO)
}

/// Equation (a), 1/(packet s): R counts twice, as the delay and as the lag of the queue.
pub fn integral_gain(plant: &TcpQueue, period: f64) -> f64 {
    1.0 / (2.0 * plant.gain * (plant.tau2 + 2.0 * plant.tau1 + 1.5 * period))
}

/// Equation (c), s: period at which the integral gain moves p by `step` a packet; infinite if there is none.
fn fitting_period(plant: &TcpQueue, step: f64) -> f64 {
    let room = 1.0 - 3.0 * plant.gain * step;
    if room <= 0.0 {
        return f64::INFINITY;
    }
    2.0 * plant.gain * step * (plant.tau2 + 2.0 * plant.tau1) / room
}

/// Target, packets; an error without room in the buffer on both sides of it.
fn room_both_ways(target: Option<Amount>, context: &LinkContext) -> Result<f64, InputError> {
    let packets = context.target(target, USUAL_TARGET)?;
    if packets > 0.0 && packets < context.limit {
        return Ok(packets);
    }
    let problem = format!("leaves no room on one side of it in a buffer of {} packets", context.limit);
    let expected = "more than 0, less than the buffer";
    Err(InputError::conflict(format!("{packets} packets"), problem, expected).at("target"))
}

fn usual_period(target: f64, capacity: f64) -> Span {
    Span::from_seconds(0.9 * target / capacity).clamp(SHORTEST, Span::from_millis(50))
}

/// Size of an unlimited buffer, in targets: the paper's 800 packets over 200.
const UNLIMITED: f64 = 4.0;
/// Shortest default or adapted period.
const SHORTEST: Span = Span::from_millis(1);
/// Table 1's alpha.
const PAPERS_ALPHA: f64 = 8e-4;
/// Largest ratio of two successive steps of the backlog.
const MOST_RATIO: f64 = 2.0;

/// Assumption of the transfer function, and the reason why it is partial.
const ONE_SIDE: &str = "The loops are those of one side of the target. Across it PI-PD predicts by a ratio of two steps, \
                        which has no slope; loops that are stable on each side may still oscillate between \
                        both.";
const ONE_SIDED: &str =
    "the equilibrium is at the target, where the law switches to an equation that has no slope";
/// Default target, packets.
const USUAL_TARGET: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Law;

    /// The paper's link and buffer.
    fn context() -> LinkContext {
        let rate = Rate::from_bits_per_second(3750.0 * 8000.0);
        LinkContext { rate, packet: 1000.0, limit: 800.0, flows: None, base_rtt: None }
    }

    fn papers(form: Form) -> Params {
        let period = Some(Span::from_millis(50));
        Params { target: Some(Amount::Packets(200.0)), form, alpha: Some(8e-4), period, ..Params::default() }
    }

    fn seen(backlog: f64, elapsed: f64) -> Observation {
        Observation { backlog_packets: backlog, elapsed, ..Observation::default() }
    }

    /// Repeats updates with a constant backlog.
    fn keep(law: &mut PiPd, backlog: f64, updates: usize) {
        for _ in 0..updates {
            law.update(&seen(backlog, 0.05));
        }
    }

    /// p after each of these backlogs, from `p`.
    fn walk(form: Form, p: f64, backlogs: &[f64]) -> Vec<f64> {
        let mut law = PiPd::new(&papers(form), &context()).unwrap();
        law.now.p = p;
        backlogs.iter().map(|backlog| law.update(&seen(*backlog, 0.05)).get()).collect()
    }

    fn near(ours: f64, hand: f64) {
        assert!((ours - hand).abs() < 1e-15, "{ours} {hand}");
    }

    #[test]
    fn on_one_side_of_the_target_it_is_equation_11() {
        let p = walk(Form::Switch, 0.1, &[100.0, 180.0, 150.0]);
        near(p[0], 0.1 + 8e-4 * (50.0 - 200.0) / 200.0);
        near(p[1], p[0] + 8e-4 * (140.0 - 200.0) / 200.0);
        near(p[2], p[1] + 8e-4 * (165.0 - 200.0) / 200.0);
    }

    #[test]
    fn across_the_target_it_is_equation_15() {
        // 150, 180 and then across: a ratio of 50/30, below 2.
        let p = walk(Form::Switch, 0.1, &[150.0, 180.0, 230.0]);
        near(p[2], p[1] + 8e-4 * (230.0 + 50.0 * 50.0 / 30.0 - 200.0) / 600.0);
        // The target itself counts as above.
        let p = walk(Form::Switch, 0.1, &[180.0, 150.0, 200.0]);
        near(p[2], p[1] + 8e-4 * (250.0 - 200.0) / 600.0);
        // The predicted backlog is clamped to the buffer.
        let p = walk(Form::Switch, 0.1, &[0.0, 700.0]);
        near(p[1], p[0] + 8e-4);
    }

    #[test]
    fn the_other_forms_are_the_sum_and_the_second_part() {
        let (sum, pd) = (walk(Form::Sum, 0.1, &[150.0, 180.0]), walk(Form::Pd, 0.1, &[150.0, 180.0]));
        let ahead = 8e-4 * (180.0 + 30.0 * 30.0 / 150.0 - 200.0) / 600.0;
        near(pd[1], pd[0] + ahead);
        near(sum[1], sum[0] + ahead + 8e-4 * (165.0 - 200.0) / 200.0);
    }

    #[test]
    fn a_prediction_follows_the_ratio_of_two_steps() {
        near(predicted(190.0, 10.0, 0.0), 200.0);
        // A constant backlog after a rise: the ratio is 0. A rise after a constant backlog has none.
        near(predicted(190.0, 0.0, 10.0), 190.0);
        // Draining ever slower, and a change of sign.
        near(predicted(150.0, -10.0, -20.0), 145.0);
        near(predicted(150.0, -10.0, 20.0), 140.0);
        near(predicted(150.0, -30.0, -10.0), 90.0);
    }

    #[test]
    fn alpha_is_the_integral_gain_times_the_divisor_of_the_form() {
        let alpha = |form| {
            let params = Params {
                alpha: None,
                schedule: false,
                flows: Some(63.0),
                rtt: Some(Span::from_millis(150)),
                ..papers(form)
            };
            PiPd::new(&params, &context()).unwrap().alpha()
        };
        // By hand: k = 562.5^3 / (4 63^2) = 11210.5, T_1 = 0.15^2 3750 / 126 = 0.669643.
        let gain = 1.0 / (2.0 * 11_210.526 * (0.669_643 + 0.3 + 0.075));
        for (form, spread) in [(Form::Switch, 200.0), (Form::Pd, 600.0), (Form::Sum, 150.0)] {
            assert!((alpha(form) / (gain * 0.05 * spread) - 1.0).abs() < 1e-5, "{form:?}");
        }
    }

    #[test]
    fn a_sampling_period_that_follows_the_load_has_alpha_as_its_design() {
        let law = adapted;
        // Heavy loads: (b) at the period of (c) is alpha again.
        for flows in [150.0, 200.0, 300.0] {
            let sampled = law(&|params| (params.flows, params.schedule) = (Some(flows), false)).unwrap();
            assert!(sampled.period() < Span::from_millis(150), "{flows} flows: {}", sampled.period());
            let same = Params {
                alpha: None,
                schedule: false,
                flows: Some(flows),
                rtt: Some(Span::from_millis(150)),
                period: Some(sampled.period()),
                ..papers(Form::Switch)
            };
            let alpha = PiPd::new(&same, &context()).unwrap().alpha();
            assert!((alpha / 8e-4 - 1.0).abs() < 1e-6, "{flows} flows: {alpha}");
        }
        // By hand: 300 flows have W = 1.875, so that p = 2 / W^2, k = R C W^2 / 4 and T_1 = R W / 2.
        let sampled = law(&|params| (params.flows, params.schedule) = (Some(300.0), false)).unwrap();
        let (k, lags) = (562.5 * 1.875 * 1.875 / 4.0, 0.15 * 1.875 / 2.0 + 0.3);
        let hand = 2.0 * k * 4e-6 * lags / (1.0 - 3.0 * k * 4e-6);
        assert!((sampled.period().seconds() / hand - 1.0).abs() < 1e-6, "{} {hand}", sampled.period());
        assert_eq!(sampled.period().to_string(), "1.753107 ms", "docs/laws/pi_pd.md");
        let sampled = law(&|params| (params.flows, params.schedule) = (Some(150.0), false)).unwrap();
        assert_eq!(sampled.period().to_string(), "9.419076 ms", "docs/laws/pi_pd.md");
    }

    /// The law with an adapted period at 150 ms.
    fn adapted(change: &dyn Fn(&mut Params)) -> Result<PiPd, InputError> {
        let mut of = Params { sampling: Sampling::Load, period: None, ..papers(Form::Switch) };
        of.rtt = Some(Span::from_millis(150));
        change(&mut of);
        PiPd::new(&of, &context())
    }

    #[test]
    fn a_light_load_is_sampled_at_the_bound_with_the_alpha_of_that_period() {
        for given in [None, Some(Span::from_millis(40))] {
            let light = adapted(&|params| (params.flows, params.period) = (Some(20.0), given)).unwrap();
            let period = given.unwrap_or(Span::from_millis(150));
            assert_eq!(light.period(), period);
            let same = Params {
                alpha: None,
                flows: Some(20.0),
                rtt: Some(Span::from_millis(150)),
                period: Some(period),
                ..papers(Form::Switch)
            };
            assert_eq!(light.alpha(), PiPd::new(&same, &context()).unwrap().alpha());
            assert!(light.alpha() < 8e-4);
        }
        // The shortest one is 1 ms.
        let heavy = adapted(&|params| (params.flows, params.schedule) = (Some(1000.0), false)).unwrap();
        assert_eq!((heavy.period(), heavy.alpha()), (Span::from_millis(1), 8e-4));
    }

    #[test]
    fn an_adapted_period_follows_the_average_p_and_the_link() {
        let mut law = Periodic::new(adapted(&|_| ()).unwrap());
        let update = |law: &mut Periodic<PiPd>| {
            let due = law.next_update().unwrap();
            law.on_update(due, &Observation { now: due, ..seen(800.0, 0.01) });
            law.next_update().unwrap().since(due)
        };
        let first = update(&mut law);
        for _ in 0..2000 {
            update(&mut law);
        }
        assert!(update(&mut law) < first);
        // A faster link has a shorter round trip, which is the bound.
        let base = LinkContext { base_rtt: Some(Span::from_millis(100)), ..context() };
        let light = Params { sampling: Sampling::Load, flows: Some(10.0), ..Params::default() };
        let mut law = PiPd::new(&light, &base).unwrap();
        assert_eq!(law.period(), Span::from_seconds(0.1 + 100.0 / 3750.0));
        law.on_link_change(Rate::from_bits_per_second(7500.0 * 8000.0));
        law.update(&seen(0.0, 0.01));
        assert_eq!(law.period(), Span::from_seconds(0.1 + 100.0 / 7500.0));
        // Without an estimate of the load there must be a number of flows.
        assert!(adapted(&|params| params.schedule = false).is_err());
    }

    #[test]
    fn it_does_not_wind_up_and_p_is_constant_without_a_link_rate() {
        let mut law = PiPd::new(&papers(Form::Switch), &context()).unwrap();
        keep(&mut law, 800.0, 100_000);
        assert_eq!(law.now.p, 1.0);
        keep(&mut law, 0.0, 2);
        assert!(law.now.p < 1.0);
        let (before, rate) = (law.now.p, Some(Rate::from_bits_per_second(0.0)));
        let still = Observation { capacity: rate, ..seen(800.0, 0.05) };
        for _ in 0..1000 {
            law.update(&still);
        }
        assert_eq!(law.now.p, before);
    }

    #[test]
    fn a_stall_integrates_the_elapsed_time() {
        let mut steady = PiPd::new(&papers(Form::Switch), &context()).unwrap();
        keep(&mut steady, 250.0, 1);
        let mut stalled = steady.clone();
        keep(&mut steady, 250.0, 50);
        stalled.update(&seen(250.0, 2.5));
        assert!((steady.now.p - stalled.now.p).abs() < 1e-12, "{} {}", steady.now.p, stalled.now.p);
        // An hour counts as a thousand periods.
        let mut law = PiPd::new(&papers(Form::Switch), &context()).unwrap();
        law.update(&seen(250.0, 0.05));
        let before = law.now.p;
        law.update(&seen(250.0, 3600.0));
        assert!((law.now.p - before - 1000.0 * 8e-4 * 0.25).abs() < 1e-12);
    }

    #[test]
    fn it_is_designed_for_unknown_traffic() {
        let unlimited = LinkContext { limit: f64::INFINITY, ..context() };
        let law = PiPd::new(&Params::default(), &unlimited).unwrap();
        assert!(law.alpha() > 0.0);
        assert_eq!(law.period(), Span::from_seconds(0.9 * 100.0 / 3750.0));
    }
}
