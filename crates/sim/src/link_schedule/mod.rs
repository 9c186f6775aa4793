//! Schedules of links that send at opportunities.
//!
//! A link with a constant rate sends when it is free; one of these sends at its *opportunities*: instants at each of
//! which a number of bytes may leave ([`OPPORTUNITY`]). The semantics are those of Mahimahi's mm-link (mm-link(1); R.
//! Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", USENIX ATC 2015):
//!
//! - Bytes are counted, not packets: several small packets share an opportunity, and the remainder of one that does not
//!   fit uses the next. A packet leaves with its last byte.
//! - An unused opportunity is lost. A packet that arrives at the very instant is too late for it: departures come
//!   before arrivals everywhere.
//! - The capacity is all opportunities, so that a full link has a utilization of one.
//!
//! Schedules are drawn independently of the traffic: two laws under one seed have the same link.

mod lte;
mod recorded;
mod satellite;

use lte::Lte;
use recorded::Recorded;
use satellite::Satellite;
use sojourn_random::Stream;
use sojourn_scenario::links::{self, OPPORTUNITY};
use sojourn_units::Time;

/// The opportunities of a link and their use so far.
#[derive(Clone, Debug)]
pub struct LinkSchedule {
    /// The next opportunity to use.
    present: Cursor,
    /// Bytes that are left of it, never none.
    left: u64,
    /// End of the opportunities counted so far.
    counted: Cursor,
    /// The link has no qdisc: packets arrive at any time, instead of being dequeued at the opportunities.
    is_plain: bool,
}

/// A place in a schedule.
#[derive(Clone, Debug)]
struct Cursor {
    schedule: Schedule,
    time: Time,
    /// Bytes at this time, and at all times before.
    bytes: u64,
    before: u64,
}

/// Source of opportunities.
#[derive(Clone, Debug)]
enum Schedule {
    Recorded(Recorded),
    Lte(Box<Lte>),
    Satellite(Box<Satellite>),
}

impl LinkSchedule {
    /// The schedule of the link called `link` under this seed.
    pub fn new(plan: &links::SchedulePlan, seed: u64, link: &str) -> LinkSchedule {
        let draws = || Stream::named(seed, &format!("{link}/trace"));
        let present = Cursor::new(match plan {
            links::SchedulePlan::Recorded(recording) => Schedule::Recorded(Recorded::new(recording)),
            links::SchedulePlan::Drawn(links::Model::Lte(plan)) => {
                Schedule::Lte(Box::new(Lte::new(plan, draws())))
            }
            links::SchedulePlan::Drawn(links::Model::Satellite(plan)) => {
                Schedule::Satellite(Box::new(Satellite::new(*plan, draws())))
            }
        });
        LinkSchedule { left: present.bytes, counted: present.clone(), present, is_plain: false }
    }

    /// Becomes the schedule of a link without a qdisc.
    pub(crate) fn make_plain(&mut self) {
        self.is_plain = true;
    }

    /// Time of the next opportunity.
    pub(crate) fn next(&self) -> Time {
        self.present.time
    }

    /// Skips unused opportunities up to `now`.
    pub(crate) fn skip(&mut self, now: Time) {
        while self.present.time <= now {
            self.advance();
        }
    }

    /// Takes opportunities for bytes that arrive at `now`; returns the departure time of the last one.
    pub(crate) fn take(&mut self, now: Time, bytes: u32) -> Time {
        if self.is_plain {
            self.skip(now);
        }
        let mut bytes = u64::from(bytes);
        while bytes > self.left {
            bytes -= self.left;
            self.advance();
        }
        self.left -= bytes;
        let time = self.present.time;
        if self.left == 0 {
            self.advance();
        }
        time
    }

    fn advance(&mut self) {
        self.present.advance();
        self.left = self.present.bytes;
    }

    /// Counts the opportunities up to `now`, once for all.
    pub(crate) fn count(&mut self, now: Time) {
        self.counted.pass(now);
    }

