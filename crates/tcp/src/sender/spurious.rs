//! Finding out that nothing was lost.
//!
//! Three signs: an ACK whose time stamp shows that the original arrived (Eifel,
//! RFC 3522); after a timeout, ACKs for what was sent before it and not again
//! (F-RTO, RFC 5682); D-SACKs for everything that was sent again (RFC 2883; RFC
//! 3708).

use super::rack::Heard;
use super::{Scheme, Sender};
use crate::mark::Mark;
use crate::segment::{Flags, Segment};
use sojourn_units::Time;

/// F-RTO under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frto {
    /// Step 2: the first segment was sent again, up to here.
    First { resent: u64 },
    /// Step 3: so many bytes of new data may go out.
    Second { credit: u64 },
}

/// What F-RTO makes of an ACK.
enum Opinion {
    /// Nothing yet.
    Wait,
    /// The timeout was right: go on as usual, with at most so many segments.
    Genuine(u64),
    /// It was not.
    Spurious,
}

/// The timeout.
impl Sender {
    /// RFC 5682, section 2.1 and 3.1, step 1: not where recovery is under way, but for the same segment once more.
    pub(super) fn start_frto(&mut self) {
        let fresh = self.loss_point.get().is_none_or(|point| self.una >= point)
            || self.timed_out_at == Mark::at(self.una);
        let enter = self.config.profile.frto && self.repair.is_none() && fresh;
        self.frto = enter.then(|| Frto::First { resent: self.una + self.first_hole() });
    }
}

/// What ACKs show.
impl Sender {
    /// Looks for a sign that the last reduction was wrong; takes it back, and says so.
    ///
    /// `acked` bytes were just acknowledged, which `una` shows already.
    #[inline]
    pub(super) fn look_for_spurious(
        &mut self,
        now: Time,
        segment: &Segment,
        heard: &Heard,
        acked: u64,
    ) -> bool {
        (self.frto.is_some() || self.undo.is_some()) && self.is_spurious(now, segment, heard, acked)
    }

    #[cold]
    fn is_spurious(&mut self, now: Time, segment: &Segment, heard: &Heard, acked: u64) -> bool {
        let twice = segment.sack.duplicate(segment.ack);
        let spurious = (acked > 0 && self.stamp_shows(segment, twice.is_some()))
            || self.frto_shows(segment, heard, acked)
            || twice.is_some_and(|block| self.duplicates_show(block));
        self.seen_dsack |= twice.is_some();
        if spurious {
            self.take_back(now, acked, heard);
        }
        self.expire_undo();
        spurious
    }

    /// RFC 3522, section 3.2, steps 4 and 5, on the first acceptable ACK.
    fn stamp_shows(&mut self, segment: &Segment, twice: bool) -> bool {
        let possible = self.config.profile.undo && segment.flags.has(Flags::TIMESTAMP);
        let Some(sent) = self.undo.get_mut().and_then(|undo| undo.stamp.take()) else { return false };
        let earlier = possible && !segment.stamp.is_at_or_after(sent);
        earlier && !twice && (self.seen_dsack || self.una < self.max)
    }

    /// Everything that was sent again had come already.
    fn duplicates_show(&mut self, (from, to): (u64, u64)) -> bool {
        let (mss, asked) = (self.mss, self.config.profile.undo);
        let Some(undo) = self.undo.get_mut().filter(|undo| asked && from >= undo.from) else { return false };
        let segments = u32::try_from((to - from).div_ceil(mss)).unwrap_or(u32::MAX);
        undo.unnecessary = undo.unnecessary.map(|left| left.saturating_sub(segments));
        undo.unnecessary == Some(0)
    }

    /// RFC 5682, section 2.1 without SACK, 3.1 with it.
    fn frto_shows(&mut self, segment: &Segment, heard: &Heard, acked: u64) -> bool {
        let opinion = match self.frto {
            None => return false,
            Some(Frto::First { resent }) => self.frto_first(segment, acked, resent),
            Some(Frto::Second { .. }) => self.frto_second(segment, heard, acked),
        };
        match opinion {
            Opinion::Wait => false,
            Opinion::Spurious => true,
            Opinion::Genuine(segments) => {
                // What was outstanding is sent again behind the first segment, which is on its way.
                if self.scheme != Scheme::Rack && self.nxt == self.max {
                    self.nxt = self.una;
                }
                self.frto = None;
                self.set_window(self.window.min(segments * self.mss));
                false
            }
        }
    }

    /// Step 2.
    fn frto_first(&mut self, segment: &Segment, acked: u64, resent: u64) -> Opinion {
        if acked == 0 {
            let wait = self.scheme == Scheme::Rack || self.una == self.max;
            return if wait { Opinion::Wait } else { Opinion::Genuine(1) };
        }
        if segment.ack < resent || self.una >= self.max {
            return Opinion::Genuine(2);
        }
        let next = std::mem::replace(&mut self.nxt, self.max);
        if self.new_data() == 0 {
            self.nxt = next;
            return Opinion::Genuine(2);
        }
        self.frto = Some(Frto::Second { credit: 2 * self.mss });
        self.frto_recover = self.max;
        Opinion::Wait
    }

    /// Step 3.
    fn frto_second(&mut self, segment: &Segment, heard: &Heard, acked: u64) -> Opinion {
        let covered = segment.sack.iter(segment.ack).map(|(_, to)| to).fold(segment.ack, u64::max);
        let news = if self.scheme == Scheme::Rack { heard.delivered > 0 } else { acked > 0 };
        if news && covered <= self.frto_recover { Opinion::Spurious } else { Opinion::Genuine(3) }
    }

    /// New data while F-RTO waits for its answer.
    pub(super) fn next_in_doubt(&mut self, now: Time, frto: Frto) -> Option<Segment> {
        match frto {
            // The segment that the timeout sends again.
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
