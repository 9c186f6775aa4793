//! CoDel: controlled delay.
//!
//! K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active
//! Queue Management", RFC 8289, section 5. A queue is bad when even the luckiest
//! packet of a whole `interval` waited longer than `target`: only then does
//! CoDel act, first on one packet, then ever faster until the delay falls below
//! the target.
//!
//! ```text
//! ok_to_drop  when sojourn >= target and backlog > MTU for interval   (1)
//! drop_next = t + interval / sqrt(count)                              (2)
//! count     = count - lastcount  on re-entry within 16 intervals
//!             where that is above 1, else 1                           (3)
//! ```
//!
//! In (2), t is the time of the first drop and later always the previous due
//! time, never the present: late drops are made up for. The RFC's CoDel pulls
//! packets until one may go. Ours is shown each departing packet instead and
//! says what becomes of it; `Pulled` is what it remembers inside one pull.
//! Each condemned packet leaves the backlog and none is condemned when at most
//! one MTU stays behind it, so a dequeue condemns no more packets than the disc
//! held when it began.
//!
//! An ECN-capable packet is marked where another would be dropped. It is then
//! delivered, which ends the pull; a due time that is still past is met by the
//! next packet.

use crate::catalogue::Entry;
use crate::law::{Departure, Gauges, Given, Law, Verdict};
use crate::site::Site;
use sojourn_units::param::Described;
use sojourn_units::{Amount, Bytes, Fault, Page, Span, Time};

/// What the catalogue tells of it.
pub const ENTRY: Entry = Entry {
    page: Page {
        stem: "codel",
        summary: "controlled delay: act when even the luckiest packet of an interval waited too long",
        idea: "Each departing packet tells how long it waited. When no packet of a whole interval waited less \
               than the target, the queue is a standing one: a packet is dropped (marked, if it is \
               ECN-capable), then others ever faster, until the delay is below the target. A backlog of one \
               MTU is left alone. The link's rate and the load need not be known.",
        equation: "drop_next <- drop_next + interval / sqrt(count)",
        source: "RFC 8289, section 5",
        fields: Params::fields,
    },
    build: |given, site| Ok(Box::new(Codel::new(&Params::from_values(given)?, site)?)),
};

sojourn_units::params! {
    /// Parameters of CoDel.
    pub struct Params {
        /// delay that even the luckiest packet of an interval must not exceed
        target: Span = Span::from_millis(5), "TARGET", "more than 0, less than interval" if |span| *span > Span::ZERO,
            "RFC 8289, section 4.3: 5 % of interval";
        /// how long the delay must stay above target; also the time from the first drop to the second
        interval: Span = Span::from_millis(100), "INTERVAL", "more than target, at most 1 h"
            if |span| *span > Span::ZERO && *span <= Span::from_secs(3600),
            "RFC 8289, section 4.2: a little above the round-trip time of most flows";
        /// mark ECN-capable packets instead of dropping them
        ecn: bool = true, "ecn", "true or false" if |_| true,
            "RFC 8289 leaves it open; RFC 8290, section 5.2.6: on by default";
        /// backlog that is left alone, however long it has waited
        mtu: Option<Bytes> = None, "maxpacket", "more than 0" if |size| size.is_none_or(|size| size > Bytes::ZERO),
            "RFC 8289, section 4.1: the largest packet seen so far, and section 5.3: at least 512 B";
    }
}

/// Controlled delay.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Span,
    interval: Span,
    ecn: bool,
    /// What waits for the target on the link at its first rate.
    target_packets: f64,
    /// Whether `maxpacket` follows the packets.
    adaptive: bool,

    maxpacket: u64,
    /// When a delay above the target will have lasted for an interval.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    pulled: Pulled,
}

/// What the last packet's fate was, as far as the same pull goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pulled {
    /// It left, or there was none: the next packet begins a pull.
    Nothing,
    /// It was condemned on entering the drop state.
    First,
    /// It was condemned in the drop state.
    Another,
}

