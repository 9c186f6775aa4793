//! A congestion control written in Python: the window of one flow.
//!
//! Each flow has a copy of its own, made when the flow is. After each of its
//! calls `cwnd` and `ssthresh` are read back and kept here, so that the sender
//! asks Python for nothing in between.

use super::attributes::is_truth_value;
use super::law::nothing;
use super::{Acknowledged, Failure, Guest, Signal};
use crate::errors::LawError;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sojourn_tcp::Profile;
use sojourn_tcp::cc::{self, AckSample, Choice, CongestionControl, Feedback, Recovery};
use sojourn_units::{Bytes, Time};
use std::sync::Arc;

/// Raises `ValueError` with one line when an attribute that the run reads is not legal.
#[pyfunction]
pub(crate) fn check_cc(cc: &Bound<'_, PyAny>) -> PyResult<()> {
    choice(cc, "", &Failure::default()).map(drop)
}

/// What a group of flows is given, called `label`: each flow has its own copy of the template.
pub(crate) fn choice(template: &Bound<'_, PyAny>, label: &str, failure: &Failure) -> PyResult<Choice> {
    let (recovery, feedback) = (recovery_of(template)?, feedback_of(template)?);
    let (object, failure) = (template.clone().unbind(), failure.clone());
    let build = move |profile: &Profile, mss: u32| -> Box<dyn CongestionControl> {
        Box::new(PythonControl::of(&object, profile, mss, &failure))
    };
    Ok(Choice::Guest(cc::Guest { name: label.into(), recovery, feedback, build: Arc::new(build) }))
}

/// One flow's own copy of a congestion control, with what it said last.
struct PythonControl {
    guest: Guest,
    /// Whether the class has an `on_feedback` of its own.
    is_fed_back: bool,
    /// Whether it has an `on_unused`.
    hears_of_unused: bool,
    mss: f64,
    window: f64,
    ssthresh: f64,
}

impl PythonControl {
    /// The copy at the start of its flow; a failed one where it cannot be set up.
    fn of(template: &Py<PyAny>, profile: &Profile, mss: u32, failure: &Failure) -> PythonControl {
        Python::attach(|py| {
            let mut control = PythonControl {
                guest: Guest::of(template.bind(py), failure.clone()),
                is_fed_back: false,
                hears_of_unused: false,
                mss: f64::from(mss),
                window: profile.initial_window as f64 * f64::from(mss),
                ssthresh: f64::INFINITY,
            };
            let own = control.guest.ask("reset", Time::ZERO, |py| {
                let given = (template, mss, control.window);
                let home = py.import("sojourn.laws_in_python.template")?;
                let own = home.call_method1("own_control", given)?;
                let base = py.import("sojourn")?.getattr("CongestionControl")?;
                let has_own = |method: &str| -> PyResult<bool> {
                    Ok(!own.get_type().getattr(method)?.is(&base.getattr(method)?))
                };
                Ok((has_own("on_feedback")?, has_own("on_unused")?, own.unbind()))
            });
            if let Some((is_fed_back, hears_of_unused, own)) = own {
                control.guest.object = own;
                control.is_fed_back = is_fed_back;
                control.hears_of_unused = hears_of_unused;
                control.tell("reset", Time::ZERO, |_, _| Ok(()));
            }
            control
        })
    }

    /// Calls it, and reads back what it made of its window.
    fn tell(
        &mut self,
        method: &'static str,
        now: Time,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        let read = self.guest.ask(method, now, |py| {
            let object = self.guest.object.bind(py);
            call(py, object)?;
            let window = number(object, "cwnd", |cwnd| cwnd >= self.mss && cwnd.is_finite());
            let ssthresh = number(object, "ssthresh", |ssthresh| ssthresh >= 0.0);
            Ok((
                window?.map_err(|told| self.left(method, "cwnd", &told, A_WINDOW, now))?,
                ssthresh?.map_err(|told| self.left(method, "ssthresh", &told, A_THRESHOLD, now))?,
            ))
        });
        if let Some((window, ssthresh)) = read {
            (self.window, self.ssthresh) = (window, ssthresh);
        }
    }

