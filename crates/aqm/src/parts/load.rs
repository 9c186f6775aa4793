//! Path and load in the design of a controller.
//!
//! The load is estimated from the average p: at equilibrium W = sqrt(2 / p) and W = R C / N, so that
//! N = R C sqrt(p / 2), as docs/deviations/arm_pfc.md derives it.

use crate::link_context::{LinkContext, Network};
use sojourn_params::{Bounds, Edge, ErrorKind, InputError};
use sojourn_units::{LinkRate, Rate, Span, math};

/// Link and RTT of a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// C, packets/s.
    pub capacity: f64,
    /// R, with the queue at the target, s.
    pub rtt: f64,
    target: f64,
    /// Bytes of a packet, if C follows the link.
    packet: Option<f64>,
    /// T_p, s, if R follows the link.
    base_rtt: Option<f64>,
}

/// Average probability, an estimate of the number of flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    average: f64,
}

sojourn_params::choice! {
    /// Input of the gain schedule.
    pub enum Adapt {
        /// The average p, and the link rate.
        Load = "load",
        /// Nothing: constant gains.
        Nothing = "none",
    }
}

/// Inputs of a scheduled design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainSchedule {
    /// Load.
    pub load: Load,
    /// Path.
    pub path: Path,
}

impl Path {
    /// The path at `context` for a queue of `target` packets. Values of the keys `capacity` and `rtt` (queueing
    /// included) are constant; the others follow the link. An unknown base RTT defaults to 100 ms.
    pub fn new(
        capacity: Option<LinkRate>,
        rtt: Option<Span>,
        target: f64,
        context: &LinkContext,
    ) -> Result<Path, InputError> {
        let known = match capacity {
            Some(LinkRate::Bits(rate)) => rate.packets_per_second(context.packet),
            Some(LinkRate::Packets(count)) => count,
            None => context.capacity(),
        };
        if known <= 0.0 {
            return Err(unknown("capacity", "a link rate above 0"));
        }
        let packet = capacity.is_none().then_some(context.packet);
        let base = context.base_rtt.unwrap_or(UNKNOWN_RTT).seconds();
        let base_rtt = rtt.is_none().then_some(base);
        let rtt = rtt.map_or(base + target / known, Span::seconds);
        if rtt <= 0.0 {
            return Err(unknown("rtt", "a round-trip time above 0"));
        }
        Ok(Path { capacity: known, rtt, target, packet, base_rtt })
    }

    /// Follows the link to a new rate above 0; true if anything has changed.
    pub fn follow(&mut self, rate: Rate) -> bool {
        let Some(capacity) = self.packet.map(|packet| rate.packets_per_second(packet)) else { return false };
        if capacity <= 0.0 || capacity == self.capacity {
            return false;
        }
        self.capacity = capacity;
        if let Some(base) = self.base_rtt {
            self.rtt = base + self.target / capacity;
        }
        true
    }

    /// Network with this path and the number of flows of `load`.
    pub fn under(&self, load: Load) -> Network {
        let Path { capacity, rtt, .. } = *self;
        Network { flows: rtt * capacity * (load.p() / 2.0).sqrt(), capacity, rtt }
    }
}

impl GainSchedule {
    /// Takes over the load of `old`.
    pub(crate) fn after(self, old: Option<GainSchedule>) -> GainSchedule {
        GainSchedule { load: old.map_or(self.load, |old| old.load), ..self }
    }
}

impl Load {
    /// Load of `flows` on a path; None: windows of ten packets.
    pub fn new(flows: Option<f64>, path: &Path) -> Load {
        let window = flows.map_or(UNKNOWN_WINDOW, |flows| path.rtt * path.capacity / flows);
        Load { average: (2.0 / (window * window)).clamp(DESIGN_P[0], DESIGN_P[1]) }
    }

    /// Load with the average `p`.
    pub(crate) fn at(p: f64) -> Load {
        Load { average: p }
    }

    /// Updates the average with `p`, in force for `elapsed` seconds.
    pub fn observe(&mut self, p: f64, elapsed: f64) {
        self.average += (1.0 - math::exp(-elapsed / AVERAGING_TIME)) * (p - self.average);
    }

