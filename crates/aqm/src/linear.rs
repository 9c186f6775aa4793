//! Linear model of a law about an operating point: transfer functions from the backlog to p.
//!
//! A law that counts offered packets has different transfer functions under drops and under marks, since under drops
//! only the share 1 - p of the offered packets enters the queue. Under a mixture of both it has none, since the
//! offered load then does not follow from the backlog. The average p that an adaptive design follows equals p at the
//! operating point, and the errors that it scales are zero there: to first order it has no effect.

use crate::link_context::Network;
use sojourn_units::Span;
use std::ops::{Add, Mul};

/// Fate of the packets that a law chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// Marked and forwarded.
    Mark,
    /// Dropped before the queue.
    Drop,
    /// Either, by the ECN bits of the packet.
    Both {
        /// theta: the forwarded share of all arrivals at the operating point.
        passes: f64,
    },
}

/// Operating point of the loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatingPoint {
    /// Share of packets marked or dropped, in equilibrium with the traffic.
    pub p: f64,
    /// Mark, drop, or both.
    pub signal: Signal,
    /// Backlog, packets.
    pub backlog: f64,
    /// Network; its RTT includes the queueing delay of `backlog`.
    pub network: Network,
}

/// Ratio of polynomials; coefficients in ascending powers of the variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Rational {
    /// Numerator.
    pub numerator: Vec<f64>,
    /// Denominator.
    pub denominator: Vec<f64>,
}

/// Transfer functions of a law, from the deviation of the backlog (packets) to that of p.
///
/// Both are positive at low frequencies: p rises with the backlog. A law designed as sampled-data has none in s; a law
/// that acts on every packet has no sampled-data form. A law has neither if a certificate's plant does not apply to it,
/// and `partial` has the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// In s: the law updated continuously, with its averages.
    pub continuous: Option<Rational>,
    /// Sampled-data form, as the law runs.
    pub sampled: Option<InSamples>,
    /// Inner and outer loop of a cascade.
    pub cascade: Option<Cascade>,
    /// Assumptions besides small deviations, one sentence each.
    pub assumes: Vec<&'static str>,
    /// Reason why the model is incomplete even for small deviations; None: complete.
    pub partial: Option<&'static str>,
    /// True if its input is the sojourn of the packet that leaves: the backlog as that packet arrived.
    pub sees_sojourn: bool,
}

/// Sampled-data transfer function: backlogs q(k T) to the p that holds from k T on.
///
/// Counts since the last sample are no second input: at a busy link the accepted packets are
/// C T + q(k T) - q((k-1) T), and the offered ones are these over the share accepted under the last p.
#[derive(Clone, Debug, PartialEq)]
pub struct InSamples {
    /// In powers of z^-1, the delay of one period.
    pub transfer: Rational,
    /// T.
    pub period: Span,
}

/// Two controllers in cascade: p controls the packets in flight F = N W, and their reference controls the backlog.
///
/// The design: both measure their inputs without delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Cascade {
    /// In s, from F - F_ref (packets) to p.
    pub inner: Rational,
    /// In s, from the error of the backlog (packets) to F_ref (packets).
    pub outer: Rational,
}

impl Signal {
    /// theta: the forwarded share of all arrivals.
    pub fn passes(self, p: f64) -> f64 {
        match self {
            Signal::Mark => 1.0,
            Signal::Drop => 1.0 - p,
            Signal::Both { passes } => passes,
        }
    }
}

impl OperatingPoint {
    /// Offered load: C over the forwarded share, packets/s.
    pub fn offered(&self) -> f64 {
        self.network.capacity / self.signal.passes(self.p)
    }
}

impl Linear {
    /// Both forms, no assumptions.
    pub(crate) fn both(continuous: Rational, sampled: Rational, period: Span) -> Linear {
        Linear::new(Some(continuous), Some(InSamples { transfer: sampled, period }))
    }

    /// These forms, no assumptions.
    pub fn new(continuous: Option<Rational>, sampled: Option<InSamples>) -> Linear {
        Linear { continuous, sampled, cascade: None, assumes: Vec::new(), partial: None, sees_sojourn: false }
    }

    /// No transfer function, for this reason.
    pub(crate) fn none(reason: &'static str) -> Linear {
        Linear { partial: Some(reason), ..Linear::new(None, None) }
    }

