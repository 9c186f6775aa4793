//! ARM-PFC: predictive functional control of the backlog with an ARMarkov model.
//!
//! N. Bigdeli, M. Haeri, "ARM-PFC, an Optimized AQM Congestion Controller in
//! TCP/IP Networks", Iranian Journal of Science & Technology B 31(B6), 2007.
//! Every period T a linear model of TCP and queue predicts the backlog h
//! periods ahead, beyond the round-trip time; p makes the prediction equal to a
//! reference that decays exponentially from the present backlog to the target.
//! With y = q - q_ref and u = p - p_0:
//!
//! ```text
//! P(s) = -k_t e^(-s R) / ((tau_1 s + 1)(tau_2 s + 1)),
//!        k_t = R C / (2 p_0),  tau_1 = R,  tau_2 = R / sqrt(2 p_0)           (11)
//! y(k) = -n_1 y(k-1) - n_2 y(k-2) + m_1 u(k-d-1) + m_2 u(k-d-2)             (12)
//! y(k+h) = beta_1 y(k) + beta_2 y(k-1) + G u(k)
//!          + sum c_j u(k-j) + eta u(k-d-1)                                  (21)
//! u(k) = (y(k)(psi^h - 1) + y_m(k) - y_m's part of (21) without u(k)) / G   (27)
//! ```
//!
//! Equation numbers are the paper's; its printed forms of (11), (18) and (20) are
//! corrected. `form = paper` is (27) to the letter: y_m(k) and the prediction both
//! start from measurements. It has no integral action: away from its design point
//! its equilibrium is off the target. `form = indep` is the classical independent
//! model of predictive functional control: y_m is the output of a model driven by
//! the applied p alone. At equilibrium its prediction is constant, so that the
//! target is met in spite of model errors. Its coincidence point is h = 2.5 d, not
//! the paper's d + 2: at so near a point the law depends on the start of a step
//! response that the model has wrong by a factor of 2 and more.
//!
//! `adapt = load`: the model follows the load. Everything that depends on the
//! number of flows follows from the average p, since at equilibrium
//! W = sqrt(2 / p). The model's windows are at least `least_window`: senders that
//! rely on timeouts respond faster and more strongly than (11) at their p
//! (measurements in `docs/laws/arm_pfc.md`).
//! `adapt = rls`: n_i and m_i are identified from p and the backlog
//! ([`crate::parts::identification`]); only p_0 follows the average p.
//! p is clamped to [0, 1] and the clamped value drives the model, so that there is
//! no windup. After a stall the model runs through the missed periods. Without a
//! link rate p and the model are constant.

use crate::analysis::Analysis;
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Controller, Observation};
use crate::linear::{FOLLOWS_THE_LOAD, InSamples, Linear, OperatingPoint, Rational, later, product, sum};
use crate::link_context::{LinkContext, Network};
use crate::parts::identification::Identification;
use crate::parts::load::{
    CAPACITY, CAPACITY_IN_PACKETS, FLOWS, GainSchedule, Load, Path, RTT, is_capacity, unknown,
};
use crate::parts::prediction::{Predictor, SampledPlant, TcpQueue};
use crate::parts::stall;
use crate::periodic::Periodic;
use sojourn_params::{Described, ErrorKind, Given, InputError, Page};
use sojourn_units::{Amount, LinkRate, Prob, Rate, Span, math};
use std::collections::VecDeque;

sojourn_params::choice! {
    /// Two readings of the paper's control law.
    pub enum Form {
        /// Independent model.
        Indep = "indep",
        /// Model restarted from measurements at every period.
        Paper = "paper",
    }
}

sojourn_params::choice! {
    /// Future p in the prediction.
    pub enum Base {
        /// Constant.
        Step = "step",
        /// Linear in time.
        Ramp = "ramp",
    }
}

