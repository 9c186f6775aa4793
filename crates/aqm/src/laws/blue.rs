//! BLUE: learn the probability from lost packets and from an idle link.
//!
//! W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE Active Queue Management
//! Algorithms", IEEE/ACM Transactions on Networking 10(4), 2002. The length of
//! the queue decides nothing. A packet that is lost says that p is too small, an
//! idle link that it is too large; between two changes p is left alone for
//! `freeze`, long enough for the senders to answer the first.
//!
//! ```text
//! p <- p + d_1   when a packet is lost, or the backlog is above L    (1)
//! p <- p - d_2   when the link is idle                               (2)
//! each only where more than freeze_time has passed since the last change
//! ```
//!
//! Each arriving packet is marked or dropped with probability p. `L` is not set
//! unless it is given: then only the full buffer speaks. With `again` a link
//! that stays idle lowers p once more after each `freeze`; without, it speaks
//! once, when it falls idle. What is lost while the link stands still says
//! nothing of p.

use crate::catalogue::Entry;
use crate::law::{Arrival, Gauges, Given, Law, Verdict};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Fault, Page, Prob, Rate, Span, Time};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "blue",
        summary: "learn one probability: more when a packet is lost, less when the link is idle",
        idea: "The length of the queue decides nothing. When the buffer overflows the probability of a mark or \
               drop is too small and grows by a step; when the link falls idle it is too large and shrinks \
               by a smaller one. After each change it is left alone for a while, so that the senders can \
               answer. What is learnt is kept: the queue may be short while the probability is right.",
        equation: "p <- p + d_1 at a loss, p <- p - d_2 when the link is idle; freeze_time apart",
        source: "W. Feng, K. Shin, D. Kandlur, D. Saha, IEEE/ACM Transactions on Networking 10(4), 2002",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Blue::new(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of BLUE.
    pub struct Params {
        /// what a lost packet adds to the probability
        increase: f64 = 0.0025, "d_1", "more than 0, at most 1" if |d| is_step(*d),
            "the p of a moderate load: larger steps empty the queue, docs/deviations/blue.md";
        /// what an idle link takes off the probability
        decrease: f64 = 0.00025, "d_2", "more than 0, at most increase" if |d| is_step(*d),
            "Feng 2002: much less than d_1, since only a loss always means that p is wrong; a tenth";
        /// least time between two changes of the probability
        freeze: Span = Span::from_millis(100), "freeze_time", "more than 0, at most 1 h"
            if |span| *span > Span::ZERO && *span <= Span::from_secs(3600),
            "Feng 2002: long enough for a change to be answered, about the longest round-trip time";
        /// backlog above which an arriving packet counts as a loss; not set: only one that does not fit
        threshold: Option<Amount> = None, "L", "within the buffer" if |_| true,
            "Feng 2002: an option, to leave room in the buffer for bursts";
        /// a link that stays idle lowers the probability again after each freeze_time
        again: bool = true, "again", "true or false" if |_| true,
            "p is forgotten in a silence; false is the paper, to the letter one event";
    }
}

/// The law that learns from losses and idleness.
#[derive(Clone, Debug)]
pub struct Blue {
    increase: f64,
    decrease: f64,
    /// The least time between two changes: "more than freeze_time", in whole nanoseconds.
    spacing: Span,
    /// L, packets; infinite where only the full buffer speaks.
    threshold: f64,
    again: bool,

    p: f64,
    changed: Option<Time>,
    idle_since: Option<Time>,
    /// Whether the link has no rate at present.
    stands: bool,
}

impl Blue {
    /// BLUE in front of the link at `site`, with nothing learnt yet.
    pub fn new(params: &Params, site: &Site) -> Result<Blue, Fault> {
        if params.decrease > params.increase {
            let what = format!(
                "{} is above increase = {}; legal: more than 0, at most increase",
                params.decrease, params.increase
            );
            return Err(Fault::new("decrease", what));
        }
        let threshold = params.threshold.map_or(f64::INFINITY, |amount| site.packets(amount));
        if params.threshold.is_some() && threshold > site.limit {
            let what = format!(
                "{threshold} packets is above the buffer of {} packets; legal: within the buffer",
                site.limit
            );
            return Err(Fault::new("threshold", what));
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
            stands: site.rate == Rate::ZERO,
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

    fn retune(&mut self, _now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = Blue::new(&Params::from_values(given)?, site)?;
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

    /// Equation (2), as often as it holds while the link is idle from `since` to `now`.
    fn idle(&mut self, since: Time, now: Time) {
        let first = self.thaws().map_or(since, |thaws| thaws.max(since));
        if first <= now {
            let more = now.since(first).nanos() / self.spacing.nanos();
            self.p = (self.p - (more + 1) as f64 * self.decrease).max(0.0);
            self.changed = Some(first + self.spacing.saturating_mul(more));
        }
    }

    /// When p may change again; None: at once.
    fn thaws(&self) -> Option<Time> {
        self.changed.map(|changed| changed + self.spacing)
    }
}

fn is_step(d: f64) -> bool {
    Prob::new(d).is_some_and(|d| d > Prob::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;

    fn site() -> Site {
        let rate = Rate::from_bits_per_second(8e6);
        Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None }
    }

    fn blue(change: impl Fn(&mut Params)) -> Blue {
        let mut params = Params { increase: 0.02, decrease: 0.002, ..Params::default() };
        change(&mut params);
        Blue::new(&params, &site()).unwrap()
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
        // The paper's event is that the link falls idle: a silence, however long, is one.
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
    fn a_silence_is_forgotten_step_by_step() {
        let mut blue = blue(|_| ());
        blue.p = 0.1;
        blue.on_overflow(at(0));
        // Frozen when it falls idle at 40 ms; changes at 100, 200, ... ms: by 950 ms nine of them.
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
        assert_eq!(blue.p, 0.0, "after however long");
    }

    #[test]
    fn what_is_lost_while_the_link_stands_still_does_not_count() {
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
    fn packets_meet_p() {
        let mut blue = blue(|_| ());
        blue.p = 0.3;
        let mut said = |ecn, u| blue.on_arrival(&arrival(at(0), 0, ecn, u));
        assert_eq!(said(Ecn::NotEct, 0.299), Verdict::Drop);
        assert_eq!(said(Ecn::Ect0, 0.299), Verdict::Mark);
        assert_eq!(said(Ecn::Ect1, 0.3), Verdict::Pass);
    }

    /// Where each event finds p thawed, as many d_1 as d_2 keep p at rest: losses must be a tenth as frequent.
    #[test]
    fn steps_balance_where_theory_says() {
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

    #[test]
    fn contradictions_are_refused() {
        let refused = |change: &dyn Fn(&mut Params)| {
            let mut params = Params::default();
            change(&mut params);
            Blue::new(&params, &site()).unwrap_err().to_string()
        };
        let told = refused(&|params| params.decrease = 0.05);
        assert_eq!(told, "decrease: 0.05 is above increase = 0.0025; legal: more than 0, at most increase");
        let told = refused(&|params| params.threshold = Some(Amount::Packets(400.0)));
        assert_eq!(
            told,
            "threshold: 400 packets is above the buffer of 300 packets; legal: within the buffer"
        );
    }
}
