//! COBALT: CoDel and BLUE side by side.
//!
//! J. Morton, D. Taht, T. Hoiland-Jorgensen, "Piece of CAKE", IEEE LANMAN 2018; J. Palmei et al., "Design and
//! Evaluation of COBALT Queue Discipline", IEEE LANMAN 2019. The rules are those of the authors' code, Linux
//! `net/sched/sch_cake.c` (GPL-2.0 or BSD-3-Clause, read under the latter); `docs/deviations/cobalt.md` has what is
//! not.
//!
//! CoDel paces signals in time, which is right for flows that answer one signal a round trip and hopeless against
//! those that answer none. BLUE drops a share of the packets, and begins when the buffer overflows: then CoDel has
//! lost. A packet goes when either wants it.
//!
//! ```text
//! due   = due + interval / sqrt(count)      on each signal, count one up    (1)
//! due   = due + interval / sqrt(count)      count one down at each due time
//!                                           while the delay is in order     (2)
//! x     = x (3 - count x^2) / 2             x stands for 1 / sqrt(count)    (3)
//! p     = p + increment                     when the buffer overflows       (4)
//! p     = p - decrement                     when the queue is empty         (5)
//! ```
//!
//! The delay is out of order where a packet was held for more than the target and for more than four packets'
//! transmission times. (1) starts at interval / sqrt(count) after that, with a count of at least 1; an overflow
//! starts it at once. (4) and (5) happen at most once in a freeze time.

use crate::catalogue::Entry;
use crate::law::{Arrival, Departure, Gauges, Given, Law, Verdict};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Bytes, Fault, Page, Prob, Rate, Span, Time};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "cobalt",
        summary: "CoDel and BLUE side by side: the second for traffic that answers no signal of the first",
        idea: "CoDel's half signals ever faster while packets wait longer than the target, and slows down at the \
               same pace once they do not. BLUE's half drops a share of all packets that rises when the buffer \
               overflows and falls when the queue is empty; it does not ask for ECN, as who has filled the \
               buffer answered no mark. An overflow starts CoDel's half at once. The last packet in the queue is \
               marked at most.",
        equation: "due <- due + interval / sqrt(count);  p <- p + 1/256 at overflow, p - 1/4096 when empty",
        source: "J. Palmei et al., Design and Evaluation of COBALT Queue Discipline, IEEE LANMAN 2019; its authors' \
                 code, Linux net/sched/sch_cake.c",
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
        /// largest packet: a delay of up to four of its transmission times is in order, whatever the target
        mtu: Bytes = Bytes::new(1500), "mtu_time", "more than 0" if |size| *size > Bytes::ZERO,
            "Ethernet's; sch_cake takes the interface's";
        /// what an overflow adds to BLUE's probability
        increment: Prob = Prob::clamped(1.0 / 256.0), "increment", "more than 0, at most 1" if |p| p.get() > 0.0,
            "sch_cake.c: 1/256";
        /// what an empty queue takes off BLUE's probability
        decrement: Prob = Prob::clamped(1.0 / 4096.0), "decrement", "more than 0, at most 1" if |p| p.get() > 0.0,
            "sch_cake.c: 1/4096";
        /// shortest time between two changes of BLUE's probability
        freeze: Option<Span> = None, "freeze_time", "more than 0" if |span| span.is_none_or(|span| span > Span::ZERO),
            "target, as in sch_cake.c; p then takes 1.28 s to reach 1";
    }
}

/// CoDel and BLUE side by side.
#[derive(Clone, Debug)]
pub struct Cobalt {
    target: Span,
    interval: Span,
    ecn: bool,
    mtu: Bytes,
    /// The largest delay that is in order however small the target: [`PACKETS`] transmission times.
    spared: Span,
    /// What waits for the target on the link at its first rate.
    target_packets: f64,

