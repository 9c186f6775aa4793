//! Statistics of the packets at a qdisc: all of them, those of one class, or those of one queue.

use crate::{Balance, Histogram, Moments, PacketStats, Packets, Quantiles, finite_ratio};
use sojourn_aqm::Cause;
use sojourn_units::{Span, Time};

/// Packets offered to a qdisc, and their fates.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueStats {
    backlog: Held,
    /// Since the start.
    total: ExactTotals,
    /// Up to the end of the warm-up, once that is past.
    warm_up: Option<ExactTotals>,
    /// Packets by sojourn time, ns.
    pub(crate) sojourns: Histogram<6>,
    /// Those that left before the end of the warm-up, where windows may begin there.
    early: Option<Box<Histogram<6>>>,
}

/// The backlog, and the time of its last account.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    packets: u32,
    since: Time,
}

/// Sums over a stretch of time, in whole numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactTotals {
    /// Integral of the backlog, packets ns.
    backlog: u128,
    /// Integral of its square, packets^2 ns.
    backlog_squared: u128,
    /// Sum of the sojourn times of delivered packets, ns.
    sojourn: u128,
    offered: u64,
    delivered: u64,
    dropped_by_law: u64,
    overflowed: u64,
    filtered: u64,
    marked: u64,
}

impl QueueStats {
    /// Sums since the start.
    pub(crate) fn total(&self) -> ExactTotals {
        self.total
    }

    /// Sums since the end of the warm-up.
    pub(crate) fn measured(&self) -> ExactTotals {
        self.warm_up.map_or(ExactTotals::default(), |warm_up| self.total.since(&warm_up))
    }

    /// Returns whether the warm-up is past.
    pub(crate) fn is_warm(&self) -> bool {
        self.warm_up.is_some()
    }

    /// Keeps the sums of the warm-up, which ended at `from`; returns the time since the last account, ns.
    pub(crate) fn end_warm_up(&mut self, from: Time) -> u64 {
        let span = self.hold(from);
        self.warm_up = Some(self.total);
        span
    }

    /// Keeps the sojourn times of the warm-up, too.
    pub(crate) fn keep_early(&mut self) {
        self.early = Some(Box::default());
    }

    /// All that was counted since the start; sojourn times before the warm-up's end where they are kept.
    pub(crate) fn so_far(&self) -> PacketPart {
        let mut sojourns = self.sojourns.clone();
        if let Some(early) = &self.early {
            sojourns.merge(early);
        }
        PacketPart { totals: self.total, sojourns }
    }

    /// Accounts for the backlog up to `now`; returns the time since the last account, ns.
    pub(crate) fn hold(&mut self, now: Time) -> u64 {
        let Held { packets, since } = self.backlog;
        let (packets, span) = (u64::from(packets), now.since(since).nanos());
        self.total.backlog += u128::from(packets) * u128::from(span);
        self.total.backlog_squared += u128::from(packets * packets) * u128::from(span);
        self.backlog.since = now;
        span
    }

    /// Packets held.
    pub(crate) fn backlog(&self) -> u32 {
        self.backlog.packets
    }

    /// Counts an arrival; [`QueueStats::hold`] precedes this and the following.
    pub(crate) fn offer(&mut self) {
        self.total.offered += 1;
        self.backlog.packets += 1;
    }

    /// Counts a departure after `sojourn`.
    pub(crate) fn deliver(&mut self, sojourn: Span) {
        self.total.delivered += 1;
        self.total.sojourn += u128::from(sojourn.nanos());
        self.backlog.packets -= 1;
        if self.is_warm() {
            self.sojourns.add(sojourn.nanos(), 1);
        } else if let Some(early) = &mut self.early {
            early.add(sojourn.nanos(), 1);
        }
    }

    pub(crate) fn drop(&mut self, cause: Cause) {
        match cause {
            Cause::Law => self.total.dropped_by_law += 1,
            Cause::Overflow => self.total.overflowed += 1,
            Cause::AckFilter => self.total.filtered += 1,
        }
        self.backlog.packets -= 1;
    }

    pub(crate) fn mark(&mut self) {
        self.total.marked += 1;
    }