    /// Capacity up to `now`, bytes; `now` is not before the end of the counted ones.
    pub(crate) fn possible(&self, now: Time) -> u64 {
        let mut cursor = self.counted.clone();
        cursor.pass(now);
        cursor.before
    }

    /// Bytes taken of opportunities after `now`, for packets being sent.
    pub(crate) fn ahead(&self, now: Time) -> u64 {
        let taken = self.present.before + self.present.bytes - self.left;
        taken.saturating_sub(self.possible(now))
    }
}

impl Cursor {
    fn new(mut schedule: Schedule) -> Cursor {
        let (time, count) = schedule.next();
        Cursor { schedule, time, bytes: count * u64::from(OPPORTUNITY), before: 0 }
    }

    fn advance(&mut self) {
        self.before += self.bytes;
        let (time, count) = self.schedule.next();
        (self.time, self.bytes) = (time, count * u64::from(OPPORTUNITY));
    }

    /// Goes to the first opportunities after `now`.
    fn pass(&mut self, now: Time) {
        while self.time <= now {
            self.advance();
        }
    }
}

impl Schedule {
    /// The next time, and how many opportunities there are: at least one. No time is before the last.
    fn next(&mut self) -> (Time, u64) {
        match self {
            Schedule::Recorded(recorded) => recorded.next(),
            Schedule::Lte(lte) => lte.next(),
            Schedule::Satellite(satellite) => satellite.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::links::Recording;

    fn millis(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn link_schedule(stamps: &str) -> LinkSchedule {
        let recording = Recording::parse("x", stamps.replace(' ', "\n").as_bytes()).unwrap();
        LinkSchedule::new(&links::SchedulePlan::Recorded(recording), 1, "link")
    }

    #[test]
    fn small_packets_share_an_opportunity_and_a_large_one_takes_several() {
        let mut link = link_schedule("1 2 2 5");
        assert_eq!(link.take(Time::ZERO, 752), millis(1));
        assert_eq!((link.take(Time::ZERO, 752), link.next()), (millis(1), millis(2)));
        assert_eq!((link.take(Time::ZERO, 3000), link.next()), (millis(2), millis(2)));
        // Eight bytes are left at 2 ms.
        assert_eq!((link.take(Time::ZERO, 9), link.next()), (millis(5), millis(5)));
        assert_eq!((link.take(Time::ZERO, 1503), link.next()), (millis(5), millis(6)));
        assert_eq!(link.take(Time::ZERO, 5 * 1504), millis(11));
    }

    #[test]
    fn unused_opportunities_are_lost() {
        let mut link = link_schedule("1 2 3");
        link.take(Time::ZERO, 100);
        link.skip(millis(1));
        assert_eq!(link.next(), millis(2));
        link.skip(Time::from_nanos(2_000_001));
        assert_eq!(link.take(Time::ZERO, 1504), millis(3));
        link.skip(millis(3));
        assert_eq!(link.next(), millis(4));
    }

    /// An arrival without a qdisc is too late for the opportunity of its own instant.
    #[test]
    fn packets_without_a_qdisc_wait_for_the_next_opportunity() {
        let mut link = link_schedule("1 2 3");
        link.make_plain();
        assert_eq!(link.take(millis(1), 100), millis(2));
        assert_eq!(link.take(millis(1), 100), millis(2));
        assert_eq!(link.take(millis(2), 100), millis(3));
    }

    #[test]
    fn the_capacity_counts_every_opportunity() {
        let mut link = link_schedule("1 2 2 5");
        let possible = [0, 1, 2, 4, 5, 6, 10, 15].map(|at| link.possible(millis(at)) / 1504);
        assert_eq!(possible, [0, 1, 3, 3, 4, 5, 8, 12]);
        link.count(millis(6));
        assert_eq!(link.possible(millis(7)) / 1504, 7);
        // A packet on two and a half opportunities.
        let mut link = link_schedule("1 2 3 4");
        link.take(Time::ZERO, 3760);
        let ahead = [0, 1, 2, 3, 4].map(|at| link.ahead(millis(at)));
        assert_eq!(ahead, [3760, 2256, 752, 0, 0]);
    }
}
