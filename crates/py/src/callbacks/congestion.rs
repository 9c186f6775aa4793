//! A congestion control written in Python: the window of one flow.
//!
//! Each flow has a copy of its own, made when the flow starts. After each call
//! `cwnd` and `ssthresh` are read back and cached here, so that the sender needs
//! no call into Python in between.

use super::answers::{is_truth_value, nothing};
use super::callee::{Callee, Failure};
use super::views::{Acknowledged, Signal};
use crate::errors::LawError;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sojourn_tcp::Profile;
use sojourn_tcp::cc::{self, AckSample, Choice, CongestionControl, Feedback, Recovery};
use sojourn_units::{Bytes, Time};
use std::sync::Arc;

/// Raises `ValueError` with one line when an attribute that the run reads is not valid.
#[pyfunction]
pub(crate) fn check_cc(cc: &Bound<'_, PyAny>) -> PyResult<()> {
    recovery_of(cc)?;
    feedback_of(cc).map(drop)
}

/// The choice of a group of flows, called `label`: each flow starts its own copy from the template.
pub(crate) fn choice(template: &Bound<'_, PyAny>, label: &str, failure: &Failure) -> PyResult<Choice> {
    let original = template.getattr("original")?;
    let (recovery, feedback) = (recovery_of(&original)?, feedback_of(&original)?);
    let (object, failure) = (template.clone().unbind(), failure.clone());
    let build = move |profile: &Profile, mss: u32| -> Box<dyn CongestionControl> {
        Box::new(PythonControl::of(&object, profile, mss, &failure))
    };
    Ok(Choice::Custom(cc::Custom { name: label.into(), recovery, feedback, build: Arc::new(build) }))
}

/// One flow's own copy of a congestion control, with its window after the last call.
struct PythonControl {
    callee: Callee,
    /// The class defines `on_feedback`.
    has_feedback: bool,
    /// The class defines `on_unused`.
    has_unused: bool,
    mss: f64,
    window: f64,
    ssthresh: f64,
}

impl PythonControl {
    /// The copy at the start of its flow; failed where it cannot be set up.
    fn of(template: &Py<PyAny>, profile: &Profile, mss: u32, failure: &Failure) -> PythonControl {
        Python::attach(|py| {
            let mut control = PythonControl {
                callee: Callee::of(template.bind(py), failure.clone()),
                has_feedback: false,
                has_unused: false,
                mss: f64::from(mss),
                window: profile.initial_window as f64 * f64::from(mss),
                ssthresh: f64::INFINITY,
            };
            let own = control.callee.call("reset", Time::ZERO, |py| {
                let template = template.bind(py);
                let own = template.call_method1("start", (mss, control.window))?;
                let calls: Vec<String> = template.getattr("calls")?.extract()?;
                Ok((own.unbind(), calls))
            });
            if let Some((own, calls)) = own {
                control.callee.object = own;
                control.has_feedback = calls.iter().any(|call| call == "on_feedback");
                control.has_unused = calls.iter().any(|call| call == "on_unused");
                control.invoke("reset", Time::ZERO, |_, _| Ok(()));
            }
            control
        })
    }

    /// Calls a method, and reads the window back.
    fn invoke(
        &mut self,
        method: &'static str,
        now: Time,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        let read = self.callee.call(method, now, |py| {
            let object = self.callee.object.bind(py);
            call(py, object)?;
            let window = number(object, "cwnd", |cwnd| cwnd >= self.mss && cwnd.is_finite());
            let ssthresh = number(object, "ssthresh", |ssthresh| ssthresh >= 0.0);
            Ok((
                window?.map_err(|value| self.left(method, "cwnd", &value, A_WINDOW, now))?,
                ssthresh?.map_err(|value| self.left(method, "ssthresh", &value, A_THRESHOLD, now))?,
            ))
        });
        if let Some((window, ssthresh)) = read {
            (self.window, self.ssthresh) = (window, ssthresh);
        }
    }

    fn invoke_with_ack(&mut self, method: &'static str, ack: &AckSample<'_>) {
        self.invoke(method, ack.now, |py, object| {
            let view = Bound::new(py, Acknowledged::of(ack))?;
            nothing(method, &object.call_method1(PyString::intern(py, method), (view,))?, ack.now)
        });
    }

