//! Laws, qdiscs and congestion controls written in Python, behind the traits of `aqm` and `tcp`.
//!
//! `Fifo`, and for a controller `Periodic`, are those of the built-in laws, and
//! so are the draws: a law in Python has the same verdicts as in Rust.
//!
//! Python inspects the user's object (`sojourn.custom.template`) and passes a
//! template; a run starts its own copies from it and reads their attributes.

mod answers;
mod attributes;
mod callee;
mod congestion;
mod controller;
mod law;
mod packet;
mod qdisc;
mod views;

pub(crate) use callee::{Failure, is_interrupt};
pub(crate) use congestion::{check_cc, choice};
pub(crate) use packet::Packet;
pub(crate) use views::{
    Acknowledged, Arrival, Departure, LinkContext, Observation, OperatingPoint, Signal, Verdict,
};

use controller::PythonController;
use law::PythonLaw;
use pyo3::intern;
use pyo3::prelude::*;
use sojourn_aqm as aqm;
use sojourn_random::Stream;

/// A law written in Python, ready for a run.
pub(crate) struct CustomLaw {
    /// The law, as the qdisc sees it.
    pub(crate) law: Box<dyn aqm::Law + Sync>,
    /// Packets cost calls into Python.
    pub(crate) every_packet: bool,
}

/// Builds the qdisc of a run in front of a link, behind its buffer.
pub(crate) type Build<P> = Box<dyn FnOnce(aqm::Limit, Stream) -> Box<dyn aqm::Qdisc<P>> + Send>;

/// The same of a qdisc in Python: `calls` are the methods that it defines.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
pub(crate) fn check_qdisc(qdisc: &Bound<'_, PyAny>, calls: Vec<String>) -> PyResult<()> {
    qdisc::Parts::of(qdisc, &calls, Failure::default()).map(drop)
}

/// A run's own copy of a qdisc, to be built; `classes` are the names of the classes of flows.
pub(crate) fn start_qdisc<P: aqm::Packet + Send + 'static>(
    template: &Bound<'_, PyAny>,
    context: aqm::LinkContext,
    classes: Vec<String>,
    failure: &Failure,
) -> PyResult<Build<P>> {
    let py = template.py();
    let own = template.call_method1(intern!(py, "start"), (LinkContext::from(context),))?;
    let calls: Vec<String> = template.getattr(intern!(py, "calls"))?.extract()?;
    let parts = qdisc::Parts::of(&own, &calls, failure.clone())?;
    Ok(Box::new(move |limit, draws| Box::new(qdisc::PythonQdisc::new(parts, classes, limit, draws))))
}

/// Raises `ValueError` with one line if an attribute that the run reads is invalid. `calls` are the methods that a law
/// of packets defines, None for a controller.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // arguments come from Python by value
#[pyo3(signature = (law, calls = None))]
pub(crate) fn check_law(law: &Bound<'_, PyAny>, calls: Option<Vec<String>>) -> PyResult<()> {
    wrap(law, calls.as_deref(), &Failure::default()).map(drop)
}

/// A run's own copy of a law, at the start of the run; its failure goes into `failure`.
pub(crate) fn start(
    template: &Bound<'_, PyAny>,
    context: aqm::LinkContext,
    failure: &Failure,
) -> PyResult<CustomLaw> {
    let py = template.py();
    let own = template.call_method1(intern!(py, "start"), (LinkContext::from(context),))?;
    let calls: Option<Vec<String>> = template.getattr(intern!(py, "calls"))?.extract()?;
    wrap(&own, calls.as_deref(), failure)
}

fn wrap(own: &Bound<'_, PyAny>, calls: Option<&[String]>, failure: &Failure) -> PyResult<CustomLaw> {
    let Some(calls) = calls else {
        let law = aqm::Periodic::new(PythonController::of(own, failure.clone())?);
        return Ok(CustomLaw { law: Box::new(law), every_packet: false });
    };
    let law = PythonLaw::of(own, calls, failure.clone())?;
    Ok(CustomLaw { every_packet: law.calls_per_packet(), law: Box::new(law) })
}
