//! SRED: stabilised random early drop.
//!
//! T. Ott, T. Lakshman, L. Wong, "SRED: Stabilized RED", IEEE INFOCOM, 1999. A
//! list of M recent flows, the zombies, represents the traffic. Each arriving
//! packet is compared with a zombie chosen at random; a hit is the same flow. N
//! equal flows hit once in N packets, so that 1/P, the inverse of the average hit,
//! estimates the number of flows without a table of them.
//!
//! ```text
//! no hit: the zombie is overwritten with probability p               (1)
//! P <- (1 - a) P + a Hit                                             (2)
//! p_sred = p_max        B/3 <= q < B                                 (3)
//!          p_max / 4    B/6 <= q < B/3
//!          0              0 <= q < B/6
//! p_zap = p_sred min(1, 1 / (256 P)^2)                               (4)
//! p_zap = p_sred min(1, 1 / (256 P)^2) (1 + Hit / P)    full = true  (5)
//! ```
//!
//! By (4) p grows with the square of the number of flows, up to 256: the total of
//! N windows of sqrt(2/p) each then does not depend on N. By (5) a flow with more
//! than its share, which hits more often, is dropped more often.
//!
//! Three random choices use two draws. The first one decides the drop. The second
//! one chooses the zombie; its remainder, the fractional part of M u, is again
//! uniform and decides the overwriting.

use crate::analysis::Analysis;
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Arrival, FlowId, Law, Verdict};
use crate::link_context::LinkContext;
use crate::parts::buffer;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, Prob, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "sred",
        summary: "stabilised RED: count the flows by chance hits in a list, and drop by their number",
        idea: "Each arriving packet is compared with one at random from a list of recent flows. The \
               frequency of matches measures the number of flows. The probability of a mark or drop \
               grows with the square of that number and, in three steps, with the backlog; so the backlog \
               is about the same for few flows and for many.",
        equation: "P <- (1 - a) P + a Hit;  p_zap = p_sred(q) min(1, 1 / (256 P)^2) (1 + Hit / P)",
        source: "T. Ott, T. Lakshman, L. Wong, IEEE INFOCOM, 1999",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Sred::new(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of SRED.
    pub struct Params {
        /// flows in the list
        zombies "M": u64 = 1000, in 1 to 100_000, "Ott 1999: a few times as many as there are flows";
        /// probability that a zombie that is not hit is overwritten
        overwrite "p": Prob = Prob::clamped(0.25), above 0.0, "Ott 1999";
        /// weight of a new comparison in the average hit
        weight "alpha": Option<f64> = None, in above 0.0 to 1.0,
            "overwrite / zombies: the list remembers so many packets";
        /// probability from a third of the buffer on, with 256 flows or more
        max_p "p_max": Prob = Prob::clamped(0.15), above 0.0, "Ott 1999: TCP depends on timeouts where more is lost";
        /// the buffer whose third and sixth are the steps of the probability
        buffer "B": Option<Amount> = None, above 0,
            "the real buffer, Ott 1999; where it has no limit, what the link sends in a round-trip time";
        /// drop flows more often that hit more often: the factor 1 + Hit / P
        full "full": bool = true, "Ott 1999: the full law; false, without the factor, is the simple one";
    }
}

/// Stabilised random early drop.
#[derive(Clone, Debug)]
pub struct Sred {
    overwrite: f64,
    weight: f64,
    max_p: f64,
    /// B, packets.
    buffer: f64,
    full: bool,

    /// The list, allocated at full length from the start.
    zombies: Vec<FlowId>,
    /// Number of list entries in use.
    used: usize,
    /// P.
    hits: f64,
    /// p_zap of the last packet.
    p: f64,
}

impl Sred {
    /// SRED in front of the link at `context`, with an empty list.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Sred, InputError> {
        Ok(Sred {
            overwrite: params.overwrite.get(),
            weight: params.weight.unwrap_or(params.overwrite.get() / params.zombies as f64),
            max_p: params.max_p.get(),
            buffer: buffer::buffer(params.buffer, context)?,
            full: params.full,
            zombies: vec![FlowId::default(); params.zombies as usize],
            used: 0,
            hits: 0.0,
            p: 0.0,
        })
    }

    /// Estimated number of flows, 1/P, bounded by the resolution of the average.
    pub fn flows(&self) -> f64 {
        1.0 / self.hits.max(self.weight)
    }
}

impl Law for Sred {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let hit = self.compare(arrival.flow, arrival.u[1]);
        self.p = self.p_zap(f64::from(arrival.backlog.packets), hit);
        if arrival.u[0] < self.p { arrival.signalled() } else { Verdict::Pass }
    }

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Sred::new(given.params.of()?, context)?;
        // A longer list fills up first, as at the start; a shorter one loses its end.
        self.zombies.resize(fresh.zombies.len(), FlowId::default());
        let zombies = std::mem::take(&mut self.zombies);
        let used = self.used.min(zombies.len());
        *self = Sred { zombies, used, hits: self.hits, p: self.p, ..fresh };
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p);
        out.gauge("flows", "flows", self.flows());
    }
}

