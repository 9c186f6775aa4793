//! Ranges that several keys have.

use sojourn_params::{Bounds, Edge, InputError};
use sojourn_units::{LinkRate, Rate};

/// A rate in bit/s, where packets are of `packet` bytes.
pub(crate) fn within(given: LinkRate, packet: f64, range: Bounds) -> Result<Rate, InputError> {
    let rate = given.bits(packet);
    if range.contain(&rate) { Ok(rate) } else { Err(InputError::out_of_range(given, range.to_string())) }
}

/// Rates of links: at the fastest the smallest segment still takes a nanosecond.
pub(crate) const LINK_RATES: Bounds = Bounds::at_least(Edge::Text("1 bit/s")).to(Edge::Text("1 Tbit/s"));
/// Rates of links that are no bottleneck, and of applications.
pub(crate) const RATES: Bounds = Bounds::at_least(Edge::Text("1 bit/s")).to(Edge::Text("10 Tbit/s"));
/// Propagation delays.
pub(crate) const DELAYS: Bounds = Bounds::at_least(Edge::Text("0 s")).to(Edge::Text("1000 s"));