    fn tell_of_ack(&mut self, method: &'static str, ack: &AckSample<'_>) {
        self.tell(method, ack.now, |py, object| {
            let told = Bound::new(py, Acknowledged::of(ack))?;
            nothing(method, &object.call_method1(PyString::intern(py, method), (told,))?, ack.now)
        });
    }

    /// The failure of one that left its window at what is none.
    fn left(&self, method: &str, name: &str, told: &str, legal: &str, now: Time) -> PyErr {
        let legal = legal.replace("MSS", &self.mss.to_string());
        LawError::new_err((
            format!("{method} left {name} at {told}"),
            now.seconds(),
            method.to_string(),
            legal,
        ))
    }

    /// Sets one of its numbers.
    fn set(&self, name: &str, value: f64) {
        self.guest.ask("reset", self.guest.asked.get(), |py| self.guest.object.bind(py).setattr(name, value));
    }
}

impl CongestionControl for PythonControl {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.tell_of_ack("on_ack", ack);
    }

    fn on_feedback(&mut self, ack: &AckSample<'_>) {
        if self.is_fed_back {
            self.tell_of_ack("on_feedback", ack);
        }
    }

    fn on_unused(&mut self, ack: &AckSample<'_>) {
        if self.hears_of_unused {
            self.tell_of_ack("on_unused", ack);
        }
    }

    fn on_signal(&mut self, signal: &cc::Signal) {
        let now = self.guest.asked.get();
        self.tell("on_signal", now, |py, object| {
            let told = Bound::new(py, Signal::of(signal))?;
            nothing("on_signal", &object.call_method1(intern!(py, "on_signal"), (told,))?, now)
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

/// A clone has a future of its own, so the state in Python is copied with it.
impl Clone for PythonControl {
    fn clone(&self) -> PythonControl {
        PythonControl { guest: self.guest.copied(), ..*self }
    }
}

/// An attribute that is a number in its range; or what it is instead.
fn number(
    object: &Bound<'_, PyAny>,
    name: &str,
    legal: impl Fn(f64) -> bool,
) -> PyResult<Result<f64, String>> {
    let given = object.getattr(name)?;
    let number = if is_truth_value(&given) { None } else { given.extract::<f64>().ok() };
    match number.filter(|number| legal(*number)) {
        Some(number) => Ok(Ok(number)),
        None => Ok(Err(given.repr()?.to_string())),
    }
}

/// How losses after the first one of a window are repaired.
fn recovery_of(object: &Bound<'_, PyAny>) -> PyResult<Recovery> {
    word(
        object,
        "recovery",
        &[("reno", Recovery::Reno), ("newreno", Recovery::NewReno), ("sack", Recovery::Sack)],
    )
}

/// What receivers tell of marks.
fn feedback_of(object: &Bound<'_, PyAny>) -> PyResult<Feedback> {
    word(object, "feedback", &[("classic", Feedback::Classic), ("per_segment", Feedback::PerSegment)])
}

fn word<T: Copy>(object: &Bound<'_, PyAny>, name: &str, words: &[(&str, T)]) -> PyResult<T> {
    let given = object.getattr(name)?;
    let found = given.extract::<&str>().ok().and_then(|text| words.iter().find(|(word, _)| *word == text));
    found.map(|(_, meant)| *meant).ok_or_else(|| {
        let legal: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let given = given.repr().map_or_else(|_| "it".into(), |text| text.to_string());
        PyValueError::new_err(format!("{name}: {given} is none of the words; legal: {}", legal.join(", ")))
    })
}

const A_WINDOW: &str = "a number of bytes, MSS (one segment) or more";
const A_THRESHOLD: &str = "a number of bytes from 0, or math.inf";
