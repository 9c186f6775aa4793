//! A run's own copy of a user's object, and the failure of its code.
//!
//! Calls of the traits of `aqm` and `tcp` cannot fail, but calls of a law in
//! Python can. The failure goes into a slot that the run's driver reads after
//! each turn; until then the law passes everything and Python is not called
//! again. So plant and traits need no failures, which no built-in law has. The
//! remainder of that turn has no effect: the run is discarded.

use crate::errors::law_error;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use sojourn_units::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One run's own copy of a user's object.
pub(super) struct Callee {
    pub(super) object: Py<PyAny>,
    /// Time of the last call, ns.
    last_call: AtomicU64,
    failed: AtomicBool,
    failure: Failure,
}

/// The slot for a law's failure, read by the driver of its run.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Callee {
    pub(super) fn of(object: &Bound<'_, PyAny>, failure: Failure) -> Callee {
        let object = object.clone().unbind();
        Callee { object, last_call: AtomicU64::new(0), failed: AtomicBool::new(false), failure }
    }

    /// Time of the last call.
    pub(super) fn last_call(&self) -> Time {
        Time::from_nanos(self.last_call.load(Ordering::Relaxed))
    }

    /// True once a call has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Calls one of its methods; an error becomes the law's failure, and None is returned.
    pub(super) fn call<T>(
        &self,
        method: &'static str,
        now: Time,
        act: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        if self.has_failed() {
            return None;
        }
        self.last_call.store(now.nanos(), Ordering::Relaxed);
        Python::attach(|py| match act(py) {
            Ok(done) => Some(done),
            Err(error) => {
                self.failed.store(true, Ordering::Relaxed);
                self.failure.leave(py, law_error(py, error, method, now.seconds()), &self.object);
                None
            }
        })
    }

    /// An independent copy; failed where the object cannot be copied.
    pub(super) fn copied(&self) -> Callee {
        let object = self.call("__deepcopy__", self.last_call(), |py| {
            py.import("copy")?.call_method1("deepcopy", (&self.object,)).map(Bound::unbind)
        });
        let object = object.unwrap_or_else(|| Python::attach(|py| self.object.clone_ref(py)));
        Callee {
            object,
            last_call: AtomicU64::new(self.last_call().nanos()),
            failed: AtomicBool::new(self.has_failed()),
            failure: self.failure.clone(),
        }
    }
}

/// True for Ctrl-C.
pub(crate) fn is_interrupt(py: Python<'_>, failure: &PyErr) -> bool {
    failure.cause(py).is_some_and(|cause| cause.is_instance_of::<PyKeyboardInterrupt>(py))
}

impl Failure {
    /// The failure, if there is one.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// True if a failure is stored.
    pub(crate) fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Stores the error, with the failed object as its `object`: a run may have several. Ctrl-C is not overwritten.
    fn leave(&self, py: Python<'_>, error: PyErr, object: &Py<PyAny>) {
        // Without the attribute the message only loses its line of code.
        let _ = error.value(py).setattr(intern!(py, "object"), object);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|held| is_interrupt(py, held)) {
            return;
        }
        let before = held.replace(error);
        // Objects of the one before may run code when they are freed, and it may wait for the lock.
        drop(held);
        drop(before);
    }
}
