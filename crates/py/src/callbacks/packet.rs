//! A packet that a qdisc in Python holds: a view, with what the qdisc may do to it.
//!
//! The packet itself stays in the host. A mark or a drop is noted. The host carries it out after the call of `enqueue`,
//! `dequeue`, `not_before` or `on_overflow` that made it; one of another call when the next packet arrives or the link is
//! ready, before anything else.

use super::views::{ecn_word, shown};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sojourn_aqm::{self as aqm, FlowTag};
use sojourn_units::{Ecn, Time};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A packet in a qdisc written in Python.
#[pyclass(frozen, module = "sojourn._core")]
pub(crate) struct Packet {
    /// Its place among the packets of the host.
    pub(super) place: usize,
    len: u32,
    flow: u32,
    tag: FlowTag,
    arrived: Time,
    ecn: Ecn,
    u: [f64; 2],
    is_marked: AtomicBool,
    fate: AtomicU8,
    desk: Arc<Desk>,
}

/// State that all packets of a qdisc share.
pub(super) struct Desk {
    /// Names of the classes of flows, by number.
    classes: Vec<String>,
    acts: Mutex<Vec<Act>>,
}

/// Drop or mark of a packet, by its place.
#[derive(Clone, Copy)]
pub(super) enum Act {
    Mark(usize),
    Drop(usize),
}

/// Where a packet is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Fate {
    Held,
    Dropped,
    Sent,
}

impl Desk {
    pub(super) fn new(classes: Vec<String>) -> Arc<Desk> {
        Arc::new(Desk { classes, acts: Mutex::default() })
    }

    /// The acts that are not yet carried out.
    pub(super) fn acts(&self) -> MutexGuard<'_, Vec<Act>> {
        self.acts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Packet {
    /// A packet that arrives at `now`, at its place in the host.
    pub(super) fn arriving(
        now: Time,
        (place, packet): (usize, &impl aqm::Packet),
        (tag, u): (FlowTag, [f64; 2]),
        desk: &Arc<Desk>,
    ) -> Packet {
        Packet {
            place,
            len: packet.len(),
            flow: packet.flow().0,
            tag,
            arrived: now,
            ecn: packet.ecn(),
            u,
            is_marked: AtomicBool::new(false),
            fate: AtomicU8::new(Fate::Held as u8),
            desk: Arc::clone(desk),
        }
    }

    /// It is one of the packets of this desk.
    pub(super) fn is_of(&self, desk: &Arc<Desk>) -> bool {
        Arc::ptr_eq(&self.desk, desk)
    }

    pub(super) fn fate(&self) -> Fate {
        match self.fate.load(Ordering::Relaxed) {
            0 => Fate::Held,
            1 => Fate::Dropped,
            _ => Fate::Sent,
        }
    }

    pub(super) fn set_fate(&self, fate: Fate) {
        self.fate.store(fate as u8, Ordering::Relaxed);
    }

    fn must_be_held(&self, act: &str) -> PyResult<()> {
        let was = match self.fate() {
            Fate::Held => return Ok(()),
            Fate::Dropped => "was dropped before",
            Fate::Sent => "was returned by dequeue before",
        };
        Err(PyValueError::new_err(format!(
            "{act} of a packet that {was}; expected a packet that the qdisc holds"
        )))
    }

    fn present_ecn(&self) -> Ecn {
        if self.is_marked.load(Ordering::Relaxed) { Ecn::Ce } else { self.ecn }
    }
}

#[pymethods]
impl Packet {
    /// Marks it with congestion experienced; returns whether it could be marked.
    fn mark(&self) -> PyResult<bool> {
        self.must_be_held("mark")?;
        if !self.ecn.is_capable() {
            return Ok(false);
        }
        if !self.is_marked.swap(true, Ordering::Relaxed) {
            self.desk.acts().push(Act::Mark(self.place));
        }
        Ok(true)
    }

    /// Drops it: it is no longer held.
    fn drop(&self) -> PyResult<()> {
        self.must_be_held("drop")?;
        self.set_fate(Fate::Dropped);
        self.desk.acts().push(Act::Drop(self.place));
        Ok(())
    }

    /// Its size on the wire, bytes.
    #[getter]
    fn len_bytes(&self) -> u32 {
        self.len
    }

    /// The number of its flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.flow
    }

    /// The name of its flow's class; empty: unknown.
    #[getter]
    fn class_name(&self) -> &str {
        self.desk.classes.get(self.tag.class as usize).map_or("", String::as_str)
    }

    /// Its DSCP, 0 to 63.
    #[getter]
    fn dscp(&self) -> u8 {
        self.tag.dscp
    }

    /// Number of the host that sends it.
    #[getter]
    #[allow(clippy::wrong_self_convention)] // the name is Python's
    fn from_host(&self) -> u32 {
        self.tag.from_host
    }

    /// Number of the host that receives it.
    #[getter]
    fn to_host(&self) -> u32 {
        self.tag.to_host
    }

    /// Its ECN bits: "not_ect", "ect0", "ect1" or "ce".
    #[getter]
    fn ecn<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        ecn_word(py, self.present_ecn())
    }

    /// It may be marked.
    #[getter]
    fn ecn_capable(&self) -> bool {
        self.ecn.is_capable()
    }

    /// Time of its arrival, s since the start of the run.
    #[getter]
    fn arrival_s(&self) -> f64 {
        self.arrived.seconds()
    }

    /// Two uniform draws from [0, 1), for this packet alone.
    #[getter]
    fn u(&self) -> (f64, f64) {
        self.u.into()
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown("Packet", slf.as_any(), &["flow", "len_bytes", "ecn", "arrival_s"])
    }
}
