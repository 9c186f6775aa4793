//! Read-only views for laws and congestion controls in Python.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sojourn_aqm as aqm;
use sojourn_tcp::cc::{self as tcp, AckSample};
use sojourn_units::{Ecn, Rate, Span};

/// The verdict on a packet.
#[pyclass(frozen, eq, hash, module = "sojourn._core")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// Pass it unchanged.
    #[pyo3(name = "PASS")]
    Pass,
    /// Pass it with congestion experienced; one that is not ECN-capable passes unchanged.
    #[pyo3(name = "MARK")]
    Mark,
    /// Discard it.
    #[pyo3(name = "DROP")]
    Drop,
    /// Discard it and the victim; only to an arrival.
    #[pyo3(name = "DROP_BOTH")]
    DropBoth,
}

impl Verdict {
    pub(super) fn native(self) -> aqm::Verdict {
        match self {
            Verdict::Pass => aqm::Verdict::Pass,
            Verdict::Mark => aqm::Verdict::Mark,
            Verdict::Drop => aqm::Verdict::Drop,
            Verdict::DropBoth => aqm::Verdict::DropBoth,
        }
    }
}

#[pymethods]
impl Verdict {
    /// Returns the same object: there is one per verdict, so a law may store it.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

/// Context of a law: the link and its traffic as configured before the first packet.
#[pyclass(frozen, get_all, module = "sojourn._core")]
pub(crate) struct LinkContext {
    /// The link's rate at the start, bit/s.
    rate_bps: f64,
    /// The mean size of the flows' segments, bytes.
    packet_bytes: f64,
    /// The buffer's limit, packets; infinite where there is none.
    limit_packets: f64,
    /// Number of long flows; None: unknown.
    flows: Option<f64>,
    /// The configured base RTT (the mean over the flows), s; None: unknown.
    base_rtt_s: Option<f64>,
}

impl From<aqm::LinkContext> for LinkContext {
    fn from(context: aqm::LinkContext) -> LinkContext {
        LinkContext {
            rate_bps: context.rate.bits_per_second(),
            packet_bytes: context.packet,
            limit_packets: context.limit,
            flows: context.flows,
            base_rtt_s: context.base_rtt.map(Span::seconds),
        }
    }
}

#[pymethods]
impl LinkContext {
    /// The context in the first line of a trace.
    #[staticmethod]
    fn of_trace(header: &str) -> PyResult<LinkContext> {
        Ok(sojourn_trace::context_of(header).map_err(PyValueError::new_err)?.into())
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown(
            "LinkContext",
            slf.as_any(),
            &["rate_bps", "packet_bytes", "limit_packets", "flows", "base_rtt_s"],
        )
    }
}

/// The equilibrium of a law and its traffic.
#[pyclass(frozen, get_all, module = "sojourn._core")]
pub(crate) struct OperatingPoint {
    /// Probability at equilibrium.
    p: f64,
    /// Backlog at equilibrium, packets.
    backlog_packets: f64,
    /// Number of responsive flows.
    flows: f64,
    /// The link's rate, packets/s.
    capacity_pps: f64,
    /// Mean round-trip time at equilibrium, queueing included, s.
    rtt_s: f64,
}

impl From<aqm::linear::OperatingPoint> for OperatingPoint {
    fn from(point: aqm::linear::OperatingPoint) -> OperatingPoint {
        let aqm::Network { flows, capacity, rtt } = point.network;
        OperatingPoint {
            p: point.p,
            backlog_packets: point.backlog,
            flows,
            capacity_pps: capacity,
            rtt_s: rtt,
        }
    }
}

#[pymethods]
impl OperatingPoint {
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown("OperatingPoint", slf.as_any(), &["p", "backlog_packets", "flows", "capacity_pps", "rtt_s"])
    }
}