    /// Average p, clamped to the range of designs.
    pub fn p(self) -> f64 {
        self.average.clamp(DESIGN_P[0], DESIGN_P[1])
    }
}

/// Error for a missing input of a design.
pub fn unknown(key: &str, missing: &str) -> InputError {
    let problem = format!("the model cannot be designed without {missing}");
    InputError::new(ErrorKind::Missing, problem, format!("a value of {key}")).at(key)
}

/// Number of flows of a design.
pub(crate) const FLOWS: Bounds = Bounds::above(Edge::Number(0.0)).to(Edge::Number(1e9));
/// RTT of a design.
pub(crate) const RTT: Bounds = Bounds::at_least(Edge::Text("1 us")).to(Edge::Text("1 h"));
/// Link rate of a design; [`is_capacity`] where it is in packets.
pub(crate) const CAPACITY: Bounds = Bounds::at_least(Edge::Text("1 bit/s")).to(Edge::Text("1 Tbit/s"));
/// The same in packets, in words.
pub(crate) const CAPACITY_IN_PACKETS: &str = "or 0.001 to 1e12 packets/s";

/// True for a link rate of a design, in packets.
pub(crate) fn is_capacity(rate: LinkRate) -> bool {
    const PACKETS: Bounds = Bounds::at_least(Edge::Text("0.001 packets/s")).to(Edge::Text("1e12 packets/s"));
    PACKETS.contain(&rate)
}

/// Time constant of the average p, s.
const AVERAGING_TIME: f64 = 5.0;
/// Range of the average p of a design: below, the gain is unbounded; above, timeouts dominate TCP.
const DESIGN_P: [f64; 2] = [0.002, 0.9];
/// Initial window of a design for an unknown load: p is 0.02.
const UNKNOWN_WINDOW: f64 = 10.0;
/// Default base RTT: RFC 8289's interval.
const UNKNOWN_RTT: Span = Span::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> LinkContext {
        let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
        let base_rtt = Some(Span::from_millis(200));
        LinkContext { rate, packet: 1000.0, limit: 300.0, flows: Some(100.0), base_rtt }
    }

    #[test]
    fn a_load_is_the_number_of_flows_in_equilibrium_at_its_p() {
        let path = Path::new(None, None, 100.0, &context()).unwrap();
        assert!((path.rtt - 0.28).abs() < 1e-12);
        let network = path.under(Load::new(Some(100.0), &path));
        assert!((network.flows - 100.0).abs() < 1e-9, "{network:?}");
        assert!((Load::new(None, &path).p() - 0.02).abs() < 1e-15);
        // After three time constants the estimate of a new load is within a twentieth.
        let mut load = Load::new(Some(100.0), &path);
        (0..300).for_each(|_| load.observe(0.04, 0.05));
        assert!((load.p() / 0.04 - 1.0).abs() < 0.16, "{}", load.p());
    }

    #[test]
    fn given_values_are_constant_and_others_follow_the_link() {
        let half = Rate::from_bits_per_second(5e6);
        let mut path = Path::new(None, None, 100.0, &context()).unwrap();
        assert!(path.follow(half) && !path.follow(half) && !path.follow(Rate::from_bits_per_second(0.0)));
        assert_eq!((path.capacity, path.rtt), (625.0, 0.2 + 0.16));
        let given = Span::from_millis(250);
        let mut path = Path::new(None, Some(given), 100.0, &context()).unwrap();
        assert!(path.follow(half));
        assert_eq!((path.capacity, path.rtt), (625.0, 0.25));
        let mut path = Path::new(Some(LinkRate::Packets(1000.0)), None, 100.0, &context()).unwrap();
        assert!(!path.follow(half));
        assert!((path.rtt - 0.3).abs() < 1e-12);
        let blind = LinkContext { base_rtt: None, ..context() };
        assert!((Path::new(None, None, 100.0, &blind).unwrap().rtt - 0.18).abs() < 1e-12);
    }
}
