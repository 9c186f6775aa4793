//! A controller: every period the run takes Python's lock, hands it an
//! [`Observation`] and reads a probability back; all else goes on without the
//! lock.

use super::attributes::{is_truth_value, period_of, target_of, wrong_answer};
use super::parameters::given_to;
use super::{Failure, Guest, Observation};
use pyo3::intern;
use pyo3::prelude::*;
use sojourn_aqm as aqm;
use sojourn_aqm::Given;
use sojourn_units::{Fault, Prob, Span, Time};

/// One run's own copy of a controller, with its period and its target read once.
pub(super) struct PythonController {
    guest: Guest,
    period: Span,
    target: Option<f64>,
}

impl PythonController {
    pub(super) fn of(object: &Bound<'_, PyAny>, failure: Failure) -> PyResult<PythonController> {
        let (period, target) = (period_of(object)?, target_of(object)?);
        Ok(PythonController { guest: Guest::of(object, failure), period, target })
    }
}

impl aqm::Controller for PythonController {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, seen: &aqm::Observation) -> Prob {
        let answer = self.guest.ask("update", seen.now, |py| {
            let told = Bound::new(py, Observation::of(seen))?;
            let answer = self.guest.object.bind(py).call_method1(intern!(py, "update"), (told,))?;
            probability(&answer).ok_or_else(|| wrong_answer("update", &answer, A_PROBABILITY, seen.now))
        });
        answer.unwrap_or(Prob::ZERO)
    }

    fn reset(&mut self) {
        self.guest.ask("reset", Time::ZERO, |py| {
            self.guest.object.bind(py).call_method0(intern!(py, "reset")).map(drop)
        });
    }

    /// What the object does not take ends the run, as any failure of it.
    fn retune(&mut self, given: &Given, _site: &aqm::Site) -> Result<(), Fault> {
        let read = self.guest.ask("retune", self.guest.asked.get(), |py| {
            let object = self.guest.object.bind(py);
            given_to(object, given, self.guest.asked.get())?;
            Ok((period_of(object)?, target_of(object)?))
        });
        if let Some((period, target)) = read {
            (self.period, self.target) = (period, target);
        }
        Ok(())
    }

    fn target_packets(&self) -> Option<f64> {
        self.target
    }
}

/// A clone has a future of its own, so the state in Python is copied with it.
impl Clone for PythonController {
    fn clone(&self) -> PythonController {
        PythonController { guest: self.guest.copied(), ..*self }
    }
}

/// A probability as a law gives it. Nobody clamps it: a law that leaves [0, 1] has a bug.
pub(super) fn probability(answer: &Bound<'_, PyAny>) -> Option<Prob> {
    if is_truth_value(answer) { None } else { answer.extract().ok().and_then(Prob::new) }
}

const A_PROBABILITY: &str = "a probability, a number from 0 to 1";
