//! What a law is for small signals about a point of rest: transfer functions from the backlog to p.
//!
//! A law that counts what is offered has another one where packets are dropped than where they are marked, since
//! there only the share 1 - p of what it counts fills the queue; where packets are marked or dropped as they are, it has
//! none, since more moves what is offered than the backlog. What a design follows, the average p, is at rest what
//! p is, and what it scales is zero there: to first order it moves nothing.

use crate::site::Network;
use sojourn_units::Span;
use std::ops::{Add, Mul};

/// What becomes of a packet that the law chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// It is marked and goes on.
    Mark,
    /// It is lost; the queue never sees it.
    Drop,
    /// The one or the other, as the packet is.
    Both {
        /// theta at rest: the share of all that comes that goes on.
        passes: f64,
    },
}

/// Where the loop rests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// The share of packets that is marked or dropped there: what holds the traffic.
    pub p: f64,
    /// Which of them.
    pub signal: Signal,
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
/// was never designed in s, none in samples where it is asked at every packet. It has neither where the plant of a
/// certificate is another one, and then `partial` has the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// In s: as if it were updated all the time, with the averages that it takes.
    pub continuous: Option<Rational>,
    /// As it runs.
    pub sampled: Option<InSamples>,
    /// What two loops it is made of, where one steers the other.
    pub cascade: Option<Cascade>,
    /// What it takes for granted of the law besides small deviations, a sentence each.
    pub assumes: Vec<&'static str>,
    /// Why it is not all that the law does about its rest, however small the deviations; none where it is.
    pub partial: Option<&'static str>,
}

/// A transfer function between sequences: backlogs q(k T) to the p that holds from k T on.
///
/// What was counted since the last sample is not a second input: where the link is busy, what was let in is
/// C T + q(k T) - q((k-1) T), and what was offered that over the share that the last p let in.
#[derive(Clone, Debug, PartialEq)]
pub struct InSamples {
    /// In z^-1, the delay of one period.
    pub transfer: Rational,
    /// T.
    pub period: Span,
}

/// Two controllers in a cascade: p follows the packets in flight F = N W, and these follow the backlog.
///
/// As they were designed: both measure what they need at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Cascade {
    /// In s, from F - F_ref (packets) to p.
    pub inner: Rational,
    /// In s, from the error of the backlog (packets) to F_ref (packets).
    pub outer: Rational,
}

impl Signal {
    /// theta: the share that goes on.
    pub fn passes(self, p: f64) -> f64 {
        match self {
            Signal::Mark => 1.0,
            Signal::Drop => 1.0 - p,
            Signal::Both { passes } => passes,
        }
    }
}

impl Rest {
    /// What comes before the law has chosen: C over the share that it lets in, packets/s.
    pub fn offered(&self) -> f64 {
        self.network.capacity / self.signal.passes(self.p)
    }
}

impl Linear {
    /// The law that is these two.
    pub(crate) fn both(continuous: Rational, sampled: Rational, period: Span) -> Linear {
        Linear::new(Some(continuous), Some(InSamples { transfer: sampled, period }))
    }

    /// The law that is these, and takes nothing for granted.
    pub fn new(continuous: Option<Rational>, sampled: Option<InSamples>) -> Linear {
        Linear { continuous, sampled, cascade: None, assumes: Vec::new(), partial: None }
    }

    /// No transfer function, for this reason.
    pub(crate) fn none(reason: &'static str) -> Linear {
        Linear { partial: Some(reason), ..Linear::new(None, None) }
    }

    /// The same that takes this for granted, where it is so.
    pub(crate) fn assuming(mut self, is_so: bool, sentence: &'static str) -> Linear {
        self.assumes.extend(is_so.then_some(sentence));
        self
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

/// What a law takes for granted whose gains follow the average p.
pub(crate) const FOLLOWS_THE_LOAD: &str = "What the law adapts to the load has come to where it is at rest: the average \
                                           p follows slowly, and what it scales is zero there.";

impl Rational {
    /// The ratio of these.
    pub(crate) fn new(numerator: impl Into<Vec<f64>>, denominator: impl Into<Vec<f64>>) -> Rational {
        Rational { numerator: numerator.into(), denominator: denominator.into() }
    }

    /// A number.
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

    /// Over one denominator where both have the same.
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

/// The sum of two polynomials.
pub(crate) fn sum(left: &[f64], right: &[f64]) -> Vec<f64> {
    let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
    let rest = short.iter().chain(std::iter::repeat(&0.0));
    long.iter().zip(rest).map(|(a, b)| a + b).collect()
}

/// The product of two polynomials.
pub(crate) fn product(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; left.len() + right.len() - 1];
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    product
}

/// A polynomial times z^-`periods`.
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
