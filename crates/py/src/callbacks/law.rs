//! A law with a verdict on each packet.
//!
//! Methods that the class does not define are never called and take no lock: a
//! law of departures alone passes arrivals at the cost of a built-in one.

use super::answers::{A_TIME, Due, GAUGES, Next, next_of, nothing, probability, set_params, wrong_answer};
use super::attributes::{overflow_of, period_of, refuse_period, target_of, wants_victim};
use super::callee::{Callee, Failure};
use super::views::{Arrival, Departure, Observation, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_aqm as aqm;
use sojourn_aqm::{Gauges, Overflow, Properties};
use sojourn_params::{Given, InputError};
use sojourn_units::{Rate, Span, Time};

/// One run's own copy of a law, with its attributes, read once.
pub(super) struct PythonLaw {
    callee: Callee,
    methods: Methods,
    overflow: Overflow,
    wants_victim: bool,
    target: Option<f64>,
    /// Time between two updates, if any.
    period: Span,
    due: Option<Due>,
}

/// The methods that the law defines, bound to it.
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
    /// The law, of whose methods only `calls` are called.
    pub(super) fn of(object: &Bound<'_, PyAny>, calls: &[String], failure: Failure) -> PyResult<PythonLaw> {
        let methods = Methods::of(object, calls)?;
        let updated = methods.on_update.is_some();
        let period = if updated { period_of(object)? } else { refuse_period(object).map(|()| Span::ZERO)? };
        Ok(PythonLaw {
            methods,
            overflow: overflow_of(object)?,
            wants_victim: wants_victim(object)?,
            target: target_of(object)?,
            period,
            due: updated.then(|| Due::first(period)),
            callee: Callee::of(object, failure),
        })
    }

    /// True where a packet may cost a call into Python.
    pub(super) fn calls_per_packet(&self) -> bool {
        let Methods { on_arrival, on_departure, on_idle, on_overflow, .. } = &self.methods;
        [on_arrival, on_departure, on_idle, on_overflow].iter().any(|method| method.is_some())
    }
}

