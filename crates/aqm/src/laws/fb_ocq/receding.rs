//! `form = receding`: the optimum over a horizon, solved again every period, with what the closed forms ignore.
//!
//! - **Forecast** of w: the load of the next base RTT is known by the ACK clock ([`super::ahead`]). Beyond it, w is its average.
//! - **Delay**: p acts a round trip later, by the windows, so that a signal is worth W/2 packets and not one:
//!
//!   ```text
//!   p = (1 - u / w) / m,   w = mu / (1 - m p_w),   m = W/2 = 1 / sqrt(2 p_w), at least 1           (16)
//!   ```
//!
//!   The plan starts with the backlog at which p will act: the present one, with the inputs of that round trip, which are
//!   decided, and mu out.
//! - **Penalty** on changes of u: [`sojourn_optim::ocq::Receding`].
//!
//! Without all three it is `deadbeat`.

use super::Params;
use super::ahead::Ahead;
use sojourn_optim::ocq::{Problem, Receding as Plan, Task};
use sojourn_params::InputError;
use sojourn_units::Span;

/// The plan, and what is known of the periods ahead.
#[derive(Clone, Debug)]
pub(super) struct Receding {
    settings: Settings,
    plan: Plan,
    pub(super) ahead: Ahead,
    /// u of the last update, packets/s.
    input: f64,
    /// Updates that spent their budget.
    pub fallbacks: u64,
}

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    pub forecast: bool,
    /// Delay of p, s; None: the base RTT and the queue's delay.
    pub delay: Option<f64>,
    /// t_u, s.
    pub smoothing: f64,
    /// Cells of the horizon.
    pub cells: usize,
    /// Periods ahead that are kept.
    pub ahead: usize,
    /// Iterations of an update.
    pub budget: u32,
    pub p_max: f64,
    /// mu of the link, packets/s.
    pub service: f64,
}

/// Times of the law, s, that the plan depends on.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub base_rtt: f64,
    /// Delay of the target.
    pub target: f64,
    pub period: f64,
}

impl Settings {
    pub(super) fn new(params: &Params, times: Times, service: f64) -> Result<Settings, InputError> {
        let Times { base_rtt, target, period } = times;
        let round_trip = base_rtt + target;
        let smoothing = params.t_u.map_or(SMOOTHING * round_trip, Span::seconds);
        let usual = round_trip.max(smoothing / SMOOTHING).clamp(LEAST_CELLS * period, USUAL_CELLS * period);
        let cells = (params.horizon.map_or(usual, Span::seconds) / period).round();
        if !(1.0..=MOST_CELLS).contains(&cells) {
            let problem = format!("is {cells} periods of {}", Span::from_seconds(period));
            let found = params.horizon.unwrap_or_default();
            return Err(
                InputError::conflict(found, problem, format!("1 to {MOST_CELLS} periods")).at("horizon")
            );
        }
        let delay = params.delay.map(Span::seconds);
        let longest = (base_rtt + LONGEST_QUEUE * target).max(delay.unwrap_or(0.0));
        let ahead = (longest / period).ceil() + 2.0;
        if ahead > MOST_AHEAD {
            let problem = format!("is less than {longest} s / {MOST_AHEAD}, the round trip ahead");
            return Err(
                InputError::conflict(Span::from_seconds(period), problem, "a longer period").at("period")
            );
        }
        Ok(Settings {
            forecast: params.forecast,
            delay,
            smoothing,
            cells: cells as usize,
            ahead: ahead as usize,
            budget: params.iterations,
            p_max: params.p_max.unwrap_or(1.0),
            service,
        })
    }
}

/// Answer of the closed form.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosedForm {
    /// u, packets/s; infinite where all is admitted.
    pub input: f64,
    pub p: f64,
}

/// Measurements of a period, and what follows from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub problem: Problem,
    /// mu - u_s, packets/s.
    pub bias: f64,
    /// T_s, s.
    pub period: f64,
    pub elapsed: f64,
    pub base_rtt: f64,
    pub backlog: f64,
    pub departed: f64,
    /// Marks and drops.
    pub signals: f64,
    /// p_w.
    pub held: f64,
    /// p_w for W, above 0.
    pub windowed: f64,
}

impl Measured {
    pub(super) fn service(&self) -> f64 {
        self.problem.queue().service
    }

    /// 1/W.
    pub(super) fn growth(&self) -> f64 {
        (self.windowed / 2.0).sqrt()
    }

    /// W/2.
    pub(super) fn half_window(&self) -> f64 {
        1.0 / (2.0 * self.windowed).sqrt()
    }

    /// Base RTT and the queue's delay, periods.
    pub(super) fn round_trip_periods(&self) -> usize {
        ((self.base_rtt + self.backlog / self.service()) / self.period).round() as usize
    }
}