    /// Whether the delay is out of order, or the buffer has overflowed since it was in order.
    dropping: bool,
    /// When count changes next: up while `dropping`, else down. Without a count, when the queue has rested for long.
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
            mtu: params.mtu,
            spared: spared(params.mtu, site.rate),
            target_packets: site.packets(Amount::Delay(params.target)),
            dropping: false,
            drop_next: Time::ZERO + params.interval,
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
        let late = departure.sojourn > self.target && departure.sojourn > self.spared;
        let (signal, overdue) = self.signals(departure.now, late);
        let mark = signal && self.ecn && departure.ecn.is_capable();
        // Who has filled the buffer answered no mark, so this half only drops.
        let drop = signal && !mark || departure.u[0] < self.blue.p;
        self.forgive(departure.now, overdue && !drop);
        match (drop && departure.backlog.packets > 0, mark) {
            (true, _) => Verdict::Drop,
            (false, true) => Verdict::Mark,
            (false, false) => Verdict::Pass,
        }
    }

    fn on_idle(&mut self, now: Time) {
        self.dropping = false;
        if self.is_due(now) {
            self.step_back();
        }
        self.blue.found_empty(now);
    }

    fn on_overflow(&mut self, now: Time) {
        self.blue.overflowed(now);
        self.dropping = true;
        self.drop_next = now;
        self.pace.begin();
    }

    fn on_link_change(&mut self, _now: Time, rate: Rate) {
        if rate > Rate::ZERO {
            self.spared = spared(self.mtu, rate);
        }
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
    /// CoDel's half: whether this packet, whose delay is out of order (`late`) or not, gets a signal, and whether
    /// the time that it was held to, or else the next one, has passed before `now`.
    fn signals(&mut self, now: Time, late: bool) -> (bool, bool) {
        let (due, planned) = (self.is_due(now), self.drop_next);
        if late && !self.dropping {
            self.drop_next = now + self.gap();
        }
        if late {
            self.pace.begin();
        }
        self.dropping = late;
        if !due {
            return (false, now > planned);
        }
        if late {
            self.pace.up();
            self.drop_next += self.gap();
        }
        while !late && self.is_due(now) {
            self.step_back();
        }
        (late, now > self.drop_next)
    }

    /// A time that has passed is made up for by drops alone. Without a count it is when the queue has been at rest
    /// for an interval: what is late after that has been so for as long.
    fn forgive(&mut self, now: Time, passed: bool) {
        if self.pace.count == 0 {
            self.drop_next = now + self.interval;
        } else if passed {
            self.drop_next = now;
        }
    }

    fn is_due(&self, now: Time) -> bool {
        self.pace.count > 0 && now >= self.drop_next
    }

    /// Equation (2). Each step was paid for by a signal before.
    fn step_back(&mut self) {
        self.pace.down();
        self.drop_next += self.gap();
    }

    /// Equation (1), from one due time to the next; without a signal so far it is the interval.
    fn gap(&self) -> Span {
        Span::from_nanos((self.interval.nanos() as f64 * self.pace.inverse_root) as u64)
    }
}

impl Pace {
    /// The first signal is due at the pace of one.
    fn begin(&mut self) {
        self.count = self.count.max(1);
    }

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
            if self.count < EXACT { 1.0 / count.sqrt() } else { newton(self.inverse_root, count) };
    }
}

/// Equation (3): one step of Newton's method from `x` towards 1 / sqrt(count).
fn newton(x: f64, count: f64) -> f64 {
    x * (3.0 - count * x * x) / 2.0
}

/// The transmission time of so many of the largest packets; none where the link's rate is not known.
fn spared(mtu: Bytes, rate: Rate) -> Span {
    if rate > Rate::ZERO { rate.time_for(mtu).saturating_mul(PACKETS) } else { Span::ZERO }
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
        self.changed.is_none_or(|changed| now.since(changed) > self.freeze)
    }
}

