//! Runs.

mod seen;

use crate::errors::{Cancelled, scenario_error};
use crate::guests::{Failure, Seated, seat};
use crate::scenario::Scenario;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seen::Seen;
use serde_json::Value;
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
    seen: Vec<Arc<Seen>>,
    events: u64,
    cpu_s: f64,
}

/// The outcome of a run at one link, or for the classes that no link sees.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct LinkRun(Arc<Seen>);

/// Runs a scenario on a plant, `packet` or `fluid`, without Python's lock; under `laws`, where there are any, one for
/// each of the scenario's sites in their order.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
#[pyo3(signature = (scenario, seed, ticket, laws = Vec::new(), plant = "packet"))]
pub(crate) fn run(
    scenario: &Bound<'_, Scenario>,
    seed: u64,
    ticket: &Ticket,
    laws: Vec<Bound<'_, PyAny>>,
    plant: &str,
) -> PyResult<Run> {
    let (py, given) = (scenario.py(), scenario.get());
    let failure = Failure::default();
    let seated = laws.iter().map(|law| seat(law, &failure)).collect::<PyResult<Vec<Seated>>>()?;
    let law_judges = seated.iter().any(|law| law.every_packet);
    let own = seated.into_iter().map(|seated| seated.law).collect();
    let scenario = given.for_a_run(py, &failure)?;
    let every_packet = law_judges || given.has_guests();
    let is_fluid = match plant {
        "packet" => false,
        "fluid" => true,
        _ => return Err(scenario_error(vec![format!("plant: \"{plant}\" is none; legal: packet, fluid")])),
    };
    py.detach(|| {
        let start = thread_cpu_seconds();
        let (seen, events) = if is_fluid {
            let mut run = sojourn_fluid::Run::with_laws(&scenario, own).map_err(refused)?;
            drive(&mut run, ticket, &failure)?;
            let steps = run.steps();
            (seen::of_fluid(run.finish()), steps)
        } else {
            let run = sojourn_sim::Run::with_laws(&scenario, seed, own).map_err(refused)?;
            let mut run = Packets { run, every_packet };
            drive(&mut run, ticket, &failure)?;
            let outcome = run.run.finish();
            let events = outcome.counts.events + outcome.counts.arrivals;
            (seen::of_packets(outcome), events)
        };
        let seen = seen.into_iter().map(Arc::new).collect();
        Ok(Run { seen, events, cpu_s: thread_cpu_seconds() - start })
    })
}

/// Refuses a scenario that the fluid plant has no model of, with a line for each thing that it lacks. Where laws of the
/// caller's own stand in the places of the discs that may be replaced, those discs need none.
#[pyfunction]
#[pyo3(signature = (scenario, own_laws = false))]
pub(crate) fn check_fluid(scenario: &Bound<'_, Scenario>, own_laws: bool) -> PyResult<()> {
    let scenario = scenario.get().for_a_run(scenario.py(), &Failure::default())?;
    let faults = sojourn_fluid::faults(&scenario, own_laws);
    let told = faults.iter().map(ToString::to_string).collect::<Vec<_>>();
    if told.is_empty() { Ok(()) } else { Err(scenario_error(told)) }
}

/// A run in one of the plants.
trait Drive {
    /// Goes on for a moment; says whether there is more.
    fn advance(&mut self) -> bool;
    /// The share of simulated time that is done.
    fn progress(&self) -> f64;
}

/// A run of the packet plant.
struct Packets {
    run: sojourn_sim::Run,
    /// Whether Python is asked about each packet.
    every_packet: bool,
}

impl Drive for Packets {
    fn advance(&mut self) -> bool {
        if self.every_packet { advance_holding_the_lock(&mut self.run) } else { self.run.advance() }
    }
    fn progress(&self) -> f64 {
        self.run.progress()
    }
}

impl Drive for sojourn_fluid::Run {
    fn advance(&mut self) -> bool {
        sojourn_fluid::Run::advance(self)
    }
    fn progress(&self) -> f64 {
        sojourn_fluid::Run::progress(self)
    }
}

/// Lets the run go to its end, or until it is cancelled or what is written in Python has failed.
fn drive(run: &mut impl Drive, ticket: &Ticket, failure: &Failure) -> PyResult<()> {
    let mut more = true;
    while more {
        ticket.check()?;
        more = run.advance();
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
        self.seen.iter().cloned().map(LinkRun).collect()
    }

    /// Events that happened, and packets that came to shared links; of a fluid, steps.
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
        self.0.link.as_deref()
    }

    /// The label of the link's disc; None where there is no link, and where a law of the caller's own stood in its place.
    #[getter]
    fn disc(&self) -> Option<&str> {
        self.0.disc.as_deref()
    }

    /// JSON objects with the keys metrics and conservation, these packets of the whole run: first of all packets, then,
    /// with the key class, of those of each class, where classes are told apart. Where there is no link, only those of
    /// classes, and no packets; of a fluid there are no packets either.
    #[getter]
    fn rows_json(&self) -> String {
        Value::from(self.0.rows.clone()).to_string()
    }

    /// The series by name, `time_s` first, all equally long.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, values) in &self.0.series {
            columns.set_item(name, PyArray1::from_slice(py, values))?;
        }
        Ok(columns)
    }

    /// Distributions by name: values, and the share at or below.
    #[getter]
    fn distributions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        if self.0.link.is_some() {
            let (values, shares): (Vec<f64>, Vec<f64>) = self.0.sojourns.iter().copied().unzip();
            columns.set_item("sojourn_s", (values.into_pyarray(py), shares.into_pyarray(py)))?;
        }
        Ok(columns)
    }
}

/// CPU time of this thread, s: Python's `time.thread_time`.
fn thread_cpu_seconds() -> f64 {
    let read = |py: Python<'_>| py.import("time")?.call_method0("thread_time")?.extract::<f64>();
    Python::attach(|py| read(py).unwrap_or(f64::NAN))
}
