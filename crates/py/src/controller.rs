//! A controller written in Python, as one of `aqm`'s.
//!
//! Every period the run takes Python's lock, hands the controller an
//! [`Observation`] and reads a probability back; all else goes on without the
//! lock. `Sampled` and `Fifo` are those of the built-in laws, so the draws and
//! the verdicts are theirs too.
//!
//! `aqm::Controller::update` cannot fail, and a law in Python can. The failure
//! is laid into a slot that the run's driver looks into after each of its
//! turns; until then the controller answers 0 and Python is not called again.
//! So neither the plant nor the traits of laws know of failures that no law of
//! ours can have, and what happens in the rest of that turn is never seen: the
//! run is thrown away.

use crate::errors::{LawError, law_error};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use sojourn_aqm as aqm;
use sojourn_units::{Prob, Rate, Span};
use std::sync::{Arc, Mutex, PoisonError};

/// One run's own copy of a controller.
pub(crate) struct PythonController {
    controller: Py<PyAny>,
    period: Span,
    target: Option<f64>,
    failed: bool,
    failure: Failure,
}

/// Where a controller leaves its failure for the driver of its run.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

/// What a controller sees at its sampling instant.
///
/// All that is counted is counted since the last update (at the first one, since the start of the run).
/// It cannot be changed.
#[pyclass(frozen, get_all, module = "sojourn._core")]
pub(crate) struct Observation {
    /// The present, s since the start of the run.
    time_s: f64,
    /// Time since the last update, s.
    elapsed_s: f64,
    /// Backlog now, packets; the one being sent is not in it.
    backlog_packets: f64,
    /// Backlog now, bytes.
    backlog_bytes: f64,
    /// How long the packet at the head of the queue has waited, s; 0 where there is none.
    sojourn_s: f64,
    /// Packets that arrived, those that were dropped included.
    arrivals_packets: f64,
    /// Their bytes.
    arrivals_bytes: f64,
    /// Packets handed to the link.
    departures_packets: f64,
    /// Their bytes.
    departures_bytes: f64,
    /// Packets dropped, by the law or because the buffer was full.
    drops_packets: f64,
    /// Packets marked.
    marks_packets: f64,
    /// Time with a backlog, s.
    busy_s: f64,
    /// The link's rate, bit/s; None where it is not known.
    capacity_bps: Option<f64>,
    /// The link's rate, packets/s of the mean size; None where it is not known.
    capacity_pps: Option<f64>,
    /// The configured round-trip time without queueing (the mean over the flows), s; None where it is not known.
    base_rtt_s: Option<f64>,
    /// The mean size of the flows' segments, bytes.
    mean_packet_bytes: f64,
    /// The buffer's limit, packets; infinite where there is none.
    limit_packets: f64,
    /// The share of the arrivals that the law really dropped or marked.
    applied_p: f64,
}

/// Raises `ValueError` with one line when the controller's `period` or `target_packets` is not legal.
#[pyfunction]
pub(crate) fn check_controller(controller: &Bound<'_, PyAny>) -> PyResult<()> {
    PythonController::of(controller).map(drop)
}

impl PythonController {
    /// The controller, with its period and its target read once.
    pub(crate) fn of(controller: &Bound<'_, PyAny>) -> PyResult<PythonController> {
        Ok(PythonController {
            period: period_of(controller)?,
            target: target_of(controller)?,
            controller: controller.clone().unbind(),
            failed: false,
            failure: Failure::default(),
        })
    }

    /// Where its failure will be found.
    pub(crate) fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// Does something in Python; what goes wrong there is the law's failure.
    fn with_python<T>(
        &mut self,
        time_s: f64,
        act: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if self.failed {
            return None;
        }
        Python::attach(|py| match act(self.controller.bind(py)) {
            Ok(done) => Some(done),
            Err(error) => {
                self.failed = true;
                self.failure.leave(law_error(py, error, time_s));
                None
            }
        })
    }
}

impl aqm::Controller for PythonController {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, seen: &aqm::Observation) -> Prob {
        let time_s = seen.now.seconds();
        let answer = self.with_python(time_s, |controller| {
            let py = controller.py();
            let told = Bound::new(py, Observation::of(seen))?;
            let answer = controller.call_method1(intern!(py, "update"), (told,))?;
            probability(&answer).ok_or_else(|| wrong_answer(&answer, time_s))
        });
        answer.unwrap_or(Prob::ZERO)
    }

    fn reset(&mut self) {
        self.with_python(0.0, |controller| {
            controller.call_method0(intern!(controller.py(), "reset")).map(drop)
        });
    }

    fn target_packets(&self) -> Option<f64> {
        self.target
    }
}

