//! What passes a disc: all of its packets, or those of one class.

use crate::histogram::Histogram;
use sojourn_aqm::Cause;
use sojourn_units::{Span, Time};

/// The packets that are offered to a disc, and what becomes of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passage {
    backlog: Held,
    /// Since the start.
    total: Tally,
    /// Up to the end of the warm-up, once that is past.
    warm_up: Option<Tally>,
    /// Packets by sojourn time, ns.
    pub(crate) sojourns: Histogram<6>,
}

/// The backlog now, and since when.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    packets: u32,
    since: Time,
}

/// Sums over a stretch of time, exact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// The integral of the backlog, packets ns.
    backlog: u128,
    /// The integral of its square, packets^2 ns.
    backlog_squared: u128,
    /// The sojourn times of what was delivered, ns.
    sojourn: u128,
    pub(crate) offered: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped_by_law: u64,
    pub(crate) overflowed: u64,
    pub(crate) marked: u64,
}

impl Passage {
    /// The sums since the start.
    pub(crate) fn total(&self) -> Tally {
        self.total
    }

    /// The sums since the end of the warm-up.
    pub(crate) fn measured(&self) -> Tally {
        self.warm_up.map_or(Tally::default(), |warm_up| self.total.since(&warm_up))
    }

    /// Whether the warm-up is past.
    pub(crate) fn is_warm(&self) -> bool {
        self.warm_up.is_some()
    }

    /// Keeps the sums of the warm-up, which ended at `from`.
    pub(crate) fn end_warm_up(&mut self, from: Time) {
        self.hold(from);
        self.warm_up = Some(self.total);
    }

    /// Accounts for the backlog up to `now`; gives the time since it was accounted for, ns.
    pub(crate) fn hold(&mut self, now: Time) -> u64 {
        let Held { packets, since } = self.backlog;
        let (packets, span) = (u64::from(packets), now.since(since).nanos());
        self.total.backlog += u128::from(packets) * u128::from(span);
        self.total.backlog_squared += u128::from(packets * packets) * u128::from(span);
        self.backlog.since = now;
        span
    }

    /// The packets that are held.
    pub(crate) fn backlog(&self) -> u32 {
        self.backlog.packets
    }

    /// A packet comes; before this and the following the backlog has been accounted for.
    pub(crate) fn offer(&mut self) {
        self.total.offered += 1;
        self.backlog.packets += 1;
    }

    /// A packet leaves that was held for so long.
    pub(crate) fn deliver(&mut self, sojourn: Span) {
        self.total.delivered += 1;
        self.total.sojourn += u128::from(sojourn.nanos());
        self.backlog.packets -= 1;
        if self.is_warm() {
            self.sojourns.add(sojourn.nanos(), 1);
        }
    }

    pub(crate) fn drop(&mut self, cause: Cause) {
        match cause {
            Cause::Law => self.total.dropped_by_law += 1,
            Cause::Overflow => self.total.overflowed += 1,
        }
        self.backlog.packets -= 1;
    }

    pub(crate) fn mark(&mut self) {
        self.total.marked += 1;
    }
}

impl Tally {
    /// What was added since `before`.
    pub(crate) fn since(&self, before: &Tally) -> Tally {
        Tally {
            backlog: self.backlog - before.backlog,
            backlog_squared: self.backlog_squared - before.backlog_squared,
            sojourn: self.sojourn - before.sojourn,
            offered: self.offered - before.offered,
            delivered: self.delivered - before.delivered,
            dropped_by_law: self.dropped_by_law - before.dropped_by_law,
            overflowed: self.overflowed - before.overflowed,
            marked: self.marked - before.marked,
        }
    }

    /// The integral of the backlog, packets s.
    pub(crate) fn backlog(&self) -> f64 {
        self.backlog as f64 * 1e-9
    }

    /// The integral of the square of the backlog, packets^2 s.
    pub(crate) fn backlog_squared(&self) -> f64 {
        self.backlog_squared as f64 * 1e-9
    }

    /// The sojourn times of what was delivered, s.
    pub(crate) fn sojourn(&self) -> f64 {
        self.sojourn as f64 * 1e-9
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped_by_law + self.overflowed
    }
}
