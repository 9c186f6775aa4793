//! Runs.

mod link_run;
mod live;
mod records;

use crate::callbacks::Failure;
use crate::errors::{Cancelled, invalid};
use crate::scenario::Scenario;
pub(crate) use link_run::LinkRun;
use live::{Live, LiveFacts};
pub(crate) use live::{Shell, check_live, end_with_parent, leave_machine};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use records::Request;
pub(crate) use records::check_records;
use sojourn_measure::WindowRow;
use sojourn_params::InputError;
use sojourn_sim::RecordedRun;
use sojourn_sim::record::Records;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A window with its start and end, s; link, class and queue; metrics.
type WindowCells<'py> =
    (String, (f64, f64), (Option<String>, Option<String>, Option<String>), Bound<'py, PyDict>);

/// Progress and cancellation of a run, from another thread.
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
        if self.cancelled() { Err(Cancelled::new_err("the run was cancelled")) } else { Ok(()) }
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

    /// The run was cancelled.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// Raises `Cancelled` if the run was cancelled.
    #[pyo3(name = "check")]
    fn raise_if_cancelled(&self) -> PyResult<()> {
        self.check()
    }

    /// The share of simulated time that is done, 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        f64::from_bits(self.0.progress.load(Ordering::Relaxed))
    }

    /// Sets that share, of a run in another process.
    #[setter]
    fn set_progress(&self, share: f64) {
        self.0.progress.store(share.to_bits(), Ordering::Relaxed);
    }
}

/// The outcome of a run.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Run {
    links: Vec<Py<LinkRun>>,
    /// Rows of windows of time, each with its window as the scenario has it.
    windows: Vec<(String, WindowRow)>,
    events: u64,
    cpu_s: f64,
    /// Of the live plant.
    facts: Option<LiveFacts>,
}

/// A plant of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlantKind {
    Packet,
    Fluid,
    Live,
}

impl PlantKind {
    fn named(name: &str) -> PyResult<PlantKind> {
        match name {
            "packet" => Ok(PlantKind::Packet),
            "fluid" => Ok(PlantKind::Fluid),
            "live" => Ok(PlantKind::Live),
            _ => {
                let known = ["packet", "fluid", "live"];
                Err(invalid([InputError::unknown_name(name, "is no plant", known).at("plant")]))
            }
        }
    }
}

