//! Runs of the live plant.

use super::{Drive, holding_the_lock};
use crate::callbacks::Failure;
use crate::errors::{LiveRefused, invalid};
use crate::scenario::Scenario;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_live::relay::Traffic;
use sojourn_live::run::{Counters, Failed};
use sojourn_live::trust::Trust;
use sojourn_measure::{Outcome, WindowRow};
use sojourn_scenario as scenario;
use sojourn_sim::topology::CustomQdisc;
use sojourn_units::{Span, Time};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Moves this process out of the machine's network for good, into a user namespace where that needs one; it must
/// have one thread. Raises `LiveRefused` where the machine does not allow it.
#[pyfunction]
pub(crate) fn leave_machine() -> PyResult<()> {
    sojourn_live::namespace::leave_machine().map_err(|refused| raised(Failed::Refused(refused)))
}

/// Ends this process once no other can write to its stdin, whatever runs in Python.
#[pyfunction]
pub(crate) fn end_with_parent() {
    sojourn_live::parent::end_with_it();
}

/// Rejects a scenario that the live plant does not carry, with a line for each unsupported part.
#[pyfunction]
pub(crate) fn check_live(scenario: &Bound<'_, Scenario>) -> PyResult<()> {
    let scenario = scenario.get().for_a_run(scenario.py(), &Failure::default())?;
    let errors = sojourn_live::errors(&scenario);
    if errors.is_empty() { Ok(()) } else { Err(invalid(errors)) }
}

/// A run of the live plant.
pub(super) struct Live {
    run: sojourn_live::Run,
    /// Packets cost calls into Python.
    every_packet: bool,
    failure: Option<Failed>,
}

impl Live {
    pub(super) fn new(
        scenario: &scenario::Scenario,
        seed: u64,
        (own, every_packet): (Vec<CustomQdisc>, bool),
        trace: Option<&Path>,
    ) -> PyResult<Live> {
        let log = trace.map(|path| {
            let file = File::create_new(path)?;
            Ok::<Box<dyn Write + Send>, std::io::Error>(Box::new(BufWriter::new(file)))
        });
        let log = log.transpose().map_err(|error| raised(error.into()))?;
        let run = sojourn_live::Run::new(scenario, seed, own, log).map_err(raised)?;
        Ok(Live { run, every_packet, failure: None })
    }

    pub(super) fn finish(self) -> PyResult<(Outcome, Vec<WindowRow>, LiveFacts)> {
        let ended = self.run.ended_early();
        let (outcome, windows, trust, traffic, counters) = self.run.finish().map_err(raised)?;
        Ok((outcome, windows, LiveFacts { trust, traffic, counters, ended }))
    }
}

impl Drive for Live {
    fn advance(&mut self) -> bool {
        let run = &mut self.run;
        let more = if self.every_packet { holding_the_lock(|| run.advance()) } else { run.advance() };
        more.unwrap_or_else(|failed| {
            self.failure = Some(failed);
            false
        })
    }
    fn progress(&self) -> f64 {
        self.run.progress()
    }
    fn end_early(&mut self) -> bool {
        self.run.end_early()
    }
    fn check_records(&mut self) -> PyResult<()> {
        self.failure.take().map_or(Ok(()), |failed| Err(raised(failed)))
    }
}

/// The links of a scenario between two namespaces, for programs that enter them.
#[pyclass(module = "sojourn._core")]
pub(crate) struct Shell {
    /// None: they are closed.
    open: Option<sojourn_live::shell::Shell>,
    /// Of a law in Python.
    failure: Failure,
    /// Links that have it.
    replaced: Vec<String>,
}

#[pymethods]
impl Shell {
    /// Open them, in a process that has left the machine, under a law in Python where there is a template of one.
    /// Raises `LiveRefused` and `OSError`.
    #[new]
    #[pyo3(signature = (scenario, seed, law = None))]
    fn new(scenario: &Bound<'_, Scenario>, seed: u64, law: Option<&Bound<'_, PyAny>>) -> PyResult<Shell> {
        let (py, given) = (scenario.py(), scenario.get());
        let failure = Failure::default();
        let scenario = given.for_a_run(py, &failure)?;
        let (own, _) = law.map_or_else(|| Ok((Vec::new(), false)), |law| given.customs(law, &failure))?;
        let links = &scenario.topology.links;
        let places = law.iter().flat_map(|_| scenario.topology.replaceable());
        let replaced = places.map(|link| links[link].name.clone()).collect();
        let open = py.detach(|| sojourn_live::shell::Shell::open(&scenario, seed, own));
        Ok(Shell { open: Some(open.map_err(raised)?), failure, replaced })
    }

