//! Reports of the endpoints, which the relay passes to the probe.

use sojourn_measure::{Cwnd, Probe};
use sojourn_sim::probe_time;
use sojourn_units::{Span, Time};
use sojourn_workload::RpmProbe;
use std::sync::{Arc, Mutex, PoisonError};

/// Reports that wait for the plant.
///
/// The plant's thread runs before all others, and so must never wait for this one: it takes what is there if nobody
/// is writing, and comes again later otherwise. A channel would make it spin for a sender that it has interrupted.
#[derive(Clone, Debug, Default)]
pub struct Reports(Arc<Mutex<Vec<Report>>>);

impl Reports {
    /// Adds a report.
    pub fn add(&self, report: Report) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    }

    /// Exchanges the reports for `empty`, unless one is being added.
    pub fn take(&self, empty: &mut Vec<Report>) {
        if let Ok(mut waiting) = self.0.try_lock() {
            std::mem::swap(&mut *waiting, empty);
        }
    }
}

/// A report of a flow, with its time; as the methods of [`Probe`].
#[derive(Clone, Copy, Debug)]
pub enum Report {
    /// A connection begins.
    Began(Time, u32),
    /// Bytes come to a receiver's application.
    Received(Time, u32, u64),
    /// A transfer that began then has come in full.
    Completed(Time, u32, Time),
    /// A player has played and stalled for so long.
    Played(Time, u32, Span, Span),
    /// A probe of a responsiveness test.
    Probed(Time, u32, RpmProbe, Span),
    /// An arrival of a class was rejected.
    Rejected(Time, u32),
    /// A datagram leaves.
    Sent(Time, u32),
    /// A datagram arrives so long after it left, with so many bytes of payload.
    Datagram(Time, u32, Span, u64),
    /// A datagram comes back.
    CameBack(Time, u32, Span),
    /// A congestion window.
    Window(Time, u32, Cwnd),
    /// The kernel's estimate of the round trip.
    Smoothed(u32, Span),
    /// A flow has stopped sending.
    Stopped(Time, u32),
}

impl Report {
    /// Reports it to a probe; `class_of` gives the class of a flow.
    pub fn pass(self, probe: &mut impl Probe, class_of: impl Fn(u32) -> u32) {
        match self {
            Report::Began(at, flow) => probe.began(at, flow, class_of(flow)),
            Report::Received(at, flow, bytes) => probe.received(at, flow, bytes),
            Report::Completed(at, flow, began) => probe.completed(at, flow, began),
            Report::Played(at, flow, played, stalled) => probe.played(at, flow, played, stalled),
            Report::Probed(at, flow, of, duration) => probe.probed(at, flow, probe_time(of), duration),
            Report::Rejected(at, class) => probe.rejected(at, class),
            Report::Sent(at, flow) => probe.sent(at, flow),
            Report::Datagram(at, flow, delay, payload) => {
                probe.received(at, flow, payload);
                probe.datagram(at, flow, delay);
            }
            Report::CameBack(at, flow, rtt) => probe.came_back(at, flow, rtt),
            Report::Window(at, flow, window) => probe.window(at, flow, window),
            Report::Stopped(at, flow) => probe.stopped(at, flow),
            Report::Smoothed(..) => {}
        }
    }
}
