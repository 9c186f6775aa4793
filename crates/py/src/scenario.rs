//! Scenarios, checked.

use crate::callbacks::{self, CustomLaw, Failure, LinkContext};
use crate::errors::{invalid, refused};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyTuple};
use sojourn_aqm::{Designed, DesignedQdisc, Law};
use sojourn_params::{ErrorKind, Expected, InputError, Value};
use sojourn_scenario as scenario;
use sojourn_scenario::Diagnostics;
use sojourn_sim::topology::CustomQdisc;
use sojourn_tcp::cc::Choice;
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// Files that a scenario names, each with its bytes.
type Contents = Vec<(String, Vec<u8>)>;

/// A scenario that can run.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Scenario {
    pub(crate) inner: scenario::Scenario,
    /// Templates of congestion controls in Python, each with the place of its group of flows.
    custom_ccs: Vec<(usize, Py<PyAny>)>,
    /// Its source, and the changes since it was read.
    source: Arc<Source>,
    changes: Vec<Py<PyTuple>>,
}

/// What a scenario was read from: the text of a file, or the dict of its keys; with overrides and the files that it
/// names.
struct Source {
    content: Py<PyAny>,
    name: String,
    overrides: Vec<(String, String)>,
    files: Contents,
}

impl Scenario {
    /// The scenario of one run; failures of its congestion controls in Python go into `failure`.
    pub(crate) fn for_a_run(&self, py: Python<'_>, failure: &Failure) -> PyResult<scenario::Scenario> {
        let mut scenario = self.inner.clone();
        for (group, template) in &self.custom_ccs {
            if let Some(flows) = scenario.flows.get_mut(*group) {
                flows.cc = callbacks::choice(template.bind(py), &flows.cc.to_string(), failure)?;
            }
        }
        Ok(scenario)
    }

    /// ACKs cost calls into Python.
    pub(crate) fn has_custom_ccs(&self) -> bool {
        !self.custom_ccs.is_empty()
    }

    /// One run's own copies of a law in Python, one for each link whose qdisc may be replaced.
    pub(crate) fn laws(&self, template: &Bound<'_, PyAny>, failure: &Failure) -> PyResult<Vec<Box<dyn Law>>> {
        let contexts = self.inner.contexts();
        let replaceable = self.inner.topology.replaceable();
        let start = |link: usize| -> PyResult<Box<dyn Law>> {
            Ok(callbacks::start(template, contexts[link], failure)?.law)
        };
        replaceable.map(start).collect()
    }

    /// One run's own copies of what is written in Python for the links whose qdisc may be replaced, in order, and whether
    /// packets cost calls into Python. The template's `form` is "law": of the only queue; "queues": the law of each
    /// queue of the scenario's qdisc; "qdisc": the whole; "shaped": the whole behind the shapers of the scenario's qdisc.
    pub(crate) fn customs(
        &self,
        template: &Bound<'_, PyAny>,
        failure: &Failure,
    ) -> PyResult<(Vec<CustomQdisc>, bool)> {
        let form: String = template.getattr("form")?.extract()?;
        let (links, contexts) = (&self.inner.topology.links, self.inner.contexts());
        let is_shaped = form == "shaped";
        let mut every_packet = form == "qdisc" || is_shaped;
        let mut customs: Vec<CustomQdisc> = Vec::new();
        for link in self.inner.topology.replaceable() {
            if form == "qdisc" || is_shaped {
                let classes = self.inner.flows.iter().map(|flows| flows.name.clone()).collect();
                let shapers = links[link].qdisc.clone().filter(|_| is_shaped);
                let context = shapers.as_ref().map_or(contexts[link], DesignedQdisc::queue_context);
                let build = callbacks::start_qdisc(template, context, classes, failure)?;
                customs.push(Box::new(move |place| {
                    let inner = build(place.limit, place.draws);
                    match shapers {
                        Some(shapers) => shapers.behind_shapers(inner),
                        None => inner,
                    }
                }));
                continue;
            }
            let qdisc = links[link].qdisc.as_ref().filter(|_| form == "queues");
            let context = qdisc.map_or(contexts[link], DesignedQdisc::queue_context);
            let CustomLaw { law, every_packet: judges } = callbacks::start(template, context, failure)?;
            every_packet |= judges;
            let Some(qdisc) = qdisc else {
                customs.push(sojourn_sim::topology::under_law(law));
                continue;
            };
            let qdisc = qdisc.under(Designed::custom(law)).ok_or_else(|| {
                let problem = "has no law for each of its queues";
                invalid([InputError::conflict(qdisc.name(), problem, "drr, wfq, prio or shaper")])
            })?;
            customs.push(Box::new(move |place| qdisc.build(place.limit, place.draws)));
        }
        Ok((customs, every_packet))
    }

