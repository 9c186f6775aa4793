//! Detection of spurious retransmissions and timeouts.
//!
//! Three signs: an ACK whose timestamp shows that the original arrived (Eifel, RFC 3522); after a timeout, ACKs for
//! data sent before it and not retransmitted (F-RTO, RFC 5682); D-SACKs for everything retransmitted (RFC 2883; RFC
//! 3708).

use super::rack::NewlyDelivered;
use super::{Scheme, Sender};
use crate::opt_seq::OptSeq;
use crate::segment::{Flags, Segment};
use sojourn_units::Time;

/// State of F-RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frto {
    /// Step 2: the first segment was retransmitted, up to here.
    First { resent: u64 },
    /// Step 3: bytes of new data that may still be sent.
    Second { credit: u64 },
}

/// Verdict of F-RTO on an ACK.
enum FrtoVerdict {
    /// Undecided.
    Wait,
    /// The timeout was genuine: continue with at most this many segments.
    Genuine(u64),
    /// The timeout was spurious.
    Spurious,
}

/// Timeouts.
impl Sender {
    /// Starts F-RTO (RFC 5682, sections 2.1 and 3.1, step 1) unless recovery is in progress; also for a repeated
    /// timeout of the same segment.
    pub(super) fn start_frto(&mut self) {
        let fresh = self.recovery_point.get().is_none_or(|point| self.una >= point)
            || self.timed_out_at == OptSeq::some(self.una);
        let enter = self.config.profile.frto && self.recovery.is_none() && fresh;
        self.frto = enter.then(|| Frto::First { resent: self.una + self.first_hole() });
    }
}

/// Processing of ACKs.
impl Sender {
    /// Detects that the last reduction was spurious and undoes it, returning whether it did.
    ///
    /// `acked`: bytes newly acknowledged, already included in `una`.
    #[inline]
    pub(super) fn detect_spurious(
        &mut self,
        now: Time,
        segment: &Segment,
        newly: &NewlyDelivered,
        acked: u64,
    ) -> bool {
        (self.frto.is_some() || self.undo.is_some()) && self.is_spurious(now, segment, newly, acked)
    }

    #[cold]
    fn is_spurious(&mut self, now: Time, segment: &Segment, newly: &NewlyDelivered, acked: u64) -> bool {
        let twice = segment.sack.duplicate(segment.ack);
        let spurious = (acked > 0 && self.stamp_shows(segment, twice.is_some()))
            || self.frto_shows(segment, newly, acked)
            || twice.is_some_and(|block| self.duplicates_show(block));
        self.seen_dsack |= twice.is_some();
        if spurious {
            self.undo_reduction(now, acked, newly);
        }
        self.expire_undo();
        spurious
    }

    /// Eifel detection on the first acceptable ACK (RFC 3522, section 3.2, steps 4 and 5).
    fn stamp_shows(&mut self, segment: &Segment, twice: bool) -> bool {
        let possible = self.config.profile.undo && segment.flags.has(Flags::TIMESTAMP);
        let Some(sent) = self.undo.get_mut().and_then(|undo| undo.stamp.take()) else { return false };
        let earlier = possible && !segment.stamp.is_at_or_after(sent);
        earlier && !twice && (self.seen_dsack || self.una < self.max)
    }

    /// Returns whether D-SACKs have reported every retransmission as duplicate.
    fn duplicates_show(&mut self, (from, to): (u64, u64)) -> bool {
        let (mss, is_enabled) = (self.mss, self.config.profile.undo);
        let Some(undo) = self.undo.get_mut().filter(|undo| is_enabled && from >= undo.from) else {
            return false;
        };
        let segments = u32::try_from((to - from).div_ceil(mss)).unwrap_or(u32::MAX);
        undo.unnecessary = undo.unnecessary.map(|left| left.saturating_sub(segments));
        undo.unnecessary == Some(0)
    }

    /// Advances F-RTO (RFC 5682, section 2.1 without SACK, 3.1 with it).
    fn frto_shows(&mut self, segment: &Segment, newly: &NewlyDelivered, acked: u64) -> bool {
        let verdict = match self.frto {
            None => return false,
            Some(Frto::First { resent }) => self.frto_first(segment, acked, resent),
            Some(Frto::Second { .. }) => self.frto_second(segment, newly, acked),
        };
        match verdict {
            FrtoVerdict::Wait => false,
            FrtoVerdict::Spurious => true,
            FrtoVerdict::Genuine(segments) => {
                // The outstanding data is retransmitted from behind the first segment, which is in flight.
                if self.scheme != Scheme::Rack && self.nxt == self.max {
                    self.nxt = self.una;
                }
                self.frto = None;
                self.set_window(self.cwnd.min(segments * self.mss));
                false
            }
        }
    }

    /// Step 2.
    fn frto_first(&mut self, segment: &Segment, acked: u64, resent: u64) -> FrtoVerdict {
        if acked == 0 {
            let wait = self.scheme == Scheme::Rack || self.una == self.max;
            return if wait { FrtoVerdict::Wait } else { FrtoVerdict::Genuine(1) };
        }
        if segment.ack < resent || self.una >= self.max {
            return FrtoVerdict::Genuine(2);
        }
        let next = std::mem::replace(&mut self.nxt, self.max);
        if self.new_data() == 0 {
            self.nxt = next;
            return FrtoVerdict::Genuine(2);
        }
        self.frto = Some(Frto::Second { credit: 2 * self.mss });
        self.frto_recover = self.max;
        FrtoVerdict::Wait
    }

    /// Step 3.
    fn frto_second(&mut self, segment: &Segment, newly: &NewlyDelivered, acked: u64) -> FrtoVerdict {
        let covered = segment.sack.iter(segment.ack).map(|(_, to)| to).fold(segment.ack, u64::max);
        let news = if self.scheme == Scheme::Rack { newly.bytes > 0 } else { acked > 0 };
        if news && covered <= self.frto_recover { FrtoVerdict::Spurious } else { FrtoVerdict::Genuine(3) }
    }

    /// Sends new data in step 3 of F-RTO.
    pub(super) fn next_in_frto(&mut self, now: Time, frto: Frto) -> Option<Segment> {
        match frto {
            // The retransmission of the timeout.
            Frto::First { .. } if self.scheme != Scheme::Rack && self.nxt == self.una => {
                self.next_in_order(now)
            }
            Frto::First { .. } => None,
            Frto::Second { credit } => {
                let len = self.new_data();
                if len == 0 || len > credit {
                    return None;
                }
                self.frto = Some(Frto::Second { credit: credit - len });
                Some(self.advance(now, len))
            }
        }
    }
}
