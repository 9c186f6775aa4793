//! CHOKe: RED that compares an arrival with a queued packet.
//!
//! R. Pan, B. Prabhakar, K. Psounis, "CHOKe: A Stateless Active Queue Management
//! Scheme for Approximating Fair Bandwidth Allocation", IEEE INFOCOM, 2000. The
//! average backlog and the thresholds are RED's ([`crate::laws::red`]). For each arrival
//!
//! ```text
//! avg <= min_th              it passes                                      (1)
//! avg >  min_th              one queued packet is drawn uniformly;
//!                            of the same flow: both are dropped             (2)
//! avg <  max_th              otherwise dropped with RED's probability       (3)
//! avg >= max_th              otherwise dropped                              (4)
//! ```
//!
//! A flow with the share h of the backlog is matched with probability h and then
//! loses two packets: the largest flow loses most, without state per flow.

use crate::analysis::Analysis;
use crate::entry::{Designed, Entry};
use crate::forward_law;
use crate::gauges::Gauges;
use crate::law::{Arrival, Law, Properties, Verdict};
use crate::laws::red::{self, Red};
use crate::link_context::LinkContext;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, Prob, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "choke",
        summary: "RED that compares an arrival with a queued packet and drops both if they are of one flow",
        idea: "A flow that does not slow down fills the queue with its own packets. While the average backlog \
               is above the lower threshold every arrival is compared with a packet drawn from the queue; two of \
               the same flow are dropped together. So the loss of a flow grows with its share of the queue, without \
               state per flow. RED decides on the other packets.",
        equation: "flow = flow of a random held packet: both are dropped;  else RED",
        source: "R. Pan, B. Prabhakar, K. Psounis, IEEE INFOCOM, 2000",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Choke::new(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of CHOKe.
    pub struct Params {
        /// average backlog up to which nothing is compared and every packet passes
        min "min_th": Option<Amount> = None, above 0, where "less than max",
            "as RED: a third of max; without max a sixth of the buffer (5 packets where there is no limit)";
        /// average backlog at which p_b reaches max_p
        max "max_th": Option<Amount> = None, above 0, where "more than min, within the buffer",
            "as RED: three times min";
        /// weight of a new sample in the average
        weight "w_q": f64 = 0.002, in above 0.0 to 1.0, "as RED";
        /// probability at the upper threshold
        max_p "max_p": Prob = Prob::clamped(0.1), above 0.0, "as RED";
        /// rise to 1 at twice max instead of dropping everything from max on
        gentle "gentle": bool = false, "Pan et al. 2000: above max every packet is dropped";
        /// p_b below which RED's part marks ECN-capable packets; from there on it drops them
        mark_below_p "mark_p": f64 = 1.0,
            in 0.0 to 2.0, where "above 1 nothing that can be marked is dropped by RED's part",
            "RFC 3168, section 7; 0 is the paper, which has no marks";
        /// count bytes: the average, and the probability by packet size
        byte_mode "bytes": bool = false, "as RED";
        /// wait 1/p_b packets after a mark or drop
        wait "wait": bool = true, "as RED";
    }
}

/// CHOKe.
#[derive(Clone, Debug)]
pub struct Choke {
    red: Red,
}

impl Choke {
    /// CHOKe on the link of `context`, from an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Choke, InputError> {
        let Params { min, max, weight, max_p, gentle, mark_below_p, byte_mode, wait } = *params;
        let weight = Some(weight);
        let red = red::Params {
            min,
            max,
            weight,
            max_p,
            gentle,
            mark_below_p,
            byte_mode,
            wait,
            ..red::Params::default()
        };
        Ok(Choke { red: Red::new(&red, context)? })
    }

    /// Equation (2). Applies to ECN-capable packets, too: an unresponsive flow may set ECT.
    fn matches_victim(&self, arrival: &Arrival) -> bool {
        self.red.average() > self.red.thresholds().0 && arrival.victim == Some(arrival.flow)
    }
}

impl Law for Choke {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.red.observe(arrival);
        if self.matches_victim(arrival) {
            // RED's count is over the packets that reach RED.
            return Verdict::DropBoth;
        }
        self.red.judge(arrival)
    }

    forward_law!(self => self.red; on_idle, on_overflow, on_link_change, gauges);

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        self.red = Choke::new(given.params.of()?, context)?.red.after(&self.red);
        Ok(())
    }

    fn properties(&self) -> Properties {
        Properties { wants_victim: true, ..Properties::default() }
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }
}

impl Analysis for Choke {
    fn derived(&self, out: &mut dyn Gauges) {
        self.red.derived(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;
    use sojourn_units::Rate;

    /// Thresholds 50 and 150, and an average equal to the backlog.
    fn choke(change: impl Fn(&mut Params)) -> Choke {
        let rate = Rate::from_bits_per_second(8e6);
        let context = LinkContext { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None };
        let mut params = Params { weight: 1.0, ..Params::default() };
        change(&mut params);
        Choke::new(&params, &context).unwrap()
    }

    fn arrive(law: &mut Choke, packets: u32, victim: Option<u32>, u: f64) -> Verdict {
        let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
        let (ecn, flow, victim) = (Ecn::Ect0, FlowId(7), victim.map(FlowId));
        law.on_arrival(&Arrival { now: Time::ZERO, len: 1000, ecn, flow, backlog, victim, u: [u, 0.0] })
    }

    #[test]
    fn two_packets_of_a_flow_are_dropped_above_min_only() {
        let mut law = choke(|_| ());
        assert!(law.properties().wants_victim);
        assert_eq!(arrive(&mut law, 50, Some(7), 0.99), Verdict::Pass);
        assert_eq!(arrive(&mut law, 51, Some(7), 0.99), Verdict::DropBoth);
        assert_eq!(arrive(&mut law, 51, Some(8), 0.99), Verdict::Pass);
        assert_eq!(arrive(&mut law, 150, Some(7), 0.99), Verdict::DropBoth);
        assert_eq!(arrive(&mut law, 150, Some(8), 0.99), Verdict::Drop);
    }

    #[test]
    fn unmatched_packets_are_those_of_red_and_its_count() {
        // p_b at 100 is 0.05: the first packet in the band begins the count, none of the next 18 can be hit, and
        // the 21st must not miss 1/(2 - 21/20).
        let mut law = choke(|_| ());
        for _ in 0..19 {
            assert_eq!(arrive(&mut law, 100, Some(8), 0.0), Verdict::Pass);
            assert_eq!(arrive(&mut law, 100, Some(7), 0.0), Verdict::DropBoth);
        }
        assert_eq!(arrive(&mut law, 100, Some(8), 0.0), Verdict::Mark);
        let mut law = choke(|params| params.mark_below_p = 0.0);
        for _ in 0..19 {
            arrive(&mut law, 100, Some(8), 0.0);
        }
        assert_eq!(arrive(&mut law, 100, Some(8), 0.0), Verdict::Drop, "the paper has no marks");
    }
}