    /// The same scenario after one more change: a method's name and its arguments.
    fn changed<'py, C>(
        &self,
        py: Python<'py>,
        inner: scenario::Scenario,
        custom_ccs: Vec<(usize, Py<PyAny>)>,
        change: C,
    ) -> PyResult<Scenario>
    where
        C: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    {
        let mut changes = self.changes(py);
        changes.push(change.into_pyobject(py)?.unbind());
        Ok(Scenario { inner, custom_ccs, source: self.source.clone(), changes })
    }

    /// The scenario with controls of the catalogue in the places of those in Python.
    fn listed(&self) -> scenario::Scenario {
        let mut inner = self.inner.clone();
        for (group, _) in &self.custom_ccs {
            let listed = ["newreno", "cubic", "dctcp"].map(Choice::from);
            if let Some(other) = listed.iter().find_map(|cc| inner.with_cc(&[*group], cc).ok()) {
                inner = other;
            }
        }
        inner
    }

    /// The same network, flows and changes, under equal congestion controls in Python.
    fn equals(&self, py: Python<'_>, other: &Scenario) -> PyResult<bool> {
        if self.custom_ccs.len() != other.custom_ccs.len() || self.listed() != other.listed() {
            return Ok(false);
        }
        for ((group, cc), (of, others)) in self.custom_ccs.iter().zip(&other.custom_ccs) {
            if group != of || !cc.bind(py).eq(others)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The congestion controls in Python of all groups but these.
    fn ccs_elsewhere(&self, py: Python<'_>, groups: &[usize]) -> Vec<(usize, Py<PyAny>)> {
        let elsewhere = self.custom_ccs.iter().filter(|(group, _)| !groups.contains(group));
        elsewhere.map(|(group, cc)| (*group, cc.clone_ref(py))).collect()
    }
}

#[pymethods]
impl Scenario {
    /// Reads the text of a scenario file, or a dict of its keys; `overrides` are dotted keys with TOML values, and
    /// `files` returns the bytes of a file that the scenario names.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    #[pyo3(signature = (content, name, overrides = Vec::new(), files = None))]
    fn parse(
        content: &Bound<'_, PyAny>,
        name: &str,
        overrides: Vec<(String, String)>,
        files: Option<Py<PyAny>>,
    ) -> PyResult<Scenario> {
        let beside: Rc<RefCell<Contents>> = Rc::default();
        let seen = beside.clone();
        let of_file = |problem: String| InputError::new(ErrorKind::File, problem, Expected::Unstated);
        let files: scenario::Files = Rc::new(move |name| {
            let missing = || of_file("is not there: this text has no files beside it".into());
            let files = files.as_ref().ok_or_else(missing)?;
            let bytes = read(files, name).map_err(of_file)?;
            let mut seen = seen.borrow_mut();
            if seen.iter().all(|(known, _)| known != name) {
                seen.push((name.into(), bytes.clone()));
            }
            Ok(bytes)
        });
        let scenario = if content.is_instance_of::<PyDict>() {
            scenario::Scenario::of_keys(&value_of(content, MOST_NESTED)?, &overrides, &files)
        } else {
            scenario::Scenario::parse_beside(content.extract()?, name, &overrides, &files)
        };
        let inner = scenario.map_err(refused)?;
        let content = content.clone().unbind();
        let source = Source { content, name: name.into(), overrides, files: beside.take() };
        Ok(Scenario { inner, custom_ccs: Vec::new(), source: source.into(), changes: Vec::new() })
    }

    /// The text of a scenario file with moved keys in their new places; None if none has moved.
    #[staticmethod]
    fn rewritten(text: &[u8], name: &str) -> PyResult<Option<String>> {
        scenario::rewritten(text, name).map_err(refused)
    }

    /// A scenario of a dict with the keys of a file; the files that it names are in `folder`.
    #[staticmethod]
    #[pyo3(signature = (keys, folder = None))]
    fn from_dict<'py>(
        keys: &Bound<'py, PyAny>,
        folder: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(keys.py())?.call_method1("_from_dict", (keys, folder))
    }

    /// The same scenario with other values of some keys.
    #[pyo3(signature = (**changes))]
    fn with_<'py>(
        slf: &Bound<'py, Self>,
        changes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match changes {
            None => Ok(slf.clone().into_any()),
            Some(changes) => helper(slf.py())?.call_method1("_changed", (slf, changes)),
        }
    }

    /// A scenario file with every default filled in, which reads back as this scenario beside its files. In the place
    /// of a congestion control in Python it has one of the catalogue.
    fn to_toml(&self) -> String {
        self.listed().to_toml()
    }

    /// The files that the scenario names: name -> bytes.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for (name, bytes) in &self.source.files {
            files.set_item(name, PyBytes::new(py, bytes))?;
        }
        Ok(files)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        other.cast::<Scenario>().map_or(Ok(false), |one| self.equals(other.py(), one.get()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.listed().shortest().to_toml().hash(&mut hasher);
        hasher.finish()
    }

    /// Makes it again of what it was read from and the changes since.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let arguments = (this.source(py), this.files(py)?, this.changes(py));
        Ok((helper(py)?.getattr("_made_again")?, arguments.into_pyobject(py)?.into_any()))
    }

    /// Text or keys, name and overrides that it was read from.
    #[getter]
    fn source(&self, py: Python<'_>) -> (Py<PyAny>, String, Vec<(String, String)>) {
        let Source { content, name, overrides, .. } = &*self.source;
        (content.clone_ref(py), name.clone(), overrides.clone())
    }

    /// The changes since it was read, as method names with their arguments.
    #[getter]
    fn changes(&self, py: Python<'_>) -> Vec<Py<PyTuple>> {
        self.changes.iter().map(|change| change.clone_ref(py)).collect()
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {:?}>", self.inner.title)
    }

    /// The scenario as tables, shown by notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        helper(slf.py())?.call_method1("_as_html", (slf,))
    }

    /// The same scenario, in which only the qdisc of this link is replaceable.
    fn at_link(&self, py: Python<'_>, link: &str) -> PyResult<Scenario> {
        let inner = self.inner.at_link(link).map_err(refused)?;
        self.changed(py, inner, self.ccs_elsewhere(py, &[]), ("at_link", link))
    }

    /// The same scenario with another qdisc at every link with a replaceable one.
    fn with_qdisc(&self, py: Python<'_>, spec: &str) -> PyResult<Scenario> {
        let inner = self.inner.with_qdisc(spec).map_err(refused)?;
        self.changed(py, inner, self.ccs_elsewhere(py, &[]), ("with_qdisc", spec))
    }

    /// The same scenario with another congestion control of the catalogue in these groups of flows.
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    fn with_cc(&self, py: Python<'_>, groups: Vec<usize>, spec: &str) -> PyResult<Scenario> {
        let cc = Choice::parse(spec).map_err(|errors| refused(Diagnostics::of_spec(spec, errors)))?;
        let inner = self.inner.with_cc(&groups, &cc).map_err(refused)?;
        let custom_ccs = self.ccs_elsewhere(py, &groups);
        self.changed(py, inner, custom_ccs, ("with_cc", groups, spec))
    }

    /// The same scenario with a congestion control in Python, called `label`, in these groups of flows.
    #[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
    fn with_custom_cc(
        &self,
        groups: Vec<usize>,
        template: &Bound<'_, PyAny>,
        label: &str,
    ) -> PyResult<Scenario> {
        let choice = callbacks::choice(template, label, &Failure::default())?;
        let inner = self.inner.with_cc(&groups, &choice).map_err(refused)?;
        let mut custom_ccs = self.ccs_elsewhere(template.py(), &groups);
        custom_ccs.extend(groups.iter().map(|group| (*group, template.clone().unbind())));
        self.changed(template.py(), inner, custom_ccs, ("with_custom_cc", groups, template, label))
    }

    /// The templates of congestion controls in Python with the places of their groups of flows.
    #[getter]
    fn custom_ccs(&self, py: Python<'_>) -> Vec<(usize, Py<PyAny>)> {
        self.ccs_elsewhere(py, &[])
    }

    /// Their labels, in the same order.
    #[getter]
    fn custom_labels(&self) -> Vec<String> {
        self.custom_ccs.iter().map(|(group, _)| self.inner.flows[*group].cc.to_string()).collect()
    }

    /// The run in text; under a law in Python where a label is given.
    #[pyo3(signature = (label = None, parameters = ""))]
    fn describe(&self, label: Option<&str>, parameters: &str) -> String {
        match label {
            None => sojourn_describe::describe(&self.inner),
            Some(label) => sojourn_describe::describe_under(&self.inner, label, parameters),
        }
    }

    /// All keys, defaults filled in, as JSON.
    fn to_json(&self) -> String {
        self.inner.to_json().to_string()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.duration.seconds()
    }

    /// The canonical label of the qdisc, or of each different one.
    #[getter]
    fn qdisc(&self) -> String {
        self.inner.qdisc_label()
    }

    /// Warnings about valid but surprising settings, a sentence each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        sojourn_describe::warnings(&self.inner)
    }

    /// The context of each queue of a replaceable qdisc; at least one.
    #[getter]
    fn queue_contexts(&self) -> Vec<LinkContext> {
        let (links, contexts) = (&self.inner.topology.links, self.inner.contexts());
        let context = |link: usize| {
            links[link].qdisc.as_ref().map_or(contexts[link], DesignedQdisc::queue_context).into()
        };
        self.inner.topology.replaceable().map(context).collect()
    }

    /// The context of each replaceable law; at least one.
    #[getter]
    fn contexts(&self) -> Vec<LinkContext> {
        let contexts = self.inner.contexts();
        self.inner.topology.replaceable().map(|link| contexts[link].into()).collect()
    }
}

