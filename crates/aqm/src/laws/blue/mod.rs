//! BLUE: a probability adapted by packet loss and link idleness.
//!
//! W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE Active Queue Management
//! Algorithms", IEEE/ACM Transactions on Networking 10(4), 2002. The queue length
//! has no effect on p: a lost packet raises it, an idle link lowers it. Changes
//! are `freeze` apart or more, so that senders can react to the first.
//!
//! ```text
//! p <- p + d_1   when a packet is lost, or the backlog is above L    (1)
//! p <- p - d_2   when the link is idle                               (2)
//! each only where more than freeze_time has passed since the last change
//! ```
//!
//! Each arriving packet is marked or dropped with probability p. Without `L` only
//! the full buffer counts in (1). With `again` a link that stays idle lowers p
//! again after each `freeze`, else once per idle period. Losses at a link
//! without a rate do not count.

pub mod fluid;

use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Arrival, Law, Verdict};
use crate::link_context::LinkContext;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, Rate, Span, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "blue",
        summary: "learn one probability: more when a packet is lost, less when the link is idle",
        idea: "The queue length has no effect. When the buffer overflows the probability of a mark or \
               drop is too small and grows by a step; when the link falls idle it is too large and shrinks \
               by a smaller one. After each change it is constant for a while, so that the senders can \
               respond. The law holds a probability, not a queue length: the queue may be short.",
        equation: "p <- p + d_1 at a loss, p <- p - d_2 when the link is idle; freeze_time apart",
        source: "W. Feng, K. Shin, D. Kandlur, D. Saha, IEEE/ACM Transactions on Networking 10(4), 2002",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| {
        let law = Blue::new(params.of()?, context)?;
        Ok(Designed::new(law.clone()).with_fluid(fluid::FluidBlue::new(law, context)))
    },
};

sojourn_params::params! {
    /// Parameters of BLUE.
    pub struct Params {
        /// increment of the probability at a lost packet
        increase "d_1": f64 = 0.0025, in above 0.0 to 1.0,
            "the p of a moderate load: larger steps empty the queue, docs/deviations/blue.md";
        /// decrement of the probability on an idle link
        decrease "d_2": f64 = 0.00025, in above 0.0 to 1.0, where "at most increase",
            "Feng 2002: much less than d_1, since only a loss always means that p is wrong; a tenth";
        /// least time between two changes of the probability
        freeze "freeze_time": Span = Span::from_millis(100), in above "0 s" to "1 h",
            "Feng 2002: long enough for a response to a change, about the longest round-trip time";
        /// backlog above which an arriving packet counts as a loss; not set: only one that does not fit
        threshold "L": Option<Amount> = None, where "within the buffer",
            "Feng 2002: an option, to leave room in the buffer for bursts";
        /// a link that stays idle lowers the probability again after each freeze_time
        again "again": bool = true,
            "p decays on an idle link; false is the paper to the letter, one event per idle period";
    }
}

/// The BLUE law.
#[derive(Clone, Debug)]
pub struct Blue {
    increase: f64,
    decrease: f64,
    /// Least time between two changes: "more than freeze_time", in whole nanoseconds.
    spacing: Span,
    /// L, packets; infinite: only the full buffer counts.
    threshold: f64,
    again: bool,

    p: f64,
    changed: Option<Time>,
    idle_since: Option<Time>,
    /// The link has no rate at present.
    stands: bool,
}

impl Blue {
    /// BLUE on the link of `context`, from p = 0.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Blue, InputError> {
        if params.decrease > params.increase {
            let problem = format!("is above increase = {}", params.increase);
            let expected = "more than 0, at most increase";
            return Err(InputError::conflict(params.decrease, problem, expected).at("decrease"));
        }
        let threshold = params.threshold.map_or(f64::INFINITY, |amount| context.packets(amount));
        if params.threshold.is_some() && threshold > context.limit {
            return Err(context.above_the_buffer(format!("{threshold} packets")).at("threshold"));
        }
        Ok(Blue {
            increase: params.increase,
            decrease: params.decrease,
            spacing: params.freeze + Span::from_nanos(1),
            threshold,
            again: params.again,
            p: 0.0,
            changed: None,
            idle_since: None,
            stands: context.rate == Rate::ZERO,
        })
    }
}