/// Runs a scenario on a plant, `packet`, `fluid` or `live`, without Python's lock; under a law in Python where
/// there is a template of one. `records` are to be made of a run of packets: kind, subject and path of each. A live run
/// writes the calls of its qdisc to the file `trace`, and its process has left the machine's network.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
#[pyo3(signature = (scenario, seed, ticket, law = None, plant = "packet", records = None, trace = None))]
pub(crate) fn run(
    scenario: &Bound<'_, Scenario>,
    seed: u64,
    ticket: &Ticket,
    law: Option<&Bound<'_, PyAny>>,
    plant: &str,
    records: Option<Vec<Request>>,
    trace: Option<PathBuf>,
) -> PyResult<Run> {
    let (py, given) = (scenario.py(), scenario.get());
    let failure = Failure::default();
    let scenario = given.for_a_run(py, &failure)?;
    let plant = PlantKind::named(plant)?;
    let refused_here = scenario.refuse_kernels();
    if plant == PlantKind::Packet && !refused_here.is_empty() {
        return Err(invalid(refused_here));
    }
    let (mut laws, mut customs, mut every_packet) = (Vec::new(), Vec::new(), given.has_custom_ccs());
    match law {
        Some(law) if plant == PlantKind::Fluid => laws = given.laws(law, &failure)?,
        Some(law) => {
            let (own, judges) = given.customs(law, &failure)?;
            (customs, every_packet) = (own, every_packet || judges);
        }
        None => {}
    }
    let requests = records.unwrap_or_default();
    let records = (!requests.is_empty()).then(|| records::records(&scenario, &requests)).transpose()?;
    let names: Vec<String> = scenario.windows.iter().map(ToString::to_string).collect();
    let ((outcome, windows, facts), cpu_s) = py.detach(|| {
        let start = thread_cpu_seconds();
        let outcome = if plant == PlantKind::Live {
            let mut run = Live::new(&scenario, seed, (customs, every_packet), trace.as_deref())?;
            drive(&mut run, ticket, &failure)?;
            let (outcome, windows, facts) = run.finish()?;
            (outcome, windows, Some(facts))
        } else if plant == PlantKind::Fluid {
            let mut run = sojourn_fluid::Run::with_laws(&scenario, laws).map_err(refused)?;
            drive(&mut run, ticket, &failure)?;
            without_facts(run.finish_with_windows())
        } else if let Some(records) = records {
            let run = RecordedRun::new(&scenario, seed, customs, records);
            let mut run = Packets { run, every_packet };
            drive(&mut run, ticket, &failure)?;
            let (outcome, windows, records) = run.run.finish();
            check_written(&records)?;
            (outcome, windows, None)
        } else {
            let run = sojourn_sim::Run::with_qdiscs(&scenario, seed, customs);
            let mut run = Packets { run, every_packet };
            drive(&mut run, ticket, &failure)?;
            without_facts(run.run.finish_with_windows())
        };
        Ok::<_, PyErr>((outcome, thread_cpu_seconds() - start))
    })?;
    let events = outcome.events;
    let links =
        LinkRun::of_outcome(outcome).into_iter().map(|link| Py::new(py, link)).collect::<PyResult<_>>()?;
    let windows = windows.into_iter().map(|row| (names[row.entry].clone(), row)).collect();
    Ok(Run { links, windows, events, cpu_s, facts })
}

fn without_facts<A, B>((outcome, windows): (A, B)) -> (A, B, Option<LiveFacts>) {
    (outcome, windows, None)
}

/// Rejects a scenario that the packet plant does not simulate, with a line for each unsupported part.
#[pyfunction]
pub(crate) fn check_packet(scenario: &Bound<'_, Scenario>) -> PyResult<()> {
    let scenario = scenario.get().for_a_run(scenario.py(), &Failure::default())?;
    let errors = scenario.refuse_kernels();
    if errors.is_empty() { Ok(()) } else { Err(invalid(errors)) }
}

/// Rejects a scenario that the fluid plant does not model, with a line for each unsupported part. With `own_laws`
/// custom laws replace the replaceable qdiscs, which then need no model.
#[pyfunction]
#[pyo3(signature = (scenario, own_laws = false))]
pub(crate) fn check_fluid(scenario: &Bound<'_, Scenario>, own_laws: bool) -> PyResult<()> {
    let scenario = scenario.get().for_a_run(scenario.py(), &Failure::default())?;
    let errors = sojourn_fluid::errors(&scenario, own_laws);
    if errors.is_empty() { Ok(()) } else { Err(invalid(errors)) }
}

/// A run in one of the plants.
trait Drive {
    /// Advances for some milliseconds; returns whether there is more.
    fn advance(&mut self) -> bool;
    /// The share of simulated time that is done.
    fn progress(&self) -> f64;
    /// Ends it soon, such that what has been measured is its outcome; returns false where that cannot be.
    fn end_early(&mut self) -> bool {
        false
    }
    /// Raises the error of a record that could not be written.
    fn check_records(&mut self) -> PyResult<()> {
        Ok(())
    }
}

/// A run of the packet plant.
struct Packets<R> {
    run: R,
    /// Packets cost calls into Python.
    every_packet: bool,
}

impl Drive for Packets<sojourn_sim::Run> {
    fn advance(&mut self) -> bool {
        let run = &mut self.run;
        if self.every_packet { holding_the_lock(|| run.advance()) } else { run.advance() }
    }
    fn progress(&self) -> f64 {
        self.run.progress()
    }
}

