//! What a run reads from a law's object once, and answers that are none.

use crate::errors::LawError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use sojourn_aqm::Overflow;
use sojourn_units::{Span, Time};

/// The time between two updates.
pub(super) fn period_of(law: &Bound<'_, PyAny>) -> PyResult<Span> {
    let given = given(law, "period")?.ok_or_else(|| illegal("period", "is missing", PERIOD))?;
    let Ok(text) = given.extract::<String>() else {
        return Err(illegal("period", &format!("{} is not a time with a unit", given.repr()?), PERIOD));
    };
    let period = Span::parse(&text).map_err(|what| illegal("period", &what, PERIOD))?;
    if period < SHORTEST {
        return Err(illegal("period", &format!("\"{text}\" is too short"), PERIOD));
    }
    Ok(period)
}

/// Refuses the period of a law that is never updated.
pub(super) fn refuse_period(law: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(period) = given(law, "period")? else { return Ok(()) };
    let what = format!("{} is given, but there is no on_update", period.repr()?);
    Err(illegal("period", &what, "def on_update(self, seen), or no period"))
}

/// The backlog that the law tries to hold.
pub(super) fn target_of(law: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let Some(given) = given(law, "target_packets")? else { return Ok(None) };
    let target = given.extract::<f64>().ok().filter(|target| target.is_finite() && *target >= 0.0);
    if target.is_none() {
        let what = format!("{} is not a number of packets", given.repr()?);
        return Err(illegal("target_packets", &what, "a number from 0 such as 100, or None"));
    }
    Ok(target)
}

/// Which packet goes when one does not fit.
pub(super) fn overflow_of(law: &Bound<'_, PyAny>) -> PyResult<Overflow> {
    let given = law.getattr("overflow")?;
    match given.extract::<&str>() {
        Ok("tail") => Ok(Overflow::Tail),
        Ok("head") => Ok(Overflow::Head),
        _ => {
            let what = format!("{} names no end of the queue", given.repr()?);
            Err(illegal("overflow", &what, "\"tail\" (the packet that arrives goes) or \"head\""))
        }
    }
}

/// Whether arrivals must name a victim.
pub(super) fn wants_victim(law: &Bound<'_, PyAny>) -> PyResult<bool> {
    let given = law.getattr("wants_victim")?;
    let what =
        || format!("{} is not a truth value", given.repr().map_or_else(|_| "it".into(), |r| r.to_string()));
    given.extract().map_err(|_| illegal("wants_victim", &what(), "True or False"))
}

/// Python's True counts as 1, but a law that gives it answers "whether", not "how often".
pub(super) fn is_truth_value(answer: &Bound<'_, PyAny>) -> bool {
    // Nearly every answer is a float, and asking it is cheap; numpy has a bool of its own.
    !answer.is_exact_instance_of::<PyFloat>() && answer.extract::<bool>().is_ok()
}

/// The failure of a law that gave something else than it should.
pub(super) fn wrong_answer(method: &str, answer: &Bound<'_, PyAny>, legal: &str, now: Time) -> PyErr {
    let text = answer.repr().map_or_else(|_| "something".into(), |text| text.to_string());
    close(answer);
    let kind = if is_truth_value(answer) { ", a truth value" } else { "" };
    LawError::new_err((
        format!("{method} gave {text}{kind}"),
        now.seconds(),
        method.to_string(),
        legal.to_string(),
    ))
}

/// Ends a coroutine that no one will await: Python warns on stderr of one that is left open.
fn close(answer: &Bound<'_, PyAny>) {
    let is_coroutine = answer.get_type().name().is_ok_and(|name| name == "coroutine");
    if is_coroutine {
        // It has not begun, so none of the author's code runs and nothing can fail.
        let _ = answer.call_method0("close");
    }
}

/// An attribute that may be missing or None.
fn given<'py>(law: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(law.getattr_opt(name)?.filter(|given| !given.is_none()))
}

fn illegal(name: &str, what: &str, legal: &str) -> PyErr {
    PyValueError::new_err(format!("{name}: {what}; legal: {legal}"))
}

/// More often than so no packet plant needs an update: a packet of 1500 B at 10 Gbit/s takes 1.2 us.
pub(super) const SHORTEST: Span = Span::from_micros(1);
const PERIOD: &str = "a time of 1 us or more such as \"10 ms\"";