impl Analysis for Sred {
    fn derived(&self, out: &mut dyn Gauges) {
        out.gauge("weight", "1", self.weight);
        out.gauge("buffer", "packets", self.buffer);
    }
}

impl Sred {
    /// Equations (1) and (2): true if a zombie chosen at random is of this flow. While the list is not full, the flow
    /// is appended instead.
    fn compare(&mut self, flow: FlowId, u: f64) -> bool {
        if self.used < self.zombies.len() {
            self.zombies[self.used] = flow;
            self.used += 1;
            return false;
        }
        let (place, remainder) = split(u, self.zombies.len());
        let hit = self.zombies[place] == flow;
        if !hit && remainder < self.overwrite {
            self.zombies[place] = flow;
        }
        self.hits += self.weight * (f64::from(u8::from(hit)) - self.hits);
        hit
    }

    /// Equations (4) and (5).
    fn p_zap(&self, q: f64, hit: bool) -> f64 {
        let share = MOST_FLOWS * self.hits;
        let simple = self.p_sred(q) * (1.0 / (share * share)).min(1.0);
        // A hit has just raised P above 0.
        let more = if self.full && hit { 1.0 + 1.0 / self.hits } else { 1.0 };
        (simple * more).min(1.0)
    }

    /// Equation (3).
    fn p_sred(&self, q: f64) -> f64 {
        if q >= self.buffer / 3.0 {
            self.max_p
        } else if q >= self.buffer / 6.0 {
            self.max_p / 4.0
        } else {
            0.0
        }
    }
}

/// Splits a draw into two independent ones: an index below `count`, and a number in [0, 1).
fn split(u: f64, count: usize) -> (usize, f64) {
    let scaled = u * count as f64;
    let place = (scaled as usize).min(count - 1);
    (place, (scaled - place as f64).min(1.0))
}

