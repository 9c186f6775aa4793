//! Time constants, and other parameters that follow from the link where they are not given.

use super::{Form, LoadMeasure, MOST_TAKEN, Params};
use crate::link_context::LinkContext;
use sojourn_units::Span;

/// A time constant, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TimeConstant {
    Fixed(f64),
    /// By (15), and at least this.
    Scheduled(f64),
}

impl TimeConstant {
    pub(super) fn least(self) -> f64 {
        match self {
            TimeConstant::Fixed(time) | TimeConstant::Scheduled(time) => time,
        }
    }
}

/// t_c and tau_w by the measure of the load.
pub(super) fn time_constants(
    params: &Params,
    load: LoadMeasure,
    base_rtt: Option<Span>,
) -> [TimeConstant; 2] {
    if load == LoadMeasure::Integral {
        return scheduled(params, base_rtt);
    }
    let t_c = params.t_c.unwrap_or_else(|| time_constant(base_rtt));
    [t_c, load_time(params.tau_w, base_rtt)].map(|time| TimeConstant::Fixed(time.seconds()))
}

/// Default t_c: it follows a short RTT.
fn time_constant(base_rtt: Option<Span>) -> Span {
    base_rtt.map_or(LONGEST, |rtt| (rtt.saturating_mul(ROUND_TRIPS)).clamp(SHORTEST, LONGEST))
}

/// Default T_s, where the link serves the target in the time `served`.
pub(super) fn period(params: &Params, base_rtt: Option<Span>, served: Span) -> Span {
    let t_c = params.t_c.unwrap_or_else(|| time_constant(base_rtt));
    let usual = Span::from_nanos(t_c.nanos() / UPDATES).min(SAMPLING);
    if params.form == Form::Deadbeat {
        return usual.min(Span::from_nanos(served.nanos() / SERVED).max(SHORTEST_PERIOD));
    }
    usual
}

/// tau_w for counts: default twice t_c, and at least [`ROUND_TRIPS`] of a long RTT.
pub(super) fn load_time(given: Option<Span>, base_rtt: Option<Span>) -> Span {
    let trips = base_rtt.map_or(Span::ZERO, |rtt| rtt.saturating_mul(ROUND_TRIPS));
    given.unwrap_or(trips.max(time_constant(base_rtt) * 2))
}

/// t_c and tau_w for the integral: constant where given, else by (15) and at least some RTTs, 500 ms where unknown.
pub(super) fn scheduled(params: &Params, base_rtt: Option<Span>) -> [TimeConstant; 2] {
    let least =
        |trips| base_rtt.map_or(LONGEST, |rtt| rtt.max(SHORTEST_TRIP).saturating_mul(trips)).seconds();
    let by_rule = |given: Option<Span>, trips| {
        given.map_or(TimeConstant::Scheduled(least(trips)), |time| TimeConstant::Fixed(time.seconds()))
    };
    [by_rule(params.t_c, LEAST_TRIPS[0]), by_rule(params.tau_w, LEAST_TRIPS[1])]
}

/// First p_w: 2 / W^2 of the expected flows, 0 where they are unknown.
pub(super) fn expected_p(context: &LinkContext, target: f64) -> f64 {
    let in_flight = context.capacity() * context.base_rtt.unwrap_or(UNKNOWN_RTT).seconds() + target;
    context
        .long_flows(None)
        .map_or(0.0, |flows| (2.0 * (flows / in_flight) * (flows / in_flight)).min(MOST_TAKEN))
}

/// Largest a up to 1 with R of at least `price`; if there is none, the a up to 1 with the largest R.
///
/// R = (a + x)^2 / (a mu) falls with a up to a = x, where it is 4 x / mu.
pub(super) fn half(target: f64, service: f64, price: f64) -> f64 {
    let flow = price * service;
    if flow <= 4.0 * target {
        return target.min(1.0);
    }
    let middle = flow - 2.0 * target;
    let root = (flow * (flow - 4.0 * target)).sqrt();
    (2.0 * target * target / (middle + root)).min(1.0)
}

/// Least R, in time constants t_c.
pub(super) const PRICE: f64 = 2.0;
/// RTTs in t_c, and least number of them in the average of the offered load.
const ROUND_TRIPS: u64 = 5;
/// RTTs in the least t_c and tau_w of (15): about one packet a window, TCP does not follow (15)'s model.
const LEAST_TRIPS: [u64; 2] = [2, 3];
const SHORTEST_TRIP: Span = Span::from_micros(200);
/// Range of the default t_c.
const SHORTEST: Span = Span::from_millis(1);
const LONGEST: Span = Span::from_millis(500);
/// Least number of updates within t_c, and the longest default period.
const UPDATES: u64 = 5;
const SAMPLING: Span = Span::from_millis(10);
/// Least number of updates of deadbeat in which the target is served, and its shortest default period.
const SERVED: u64 = 2;
const SHORTEST_PERIOD: Span = Span::from_micros(100);
/// Base RTT of (15) where it is unknown: RFC 8289's interval.
pub(super) const UNKNOWN_RTT: Span = Span::from_millis(100);