/// Largest packets whose transmission times a delay may take.
const PACKETS: u64 = 4;
/// Where `count` saturates.
const MOST: u32 = u32::MAX;
/// Below this count 1 / sqrt(count) is computed, as one step of Newton's method would be too coarse.
const EXACT: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;

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

    /// When something else than a pass is answered, of packets that leave each millisecond.
    fn acted(cobalt: &mut Cobalt, packets: impl IntoIterator<Item = Departure>) -> Vec<u64> {
        let signalled = |packet: &Departure| cobalt.on_departure(packet) != Verdict::Pass;
        packets.into_iter().filter(signalled).map(|packet| packet.now.nanos() / 1_000_000).collect()
    }

    #[test]
    fn the_count_is_one_at_entry_and_two_at_the_first_signal() {
        // By hand from 1 ms on: 100 / sqrt(1), then 100 / sqrt(2, 3, 4, 5, 6) after one another.
        for (ecn, verdict) in [(Ecn::NotEct, Verdict::Drop), (Ecn::Ect0, Verdict::Mark)] {
            let mut cobalt = cobalt();
            cobalt.on_departure(&late(1, ecn));
            assert_eq!((cobalt.pace.count, cobalt.drop_next), (1, at(101)));
            assert_eq!(acted(&mut cobalt, (2..101).map(|millis| late(millis, ecn))), []);
            assert_eq!(cobalt.on_departure(&late(101, ecn)), verdict);
            assert_eq!(cobalt.pace.count, 2);
            let later = acted(&mut cobalt, (102..370).map(|millis| late(millis, ecn)));
            assert_eq!(later, [172, 230, 280, 325, 365]);
        }
    }

    #[test]
    fn the_ramp_runs_backwards_while_the_delay_is_in_order() {
        // Due at 101, 171.7, 229.4 and 279.4 ms: a count of 4, due at 279.4 + 50 = 324.2 ms with 5. Back: 324.2 ms
        // to 4, 374.2 ms to 3, 431.9 ms to 2, 502.6 ms to 1, 602.6 ms to 0.
        let counts =
            [(300, 5), (324, 5), (325, 4), (374, 4), (375, 3), (431, 3), (432, 2), (502, 2), (503, 1)];
        let mut cobalt = cobalt();
        (1..=299).for_each(|millis| _ = cobalt.on_departure(&late(millis, Ecn::NotEct)));
        for (millis, expected) in counts.into_iter().chain([(602, 1), (603, 0)]) {
            cobalt.on_departure(&in_time(millis));
            assert_eq!(cobalt.pace.count, expected, "{millis} ms");
        }
    }

    #[test]
    fn it_goes_on_at_the_pace_that_is_left() {
        // A count of 5 at 299 ms; late again from 320 ms on, before the first step back: due 100 / sqrt(5) = 44.7 ms
        // later.
        let mut cobalt = cobalt();
        (1..=299).for_each(|millis| _ = cobalt.on_departure(&late(millis, Ecn::NotEct)));
        cobalt.on_departure(&in_time(310));
        let first = acted(&mut cobalt, (320..400).map(|millis| late(millis, Ecn::NotEct)));
        assert_eq!((first[0], cobalt.drop_next > at(400)), (365, true));
    }

    #[test]
    fn a_step_back_that_is_due_as_the_delay_rises_again_is_a_signal() {
        let mut cobalt = cobalt();
        (1..=180).for_each(|millis| _ = cobalt.on_departure(&late(millis, Ecn::NotEct)));
        cobalt.on_departure(&in_time(200));
        // A count of 3, due at 229.4 ms: the next packet leaves after that and is late.
        assert_eq!(cobalt.on_departure(&late(240, Ecn::NotEct)), Verdict::Drop);
        assert_eq!(cobalt.pace.count, 4);
        // From 240 ms: 57.7 ms of the entry and 50 ms of the signal.
        assert_eq!(acted(&mut cobalt, (241..360).map(|millis| late(millis, Ecn::NotEct))), [348]);
    }

    #[test]
    fn drops_make_up_for_what_is_late_and_marks_do_not() {
        for (ecn, expected) in
            [(Ecn::NotEct, [500, 501, 502, 503, 504]), (Ecn::Ect0, [500, 501, 558, 608, 653])]
        {
            let mut cobalt = cobalt();
            cobalt.on_departure(&late(1, ecn));
            let acted = acted(&mut cobalt, (500..700).map(|millis| late(millis, ecn)));
            assert_eq!(acted[..5], expected, "{ecn:?}");
        }
    }

    #[test]
    fn an_overflow_starts_the_signals_at_once() {
        let mut cobalt = cobalt();
        cobalt.on_departure(&in_time(1));
        cobalt.on_overflow(at(2));
        assert_eq!((cobalt.dropping, cobalt.drop_next, cobalt.pace.count), (true, at(2), 1));
        // Due at 2, 72.7 and 130.4 ms.
        assert_eq!(acted(&mut cobalt, (3..140).map(|millis| late(millis, Ecn::NotEct))), [3, 73, 131]);
        // And each overflow again.
        cobalt.on_overflow(at(140));
        assert_eq!(cobalt.on_departure(&late(141, Ecn::NotEct)), Verdict::Drop);
        // Unless the delay is in order by then.
        cobalt.on_overflow(at(142));
        let count = cobalt.pace.count;
        assert_eq!(cobalt.on_departure(&in_time(143)), Verdict::Pass);
        assert_eq!(cobalt.pace.count, count - 1);
    }

    #[test]
    fn a_late_packet_after_an_interval_of_rest_starts_the_signals_at_once() {
        let mut cobalt = cobalt();
        cobalt.on_departure(&in_time(1));
        assert_eq!(acted(&mut cobalt, (102..110).map(|millis| late(millis, Ecn::NotEct))), [103]);
        let mut cobalt = self::cobalt();
        cobalt.on_departure(&in_time(2));
        assert_eq!(acted(&mut cobalt, (102..204).map(|millis| late(millis, Ecn::NotEct))), [202]);
    }

    #[test]
    fn newtons_steps_stay_with_the_root() {
        // A step from the root of c - 1 is off by 3 / (8 (c - 1)^2): at most 0.17 % from 16 on.
        let mut pace = Pace { count: 0, inverse_root: 1.0 };
        let error = |pace: &Pace| pace.inverse_root * f64::from(pace.count.max(1)).sqrt() - 1.0;
        for count in 1..=100_000 {
            pace.up();
            assert_eq!(pace.count, count);
            assert!((-0.0017..=1e-9).contains(&error(&pace)), "{count}: {}", error(&pace));
        }
        for count in (0..100_000).rev() {
            pace.down();
            assert!((-0.0017..=1e-9).contains(&error(&pace)), "{count}: {}", error(&pace));
        }
        let mut pace = Pace { count: MOST, inverse_root: 1.0 / f64::from(MOST).sqrt() };
        pace.up();
        assert_eq!(pace.count, MOST, "it saturates");
        assert_eq!(newton(0.25, 17.0), 0.242_187_5, "0.25 (3 - 17/16) / 2 by hand");
    }

    #[test]
    fn blue_rises_at_overflow_once_in_a_freeze_time() {
        let mut cobalt = cobalt();
        for (millis, expected) in [(1, 1.0), (2, 1.0), (6, 1.0), (7, 2.0), (12, 2.0), (13, 3.0)] {
            cobalt.on_overflow(at(millis));
            assert_eq!(cobalt.blue.p * 256.0, expected, "{millis} ms");
        }
        // More than 5 ms apart: in packets of a millisecond, 256 steps of 6 ms.
        (14..1532).for_each(|millis| cobalt.on_overflow(at(millis)));
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
    fn the_last_packet_is_marked_but_not_dropped() {
        for (ecn, expected) in [(Ecn::NotEct, Verdict::Pass), (Ecn::Ect0, Verdict::Mark)] {
            let last = |millis| Departure { backlog: Backlog::default(), ..late(millis, ecn) };
            let mut cobalt = cobalt();
            cobalt.blue.p = 0.9;
            cobalt.on_departure(&last(1));
            assert_eq!((cobalt.on_departure(&last(101)), cobalt.pace.count), (expected, 2));
        }
    }

    #[test]
    fn a_delay_of_four_of_the_largest_packets_is_in_order() {
        // 1500 B at 8 Mbit/s take 1.5 ms, more than the target's share.
        let waited = |micros| Departure { sojourn: Span::from_micros(micros), ..late(1, Ecn::NotEct) };
        for (micros, rate, expected) in [
            (5_500, 8e6, false),
            (6_000, 8e6, false),
            (6_001, 8e6, true),
            (5_001, 80e6, true),
            (5_000, 80e6, false),
            (12_000, 4e6, false),
            (12_001, 4e6, true),
        ] {
            let mut cobalt = cobalt();
            cobalt.on_link_change(at(0), Rate::from_bits_per_second(rate));
            cobalt.on_link_change(at(0), Rate::ZERO);
            cobalt.on_departure(&waited(micros));
            assert_eq!(cobalt.dropping, expected, "{micros} us at {rate} bit/s");
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
