//! COBALT: CoDel and BLUE side by side.
//!
//! T. Hoiland-Jorgensen, D. Taht, J. Morton, "Piece of CAKE", IEEE LANMAN 2018;
//! J. Palmei et al., "Design and Evaluation of COBALT Queue Discipline", IEEE
//! LANMAN 2019; J. Morton's descriptions on the cake list (May 2016, October
//! 2018). Written from descriptions: `docs/deviations/cobalt.md` says what they
//! leave open and what is done here.
//!
//! CoDel paces signals in time, which is right for flows that answer one signal
//! a round trip and hopeless against those that answer none. BLUE drops a share
//! of the packets, and begins when the buffer overflows: then CoDel has lost.
//! Neither knows of the other; a packet goes when either wants it.
//!
//! ```text
//! due   = t + interval / sqrt(count)         on each signal, count one up   (1)
//! count = count - 1  at each due time        while the delay is in order    (2)
//! x     = x (3 - count x^2) / 2              x stands for 1 / sqrt(count)   (3)
//! p     = p + increment                      when the buffer overflows      (4)
//! p     = p - decrement                      when the queue is empty        (5)
//! ```
//!
//! In (1), t is the time when the delay came above the target, and later always
//! the previous due time. (2) is the same ramp run backwards, where CoDel has a
//! rule for its re-entry. (4) and (5) happen at most once in a freeze time.

use crate::catalogue::Entry;
use crate::law::{Arrival, Departure, Gauges, Given, Law, Verdict};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Bytes, Fault, Page, Prob, Span, Time};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "cobalt",
        summary: "CoDel and BLUE side by side: the second for traffic that answers no signal of the first",
        idea: "CoDel's half signals ever faster while packets wait longer than the target, and slows down at the \
               same pace once they do not. BLUE's half drops a share of all packets that rises when the buffer \
               overflows and falls when the queue is empty; it does not ask for ECN, as who has filled the \
               buffer answered no mark. The last packet in the queue is left alone.",
        equation: "due <- due + interval / sqrt(count);  p <- p + 1/256 at overflow, p - 1/4096 when empty",
        source: "J. Palmei et al., Design and Evaluation of COBALT Queue Discipline, IEEE LANMAN 2019",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Cobalt::new(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of COBALT.
    pub struct Params {
        /// delay that even the luckiest packet of an interval must not exceed
        target: Span = Span::from_millis(5), "TARGET", "more than 0, less than interval" if |span| *span > Span::ZERO,
            "RFC 8289, section 4.3: 5 % of interval; ns-3's and CAKE's too";
        /// how long the delay must stay above target; also the time from the first signal to the second
        interval: Span = Span::from_millis(100), "INTERVAL", "more than target, at most 1 h"
            if |span| *span > Span::ZERO && *span <= Span::from_secs(3600),
            "RFC 8289, section 4.2; ns-3's and CAKE's too";
        /// CoDel's half marks ECN-capable packets instead of dropping them
        ecn: bool = true, "ecn", "true or false" if |_| true,
            "Morton 2018: CoDel's half marks, and drops no ECN-capable packet";
        /// backlog that CoDel's half leaves alone, however long it has waited
        mtu: Bytes = Bytes::new(1500), "MinBytes", "more than 0" if |size| *size > Bytes::ZERO,
            "ns-3's manual";
        /// what an overflow adds to BLUE's probability
        increment: Prob = Prob::clamped(1.0 / 256.0), "increment", "more than 0, at most 1" if |p| p.get() > 0.0,
            "ns-3's manual: 1/256";
        /// what an empty queue takes off BLUE's probability
        decrement: Prob = Prob::clamped(1.0 / 4096.0), "decrement", "more than 0, at most 1" if |p| p.get() > 0.0,
            "ns-3's manual: 1/4096";
        /// shortest time between two changes of BLUE's probability
        freeze: Option<Span> = None, "freeze_time", "more than 0" if |span| span.is_none_or(|span| span > Span::ZERO),
            "target: the sources name no number; p then takes 1.28 s to reach 1";
    }
}

/// CoDel and BLUE side by side.
#[derive(Clone, Debug)]
pub struct Cobalt {
    target: Span,
    interval: Span,
    ecn: bool,
    mtu: u64,
    /// What waits for the target on the link at its first rate.
    target_packets: f64,

    /// Whether the delay is above the target.
    dropping: bool,
    drop_next: Time,
    pace: Pace,
    blue: Blue,
}