sojourn_params::choice! {
    /// Adaptation of the model.
    pub enum Adaptation {
        /// To the average p, and the link rate.
        Load = "load",
        /// By recursive least squares from p and the backlog; its delay to the link rate.
        Rls = "rls",
        /// None.
        Nothing = "none",
    }
}

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "arm_pfc",
        summary: "predictive functional control of the backlog with a model of TCP and its delay",
        idea: "Every period a linear model of TCP and queue predicts the backlog two and a half round-trip times ahead, \
               where present marks take effect. The probability is chosen such that the prediction \
               meets an exponential that leads to the target. The model is driven by the applied probability \
               alone, so the target is met in spite of model errors; it follows the load by \
               the average probability, so the number of flows need not be known.",
        equation: "u(k) = (y(k) (psi^h - 1) + y_m(k) - free response of y_m at k + h) / G,  p = p_0 + u, clamped",
        source: "N. Bigdeli, M. Haeri, Iranian Journal of Science & Technology B 31(B6), 2007",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(ArmPfc::law(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of ARM-PFC.
    pub struct Params {
        /// backlog to hold; a time or bytes are converted to packets at the link's first rate
        target "q_0": Option<Amount> = None, where "within the buffer",
            "100 packets, the paper's set-point; half of the buffer where that is less";
        /// model output: that of an independent model, or of one restarted from measurements
        form "y_m": Form = Form::Indep, "the literal reading, paper, misses the target away from its design point";
        /// adaptation of the model: to the average p, by recursive least squares from p and the backlog, or none
        adapt "n, m": Option<Adaptation> = None,
            "load for indep: no number of flows is needed, noise has little effect; none for paper, whose design is fixed";
        /// memory of the identification, periods, for adapt = rls
        memory "1 / (1 - lambda)": u64 = 100, in 10 to 100_000,
            "on the paper's network about the 5 s over which the average p is taken";
        /// long flows that the model is designed for, to begin with where it follows the load
        flows "N_p": Option<f64> = None, within FLOWS,
            "the scenario's; where unknown and the model is not fixed the design begins at p = 0.02";
        /// smallest window of a model that follows the load, segments; below it the model is constant
        least_window "W_min": f64 = 5.0, in 1.0 to 1000.0,
            "the model is within a factor of 1.6 of TCP with it; without (1), 2.9 where windows are 1.2 segments";
        /// link rate that the model is designed for
        capacity "C_p": Option<LinkRate> = None,
            within CAPACITY, where CAPACITY_IN_PACKETS if |rate| rate.is_none_or(is_capacity),
            "the link's";
        /// round-trip time that the model is designed for, queueing at the target included
        rtt "R_0": Option<Span> = None, within RTT,
            "the scenario's (100 ms where unknown), and the target's queueing delay";
        /// periods in a round-trip time; the sampling period is rtt / delay
        delay "d": Option<u64> = None, in 1 to 100,
            "the paper's (16): a period of 0.11 of the model's time constants, 5 on its network; no less where the model \
             follows the load, as its time constants may shrink";
        /// periods ahead at which the prediction is to meet the reference, one or two
        coincidence "h": Option<Vec<u64>> = None,
            where "one or two, ascending, more than delay, at most 400"
                if |points| points.as_deref().is_none_or(are_points),
            "2.5 d for indep: nearer, the model errs by more; the paper's d + 2 for paper; a ramp's second point is 2 \
             further";
        /// future p in the prediction: constant or linear in time
        base "u": Base = Base::Step, where "ramp needs two coincidence points",
            "the paper's choice for a constant set-point";
        /// decay factor per period of the distance between backlog and target
        psi "Psi": f64 = 0.83, in above 0.0 to below 1.0, "the paper: a time constant of 1.07 round-trip times";
    }
}

/// The ARM-PFC controller.
#[derive(Clone, Debug)]
pub struct ArmPfc {
    target: f64,
    form: Form,
    base: Base,
    psi: f64,
    period: Span,
    adapt: Adaptation,
    memory: u64,
    /// p_0 at the smallest window of the model.
    most_p: f64,
    start: Design,

    design: Design,
    model: SampledPlant,
    points: Vec<Predictor>,
    /// Errors of the backlog y(k-1), y(k-2).
    y: [f64; 2],
    /// Outputs of the model y_m(k-1), y_m(k-2).
    modelled: [f64; 2],
    /// Applied probabilities, p(k-1) first.
    applied: VecDeque<f64>,
    estimator: Option<Identification>,
}

/// Linear model and its delay.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Design {
    plant: TcpQueue,
    /// d.
    delay: usize,
    /// Inputs of the schedule; None: a fixed design.
    schedule: Option<GainSchedule>,
}

