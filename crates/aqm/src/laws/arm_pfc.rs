//! ARM-PFC: predictive functional control of the backlog with an ARMarkov model.
//!
//! N. Bigdeli, M. Haeri, "ARM-PFC, an Optimized AQM Congestion Controller in
//! TCP/IP Networks", Iranian Journal of Science & Technology B 31(B6), 2007.
//! Every period T a linear model of TCP and queue predicts the backlog h
//! periods ahead, behind the round-trip time; p is chosen such that the
//! prediction meets an exponential that leads from the present backlog to the
//! target. With y = q - q_ref and u = p - p_0:
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
//! The numbers are the paper's; its printed forms of (11), (18) and (20) are
//! corrected. `form = paper` reads (27) literally: y_m(k) and the prediction both
//! start from measurements. It has no integral action, and away from its design
//! point it rests away from the target. `form = indep` is the classical
//! independent model of predictive functional control: y_m is a model that runs
//! by itself, driven by the p that was applied. At rest its prediction does not
//! move, so the target is met whatever the model's errors. Its point is h = 2.5 d,
//! not the paper's d + 2: behind a point so near the law stands on the first
//! moments of an answer that the model has wrong by a factor of 2 and more.
//!
//! `adapt = load` lets the model follow the load: everything that depends on the
//! number of flows follows from the average p, since at rest W = sqrt(2 / p). The
//! model is not made for windows below `least_window`: senders that live on
//! timeouts answer faster and more strongly than (11) with their p has it
//! (`docs/laws/arm_pfc.md` has what was measured).
//! `adapt = rls` learns n_i and m_i from what p does to the backlog, as
//! [`crate::parts::identification`] tells; of the average p it keeps p_0 alone.
//! p is clamped to [0, 1] and the clamped value drives the model, so nothing
//! winds up. After a stall the model runs through the periods that were missed.
//! While the link stands still p and the model stay as they are.

use crate::catalogue::Entry;
use crate::law::{Controller, Gauges, Given, Observation};
use crate::linear::{FOLLOWS_THE_LOAD, InSamples, Linear, Rational, Rest, later, product, sum};
use crate::parts::identification::Identification;
use crate::parts::load::{Load, Path, Schedule, are_flows, is_capacity, is_rtt, unknown};
use crate::parts::missed;
use crate::parts::prediction::{Model, Plant, Predictor};
use crate::sampled::Sampled;
use crate::site::{Network, Site};
use sojourn_units::param::Described;
use sojourn_units::{Amount, Fault, LinkRate, Page, Prob, Rate, Span, math};
use std::collections::VecDeque;

sojourn_units::choice! {
    /// Two readings of the paper's control law.
    pub enum Form {
        /// The model runs by itself.
        Indep = "indep",
        /// The model starts from measurements at every period.
        Paper = "paper",
    }
}

sojourn_units::choice! {
    /// How p is taken to go on after this period, for the prediction.
    pub enum Base {
        /// As it is chosen now.
        Step = "step",
        /// Along a straight line from there.
        Ramp = "ramp",
    }
}