impl Codel {
    /// CoDel in front of the link at `site`, from an empty queue.
    pub fn new(params: &Params, site: &Site) -> Result<Codel, Fault> {
        if params.target >= params.interval {
            let what = format!(
                "{} is not below interval = {}; legal: more than 0, less than interval",
                params.target, params.interval
            );
            return Err(Fault::new("target", what));
        }
        Ok(Codel {
            target: params.target,
            interval: params.interval,
            ecn: params.ecn,
            target_packets: site.packets(Amount::Delay(params.target)),
            adaptive: params.mtu.is_none(),
            maxpacket: params.mtu.map_or(SMALLEST_MAXPACKET, Bytes::get),
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            lastcount: 0,
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
        if !self.is_condemned(departure.now, ok_to_drop) {
            self.pulled = Pulled::Nothing;
            return Verdict::Pass;
        }
        let pulled = if self.dropping { Pulled::Another } else { Pulled::First };
        if self.dropping {
            self.count = self.count.saturating_add(1);
        }
        if !(self.ecn && departure.ecn.is_capable()) {
            self.pulled = pulled;
            return Verdict::Drop;
        }
        // A marked packet is itself the one that leaves.
        match pulled {
            Pulled::First => self.enter(departure.now),
            _ => self.drop_next = self.control_law(self.drop_next),
        }
        self.pulled = Pulled::Nothing;
        Verdict::Mark
    }

    fn on_idle(&mut self, now: Time) {
        self.first_above = None;
        self.is_condemned(now, false);
        self.pulled = Pulled::Nothing;
    }

    fn retune(&mut self, _now: Time, given: &Given, site: &Site) -> Result<(), Fault> {
        let fresh = Codel::new(&Params::from_values(given)?, site)?;
        let Codel { first_above, dropping, drop_next, count, lastcount, pulled, .. } = *self;
        let seen = if fresh.adaptive && self.adaptive { self.maxpacket } else { fresh.maxpacket };
        *self =
            Codel { maxpacket: seen, first_above, dropping, drop_next, count, lastcount, pulled, ..fresh };
        Ok(())
    }

    fn target_packets(&self) -> Option<f64> {
        // The RFC's set-point is a delay, and it bounds the least backlog of an interval, not the mean.
        Some(self.target_packets)
    }

    fn gauges(&self, out: &mut dyn Gauges) {
        out.gauge("count", "packets", f64::from(self.count));
        out.gauge("dropping", "1", f64::from(u8::from(self.dropping)));
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

    /// `dequeue` of section 5.5, from one packet to the next.
    fn is_condemned(&mut self, now: Time, ok_to_drop: bool) -> bool {
        match self.pulled {
            Pulled::First => {
                self.enter(now);
                return false;
            }
            // What was condemned before schedules the next, unless this one ends the drop state.
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
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.lastcount = self.count;
        self.drop_next = self.control_law(now);
    }

    /// Equation (2).
    fn control_law(&self, t: Time) -> Time {
        t + Span::from_nanos((self.interval.nanos() as f64 / f64::from(self.count).sqrt()) as u64)
    }
}

/// RFC 8289, section 5.3, bytes.
pub const SMALLEST_MAXPACKET: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Backlog, FlowId};
    use sojourn_units::{Ecn, Rate, Stream};
    use std::collections::VecDeque;

    fn site() -> Site {
        let rate = Rate::from_bits_per_second(8e6);
        Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None }
    }

    fn codel() -> Codel {
        Codel::new(&Params::default(), &site()).unwrap()
    }

    /// A packet of 1000 B that leaves at `micros` after 50 ms, with 20 behind it.
    fn late(micros: u64, ecn: Ecn) -> Departure {
        let backlog = Backlog { packets: 20, bytes: 20_000 };
        let now = Time::ZERO + Span::from_micros(micros);
        let sojourn = Span::from_millis(50);
        Departure { now, len: 1000, ecn, flow: FlowId(0), sojourn, backlog, u: [0.0; 2] }
    }

    /// When a packet each millisecond is not let through, ms.
    fn acted_at(codel: &mut Codel, ecn: Ecn, until: u64) -> Vec<u64> {
        let acted = |millis: &u64| {
            let acts = codel.on_departure(&late(millis * 1000, ecn)) != Verdict::Pass;
            if acts && !ecn.is_capable() {
                // The same pull goes on with another packet.
                assert_eq!(codel.on_departure(&late(millis * 1000, ecn)), Verdict::Pass);
            }
            acts
        };
        (1..until).filter(acted).collect()
    }

    #[test]
    fn drops_and_marks_come_an_interval_over_the_root_of_their_number_apart() {
        // Above the target from 1 ms on: first at 101 ms, then 100, 70.7, 57.7, 50 and 44.7 ms after
        // one another, each at the packet that leaves next.
        let expected = [101, 201, 272, 330, 380, 425];
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            assert_eq!(acted_at(&mut codel(), ecn, 460), expected, "{ecn:?}");
        }
    }

    #[test]
    fn a_delay_below_the_target_once_an_interval_is_left_alone() {
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
    fn one_mtu_of_backlog_is_left_alone() {
        let with = |bytes, mtu: Option<Bytes>| {
            let mut codel = Codel::new(&Params { mtu, ..Params::default() }, &site()).unwrap();
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
    fn a_late_pull_makes_up_for_the_due_times_that_passed() {
        // Due at 201, 271.7 and 329.4 ms; nothing leaves between 102 and 300 ms.
        let mut codel = codel();
        assert_eq!(acted_at(&mut codel, Ecn::NotEct, 102), [101]);
        let pull: Vec<Verdict> = (0..3).map(|_| codel.on_departure(&late(300_000, Ecn::NotEct))).collect();
        assert_eq!(pull, [Verdict::Drop, Verdict::Drop, Verdict::Pass]);
        assert_eq!(codel.on_departure(&late(329_400, Ecn::NotEct)), Verdict::Pass);
        assert_eq!(codel.on_departure(&late(329_500, Ecn::NotEct)), Verdict::Drop);
    }

    #[test]
    fn it_comes_back_at_the_rate_that_it_left_with() {
        // Marks at 101, 201, 272, 330, 380 and 425 ms; left soon after one, back some time later.
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

    /// Section 5.5 word for word: it pulls packets from its own queue of (number, length, arrival).
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

    /// Our form on the same queue.
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
    fn answering_is_the_same_as_pulling() {
        let mut condemned = 0;
        for seed in 0..200 {
            let mut draws = Stream::named(seed, "codel");
            let mut puller = Puller { law: codel(), queue: VecDeque::new(), bytes: 0, dropped: Vec::new() };
            let (mut law, mut queue, mut bytes) = (codel(), VecDeque::new(), 0);
            let mut now = Time::ZERO;
            for number in 0..2000 {
                // Loads that wander between calm and a heavy excess; now and then the link stalls.
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

    #[test]
    fn a_target_at_or_above_the_interval_is_refused() {
        let params = Params { target: Span::from_millis(100), ..Params::default() };
        let fault = Codel::new(&params, &site()).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "target: 100 ms is not below interval = 100 ms; legal: more than 0, less than interval"
        );
    }
}