impl ArmPfc {
    /// ARM-PFC on the link of `context`, from p = 0 and an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<ArmPfc, InputError> {
        let target = context.target(params.target, USUAL_TARGET)?;
        let path = Path::new(params.capacity, params.rtt, target, context)?;
        let start = Design::new(params, context, path)?;
        let horizons = horizons(params, start.delay as u64)?;
        let points = horizons.into_iter().map(|horizon| Predictor { horizon, ..Predictor::default() });
        let period = Span::from_seconds(path.rtt / start.delay as f64).max(Span::from_nanos(1));
        let Params { form, base, psi, memory, .. } = *params;
        let mut controller = ArmPfc {
            target,
            form,
            base,
            psi,
            period,
            adapt: adapt(params),
            memory,
            most_p: most_p(params),
            start,
            design: start,
            model: SampledPlant::of(&start.plant, period.seconds()),
            points: points.collect(),
            y: [0.0; 2],
            modelled: [0.0; 2],
            applied: VecDeque::new(),
            estimator: None,
        };
        controller.reset();
        Ok(controller)
    }

    /// Law of this controller.
    pub fn law(params: &Params, context: &LinkContext) -> Result<Periodic<ArmPfc>, InputError> {
        ArmPfc::new(params, context).map(Periodic::new)
    }

    /// Present model in continuous time.
    pub fn plant(&self) -> TcpQueue {
        self.design.plant
    }

    /// Present sampled model.
    pub fn model(&self) -> SampledPlant {
        self.model
    }

    /// Present predictors, one per coincidence point.
    pub fn predictors(&self) -> &[Predictor] {
        &self.points
    }
}

impl Controller for ArmPfc {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, observed: &Observation) -> Prob {
        let y = observed.backlog_packets - self.target;
        if stall::has_no_rate(observed) {
            self.y = [y; 2];
            self.estimator.iter_mut().for_each(Identification::gap);
            return Prob::clamped(self.applied[0]);
        }
        self.catch_up(observed.elapsed, y);
        self.identify(observed, y);
        if self.design.schedule.is_some() {
            self.follow(observed.elapsed);
        }
        let modelled = self.output();
        let u = self.control(y, modelled);
        let p = Prob::clamped(self.design.plant.p + u);
        self.remember(y, modelled, p.get());
        p
    }

    fn reset(&mut self) {
        let Design { plant, delay, schedule } = self.start;
        self.design = Design { plant, schedule, ..self.design };
        self.model = SampledPlant::of(&plant, self.period.seconds());
        self.y = [-self.target; 2];
        // The equilibrium of the model at p = 0.
        self.modelled = [plant.gain * plant.p; 2];
        self.applied.clear();
        self.estimator = (self.adapt == Adaptation::Rls).then(|| self.new_estimator());
        self.set_delay(delay);
    }

    fn on_link_change(&mut self, rate: Rate) {
        let Some(schedule) = &mut self.design.schedule else { return };
        if schedule.path.follow(rate) {
            let delay = (schedule.path.rtt / self.period.seconds()).round();
            self.set_delay(delay.clamp(1.0, MOST_DELAY as f64) as usize);
        }
    }

    fn set_params(&mut self, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = ArmPfc::new(given.params.of()?, context)?;
        let old = std::mem::replace(self, fresh);
        self.restore(old);
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("error", "packets", self.y[0]);
        out.gauge("design_p", "1", self.design.plant.p);
    }
}