impl Law for Blue {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Some(since) = self.idle_since.take().filter(|_| self.again) {
            self.idle(since, arrival.now);
        }
        if f64::from(arrival.backlog.packets) > self.threshold {
            self.lost(arrival.now);
        }
        if arrival.u[0] < self.p { arrival.signalled() } else { Verdict::Pass }
    }

    fn on_idle(&mut self, now: Time) {
        if self.idle_since.is_none() {
            self.idle_since = Some(now);
            self.idle(now, now);
        }
    }

    fn on_overflow(&mut self, now: Time) {
        self.lost(now);
    }

    fn on_link_change(&mut self, _now: Time, rate: Rate) {
        self.stands = rate == Rate::ZERO;
    }

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Blue::new(given.params.of()?, context)?;
        let Blue { p, changed, idle_since, stands, .. } = *self;
        *self = Blue { p, changed, idle_since, stands, ..fresh };
        Ok(())
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.p);
    }
}

impl Blue {
    /// p.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// Equation (1).
    fn lost(&mut self, now: Time) {
        if !self.stands && self.thaws().is_none_or(|thaws| thaws <= now) {
            self.p = (self.p + self.increase).min(1.0);
            self.changed = Some(now);
        }
    }

    /// Applies equation (2) for the idle time from `since` to `now`.
    fn idle(&mut self, since: Time, now: Time) {
        let first = self.thaws().map_or(since, |thaws| thaws.max(since));
        if first <= now {
            let more = now.since(first).nanos() / self.spacing.nanos();
            self.p = (self.p - (more + 1) as f64 * self.decrease).max(0.0);
            self.changed = Some(first + self.spacing.saturating_mul(more));
        }
    }

