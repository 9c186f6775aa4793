//! Congestion controls, one per file.
//!
//! A file contains the catalogue entry of its control (`ENTRY`), its parameters, and its curve. The list below
//! registers it: the catalogue and [`Curve`], the type that a sender holds, are generated from it.

#[macro_use]
mod list;

pub mod cubic;
pub mod dctcp;
pub mod newreno;
pub mod reno;
pub mod scalable;

mod choice;
mod hybrid;
mod hystart;
mod kernel;
mod slow_start;

pub use choice::{BuildCustom, Choice, Custom, Listed};
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use kernel::KERNEL;
pub use newreno::Newreno;
pub use reno::Reno;
pub use scalable::Scalable;
pub use slow_start::EarlyExit;

use crate::profile::Profile;
use crate::rtt::RttEstimator;
use dyn_clone::DynClone;
use sojourn_params::{Errors, Given, InputError, Page, Params, Value};
use sojourn_units::{Bytes, Span, Time};

controls! {
    reno::Reno,
    newreno::Newreno,
    cubic::Cubic,
    dctcp::Dctcp,
    scalable::Scalable,
}

/// ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct AckSample<'a> {
    /// Time of arrival.
    pub now: Time,
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// Bytes in flight after the ACK.
    pub flight: u64,
    /// RTT estimator, updated by this ACK.
    pub rtt: &'a RttEstimator,
    /// RTT sample of this ACK.
    pub sample: Option<Span>,
    /// First byte not acknowledged after this ACK.
    pub una: u64,
    /// First byte never sent: its acknowledgment ends a round trip.
    pub sent: u64,
    /// The ACK echoes congestion.
    pub marked: bool,
}

/// Congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A segment was deemed lost with `flight` bytes outstanding.
    Loss {
        /// Bytes outstanding, without those sent by limited transmit.
        flight: u64,
    },
    /// A segment of this window was marked with `flight` bytes outstanding.
    EcnEcho {
        /// Bytes outstanding.
        flight: u64,
    },
    /// The retransmission timer expired with `flight` bytes outstanding.
    Timeout {
        /// Bytes outstanding.
        flight: u64,
        /// The segment was already retransmitted by timeout, or the window already reduced by ECN.
        again: bool,
    },
}

/// Congestion control: computes the congestion window.
///
/// The sender handles everything else (recovery, idle times, bursts), and may set the window. To undo a spurious
/// reduction, it restores a copy from before it.
pub trait CongestionControl: DynClone + Send {
    /// New data was acknowledged outside recovery: the window may grow.
    fn on_ack(&mut self, ack: &AckSample<'_>);
    /// New data was acknowledged on a connection with ECN, in recovery or not; called before `on_ack`.
    fn on_feedback(&mut self, ack: &AckSample<'_>) {
        let _ = ack;
    }
    /// New data was acknowledged, but the window was not used, or the receiver's is smaller: it does not grow.
    fn on_unused(&mut self, ack: &AckSample<'_>) {
        let _ = ack;
    }
    /// A loss, an ECN echo, or a timeout.
    fn on_signal(&mut self, signal: &Signal);
    /// Congestion window.
    fn window(&self) -> Bytes;
    /// Slow-start threshold.
    fn ssthresh(&self) -> Bytes;
    /// Sets the window, to at least one segment.
    fn set_window(&mut self, window: Bytes);
    /// Sets the slow-start threshold.
    fn set_ssthresh(&mut self, ssthresh: Bytes);
}

dyn_clone::clone_trait_object!(CongestionControl);

/// Catalogue entry of a congestion control.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Description.
    pub page: Page,
    /// Recovery that its source pairs it with.
    pub recovery: Recovery,
    /// Feedback on ECN marks that it needs from the receiver.
    pub feedback: Feedback,
    /// True where its parameters turn on the answer to ECN of RFC 8511.
    pub abe: fn(&dyn Params) -> bool,
    /// Reads its parameters.
    pub read: Read,
    /// Builds the curve from them, for a profile and segments of so many bytes of payload.
    pub build: Build,
}

/// Reader of a control's parameters.
pub type Read = fn(&[(String, Value)]) -> Result<Given, Errors>;

/// Builder of a curve from its parameters; an error for those of another control.
pub type Build = fn(&dyn Params, &Profile, u32) -> Result<Curve, InputError>;

/// Recovery from further losses in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Any new ACK ends recovery (RFC 5681).
    Reno,
    /// Partial ACKs indicate the next loss (RFC 6582).
    NewReno,
    /// The receiver reports the data it holds (RFC 6675).
    Sack,
}

/// Feedback on ECN marks from the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// ECE until the sender reports a reduction by CWR (RFC 3168, section 6.1.3).
    Classic,
    /// ECE for marked segments only (RFC 8257, section 3.2).
    PerSegment,
}
