//! Timestamps: echo, and protection against old segments. RFC 7323, sections 3.2, 4.3 and 5.

use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Span, Time};

/// `TS.Recent`: timestamp that the next ACK echoes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    /// Timestamps are negotiated.
    pub(super) agreed: bool,
    pub(super) stamp: Stamp,
    /// Time of its arrival.
    since: Time,
}

impl Recent {
    /// State after a SYN.
    pub(super) fn of_syn(now: Time, syn: &Segment) -> Recent {
        Recent { agreed: syn.flags.has(Flags::TIMESTAMP), stamp: syn.stamp, since: now }
    }

    /// Returns whether the segment lacks a negotiated timestamp (section 3.2).
    pub(super) fn misses(&self, segment: &Segment) -> bool {
        self.agreed && !segment.flags.has(Flags::TIMESTAMP)
    }

    /// PAWS: returns whether the segment is older than the acknowledged data (section 5.3, R1).
    ///
    /// Not if the timestamp clock may have wrapped since (section 5.5).
    pub(super) fn outdates(&self, now: Time, segment: &Segment) -> bool {
        !segment.stamp.is_at_or_after(self.stamp) && now.since(self.since) < OUTDATED
    }

    /// Updates `TS.Recent` for an accepted segment, to the stamp of the earliest one that the next ACK covers (section
    /// 5.3, R3).
    pub(super) fn note(&mut self, now: Time, segment: &Segment, acknowledged: u64) {
        if segment.seq <= acknowledged {
            self.stamp = segment.stamp;
            self.since = now;
        }
    }
}

/// Age beyond which a stamp is not compared: a quarter of the clock's 2^32 microseconds, so that no delay of the path
/// makes up the rest to half of them.
const OUTDATED: Span = Span::from_micros(1 << 30);
