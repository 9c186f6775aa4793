//! Finding out that nothing was lost, and taking the answer to it back.
//!
//! Three signs: an ACK whose time stamp shows that the original arrived (Eifel,
//! RFC 3522); after a timeout, ACKs for what was sent before it and not again
//! (F-RTO, RFC 5682); D-SACKs for everything that was sent again (RFC 2883; RFC
//! 3708). The response to a spurious timeout is RFC 4015's: the window covers
//! what is outstanding and the ACK's worth more, and slow start leads to where it
//! was. After a spurious fast retransmit the window is what it was.

use super::rack::Heard;
use super::{Scheme, Sender};
use crate::cc::{CongestionControl, Curve};
use crate::mark::Mark;
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Bytes, Span, Time};

/// What a reduction of the window may have to be taken back to.
#[derive(Clone)]
pub(super) struct Undo {
    curve: Curve,
    /// `pipe_prev` (RFC 4015, section 3.1, step 0).
    threshold: u64,
    by_timeout: bool,
    /// `RetransmitTS` (RFC 3522, section 3.2, step 2), until the first acceptable ACK.
    stamp: Option<Stamp>,
    /// Where recovery began: what was acknowledged.
    from: u64,
    /// Segments sent again since, less those that the receiver had already; None before the first.
    unnecessary: Option<u32>,
    /// When this is acknowledged, recovery is over; D-SACKs may come for a window more.
    until: u64,
    recovered: bool,
}

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

/// Before: what may have to be undone.
impl Sender {
    /// Keeps what stands now, in case the reduction that follows proves wrong.
    pub(super) fn save_for_undo(&mut self, by_timeout: bool) {
        if !self.config.profile.undo && !self.config.profile.frto {
            return;
        }
        let threshold = self.flight().max(self.cc.ssthresh().get());
        self.undo.set(Undo {
            curve: self.cc.clone(),
            threshold,
            by_timeout,
            stamp: None,
            from: self.una,
            unnecessary: None,
            until: self.max,
            recovered: false,
        });
    }

    /// A window after recovery no D-SACK speaks of it.
    fn expire_undo(&mut self) {
        let (una, max) = (self.una, self.max);
        let Some(undo) = self.undo.get_mut().filter(|undo| una >= undo.until) else { return };
        if undo.recovered {
            self.undo.clear();
        } else {
            (undo.recovered, undo.until) = (true, max);
        }
    }

    /// A segment is sent again.
    pub(super) fn note_sent_again(&mut self, now: Time) {
        let stamped = self.timestamps;
        let Some(undo) = self.undo.get_mut() else { return };
        if undo.unnecessary.is_none() && stamped {
            undo.stamp = Some(Stamp::at(now));
        }
        undo.unnecessary = Some(undo.unnecessary.unwrap_or(0) + 1);
    }

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
        echo: bool,
    ) -> bool {
        (self.frto.is_some() || self.undo.is_some()) && self.is_spurious(now, segment, heard, acked, echo)
    }

    #[cold]
    fn is_spurious(&mut self, now: Time, segment: &Segment, heard: &Heard, acked: u64, echo: bool) -> bool {
        let twice = segment.sack.duplicate(segment.ack);
        let spurious = (acked > 0 && self.stamp_shows(segment, twice.is_some()))
            || self.frto_shows(segment, heard, acked)
            || twice.is_some_and(|block| self.duplicates_show(block));
        self.seen_dsack |= twice.is_some();
        if spurious {
            self.take_back(now, acked, echo);
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

/// After: as if nothing had been.
impl Sender {
    /// RFC 4015, section 3.1, steps 8 to 11.
    fn take_back(&mut self, now: Time, acked: u64, echo: bool) {
        self.frto = None;
        self.resend = false;
        self.repair.clear();
        self.loss_point = Mark::NONE;
        self.timed_out_at = Mark::NONE;
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.nxt = self.max;
        self.rack.forget_losses(self.una);
        let Some(undo) = self.undo.take().filter(|_| !echo) else { return };
        let before = undo.curve.window().get();
        self.cc = undo.curve;
        if undo.by_timeout {
            let initial = self.config.profile.initial_window.saturating_mul(self.mss);
            self.cc.set_window(Bytes::new(self.flight() + acked.min(initial)));
            self.cc.set_ssthresh(Bytes::new(undo.threshold));
            self.rtt_after_spike = Mark::at(self.max);
        } else {
            self.cc.set_window(Bytes::new(before.max(self.window)));
        }
        self.window = self.cc.window().get();
        self.timers.retransmit = now + self.rtt.timeout();
    }

    /// Step 11: the first sample from data sent after a spurious timeout widens the timer.
    pub(super) fn adapt_after_spike(&mut self, ack: u64, sample: Span) {
        if self.rtt_after_spike.get().is_some_and(|end| ack > end) {
            self.rtt_after_spike = Mark::NONE;
            self.rtt.widen(&self.config.profile, sample);
        }
    }
}
