//! Laws written in Python, as laws of `aqm`'s.
//!
//! `Fifo`, and for a controller `Sampled`, are those of the built-in laws, so
//! the draws are theirs too, and a law in Python gets the verdicts that the
//! same law in Rust would.
//!
//! No call of `aqm`'s traits can fail, and one of a law in Python can. The
//! failure is laid into a slot that the run's driver looks into after each of
//! its turns; until then the law lets everything pass and Python is not called
//! again. So neither the plant nor the traits know of failures that no law of
//! ours can have, and what happens in the rest of that turn is never seen: the
//! run is thrown away.

mod attributes;
mod congestion;
mod controller;
mod law;
mod parameters;
mod told;

pub(crate) use congestion::{check_cc, choice};
pub(crate) use told::{Acknowledged, Arrival, Departure, Observation, Rest, Signal, Site, Verdict};

use crate::errors::law_error;
use controller::PythonController;
use law::PythonLaw;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use sojourn_aqm as aqm;
use sojourn_units::Time;
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

/// A law written in Python, ready for a run.
pub(crate) struct Seated {
    /// The law, as the disc sees it.
    pub(crate) law: Box<dyn aqm::Law>,
    /// Whether Python is asked about packets, rather than now and then.
    pub(crate) every_packet: bool,
}

/// Raises `ValueError` with one line when an attribute that the run reads is not legal.
#[pyfunction]
pub(crate) fn check_law(law: &Bound<'_, PyAny>) -> PyResult<()> {
    seat(law, &Failure::default()).map(drop)
}

/// A run's own `sojourn.Law` or `sojourn.Controller`, which leaves its failure in `failure`.
pub(crate) fn seat(object: &Bound<'_, PyAny>, failure: &Failure) -> PyResult<Seated> {
    let judges_packets = object.py().import(intern!(object.py(), "sojourn"))?.getattr("Law")?;
    if object.is_instance(&judges_packets)? {
        let law = PythonLaw::of(object, &judges_packets, failure.clone())?;
        return Ok(Seated { every_packet: law.is_asked_about_packets(), law: Box::new(law) });
    }
    let law = aqm::Sampled::new(PythonController::of(object, failure.clone())?);
    Ok(Seated { law: Box::new(law), every_packet: false })
}

/// One run's own copy of a user's object.
struct Guest {
    object: Py<PyAny>,
    /// When it was asked last.
    asked: Cell<Time>,
    failed: Cell<bool>,
    failure: Failure,
}

/// Where a law leaves its failure for the driver of its run.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Guest {
    fn of(object: &Bound<'_, PyAny>, failure: Failure) -> Guest {
        let object = object.clone().unbind();
        Guest { object, asked: Cell::new(Time::ZERO), failed: Cell::new(false), failure }
    }

    /// Calls one of its methods; what goes wrong there is the law's failure, and then there is no answer.
    fn ask<T>(
        &self,
        method: &'static str,
        now: Time,
        act: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        if self.failed.get() {
            return None;
        }
        self.asked.set(now);
        Python::attach(|py| match act(py) {
            Ok(done) => Some(done),
            Err(error) => {
                self.failed.set(true);
                self.failure.leave(py, law_error(py, error, method, now.seconds()), &self.object);
                None
            }
        })
    }

    /// A copy with a future of its own; a failed one where the object cannot be copied.
    fn copied(&self) -> Guest {
        let object = self.ask("__deepcopy__", self.asked.get(), |py| {
            py.import("copy")?.call_method1("deepcopy", (&self.object,)).map(Bound::unbind)
        });
        let object = object.unwrap_or_else(|| Python::attach(|py| self.object.clone_ref(py)));
        Guest {
            object,
            asked: self.asked.clone(),
            failed: self.failed.clone(),
            failure: self.failure.clone(),
        }
    }
}

/// Whether a law's failure is Ctrl-C.
pub(crate) fn is_interrupt(py: Python<'_>, failure: &PyErr) -> bool {
    failure.cause(py).is_some_and(|cause| cause.is_instance_of::<PyKeyboardInterrupt>(py))
}

impl Failure {
    /// The failure, if there is one.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The error keeps the object as its `guest`: there may be others in the run. Ctrl-C stays what it is.
    fn leave(&self, py: Python<'_>, error: PyErr, object: &Py<PyAny>) {
        // What cannot be noted is only told less well.
        let _ = error.value(py).setattr(intern!(py, "guest"), object);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.as_ref().is_some_and(|held| is_interrupt(py, held)) {
            *held = Some(error);
        }
    }
}
