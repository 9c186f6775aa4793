//! The only place where errors become exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use sojourn_scenario::{Excerpt, Faults};

create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot run; `faults` has a line for each fault, and `excerpts` the lines of the file that show each."
);
create_exception!(
    _core,
    LawError,
    PyException,
    "A law written in Python failed. Its arguments: what it did, when in the run, s, in which method, and what is legal \
     there; what it raised is the cause."
);
create_exception!(_core, Cancelled, PyException, "The run was cancelled through its ticket.");

/// The exception for these faults, one line each.
pub(crate) fn scenario_error(faults: Vec<String>) -> PyErr {
    let excerpts = vec![Vec::new(); faults.len()];
    error_with(faults, excerpts)
}

/// The exception for the faults of a file: lines, and what shows each of them.
#[allow(clippy::needless_pass_by_value)] // as `map_err` has it
pub(crate) fn refused(faults: Faults) -> PyErr {
    let shown = |excerpts: &Vec<Excerpt>| {
        excerpts.iter().map(|one| (one.line, one.text.clone(), one.before)).collect()
    };
    error_with(faults.lines().to_vec(), faults.excerpts().iter().map(shown).collect())
}

fn error_with(faults: Vec<String>, excerpts: Vec<Vec<(usize, String, usize)>>) -> PyErr {
    let error = ScenarioError::new_err(faults.join("\n"));
    Python::attach(|py| {
        let value = error.value(py);
        let set = value.setattr("faults", faults).and_then(|()| value.setattr("excerpts", excerpts));
        set.map_or_else(|other| other, |()| error.clone_ref(py))
    })
}

/// The exception for a law in Python whose `method` ended in `error` at this time of the run.
pub(crate) fn law_error(py: Python<'_>, error: PyErr, method: &'static str, time_s: f64) -> PyErr {
    if error.is_instance_of::<LawError>(py) {
        return error;
    }
    // An exception of the law's author may fail even to say what it is.
    let said = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    let failure = LawError::new_err((said, time_s, method, ""));
    failure.set_cause(py, Some(error));
    failure
}
