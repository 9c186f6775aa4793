//! Conversion of errors to exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_params::InputError;
use sojourn_scenario::{Diagnostic, Diagnostics, Location};

create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "An invalid scenario; `errors` has a line for each error, and `diagnostics` a dict with its parts."
);
create_exception!(
    _core,
    LawError,
    PyException,
    "A law written in Python failed. Its arguments: the message, the time in the run, s, the method, and what was \
     expected; the exception that it raised is the cause."
);
create_exception!(
    _core,
    LiveRefused,
    PyException,
    "The machine does not allow a live run. Its arguments: the step, the number of the system's error, and its text."
);
create_exception!(_core, Cancelled, PyException, "The run was cancelled through its ticket.");

/// The exception for errors of arguments.
pub(crate) fn invalid(errors: impl IntoIterator<Item = InputError>) -> PyErr {
    refused(Diagnostics::of_argument(errors))
}

/// The exception for the errors of a scenario.
#[allow(clippy::needless_pass_by_value)] // as `map_err` has it
pub(crate) fn refused(errors: Diagnostics) -> PyErr {
    let error = ScenarioError::new_err(errors.to_string());
    Python::attach(|py| {
        let data: PyResult<Vec<_>> = errors.list().iter().map(|one| data_of(py, one)).collect();
        let value = error.value(py);
        let set = value
            .setattr("errors", errors.lines())
            .and(data)
            .and_then(|data| value.setattr("diagnostics", data));
        set.map_or_else(|other| other, |()| error.clone_ref(py))
    })
}

/// An error as a dict: fields of `sojourn.errors.Diagnostic`; and the parts of its line, which are the `place`, the key
/// `inside` of that, and the `message`.
fn data_of<'py>(py: Python<'py>, diagnostic: &Diagnostic) -> PyResult<Bound<'py, PyDict>> {
    let error = &diagnostic.error;
    let data = PyDict::new(py);
    let (file, line, column) = match &diagnostic.location {
        Location::File { file, line, column } => (Some(file), Some(line), Some(column)),
        Location::Rest(file) => (Some(file), None, None),
        Location::Override { .. } | Location::Argument => (None, None, None),
    };
    let written = match &diagnostic.location {
        Location::Override { written, .. } => Some(written),
        _ => None,
    };
    let [place, inside, message] = diagnostic.parts();
    data.set_item("place", place)?;
    data.set_item("inside", inside)?;
    data.set_item("message", message)?;
    data.set_item("kind", error.kind.name())?;
    data.set_item("file", file)?;
    data.set_item("line", line)?;
    data.set_item("column", column)?;
    data.set_item("override", written)?;
    data.set_item("key", error.key.to_string())?;
    data.set_item("found", &error.found)?;
    data.set_item("problem", &error.problem)?;
    data.set_item("hint", &error.hint)?;
    data.set_item("expected", error.expected.text())?;
    data.set_item("drawing", diagnostic.drawing())?;
    Ok(data)
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
