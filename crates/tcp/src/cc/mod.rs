//! Congestion controls: the curve that the window follows, one file each.

mod reno;

pub use reno::Reno;

use crate::profile::Profile;
use dyn_clone::DynClone;
use sojourn_units::{Bytes, Time};

/// New data was acknowledged outside recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    /// The present.
    pub now: Time,
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// Bytes in flight after it.
    pub flight: u64,
}

/// Something other than an ordinary ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A segment is taken for lost; `flight` bytes were outstanding.
    Loss {
        /// Bytes outstanding, without those that limited transmit sent.
        flight: u64,
    },
    /// The network marked a segment of this window.
    EcnEcho,
    /// The retransmission timer expired; `flight` bytes were outstanding.
    Timeout {
        /// Bytes outstanding.
        flight: u64,
        /// Whether the segment had been retransmitted by timeout, or the window cut by ECN, already.
        again: bool,
    },
    /// The SYN was lost more than once.
    SynsLost,
    /// Recovery ended with `flight` bytes outstanding.
    Recovered {
        /// Bytes outstanding.
        flight: u64,
    },
}

/// A congestion control.
pub trait CongestionControl: DynClone + Send {
    /// New data was acknowledged outside recovery.
    fn on_ack(&mut self, ack: &AckSample);
    /// Loss, an ECN echo, a timeout, or the end of recovery.
    fn on_signal(&mut self, signal: &Signal);
    /// How much may be outstanding.
    fn window(&self) -> Bytes;
    /// The slow-start threshold.
    fn ssthresh(&self) -> Bytes;
}

/// How losses after the first one of a window are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Any new ACK ends recovery (RFC 5681).
    Reno,
    /// Partial ACKs show the next loss (RFC 6582).
    NewReno,
}

dyn_clone::clone_trait_object!(CongestionControl);

/// The recovery that the congestion control of the name `stem` is paired with.
pub fn recovery(stem: &str) -> Option<Recovery> {
    match stem {
        "reno" => Some(Recovery::Reno),
        "newreno" => Some(Recovery::NewReno),
        _ => None,
    }
}

/// The congestion control of the name `stem` for segments of `mss` bytes of payload.
pub fn build(stem: &str, profile: &Profile, mss: u32) -> Option<Box<dyn CongestionControl>> {
    match stem {
        "reno" | "newreno" => Some(Box::new(Reno::new(profile, mss))),
        _ => None,
    }
}