impl Analysis for ArmPfc {
    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        // Designed in samples. The schedule moves p_0, u and y_m together, so that p is constant; its other effects
        // scale quantities that are zero at equilibrium.
        let model = match (self.adapt, self.design.schedule) {
            (Adaptation::Load, Some(GainSchedule { path, .. })) => {
                let plant = under(Load::at(point.p), &path, self.most_p);
                SampledPlant::of(&plant, self.period.seconds())
            }
            _ => self.model,
        };
        let sampled = InSamples { transfer: self.transfer(&model), period: self.period };
        let partial = self.estimator.is_some().then_some(IDENTIFIES);
        let linear = Linear { partial, ..Linear::new(None, Some(sampled)) };
        Some(linear.assuming(self.design.schedule.is_some(), FOLLOWS_THE_LOAD))
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        out.gauge("delay", "periods", self.design.delay as f64);
        self.points.iter().for_each(|point| out.gauge("coincidence", "periods", point.horizon as f64));
    }
}

impl ArmPfc {
    /// Runs the model through missed periods, with constant p and linearly interpolated y.
    fn catch_up(&mut self, elapsed: f64, y: f64) {
        let missed = (elapsed / self.period.seconds()).round().clamp(1.0, LONGEST_STALL) as u64 - 1;
        if missed > 0 {
            self.estimator.iter_mut().for_each(Identification::gap);
        }
        for left in (1..=missed).rev() {
            let (p, last) = (self.applied[0], self.y[0]);
            let modelled = self.output();
            self.remember(last + (y - last) / (left + 1) as f64, modelled, p);
        }
    }

    /// Equation (12): y_m(k), from the model's outputs or from measurements.
    fn output(&self) -> f64 {
        let last = self.outputs();
        let [n, m] = [self.model.n, self.model.m];
        let u = |periods: usize| self.applied[periods] - self.design.plant.p;
        m[0] * u(self.design.delay) + m[1] * u(self.design.delay + 1) - n[0] * last[0] - n[1] * last[1]
    }

    /// Equation (27), by least squares over the coincidence points.
    fn control(&self, y: f64, modelled: f64) -> f64 {
        let now = match self.form {
            Form::Indep => [modelled, self.modelled[0]],
            Form::Paper => [y, self.y[0]],
        };
        // Forced response at each point: the reference (22) less the free response (25).
        let lack = |point: &Predictor| {
            y * (math::pow_int(self.psi, point.horizon) - 1.0) + modelled - self.free_response(point, now)
        };
        self.met(&self.points, lack)
    }

    /// Least-squares input for the forced responses `lack`.
    fn met(&self, points: &[Predictor], lack: impl Fn(&Predictor) -> f64) -> f64 {
        if let (Base::Ramp, [near, far]) = (self.base, points) {
            let determinant = near.gain * far.slope - far.gain * near.slope;
            return (lack(near) * far.slope - lack(far) * near.slope) / determinant;
        }
        let sum = |term: &dyn Fn(&Predictor) -> f64| points.iter().map(term).sum::<f64>();
        sum(&|point| point.gain * lack(point)) / sum(&|point| point.gain * point.gain)
    }

    /// Equation (27) in z^-1 with `model`, from y to u: (27) is linear in the forced responses.
    fn transfer(&self, model: &SampledPlant) -> Rational {
        let delay = self.design.delay;
        let mut points = self.points.clone();
        for point in &mut points {
            point.fill(model, delay as u64);
        }
        let met = |lack: &dyn Fn(&Predictor) -> f64| self.met(&points, lack);

        let pull = met(&|point| math::pow_int(self.psi, point.horizon) - 1.0);
        // y_m less its prediction: coefficients of y_m and of past u, the present u included.
        let still = [met(&|point| 1.0 - point.beta[0]), -met(&|point| point.beta[1])];
        let past = (0..delay).map(|j| met(&|point| point.past[j]));
        let past: Vec<f64> = [1.0].into_iter().chain(past).chain([met(&|point| point.eta)]).collect();
        // Equation (12): own y_m = input u.
        let (own, input) = ([1.0, model.n[0], model.n[1]], later(&model.m, delay + 1));
        match self.form {
            Form::Indep => {
                let moved = product(&input, &still.map(|share| -share));
                Rational::new(own.map(|n| pull * n), sum(&product(&past, &own), &moved))
            }
            // y_m = (1 - own) y + input u, and the prediction starts from y.
            Form::Paper => {
                let one = met(&|_| 1.0);
                let above = sum(&[pull], &sum(&still, &own.map(|n| -one * n)));
                Rational::new(above, sum(&past, &input.iter().map(|m| -one * m).collect::<Vec<_>>()))
            }
        }
    }