/// A clone has a future of its own, so the state in Python is copied with it.
impl Clone for PythonController {
    fn clone(&self) -> PythonController {
        let mut clone = Python::attach(|py| PythonController {
            controller: self.controller.clone_ref(py),
            failure: self.failure.clone(),
            ..*self
        });
        let copy = |controller: &Bound<'_, PyAny>| {
            controller.py().import("copy")?.call_method1("deepcopy", (controller,)).map(Bound::unbind)
        };
        if let Some(own) = clone.with_python(0.0, copy) {
            clone.controller = own;
        }
        clone
    }
}

impl Failure {
    /// The failure, if there is one.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn leave(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

impl Observation {
    fn of(seen: &aqm::Observation) -> Observation {
        Observation {
            time_s: seen.now.seconds(),
            elapsed_s: seen.elapsed,
            backlog_packets: seen.backlog_packets,
            backlog_bytes: seen.backlog_bytes,
            sojourn_s: seen.head_sojourn,
            arrivals_packets: seen.arrived_packets,
            arrivals_bytes: seen.arrived_bytes,
            departures_packets: seen.departed_packets,
            departures_bytes: seen.departed_bytes,
            drops_packets: seen.dropped_packets,
            marks_packets: seen.marked_packets,
            busy_s: seen.busy,
            capacity_bps: seen.capacity.map(Rate::bits_per_second),
            capacity_pps: seen.capacity.map(|rate| rate.packets_per_second(seen.mean_packet)),
            base_rtt_s: seen.base_rtt.map(Span::seconds),
            mean_packet_bytes: seen.mean_packet,
            limit_packets: seen.limit,
            applied_p: seen.applied.get(),
        }
    }
}

#[pymethods]
impl Observation {
    /// It cannot be changed, so a copy is itself: a law may keep what it saw.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let told = FIELDS.iter().map(|name| Ok(format!("{name}={}", slf.getattr(*name)?.repr()?)));
        Ok(format!("Observation({})", told.collect::<PyResult<Vec<String>>>()?.join(", ")))
    }
}

/// The probability that `update` gave. Nobody clamps it: a law that leaves [0, 1] has a bug.
fn probability(answer: &Bound<'_, PyAny>) -> Option<Prob> {
    if is_truth_value(answer) { None } else { answer.extract().ok().and_then(Prob::new) }
}

/// Python's True counts as 1, but a law that gives it answers "whether", not "how often".
fn is_truth_value(answer: &Bound<'_, PyAny>) -> bool {
    // Nearly every answer is a float, and asking it is cheap; numpy has a bool of its own.
    !answer.is_exact_instance_of::<PyFloat>() && answer.extract::<bool>().is_ok()
}

fn wrong_answer(answer: &Bound<'_, PyAny>, time_s: f64) -> PyErr {
    let text = answer.repr().map_or_else(|_| "something".into(), |text| text.to_string());
    let kind = if is_truth_value(answer) { ", a truth value" } else { "" };
    LawError::new_err((format!("update gave {text}{kind}"), time_s))
}

fn period_of(controller: &Bound<'_, PyAny>) -> PyResult<Span> {
    let illegal = |what: String| PyValueError::new_err(format!("period: {what}; legal: {PERIOD}"));
    let given = controller.getattr_opt("period")?.ok_or_else(|| illegal("is missing".into()))?;
    let Ok(text) = given.extract::<String>() else {
        return Err(illegal(format!("{} is not a time with a unit", given.repr()?)));
    };
    let period = Span::parse(&text).map_err(illegal)?;
    if period < SHORTEST { Err(illegal(format!("\"{text}\" is too short"))) } else { Ok(period) }
}

fn target_of(controller: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let Some(given) = controller.getattr_opt("target_packets")?.filter(|given| !given.is_none()) else {
        return Ok(None);
    };
    let target = given.extract::<f64>().ok().filter(|target| target.is_finite() && *target >= 0.0);
    let illegal = |what| {
        PyValueError::new_err(format!(
            "target_packets: {what} is not a number of packets; legal: a number from 0 such as 100, or None"
        ))
    };
    target.map_or_else(|| Err(illegal(given.repr()?.to_string())), |target| Ok(Some(target)))
}

/// More often than so no packet plant needs an update: a packet of 1500 B at 10 Gbit/s takes 1.2 us.
const SHORTEST: Span = Span::from_micros(1);
const PERIOD: &str = "a time of 1 us or more such as \"10 ms\"";
/// What an observation tells, in order.
const FIELDS: [&str; 18] = [
    "time_s",
    "elapsed_s",
    "backlog_packets",
    "backlog_bytes",
    "sojourn_s",
    "arrivals_packets",
    "arrivals_bytes",
    "departures_packets",
    "departures_bytes",
    "drops_packets",
    "marks_packets",
    "busy_s",
    "capacity_bps",
    "capacity_pps",
    "base_rtt_s",
    "mean_packet_bytes",
    "limit_packets",
    "applied_p",
];
