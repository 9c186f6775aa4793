//! Timestamps: which one is echoed, and which segments they show to be old. RFC 7323, sections 3.2, 4.3 and 5.

use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Span, Time};

/// `TS.Recent`: the stamp that the next ACK echoes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    /// Whether timestamps are agreed on.
    pub(super) agreed: bool,
    pub(super) stamp: Stamp,
    /// When it came.
    since: Time,
}

impl Recent {
    /// What a SYN asks for.
    pub(super) fn of_syn(now: Time, syn: &Segment) -> Recent {
        Recent { agreed: syn.flags.has(Flags::TIMESTAMP), stamp: syn.stamp, since: now }
    }

    /// Section 3.2: once agreed on, timestamps are on every segment.
    pub(super) fn misses(&self, segment: &Segment) -> bool {
        self.agreed && !segment.flags.has(Flags::TIMESTAMP)
    }

    /// Section 5.3, R1: whether this segment is older than what has been acknowledged.
    ///
    /// Section 5.5: but not where the clock that it stems from may have come round since.
    pub(super) fn outdates(&self, now: Time, segment: &Segment) -> bool {
        !segment.stamp.is_at_or_after(self.stamp) && now.since(self.since) < OUTDATED
    }

    /// Section 5.3, R3, for a segment that is accepted: the stamp of the earliest one that the next ACK is for.
    pub(super) fn note(&mut self, now: Time, segment: &Segment, acknowledged: u64) {
        if segment.seq <= acknowledged {
            self.stamp = segment.stamp;
            self.since = now;
        }
    }
}

/// After so long a stamp says nothing about age: a quarter of the clock's 2^32 microseconds, so that no delay of
/// the path makes up the rest to its half.
const OUTDATED: Span = Span::from_micros(1 << 30);
