//! Conversion of errors to exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use sojourn_scenario::{Diagnostics, Excerpt};

create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "An invalid scenario; `errors` has a line for each error, and `excerpts` the lines of the file for each."
);
create_exception!(
    _core,
    LawError,
    PyException,
    "A law written in Python failed. Its arguments: the message, the time in the run, s, the method, and what was \
     expected; the exception that it raised is the cause."
);
create_exception!(_core, Cancelled, PyException, "The run was cancelled through its ticket.");

/// The exception for these errors, one line each.
pub(crate) fn scenario_error(errors: Vec<String>) -> PyErr {
    let excerpts = vec![Vec::new(); errors.len()];
    error_with(errors, excerpts)
}

/// The exception for the errors of a file: lines, and excerpts for each.
#[allow(clippy::needless_pass_by_value)] // as `map_err` has it
pub(crate) fn refused(errors: Diagnostics) -> PyErr {
    let shown = |excerpts: &Vec<Excerpt>| {
        excerpts.iter().map(|one| (one.line, one.text.clone(), one.before)).collect()
    };
    error_with(errors.lines().to_vec(), errors.excerpts().iter().map(shown).collect())
}

fn error_with(errors: Vec<String>, excerpts: Vec<Vec<(usize, String, usize)>>) -> PyErr {
    let error = ScenarioError::new_err(errors.join("\n"));
    Python::attach(|py| {
        let value = error.value(py);
        let set = value.setattr("errors", errors).and_then(|()| value.setattr("excerpts", excerpts));
        set.map_or_else(|other| other, |()| error.clone_ref(py))
    })
}

/// The exception for a law in Python whose `method` ended in `error` at this time of the run.
pub(crate) fn law_error(py: Python<'_>, error: PyErr, method: &'static str, time_s: f64) -> PyErr {
    if error.is_instance_of::<LawError>(py) {
        return error;
    }
    // An exception of the law's author may fail even in `str`.
    let message = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    let failure = LawError::new_err((message, time_s, method, ""));
    failure.set_cause(py, Some(error));
    failure
}
