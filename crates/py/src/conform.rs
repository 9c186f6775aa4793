//! Replay of golden traces: one law, call by call.

use crate::callbacks::{self, Failure};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_aqm::{Law, LawSpec};
use sojourn_trace::{Call, Header, TracePlace};
use std::sync::{Mutex, PoisonError};

/// A law in the context of the first line of a trace.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct TracedLaw {
    law: Mutex<Box<dyn Law>>,
    qdisc: LawSpec,
    failure: Failure,
}

#[pymethods]
impl TracedLaw {
    /// The law that the header names, or one started from a template of a law in Python.
    #[new]
    #[pyo3(signature = (header, law = None))]
    fn new(header: &str, law: Option<&Bound<'_, PyAny>>) -> PyResult<TracedLaw> {
        let header = Header::parse(header).map_err(PyValueError::new_err)?;
        let failure = Failure::default();
        let law = match law {
            Some(law) => callbacks::start(law, header.context, &failure)?.law,
            None => header.law().map_err(|error| PyValueError::new_err(error.to_string()))?,
        };
        Ok(TracedLaw { law: Mutex::new(law), qdisc: header.qdisc, failure })
    }

    /// The answer to a call, both as JSON.
    fn answer(&self, py: Python<'_>, call: &str) -> PyResult<String> {
        let call = Call::parse(call, &self.qdisc).map_err(PyValueError::new_err)?;
        // A law in Python takes Python's lock while it holds this one, never in the opposite order.
        let answer =
            py.detach(|| call.put_to(self.law.lock().unwrap_or_else(PoisonError::into_inner).as_mut()));
        self.failure.take().map_or_else(|| Ok(answer.to_json(&call).to_string()), Err)
    }
}

/// A qdisc in the context of the first line of a trace.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct TracedQdisc {
    qdisc: Mutex<sojourn_trace::TracedQdisc>,
    failure: Failure,
}

#[pymethods]
impl TracedQdisc {
    /// The qdisc that the header names, or one started from a template of a qdisc in Python.
    #[new]
    #[pyo3(signature = (header, qdisc = None))]
    fn new(header: &str, qdisc: Option<&Bound<'_, PyAny>>) -> PyResult<TracedQdisc> {
        let failure = Failure::default();
        let traced = match qdisc {
            None => sojourn_trace::TracedQdisc::parse(header).map_err(PyValueError::new_err)?,
            Some(template) => sojourn_trace::TracedQdisc::custom(header, |place: TracePlace| {
                let TracePlace { limit, context, classes, draws } = place;
                let build = callbacks::start_qdisc(template, context, classes, &failure)?;
                Ok::<_, PyErr>(build(limit, draws))
            })
            .map_err(PyValueError::new_err)??,
        };
        Ok(TracedQdisc { qdisc: Mutex::new(traced), failure })
    }

    /// The answer to a call, both as JSON.
    fn answer(&self, py: Python<'_>, call: &str) -> PyResult<String> {
        // A qdisc in Python takes Python's lock while it holds this one, never in the opposite order.
        let answer = py.detach(|| self.qdisc.lock().unwrap_or_else(PoisonError::into_inner).answer(call));
        let answer = answer.map_err(PyValueError::new_err)?;
        self.failure.take().map_or_else(|| Ok(answer.to_string()), Err)
    }
}

/// Replays the trace of a qdisc on a new one; None: every answer is the same, else the first difference.
#[pyfunction]
pub(crate) fn replay_trace(py: Python<'_>, text: &str) -> Option<String> {
    py.detach(|| sojourn_trace::replay_qdisc(text).err())
}

/// Counts, and mean, median, p95 and p99 of the sojourn time, s, of the arrivals of a trace behind its qdisc, or behind
/// that of a SPEC. Raises `ValueError` for a line that cannot be read.
#[pyfunction]
#[pyo3(signature = (text, qdisc = None))]
pub(crate) fn passage_of_trace<'py>(
    py: Python<'py>,
    text: &str,
    qdisc: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let found = py.detach(|| sojourn_trace::passage(text, qdisc)).map_err(PyValueError::new_err)?;
    let dict = PyDict::new(py);
    dict.set_item("offered", found.offered)?;
    dict.set_item("delivered", found.delivered)?;
    dict.set_item("dropped", found.dropped)?;
    dict.set_item("marked", found.marked)?;
    dict.set_item("sojourn_mean_s", found.mean_s())?;
    for (name, share) in [("sojourn_p50_s", 0.5), ("sojourn_p95_s", 0.95), ("sojourn_p99_s", 0.99)] {
        dict.set_item(name, found.quantile_s(share))?;
    }
    Ok(dict)
}
