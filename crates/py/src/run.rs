//! Runs.

use crate::errors::{Cancelled, scenario_error};
use crate::guests::{Failure, Seated, seat};
use crate::scenario::Scenario;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};
use sojourn_sim::{Balance, Elsewhere, LinkOutcome, Metric, Metrics, Outcome, Row, Series};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A run's progress, and the way to stop it, from another thread.
#[pyclass(frozen, module = "sojourn._core")]
#[derive(Clone, Default)]
pub(crate) struct Ticket(Arc<Shared>);

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    /// The bits of a double.
    progress: AtomicU64,
}

impl Ticket {
    fn check(&self) -> PyResult<()> {
        let cancelled = self.0.cancelled.load(Ordering::Relaxed);
        if cancelled { Err(Cancelled::new_err("the run was cancelled")) } else { Ok(()) }
    }
}

#[pymethods]
impl Ticket {
    #[new]
    fn new() -> Ticket {
        Ticket::default()
    }

    /// Stops the run at its next step.
    fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// The share of simulated time that is done, 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        f64::from_bits(self.0.progress.load(Ordering::Relaxed))
    }
}

/// The outcome of a run.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Run {
    links: Vec<Arc<LinkOutcome>>,
    elsewhere: Arc<Elsewhere>,
    events: u64,
    cpu_s: f64,
}

/// The outcome of a run at one link, or for the classes that no link sees.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct LinkRun(Sight);

enum Sight {
    Link(Arc<LinkOutcome>),
    Elsewhere(Arc<Elsewhere>),
}

/// Runs a scenario on the packet plant, without Python's lock; under `laws`, where there are any, one for each of the
/// scenario's sites in their order.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
#[pyo3(signature = (scenario, seed, ticket, laws = Vec::new()))]
pub(crate) fn run(
    scenario: &Bound<'_, Scenario>,
    seed: u64,
    ticket: &Ticket,
    laws: Vec<Bound<'_, PyAny>>,
) -> PyResult<Run> {
    let (py, given) = (scenario.py(), scenario.get());
    let failure = Failure::default();
    let seated = laws.iter().map(|law| seat(law, &failure)).collect::<PyResult<Vec<Seated>>>()?;
    let law_judges = seated.iter().any(|law| law.every_packet);
    let own = seated.into_iter().map(|seated| seated.law).collect();
    let scenario = given.for_a_run(py, &failure)?;
    let every_packet = law_judges || given.has_guests();
    py.detach(|| {
        let start = thread_cpu_seconds();
        let mut run = sojourn_sim::Run::with_laws(&scenario, seed, own).map_err(refused)?;
        drive(&mut run, ticket, &failure, every_packet)?;
        let Outcome { links, elsewhere, counts } = run.finish();
        let (links, elsewhere) = (links.into_iter().map(Arc::new).collect(), Arc::new(elsewhere));
        let events = counts.events + counts.arrivals;
        Ok(Run { links, elsewhere, events, cpu_s: thread_cpu_seconds() - start })
    })
}

/// Lets the run go to its end, or until it is cancelled or what is written in Python has failed.
fn drive(run: &mut sojourn_sim::Run, ticket: &Ticket, failure: &Failure, every_packet: bool) -> PyResult<()> {
    let mut more = true;
    while more {
        ticket.check()?;
        more = if every_packet { advance_holding_the_lock(run) } else { run.advance() };
        ticket.0.progress.store(run.progress().to_bits(), Ordering::Relaxed);
        if let Some(error) = failure.take() {
            // A law that did not come back is stopped by an exception, which is not its own failure.
            return ticket.check().and(Err(error));
        }
    }
    Ok(())
}

