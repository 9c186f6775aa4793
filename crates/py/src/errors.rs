//! The only place where errors become exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot run; `faults` has a line for each fault."
);
create_exception!(_core, Cancelled, PyException, "The run was cancelled through its ticket.");

/// The exception for these faults, one line each.
pub(crate) fn scenario_error(faults: Vec<String>) -> PyErr {
    let error = ScenarioError::new_err(faults.join("\n"));
    Python::attach(|py| match error.value(py).setattr("faults", faults) {
        Ok(()) => error,
        Err(other) => other,
    })
}