    /// Earliest time of the next change of p; None: at once.
    fn thaws(&self) -> Option<Time> {
        self.changed.map(|changed| changed + self.spacing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;

    fn context() -> LinkContext {
        LinkContext::example()
    }

    fn blue(change: impl Fn(&mut Params)) -> Blue {
        let mut params = Params { increase: 0.02, decrease: 0.002, ..Params::default() };
        change(&mut params);
        Blue::new(&params, &context()).unwrap()
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn arrival(now: Time, packets: u32, ecn: Ecn, u: f64) -> Arrival {
        let backlog = Backlog { packets, bytes: u64::from(packets) * 1000 };
        Arrival { now, len: 1000, ecn, flow: FlowId(0), backlog, victim: None, u: [u, 0.0] }
    }

    #[test]
    fn a_loss_adds_d1_and_no_more_within_freeze_time() {
        let mut blue = blue(|_| ());
        for millis in [0, 1, 50, 100] {
            blue.on_overflow(at(millis));
        }
        // "now - last_update > freeze_time": 100 ms is not more than 100 ms.
        assert_eq!(blue.p, 0.02);
        blue.on_overflow(at(100) + Span::from_nanos(1));
        assert_eq!(blue.p, 0.04);
        (1..100).for_each(|k| blue.on_overflow(at(1000 * k)));
        assert_eq!(blue.p, 1.0, "p is a probability");
    }

    #[test]
    fn an_idle_link_takes_d2_off() {
        let mut blue = blue(|params| params.again = false);
        blue.p = 0.1;
        blue.on_idle(at(0));
        assert_eq!(blue.p, 0.1 - 0.002);
        // The paper's event is the start of an idle period; its length does not count.
        blue.on_idle(at(5000));
        blue.on_arrival(&arrival(at(9000), 0, Ecn::NotEct, 0.5));
        assert_eq!(blue.p, 0.1 - 0.002);
        blue.on_idle(at(9050));
        assert_eq!(blue.p, 0.1 - 2.0 * 0.002);
        blue.on_arrival(&arrival(at(9060), 0, Ecn::NotEct, 0.5));
        blue.on_idle(at(9100));
        assert_eq!(blue.p, 0.1 - 2.0 * 0.002, "frozen");
    }

    #[test]
    fn an_idle_period_lowers_p_once_per_freeze_time() {
        let mut blue = blue(|_| ());
        blue.p = 0.1;
        blue.on_overflow(at(0));
        // Frozen at the start of the idle period at 40 ms; changes at 100, 200, ... ms: nine by 950 ms.
        blue.on_idle(at(40));
        assert!((blue.p - 0.12).abs() < 1e-15);
        blue.on_arrival(&arrival(at(950), 0, Ecn::NotEct, 0.5));
        assert!((blue.p - (0.12 - 9.0 * 0.002)).abs() < 1e-12, "{}", blue.p);
        // The last of them, at 900 ms, counts as the last change.
        blue.on_overflow(at(990));
        assert!((blue.p - 0.102).abs() < 1e-12);
        blue.on_overflow(at(1001));
        assert!((blue.p - 0.122).abs() < 1e-12);
        blue.on_idle(at(2000));
        blue.on_arrival(&arrival(Time::from_nanos(u64::MAX / 2), 0, Ecn::NotEct, 0.5));
        assert_eq!(blue.p, 0.0, "after any time");
    }

    #[test]
    fn losses_at_a_stopped_link_do_not_count() {
        let mut blue = blue(|params| params.threshold = Some(Amount::Packets(100.0)));
        blue.on_overflow(at(0));
        blue.on_link_change(at(500), Rate::ZERO);
        for millis in (1000..10_000).step_by(200) {
            blue.on_arrival(&arrival(at(millis), 300, Ecn::NotEct, 0.5));
            blue.on_overflow(at(millis));
        }
        assert_eq!(blue.p, 0.02);
        blue.on_link_change(at(10_000), Rate::from_bits_per_second(8e6));
        blue.on_overflow(at(10_001));
        assert_eq!(blue.p, 0.04);
    }

    #[test]
    fn packets_above_the_threshold_count_as_losses() {
        let mut blue = blue(|params| params.threshold = Some(Amount::Delay(Span::from_millis(100))));
        blue.on_arrival(&arrival(at(0), 100, Ecn::NotEct, 0.5));
        assert_eq!(blue.p, 0.0);
        blue.on_arrival(&arrival(at(0), 101, Ecn::NotEct, 0.5));
        assert_eq!(blue.p, 0.02);
    }

    #[test]
    fn packets_are_dropped_or_marked_with_p() {
        let mut blue = blue(|_| ());
        blue.p = 0.3;
        let mut verdict = |ecn, u| blue.on_arrival(&arrival(at(0), 0, ecn, u));
        assert_eq!(verdict(Ecn::NotEct, 0.299), Verdict::Drop);
        assert_eq!(verdict(Ecn::Ect0, 0.299), Verdict::Mark);
        assert_eq!(verdict(Ecn::Ect1, 0.3), Verdict::Pass);
    }

    /// With events further apart than freeze_time p is in equilibrium if losses are a tenth as frequent as idle
    /// periods: d_1 is ten times d_2.
    #[test]
    fn steps_balance_at_one_loss_in_ten_idle_periods() {
        let mut blue = blue(|_| ());
        blue.p = 0.5;
        let mut now = at(0);
        for event in 0..11_000 {
            now += Span::from_millis(101);
            if event % 11 == 0 {
                blue.on_overflow(now);
            } else {
                blue.on_arrival(&arrival(now, 0, Ecn::NotEct, 0.9));
                blue.on_idle(now);
            }
        }
        assert!((blue.p - 0.5).abs() < 0.03, "{}", blue.p);
    }
}
