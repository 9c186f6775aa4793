//! A controller: every period the run takes Python's lock, hands it an
//! [`Observation`] and reads a probability back; all else goes on without the
//! lock.

use super::attributes::{is_truth_value, period_of, target_of, wrong_answer};
use super::parameters::given_to;
use super::{Failure, Guest, Observation, told};
use pyo3::intern;
use pyo3::prelude::*;
use sojourn_aqm as aqm;
use sojourn_aqm::Given;
use sojourn_aqm::linear::{InSamples, Linear, Rational, Rest};
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

    fn settled(&self, backlog: f64) -> Option<Prob> {
        self.told("settled", |py| {
            let answer = self.guest.object.bind(py).call_method1(intern!(py, "settled"), (backlog,))?;
            Ok((probability(&answer), answer, A_REST))
        })
    }

    fn linear(&self, rest: &Rest) -> Option<Linear> {
        let transfer = self.told("linear", |py| {
            let told = Bound::new(py, told::Rest::from(*rest))?;
            let answer = self.guest.object.bind(py).call_method1(intern!(py, "linear"), (told,))?;
            Ok((transfer(&answer), answer, A_TRANSFER))
        })?;
        let sampled = InSamples { transfer, period: self.period };
        Some(Linear::new(None, Some(sampled)))
    }
}

/// What a method answered: what it means, if it is legal; itself; and what is legal.
type Answer<'py, T> = (Option<T>, Bound<'py, PyAny>, &'static str);

impl PythonController {
    /// What the object says of itself; None where it says so, or fails.
    fn told<T>(
        &self,
        method: &'static str,
        ask: impl FnOnce(Python<'_>) -> PyResult<Answer<'_, T>>,
    ) -> Option<T> {
        let now = self.guest.asked.get();
        let told = self.guest.ask(method, now, |py| match ask(py)? {
            (None, answer, legal) if !answer.is_none() => Err(wrong_answer(method, &answer, legal, now)),
            (told, ..) => Ok(told),
        });
        told.flatten()
    }
}

/// The two polynomials of a ratio in z^-1.
fn transfer(answer: &Bound<'_, PyAny>) -> Option<Rational> {
    let (numerator, denominator): (Vec<f64>, Vec<f64>) = answer.extract().ok()?;
    let is_finite = numerator.iter().chain(&denominator).all(|x| x.is_finite());
    let is_causal = !numerator.is_empty() && denominator.first().is_some_and(|first| *first != 0.0);
    (is_finite && is_causal).then_some(Rational { numerator, denominator })
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
const A_REST: &str = "a probability, a number from 0 to 1, or None";
const A_TRANSFER: &str = "None, or the coefficients in z^-1 of a numerator and of a denominator that begins with another \
                          number than 0";