/// The module with the parts of scenarios that are written in Python.
fn helper(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("sojourn.scenario")
}

/// The value of a dict, a list or a scalar, at most so many levels deep; keys of None are not given.
fn value_of(value: &Bound<'_, PyAny>, levels: usize) -> PyResult<Value> {
    let Some(levels) = levels.checked_sub(1) else {
        let error =
            InputError::new(ErrorKind::Syntax, "are nested too deeply", "the keys of a scenario file");
        return Err(invalid([error.at("keys")]));
    };
    if let Ok(table) = value.cast::<PyDict>() {
        let given = table.iter().filter(|(_, value)| !value.is_none());
        let entries = given.map(|(key, value)| Ok((key.extract()?, value_of(&value, levels)?)));
        return entries.collect::<PyResult<_>>().map(Value::Table);
    }
    if let Ok(list) = value.cast::<PyList>() {
        return list.iter().map(|item| value_of(&item, levels)).collect::<PyResult<_>>().map(Value::List);
    }
    Ok(if value.is_none() {
        Value::Absent
    } else if let Ok(flag) = value.cast::<PyBool>() {
        Value::Flag(flag.is_true())
    } else if value.is_instance_of::<PyInt>() {
        Value::Whole(value.extract()?)
    } else if value.is_instance_of::<PyFloat>() {
        Value::Number(value.extract()?)
    } else {
        Value::Text(value.extract()?)
    })
}

/// Levels of keys inside each other, as in TOML.
const MOST_NESTED: usize = 80;

/// The bytes of a file, read by Python; or its error.
fn read(files: &Py<PyAny>, name: &str) -> Result<Vec<u8>, String> {
    Python::attach(|py| {
        let bytes = files.call1(py, (name,)).and_then(|bytes| bytes.extract::<Vec<u8>>(py));
        bytes.map_err(|error| error.value(py).to_string())
    })
}
