//! Congestion controls: the curve that the window follows, one file each.
//!
//! A file holds what the catalogue tells of its control (`ENTRY`), the parameters, and the curve. The list below
//! makes it known: from it follow the catalogue and the one type that a sender holds, [`Curve`].

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
mod slow_start;

pub use choice::{BuildGuest, Choice, Guest};
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use newreno::Newreno;
pub use reno::Reno;
pub use scalable::Scalable;
pub use slow_start::EarlyExit;

use crate::profile::Profile;
use crate::rtt::RttEstimator;
use dyn_clone::DynClone;
use sojourn_units::{Bytes, Fault, Page, Span, Time, Value};

controls! {
    reno::Reno,
    newreno::Newreno,
    cubic::Cubic,
    dctcp::Dctcp,
    scalable::Scalable,
}

/// What an ACK of new data says.
#[derive(Clone, Copy, Debug)]
pub struct AckSample<'a> {
    /// The present.
    pub now: Time,
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// Bytes in flight after it.
    pub flight: u64,
    /// The round-trip time as measured so far.
    pub rtt: &'a RttEstimator,
    /// The round-trip time that this ACK shows.
    pub sample: Option<Span>,
    /// First byte not acknowledged, after this ACK.
    pub una: u64,
    /// First byte never sent: a round trip is over when it is acknowledged.
    pub sent: u64,
    /// Whether it echoes congestion.
    pub marked: bool,
}

/// Something other than an ordinary ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A segment is taken for lost; `flight` bytes were outstanding.
    Loss {
        /// Bytes outstanding, without those that limited transmit sent.
        flight: u64,
    },
    /// The network marked a segment of this window; `flight` bytes were outstanding.
    EcnEcho {
        /// Bytes outstanding.
        flight: u64,
    },
    /// The retransmission timer expired; `flight` bytes were outstanding.
    Timeout {
        /// Bytes outstanding.
        flight: u64,
        /// Whether the segment had been retransmitted by timeout, or the window cut by ECN, already.
        again: bool,
    },
}

/// A congestion control: a curve that the window follows.
///
/// What is not the curve's (recovery, idle times, bursts) the sender does, and sets the window. To undo a reduction
/// for a loss that was none, the sender takes up a copy from before it.
pub trait CongestionControl: DynClone + Send {
    /// New data was acknowledged outside recovery: the window may grow.
    fn on_ack(&mut self, ack: &AckSample<'_>);
    /// New data was acknowledged on a connection that agreed on ECN, in recovery or not; comes before `on_ack`.
    fn on_feedback(&mut self, ack: &AckSample<'_>) {
        let _ = ack;
    }
    /// The same where the window was not used, or the receiver has room for less: it does not grow.
    fn on_unused(&mut self, ack: &AckSample<'_>) {
        let _ = ack;
    }
    /// Loss, an ECN echo, or a timeout.
    fn on_signal(&mut self, signal: &Signal);
    /// How much may be outstanding.
    fn window(&self) -> Bytes;
    /// The slow-start threshold.
    fn ssthresh(&self) -> Bytes;
    /// The sender sets the window, to at least a segment.
    fn set_window(&mut self, window: Bytes);
    /// The sender sets the slow-start threshold.
    fn set_ssthresh(&mut self, ssthresh: Bytes);
}

dyn_clone::clone_trait_object!(CongestionControl);

/// A congestion control of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What is told of it.
    pub page: Page,
    /// The recovery that its source pairs it with.
    pub recovery: Recovery,
    /// What it needs to hear from the receiver about marks.
    pub feedback: Feedback,
    /// Builds it from given parameters.
    pub build: Build,
}

/// Builds a curve from given parameters, for a profile and segments of so many bytes of payload.
pub type Build = fn(&[(String, Value)], &Profile, u32) -> Result<Curve, Fault>;

/// How losses after the first one of a window are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Any new ACK ends recovery (RFC 5681).
    Reno,
    /// Partial ACKs show the next loss (RFC 6582).
    NewReno,
    /// The receiver tells what it has (RFC 6675).
    Sack,
}

/// What a receiver tells of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// That there were some, until it hears that the window was reduced (RFC 3168, section 6.1.3).
    Classic,
    /// Which segments were marked (RFC 8257, section 3.2).
    PerSegment,
}