sojourn_units::choice! {
    /// What the model follows.
    pub enum Adapt {
        /// The average p, and the link's rate.
        Load = "load",
        /// What p is seen to do to the backlog; the link's rate for its delay.
        Rls = "rls",
        /// Nothing.
        Nothing = "none",
    }
}

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "arm_pfc",
        summary: "predictive functional control of the backlog with a model of TCP and its delay",
        idea: "Every period a linear model of TCP and queue predicts the backlog two and a half round-trip times ahead, \
               where marks of today are felt. The probability is chosen such that the prediction \
               meets an exponential that leads to the target. The model runs by itself, driven by what was \
               applied, so the target is met although the model is never right; it follows the load by \
               the average probability, so the number of flows need not be known.",
        equation: "u(k) = (y(k) (psi^h - 1) + y_m(k) - free response of y_m at k + h) / G,  p = p_0 + u, clamped",
        source: "N. Bigdeli, M. Haeri, Iranian Journal of Science & Technology B 31(B6), 2007",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(ArmPfc::law(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of ARM-PFC.
    pub struct Params {
        /// backlog to hold; a time or bytes are turned into packets at the link's first rate
        target: Option<Amount> = None, "q_0", "within the buffer" if |_| true,
            "100 packets, the paper's set-point; half of the buffer where that is less";
        /// what the model's output is: that of a model of its own, or of one restarted from measurements
        form: Form = Form::Indep, "y_m", "indep or paper" if |_| true,
            "the literal reading, paper, misses the target away from its design point";
        /// what the model follows: the average p, what p is seen to do (recursive least squares), or nothing
        adapt: Option<Adapt> = None, "n, m", "load, rls or none" if |_| true,
            "load for indep: no number of flows is needed, and noise does no harm; none for paper, whose design is fixed";
        /// periods that a learnt model remembers, for adapt = rls
        memory: u64 = 100, "1 / (1 - lambda)", "10 to 100000" if |memory| (10..=100_000).contains(memory),
            "on the paper's network about the 5 s over which the average p is taken";
        /// long flows that the model is designed for, to begin with where it follows the load
        flows: Option<f64> = None, "N_p", "more than 0, at most 1e9" if |n| n.is_none_or(are_flows),
            "the scenario's; where unknown and the model is not fixed the design begins at p = 0.02";
        /// smallest window that the model is made for where it follows the load, segments; below, it stays as there
        least_window: f64 = 5.0, "W_min", "1 to 1000" if |window| (1.0..=1000.0).contains(window),
            "the model is within a factor of 1.6 of TCP with it; without (1), 2.9 where windows are 1.2 segments";
        /// link rate that the model is designed for
        capacity: Option<LinkRate> = None, "C_p", "1 bit/s or 0.001 packets/s to 1 Tbit/s" if |rate| rate.is_none_or(is_capacity),
            "the link's";
        /// round-trip time that the model is designed for, queueing at the target included
        rtt: Option<Span> = None, "R_0", "1 us to 1 h" if |rtt| rtt.is_none_or(is_rtt),
            "the scenario's (100 ms where unknown), and the target's queueing delay";
        /// periods in a round-trip time; the sampling period is rtt / delay
        delay: Option<u64> = None, "d", "1 to 100" if |d| d.is_none_or(|d| (1..=MOST_DELAY).contains(&d)),
            "the paper's (16): a period of 0.11 of the model's time constants, 5 on its network; no less where the model \
             follows the load, as its time constants may shrink";
        /// periods ahead at which the prediction is to meet the reference, one or two
        coincidence: Option<Vec<u64>> = None, "h", "one or two, ascending, more than delay, at most 400"
            if |points| points.as_deref().is_none_or(are_points),
            "2.5 d for indep: nearer, the model errs by more; the paper's d + 2 for paper; a ramp's second point is 2 \
             further";
        /// how p is taken to go on after this period, for the prediction
        base: Base = Base::Step, "u", "step or ramp; ramp needs two coincidence points" if |_| true,
            "the paper's choice for a constant set-point";
        /// what is left after a period of the distance between backlog and target
        psi: f64 = 0.83, "Psi", "more than 0, less than 1" if |psi| *psi > 0.0 && *psi < 1.0,
            "the paper: a time constant of 1.07 round-trip times";
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
    adapt: Adapt,
    memory: u64,
    /// p_0 where windows are the smallest that the model is made for.
    most_p: f64,
    start: Design,

    design: Design,
    model: Model,
    points: Vec<Predictor>,
    /// The backlog's errors y(k-1), y(k-2).
    y: [f64; 2],
    /// The model's outputs y_m(k-1), y_m(k-2).
    modelled: [f64; 2],
    /// The probabilities applied, p(k-1) first.
    applied: VecDeque<f64>,
    learnt: Option<Identification>,
}

/// What the model stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Design {
    plant: Plant,
    /// d.
    delay: usize,
    /// What it follows, where it follows anything.
    schedule: Option<Schedule>,
}

impl ArmPfc {
    /// ARM-PFC in front of the link at `site`, from p = 0 and an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<ArmPfc, Fault> {
        let target = site.target(params.target, USUAL_TARGET)?;
        let path = Path::new(params.capacity, params.rtt, target, site)?;
        let start = Design::new(params, site, path)?;
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
            model: Model::sampled(&start.plant, period.seconds()),
            points: points.collect(),
            y: [0.0; 2],
            modelled: [0.0; 2],
            applied: VecDeque::new(),
            learnt: None,
        };
        controller.reset();
        Ok(controller)
    }

    /// The law of this controller.
    pub fn law(params: &Params, site: &Site) -> Result<Sampled<ArmPfc>, Fault> {
        ArmPfc::new(params, site).map(Sampled::new)
    }

    /// The plant that the model stands for at present.
    pub fn plant(&self) -> Plant {
        self.design.plant
    }

    /// The model at present.
    pub fn model(&self) -> Model {
        self.model
    }

    /// The predictors at present, one a coincidence point.
    pub fn predictors(&self) -> &[Predictor] {
        &self.points
    }
}