/// Time and effect of p.
#[derive(Clone, Copy)]
struct Effect {
    /// Periods until p acts.
    late: usize,
    /// m.
    worth: f64,
    /// w, packets/s.
    average: f64,
}

impl Receding {
    pub(super) fn new(settings: Settings) -> Receding {
        let (plan, ahead) = (Plan::new(settings.cells), Ahead::new(settings.ahead));
        Receding { settings, plan, ahead, input: settings.service, fallbacks: 0 }
    }

    /// Hands its state over to one with other settings, as far as the sizes are the same.
    pub(super) fn hand_over(&self, fresh: &mut Receding) {
        let Settings { cells, ahead, .. } = self.settings;
        if (cells, ahead) == (fresh.settings.cells, fresh.settings.ahead) {
            *fresh = Receding { settings: fresh.settings, ..self.clone() };
        }
        fresh.fallbacks = self.fallbacks;
    }

    pub(super) fn reset(&mut self) {
        self.plan.reset(0.0);
        self.ahead.reset();
        (self.input, self.fallbacks) = (self.settings.service, 0);
    }

    /// Records a period.
    pub(super) fn observe(&mut self, measured: &Measured) {
        self.ahead.observe(measured);
    }

    /// p by (16), or that of the closed form where the budget is spent.
    pub(super) fn p(&mut self, measured: &Measured, closed_form: ClosedForm) -> f64 {
        let effect = self.effect(measured);
        let task = Task {
            problem: measured.problem,
            step: measured.period,
            penalty: Task::penalty(&measured.problem, self.settings.smoothing),
            backlog: self.predicted(measured, effect.late),
            input: self.input - measured.bias,
            least: effect.least(self.settings.p_max) - measured.bias,
        };
        let (ahead, forecast) = (&self.ahead, self.settings.forecast);
        let offered = |place| if forecast { effect.offered(ahead, measured, place) } else { effect.average };
        let planned = self.plan.solve(&task, |place| offered(place) - measured.bias, self.settings.budget);
        if !planned.converged {
            self.fallbacks += 1;
            return self.admit(measured, closed_form);
        }
        let (input, load) = (planned.input + measured.bias, offered(0));
        self.decide(effect.late, input);
        if load > input { (1.0 - input / load) / effect.worth } else { 0.0 }
    }

    /// p of the closed form, with its input, at most w, in the place of a plan's.
    pub(super) fn admit(&mut self, measured: &Measured, closed_form: ClosedForm) -> f64 {
        let Effect { late, average, .. } = self.effect(measured);
        self.decide(late, closed_form.input.clamp(0.0, average));
        closed_form.p
    }

    fn decide(&mut self, late: usize, input: f64) {
        self.ahead.decide(late, input);
        self.input = input;
    }

    fn effect(&self, measured: &Measured) -> Effect {
        let given = self.settings.delay.map(|delay| (delay / measured.period).round() as usize);
        let late = given.unwrap_or(measured.round_trip_periods()).min(self.ahead.periods() - 1);
        let worth = if late > 0 { measured.half_window().max(1.0) } else { 1.0 };
        Effect { late, worth, average: measured.service() / (1.0 - worth * measured.held) }
    }

    /// Backlog when p acts.
    fn predicted(&self, measured: &Measured, late: usize) -> f64 {
        let served = measured.service() * measured.period;
        (0..late).fold(measured.backlog, |backlog, place| {
            let arrived = if self.settings.forecast {
                self.ahead.arrivals(measured, place)
            } else {
                self.ahead.decided(measured, place)
            };
            (backlog + arrived - served).max(0.0)
        })
    }
}

impl Effect {
    /// Least u, packets/s: that of the largest p.
    fn least(self, p_max: f64) -> f64 {
        (self.average * (1.0 - self.worth * p_max)).max(0.0)
    }

    /// w of a cell of the plan, packets/s: before the signals that p makes, after those before.
    fn offered(self, ahead: &Ahead, measured: &Measured, place: usize) -> f64 {
        let at = self.late + place;
        let usual = measured.service() * measured.period;
        if self.late == 0 {
            return self.average * ahead.arrivals(measured, at) / usual;
        }
        let taken = self.worth * ahead.signals(at) / measured.period;
        (self.average * ahead.clocked(measured, at) / usual - taken).max(0.0)
    }
}

/// t_u, in round trips.
const SMOOTHING: f64 = 0.2;
/// Cells of the default horizon, at least and at most, and the most of any.
const LEAST_CELLS: f64 = 10.0;
const USUAL_CELLS: f64 = 100.0;
const MOST_CELLS: f64 = 500.0;
/// Longest queue whose delay is predicted in full, in targets, and the most periods of a round trip.
const LONGEST_QUEUE: f64 = 4.0;
const MOST_AHEAD: f64 = 2000.0;
