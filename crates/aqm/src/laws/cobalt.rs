//! COBALT: CoDel and BLUE side by side.
//!
//! J. Morton, D. Taht, T. Hoiland-Jorgensen, "Piece of CAKE", IEEE LANMAN 2018; J. Palmei et al., "Design and
//! Evaluation of COBALT Queue Discipline", IEEE LANMAN 2019. The rules are those of the authors' code, Linux
//! `net/sched/sch_cake.c` (GPL-2.0 or BSD-3-Clause, read under the latter); `docs/deviations/cobalt.md` lists the
//! differences.
//!
//! CoDel spaces its signals in time, for responsive flows. BLUE drops a share of the packets, for unresponsive ones;
//! its share rises when the buffer overflows in spite of CoDel. A packet is dropped if either requires it.
//!
//! ```text
//! due   = due + interval / sqrt(count)      on each signal, count one up    (1)
//! due   = due + interval / sqrt(count)      count one down at each due time
//!                                           while the delay is acceptable   (2)
//! x     = x (3 - count x^2) / 2             x approximates 1 / sqrt(count)  (3)
//! p     = p + increment                     when the buffer overflows       (4)
//! p     = p - decrement                     when the queue is empty         (5)
//! ```
//!
//! A delay is excessive above the target and above four packets' transmission times, else acceptable. (1) starts
//! interval / sqrt(count) after the first excessive delay, with a count of at least 1; an overflow starts it at once.
//! (4) and (5) apply at most once per freeze time.

use crate::analysis::Analysis;
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Arrival, Departure, Law, Verdict};
use crate::link_context::LinkContext;
use crate::parts::inverse_root::newton;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, Bytes, Prob, Rate, Span, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "cobalt",
        summary: "CoDel and BLUE side by side: the second for traffic that does not respond to the first",
        idea: "CoDel's half signals ever faster while packets wait longer than the target, and slows down at the \
               same pace once they do not. BLUE's half drops a share of all packets that rises when the buffer \
               overflows and falls when the queue is empty; it ignores ECN, as the flows that fill the \
               buffer do not respond to marks. An overflow starts CoDel's half at once. The last packet in the queue \
               is marked at most.",
        equation: "due <- due + interval / sqrt(count);  p <- p + 1/256 at overflow, p - 1/4096 when empty",
        source: "J. Palmei et al., Design and Evaluation of COBALT Queue Discipline, IEEE LANMAN 2019; its authors' \
                 code, Linux net/sched/sch_cake.c",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| Ok(Designed::new(Cobalt::new(params.of()?, context)?)),
};