    /// Equation (21) without future inputs.
    fn free_response(&self, point: &Predictor, now: [f64; 2]) -> f64 {
        let p0 = self.design.plant.p;
        let past = point.past.iter().zip(&self.applied).map(|(c, p)| c * (p - p0)).sum::<f64>();
        let oldest = point.eta * (self.applied[self.design.delay] - p0);
        point.beta[0] * now[0] + point.beta[1] * now[1] + past + oldest
    }

    /// Outputs y(k-1), y(k-2) that the model continues from.
    fn outputs(&self) -> [f64; 2] {
        match self.form {
            Form::Indep => self.modelled,
            Form::Paper => self.y,
        }
    }

    fn remember(&mut self, y: f64, modelled: f64, p: f64) {
        self.y = [y, self.y[0]];
        self.modelled = [modelled, self.modelled[0]];
        self.applied.pop_back();
        self.applied.push_front(p);
    }

    /// Updates the estimate with y(k), unless the backlog is at a bound.
    fn identify(&mut self, observed: &Observation, y: f64) {
        let Some(estimator) = &mut self.estimator else { return };
        if observed.backlog_packets > 0.0 && observed.backlog_packets + 1.0 <= observed.limit {
            estimator.update(y, self.applied[self.design.delay]);
        } else {
            estimator.gap();
        }
    }

    /// Updates the model from the average p; with an estimate, only the operating point from p and the rest from it.
    fn follow(&mut self, elapsed: f64) {
        let Some(schedule) = &mut self.design.schedule else { return };
        schedule.load.observe(self.applied[0], elapsed);
        let GainSchedule { load, path } = *schedule;
        let plant = under(load, &path, self.most_p);
        // The model's outputs, relative to the new operating point.
        let gain = self.estimator.as_ref().map_or(self.design.plant.gain, |_| -self.model.gain());
        let moved = gain * (plant.p - self.design.plant.p);
        self.modelled = self.modelled.map(|output| output + moved);
        self.design.plant = plant;
        let theory = SampledPlant::of(&plant, self.period.seconds());
        self.model = self.estimator.as_ref().map_or(theory, |estimator| estimator.projected(&theory));
        self.predict();
    }

    /// Estimator at its initial model.
    fn new_estimator(&self) -> Identification {
        let scale = [(self.target * LEARNT_TARGET).max(1.0), LEARNT_P];
        Identification::new(&self.model, LEARNT_DOUBT, scale, forgetting(self.memory))
    }

    /// Takes over the state of `old`, and its model if that follows the load.
    fn restore(&mut self, old: ArmPfc) {
        // The last backlogs, relative to the new target.
        let risen = self.target - old.target;
        self.y = old.y.map(|y| y - risen);
        self.applied = old.applied;
        let same_pace = self.period == old.period;
        if let (Some(fresh), Some(estimator)) = (&mut self.estimator, old.estimator)
            && same_pace
        {
            *fresh = estimator.forgetting(forgetting(self.memory));
            if risen != 0.0 {
                fresh.gap();
            }
        }
        match (&mut self.design.schedule, old.design.schedule) {
            (Some(schedule), Some(adapted)) => {
                schedule.load = adapted.load;
                self.design.plant = old.design.plant;
                self.modelled = old.modelled;
                self.model = if same_pace {
                    old.model
                } else {
                    SampledPlant::of(&self.design.plant, self.period.seconds())
                };
            }
            _ if same_pace && self.model == old.model && self.design.plant == old.design.plant => {
                self.modelled = old.modelled;
            }
            // Another model: at its equilibrium under the present p.
            _ => {
                let p = self.applied.front().copied().unwrap_or_default();
                self.modelled = [self.model.gain() * (p - self.design.plant.p); 2];
            }
        }
        let delay = self.design.delay;
        self.applied.resize(delay + 2, self.applied.back().copied().unwrap_or_default());
        self.predict();
    }