    /// The sojourn times after the warm-up: seconds, and the share at or below.
    pub(crate) fn sojourn_distribution(&self) -> Vec<(f64, f64)> {
        self.sojourns.cumulative().map(|(nanos, share)| (in_seconds(nanos), share)).collect()
    }

    /// Packets of the whole run.
    pub(crate) fn balance(&self) -> Balance {
        let ExactTotals { offered, delivered, .. } = self.total;
        Balance {
            offered,
            delivered,
            dropped: self.total.dropped() + self.total.filtered,
            held: self.backlog().into(),
        }
    }

    /// The packets after the warm-up; `wire_lost` of them were lost on the wire, None where it loses none.
    pub(crate) fn packet_stats(&self, wire_lost: Option<u64>, filters_acks: bool) -> PacketStats {
        packet_stats(&self.measured(), &self.sojourns, wire_lost, filters_acks)
    }
}

/// Packets of a stretch of time with their sojourn times, ns; `wire_lost` as of [`QueueStats::packet_stats`].
pub(crate) fn packet_stats(
    totals: &ExactTotals,
    sojourns: &Histogram<6>,
    wire_lost: Option<u64>,
    filters_acks: bool,
) -> PacketStats {
    PacketStats {
        packets: totals.packets(),
        sojourn_mean: totals.mean_sojourn(),
        sojourn: Quantiles::of(|q| sojourns.quantile(q).map(in_seconds)),
        wire_lost: wire_lost.map(|lost| lost as f64),
        filters_acks,
    }
}

/// Packets of a stretch of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketPart {
    pub(crate) totals: ExactTotals,
    /// Packets by sojourn time, ns.
    pub(crate) sojourns: Histogram<6>,
}

impl PacketPart {
    /// The part since `before`.
    pub(crate) fn since(&self, before: &PacketPart) -> PacketPart {
        let (totals, sojourns) = (self.totals.since(&before.totals), self.sojourns.since(&before.sojourns));
        PacketPart { totals, sojourns }
    }

    /// Adds another part.
    pub(crate) fn add(&mut self, other: &PacketPart) {
        self.totals.add(&other.totals);
        self.sojourns.merge(&other.sojourns);
    }
}

impl ExactTotals {
    /// Sums since `before`.
    pub fn since(&self, before: &ExactTotals) -> ExactTotals {
        ExactTotals {
            backlog: self.backlog - before.backlog,
            backlog_squared: self.backlog_squared - before.backlog_squared,
            sojourn: self.sojourn - before.sojourn,
            offered: self.offered - before.offered,
            delivered: self.delivered - before.delivered,
            dropped_by_law: self.dropped_by_law - before.dropped_by_law,
            overflowed: self.overflowed - before.overflowed,
            filtered: self.filtered - before.filtered,
            marked: self.marked - before.marked,
        }
    }

    /// Adds the sums of another stretch.
    pub(crate) fn add(&mut self, other: &ExactTotals) {
        self.backlog += other.backlog;
        self.backlog_squared += other.backlog_squared;
        self.sojourn += other.sojourn;
        self.offered += other.offered;
        self.delivered += other.delivered;
        self.dropped_by_law += other.dropped_by_law;
        self.overflowed += other.overflowed;
        self.filtered += other.filtered;
        self.marked += other.marked;
    }

    /// Integrals of the backlog and of its square over so many seconds.
    pub fn moments(&self, seconds: f64) -> Moments {
        let in_seconds = |sum: u128| sum as f64 * 1e-9;
        Moments {
            seconds,
            backlog: in_seconds(self.backlog),
            backlog_squared: in_seconds(self.backlog_squared),
        }
    }

    /// Mean sojourn time of delivered packets, s.
    pub fn mean_sojourn(&self) -> Option<f64> {
        finite_ratio(self.sojourn as f64 * 1e-9, self.delivered as f64)
    }

    /// The packets among the sums.
    pub fn packets(&self) -> Packets {
        Packets {
            offered: self.offered as f64,
            lost: self.dropped() as f64,
            overflowed: self.overflowed as f64,
            filtered: self.filtered as f64,
            marked: self.marked as f64,
            delivered: self.delivered as f64,
        }
    }

    fn dropped(&self) -> u64 {
        self.dropped_by_law + self.overflowed
    }
}

pub(crate) fn in_seconds(nanos: f64) -> f64 {
    nanos * 1e-9
}
