//! One law, call by call: what golden traces are replayed through.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_aqm::Law;
use sojourn_scenario::trace::{Call, Header};
use std::sync::{Mutex, PoisonError};

/// A law at its place, as the first line of a trace says.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct TracedLaw(Mutex<Box<dyn Law>>);

#[pymethods]
impl TracedLaw {
    #[new]
    fn new(header: &str) -> PyResult<TracedLaw> {
        let header = Header::parse(header).map_err(PyValueError::new_err)?;
        let law = header.law().map_err(|fault| PyValueError::new_err(fault.to_string()))?;
        Ok(TracedLaw(Mutex::new(law)))
    }

    /// The answer to a call, both as JSON.
    fn answer(&self, call: &str) -> PyResult<String> {
        let call = Call::parse(call).map_err(PyValueError::new_err)?;
        let mut law = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(call.put_to(law.as_mut()).to_json(&call).to_string())
    }
}
