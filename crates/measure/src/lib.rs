//! Measurement: from events in a plant to metrics, series and distributions.
//!
//! [`METRICS`] defines every metric once. The packet plant reports events to a [`Probe`], of which the [`Recorder`] keeps
//! exact sums and histograms; the fluid plant integrates [`Totals`] and takes weighted [`Sample`]s. [`LinkStats`] and
//! [`PacketStats`] make the metrics of both, an [`Outcome`] holds them.

mod catalogue;
mod class_stats;
mod cwnd_series;
mod e_model;
mod flow_stats;
mod histogram;
mod link_record;
mod link_stats;
mod losses;
mod outcome;
mod parts;
mod probe;
mod queue_stats;
mod recorder;
mod responsiveness;
mod round_trip;
mod sample;
mod series;
mod summary;
mod totals;

pub use catalogue::{
    CLASS_BRIEF, CLASS_SUMMARY, Display, METRICS, Metric, Metrics, Reading, SUMMARY, Scope, WINDOW_METRICS,
    applying, metric_named,
};
pub use class_stats::{ClassStats, Returned};
pub use cwnd_series::CwndSeries;
pub use flow_stats::{FlowKind, FlowStats, jain_index, path_metrics};
pub use histogram::Histogram;
pub use link_record::{LinkRecord, Watched};
pub use link_stats::{
    LinkStats, MOST_CHANGES, Moments, PacketStats, Quantiles, Stretch, StretchStart, class_metrics,
};
pub use outcome::{Balance, Elsewhere, LinkOutcome, Outcome, QueueOutcome, Row, WindowRow};
pub use parts::{Parts, WindowOfLink, WindowParts};
pub use probe::{Cwnd, Probe, Queued};
pub use queue_stats::ExactTotals;
pub use recorder::{Interval, LOST_AFTER, Recorder, TimeWindow, Watchlist};
pub use responsiveness::ProbeTime;
pub use round_trip::{RoundTrip, SentAt, Transits};
pub use sample::Sample;
pub use series::{QueueSeries, Series, Step};
pub use summary::Summary;
pub use totals::{Packets, Received, Totals, finite_ratio};