/// A view of a packet at the queue: the fields that all have, and `own` ones.
macro_rules! packet_view {
    ($(#[$doc:meta])* $View:ident, $names:expr, { $($own:tt)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "sojourn._core")]
        pub(crate) struct $View(aqm::$View);

        impl $View {
            pub(super) fn of(packet: &aqm::$View) -> $View {
                $View(*packet)
            }
        }

        #[pymethods]
        impl $View {
            /// The present, s since the start of the run.
            #[getter]
            fn time_s(&self) -> f64 {
                self.0.now.seconds()
            }

            /// Its size on the wire, bytes.
            #[getter]
            fn len_bytes(&self) -> u32 {
                self.0.len
            }

            /// Its ECN bits: "not_ect", "ect0", "ect1" or "ce".
            #[getter]
            fn ecn<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
                ecn_word(py, self.0.ecn)
            }

            /// It may be marked.
            #[getter]
            fn ecn_capable(&self) -> bool {
                self.0.ecn.is_capable()
            }

            /// The number of its flow.
            #[getter]
            fn flow(&self) -> u32 {
                self.0.flow.0
            }

            /// Backlog without this packet, packets.
            #[getter]
            fn backlog_packets(&self) -> u32 {
                self.0.backlog.packets
            }

            /// Backlog without this packet, bytes.
            #[getter]
            fn backlog_bytes(&self) -> u64 {
                self.0.backlog.bytes
            }

            $($own)*

            fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
                slf
            }

            fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
                shown(stringify!($View), slf.as_any(), $names)
            }
        }
    };
}

packet_view! {
    /// A packet that arrives.
    Arrival,
    &["time_s", "len_bytes", "ecn", "ecn_capable", "flow", "backlog_packets", "backlog_bytes", "victim", "u"],
    {
        /// The flow of the queued packet that `Verdict.DROP_BOTH` would drop too, chosen at random; None where the law
        /// uses no victim or no packet is queued.
        #[getter]
        fn victim(&self) -> Option<u32> {
            self.0.victim.map(|flow| flow.0)
        }

        /// Two uniform draws from [0, 1), for this packet alone; where there is a victim, the second has chosen it.
        #[getter]
        fn u(&self) -> (f64, f64) {
            self.0.u.into()
        }
    }
}

packet_view! {
    /// A packet that is about to leave.
    Departure,
    &["time_s", "len_bytes", "ecn", "ecn_capable", "flow", "sojourn_s", "backlog_packets", "backlog_bytes", "u"],
    {
        /// Its sojourn time, s.
        #[getter]
        fn sojourn_s(&self) -> f64 {
            self.0.sojourn.seconds()
        }

        /// Two uniform draws from [0, 1), for this packet alone.
        #[getter]
        fn u(&self) -> (f64, f64) {
            self.0.u.into()
        }
    }
}

/// The state of the queue at an update.
///
/// Counts are since the last update (at the first one, since the start of the run).
#[pyclass(frozen, get_all, module = "sojourn._core")]
pub(crate) struct Observation {
    /// The present, s since the start of the run.
    time_s: f64,
    /// Time since the last update, s.
    elapsed_s: f64,
    /// Backlog, packets; the one being sent is not included.
    backlog_packets: f64,
    /// Backlog, bytes.
    backlog_bytes: f64,
    /// Sojourn time of the packet at the head of the queue, s; 0 where there is none.
    sojourn_s: f64,
    /// Packets that arrived, dropped ones included.
    arrivals_packets: f64,
    /// Their bytes.
    arrivals_bytes: f64,
    /// Packets handed to the link.
    departures_packets: f64,
    /// Their bytes.
    departures_bytes: f64,
    /// Packets dropped, by the law or because the buffer was full.
    drops_packets: f64,
    /// Packets marked.
    marks_packets: f64,
    /// Time with a backlog, s.
    busy_s: f64,
    /// The link's rate, bit/s; None: unknown.
    capacity_bps: Option<f64>,
    /// The link's rate, packets/s of the mean size; None: unknown.
    capacity_pps: Option<f64>,
    /// The configured base RTT (the mean over the flows), s; None: unknown.
    base_rtt_s: Option<f64>,
    /// The mean size of the flows' segments, bytes.
    mean_packet_bytes: f64,
    /// The buffer's limit, packets; infinite where there is none.
    limit_packets: f64,
    /// The share of the arrivals that the law dropped or marked.
    applied_p: f64,
}

impl Observation {
    pub(super) fn of(seen: &aqm::Observation) -> Observation {
        Observation {
            time_s: seen.now.seconds(),
            elapsed_s: seen.elapsed,
            backlog_packets: seen.backlog_packets,
            backlog_bytes: seen.backlog_bytes,
            sojourn_s: seen.head_sojourn,
            arrivals_packets: seen.arrived_packets,
            arrivals_bytes: seen.arrived_bytes,
            departures_packets: seen.departed_packets,
            departures_bytes: seen.departed_bytes,
            drops_packets: seen.dropped_packets,
            marks_packets: seen.marked_packets,
            busy_s: seen.busy,
            capacity_bps: seen.capacity.map(Rate::bits_per_second),
            capacity_pps: seen.capacity.map(|rate| rate.packets_per_second(seen.mean_packet)),
            base_rtt_s: seen.base_rtt.map(Span::seconds),
            mean_packet_bytes: seen.mean_packet,
            limit_packets: seen.limit,
            applied_p: seen.applied.get(),
        }
    }
}

