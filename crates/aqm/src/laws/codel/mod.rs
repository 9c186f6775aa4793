//! CoDel: controlled delay.
//!
//! K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active
//! Queue Management", RFC 8289, section 5. CoDel enters the drop state when the
//! least sojourn time of an `interval` is above `target`; it then drops one
//! packet, and further ones ever faster until the delay falls below the target.
//!
//! ```text
//! ok_to_drop  when sojourn >= target and backlog > MTU for interval   (1)
//! drop_next = t + interval / sqrt(count)                              (2)
//! count     = count - lastcount  on re-entry within 16 intervals
//!             if that is above 1, else 1                              (3)
//! ```
//!
//! In (2), t is the time of the first drop, later the previous due time, never
//! the present: late drops are caught up. The RFC's `dequeue` takes packets until
//! one is delivered; this form returns a verdict on each departing packet, and
//! `Pulled` is the state between the packets of one dequeue. Each dropped packet
//! leaves the backlog, and none is dropped with at most one MTU behind it, so that
//! a dequeue drops no more packets than were queued at its start.
//!
//! An ECN-capable packet is marked instead of dropped. It is delivered, which ends
//! the dequeue; a due time still in the past applies to the next packet.

pub mod fluid;

use crate::analysis::Analysis;
use crate::entry::{Designed, Entry};
use crate::gauges::Gauges;
use crate::law::{Departure, Law, Verdict};
use crate::link_context::LinkContext;
use crate::parts::inverse_root::newton;
use sojourn_params::{Described, Given, InputError, Page};
use sojourn_units::{Amount, Bytes, Span, Time};

/// Catalogue entry.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "codel",
        summary: "controlled delay: act when the least delay of an interval is above a target",
        idea: "The law measures the sojourn time of each departing packet. When none is below the target for a \
               whole interval, the queue is a standing one: a packet is dropped (marked, if it is \
               ECN-capable), then others ever faster, until the delay is below the target. A backlog of one \
               MTU is exempt. The link's rate and the load need not be known.",
        equation: "drop_next <- drop_next + interval / sqrt(count)",
        source: "RFC 8289, section 5",
        fields: Params::fields,
    },
    read: Given::read::<Params>,
    design: |params, context| {
        let (law, fluid) =
            (Codel::new(params.of()?, context)?, fluid::FluidCodel::new(params.of()?, context)?);
        Ok(Designed::new(law).with_fluid(fluid))
    },
};

sojourn_params::params! {
    /// Parameters of CoDel.
    pub struct Params {
        /// bound of the least delay in an interval
        target "TARGET": Span = Span::from_millis(5), above "0 s", where "less than interval",
            "RFC 8289, section 4.3: 5 % of interval";
        /// time above target before the first drop; also the time from the first drop to the second
        interval "INTERVAL": Span = Span::from_millis(100), in above "0 s" to "1 h", where "more than target",
            "RFC 8289, section 4.2: a little above the round-trip time of most flows";
        /// mark ECN-capable packets instead of dropping them
        ecn "ecn": bool = true, "RFC 8289 leaves it open; RFC 8290, section 5.2.6: on by default";
        /// backlog that is exempt, whatever its delay
        mtu "maxpacket": Option<Bytes> = None, above "0 B",
            "RFC 8289, section 4.1: the largest packet seen so far, and section 5.3: at least 512 B";
        /// 1 / sqrt(count) by one step of Newton's method for each drop, as in Linux and ns-3; from 1 that makes it 0.5 at
        /// the second
        newton "rec_inv_sqrt": bool = false,
            "the root of the RFC; integer multiplications may compute it", "RFC 8289, section 5.6";
    }
}

/// Controlled delay.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Span,
    interval: Span,
    ecn: bool,
    /// Target at the first link rate, packets.
    target_packets: f64,
    /// `maxpacket` follows the packets.
    adaptive: bool,

    maxpacket: u64,
    /// End of the interval that starts when the delay exceeds the target.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    /// Newton's value of 1 / sqrt(count); None: the root itself.
    inverse_root: Option<f64>,
    pulled: Pulled,
}