impl Drive for Packets<RecordedRun> {
    fn advance(&mut self) -> bool {
        let run = &mut self.run;
        if self.every_packet { holding_the_lock(|| run.advance()) } else { run.advance() }
    }
    fn progress(&self) -> f64 {
        self.run.progress()
    }
    fn check_records(&mut self) -> PyResult<()> {
        check_written(self.run.records())
    }
}

fn check_written(records: &Records) -> PyResult<()> {
    records.failure().map_or(Ok(()), |failure| Err(records::unwritten(failure)))
}

impl Drive for sojourn_fluid::Run {
    fn advance(&mut self) -> bool {
        sojourn_fluid::Run::advance(self)
    }
    fn progress(&self) -> f64 {
        sojourn_fluid::Run::progress(self)
    }
}

/// Advances the run to its end, or until it is cancelled or custom code has failed.
fn drive(run: &mut impl Drive, ticket: &Ticket, failure: &Failure) -> PyResult<()> {
    let mut more = true;
    while more {
        if !run_goes_on(run, ticket) {
            ticket.check()?;
        }
        more = run.advance();
        run.check_records()?;
        ticket.0.progress.store(run.progress().to_bits(), Ordering::Relaxed);
        if let Some(error) = failure.take() {
            // A law that does not return is stopped by an exception, which is not its failure.
            return ticket.check().and(Err(error));
        }
    }
    Ok(())
}

/// True if it was not cancelled, or ends early and keeps what it has measured.
fn run_goes_on(run: &mut impl Drive, ticket: &Ticket) -> bool {
    !ticket.cancelled() || run.end_early()
}

/// One turn with a law called for packets, or a congestion control called for ACKs. Taking Python's lock for each call
/// would cost half as much again, and two runs would wait for each other at every packet. Code in Python releases the
/// lock from time to time by itself.
fn holding_the_lock<T: Send>(advance: impl FnOnce() -> T + Send) -> T {
    Python::attach(|_| advance())
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` has it
fn refused(error: InputError) -> PyErr {
    invalid([error])
}

#[pymethods]
impl Run {
    /// Outcomes at the links that have a qdisc; last, where there are any, of the classes that cross none.
    #[getter]
    fn links(&self, py: Python<'_>) -> Vec<Py<LinkRun>> {
        self.links.iter().map(|link| link.clone_ref(py)).collect()
    }

    /// Rows of windows of time: the window as the scenario has it, its start and end (s), link, class, queue, and the
    /// metrics that apply, a list as one metric for each entry (`settling_s[0]`).
    #[getter]
    fn windows<'py>(&self, py: Python<'py>) -> PyResult<Vec<WindowCells<'py>>> {
        let cells = self.windows.iter().map(|(name, row)| {
            let WindowRow { from_s, until_s, link, class, queue, metrics, .. } = row;
            let place = (link.clone(), class.clone(), queue.clone());
            Ok((name.clone(), (*from_s, *until_s), place, link_run::scalars(py, metrics)?))
        });
        cells.collect()
    }

    /// Events processed, and packets that arrived at shared links; of a fluid, steps.
    #[getter]
    fn events(&self) -> u64 {
        self.events
    }

    /// Facts about a live run that the trust in it follows from; None in the other plants.
    #[getter]
    fn trust<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.facts.as_ref().map(|facts| facts.to_dict(py)).transpose()
    }

    /// The end of a live run that was ended early, s; None where it has its duration.
    #[getter]
    fn ended_s(&self) -> Option<f64> {
        self.facts.as_ref().and_then(LiveFacts::ended_s)
    }

    /// CPU time of the run, s.
    #[getter]
    fn cpu_s(&self) -> f64 {
        self.cpu_s
    }
}

/// CPU time of this thread, s: Python's `time.thread_time`.
fn thread_cpu_seconds() -> f64 {
    let read = |py: Python<'_>| py.import("time")?.call_method0("thread_time")?.extract::<f64>();
    Python::attach(|py| read(py).unwrap_or(f64::NAN))
}