    /// The failure of a control that set its window to an invalid `value`.
    fn left(&self, method: &str, name: &str, value: &str, expected: &str, now: Time) -> PyErr {
        let expected = expected.replace("MSS", &self.mss.to_string());
        LawError::new_err((
            format!("{method} left {name} at {value}"),
            now.seconds(),
            method.to_string(),
            expected,
        ))
    }

    /// Sets one of its numbers.
    fn set(&self, name: &str, value: f64) {
        self.callee
            .call("reset", self.callee.last_call(), |py| self.callee.object.bind(py).setattr(name, value));
    }
}

impl CongestionControl for PythonControl {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.invoke_with_ack("on_ack", ack);
    }

    fn on_feedback(&mut self, ack: &AckSample<'_>) {
        if self.has_feedback {
            self.invoke_with_ack("on_feedback", ack);
        }
    }

    fn on_unused(&mut self, ack: &AckSample<'_>) {
        if self.has_unused {
            self.invoke_with_ack("on_unused", ack);
        }
    }

    fn on_signal(&mut self, signal: &cc::Signal) {
        let now = self.callee.last_call();
        self.invoke("on_signal", now, |py, object| {
            let view = Bound::new(py, Signal::of(signal))?;
            nothing("on_signal", &object.call_method1(intern!(py, "on_signal"), (view,))?, now)
        });
    }

    fn window(&self) -> Bytes {
        Bytes::new(self.window as u64)
    }

    fn ssthresh(&self) -> Bytes {
        Bytes::new(self.ssthresh as u64)
    }

    fn set_window(&mut self, window: Bytes) {
        self.window = (window.get() as f64).max(self.mss);
        self.set("cwnd", self.window);
    }

    fn set_ssthresh(&mut self, ssthresh: Bytes) {
        self.ssthresh = ssthresh.get() as f64;
        self.set("ssthresh", self.ssthresh);
    }
}

/// A clone is independent: it copies the state in Python.
impl Clone for PythonControl {
    fn clone(&self) -> PythonControl {
        PythonControl { callee: self.callee.copied(), ..*self }
    }
}

/// An attribute that is a number in its range; else its `repr`.
fn number(
    object: &Bound<'_, PyAny>,
    name: &str,
    is_valid: impl Fn(f64) -> bool,
) -> PyResult<Result<f64, String>> {
    let given = object.getattr(name)?;
    let number = if is_truth_value(&given) { None } else { given.extract::<f64>().ok() };
    match number.filter(|number| is_valid(*number)) {
        Some(number) => Ok(Ok(number)),
        None => Ok(Err(given.repr()?.to_string())),
    }
}

/// Recovery from losses after the first one of a window.
fn recovery_of(object: &Bound<'_, PyAny>) -> PyResult<Recovery> {
    word(
        object,
        "recovery",
        &[("reno", Recovery::Reno), ("newreno", Recovery::NewReno), ("sack", Recovery::Sack)],
    )
}

/// The receivers' echo of marks.
fn feedback_of(object: &Bound<'_, PyAny>) -> PyResult<Feedback> {
    word(object, "feedback", &[("classic", Feedback::Classic), ("per_segment", Feedback::PerSegment)])
}

fn word<T: Copy>(object: &Bound<'_, PyAny>, name: &str, words: &[(&str, T)]) -> PyResult<T> {
    let given = object.getattr(name)?;
    let found = given.extract::<&str>().ok().and_then(|text| words.iter().find(|(word, _)| *word == text));
    found.map(|(_, meant)| *meant).ok_or_else(|| {
        let expected: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let given = given.repr().map_or_else(|_| "it".into(), |text| text.to_string());
        PyValueError::new_err(format!(
            "{name}: {given} is none of the words; expected {}",
            expected.join(", ")
        ))
    })
}

const A_WINDOW: &str = "a number of bytes, MSS (one segment) or more";
const A_THRESHOLD: &str = "a number of bytes from 0, or math.inf";
