//! Scenarios, checked.

use crate::errors::{refused, scenario_error};
use crate::guests::{self, Failure, Site};
use pyo3::prelude::*;
use sojourn_scenario as scenario;
use sojourn_tcp::cc::Choice;
use std::rc::Rc;

/// A scenario that can run.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Scenario {
    pub(crate) scenario: scenario::Scenario,
    /// Congestion controls in Python and the places of their groups of flows.
    guests: Vec<(usize, Py<PyAny>)>,
}

impl Scenario {
    /// The scenario of one run, in which guests leave their failures in `failure`.
    pub(crate) fn for_a_run(&self, py: Python<'_>, failure: &Failure) -> PyResult<scenario::Scenario> {
        let mut scenario = self.scenario.clone();
        for (group, template) in &self.guests {
            if let Some(flows) = scenario.flows.get_mut(*group) {
                flows.cc = guests::choice(template.bind(py), &flows.cc.to_string(), failure)?;
            }
        }
        Ok(scenario)
    }

    /// Whether Python is told of ACKs.
    pub(crate) fn has_guests(&self) -> bool {
        !self.guests.is_empty()
    }

    /// The guests of all groups but these.
    fn guests_elsewhere(&self, py: Python<'_>, groups: &[usize]) -> Vec<(usize, Py<PyAny>)> {
        let elsewhere = self.guests.iter().filter(|(group, _)| !groups.contains(group));
        elsewhere.map(|(group, guest)| (*group, guest.clone_ref(py))).collect()
    }
}

#[pymethods]
impl Scenario {
    /// Reads the text of a scenario file; `overrides` are dotted keys with TOML values, and `files` hands over the
    /// bytes of a file that the scenario names.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    #[pyo3(signature = (text, name, overrides = Vec::new(), files = None))]
    fn parse(
        text: &[u8],
        name: &str,
        overrides: Vec<(String, String)>,
        files: Option<Py<PyAny>>,
    ) -> PyResult<Scenario> {
        let scenario = match files {
            None => scenario::Scenario::parse(text, name, &overrides),
            Some(files) => {
                let files: scenario::Files = Rc::new(move |name| read(&files, name));
                scenario::Scenario::parse_beside(text, name, &overrides, &files)
            }
        };
        Ok(Scenario { scenario: scenario.map_err(refused)?, guests: Vec::new() })
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {:?}>", self.scenario.title)
    }

    /// The same scenario, in which only the disc of this link gives way to another one.
    fn at_link(&self, py: Python<'_>, link: &str) -> PyResult<Scenario> {
        let scenario = self.scenario.at_link(link).map_err(refused)?;
        Ok(Scenario { scenario, guests: self.guests_elsewhere(py, &[]) })
    }

    /// The same scenario with another disc, at every link whose disc may be replaced.
    fn with_disc(&self, py: Python<'_>, spec: &str) -> PyResult<Scenario> {
        let scenario = self.scenario.with_disc(spec).map_err(refused)?;
        Ok(Scenario { scenario, guests: self.guests_elsewhere(py, &[]) })
    }

    /// The same scenario with another congestion control of the catalogue in these groups of flows.
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    fn with_cc(&self, py: Python<'_>, groups: Vec<usize>, spec: &str) -> PyResult<Scenario> {
        let name = spec.split(':').next().unwrap_or_default().trim();
        let cc = Choice::parse(spec).map_err(|fault| match fault.key.as_str() {
            "" => scenario_error(vec![fault.what]),
            _ => scenario_error(vec![fault.inside(name).to_string()]),
        })?;
        let scenario = self.scenario.with_cc(&groups, &cc).map_err(refused)?;
        Ok(Scenario { scenario, guests: self.guests_elsewhere(py, &groups) })
    }

    /// The same scenario with a congestion control of the caller's own, called `label`, in these groups of flows.
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    fn with_guest(&self, groups: Vec<usize>, template: &Bound<'_, PyAny>, label: &str) -> PyResult<Scenario> {
        let choice = guests::choice(template, label, &Failure::default())?;
        let scenario = self.scenario.with_cc(&groups, &choice).map_err(refused)?;
        let mut guests = self.guests_elsewhere(template.py(), &groups);
        guests.extend(groups.into_iter().map(|group| (group, template.clone().unbind())));
        Ok(Scenario { scenario, guests })
    }

    /// The congestion controls in Python with the places of their groups of flows.
    #[getter]
    fn guests(&self, py: Python<'_>) -> Vec<(usize, Py<PyAny>)> {
        self.guests_elsewhere(py, &[])
    }

    /// What would run, in text; under a law of the caller's own where a label is given.
    #[pyo3(signature = (label = None, parameters = ""))]
    fn describe(&self, label: Option<&str>, parameters: &str) -> String {
        label
            .map_or_else(|| self.scenario.describe(), |label| self.scenario.describe_under(label, parameters))
    }

    /// All keys, defaults filled in, as JSON.
    fn to_json(&self) -> String {
        self.scenario.to_json().to_string()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.duration.seconds()
    }

    /// The canonical label of the disc, or of each different one.
    #[getter]
    fn disc(&self) -> String {
        self.scenario.disc_label()
    }

    /// What is legal and will surprise, a sentence each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.scenario.notes()
    }

    /// What the law of each link whose disc may be replaced may know of its place; at least one.
    #[getter]
    fn sites(&self) -> Vec<Site> {
        let sites = self.scenario.sites();
        self.scenario.topology.replaceable().map(|link| sites[link].into()).collect()
    }
}

/// What Python reads of a file; or what it says of it.
fn read(files: &Py<PyAny>, name: &str) -> Result<Vec<u8>, String> {
    Python::attach(|py| {
        let bytes = files.call1(py, (name,)).and_then(|bytes| bytes.extract::<Vec<u8>>(py));
        bytes.map_err(|fault| fault.value(py).to_string())
    })
}
