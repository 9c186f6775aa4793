//! Scenarios, checked.

use crate::errors::scenario_error;
use crate::guests::Site;
use pyo3::prelude::*;
use sojourn_scenario as scenario;

/// A scenario that can run.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Scenario(pub(crate) scenario::Scenario);

#[pymethods]
impl Scenario {
    /// Reads the text of a scenario file; `overrides` are dotted keys with TOML values.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    #[pyo3(signature = (text, name, overrides = Vec::new()))]
    fn parse(text: &[u8], name: &str, overrides: Vec<(String, String)>) -> PyResult<Scenario> {
        scenario::Scenario::parse(text, name, &overrides)
            .map(Scenario)
            .map_err(|faults| scenario_error(faults.lines().to_vec()))
    }

    /// The same scenario with another disc in front of the bottleneck.
    fn with_disc(&self, spec: &str) -> PyResult<Scenario> {
        self.0.with_disc(spec).map(Scenario).map_err(|faults| scenario_error(faults.lines().to_vec()))
    }

    /// What would run, in text; under a law of the caller's own where a label is given.
    #[pyo3(signature = (label = None, parameters = ""))]
    fn describe(&self, label: Option<&str>, parameters: &str) -> String {
        label.map_or_else(|| self.0.describe(), |label| self.0.describe_under(label, parameters))
    }

    /// All keys, defaults filled in, as JSON.
    fn to_json(&self) -> String {
        self.0.to_json().to_string()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration.seconds()
    }

    /// The canonical label of the disc.
    #[getter]
    fn disc(&self) -> String {
        self.0.bottleneck.disc.to_string()
    }

    /// What a law at the bottleneck may know of its place.
    #[getter]
    fn site(&self) -> Site {
        self.0.site().into()
    }
}
