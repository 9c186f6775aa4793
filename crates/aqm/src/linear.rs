//! What a law is for small signals about a point of rest: transfer functions from the backlog to p.

use crate::site::Network;
use sojourn_units::Span;

/// Where the loop rests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// The probability that holds the traffic there.
    pub p: f64,
    /// The backlog there, packets.
    pub backlog: f64,
    /// The network there: its round-trip time counts the queueing of `backlog`.
    pub network: Network,
}

/// A ratio of polynomials; coefficients by ascending powers of the variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Rational {
    /// Above.
    pub numerator: Vec<f64>,
    /// Below.
    pub denominator: Vec<f64>,
}

/// The transfer functions of a law, from the deviation of the backlog (packets) to that of p.
///
/// Both are positive at low frequencies: p rises with the backlog. A law has both, or one: none in s where it
/// was never designed in s, none in samples where it is asked at every packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// In s, as it was designed.
    pub continuous: Option<Rational>,
    /// As it runs.
    pub sampled: Option<InSamples>,
    /// What two loops it is made of, where one steers the other.
    pub cascade: Option<Cascade>,
}

/// A transfer function between sequences: backlogs q(k T) to the p that holds from k T on.
///
/// What was counted since the last sample is not a second input: where the link is busy, what was let in is
/// C T + q(k T) - q((k-1) T).
#[derive(Clone, Debug, PartialEq)]
pub struct InSamples {
    /// In z^-1, the delay of one period.
    pub transfer: Rational,
    /// T.
    pub period: Span,
}

/// Two controllers in a cascade: p follows the packets in flight F = N W, and these follow the backlog.
#[derive(Clone, Debug, PartialEq)]
pub struct Cascade {
    /// In s, from F - F_ref (packets) to p.
    pub inner: Rational,
    /// In s, from the error of the backlog (packets) to F_ref (packets).
    pub outer: Rational,
}