impl Controller for ArmPfc {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, seen: &Observation) -> Prob {
        let y = seen.backlog_packets - self.target;
        if missed::stands_still(seen) {
            self.y = [y; 2];
            self.learnt.iter_mut().for_each(Identification::gap);
            return Prob::clamped(self.applied[0]);
        }
        self.catch_up(seen.elapsed, y);
        self.learn(seen, y);
        if self.design.schedule.is_some() {
            self.follow(seen.elapsed);
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
        self.model = Model::sampled(&plant, self.period.seconds());
        self.y = [-self.target; 2];
        // The model at rest where p is 0.
        self.modelled = [plant.gain * plant.p; 2];
        self.applied.clear();
        self.learnt = (self.adapt == Adapt::Rls).then(|| self.pupil());
        self.set_delay(delay);
    }

    fn on_link_change(&mut self, rate: Rate) {
        let Some(schedule) = &mut self.design.schedule else { return };
        if schedule.path.follow(rate) {
            let delay = (schedule.path.rtt / self.period.seconds()).round();
            self.set_delay(delay.clamp(1.0, MOST_DELAY as f64) as usize);
        }
    }

    fn retune(&mut self, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = ArmPfc::new(&Params::from_values(given)?, site)?;
        let old = std::mem::replace(self, fresh);
        self.go_on_from(old);
        Ok(())
    }

    fn target_packets(&self) -> Option<f64> {
        Some(self.target)
    }

    fn linear(&self, rest: &Rest) -> Option<Linear> {
        // Designed in samples. What it follows moves p_0, u and y_m together, so that p stays; all else that it
        // changes scales what is zero at rest.
        let model = match (self.adapt, self.design.schedule) {
            (Adapt::Load, Some(Schedule { path, .. })) => {
                let plant = under(Load::at(rest.p), &path, self.most_p);
                Model::sampled(&plant, self.period.seconds())
            }
            _ => self.model,
        };
        let sampled = InSamples { transfer: self.transfer(&model), period: self.period };
        let partial = self.learnt.is_some().then_some(LEARNS);
        let linear = Linear { partial, ..Linear::new(None, Some(sampled)) };
        Some(linear.assuming(self.design.schedule.is_some(), FOLLOWS_THE_LOAD))
    }

    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("target", "packets", self.target);
        out.gauge("delay", "periods", self.design.delay as f64);
        self.points.iter().for_each(|point| out.gauge("coincidence", "periods", point.horizon as f64));
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("error", "packets", self.y[0]);
        out.gauge("design_p", "1", self.design.plant.p);
    }
}

impl ArmPfc {
    /// Runs through the periods that went by without an update: p was kept, y lay on a line.
    fn catch_up(&mut self, elapsed: f64, y: f64) {
        let missed = (elapsed / self.period.seconds()).round().clamp(1.0, LONGEST_STALL) as u64 - 1;
        if missed > 0 {
            self.learnt.iter_mut().for_each(Identification::gap);
        }
        for left in (1..=missed).rev() {
            let (p, last) = (self.applied[0], self.y[0]);
            let modelled = self.output();
            self.remember(last + (y - last) / (left + 1) as f64, modelled, p);
        }
    }

