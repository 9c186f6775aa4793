//! Parameters that a law is given while it works.

use super::law::nothing;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_aqm::Given;
use sojourn_units::{Time, Value};

/// Calls the object's `retune` with each parameter under its name.
pub(super) fn given_to(object: &Bound<'_, PyAny>, given: &Given, now: Time) -> PyResult<()> {
    let py = object.py();
    let named = PyDict::new(py);
    for (key, value) in given {
        named.set_item(key, as_python(py, value)?)?;
    }
    nothing("retune", &object.call_method("retune", (), Some(&named))?, now)
}

/// The value as the scenario has it.
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
