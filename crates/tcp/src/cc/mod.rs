//! Congestion controls: the curve that the window follows, one file each.

mod cubic;
mod reno;

pub use cubic::Cubic;
pub use reno::Reno;

use crate::profile::Profile;
use crate::rtt::RttEstimator;
use dyn_clone::DynClone;
use sojourn_units::{Bytes, Time};

/// New data was acknowledged outside recovery.
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
    fn on_ack(&mut self, ack: &AckSample<'_>);
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
    /// The receiver tells what it has (RFC 6675).
    Sack,
}

dyn_clone::clone_trait_object!(CongestionControl);

/// The recovery that the congestion control of the name `stem` is paired with by its RFC, or that
/// `sack` asks for.
pub fn recovery(stem: &str, sack: Option<bool>) -> Option<Recovery> {
    let paired = match stem {
        "reno" => Recovery::Reno,
        "newreno" => Recovery::NewReno,
        "cubic" => Recovery::Sack,
        _ => return None,
    };
    Some(match sack {
        Some(true) => Recovery::Sack,
        Some(false) if paired == Recovery::Sack => Recovery::NewReno,
        _ => paired,
    })
}

/// The congestion control of the name `stem` for segments of `mss` bytes of payload.
pub fn build(stem: &str, profile: &Profile, mss: u32) -> Option<Box<dyn CongestionControl>> {
    match stem {
        "reno" | "newreno" => Some(Box::new(Reno::new(profile, mss))),
        "cubic" => Some(Box::new(Cubic::new(profile, mss))),
        _ => None,
    }
}