    /// Sets d; the coincidence points keep their distance from it.
    fn set_delay(&mut self, delay: usize) {
        if delay != self.design.delay {
            self.estimator.iter_mut().for_each(Identification::gap);
        }
        for point in &mut self.points {
            point.horizon = point.horizon - self.design.delay as u64 + delay as u64;
        }
        self.design.delay = delay;
        let oldest = self.applied.back().copied().unwrap_or(0.0);
        self.applied.resize(delay + 2, oldest);
        self.predict();
    }

    fn predict(&mut self) {
        self.points.iter_mut().for_each(|point| point.fill(&self.model, self.design.delay as u64));
    }
}

impl Design {
    fn new(params: &Params, context: &LinkContext, path: Path) -> Result<Design, InputError> {
        let flows = context.long_flows(params.flows);
        let scheduled = adapt(params) != Adaptation::Nothing;
        let load = Load::new(flows, &path);
        let plant = match flows {
            _ if scheduled => under(load, &path, most_p(params)),
            Some(flows) => TcpQueue::of(Network { flows, capacity: path.capacity, rtt: path.rtt }),
            None => return Err(unknown("flows", "the number of long flows")),
        };
        let usual = if scheduled {
            delay_of(&TcpQueue::at(load.p(), path.capacity, path.rtt)).max(LEAST_DELAY)
        } else {
            delay_of(&plant)
        };
        let delay = params.delay.unwrap_or(usual) as usize;
        Ok(Design { plant, delay, schedule: scheduled.then_some(GainSchedule { load, path }) })
    }
}

/// Linear model for a load, with windows of `least_window` or more.
fn under(load: Load, path: &Path, most_p: f64) -> TcpQueue {
    TcpQueue::at(load.p().min(most_p), path.capacity, path.rtt)
}

fn most_p(params: &Params) -> f64 {
    2.0 / (params.least_window * params.least_window)
}

/// lambda.
fn forgetting(memory: u64) -> f64 {
    1.0 - 1.0 / memory as f64
}

fn adapt(params: &Params) -> Adaptation {
    let usual = match params.form {
        Form::Indep => Adaptation::Load,
        Form::Paper => Adaptation::Nothing,
    };
    params.adapt.unwrap_or(usual)
}

/// Equation (16): periods per round-trip time, from the model's time constants.
fn delay_of(plant: &TcpQueue) -> u64 {
    let periods = (plant.tau1 / (PERIOD_SHARE * plant.time())).round();
    periods.clamp(1.0, MOST_DELAY as f64) as u64
}

fn horizons(params: &Params, delay: u64) -> Result<Vec<u64>, InputError> {
    let nearest = match params.form {
        Form::Paper => delay + 2,
        Form::Indep => (5 * delay / 2).max(delay + 2),
    };
    let horizons = match (&params.coincidence, params.base) {
        (Some(given), _) => given.clone(),
        (None, Base::Step) => vec![nearest],
        (None, Base::Ramp) => vec![nearest, nearest + 2],
    };
    if horizons[0] <= delay {
        let problem = format!("is not beyond delay = {delay} periods");
        return Err(InputError::conflict(horizons[0], problem, "more than delay").at("coincidence"));
    }
    if params.base == Base::Ramp && horizons.len() < 2 {
        let problem = "one point does not determine a ramp";
        return Err(
            InputError::new(ErrorKind::Conflict, problem, "two points, or base = step").at("coincidence")
        );
    }
    Ok(horizons)
}

