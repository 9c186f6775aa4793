//! CHOKe: RED that compares an arrival with a packet it already holds.
//!
//! R. Pan, B. Prabhakar, K. Psounis, "CHOKe: A Stateless Active Queue Management
//! Scheme for Approximating Fair Bandwidth Allocation", IEEE INFOCOM, 2000. The
//! average backlog and the thresholds are RED's (see `red.rs`). For each arrival
//!
//! ```text
//! avg <= min_th              it passes                                      (1)
//! avg >  min_th              one held packet is drawn, each as likely as
//!                            any other; of the same flow: both are dropped  (2)
//! avg <  max_th              otherwise dropped with RED's probability       (3)
//! avg >= max_th              otherwise dropped                              (4)
//! ```
//!
//! A flow with the share h of the backlog meets itself with probability h, and
//! each time it loses two packets. So who sends most loses most, and no state
//! is kept for any flow.

use crate::catalogue::Entry;
use crate::law::{Arrival, Gauges, Given, Law, Verdict};
use crate::laws::red::{self, Red};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Fault, Page, Prob, Rate, Time};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "choke",
        summary: "RED that compares an arrival with a held packet and drops both where they are of one flow",
        idea: "A flow that does not slow down fills the queue with its own packets. While the average backlog \
               is above the lower threshold every arrival is compared with a packet drawn from the queue; two of \
               the same flow are dropped together. So a flow is punished by its share of the queue, without \
               any state for flows. What remains is RED's to judge.",
        equation: "flow = flow of a random held packet: both are dropped;  else RED",
        source: "R. Pan, B. Prabhakar, K. Psounis, IEEE INFOCOM, 2000",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Choke::new(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of CHOKe.
    pub struct Params {
        /// average backlog up to which nothing is compared and every packet passes
        min: Option<Amount> = None, "min_th", "more than 0, less than max" if |min| min.is_none_or(red::positive),
            "as RED: a third of max; without max a sixth of the buffer (5 packets where there is no limit)";
        /// average backlog at which p_b reaches max_p
        max: Option<Amount> = None, "max_th", "more than min, within the buffer"
            if |max| max.is_none_or(red::positive),
            "as RED: three times min";
        /// weight of a new sample in the average
        weight: f64 = 0.002, "w_q", "more than 0, at most 1" if |w| *w > 0.0 && *w <= 1.0,
            "as RED";
        /// probability at the upper threshold
        max_p: Prob = Prob::clamped(0.1), "max_p", "more than 0, at most 1" if |p| p.get() > 0.0,
            "as RED";
        /// rise to 1 at twice max instead of dropping everything from max on
        gentle: bool = false, "gentle", "true or false" if |_| true,
            "Pan et al. 2000: above max every packet is dropped";
        /// what RED's part does to ECN-capable packets: marked while p_b is below this, else dropped
        mark_below_p: f64 = 1.0, "mark_p", "0 to 2; above 1 nothing that can be marked is dropped by RED's part"
            if |p| (0.0..=2.0).contains(p),
            "RFC 3168, section 7; 0 is the paper, which knows no marks";
        /// count bytes: the average, and the probability by packet size
        byte_mode: bool = false, "bytes", "true or false" if |_| true,
            "as RED";
        /// wait 1/p_b packets after a mark or drop
        wait: bool = true, "wait", "true or false" if |_| true,
            "as RED";
    }
}

/// CHOKe.
#[derive(Clone, Debug)]
pub struct Choke {
    red: Red,
}

impl Choke {
    /// CHOKe in front of the link at `site`, from an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<Choke, Fault> {
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
        Ok(Choke { red: Red::new(&red, site)? })
    }

    /// Equation (2). ECN saves nobody here: who does not slow down may well call itself ECN-capable.
    fn meets_itself(&self, arrival: &Arrival) -> bool {
        self.red.average() > self.red.thresholds().0 && arrival.victim == Some(arrival.flow)
    }
}

impl Law for Choke {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.red.observe(arrival);
        if self.meets_itself(arrival) {
            // RED's count is of the packets that RED judges.
            return Verdict::DropBoth;
        }
        self.red.judge(arrival)
    }

    fn on_idle(&mut self, now: Time) {
        self.red.on_idle(now);
    }

    fn on_overflow(&mut self, now: Time) {
        self.red.on_overflow(now);
    }

    fn on_link_change(&mut self, now: Time, rate: Rate) {
        self.red.on_link_change(now, rate);
    }

    fn retune(&mut self, _now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        self.red = Choke::new(&Params::from_values(given)?, site)?.red.after(&self.red);
        Ok(())
    }

    fn wants_victim(&self) -> bool {
        true
    }

    fn derived(&self, out: &mut dyn Gauges) {
        self.red.derived(out);
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        self.red.gauges(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;

    /// Thresholds 50 and 150 and an average that is the backlog.
    fn choke(change: impl Fn(&mut Params)) -> Choke {
        let rate = Rate::from_bits_per_second(8e6);
        let site = Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None };
        let mut params = Params { weight: 1.0, ..Params::default() };
        change(&mut params);
        Choke::new(&params, &site).unwrap()
    }

    fn arrive(law: &mut Choke, packets: u32, victim: Option<u32>, u: f64) -> Verdict {
        let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
        let (ecn, flow, victim) = (Ecn::Ect0, FlowId(7), victim.map(FlowId));
        law.on_arrival(&Arrival { now: Time::ZERO, len: 1000, ecn, flow, backlog, victim, u: [u, 0.0] })
    }

    #[test]
    fn two_of_a_flow_go_together_above_min_alone() {
        let mut law = choke(|_| ());
        assert!(law.wants_victim());
        assert_eq!(arrive(&mut law, 50, Some(7), 0.99), Verdict::Pass);
        assert_eq!(arrive(&mut law, 51, Some(7), 0.99), Verdict::DropBoth);
        assert_eq!(arrive(&mut law, 51, Some(8), 0.99), Verdict::Pass);
        assert_eq!(arrive(&mut law, 150, Some(7), 0.99), Verdict::DropBoth);
        assert_eq!(arrive(&mut law, 150, Some(8), 0.99), Verdict::Drop);
    }

    #[test]
    fn what_is_left_is_reds_and_its_count_is_of_that() {
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
        assert_eq!(arrive(&mut law, 100, Some(8), 0.0), Verdict::Drop, "the paper knows no marks");
    }
}