/// One turn with a law that is asked about packets, or a congestion control that is told of ACKs. Taking Python's lock
/// for each of them makes a call half as dear again, and two runs would wait for each other at every packet. A law at
/// work gives the lock away now and then by itself, as all code in Python does.
fn advance_holding_the_lock(run: &mut sojourn_sim::Run) -> bool {
    Python::attach(|_| run.advance())
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` has it
fn refused(fault: sojourn_units::Fault) -> PyErr {
    scenario_error(vec![fault.to_string()])
}

#[pymethods]
impl Run {
    /// What was seen at each link that has a disc; last, where there are any, of the classes that cross none.
    #[getter]
    fn links(&self) -> Vec<LinkRun> {
        let links = self.links.iter().map(|link| Sight::Link(link.clone()));
        let elsewhere = Some(&self.elsewhere).filter(|elsewhere| !elsewhere.classes.is_empty());
        links.chain(elsewhere.cloned().map(Sight::Elsewhere)).map(LinkRun).collect()
    }

    /// Events that happened, and packets that came to shared links.
    #[getter]
    fn events(&self) -> u64 {
        self.events
    }

    /// CPU time of the run, s.
    #[getter]
    fn cpu_s(&self) -> f64 {
        self.cpu_s
    }
}

#[pymethods]
impl LinkRun {
    /// The link's name; None for the classes that no link sees.
    #[getter]
    fn link(&self) -> Option<&str> {
        match &self.0 {
            Sight::Link(link) => Some(&link.link),
            Sight::Elsewhere(_) => None,
        }
    }

    /// The label of the link's disc; None where there is no link, and where a law of the caller's own stood in its place.
    #[getter]
    fn disc(&self) -> Option<&str> {
        match &self.0 {
            Sight::Link(link) => link.disc.as_deref(),
            Sight::Elsewhere(_) => None,
        }
    }

    /// JSON objects with the keys metrics and conservation, these packets of the whole run: first of all packets, then,
    /// with the key class, of those of each class, where classes are told apart. Where there is no link, only those of
    /// classes, and no packets.
    #[getter]
    fn rows_json(&self) -> String {
        let rows: Vec<Value> = match &self.0 {
            Sight::Link(link) => {
                let classes = link.classes.iter().map(|(class, row)| row_of(row, Some(class)));
                std::iter::once(row_of(&link.all, None)).chain(classes).collect()
            }
            Sight::Elsewhere(elsewhere) => {
                let classes = elsewhere.classes.iter();
                classes.map(|(class, metrics)| row(metrics, Some(class), json!({}))).collect()
            }
        };
        Value::Array(rows).to_string()
    }

    /// The series by name, `time_s` first, all equally long.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, values) in self.sampled().columns() {
            columns.set_item(name, PyArray1::from_slice(py, values))?;
        }
        Ok(columns)
    }

    /// Distributions by name: values, and the share at or below.
    #[getter]
    fn distributions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        if let Sight::Link(link) = &self.0 {
            let (values, shares): (Vec<f64>, Vec<f64>) = link.sojourn_distribution.iter().copied().unzip();
            columns.set_item("sojourn_s", (values.into_pyarray(py), shares.into_pyarray(py)))?;
        }
        Ok(columns)
    }
}

impl LinkRun {
    fn sampled(&self) -> &Series {
        match &self.0 {
            Sight::Link(link) => &link.series,
            Sight::Elsewhere(elsewhere) => &elsewhere.series,
        }
    }
}

fn row_of(of: &Row, class: Option<&String>) -> Value {
    let Balance { offered, delivered, dropped, held } = of.balance;
    let packets = json!({ "offered": offered, "delivered": delivered, "dropped": dropped, "held": held });
    row(&of.metrics, class, packets)
}

#[allow(clippy::needless_pass_by_value)] // as `json!` has it
fn row(metrics: &Metrics, class: Option<&String>, packets: Value) -> Value {
    let metrics = metrics.iter().map(|(name, metric)| ((*name).to_string(), json_of(metric)));
    json!({ "class": class, "metrics": metrics.collect::<Map<String, Value>>(), "conservation": packets })
}

fn json_of(metric: &Metric) -> Value {
    match metric {
        Metric::Absent => Value::Null,
        Metric::Number(number) => json!(number),
        Metric::List(items) => json!(items),
    }
}

/// CPU time of this thread, s: Python's `time.thread_time`.
fn thread_cpu_seconds() -> f64 {
    let read = |py: Python<'_>| py.import("time")?.call_method0("thread_time")?.extract::<f64>();
    Python::attach(|py| read(py).unwrap_or(f64::NAN))
}