/// Last verdict of the present dequeue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pulled {
    /// Delivered, or none: the next packet starts a dequeue.
    Nothing,
    /// Dropped on entering the drop state.
    First,
    /// Dropped in the drop state.
    Another,
}

impl Codel {
    /// CoDel on the link of `context`, from an empty queue.
    pub fn new(params: &Params, context: &LinkContext) -> Result<Codel, InputError> {
        if params.target >= params.interval {
            let problem = format!("is not below interval = {}", params.interval);
            let expected = "more than 0, less than interval";
            return Err(InputError::conflict(params.target, problem, expected).at("target"));
        }
        Ok(Codel {
            target: params.target,
            interval: params.interval,
            ecn: params.ecn,
            target_packets: context.packets(Amount::Delay(params.target)),
            adaptive: params.mtu.is_none(),
            maxpacket: params.mtu.map_or(SMALLEST_MAXPACKET, Bytes::get),
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            lastcount: 0,
            inverse_root: params.newton.then_some(1.0),
            pulled: Pulled::Nothing,
        })
    }
}

impl Law for Codel {
    fn on_departure(&mut self, departure: &Departure) -> Verdict {
        if self.adaptive {
            self.maxpacket = self.maxpacket.max(u64::from(departure.len));
        }
        let ok_to_drop = self.ok_to_drop(departure);
        if !self.is_dropped(departure.now, ok_to_drop) {
            self.pulled = Pulled::Nothing;
            return Verdict::Pass;
        }
        let pulled = if self.dropping { Pulled::Another } else { Pulled::First };
        if self.dropping {
            self.set_count(self.count.saturating_add(1));
        }
        if !(self.ecn && departure.ecn.is_capable()) {
            self.pulled = pulled;
            return Verdict::Drop;
        }
        // A marked packet is delivered.
        match pulled {
            Pulled::First => self.enter(departure.now),
            _ => self.drop_next = self.control_law(self.drop_next),
        }
        self.pulled = Pulled::Nothing;
        Verdict::Mark
    }

    fn on_idle(&mut self, now: Time) {
        self.first_above = None;
        self.is_dropped(now, false);
        self.pulled = Pulled::Nothing;
    }

    fn set_params(&mut self, _now: Time, given: &Given, context: &LinkContext) -> Result<(), InputError> {
        let fresh = Codel::new(given.params.of()?, context)?;
        let Codel { first_above, dropping, drop_next, count, lastcount, pulled, .. } = *self;
        let maxpacket = if fresh.adaptive && self.adaptive { self.maxpacket } else { fresh.maxpacket };
        let inverse_root = fresh.inverse_root.map(|_| self.inverse_root.unwrap_or_else(|| root_of(count)));
        *self = Codel {
            maxpacket,
            first_above,
            dropping,
            drop_next,
            count,
            lastcount,
            inverse_root,
            pulled,
            ..fresh
        };
        Ok(())
    }

    fn analysis(&self) -> &dyn Analysis {
        self
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("count", "packets", f64::from(self.count));
        out.gauge("dropping", "1", f64::from(u8::from(self.dropping)));
    }
}

impl Analysis for Codel {
    fn target_packets(&self) -> Option<f64> {
        // The RFC's target is a delay, and it bounds the least backlog of an interval, not the mean.
        Some(self.target_packets)
    }
}

impl Codel {
    /// Equation (1): `dodequeue` of section 5.6.
    fn ok_to_drop(&mut self, departure: &Departure) -> bool {
        if departure.sojourn < self.target || departure.backlog.bytes <= self.maxpacket {
            self.first_above = None;
            return false;
        }
        departure.now >= *self.first_above.get_or_insert(departure.now + self.interval)
    }

    /// `dequeue` of section 5.5, one packet at a time.
    fn is_dropped(&mut self, now: Time, ok_to_drop: bool) -> bool {
        match self.pulled {
            Pulled::First => {
                self.enter(now);
                return false;
            }
            // The last drop schedules the next, unless this packet ends the drop state.
            Pulled::Another if ok_to_drop => self.drop_next = self.control_law(self.drop_next),
            _ => {}
        }
        if self.dropping {
            self.dropping = ok_to_drop;
            return ok_to_drop && now >= self.drop_next;
        }
        ok_to_drop
    }

