//! What a controller knows of the path and of the load when nobody tells it more.
//!
//! The load needs no telling: at rest W = sqrt(2 / p) and W = R C / N, so every
//! quantity that depends on the number of flows follows from the average p:
//! N = R C sqrt(p / 2), as docs/deviations/arm_pfc.md derives it.

use crate::site::{Network, Site};
use sojourn_units::{Fault, LinkRate, Rate, Span, math};

/// The link and the round-trip time that a controller is designed for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// C, packets/s.
    pub capacity: f64,
    /// R with the queue at the target, s.
    pub rtt: f64,
    target: f64,
    /// Bytes of a packet, where C follows the link.
    packet: Option<f64>,
    /// T_p, s, where R follows the link.
    base_rtt: Option<f64>,
}

/// The average probability, which stands for the number of flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    average: f64,
}

sojourn_units::choice! {
    /// What the gains follow.
    pub enum Adapt {
        /// The average p, and the link's rate.
        Load = "load",
        /// Nothing.
        Nothing = "none",
    }
}

/// What a design that is not fixed follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The load.
    pub load: Load,
    /// The path under it.
    pub path: Path,
}

impl Path {
    /// The path at `site` for a queue of `target` packets. What is given, as the keys `capacity` and `rtt`
    /// (queueing included), stays as it is; the rest follows the link. Where the round-trip time without
    /// queueing is unknown too, it is taken to be 100 ms.
    pub fn new(
        capacity: Option<LinkRate>,
        rtt: Option<Span>,
        target: f64,
        site: &Site,
    ) -> Result<Path, Fault> {
        let known = match capacity {
            Some(LinkRate::Bits(rate)) => rate.packets_per_second(site.packet),
            Some(LinkRate::Packets(count)) => count,
            None => site.capacity(),
        };
        if known <= 0.0 {
            return Err(unknown("capacity", "a link rate above 0"));
        }
        let packet = capacity.is_none().then_some(site.packet);
        let base = site.base_rtt.unwrap_or(UNKNOWN_RTT).seconds();
        let base_rtt = rtt.is_none().then_some(base);
        let rtt = rtt.map_or(base + target / known, Span::seconds);
        if rtt <= 0.0 {
            return Err(unknown("rtt", "a round-trip time above 0"));
        }
        Ok(Path { capacity: known, rtt, target, packet, base_rtt })
    }

    /// Follows the link to a new rate, except to none; says whether anything has changed.
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

    /// The network with this path and as many flows as the load stands for.
    pub fn under(&self, load: Load) -> Network {
        let Path { capacity, rtt, .. } = *self;
        Network { flows: rtt * capacity * (load.p() / 2.0).sqrt(), capacity, rtt }
    }
}

impl Schedule {
    /// This one with the load that another has learnt, where there was one.
    pub(crate) fn after(self, old: Option<Schedule>) -> Schedule {
        Schedule { load: old.map_or(self.load, |old| old.load), ..self }
    }
}

impl Load {
    /// The load of so many flows on a path; where they are unknown, windows of ten packets.
    pub fn new(flows: Option<f64>, path: &Path) -> Load {
        let window = flows.map_or(UNKNOWN_WINDOW, |flows| path.rtt * path.capacity / flows);
        Load { average: (2.0 / (window * window)).clamp(DESIGN_P[0], DESIGN_P[1]) }
    }

    /// The load whose average has come to `p`.
    pub(crate) fn at(p: f64) -> Load {
        Load { average: p }
    }

    /// Takes in that `p` was in force for `elapsed` seconds.
    pub fn observe(&mut self, p: f64, elapsed: f64) {
        self.average += (1.0 - math::exp(-elapsed / AVERAGING_TIME)) * (p - self.average);
    }

    /// The average p, within what a design can use.
    pub fn p(self) -> f64 {
        self.average.clamp(DESIGN_P[0], DESIGN_P[1])
    }
}

/// The refusal of a design without something that no key gives.
pub fn unknown(key: &str, what: &str) -> Fault {
    Fault::new(key, format!("the model cannot be designed without {what}; give {key}"))
}

/// Whether a number of flows is one that a design can be made for.
pub(crate) fn are_flows(flows: f64) -> bool {
    flows > 0.0 && flows <= 1e9
}

/// Whether a rate is one that a design can be made for: see the rule of the key `capacity`.
pub(crate) fn is_capacity(rate: LinkRate) -> bool {
    match rate {
        LinkRate::Bits(rate) => (1.0..=1e12).contains(&rate.bits_per_second()),
        LinkRate::Packets(count) => (1e-3..=1e12).contains(&count),
    }
}

/// Whether a time is one that a design can be made for: 1 us to 1 h.
pub(crate) fn is_rtt(rtt: Span) -> bool {
    (Span::from_micros(1)..=Span::from_secs(3600)).contains(&rtt)
}

/// Time constant of the average p, s.
const AVERAGING_TIME: f64 = 5.0;
/// What the average p may be for a design: below, the gain has no bound; above, TCP lives on timeouts.
const DESIGN_P: [f64; 2] = [0.002, 0.9];
/// The window that a design begins with when nothing is known of the load: p is 0.02.
const UNKNOWN_WINDOW: f64 = 10.0;
/// The round-trip time without queueing when nothing is known of it: RFC 8289's interval.
const UNKNOWN_RTT: Span = Span::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        let rate = Rate::from_bits_per_second(1250.0 * 8000.0);
        let base_rtt = Some(Span::from_millis(200));
        Site { rate, packet: 1000.0, limit: 300.0, flows: Some(100.0), base_rtt }
    }

    #[test]
    fn a_load_stands_for_the_flows_that_need_its_probability() {
        let path = Path::new(None, None, 100.0, &site()).unwrap();
        assert!((path.rtt - 0.28).abs() < 1e-12);
        let network = path.under(Load::new(Some(100.0), &path));
        assert!((network.flows - 100.0).abs() < 1e-9, "{network:?}");
        assert!((Load::new(None, &path).p() - 0.02).abs() < 1e-15);
        // Within three time constants a new load is learnt to a twentieth.
        let mut load = Load::new(Some(100.0), &path);
        (0..300).for_each(|_| load.observe(0.04, 0.05));
        assert!((load.p() / 0.04 - 1.0).abs() < 0.16, "{}", load.p());
    }

    #[test]
    fn what_is_given_stays_and_the_rest_follows_the_link() {
        let half = Rate::from_bits_per_second(5e6);
        let mut path = Path::new(None, None, 100.0, &site()).unwrap();
        assert!(path.follow(half) && !path.follow(half) && !path.follow(Rate::from_bits_per_second(0.0)));
        assert_eq!((path.capacity, path.rtt), (625.0, 0.2 + 0.16));
        let given = Span::from_millis(250);
        let mut path = Path::new(None, Some(given), 100.0, &site()).unwrap();
        assert!(path.follow(half));
        assert_eq!((path.capacity, path.rtt), (625.0, 0.25));
        let mut path = Path::new(Some(LinkRate::Packets(1000.0)), None, 100.0, &site()).unwrap();
        assert!(!path.follow(half));
        assert!((path.rtt - 0.3).abs() < 1e-12);
        let blind = Site { base_rtt: None, ..site() };
        assert!((Path::new(None, None, 100.0, &blind).unwrap().rtt - 0.18).abs() < 1e-12);
    }
}
