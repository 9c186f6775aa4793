//! Networks and laws of the references.

use sojourn_aqm::Network;
use sojourn_aqm::laws::{cpc, pi};
use sojourn_aqm::linear::{Cascade, Rational};

/// Hollot's network at a round trip of `rtt`.
pub(crate) fn hollot(rtt: f64) -> Network {
    Network { flows: 60.0, capacity: 3750.0, rtt }
}

/// The other network of the CPC figures.
pub(crate) fn small() -> Network {
    Network { flows: 3.0, capacity: 1000.0 / 6.0, rtt: 0.18 }
}

/// PI in s as designed: b and a of a short period lie half a period's share round K / z.
pub(crate) fn pi(network: Network) -> Rational {
    let period = 1.0 / 160.0;
    let pi::PiGains { a, b } = pi::design(network, period);
    Rational { numerator: vec![(a - b) / period, f64::midpoint(a, b)], denominator: vec![0.0, 1.0] }
}

/// CPC's two loops.
pub(crate) fn cpc(network: Network, form: cpc::Form) -> Cascade {
    let design = cpc::design(network, form);
    let n = network.flows;
    let outer = [design.integral, design.proportional, design.derivative].map(|gain| n * gain);
    Cascade {
        inner: Rational { numerator: vec![1.0], denominator: vec![0.0, n * design.inner] },
        outer: Rational { numerator: outer.to_vec(), denominator: vec![0.0, 1.0] },
    }
}