/// How often CoDel's half signals: `count`, and equation (3).
#[derive(Clone, Copy, Debug)]
struct Pace {
    count: u32,
    inverse_root: f64,
}

/// The share of packets that BLUE's half drops.
#[derive(Clone, Copy, Debug)]
struct Blue {
    increment: f64,
    decrement: f64,
    freeze: Span,
    p: f64,
    /// When p changed last.
    changed: Option<Time>,
    /// Whether the link has found nothing to send, and nothing has come since.
    empty: bool,
}

impl Cobalt {
    /// COBALT in front of the link at `site`, from an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<Cobalt, Fault> {
        if params.target >= params.interval {
            let what = format!(
                "{} is not below interval = {}; legal: more than 0, less than interval",
                params.target, params.interval
            );
            return Err(Fault::new("target", what));
        }
        Ok(Cobalt {
            target: params.target,
            interval: params.interval,
            ecn: params.ecn,
            mtu: params.mtu.get(),
            target_packets: site.packets(Amount::Delay(params.target)),
            dropping: false,
            drop_next: Time::ZERO,
            pace: Pace { count: 0, inverse_root: 1.0 },
            blue: Blue {
                increment: params.increment.get(),
                decrement: params.decrement.get(),
                freeze: params.freeze.unwrap_or(params.target),
                p: 0.0,
                changed: None,
                empty: true,
            },
        })
    }
}

impl Law for Cobalt {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.blue.ends_silence(arrival.now);
        Verdict::Pass
    }

    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        let signals = self.signals(departure);
        // Who has filled the buffer answered no mark, so this half only drops.
        if departure.backlog.packets > 0 && departure.u[0] < self.blue.p {
            return Verdict::Drop;
        }
        match signals {
            false => Verdict::Pass,
            true if self.ecn && departure.ecn.is_capable() => Verdict::Mark,
            true => Verdict::Drop,
        }
    }

    fn on_idle(&mut self, now: Time) {
        self.dropping = false;
        self.wind_back(now);
        self.blue.found_empty(now);
    }

    fn on_overflow(&mut self, now: Time) {
        self.blue.overflowed(now);
    }

    fn retune(&mut self, _now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = Cobalt::new(&Params::from_values(given)?, site)?;
        let Cobalt { dropping, drop_next, pace, .. } = *self;
        let Blue { p, changed, empty, .. } = self.blue;
        *self = Cobalt { dropping, drop_next, pace, blue: Blue { p, changed, empty, ..fresh.blue }, ..fresh };
        Ok(())
    }

    fn target_packets(&self) -> Option<f64> {
        // As CoDel's: it bounds the least backlog of an interval, not the mean.
        Some(self.target_packets)
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.blue.p);
        out.gauge("count", "packets", f64::from(self.pace.count));
        out.gauge("dropping", "1", f64::from(u8::from(self.dropping)));
    }
}

impl Cobalt {
    /// CoDel's half: whether a signal is due with this packet.
    fn signals(&mut self, departure: &Departure) -> bool {
        let now = departure.now;
        let in_order = departure.sojourn < self.target || departure.backlog.bytes <= self.mtu;
        if in_order || !self.dropping {
            self.wind_back(now);
        }
        if !in_order && !self.dropping {
            self.drop_next = now + self.gap();
        }
        self.dropping = !in_order;
        if in_order || now < self.drop_next {
            return false;
        }
        self.pace.up();
        self.drop_next += self.gap();
        true
    }

    /// Equation (2). Each step was paid for by a signal before.
    fn wind_back(&mut self, now: Time) {
        while self.pace.count > 0 && now >= self.drop_next {
            self.pace.down();
            self.drop_next += self.gap();
        }
    }

    /// Equation (1), from one due time to the next; without a signal so far it is the interval.
    fn gap(&self) -> Span {
        Span::from_nanos((self.interval.nanos() as f64 * self.pace.inverse_root) as u64)
    }
}

impl Pace {
    fn up(&mut self) {
        if self.count < MOST {
            self.count += 1;
            self.follow();
        }
    }

    fn down(&mut self) {
        self.count -= 1;
        self.follow();
    }

    fn follow(&mut self) {
        let count = f64::from(self.count.max(1));
        self.inverse_root =
            if self.count <= EXACT { 1.0 / count.sqrt() } else { newton(self.inverse_root, count) };
    }
}

/// Equation (3): one step of Newton's method from `x` towards 1 / sqrt(count).
fn newton(x: f64, count: f64) -> f64 {
    x * (3.0 - count * x * x) / 2.0
}