sojourn_params::params! {
    /// Parameters of COBALT.
    pub struct Params {
        /// bound of the least delay in an interval
        target "TARGET": Span = Span::from_millis(5), above "0 s", where "less than interval",
            "RFC 8289, section 4.3: 5 % of interval; ns-3's and CAKE's too";
        /// time above target before the first signal; also the time from the first signal to the second
        interval "INTERVAL": Span = Span::from_millis(100), in above "0 s" to "1 h", where "more than target",
            "RFC 8289, section 4.2; ns-3's and CAKE's too";
        /// CoDel's half marks ECN-capable packets instead of dropping them
        ecn "ecn": bool = true, "Morton 2018: CoDel's half marks, and drops no ECN-capable packet";
        /// largest packet: a delay of up to four of its transmission times is acceptable for any target
        mtu "mtu_time": Bytes = Bytes::new(1500), above "0 B", "Ethernet's; sch_cake takes the interface's";
        /// increment of BLUE's probability at an overflow
        increment "increment": Prob = Prob::clamped(1.0 / 256.0), above 0.0, "sch_cake.c: 1/256";
        /// decrement of BLUE's probability at an empty queue
        decrement "decrement": Prob = Prob::clamped(1.0 / 4096.0), above 0.0, "sch_cake.c: 1/4096";
        /// shortest time between two changes of BLUE's probability
        freeze "freeze_time": Option<Span> = None, above "0 s",
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
    /// Largest delay that is acceptable for any target: [`PACKETS`] transmission times.
    spared: Span,
    /// Target at the first link rate, packets.
    target_packets: f64,

    /// The delay is excessive, or the buffer has overflowed since it was acceptable.
    dropping: bool,
    /// Time of the next change of count: up while `dropping`, else down. At a count of 0, end of the idle interval.
    drop_next: Time,
    pace: Pace,
    blue: BlueState,
}

/// Signal rate of the CoDel part: `count`, and equation (3).
#[derive(Clone, Copy, Debug)]
struct Pace {
    count: u32,
    inverse_root: f64,
}

/// State of the BLUE part.
#[derive(Clone, Copy, Debug)]
struct BlueState {
    increment: f64,
    decrement: f64,
    freeze: Span,
    p: f64,
    /// Time of the last change of p.
    changed: Option<Time>,
    /// The link has found the queue empty, and no packet has arrived since.
    empty: bool,
}

impl Cobalt {
    /// COBALT on the link of `context`, from an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Cobalt, InputError> {
        if params.target >= params.interval {
            let problem = format!("is not below interval = {}", params.interval);
            let expected = "more than 0, less than interval";
            return Err(InputError::conflict(params.target, problem, expected).at("target"));
        }
        Ok(Cobalt {
            target: params.target,
            interval: params.interval,
            ecn: params.ecn,
            mtu: params.mtu,
            spared: spared(params.mtu, context.rate),
            target_packets: context.packets(Amount::Delay(params.target)),
            dropping: false,
            drop_next: Time::ZERO + params.interval,
            pace: Pace { count: 0, inverse_root: 1.0 },
            blue: BlueState {
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
        self.blue.decay_while_empty(arrival.now);
        Verdict::Pass
    }

    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        let late = departure.sojourn > self.target && departure.sojourn > self.spared;
        let (signal, overdue) = self.signals(departure.now, late);
        let mark = signal && self.ecn && departure.ecn.is_capable();
        // Flows that overflow the buffer are unresponsive to marks, so this part only drops.
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

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Cobalt::new(given.params.of()?, context)?;
        let Cobalt { dropping, drop_next, pace, .. } = *self;
        let BlueState { p, changed, empty, .. } = self.blue;
        *self = Cobalt {
            dropping,
            drop_next,
            pace,
            blue: BlueState { p, changed, empty, ..fresh.blue },
            ..fresh
        };
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("p", "1", self.blue.p);
        out.gauge("count", "packets", f64::from(self.pace.count));
        out.gauge("dropping", "1", f64::from(u8::from(self.dropping)));
    }
}

impl Analysis for Cobalt {
    fn target_packets(&self) -> Option<f64> {
        // As in CoDel, a bound of the least backlog of an interval, not the mean.
        Some(self.target_packets)
    }
}

impl Cobalt {
    /// CoDel part for a packet with an excessive delay (`late`) or not. Returns whether the packet is signalled, and
    /// whether the due time of its signal, or else the next one, is before `now`.
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

    /// Moves a due time in the past to `now`, unless drops catch up. At a count of 0 the due time is the end of an
    /// interval without signals: a delay that is excessive after it has been so for as long.
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

    /// Equation (2). Each step down follows an earlier step up.
    fn step_back(&mut self) {
        self.pace.down();
        self.drop_next += self.gap();
    }

    /// Gap of equation (1) between due times; before the first signal the interval.
    fn gap(&self) -> Span {
        Span::from_nanos((self.interval.nanos() as f64 * self.pace.inverse_root) as u64)
    }
}

impl Pace {
    /// Starts with a count of at least 1.
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

    /// Equation (3).
    fn follow(&mut self) {
        let count = f64::from(self.count.max(1));
        self.inverse_root =
            if self.count < EXACT { 1.0 / count.sqrt() } else { newton(self.inverse_root, count) };
    }
}

/// Transmission time of [`PACKETS`] of the largest packets; 0 for an unknown link rate.
fn spared(mtu: Bytes, rate: Rate) -> Span {
    if rate > Rate::ZERO { rate.time_for(mtu).saturating_mul(PACKETS) } else { Span::ZERO }
}

impl BlueState {
    /// Equation (4).
    fn overflowed(&mut self, now: Time) {
        if self.is_free(now) {
            self.p = (self.p + self.increment).min(1.0);
            self.changed = Some(now);
        }
    }

    /// Equation (5), when the link finds the queue empty.
    fn found_empty(&mut self, now: Time) {
        self.decay_while_empty(now);
        if self.p > 0.0 && self.is_free(now) {
            self.p = (self.p - self.decrement).max(0.0);
            self.changed = Some(now);
        }
        self.empty = true;
    }

    /// Equation (5) for each freeze time of an empty queue; at a p of 0 nothing changes, and none begins.
    fn decay_while_empty(&mut self, now: Time) {
        if let (true, true, Some(changed)) = (self.empty, self.p > 0.0, self.changed) {
            let most = (self.p / self.decrement).ceil() as u64;
            let times = (now.since(changed).nanos() / self.freeze.nanos()).min(most);
            self.p = (self.p - times as f64 * self.decrement).max(0.0);
            self.changed = Some(changed + self.freeze.saturating_mul(times));
        }
        self.empty = false;
    }

    fn is_free(&self, now: Time) -> bool {
        self.changed.is_none_or(|changed| now.since(changed) > self.freeze)
    }
}

/// Acceptable delay, transmission times of the largest packet.
const PACKETS: u64 = 4;
/// Largest `count`.
const MOST: u32 = u32::MAX;
/// Below this count 1 / sqrt(count) is exact, as one step of Newton's method would be too coarse.
const EXACT: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::Ecn;

    fn context() -> LinkContext {
        LinkContext::example()
    }

    fn cobalt() -> Cobalt {
        Cobalt::new(&Params::default(), &context()).unwrap()
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A packet of 1000 B that departs at `millis` after 50 ms, with 20 behind it.
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

    /// Times of verdicts other than pass, of packets that depart each millisecond, ms.
    fn acted(cobalt: &mut Cobalt, packets: impl IntoIterator<Item = Departure>) -> Vec<u64> {
        let signalled = |packet: &Departure| cobalt.on_departure(packet) != Verdict::Pass;
        packets.into_iter().filter(signalled).map(|packet| packet.now.nanos() / 1_000_000).collect()
    }

    #[test]
    fn the_count_is_one_at_entry_and_two_at_the_first_signal() {
        // By hand from 1 ms on: 100 / sqrt(1), then 100 / sqrt(2, 3, 4, 5, 6) in succession.
        for (ecn, verdict) in [(Ecn::NotEct, Verdict::Drop), (Ecn::Ect0, Verdict::Mark)] {
            let mut cobalt = cobalt();
            cobalt.on_departure(&late(1, ecn));
            assert_eq!((cobalt.pace.count, cobalt.drop_next), (1, at(101)));
            assert!(acted(&mut cobalt, (2..101).map(|millis| late(millis, ecn))).is_empty());
            assert_eq!(cobalt.on_departure(&late(101, ecn)), verdict);
            assert_eq!(cobalt.pace.count, 2);
            let later = acted(&mut cobalt, (102..370).map(|millis| late(millis, ecn)));
            assert_eq!(later, [172, 230, 280, 325, 365]);
        }
    }

    #[test]
    fn the_ramp_runs_backwards_while_the_delay_is_acceptable() {
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
    fn the_next_signals_continue_at_the_present_count() {
        // A count of 5 at 299 ms; late again from 320 ms on, before the first step back: due 100 / sqrt(5) = 44.7 ms
        // later.
        let mut cobalt = cobalt();
        (1..=299).for_each(|millis| _ = cobalt.on_departure(&late(millis, Ecn::NotEct)));
        cobalt.on_departure(&in_time(310));
        let first = acted(&mut cobalt, (320..400).map(|millis| late(millis, Ecn::NotEct)));
        assert_eq!((first[0], cobalt.drop_next > at(400)), (365, true));
    }

    #[test]
    fn a_step_down_that_is_due_when_the_delay_rises_is_a_signal() {
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
    fn drops_catch_up_on_due_times_and_marks_do_not() {
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
    fn a_late_packet_after_an_idle_interval_starts_the_signals_at_once() {
        let mut cobalt = cobalt();
        cobalt.on_departure(&in_time(1));
        assert_eq!(acted(&mut cobalt, (102..110).map(|millis| late(millis, Ecn::NotEct))), [103]);
        let mut cobalt = self::cobalt();
        cobalt.on_departure(&in_time(2));
        assert_eq!(acted(&mut cobalt, (102..204).map(|millis| late(millis, Ecn::NotEct))), [202]);
    }

    #[test]
    fn newton_steps_follow_the_root() {
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
        // 6, 11, 16 and 21 ms are within the idle period.
        cobalt.on_arrival(&arrival(at(22)));
        assert_eq!(cobalt.blue.p * 4096.0, 12.0);
        // It is constant at a busy queue; an empty one takes one step at once.
        cobalt.on_arrival(&arrival(at(300)));
        assert_eq!(cobalt.blue.p * 4096.0, 12.0);
        cobalt.on_idle(at(301));
        assert_eq!(cobalt.blue.p * 4096.0, 11.0);
        cobalt.on_idle(at(400_000));
        assert_eq!(cobalt.blue.p, 0.0);
    }

    #[test]
    fn an_overflow_after_a_silence_that_ended_blue_counts() {
        let mut cobalt = cobalt();
        cobalt.on_overflow(at(1));
        cobalt.on_idle(at(3));
        // p is 0 from 81 ms on, and nothing is frozen at 501 ms.
        cobalt.on_arrival(&arrival(at(502)));
        assert_eq!(cobalt.blue.p, 0.0);
        cobalt.on_overflow(at(503));
        assert_eq!(cobalt.blue.p * 256.0, 1.0);
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
    fn a_delay_of_four_of_the_largest_packets_is_acceptable() {
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
}