    /// The law has failed: it passes all packets from then on.
    #[getter]
    fn has_failed(&self) -> bool {
        self.failure.is_there()
    }

    /// Raise the `LawError` of a law that has failed.
    fn check(&self) -> PyResult<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Move this thread into the senders' namespace (0) or the receivers' (1).
    fn enter(&mut self, place: usize) -> PyResult<()> {
        let open = self.open.as_mut().filter(|_| place < 2);
        Ok(open.ok_or_else(|| PyOSError::new_err("there is no such namespace"))?.enter(place)?)
    }

    /// Rounds of the relay, so far: some a second, unless a law in Python does not return.
    #[getter]
    fn turns(&self) -> u64 {
        self.open.as_ref().map_or(0, sojourn_live::shell::Shell::turns)
    }

    /// There are addresses of IPv6.
    #[getter]
    fn has_v6(&self) -> bool {
        self.open.as_ref().is_some_and(sojourn_live::shell::Shell::has_v6)
    }

    /// Close them: a dict of each link's qdisc, whose name is None where it is the law in Python, and the trust.
    #[allow(clippy::type_complexity, reason = "as Python has it")]
    fn close<'py>(&mut self, py: Python<'py>) -> PyResult<(Vec<Bound<'py, PyDict>>, Bound<'py, PyDict>)> {
        let open = self.open.take().ok_or_else(|| PyOSError::new_err("it is closed"))?;
        let (links, traffic, trust, counters) = py.detach(|| open.close()).map_err(raised)?;
        let dict = |at: sojourn_live::shell::AtLink| {
            let dict = PyDict::new(py);
            dict.set_item("qdisc", (!self.replaced.contains(&at.link)).then_some(at.qdisc))?;
            dict.set_item("link", at.link)?;
            dict.set_item("delivered", at.counts.delivered)?;
            dict.set_item("dropped", at.counts.dropped())?;
            dict.set_item("marked", at.counts.marked)?;
            dict.set_item("sojourn_mean_s", at.sojourn.map(Span::seconds))?;
            Ok(dict)
        };
        let links = links.into_iter().map(dict).collect::<PyResult<_>>()?;
        let facts = LiveFacts { trust, traffic, counters, ended: None }.to_dict(py)?;
        facts.set_item("foreign", traffic.foreign)?;
        Ok((links, facts))
    }
}

/// Facts about a live run that its trust follows from.
pub(super) struct LiveFacts {
    trust: Trust,
    traffic: Traffic,
    counters: Counters,
    /// The end of a run that was ended early.
    ended: Option<Time>,
}

impl LiveFacts {
    /// The end of a run that was ended early, s.
    pub(super) fn ended_s(&self) -> Option<f64> {
        self.ended.map(Time::seconds)
    }

    pub(super) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let LiveFacts { trust, traffic, counters, .. } = self;
        let late = |share| trust.lateness.quantile(share).map(Span::seconds);
        let dict = PyDict::new(py);
        dict.set_item("verdict", trust.verdict().name())?;
        dict.set_item("lateness_p50_s", late(0.5))?;
        dict.set_item("lateness_p99_s", late(0.99))?;
        dict.set_item("lateness_max_s", trust.lateness.most().seconds())?;
        dict.set_item("packet_time_s", trust.packet_time.seconds())?;
        dict.set_item("device_drops", counters.device_drops)?;
        dict.set_item("checksum_errors", counters.checksum_errors)?;
        dict.set_item("ce_received", counters.ce_received)?;
        dict.set_item("ce_written", traffic.marked)?;
        dict.set_item("device", trust.device.name())?;
        dict.set_item("scheduling", trust.class.name())?;
        dict.set_item("load_before", trust.load[0])?;
        dict.set_item("load_after", trust.load[1])?;
        Ok(dict)
    }
}

fn raised(failed: Failed) -> PyErr {
    match failed {
        Failed::Refused(refused) => {
            LiveRefused::new_err((refused.what, refused.source.raw_os_error(), refused.source.to_string()))
        }
        other => PyOSError::new_err(other.to_string()),
    }
}