impl Blue {
    /// Equation (4).
    fn overflowed(&mut self, now: Time) {
        if self.is_free(now) {
            self.p = (self.p + self.increment).min(1.0);
            self.changed = Some(now);
        }
    }

    /// Equation (5), as the link finds nothing to send.
    fn found_empty(&mut self, now: Time) {
        self.ends_silence(now);
        if self.p > 0.0 && self.is_free(now) {
            self.p = (self.p - self.decrement).max(0.0);
            self.changed = Some(now);
        }
        self.empty = true;
    }

    /// Equation (5) for each freeze time that the queue has been empty since.
    fn ends_silence(&mut self, now: Time) {
        if let (true, true, Some(changed)) = (self.empty, self.p > 0.0, self.changed) {
            let times = now.since(changed).nanos() / self.freeze.nanos();
            self.p = (self.p - times as f64 * self.decrement).max(0.0);
            self.changed = Some(changed + self.freeze.saturating_mul(times));
        }
        self.empty = false;
    }

    fn is_free(&self, now: Time) -> bool {
        self.changed.is_none_or(|changed| now.since(changed) >= self.freeze)
    }
}

/// Where `count` saturates.
const MOST: u32 = u16::MAX as u32;
/// Up to this count 1 / sqrt(count) is computed, as one step of Newton's method would be too coarse.
const EXACT: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::{Ecn, Rate};

    fn site() -> Site {
        let rate = Rate::from_bits_per_second(8e6);
        Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None }
    }

    fn cobalt() -> Cobalt {
        Cobalt::new(&Params::default(), &site()).unwrap()
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A packet of 1000 B that leaves at `millis` after 50 ms, with 20 behind it.
    fn late(millis: u64, ecn: Ecn) -> Departure {
        let backlog = Backlog { packets: 20, bytes: 20_000 };
        let sojourn = Span::from_millis(50);
        Departure { now: at(millis), len: 1000, ecn, flow: FlowId(0), sojourn, backlog, u: [0.5; 2] }
    }

    fn in_time(millis: u64) -> Departure {
        Departure { sojourn: Span::from_millis(1), ..late(millis, Ecn::NotEct) }
    }

    fn arrival(now: Time) -> Arrival {
        let (ecn, flow, backlog) = (Ecn::NotEct, FlowId(0), Backlog::default());
        Arrival { now, len: 1000, ecn, flow, backlog, victim: None, u: [0.5; 2] }
    }

    #[test]
    fn in_the_simple_case_it_signals_when_codel_does() {
        // CoDel's own numbers (docs/laws/codel.md): 100, 100, 70.7, 57.7, 50 and 44.7 ms after one another.
        for (ecn, verdict) in [(Ecn::NotEct, Verdict::Drop), (Ecn::Ect0, Verdict::Mark)] {
            let mut cobalt = cobalt();
            let said: Vec<(u64, Verdict)> =
                (1..460).map(|millis| (millis, cobalt.on_departure(&late(millis, ecn)))).collect();
            let acted: Vec<u64> =
                said.iter().filter(|(_, said)| *said != Verdict::Pass).map(|(millis, _)| *millis).collect();
            assert_eq!(acted, [101, 201, 272, 330, 380, 425]);
            assert!(acted.iter().all(|millis| said[*millis as usize - 1].1 == verdict));
        }
    }

    #[test]
    fn the_ramp_runs_backwards_while_the_delay_is_in_order() {
        // Due at 101, 201, 271.7 and 329.4 ms: three signals until 300 ms. Going back: 329.4 ms to 2, 400.1 ms
        // to 1, 500.1 ms to 0.
        let counts = [(300, 3), (329, 3), (330, 2), (400, 2), (401, 1), (500, 1), (501, 0), (900, 0)];
        let mut cobalt = cobalt();
        for millis in 1..=300 {
            cobalt.on_departure(&late(millis, Ecn::NotEct));
        }
        for (millis, expected) in counts {
            cobalt.on_departure(&in_time(millis));
            assert_eq!(cobalt.pace.count, expected, "{millis} ms");
        }
    }

    #[test]
    fn it_goes_on_at_the_pace_that_is_left() {
        // Three signals until 300 ms; late again from 320 ms on: due 100 / sqrt(3) = 57.7 ms later.
        let mut cobalt = cobalt();
        for millis in 1..=300 {
            cobalt.on_departure(&late(millis, Ecn::NotEct));
        }
        cobalt.on_departure(&in_time(310));
        let first =
            (320..400).find(|millis| cobalt.on_departure(&late(*millis, Ecn::NotEct)) != Verdict::Pass);
        assert_eq!((first, cobalt.pace.count), (Some(378), 4));
    }

    #[test]
    fn newtons_steps_stay_with_the_root() {
        // A step from the root of c - 1 is off by 3 / (8 (c - 1)^2): at most 0.15 % for c above 16.
        let mut pace = Pace { count: 0, inverse_root: 1.0 };
        let error = |pace: &Pace| pace.inverse_root * f64::from(pace.count.max(1)).sqrt() - 1.0;
        for count in 1..=MOST {
            pace.up();
            assert_eq!(pace.count, count);
            assert!((-0.0015..=1e-9).contains(&error(&pace)), "{count}: {}", error(&pace));
        }
        let most = pace.inverse_root;
        pace.up();
        assert_eq!((pace.count, pace.inverse_root), (MOST, most), "it saturates");
        for count in (0..MOST).rev() {
            pace.down();
            assert!((-0.0015..=1e-9).contains(&error(&pace)), "{count}: {}", error(&pace));
        }
        assert_eq!(newton(0.25, 17.0), 0.242_187_5, "0.25 (3 - 17/16) / 2 by hand");
    }

    #[test]
    fn blue_rises_at_overflow_once_in_a_freeze_time() {
        let mut cobalt = cobalt();
        for (millis, expected) in [(1, 1.0), (2, 1.0), (5, 1.0), (6, 2.0), (10, 2.0), (11, 3.0)] {
            cobalt.on_overflow(at(millis));
            assert_eq!(cobalt.blue.p * 256.0, expected, "{millis} ms");
        }
        // From 0 to 1 in 256 steps of 5 ms.
        (12..1281).for_each(|millis| cobalt.on_overflow(at(millis)));
        assert_eq!(cobalt.blue.p, 1.0);
    }

    #[test]
    fn blue_falls_while_the_queue_is_empty() {
        let mut cobalt = cobalt();
        cobalt.on_arrival(&arrival(at(0)));
        cobalt.on_overflow(at(1));
        cobalt.on_idle(at(3));
        assert_eq!(cobalt.blue.p * 4096.0, 16.0, "frozen until 6 ms");
        // 6, 11, 16 and 21 ms lie in the silence.
        cobalt.on_arrival(&arrival(at(22)));
        assert_eq!(cobalt.blue.p * 4096.0, 12.0);
        // A busy queue leaves it alone for however long; an empty one takes one step at once.
        cobalt.on_arrival(&arrival(at(300)));
        assert_eq!(cobalt.blue.p * 4096.0, 12.0);
        cobalt.on_idle(at(301));
        assert_eq!(cobalt.blue.p * 4096.0, 11.0);
        cobalt.on_idle(at(400_000));
        assert_eq!(cobalt.blue.p, 0.0);
    }

    #[test]
    fn blue_drops_what_may_be_marked_but_not_the_last_packet() {
        let mut cobalt = cobalt();
        cobalt.blue.p = 0.25;
        let with = |packets, u| Departure {
            backlog: Backlog { packets, bytes: u64::from(packets) * 1000 },
            u: [u, 0.0],
            ..in_time(1)
        };
        assert_eq!(cobalt.on_departure(&Departure { ecn: Ecn::Ect0, ..with(1, 0.24) }), Verdict::Drop);
        assert_eq!(cobalt.on_departure(&with(1, 0.25)), Verdict::Pass);
        assert_eq!(cobalt.on_departure(&with(0, 0.0)), Verdict::Pass);
    }

    #[test]
    fn one_mtu_of_backlog_is_left_alone() {
        for (bytes, expected) in [(1500, Verdict::Pass), (1501, Verdict::Drop)] {
            let mut cobalt = cobalt();
            let behind =
                |millis| Departure { backlog: Backlog { packets: 2, bytes }, ..late(millis, Ecn::NotEct) };
            cobalt.on_departure(&behind(1));
            assert_eq!(cobalt.on_departure(&behind(101)), expected, "{bytes} B");
        }
    }

    #[test]
    fn a_target_at_or_above_the_interval_is_refused() {
        let params = Params { target: Span::from_millis(100), ..Params::default() };
        let fault = Cobalt::new(&params, &site()).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "target: 100 ms is not below interval = 100 ms; legal: more than 0, less than interval"
        );
    }
}
