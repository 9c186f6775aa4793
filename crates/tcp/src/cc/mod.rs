//! Congestion controls: the curve that the window follows, one file each.

mod cubic;
mod reno;

pub use cubic::Cubic;
pub use reno::Reno;

use crate::profile::Profile;
use crate::rtt::RttEstimator;
use sojourn_units::{Bytes, Span, Time};

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
pub trait CongestionControl {
    /// New data was acknowledged outside recovery: the window may grow.
    fn on_ack(&mut self, ack: &AckSample<'_>);
    /// New data was acknowledged on a connection that agreed on ECN, in recovery or not; comes before `on_ack`.
    fn on_feedback(&mut self, ack: &AckSample<'_>) {
        let _ = ack;
    }
    /// The same where the window was not used: it does not grow.
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

/// Any congestion control of the catalogue.
///
/// A sender asks at every ACK: the curve lies within it, and the question costs no look elsewhere.
#[derive(Clone, Debug)]
pub enum Curve {
    /// `reno` and `newreno`.
    Reno(Reno),
    /// `cubic`.
    Cubic(Cubic),
}

impl CongestionControl for Curve {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        match self {
            Curve::Reno(reno) => reno.on_ack(ack),
            Curve::Cubic(cubic) => cubic.on_ack(ack),
        }
    }
    fn on_signal(&mut self, signal: &Signal) {
        match self {
            Curve::Reno(reno) => reno.on_signal(signal),
            Curve::Cubic(cubic) => cubic.on_signal(signal),
        }
    }
    fn window(&self) -> Bytes {
        match self {
            Curve::Reno(reno) => reno.window(),
            Curve::Cubic(cubic) => cubic.window(),
        }
    }
    fn ssthresh(&self) -> Bytes {
        match self {
            Curve::Reno(reno) => reno.ssthresh(),
            Curve::Cubic(cubic) => cubic.ssthresh(),
        }
    }
    fn set_window(&mut self, window: Bytes) {
        match self {
            Curve::Reno(reno) => reno.set_window(window),
            Curve::Cubic(cubic) => cubic.set_window(window),
        }
    }
    fn set_ssthresh(&mut self, ssthresh: Bytes) {
        match self {
            Curve::Reno(reno) => reno.set_ssthresh(ssthresh),
            Curve::Cubic(cubic) => cubic.set_ssthresh(ssthresh),
        }
    }
}

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
pub fn build(stem: &str, profile: &Profile, mss: u32) -> Option<Curve> {
    match stem {
        "reno" | "newreno" => Some(Curve::Reno(Reno::new(profile, mss))),
        "cubic" => Some(Curve::Cubic(Cubic::new(profile, mss))),
        _ => None,
    }
}