fn are_points(points: &[u64]) -> bool {
    let ascending = points.windows(2).all(|pair| pair[0] < pair[1]);
    let within = points.iter().all(|point| (2..=FARTHEST).contains(point));
    (1..=2).contains(&points.len()) && ascending && within
}

/// Largest number of periods in a round-trip time.
const MOST_DELAY: u64 = 100;
/// Farthest coincidence point.
const FARTHEST: u64 = 400;
/// Largest number of missed periods to run the model through; it settles long before.
const LONGEST_STALL: f64 = 1000.0;
/// Scale of y and u in the identification: a share of the target, and a probability.
const LEARNT_TARGET: f64 = 0.1;
const LEARNT_P: f64 = 0.01;
/// Initial variance of the scaled parameters. A larger one would fit the start-up transient, which no linear model
/// describes.
const LEARNT_DOUBT: f64 = 1e-3;
/// gamma of equation (16).
const PERIOD_SHARE: f64 = 0.11;
/// The paper's d: the least delay of a model that follows the load, whose windows may shrink.
const LEAST_DELAY: u64 = 5;

/// Reason for a partial linear model under `adapt = rls`.
const IDENTIFIES: &str = "the law identifies its model as it runs, and the result is unknown here";
/// Default target, packets.
const USUAL_TARGET: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> LinkContext {
        let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
        let base_rtt = Some(Span::from_millis(200));
        LinkContext { rate, packet: 1000.0, limit: 300.0, flows: Some(100.0), base_rtt }
    }

    fn seen(backlog: f64, elapsed: f64) -> Observation {
        Observation { backlog_packets: backlog, elapsed, ..Observation::default() }
    }

    fn built(change: impl Fn(&mut Params)) -> ArmPfc {
        let mut params = Params::default();
        change(&mut params);
        ArmPfc::new(&params, &context()).unwrap()
    }

    #[test]
    fn the_first_step_is_equation_27() {
        // At the equilibrium for p = 0 the model's prediction is constant, so that u + p_0 = y (psi^h - 1) / G.
        let mut controller = built(|params| params.adapt = Some(Adaptation::Nothing));
        let (g, h) = (controller.predictors()[0].gain, controller.predictors()[0].horizon);
        let p = controller.update(&seen(130.0, 0.056)).get();
        assert_eq!(h, 12);
        assert!((p - 30.0 * (math::pow_int(0.83, 12) - 1.0) / g).abs() < 1e-12, "{p}");
    }

    #[test]
    fn it_does_not_wind_up() {
        let mut controller = built(|_| ());
        for _ in 0..10_000 {
            controller.update(&seen(300.0, 0.056));
        }
        assert_eq!(controller.update(&seen(300.0, 0.056)), Prob::ONE);
        let p = controller.update(&seen(99.0, 0.056));
        assert!(p < Prob::ONE, "leaves the limit at the first error of the other sign");
    }

    #[test]
    fn a_stall_runs_the_model_through_missed_periods() {
        // p was constant, so the states after a stall and after regular updates agree.
        let fixed = |params: &mut Params| params.adapt = Some(Adaptation::Nothing);
        let (mut stalled, mut busy) = (built(fixed), built(fixed));
        for controller in [&mut stalled, &mut busy] {
            controller.update(&seen(110.0, 0.056));
        }
        for _ in 0..3 {
            let (kept, modelled) = (busy.applied[0], busy.output());
            busy.remember(10.0, modelled, kept);
        }
        let late = stalled.update(&seen(110.0, 4.0 * 0.056));
        assert_eq!(late, busy.update(&seen(110.0, 0.056)));
        assert_eq!((stalled.modelled, &stalled.applied), (busy.modelled, &busy.applied));
        stalled.update(&seen(110.0, 1e18));
        let modelled = -stalled.design.plant.gain * (late.get() - stalled.design.plant.p);
        assert!((stalled.modelled[0] / modelled - 1.0).abs() < 1e-9, "at equilibrium after a long stall");
    }

    #[test]
    fn without_a_link_rate_p_and_the_model_are_constant() {
        for adapt in [Adaptation::Load, Adaptation::Rls] {
            let mut controller = built(|params| params.adapt = Some(adapt));
            let at = |k: u32| 110.0 + f64::from(k * k % 17);
            let p = (0..200).map(|k| controller.update(&seen(at(k), 0.056))).last().unwrap();
            let (model, modelled) = (controller.model(), controller.modelled);
            let standing = |k| Observation { capacity: Some(Rate::ZERO), ..seen(at(k), 0.056) };
            (0..1000).for_each(|k| assert_eq!(controller.update(&standing(k)), p));
            assert_eq!((controller.model(), controller.modelled), (model, modelled));
        }
    }

    #[test]
    fn a_reset_is_a_new_controller() {
        let mut controller = built(|_| ());
        let first: Vec<Prob> = (0..50).map(|k| controller.update(&seen(f64::from(k * 6), 0.056))).collect();
        controller.on_link_change(Rate::from_bits_per_second(6e6));
        controller.update(&seen(10.0, 0.056));
        controller.reset();
        let again: Vec<Prob> = (0..50).map(|k| controller.update(&seen(f64::from(k * 6), 0.056))).collect();
        assert_eq!(first, again);
    }

    #[test]
    fn a_slower_link_lengthens_the_round_trip_and_moves_the_points() {
        let mut controller = built(|_| ());
        controller.on_link_change(Rate::from_bits_per_second(6e6));
        // R = 0.2 + 100 / 750 = 0.333 s: six periods of 0.056 s.
        assert_eq!((controller.design.delay, controller.predictors()[0].horizon), (6, 13));
        controller.on_link_change(Rate::ZERO);
        assert_eq!(controller.design.delay, 6, "a stopped link changes nothing");
        let mut fixed = built(|params| params.adapt = Some(Adaptation::Nothing));
        fixed.on_link_change(Rate::from_bits_per_second(6e6));
        assert_eq!(fixed.design.delay, 5);
    }

    #[test]
    fn the_model_has_the_least_window_or_more() {
        // 100 flows have windows of 3.5: the model stays at 5 unless least_window is smaller.
        let p = |change: &dyn Fn(&mut Params)| built(change).plant().p;
        assert_eq!(p(&|_| ()), 2.0 / 25.0);
        let smaller = p(&|params| params.least_window = 1.0);
        assert!((smaller - 2.0 / (3.5 * 3.5)).abs() < 1e-12, "{smaller}");
        // A fixed design has no least window.
        let fixed = p(&|params| params.adapt = Some(Adaptation::Nothing));
        assert_eq!(fixed, smaller);
        // And it follows a lighter load.
        let mut controller = built(|_| ());
        (0..2000).for_each(|k| _ = controller.update(&seen(f64::from(99 + k % 2), 0.056)));
        assert!(controller.plant().p < 0.08, "{}", controller.plant().p);
    }

    #[test]
    fn a_model_that_follows_the_load_has_the_periods_of_the_paper_or_more() {
        let delays = |change: &dyn Fn(&mut Params)| {
            [10.0, 100.0, 150.0, 300.0].map(|flows| {
                let controller = built(|params| {
                    params.flows = Some(flows);
                    change(params);
                });
                (controller.design.delay, controller.predictors()[0].horizon)
            })
        };
        assert_eq!(delays(&|_| ()), [(5, 12), (5, 12), (6, 15), (7, 17)]);
        let fixed = delays(&|params| params.adapt = Some(Adaptation::Nothing));
        assert_eq!(fixed[..3], [(1, 3), (5, 12), (6, 15)]);
    }

    #[test]
    fn the_design_needs_no_number_of_flows() {
        let unknown = LinkContext { flows: None, ..context() };
        let controller = ArmPfc::new(&Params::default(), &unknown).unwrap();
        assert!((controller.plant().p - 0.02).abs() < 1e-15);
    }
}