    /// Equation (12): y_m(k), of the model's own outputs or of measurements.
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
        // What the input has to bring at each point: the reference (22) less the free response (25).
        let lack = |point: &Predictor| {
            y * (math::pow_int(self.psi, point.horizon) - 1.0) + modelled - self.free_response(point, now)
        };
        self.met(&self.points, lack)
    }

    /// The input that brings what each point lacks, as near as can be.
    fn met(&self, points: &[Predictor], lack: impl Fn(&Predictor) -> f64) -> f64 {
        if let (Base::Ramp, [near, far]) = (self.base, points) {
            let determinant = near.gain * far.slope - far.gain * near.slope;
            return (lack(near) * far.slope - lack(far) * near.slope) / determinant;
        }
        let sum = |term: &dyn Fn(&Predictor) -> f64| points.iter().map(term).sum::<f64>();
        sum(&|point| point.gain * lack(point)) / sum(&|point| point.gain * point.gain)
    }

    /// Equation (27) in z^-1 with `model`, from y to u: (27) is linear in what a point lacks.
    fn transfer(&self, model: &Model) -> Rational {
        let delay = self.design.delay;
        let mut points = self.points.clone();
        for point in &mut points {
            point.fill(model, delay as u64);
        }
        let met = |lack: &dyn Fn(&Predictor) -> f64| self.met(&points, lack);

        let pull = met(&|point| math::pow_int(self.psi, point.horizon) - 1.0);
        // y_m as it is less what it will be: of one y_m, and of one u in the past, with the present u itself.
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

    /// Equation (21) without the inputs that are still to come.
    fn free_response(&self, point: &Predictor, now: [f64; 2]) -> f64 {
        let p0 = self.design.plant.p;
        let past = point.past.iter().zip(&self.applied).map(|(c, p)| c * (p - p0)).sum::<f64>();
        let oldest = point.eta * (self.applied[self.design.delay] - p0);
        point.beta[0] * now[0] + point.beta[1] * now[1] + past + oldest
    }

    /// The outputs y(k-1), y(k-2) that the model goes on from.
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

    /// Learns the model from y(k), where the backlog was free to answer.
    fn learn(&mut self, seen: &Observation, y: f64) {
        let Some(learnt) = &mut self.learnt else { return };
        if seen.backlog_packets > 0.0 && seen.backlog_packets + 1.0 <= seen.limit {
            learnt.learn(y, self.applied[self.design.delay]);
        } else {
            learnt.gap();
        }
    }

    /// Lets the model follow the average p, or only its operating point, and the rest what was learnt.
    fn follow(&mut self, elapsed: f64) {
        let Some(schedule) = &mut self.design.schedule else { return };
        schedule.load.observe(self.applied[0], elapsed);
        let Schedule { load, path } = *schedule;
        let plant = under(load, &path, self.most_p);
        // The model's outputs about the new operating point.
        let gain = self.learnt.as_ref().map_or(self.design.plant.gain, |_| -self.model.gain());
        let moved = gain * (plant.p - self.design.plant.p);
        self.modelled = self.modelled.map(|output| output + moved);
        self.design.plant = plant;
        let theory = Model::sampled(&plant, self.period.seconds());
        self.model = self.learnt.as_ref().map_or(theory, |learnt| learnt.near(&theory));
        self.predict();
    }

    /// Who has learnt nothing yet but the model at the start.
    fn pupil(&self) -> Identification {
        let scale = [(self.target * LEARNT_TARGET).max(1.0), LEARNT_P];
        Identification::new(&self.model, LEARNT_DOUBT, scale, forgetting(self.memory))
    }

    /// Takes over what another controller has seen and learnt, and its model where that follows the load.
    fn go_on_from(&mut self, old: ArmPfc) {
        // The last backlogs, about the new target.
        let risen = self.target - old.target;
        self.y = old.y.map(|y| y - risen);
        self.applied = old.applied;
        let same_pace = self.period == old.period;
        if let (Some(fresh), Some(pupil)) = (&mut self.learnt, old.learnt)
            && same_pace
        {
            *fresh = pupil.forgetting(forgetting(self.memory));
            if risen != 0.0 {
                fresh.gap();
            }
        }
        match (&mut self.design.schedule, old.design.schedule) {
            (Some(schedule), Some(learnt)) => {
                schedule.load = learnt.load;
                self.design.plant = old.design.plant;
                self.modelled = old.modelled;
                self.model = if same_pace {
                    old.model
                } else {
                    Model::sampled(&self.design.plant, self.period.seconds())
                };
            }
            _ if same_pace && self.model == old.model && self.design.plant == old.design.plant => {
                self.modelled = old.modelled;
            }
            // Another model: at rest under the p in force.
            _ => {
                let p = self.applied.front().copied().unwrap_or_default();
                self.modelled = [self.model.gain() * (p - self.design.plant.p); 2];
            }
        }
        let delay = self.design.delay;
        self.applied.resize(delay + 2, self.applied.back().copied().unwrap_or_default());
        self.predict();
    }

    /// Sets d; the coincidence points keep their distance to it.
    fn set_delay(&mut self, delay: usize) {
        if delay != self.design.delay {
            self.learnt.iter_mut().for_each(Identification::gap);
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
    fn new(params: &Params, site: &Site, path: Path) -> Result<Design, Fault> {
        let flows = site.long_flows(params.flows);
        let scheduled = adapt(params) != Adapt::Nothing;
        let load = Load::new(flows, &path);
        let plant = match flows {
            _ if scheduled => under(load, &path, most_p(params)),
            Some(flows) => Plant::of(Network { flows, capacity: path.capacity, rtt: path.rtt }),
            None => return Err(unknown("flows", "the number of long flows")),
        };
        let usual = if scheduled {
            delay_of(&Plant::at(load.p(), path.capacity, path.rtt)).max(LEAST_DELAY)
        } else {
            delay_of(&plant)
        };
        let delay = params.delay.unwrap_or(usual) as usize;
        Ok(Design { plant, delay, schedule: scheduled.then_some(Schedule { load, path }) })
    }
}

/// The plant that the model stands for under a load, of windows as small as it is made for.
fn under(load: Load, path: &Path, most_p: f64) -> Plant {
    Plant::at(load.p().min(most_p), path.capacity, path.rtt)
}

fn most_p(params: &Params) -> f64 {
    2.0 / (params.least_window * params.least_window)
}

/// lambda.
fn forgetting(memory: u64) -> f64 {
    1.0 - 1.0 / memory as f64
}

fn adapt(params: &Params) -> Adapt {
    let usual = match params.form {
        Form::Indep => Adapt::Load,
        Form::Paper => Adapt::Nothing,
    };
    params.adapt.unwrap_or(usual)
}

/// Equation (16): the period is a fraction of the model's time constants and of the round-trip time.
fn delay_of(plant: &Plant) -> u64 {
    let periods = (plant.tau1 / (PERIOD_SHARE * plant.time())).round();
    periods.clamp(1.0, MOST_DELAY as f64) as u64
}

fn horizons(params: &Params, delay: u64) -> Result<Vec<u64>, Fault> {
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
        let what = format!("{} is not beyond delay = {delay} periods; legal: more than delay", horizons[0]);
        return Err(Fault::new("coincidence", what));
    }
    if params.base == Base::Ramp && horizons.len() < 2 {
        let what = "one point does not determine a ramp; legal: two points, or base = step";
        return Err(Fault::new("coincidence", what));
    }
    Ok(horizons)
}

fn are_points(points: &[u64]) -> bool {
    let ascending = points.windows(2).all(|pair| pair[0] < pair[1]);
    let within = points.iter().all(|point| (2..=FARTHEST).contains(point));
    (1..=2).contains(&points.len()) && ascending && within
}

/// Most periods in a round-trip time.
const MOST_DELAY: u64 = 100;
/// The farthest coincidence point.
const FARTHEST: u64 = 400;
/// Periods of a stall that the model is run through; it has come to rest long before.
const LONGEST_STALL: f64 = 1000.0;
/// What y and u are measured in while a model is learnt: a share of the target, and a probability.
const LEARNT_TARGET: f64 = 0.1;
const LEARNT_P: f64 = 0.01;
/// The variance that a learnt model's parameters, so measured, begin with. With a larger one the start,
/// which no linear model tells of, is learnt as if it were TCP.
const LEARNT_DOUBT: f64 = 1e-3;
/// gamma of equation (16).
const PERIOD_SHARE: f64 = 0.11;
/// The paper's d: the least of a model that may come to any load, as its windows may shrink.
const LEAST_DELAY: u64 = 5;

/// Why what it declares is not all, where it learns its model.
const LEARNS: &str = "the law learns its model as it runs, and what it will have learnt is not known";
/// The target where none is given, packets.
const USUAL_TARGET: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
        let base_rtt = Some(Span::from_millis(200));
        Site { rate, packet: 1000.0, limit: 300.0, flows: Some(100.0), base_rtt }
    }

    fn seen(backlog: f64, elapsed: f64) -> Observation {
        Observation { backlog_packets: backlog, elapsed, ..Observation::default() }
    }

    fn built(change: impl Fn(&mut Params)) -> ArmPfc {
        let mut params = Params::default();
        change(&mut params);
        ArmPfc::new(&params, &site()).unwrap()
    }

    #[test]
    fn the_first_step_is_equation_27() {
        // At rest at p = 0 the model's prediction does not move, so u is the first period's wish alone,
        // counted from there: u + p_0 = y (psi^h - 1) / G.
        let mut controller = built(|params| params.adapt = Some(Adapt::Nothing));
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
    fn a_stall_runs_the_model_through_what_was_missed() {
        // p was kept, so a stalled controller knows what a busy one that kept p would know.
        let fixed = |params: &mut Params| params.adapt = Some(Adapt::Nothing);
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
        let rest = -stalled.design.plant.gain * (late.get() - stalled.design.plant.p);
        assert!((stalled.modelled[0] / rest - 1.0).abs() < 1e-9, "at rest after however long");
    }

    #[test]
    fn while_the_link_stands_still_p_and_the_model_are_kept() {
        for adapt in [Adapt::Load, Adapt::Rls] {
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
        assert_eq!(controller.design.delay, 6, "a link that stands still changes nothing");
        let mut fixed = built(|params| params.adapt = Some(Adapt::Nothing));
        fixed.on_link_change(Rate::from_bits_per_second(6e6));
        assert_eq!(fixed.design.delay, 5);
    }

    #[test]
    fn the_model_is_made_for_no_smaller_window_than_the_least() {
        // 100 flows have windows of 3.5: the model stays at 5 unless a smaller one is given.
        let p = |change: &dyn Fn(&mut Params)| built(change).plant().p;
        assert_eq!(p(&|_| ()), 2.0 / 25.0);
        let smaller = p(&|params| params.least_window = 1.0);
        assert!((smaller - 2.0 / (3.5 * 3.5)).abs() < 1e-12, "{smaller}");
        // A design that is fixed is what it is given.
        let fixed = p(&|params| params.adapt = Some(Adapt::Nothing));
        assert_eq!(fixed, smaller);
        // And it follows a lighter load.
        let mut controller = built(|_| ());
        (0..2000).for_each(|k| _ = controller.update(&seen(f64::from(99 + k % 2), 0.056)));
        assert!(controller.plant().p < 0.08, "{}", controller.plant().p);
    }

    #[test]
    fn what_cannot_be_designed_is_refused() {
        let refused = |change: &dyn Fn(&mut Params, &mut Site)| {
            let (mut params, mut site) = (Params::default(), site());
            change(&mut params, &mut site);
            ArmPfc::new(&params, &site).unwrap_err().to_string()
        };
        let told = refused(&|params, _| params.target = Some(Amount::Packets(400.0)));
        assert_eq!(told, "target: 400 packets is above the buffer of 300 packets; legal: within the buffer");
        let told = refused(&|params, site| {
            params.form = Form::Paper;
            site.flows = None;
        });
        assert_eq!(told, "flows: the model cannot be designed without the number of long flows; give flows");
        let told = refused(&|params, _| params.coincidence = Some(vec![5]));
        assert_eq!(told, "coincidence: 5 is not beyond delay = 5 periods; legal: more than delay");
        let told = refused(&|params, _| {
            params.base = Base::Ramp;
            params.coincidence = Some(vec![7]);
        });
        assert_eq!(
            told,
            "coincidence: one point does not determine a ramp; legal: two points, or base = step"
        );
    }

    #[test]
    fn a_model_that_follows_the_load_has_the_papers_periods_at_least() {
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
        let fixed = delays(&|params| params.adapt = Some(Adapt::Nothing));
        assert_eq!(fixed[..3], [(1, 3), (5, 12), (6, 15)]);
    }

    #[test]
    fn without_a_number_of_flows_it_is_designed_all_the_same() {
        let blind = Site { flows: None, ..site() };
        let controller = ArmPfc::new(&Params::default(), &blind).unwrap();
        assert!((controller.plant().p - 0.02).abs() < 1e-15);
    }
}