    /// Adds an assumption if `is_so`.
    pub(crate) fn assuming(mut self, is_so: bool, sentence: &'static str) -> Linear {
        self.assumes.extend(is_so.then_some(sentence));
        self
    }

    /// Marks its input as the sojourn of the packet that leaves, if it is one.
    pub(crate) fn seeing_sojourn(self, is_so: bool) -> Linear {
        Linear { sees_sojourn: is_so, ..self }
    }

    /// p <- p + a q - b q_old every `period`: by Tustin's rule (a + b)/2 + (a - b)/(T s).
    pub(crate) fn steps(a: f64, b: f64, period: Span) -> Linear {
        Linear::kept(1.0, [a, b], period)
    }

    /// p <- k p + a q - b q_old every `period`: by Tustin's rule ((a + b) s/2 + (a - b)/T) / ((1 + k) s/2 + (1 - k)/T).
    pub(crate) fn kept(k: f64, [a, b]: [f64; 2], period: Span) -> Linear {
        let [above, below] =
            [[a, b], [1.0, k]].map(|[now, old]| [(now - old) / period.seconds(), f64::midpoint(now, old)]);
        Linear::both(Rational::new(above, below), Rational::new([a, -b], [1.0, -k]), period)
    }
}

/// Assumption of a law whose gains follow the average p.
pub(crate) const FOLLOWS_THE_LOAD: &str = "The adapted gains are those of the equilibrium: the average \
                                           p follows slowly, and the errors that it scales are zero there.";

impl Rational {
    /// Ratio of two polynomials.
    pub(crate) fn new(numerator: impl Into<Vec<f64>>, denominator: impl Into<Vec<f64>>) -> Rational {
        Rational { numerator: numerator.into(), denominator: denominator.into() }
    }

    /// A constant.
    pub(crate) fn constant(value: f64) -> Rational {
        Rational::new([value], [1.0])
    }
}

impl Mul for Rational {
    type Output = Rational;

    fn mul(self, other: Rational) -> Rational {
        Rational {
            numerator: product(&self.numerator, &other.numerator),
            denominator: product(&self.denominator, &other.denominator),
        }
    }
}

impl Mul<f64> for Rational {
    type Output = Rational;

    fn mul(self, factor: f64) -> Rational {
        self * Rational::constant(factor)
    }
}

impl Add for Rational {
    type Output = Rational;

    /// Sum; a common denominator is kept.
    fn add(self, other: Rational) -> Rational {
        if self.denominator == other.denominator {
            return Rational { numerator: sum(&self.numerator, &other.numerator), ..self };
        }
        let [left, right] =
            [(&self, &other), (&other, &self)].map(|(a, b)| product(&a.numerator, &b.denominator));
        Rational {
            numerator: sum(&left, &right),
            denominator: product(&self.denominator, &other.denominator),
        }
    }
}

/// Sum of two polynomials.
pub(crate) fn sum(left: &[f64], right: &[f64]) -> Vec<f64> {
    let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
    let rest = short.iter().chain(std::iter::repeat(&0.0));
    long.iter().zip(rest).map(|(a, b)| a + b).collect()
}

/// Product of two polynomials.
pub(crate) fn product(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; left.len() + right.len() - 1];
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    product
}

/// Polynomial times z^-`periods`.
pub(crate) fn later(polynomial: &[f64], periods: usize) -> Vec<f64> {
    [vec![0.0; periods], polynomial.to_vec()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_added_and_multiplied() {
        // 1/(1 + x) + x/2 = (2 + x + x^2) / (2 + 2 x).
        let lag = Rational::new([1.0], [1.0, 1.0]);
        let added = lag.clone() + Rational::new([0.0, 1.0], [2.0]);
        assert_eq!(added, Rational::new([2.0, 1.0, 1.0], [2.0, 2.0]));
        assert_eq!(lag.clone() + lag.clone(), Rational::new([2.0], [1.0, 1.0]));
        assert_eq!(lag.clone() * lag.clone(), Rational::new([1.0], [1.0, 2.0, 1.0]));
        assert_eq!(lag * 3.0, Rational::new([3.0], [1.0, 1.0]));
        assert_eq!(later(&[1.0, 2.0], 2), [0.0, 0.0, 1.0, 2.0]);
    }
}