/// Number of flows from which p is constant, equation (4).
const MOST_FLOWS: f64 = 256.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Backlog;
    use sojourn_random::Stream;
    use sojourn_units::{Ecn, Time};

    fn context() -> LinkContext {
        LinkContext::example()
    }

    fn sred(change: impl Fn(&mut Params)) -> Sred {
        let mut params = Params::default();
        change(&mut params);
        Sred::new(&params, &context()).unwrap()
    }

    fn arrival(flow: u32, packets: u32, u: [f64; 2]) -> Arrival {
        let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
        let (now, ecn, flow) = (Time::ZERO, Ecn::NotEct, FlowId(flow));
        Arrival { now, len: 1000, ecn, flow, backlog, victim: None, u }
    }

    /// Feeds packets of flows drawn by their shares.
    fn feed(law: &mut Sred, shares: &[f64], packets: u32, draws: &mut Stream) {
        for _ in 0..packets {
            let mut left = draws.uniform();
            let flow = shares.iter().position(|share| {
                left -= share;
                left < 0.0
            });
            let flow = flow.unwrap_or(shares.len() - 1) as u32;
            law.on_arrival(&arrival(flow, 0, [draws.uniform(), draws.uniform()]));
        }
    }

    #[test]
    fn the_steps_of_the_buffer_are_those_of_the_paper() {
        let law = sred(|_| ());
        // B is 300 packets: sixths and thirds at 50 and 100.
        for (q, p) in [(0.0, 0.0), (49.0, 0.0), (50.0, 0.0375), (99.0, 0.0375), (100.0, 0.15), (299.0, 0.15)]
        {
            assert_eq!(law.p_sred(q), p, "{q}");
        }
    }

    #[test]
    fn p_zap_grows_with_the_square_of_the_flows() {
        let mut law = sred(|params| params.full = false);
        // Equation (4) at 64 flows: 0.15 (64 / 256)^2 = 0.15 / 16.
        law.hits = 1.0 / 64.0;
        assert_eq!(law.p_zap(100.0, false), 0.15 / 16.0);
        assert_eq!(law.p_zap(100.0, true), 0.15 / 16.0);
        for beyond in [1.0 / 256.0, 1.0 / 1000.0, 0.0] {
            law.hits = beyond;
            assert_eq!(law.p_zap(100.0, false), 0.15);
        }
        // Equation (5): a hit among 64 flows weighs 65 times; 0.15 / 16 x 65 = 0.609375.
        law.full = true;
        law.hits = 1.0 / 64.0;
        assert_eq!(law.p_zap(100.0, false), 0.15 / 16.0);
        assert_eq!(law.p_zap(100.0, true), 0.609_375);
        law.hits = 1.0 / 256.0;
        assert_eq!(law.p_zap(100.0, true), 1.0, "a probability");
    }

    /// For N equal flows one of N packets hits, so that (5) is on average (4) times 1 + (1/N) N = 2.
    #[test]
    fn the_full_law_drops_equal_flows_twice_as_often() {
        let drops = |full: bool| {
            let mut law = sred(|params| params.full = full);
            let mut draws = Stream::named(1, "full");
            feed(&mut law, &[0.02; 50], 30_000, &mut draws);
            let packets = 200_000;
            let verdicts = (0..packets).map(|_| {
                let flow = (draws.uniform() * 50.0) as u32;
                law.on_arrival(&arrival(flow, 150, [draws.uniform(), draws.uniform()]))
            });
            verdicts.filter(|verdict| *verdict == Verdict::Drop).count() as f64 / f64::from(packets)
        };
        let (simple, full) = (drops(false), drops(true));
        // 0.15 (50 / 256)^2 = 0.00572.
        assert!((simple / 0.005_72 - 1.0).abs() < 0.15, "{simple}");
        assert!((full / simple - 2.0).abs() < 0.25, "{full} {simple}");
    }

    /// The paper's proposition: 1/P estimates the number of flows, in general 1 / sum of squared shares.
    #[test]
    fn hits_estimate_the_number_of_flows() {
        for flows in [1, 2, 10, 100, 250] {
            let mut law = sred(|_| ());
            let mut draws = Stream::named(flows, "flows");
            feed(&mut law, &vec![1.0 / flows as f64; flows as usize], 40_000, &mut draws);
            // The mean of many samples, further apart than the memory of the list.
            let looks = 30;
            let mut mean = 0.0;
            for _ in 0..looks {
                feed(&mut law, &vec![1.0 / flows as f64; flows as usize], 4000, &mut draws);
                mean += law.hits / f64::from(looks);
            }
            // P is the mean of Bernoulli trials: its deviation over 120 000 packets, and four of those.
            let p = 1.0 / flows as f64;
            let doubt = 4.0 * (p * (1.0 - p) / 120_000.0).sqrt() + 0.03 * p;
            assert!((mean - p).abs() <= doubt, "{flows} flows: 1/P is {}", 1.0 / mean);
        }
        let mut law = sred(|_| ());
        let mut draws = Stream::named(7, "flows");
        feed(&mut law, &[0.75, 0.25], 60_000, &mut draws);
        assert!((law.flows() / 1.6 - 1.0).abs() < 0.05, "1 / (9/16 + 1/16): {}", law.flows());
    }

    #[test]
    fn a_flow_above_its_share_is_dropped_more_often() {
        let mut law = sred(|_| ());
        let mut draws = Stream::named(3, "greedy");
        // One flow of half of all packets, fifty of 1 % each.
        let mut shares = vec![0.01; 51];
        shares[0] = 0.5;
        feed(&mut law, &shares, 30_000, &mut draws);
        // The mean p_zap of each kind of packet, which has less noise than the drops.
        let (mut packets, mut p) = ([0.0; 2], [0.0; 2]);
        for _ in 0..100_000 {
            let flow = if draws.uniform() < 0.5 { 0 } else { 1 + (draws.uniform() * 50.0) as u32 };
            law.on_arrival(&arrival(flow, 150, [draws.uniform(), draws.uniform()]));
            packets[usize::from(flow > 0)] += 1.0;
            p[usize::from(flow > 0)] += law.p;
        }
        // P = 0.25 + 50 x 0.0001 = 0.255: (5) gives 1 + 0.5/P = 2.96 for it, 1 + 0.01/P = 1.04 for the others.
        let ratio = (p[0] / packets[0]) / (p[1] / packets[1]);
        assert!((ratio / (2.96 / 1.04) - 1.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn a_draw_splits_into_two_independent_ones() {
        // Ten indices by ten intervals of the remainder: equal counts, by chi-squared with 99 degrees of freedom.
        let mut draws = Stream::named(1, "split");
        let mut counts = [[0.0; 10]; 10];
        let total = 200_000.0;
        for _ in 0..total as u32 {
            let (place, remainder) = split(draws.uniform(), 1000);
            assert!(place < 1000 && (0.0..=1.0).contains(&remainder));
            counts[place % 10][((remainder * 10.0) as usize).min(9)] += 1.0;
        }
        let cell = total / 100.0;
        let chi: f64 =
            counts.iter().flatten().map(|count: &f64| (count - cell) * (count - cell) / cell).sum();
        // The 0.1 % point is 148.
        assert!(chi < 148.0, "{chi}");
        assert_eq!(split(1.0 - f64::EPSILON / 2.0, 1000).0, 999);
        assert_eq!(split(0.999_999, 1), (0, 0.999_999));
    }

    #[test]
    fn the_list_is_filled_and_then_overwritten_a_quarter_of_the_time() {
        let mut law = sred(|params| params.zombies = 4);
        for flow in 0..4 {
            law.on_arrival(&arrival(flow, 0, [0.9, 0.9]));
        }
        assert_eq!((&law.zombies[..], law.hits), (&[0, 1, 2, 3].map(FlowId)[..], 0.0));
        // u = 0.55: index 2, remainder 0.2, less than p; u = 0.6: index 2, remainder 0.4.
        law.on_arrival(&arrival(9, 0, [0.9, 0.6]));
        assert_eq!(law.zombies[2], FlowId(2));
        law.on_arrival(&arrival(9, 0, [0.9, 0.55]));
        assert_eq!(law.zombies[2], FlowId(9));
        assert_eq!(law.hits, 0.0);
        law.on_arrival(&arrival(9, 0, [0.9, 0.7]));
        assert_eq!(law.hits, 0.25 / 4.0);
    }
}
