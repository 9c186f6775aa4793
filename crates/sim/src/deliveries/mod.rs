//! Links that may send only now and then.
//!
//! A link with a constant rate sends when it is free; one of these sends at its *opportunities*: instants at each of
//! which so many bytes may leave ([`OPPORTUNITY`]). The semantics are those of Mahimahi's mm-link (mm-link(1); R.
//! Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", USENIX ATC 2015):
//!
//! - Bytes are counted, not packets: several small packets share an opportunity, and what does not fit one goes on
//!   with the next. A packet leaves with its last byte.
//! - What nobody takes at its instant is lost. A packet that comes at the very instant is too late for it, as
//!   everywhere departures come before arrivals.
//! - What could have been sent is all opportunities, so that a full link has a utilization of one.
//!
//! Schedules are drawn as time goes on, whatever the traffic does: two laws under one seed meet the same link.

mod lte;
mod recorded;
mod satellite;

use lte::Lte;
use recorded::Recorded;
use satellite::Satellite;
use sojourn_scenario::links::{self, OPPORTUNITY};
use sojourn_units::{Stream, Time};

/// The opportunities of a link, and how far they have been used.
#[derive(Clone, Debug)]
pub struct Deliveries {
    /// What is used next.
    present: Cursor,
    /// Bytes that are left of it, never none.
    left: u64,
    /// Up to where what could have been sent has been counted.
    counted: Cursor,
    /// Whether packets come as they please, instead of being asked for at the opportunities.
    unasked: bool,
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

/// Where opportunities come from.
#[derive(Clone, Debug)]
enum Schedule {
    Recorded(Recorded),
    Lte(Box<Lte>),
    Satellite(Box<Satellite>),
}

impl Deliveries {
    /// The deliveries of the link called `link` under this seed.
    pub fn new(plan: &links::Deliveries, seed: u64, link: &str) -> Deliveries {
        let draws = || Stream::named(seed, &format!("{link}/trace"));
        let present = Cursor::new(match plan {
            links::Deliveries::Recorded(recording) => Schedule::Recorded(Recorded::new(recording)),
            links::Deliveries::Lte(plan) => Schedule::Lte(Box::new(Lte::new(plan, draws()))),
            links::Deliveries::Satellite(plan) => {
                Schedule::Satellite(Box::new(Satellite::new(*plan, draws())))
            }
        });
        Deliveries { left: present.bytes, counted: present.clone(), present, unasked: false }
    }

    /// Lets packets come as they please.
    pub(crate) fn unasked(&mut self) {
        self.unasked = true;
    }

    /// When the next bytes may leave.
    pub(crate) fn next(&self) -> Time {
        self.present.time
    }

    /// Lets go what nobody took up to `now`.
    pub(crate) fn skip(&mut self, now: Time) {
        while self.present.time <= now {
            self.advance();
        }
    }

    /// Takes opportunities for so many bytes, which come at `now`; says when the last one leaves.
    pub(crate) fn take(&mut self, now: Time, bytes: u32) -> Time {
        if self.unasked {
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

    /// Counts what could have been sent up to `now`, so that nobody need count it again.
    pub(crate) fn count(&mut self, now: Time) {
        self.counted.pass(now);
    }

    /// Bytes that could have been sent up to `now`, which is not before what has been counted.
    pub(crate) fn possible(&self, now: Time) -> u64 {
        let mut cursor = self.counted.clone();
        cursor.pass(now);
        cursor.before
    }

    /// Bytes taken of opportunities after `now`, for what is being sent.
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

    fn deliveries(stamps: &str) -> Deliveries {
        let recording = Recording::parse("x", stamps.replace(' ', "\n").as_bytes()).unwrap();
        Deliveries::new(&links::Deliveries::Recorded(recording), 1, "link")
    }

    #[test]
    fn small_packets_share_an_opportunity_and_a_large_one_takes_several() {
        let mut link = deliveries("1 2 2 5");
        assert_eq!(link.take(Time::ZERO, 752), millis(1));
        assert_eq!((link.take(Time::ZERO, 752), link.next()), (millis(1), millis(2)));
        assert_eq!((link.take(Time::ZERO, 3000), link.next()), (millis(2), millis(2)));
        // Eight bytes are left at 2 ms.
        assert_eq!((link.take(Time::ZERO, 9), link.next()), (millis(5), millis(5)));
        assert_eq!((link.take(Time::ZERO, 1503), link.next()), (millis(5), millis(6)));
        assert_eq!(link.take(Time::ZERO, 5 * 1504), millis(11));
    }

    #[test]
    fn what_nobody_takes_is_lost() {
        let mut link = deliveries("1 2 3");
        link.take(Time::ZERO, 100);
        link.skip(millis(1));
        assert_eq!(link.next(), millis(2));
        link.skip(Time::from_nanos(2_000_001));
        assert_eq!(link.take(Time::ZERO, 1504), millis(3));
        link.skip(millis(3));
        assert_eq!(link.next(), millis(4));
    }

    /// Who is not asked comes too late for the opportunity of his own instant.
    #[test]
    fn packets_that_nobody_asks_for_wait_for_the_next_opportunity() {
        let mut link = deliveries("1 2 3");
        link.unasked();
        assert_eq!(link.take(millis(1), 100), millis(2));
        assert_eq!(link.take(millis(1), 100), millis(2));
        assert_eq!(link.take(millis(2), 100), millis(3));
    }

    #[test]
    fn what_could_have_been_sent_is_every_opportunity() {
        let mut link = deliveries("1 2 2 5");
        let possible = [0, 1, 2, 4, 5, 6, 10, 15].map(|at| link.possible(millis(at)) / 1504);
        assert_eq!(possible, [0, 1, 3, 3, 4, 5, 8, 12]);
        link.count(millis(6));
        assert_eq!(link.possible(millis(7)) / 1504, 7);
        // A packet on two and a half opportunities.
        let mut link = deliveries("1 2 3 4");
        link.take(Time::ZERO, 3760);
        let ahead = [0, 1, 2, 3, 4].map(|at| link.ahead(millis(at)));
        assert_eq!(ahead, [3760, 2256, 752, 0, 0]);
    }
}
