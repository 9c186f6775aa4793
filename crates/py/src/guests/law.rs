//! A law that judges packets one by one.
//!
//! Which methods the class has of its own is found out once. The others are
//! never called and take no lock: a law that only looks at departures lets
//! arrivals through at the price of a built-in one.

use super::attributes::{
    SHORTEST, is_truth_value, overflow_of, period_of, refuse_period, target_of, wants_victim, wrong_answer,
};
use super::controller::probability;
use super::parameters::given_to;
use super::{Arrival, Departure, Failure, Guest, Observation, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_aqm as aqm;
use sojourn_aqm::parts::ticks::moved;
use sojourn_aqm::{Gauges, Given, Overflow};
use sojourn_units::{Fault, Rate, Span, Time};

/// One run's own copy of a law, with what is said of it once.
pub(super) struct PythonLaw {
    guest: Guest,
    methods: Methods,
    overflow: Overflow,
    wants_victim: bool,
    target: Option<f64>,
    /// Between two updates, where the law has any.
    period: Span,
    due: Option<Time>,
}

/// The methods that are the law's own, bound to it.
struct Methods {
    on_arrival: Option<Py<PyAny>>,
    on_departure: Option<Py<PyAny>>,
    on_idle: Option<Py<PyAny>>,
    on_overflow: Option<Py<PyAny>>,
    on_link_change: Option<Py<PyAny>>,
    on_update: Option<Py<PyAny>>,
    gauges: Option<Py<PyAny>>,
}

impl PythonLaw {
    /// The law; what it leaves as it is in `base` is never called.
    pub(super) fn of(
        object: &Bound<'_, PyAny>,
        base: &Bound<'_, PyAny>,
        failure: Failure,
    ) -> PyResult<PythonLaw> {
        let methods = Methods::of(object, base)?;
        let updated = methods.on_update.is_some();
        let period = if updated { period_of(object)? } else { refuse_period(object).map(|()| Span::ZERO)? };
        Ok(PythonLaw {
            methods,
            overflow: overflow_of(object)?,
            wants_victim: wants_victim(object)?,
            target: target_of(object)?,
            period,
            due: updated.then(|| Time::ZERO + period),
            guest: Guest::of(object, failure),
        })
    }

    /// Whether a packet may cost a call into Python.
    pub(super) fn is_asked_about_packets(&self) -> bool {
        let Methods { on_arrival, on_departure, on_idle, on_overflow, .. } = &self.methods;
        [on_arrival, on_departure, on_idle, on_overflow].iter().any(|method| method.is_some())
    }
}

impl Methods {
    fn of(object: &Bound<'_, PyAny>, base: &Bound<'_, PyAny>) -> PyResult<Methods> {
        let own = |name| -> PyResult<Option<Py<PyAny>>> {
            let (method, left) = (object.getattr(name)?, base.getattr(name)?);
            let function = method.getattr_opt("__func__")?;
            Ok((!function.is_some_and(|function| function.is(&left))).then(|| method.unbind()))
        };
        Ok(Methods {
            on_arrival: own("on_arrival")?,
            on_departure: own("on_departure")?,
            on_idle: own("on_idle")?,
            on_overflow: own("on_overflow")?,
            on_link_change: own("on_link_change")?,
            on_update: own("on_update")?,
            gauges: own("gauges")?,
        })
    }
}

impl aqm::Law for PythonLaw {
    fn on_arrival(&mut self, arrival: &aqm::Arrival) -> aqm::Verdict {
        let Some(method) = &self.methods.on_arrival else { return aqm::Verdict::Pass };
        let verdict = self.guest.ask("on_arrival", arrival.now, |py| {
            let answer = method.bind(py).call1((Arrival::of(arrival),))?;
            let verdict =
                verdict_of(&answer).filter(|verdict| *verdict != aqm::Verdict::DropBoth || self.wants_victim);
            let legal = if self.wants_victim { A_VERDICT } else { NO_VICTIM };
            verdict.ok_or_else(|| wrong_answer("on_arrival", &answer, legal, arrival.now))
        });
        verdict.unwrap_or(aqm::Verdict::Pass)
    }

    fn on_departure(&mut self, departure: &aqm::Departure) -> aqm::Verdict {
        let Some(method) = &self.methods.on_departure else { return aqm::Verdict::Pass };
        let verdict = self.guest.ask("on_departure", departure.now, |py| {
            let answer = method.bind(py).call1((Departure::of(departure),))?;
            let verdict = verdict_of(&answer).filter(|verdict| *verdict != aqm::Verdict::DropBoth);
            verdict.ok_or_else(|| wrong_answer("on_departure", &answer, A_DEPARTURES, departure.now))
        });
        verdict.unwrap_or(aqm::Verdict::Pass)
    }

    fn on_idle(&mut self, now: Time) {
        let Some(method) = &self.methods.on_idle else { return };
        self.guest.ask("on_idle", now, |py| {
            let answer = method.bind(py).call1((now.seconds(),))?;
            nothing("on_idle", &answer, now)
        });
    }

    fn on_overflow(&mut self, now: Time) {
        let Some(method) = &self.methods.on_overflow else { return };
        self.guest.ask("on_overflow", now, |py| {
            let answer = method.bind(py).call1((now.seconds(),))?;
            nothing("on_overflow", &answer, now)
        });
    }

    fn on_link_change(&mut self, now: Time, rate: Rate) {
        let Some(method) = &self.methods.on_link_change else { return };
        let told = (now.seconds(), rate.bits_per_second());
        self.guest
            .ask("on_link_change", now, |py| nothing("on_link_change", &method.bind(py).call1(told)?, now));
    }

    /// What the object does not take ends the run, as any failure of it.
    fn retune(&mut self, now: Time, given: &Given, _site: &aqm::Site) -> Result<(), Fault> {
        let updated = self.methods.on_update.is_some();
        let read = self.guest.ask("retune", now, |py| {
            let object = self.guest.object.bind(py);
            given_to(object, given, now)?;
            Ok((if updated { period_of(object)? } else { Span::ZERO }, target_of(object)?))
        });
        let Some((period, target)) = read else { return Ok(()) };
        if period != self.period {
            self.due = self.due.map(|due| moved(due, self.period, period).max(now));
            self.period = period;
        }
        self.target = target;
        Ok(())
    }

    fn overflow(&self) -> Overflow {
        self.overflow
    }

    fn wants_victim(&self) -> bool {
        self.wants_victim
    }

    fn next_update(&self) -> Option<Time> {
        self.due
    }

    fn on_update(&mut self, due: Time, seen: &aqm::Observation) {
        let Some(method) = &self.methods.on_update else { return };
        let next = self.guest.ask("on_update", seen.now, |py| {
            let answer = method.bind(py).call1((Observation::of(seen),))?;
            next_of(&answer, seen.now).ok_or_else(|| wrong_answer("on_update", &answer, A_TIME, seen.now))
        });
        self.due = match next {
            Some(Next::At(time)) => Some(time),
            Some(Next::Never) => None,
            Some(Next::Period) | None => Some(self.on_the_grid(due, seen.now)),
        };
    }

    fn target_packets(&self) -> Option<f64> {
        self.target
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        let Some(method) = &self.methods.gauges else { return };
        let now = self.guest.asked.get();
        let shown = self.guest.ask("gauges", now, |py| {
            let answer = method.bind(py).call0()?;
            let wrong = || wrong_answer("gauges", &answer, GAUGES, now);
            let p = answer.cast::<PyDict>().map_err(|_| wrong())?.get_item("p")?;
            p.map(|p| probability(&p).ok_or_else(wrong)).transpose()
        });
        if let Some(Some(p)) = shown {
            out.gauge("p", "1", p.get());
        }
    }
}

impl PythonLaw {
    /// As in `Sampled`: instants stay on their grid, and those missed in a stall are not made up for.
    fn on_the_grid(&self, due: Time, now: Time) -> Time {
        let missed = now.since(due).nanos() / self.period.nanos();
        due + self.period.saturating_mul(missed + 1)
    }
}

/// A clone has a future of its own, so the state in Python is copied with it.
impl Clone for PythonLaw {
    fn clone(&self) -> PythonLaw {
        let guest = self.guest.copied();
        let methods = guest.ask("__deepcopy__", guest.asked.get(), |py| {
            Methods::of(guest.object.bind(py), &py.import("sojourn")?.getattr("Law")?)
        });
        PythonLaw { guest, methods: methods.unwrap_or(Methods::NONE), ..*self }
    }
}

impl Methods {
    const NONE: Methods = Methods {
        on_arrival: None,
        on_departure: None,
        on_idle: None,
        on_overflow: None,
        on_link_change: None,
        on_update: None,
        gauges: None,
    };
}

/// When a law wants its next update.
enum Next {
    At(Time),
    Period,
    Never,
}

fn next_of(answer: &Bound<'_, PyAny>, now: Time) -> Option<Next> {
    if answer.is_none() {
        return Some(Next::Period);
    }
    let given = if is_truth_value(answer) { None } else { answer.extract::<f64>().ok() }?;
    if given == f64::INFINITY {
        return Some(Next::Never);
    }
    let time = Time::ZERO + Span::from_seconds(given);
    (time >= now + SHORTEST).then_some(Next::At(time))
}

/// Refuses an answer where none is asked for: a verdict there has no effect, and a method that is written as a
/// generator or a coroutine is never run.
pub(super) fn nothing(method: &str, answer: &Bound<'_, PyAny>, now: Time) -> PyResult<()> {
    if answer.is_none() { Ok(()) } else { Err(wrong_answer(method, answer, NOTHING, now)) }
}

fn verdict_of(answer: &Bound<'_, PyAny>) -> Option<aqm::Verdict> {
    if answer.is_none() {
        return Some(aqm::Verdict::Pass);
    }
    answer.cast::<Verdict>().ok().map(|verdict| verdict.get().aqms())
}

const A_VERDICT: &str = "a sojourn.Verdict, or None to let the packet pass";
const A_DEPARTURES: &str = "Verdict.PASS, Verdict.MARK or Verdict.DROP, or None to let the packet pass";
const NO_VICTIM: &str = "Verdict.PASS, Verdict.MARK or Verdict.DROP, or None to let the packet pass; \
                         with wants_victim = True also Verdict.DROP_BOTH";
const NOTHING: &str = "None";
const A_TIME: &str = "the time of the next update, s since the start and 1 us away or more; None for the next \
                      after a period";
const GAUGES: &str = "a dict such as {\"p\": 0.01}, with p from 0 to 1";