#[pymethods]
impl Observation {
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown("Observation", slf.as_any(), &OBSERVED)
    }
}

/// An ACK of new data.
#[pyclass(frozen, get_all, module = "sojourn._core")]
pub(crate) struct Acknowledged {
    /// The present, s since the start of the run.
    time_s: f64,
    /// Bytes newly acknowledged.
    acked_bytes: u64,
    /// Bytes in flight after it.
    flight_bytes: u64,
    /// RTT sample of this ACK, s; None without one.
    rtt_s: Option<f64>,
    /// The smoothed round-trip time, s; None before the first measurement.
    smoothed_rtt_s: Option<f64>,
    /// End of the acknowledged data, bytes from its start.
    acked_to: u64,
    /// End of the data sent: a round trip is over when `acked_to` reaches its value at the start.
    sent_to: u64,
    /// It echoes congestion.
    marked: bool,
}

impl Acknowledged {
    pub(super) fn of(ack: &AckSample<'_>) -> Acknowledged {
        Acknowledged {
            time_s: ack.now.seconds(),
            acked_bytes: ack.acked,
            flight_bytes: ack.flight,
            rtt_s: ack.sample.map(Span::seconds),
            smoothed_rtt_s: ack.rtt.smoothed_s(),
            acked_to: ack.una,
            sent_to: ack.sent,
            marked: ack.marked,
        }
    }
}

#[pymethods]
impl Acknowledged {
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let names = ["time_s", "acked_bytes", "flight_bytes", "rtt_s", "smoothed_rtt_s"];
        shown("Acknowledged", slf.as_any(), &[&names[..], &["acked_to", "sent_to", "marked"]].concat())
    }
}

/// A loss, an echo of congestion, or a timeout.
#[pyclass(frozen, get_all, module = "sojourn._core")]
pub(crate) struct Signal {
    /// "loss", "ecn" or "timeout".
    kind: &'static str,
    /// Bytes that were outstanding.
    flight_bytes: u64,
    /// The timeout follows another one, or a reduction by ECN, of the same segment.
    again: bool,
}

impl Signal {
    pub(super) fn of(signal: &tcp::Signal) -> Signal {
        let (kind, flight_bytes, again) = match *signal {
            tcp::Signal::Loss { flight } => ("loss", flight, false),
            tcp::Signal::EcnEcho { flight } => ("ecn", flight, false),
            tcp::Signal::Timeout { flight, again } => ("timeout", flight, again),
        };
        Signal { kind, flight_bytes, again }
    }
}

#[pymethods]
impl Signal {
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown("Signal", slf.as_any(), &["kind", "flight_bytes", "again"])
    }
}

/// An object with its fields, by name.
pub(super) fn shown(name: &str, object: &Bound<'_, PyAny>, fields: &[&str]) -> PyResult<String> {
    let values = fields.iter().map(|field| Ok(format!("{field}={}", object.getattr(*field)?.repr()?)));
    Ok(format!("{name}({})", values.collect::<PyResult<Vec<String>>>()?.join(", ")))
}

/// The word of an ECN codepoint.
pub(super) fn ecn_word(py: Python<'_>, ecn: Ecn) -> &Bound<'_, PyString> {
    match ecn {
        Ecn::NotEct => intern!(py, "not_ect"),
        Ecn::Ect0 => intern!(py, "ect0"),
        Ecn::Ect1 => intern!(py, "ect1"),
        Ecn::Ce => intern!(py, "ce"),
    }
}

/// The fields of an observation, in order.
const OBSERVED: [&str; 18] = [
    "time_s",
    "elapsed_s",
    "backlog_packets",
    "backlog_bytes",
    "sojourn_s",
    "arrivals_packets",
    "arrivals_bytes",
    "departures_packets",
    "departures_bytes",
    "drops_packets",
    "marks_packets",
    "busy_s",
    "capacity_bps",
    "capacity_pps",
    "base_rtt_s",
    "mean_packet_bytes",
    "limit_packets",
    "applied_p",
];
