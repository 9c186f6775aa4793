//! A controller: every period the run takes Python's lock, passes an
//! [`Observation`] and reads a probability back; all else runs without the
//! lock.

use super::answers::{probability, set_params, wrong_answer};
use super::attributes::{period_of, target_of};
use super::callee::{Callee, Failure};
use super::views::{self, Observation};
use pyo3::intern;
use pyo3::prelude::*;
use sojourn_aqm as aqm;
use sojourn_aqm::linear::{InSamples, Linear, OperatingPoint, Rational};
use sojourn_params::{Given, InputError};
use sojourn_units::{Prob, Span, Time};

/// One run's own copy of a controller, with its period and its target read once.
pub(super) struct PythonController {
    callee: Callee,
    period: Span,
    target: Option<f64>,
}

impl PythonController {
    pub(super) fn of(object: &Bound<'_, PyAny>, failure: Failure) -> PyResult<PythonController> {
        let (period, target) = (period_of(object)?, target_of(object)?);
        Ok(PythonController { callee: Callee::of(object, failure), period, target })
    }
}

impl aqm::Controller for PythonController {
    fn period(&self) -> Span {
        self.period
    }

    fn update(&mut self, seen: &aqm::Observation) -> Prob {
        let answer = self.callee.call("update", seen.now, |py| {
            let view = Bound::new(py, Observation::of(seen))?;
            let answer = self.callee.object.bind(py).call_method1(intern!(py, "update"), (view,))?;
            probability(&answer).ok_or_else(|| wrong_answer("update", &answer, A_PROBABILITY, seen.now))
        });
        answer.unwrap_or(Prob::ZERO)
    }

    fn reset(&mut self) {
        self.callee.call("reset", Time::ZERO, |py| {
            self.callee.object.bind(py).call_method0(intern!(py, "reset")).map(drop)
        });
    }

    /// An error of the object ends the run, as any of its failures.
    fn set_params(&mut self, given: &Given, _site: &aqm::LinkContext) -> Result<(), InputError> {
        let read = self.callee.call("set_params", self.callee.last_call(), |py| {
            let object = self.callee.object.bind(py);
            set_params(object, given, self.callee.last_call())?;
            Ok((period_of(object)?, target_of(object)?))
        });
        if let Some((period, target)) = read {
            (self.period, self.target) = (period, target);
        }
        Ok(())
    }

    fn analysis(&self) -> &dyn aqm::Analysis {
        self
    }
}

impl aqm::Analysis for PythonController {
    fn target_packets(&self) -> Option<f64> {
        self.target
    }

    fn steady_state_p(&self, backlog: f64) -> Option<Prob> {
        self.query("steady_state_p", |py| {
            let answer =
                self.callee.object.bind(py).call_method1(intern!(py, "steady_state_p"), (backlog,))?;
            Ok((probability(&answer), answer, A_REST))
        })
    }

    fn linear(&self, point: &OperatingPoint) -> Option<Linear> {
        let transfer = self.query("linear", |py| {
            let point = Bound::new(py, views::OperatingPoint::from(*point))?;
            let answer = self.callee.object.bind(py).call_method1(intern!(py, "linear"), (point,))?;
            Ok((transfer(&answer), answer, A_TRANSFER))
        })?;
        let sampled = InSamples { transfer, period: self.period };
        Some(Linear::new(None, Some(sampled)))
    }
}

/// The value of an answer, None where it is invalid; the answer; and the expected one.
type Answer<'py, T> = (Option<T>, Bound<'py, PyAny>, &'static str);

impl PythonController {
    /// The object's declaration; None where it declares nothing, or fails.
    fn query<T>(
        &self,
        method: &'static str,
        act: impl FnOnce(Python<'_>) -> PyResult<Answer<'_, T>>,
    ) -> Option<T> {
        let now = self.callee.last_call();
        let found = self.callee.call(method, now, |py| match act(py)? {
            (None, answer, expected) if !answer.is_none() => {
                Err(wrong_answer(method, &answer, expected, now))
            }
            (found, ..) => Ok(found),
        });
        found.flatten()
    }
}

/// The two polynomials of a ratio in z^-1.
fn transfer(answer: &Bound<'_, PyAny>) -> Option<Rational> {
    let (numerator, denominator): (Vec<f64>, Vec<f64>) = answer.extract().ok()?;
    let is_finite = numerator.iter().chain(&denominator).all(|x| x.is_finite());
    let is_causal = !numerator.is_empty() && denominator.first().is_some_and(|first| *first != 0.0);
    (is_finite && is_causal).then_some(Rational { numerator, denominator })
}

/// A clone is independent: it copies the state in Python.
impl Clone for PythonController {
    fn clone(&self) -> PythonController {
        PythonController { callee: self.callee.copied(), ..*self }
    }
}

const A_PROBABILITY: &str = "a probability, a number from 0 to 1";
const A_REST: &str = "a probability, a number from 0 to 1, or None";
const A_TRANSFER: &str = "None, or the coefficients in z^-1 of a numerator and of a denominator that begins with another \
                          number than 0";
