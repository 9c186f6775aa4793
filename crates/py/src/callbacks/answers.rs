//! Return values of a law's methods, and `set_params`.

use super::attributes::SHORTEST;
use crate::errors::LawError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat};
use sojourn_aqm::parts::ticks::moved;
use sojourn_params::{Given, Value};
use sojourn_units::{Prob, Span, Time};

/// A law's probability, not clamped: a law that leaves [0, 1] has a bug.
pub(super) fn probability(answer: &Bound<'_, PyAny>) -> Option<Prob> {
    if is_truth_value(answer) { None } else { answer.extract().ok().and_then(Prob::new) }
}

/// Rejects any answer but None: a verdict there has no effect, and the body of a generator or a coroutine would never
/// run.
pub(super) fn nothing(method: &str, answer: &Bound<'_, PyAny>, now: Time) -> PyResult<()> {
    if answer.is_none() { Ok(()) } else { Err(wrong_answer(method, answer, NOTHING, now)) }
}

/// Calls the object's `set_params` with each given parameter under its name; without one, nothing is called: another
/// parameter of the qdisc around it has changed.
pub(super) fn set_params(object: &Bound<'_, PyAny>, given: &Given, now: Time) -> PyResult<()> {
    if given.keys.is_empty() {
        return Ok(());
    }
    let py = object.py();
    let named = PyDict::new(py);
    for (key, value) in given.values() {
        named.set_item(key, as_python(py, &value)?)?;
    }
    nothing("set_params", &object.call_method("set_params", (), Some(&named))?, now)
}

/// The value as a Python object.
fn as_python(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Value::Absent => py.None(),
        Value::Text(text) => text.into_pyobject(py)?.into_any().unbind(),
        Value::Number(number) => number.into_pyobject(py)?.into_any().unbind(),
        Value::Whole(number) => number.into_pyobject(py)?.into_any().unbind(),
        Value::Flag(flag) => flag.into_pyobject(py)?.to_owned().into_any().unbind(),
        Value::List(items) => {
            let items = items.iter().map(|item| as_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            items.into_pyobject(py)?.into_any().unbind()
        }
        Value::Table(entries) => {
            let table = PyDict::new(py);
            for (key, value) in entries {
                table.set_item(key, as_python(py, value)?)?;
            }
            table.into_any().unbind()
        }
    })
}

/// Python's True extracts as 1, but a truth value is no probability.
pub(super) fn is_truth_value(answer: &Bound<'_, PyAny>) -> bool {
    // Nearly every answer is a float, and that check is cheap; numpy has a bool of its own.
    !answer.is_exact_instance_of::<PyFloat>() && answer.extract::<bool>().is_ok()
}

/// The failure of a law whose answer is not the `expected` one.
pub(super) fn wrong_answer(method: &str, answer: &Bound<'_, PyAny>, expected: &str, now: Time) -> PyErr {
    let text = answer.repr().map_or_else(|_| "something".into(), |text| text.to_string());
    close(answer);
    let kind = if is_truth_value(answer) { ", a truth value" } else { "" };
    LawError::new_err((
        format!("{method} gave {text}{kind}"),
        now.seconds(),
        method.to_string(),
        expected.to_string(),
    ))
}

/// Closes a coroutine that is never awaited: Python would warn on stderr.
fn close(answer: &Bound<'_, PyAny>) {
    let is_coroutine = answer.get_type().name().is_ok_and(|name| name == "coroutine");
    if is_coroutine {
        // It has not started, so none of the author's code runs and nothing can fail.
        let _ = answer.call_method0("close");
    }
}

/// The time of the next update.
pub(super) enum Next {
    At(Time),
    Period,
    Never,
}

impl Next {
    /// The next update, after the one due at `due` was made at `now`; None: never. As in `Periodic`, instants stay on their
    /// grid, and those missed in a stall are skipped.
    pub(super) fn after(self, due: Time, now: Time, period: Span) -> Option<Due> {
        match self {
            Next::At(at) => Some(Due { at, is_periodic: false }),
            Next::Never => None,
            Next::Period => {
                let missed = now.since(due).nanos() / period.nanos();
                Some(Due { at: due + period.saturating_mul(missed + 1), is_periodic: true })
            }
        }
    }
}

/// The next update of an object.
#[derive(Clone, Copy)]
pub(super) struct Due {
    pub(super) at: Time,
    /// It is a period after the last one, not at a time that the object returned.
    is_periodic: bool,
}

impl Due {
    /// The first update.
    pub(super) fn first(period: Span) -> Due {
        Due { at: Time::ZERO + period, is_periodic: true }
    }

    /// After a change of the period, counted from the last update; `now` if that has passed.
    pub(super) fn moved(self, now: Time, old: Span, new: Span) -> Due {
        if old == new || !self.is_periodic {
            self
        } else {
            Due { at: moved(self.at, old, new).max(now), ..self }
        }
    }
}

/// Answer of `on_update`.
pub(super) fn next_of(answer: &Bound<'_, PyAny>, now: Time) -> Option<Next> {
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

const NOTHING: &str = "None";
pub(super) const A_TIME: &str = "the time of the next update, s since the start and 1 us away or more; None for the next \
                      after a period";
pub(super) const GAUGES: &str = "a dict such as {\"p\": 0.01}, with p from 0 to 1";