    /// Enters the drop state; equation (3).
    fn enter(&mut self, now: Time) {
        let delta = self.count - self.lastcount;
        let recent = now.since(self.drop_next) < self.interval.saturating_mul(16);
        self.dropping = true;
        self.set_count(if delta > 1 && recent { delta } else { 1 });
        self.lastcount = self.count;
        self.drop_next = self.control_law(now);
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        if let Some(x) = &mut self.inverse_root {
            *x = if count == 1 { 1.0 } else { newton(*x, f64::from(count)) };
        }
    }

    /// Equation (2).
    fn control_law(&self, t: Time) -> Time {
        let interval = self.interval.nanos() as f64;
        let gap = self.inverse_root.map_or_else(|| interval / f64::from(self.count).sqrt(), |x| interval * x);
        t + Span::from_nanos(gap as u64)
    }
}

/// 1 / sqrt(count); 1 before the first drop.
fn root_of(count: u32) -> f64 {
    1.0 / f64::from(count.max(1)).sqrt()
}

/// RFC 8289, section 5.3, bytes.
pub(crate) const SMALLEST_MAXPACKET: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_random::Stream;
    use sojourn_units::Ecn;
    use std::collections::VecDeque;

    fn context() -> LinkContext {
        LinkContext::example()
    }

    fn codel() -> Codel {
        Codel::new(&Params::default(), &context()).unwrap()
    }

    /// A packet of 1000 B that departs at `micros` after 50 ms, with 20 behind it.
    fn late(micros: u64, ecn: Ecn) -> Departure {
        let backlog = Backlog { packets: 20, bytes: 20_000 };
        let now = Time::ZERO + Span::from_micros(micros);
        let sojourn = Span::from_millis(50);
        Departure { now, len: 1000, ecn, flow: FlowId(0), sojourn, backlog, u: [0.0; 2] }
    }

    /// Times of verdicts other than pass, of one packet per millisecond, ms.
    fn acted_at(codel: &mut Codel, ecn: Ecn, until: u64) -> Vec<u64> {
        let acted = |millis: &u64| {
            let acts = codel.on_departure(&late(millis * 1000, ecn)) != Verdict::Pass;
            if acts && !ecn.is_capable() {
                // The same dequeue takes another packet.
                assert_eq!(codel.on_departure(&late(millis * 1000, ecn)), Verdict::Pass);
            }
            acts
        };
        (1..until).filter(acted).collect()
    }

    #[test]
    fn drops_and_marks_are_an_interval_over_the_root_of_the_count_apart() {
        // Above the target from 1 ms on: first at 101 ms, then after 100, 70.7, 57.7, 50 and 44.7 ms, each at the
        // next departure.
        let expected = [101, 201, 272, 330, 380, 425];
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            assert_eq!(acted_at(&mut codel(), ecn, 460), expected, "{ecn:?}");
        }
    }

    #[test]
    fn newtons_steps_come_sooner_than_the_root_at_first() {
        // 1/sqrt(count) by one step each: 1, 0.5, 0.5625, 0.4878 and 0.4415, where the roots are 1, 0.7071, 0.5774, 0.5 and
        // 0.4472. ns-3's drops are as far apart: docs/deviations/ns3.md.
        let with_newton = || Codel::new(&Params { newton: true, ..Params::default() }, &context()).unwrap();
        assert_eq!(acted_at(&mut with_newton(), Ecn::NotEct, 402), [101, 201, 251, 308, 357, 401]);
        // Re-entry at 700 ms with a count of 6 - 1 = 5: a step from the value at 6 towards the root of 5.
        let mut codel = with_newton();
        acted_at(&mut codel, Ecn::NotEct, 402);
        let before = codel.inverse_root.unwrap();
        codel.enter(Time::ZERO + Span::from_millis(700));
        assert_eq!((codel.count, codel.inverse_root), (5, Some(newton(before, 5.0))));
    }

    #[test]
    fn a_delay_below_the_target_once_an_interval_has_no_drops() {
        let mut codel = codel();
        for millis in 1..1000 {
            let mut departure = late(millis * 1000, Ecn::NotEct);
            if millis % 100 == 0 {
                departure.sojourn = Span::from_micros(4999);
            }
            assert_eq!(codel.on_departure(&departure), Verdict::Pass, "{millis} ms");
        }
    }

    #[test]
    fn one_mtu_of_backlog_is_exempt() {
        let with = |bytes, mtu: Option<Bytes>| {
            let mut codel = Codel::new(&Params { mtu, ..Params::default() }, &context()).unwrap();
            let departure =
                |millis| Departure { backlog: Backlog { packets: 1, bytes }, ..late(millis, Ecn::NotEct) };
            codel.on_departure(&departure(1));
            codel.on_departure(&departure(200_000))
        };
        assert_eq!(with(1000, None), Verdict::Pass, "the largest packet so far has 1000 B");
        assert_eq!(with(1001, None), Verdict::Drop);
        assert_eq!(with(1001, Some(Bytes::new(1500))), Verdict::Pass);
        assert_eq!(with(600, Some(Bytes::new(500))), Verdict::Drop);
    }

    #[test]
    fn a_late_dequeue_catches_up_on_missed_due_times() {
        // Due at 201, 271.7 and 329.4 ms; no departure between 102 and 300 ms.
        let mut codel = codel();
        assert_eq!(acted_at(&mut codel, Ecn::NotEct, 102), [101]);
        let pull: Vec<Verdict> = (0..3).map(|_| codel.on_departure(&late(300_000, Ecn::NotEct))).collect();
        assert_eq!(pull, [Verdict::Drop, Verdict::Drop, Verdict::Pass]);
        assert_eq!(codel.on_departure(&late(329_400, Ecn::NotEct)), Verdict::Pass);
        assert_eq!(codel.on_departure(&late(329_500, Ecn::NotEct)), Verdict::Drop);
    }

    #[test]
    fn re_entry_continues_at_the_last_rate() {
        // Marks at 101, 201, 272, 330, 380 and 425 ms; exit soon after one, re-entry later.
        for (left, away, expected) in [
            (460, 200, 6 - 1),
            (460, 2_000, 1),
            (273, 200, 3 - 1),
            (202, 200, 1),
            (460, 1_490, 6 - 1),
            (460, 1_525, 1),
        ] {
            let mut codel = codel();
            acted_at(&mut codel, Ecn::Ect0, left);
            assert_eq!(codel.lastcount, 1);
            let calm = Departure { sojourn: Span::from_millis(1), ..late(left * 1000, Ecn::Ect0) };
            assert_eq!(codel.on_departure(&calm), Verdict::Pass);
            assert!(!codel.dropping);
            let back = (left + away) * 1000;
            codel.on_departure(&late(back, Ecn::Ect0));
            assert_eq!(codel.on_departure(&late(back + 100_000, Ecn::Ect0)), Verdict::Mark);
            assert_eq!(codel.count, expected, "left at {left} ms, {away} ms later");
        }
    }

    #[test]
    fn a_delay_of_exactly_the_target_is_above_it() {
        for (micros, expected) in [(5_000, Verdict::Drop), (4_999, Verdict::Pass)] {
            let mut codel = codel();
            let at = |millis: u64| Departure {
                sojourn: Span::from_micros(micros),
                ..late(millis * 1000, Ecn::NotEct)
            };
            codel.on_departure(&at(1));
            assert_eq!(codel.on_departure(&at(101)), expected, "{micros} us");
        }
    }

    /// Section 5.5 to the letter, with its own queue of (number, length, arrival).
    struct Puller {
        law: Codel,
        queue: VecDeque<(u64, u32, Time)>,
        bytes: u64,
        dropped: Vec<u64>,
    }

    impl Puller {
        fn dodequeue(&mut self, now: Time) -> (Option<(u64, u32)>, bool) {
            let Some((number, len, since)) = self.queue.pop_front() else {
                self.law.first_above = None;
                return (None, false);
            };
            self.bytes -= u64::from(len);
            self.law.maxpacket = self.law.maxpacket.max(u64::from(len));
            let mut ok = false;
            if now.since(since) < self.law.target || self.bytes <= self.law.maxpacket {
                self.law.first_above = None;
            } else {
                match self.law.first_above {
                    None => self.law.first_above = Some(now + self.law.interval),
                    Some(time) => ok = now >= time,
                }
            }
            (Some((number, len)), ok)
        }

        fn dequeue(&mut self, now: Time) -> Option<u64> {
            let (mut packet, mut ok) = self.dodequeue(now);
            if self.law.dropping {
                self.law.dropping = ok;
                while now >= self.law.drop_next && self.law.dropping {
                    self.dropped.extend(packet.map(|(number, _)| number));
                    self.law.count += 1;
                    (packet, ok) = self.dodequeue(now);
                    if ok {
                        self.law.drop_next = self.law.control_law(self.law.drop_next);
                    } else {
                        self.law.dropping = false;
                    }
                }
            } else if ok {
                self.dropped.extend(packet.map(|(number, _)| number));
                (packet, _) = self.dodequeue(now);
                self.law.dropping = true;
                let delta = self.law.count - self.law.lastcount;
                self.law.count = 1;
                if delta > 1 && now.since(self.law.drop_next) < self.law.interval * 16 {
                    self.law.count = delta;
                }
                self.law.drop_next = self.law.control_law(now);
                self.law.lastcount = self.law.count;
            }
            packet.map(|(number, _)| number)
        }
    }

    /// The form of this file on the same queue.
    fn answered(
        law: &mut Codel,
        queue: &mut VecDeque<(u64, u32, Time)>,
        bytes: &mut u64,
        now: Time,
    ) -> (Vec<u64>, Option<u64>) {
        let mut dropped = Vec::new();
        while let Some((number, len, since)) = queue.pop_front() {
            *bytes -= u64::from(len);
            let backlog = Backlog { packets: queue.len() as u32, bytes: *bytes };
            let (ecn, flow) = (Ecn::NotEct, FlowId(0));
            let departure =
                Departure { now, len, ecn, flow, sojourn: now.since(since), backlog, u: [0.0; 2] };
            if law.on_departure(&departure) == Verdict::Pass {
                return (dropped, Some(number));
            }
            dropped.push(number);
        }
        law.on_idle(now);
        (dropped, None)
    }

    #[test]
    fn verdicts_equal_the_dequeue_of_the_rfc() {
        let mut condemned = 0;
        for seed in 0..200 {
            let mut draws = Stream::named(seed, "codel");
            let mut puller = Puller { law: codel(), queue: VecDeque::new(), bytes: 0, dropped: Vec::new() };
            let (mut law, mut queue, mut bytes) = (codel(), VecDeque::new(), 0);
            let mut now = Time::ZERO;
            for number in 0..2000 {
                // Loads from none to heavy overload, with occasional stalls of the link.
                let load = 0.45 + 0.2 * f64::from(u32::from(number % 700 < 400));
                let stall = if draws.uniform() < 0.002 { 300.0 } else { 2.0 };
                now += Span::from_seconds(draws.uniform() * stall / 1000.0);
                if draws.uniform() < load {
                    let len = 64 + (draws.uniform() * 1436.0) as u32;
                    queue.push_back((number, len, now));
                    puller.queue.push_back((number, len, now));
                    bytes += u64::from(len);
                    puller.bytes += u64::from(len);
                } else {
                    let (dropped, taken) = answered(&mut law, &mut queue, &mut bytes, now);
                    assert_eq!(taken, puller.dequeue(now), "seed {seed}");
                    assert_eq!(dropped, std::mem::take(&mut puller.dropped), "seed {seed}");
                    condemned += dropped.len();
                }
            }
        }
        assert!(condemned > 5000, "{condemned}");
    }
}