impl Methods {
    fn of(object: &Bound<'_, PyAny>, calls: &[impl AsRef<str>]) -> PyResult<Methods> {
        let own = |name: &str| {
            let has_own = calls.iter().any(|call| call.as_ref() == name);
            has_own.then(|| object.getattr(name).map(Bound::unbind)).transpose()
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
        let verdict = self.callee.call("on_arrival", arrival.now, |py| {
            let answer = method.bind(py).call1((Arrival::of(arrival),))?;
            let verdict =
                verdict_of(&answer).filter(|verdict| *verdict != aqm::Verdict::DropBoth || self.wants_victim);
            let expected = if self.wants_victim { A_VERDICT } else { NO_VICTIM };
            verdict.ok_or_else(|| wrong_answer("on_arrival", &answer, expected, arrival.now))
        });
        verdict.unwrap_or(aqm::Verdict::Pass)
    }

    fn on_departure(&mut self, departure: &aqm::Departure) -> aqm::Verdict {
        let Some(method) = &self.methods.on_departure else { return aqm::Verdict::Pass };
        let verdict = self.callee.call("on_departure", departure.now, |py| {
            let answer = method.bind(py).call1((Departure::of(departure),))?;
            let verdict = verdict_of(&answer).filter(|verdict| *verdict != aqm::Verdict::DropBoth);
            verdict.ok_or_else(|| wrong_answer("on_departure", &answer, A_DEPARTURES, departure.now))
        });
        verdict.unwrap_or(aqm::Verdict::Pass)
    }

    fn on_idle(&mut self, now: Time) {
        let Some(method) = &self.methods.on_idle else { return };
        self.callee.call("on_idle", now, |py| {
            let answer = method.bind(py).call1((now.seconds(),))?;
            nothing("on_idle", &answer, now)
        });
    }

    fn on_overflow(&mut self, now: Time) {
        let Some(method) = &self.methods.on_overflow else { return };
        self.callee.call("on_overflow", now, |py| {
            let answer = method.bind(py).call1((now.seconds(),))?;
            nothing("on_overflow", &answer, now)
        });
    }

    fn on_link_change(&mut self, now: Time, rate: Rate) {
        let Some(method) = &self.methods.on_link_change else { return };
        let change = (now.seconds(), rate.bits_per_second());
        self.callee.call("on_link_change", now, |py| {
            nothing("on_link_change", &method.bind(py).call1(change)?, now)
        });
    }

    /// An error of the object ends the run, as any of its failures.
    fn set_params(&mut self, now: Time, given: &Given, _site: &aqm::LinkContext) -> Result<(), InputError> {
        let updated = self.methods.on_update.is_some();
        let read = self.callee.call("set_params", now, |py| {
            let object = self.callee.object.bind(py);
            set_params(object, given, now)?;
            Ok((if updated { period_of(object)? } else { Span::ZERO }, target_of(object)?))
        });
        let Some((period, target)) = read else { return Ok(()) };
        self.due = self.due.map(|due| due.moved(now, self.period, period));
        (self.period, self.target) = (period, target);
        Ok(())
    }

    fn next_update(&self) -> Option<Time> {
        self.due.map(|due| due.at)
    }

    fn on_update(&mut self, due: Time, seen: &aqm::Observation) {
        let Some(method) = &self.methods.on_update else { return };
        let next = self.callee.call("on_update", seen.now, |py| {
            let answer = method.bind(py).call1((Observation::of(seen),))?;
            next_of(&answer, seen.now).ok_or_else(|| wrong_answer("on_update", &answer, A_TIME, seen.now))
        });
        self.due = next.unwrap_or(Next::Period).after(due, seen.now, self.period);
    }

    fn properties(&self) -> Properties {
        Properties { overflow: self.overflow, wants_victim: self.wants_victim, ..Properties::default() }
    }

    fn analysis(&self) -> &dyn aqm::Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        let Some(method) = &self.methods.gauges else { return };
        let now = self.callee.last_call();
        let shown = self.callee.call("gauges", now, |py| {
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

impl aqm::Analysis for PythonLaw {
    fn target_packets(&self) -> Option<f64> {
        self.target
    }
}

/// A clone is independent: it copies the state in Python.
impl Clone for PythonLaw {
    fn clone(&self) -> PythonLaw {
        let callee = self.callee.copied();
        let methods = callee.call("__deepcopy__", callee.last_call(), |py| {
            Methods::of(callee.object.bind(py), &self.methods.names())
        });
        PythonLaw { callee, methods: methods.unwrap_or(Methods::NONE), ..*self }
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

    fn names(&self) -> Vec<&'static str> {
        let Methods { on_arrival, on_departure, on_idle, on_overflow, on_link_change, on_update, gauges } =
            self;
        let all = [
            ("on_arrival", on_arrival),
            ("on_departure", on_departure),
            ("on_idle", on_idle),
            ("on_overflow", on_overflow),
            ("on_link_change", on_link_change),
            ("on_update", on_update),
            ("gauges", gauges),
        ];
        all.into_iter().filter(|(_, method)| method.is_some()).map(|(name, _)| name).collect()
    }
}

fn verdict_of(answer: &Bound<'_, PyAny>) -> Option<aqm::Verdict> {
    if answer.is_none() {
        return Some(aqm::Verdict::Pass);
    }
    answer.cast::<Verdict>().ok().map(|verdict| verdict.get().native())
}

const A_VERDICT: &str = "a sojourn.Verdict, or None to let the packet pass";
const A_DEPARTURES: &str = "Verdict.PASS, Verdict.MARK or Verdict.DROP, or None to let the packet pass";
const NO_VICTIM: &str = "Verdict.PASS, Verdict.MARK or Verdict.DROP, or None to let the packet pass; \
                         with wants_victim = True also Verdict.DROP_BOTH";
