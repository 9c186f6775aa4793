//! Attributes that a run reads from its copy of a law.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_aqm::Overflow;
use sojourn_units::Span;

/// The time between two updates.
pub(super) fn period_of(law: &Bound<'_, PyAny>) -> PyResult<Span> {
    let given = given(law, "period")?.ok_or_else(|| invalid("period", "is missing", PERIOD))?;
    let Ok(text) = given.extract::<String>() else {
        return Err(invalid("period", &format!("{} is not a time with a unit", given.repr()?), PERIOD));
    };
    let period = Span::parse(&text).map_err(|error| invalid("period", &error.to_string(), PERIOD))?;
    if period < SHORTEST {
        return Err(invalid("period", &format!("\"{text}\" is too short"), PERIOD));
    }
    Ok(period)
}

/// Rejects a period without an `on_update`.
pub(super) fn refuse_period(law: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(period) = given(law, "period")? else { return Ok(()) };
    let message = format!("{} is given, but there is no on_update", period.repr()?);
    Err(invalid("period", &message, "def on_update(self, seen), or no period"))
}

/// Target backlog, packets.
pub(super) fn target_of(law: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let Some(given) = given(law, "target_packets")? else { return Ok(None) };
    let target = given.extract::<f64>().ok().filter(|target| target.is_finite() && *target >= 0.0);
    if target.is_none() {
        let message = format!("{} is not a number of packets", given.repr()?);
        return Err(invalid("target_packets", &message, "a number from 0 such as 100, or None"));
    }
    Ok(target)
}

/// The end of the queue that drops a packet when the buffer is full.
pub(super) fn overflow_of(law: &Bound<'_, PyAny>) -> PyResult<Overflow> {
    let given = law.getattr("overflow")?;
    match given.extract::<&str>() {
        Ok("tail") => Ok(Overflow::Tail),
        Ok("head") => Ok(Overflow::Head),
        _ => {
            let message = format!("{} names no end of the queue", given.repr()?);
            Err(invalid("overflow", &message, "\"tail\" (the arriving packet is dropped) or \"head\""))
        }
    }
}

/// True where arrivals must have a victim.
pub(super) fn wants_victim(law: &Bound<'_, PyAny>) -> PyResult<bool> {
    let given = law.getattr("wants_victim")?;
    let message =
        || format!("{} is not a truth value", given.repr().map_or_else(|_| "it".into(), |r| r.to_string()));
    given.extract().map_err(|_| invalid("wants_victim", &message(), "True or False"))
}

/// An attribute that may be missing or None.
fn given<'py>(law: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(law.getattr_opt(name)?.filter(|given| !given.is_none()))
}

fn invalid(name: &str, message: &str, expected: &str) -> PyErr {
    PyValueError::new_err(format!("{name}: {message}; expected {expected}"))
}

/// The shortest period: a packet of 1500 B at 10 Gbit/s takes 1.2 us.
pub(super) const SHORTEST: Span = Span::from_micros(1);
const PERIOD: &str = "a time of 1 us or more such as \"10 ms\"";
