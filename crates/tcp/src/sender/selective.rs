//! Recovery by selective acknowledgments: RFC 6675.
//!
//! The scoreboard says what is lost and how much is on its way (`pipe`). While
//! that leaves room in the window, `NextSeg` names what goes next: a lost
//! segment, new data, a segment that may be lost, or one last segment that
//! keeps the ACKs coming. The timer is RFC 6298's (section 6, first choice).

use super::acknowledge::Effect;
use super::prr::{Delivery, PrrState};
use super::{DUP_THRESHOLD, Repair, Sender};
use crate::cc::Curve;
use crate::profile::{Halving, Pipe};
use crate::segment::{MOST_BLOCKS, Segment};
use sojourn_units::Time;

/// Recovery by SACK in progress. Sequence numbers are those after the RFC's last octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct SackRecovery {
    /// `RecoveryPoint`: recovery ends when everything below this is acknowledged.
    until: u64,
    /// `HighRxt`: what is missing below this was sent again.
    retransmitted: u64,
    /// `RescueRxt`: an ACK beyond this allows the one rescue retransmission.
    rescued: u64,
    /// Bytes on their way.
    pub(super) pipe: u64,
    /// What lies below this is known to be lost, where it has not arrived.
    judged: u64,
    /// What each ACK lets out; without, what the window has room for.
    prr: Option<PrrState>,
}

/// What `NextSeg` names.
enum NextSegment {
    /// From this byte on, once more.
    Again(u64),
    /// What was never sent.
    New,
    /// What ends at this byte, once more, to keep the ACKs coming.
    Rescue(u64),
}

/// What ACKs say.
impl Sender {
    /// `Update`: notes the blocks of an ACK; says whether they are news.
    ///
    /// News makes a duplicate ACK (section 2).
    pub(super) fn note_sack(&mut self, segment: &Segment) -> bool {
        let mut news = false;
        for (from, to) in self.sacked(segment) {
            news |= self.board.insert(from, to);
        }
        news
    }

    /// The blocks of an ACK, in ascending order, without those that cannot be.
    ///
    /// What is SACKed are segments (RFC 2018, section 5): a part of one says nothing. So the scoreboard never holds more
    /// than was sent, whatever the receiver cuts it into, and nothing is sent again in smaller pieces.
    pub(super) fn sacked(&self, segment: &Segment) -> impl Iterator<Item = (u64, u64)> + use<> {
        let there = segment.sack.iter(segment.ack).filter(|&(from, to)| from > segment.ack && to <= self.max);
        let whole = there.filter_map(|(from, to)| self.history.segments(from, to, self.mss));
        let mut blocks = [(0, 0); MOST_BLOCKS];
        blocks.iter_mut().zip(whole).for_each(|(place, block)| *place = block);
        blocks.sort_unstable();
        blocks.into_iter().filter(|(_, to)| *to > 0)
    }

    /// Section 5, for an ACK that was taken in: (B.2) in recovery, steps (1), (2) and (4) outside.
    ///
    /// `duplicate`: whether it acknowledges nothing new; `delivered`: bytes that it says have arrived.
    #[inline(never)]
    pub(super) fn on_sack(&mut self, now: Time, news: bool, duplicate: bool, delivered: i64) {
        if self.config.profile.pipe == Pipe::Counted {
            if news && duplicate {
                self.on_counted_duplicate(now);
            }
            return;
        }
        let flight = self.unsacked_before(delivered);
        if let Some(Repair::Sack(sack)) = self.repair.get_mut() {
            sack.pipe = self.board.pipe(self.una, self.max, sack.retransmitted, self.mss);
            let lost_below = self.board.lost_below(self.mss);
            let more_lost = self.board.next_hole(sack.judged.max(self.una)) < lost_below;
            sack.judged = sack.judged.max(lost_below);
            if let Some(prr) = &mut sack.prr {
                let is_safe = !duplicate && !more_lost;
                prr.aim_at(self.window, flight);
                prr.on_ack(Delivery { data: delivered, pipe: sack.pipe, is_safe }, self.mss);
            }
        } else if news {
            self.dup_acks += 1;
            let lost = self.dup_acks >= DUP_THRESHOLD || self.una < self.board.lost_below(self.mss);
            // Section 5.1: not within what a timeout has sent again.
            if lost && self.loss_point.get().is_none_or(|point| self.una >= point) {
                self.start_sack_recovery(now, delivered);
            }
        }
    }

    /// Section 5, step (4).
    fn start_sack_recovery(&mut self, now: Time, delivered: i64) {
        let before = self.unrepaired_pipe();
        let flight = if self.config.profile.halving == Halving::Pipe { before } else { self.flight() };
        self.reduce_for_loss();
        let retransmitted = self.una + self.first_hole();
        let pipe = self.board.pipe(self.una, self.max, retransmitted, self.mss);
        let rescued = retransmitted;
        let mut prr = self.start_prr(flight, delivered);
        if let Some(prr) = &mut prr {
            prr.on_ack(Delivery { data: delivered, pipe: before, is_safe: false }, self.mss);
        }
        let (until, judged) = (self.max, self.board.lost_below(self.mss).max(retransmitted));
        self.repair.set(Repair::Sack(SackRecovery { until, retransmitted, rescued, pipe, judged, prr }));
        if self.config.profile.recovery_restarts_timer {
            self.timers.retransmit = now + self.rtt.timeout();
        }
    }

    /// What is on its way before anything is sent again.
    pub(super) fn unrepaired_pipe(&self) -> u64 {
        self.board.pipe(self.una, self.max, self.una, self.mss)
    }

    /// Whether a loss halves the pipe. CUBIC takes its share of the flight all the same, as in ns-3.
    pub(super) fn halves_pipe(&self) -> bool {
        self.config.profile.halving == Halving::Pipe && !matches!(self.cc, Curve::Cubic(_))
    }

    /// Section 5, (A).
    pub(super) fn new_ack_in_sack_recovery(&mut self, sack: SackRecovery) -> Effect {
        let ends = self.una >= sack.until;
        if ends {
            self.repair.clear();
            self.settle_after_recovery();
        }
        Effect { restart: true, grow: ends && self.config.profile.grow_on_exit }
    }
}

/// What is sent.
impl Sender {
    /// The first retransmission of a recovery counts, too (`prr_out`).
    pub(super) fn note_in_recovery(&mut self, len: u64) {
        if let Some(Repair::Sack(SackRecovery { prr: Some(prr), .. })) = self.repair.get_mut() {
            prr.sent(len);
        }
    }

    /// Section 5, (C): the next segment while the pipe has room.
    pub(super) fn next_in_sack_recovery(&mut self, now: Time, mut sack: SackRecovery) -> Option<Segment> {
        let allowed = sack.prr.map_or(sack.pipe + self.mss <= self.window, |prr| prr.allows(self.mss));
        if !allowed || self.ecn.hold {
            return None;
        }
        let segment = match self.next_segment(&sack)? {
            NextSegment::New => self.advance(now, self.new_data()),
            NextSegment::Again(from) => {
                let len = self.mss.min(self.board.hole_end(from, self.max) - from);
                sack.retransmitted = from + len;
                self.data(now, from, len)
            }
            NextSegment::Rescue(end) => {
                sack.rescued = sack.until;
                let from = end.saturating_sub(self.mss).max(self.una);
                self.data(now, from, end - from)
            }
        };
        sack.pipe += u64::from(segment.len);
        if let Some(prr) = &mut sack.prr {
            prr.sent(segment.len.into());
        }
        self.repair.set(Repair::Sack(sack));
        Some(segment)
    }

    /// Section 4, `NextSeg`, rules (1) to (4) in turn.
    fn next_segment(&self, sack: &SackRecovery) -> Option<NextSegment> {
        let hole = self.board.next_hole(sack.retransmitted.max(self.una));
        let below_sacked = hole < self.board.highest();
        if below_sacked && hole < self.board.lost_below(self.mss) {
            return Some(NextSegment::Again(hole));
        }
        if self.new_data() > 0 {
            return Some(NextSegment::New);
        }
        if below_sacked {
            return Some(NextSegment::Again(hole));
        }
        let rescue = self.una > sack.rescued && self.una < self.max;
        rescue.then(|| NextSegment::Rescue(self.board.last_hole_end(self.max)))
    }

    /// Outside recovery: limited transmit before it (section 5, step (3)), and what is missing after a timeout.
    ///
    /// What the receiver has is not on its way, and is not sent again (section 5.1).
    pub(super) fn next_around_sacked(&mut self, now: Time) -> Option<Segment> {
        self.nxt = self.board.next_hole(self.nxt);
        let len = self.new_data().min(self.board.hole_end(self.nxt, u64::MAX) - self.nxt);
        let pipe = self.nxt - self.una - self.board.bytes_below(self.nxt);
        if len == 0 || pipe + len > self.window || self.ecn.hold {
            return None;
        }
        if self.dup_acks > 0 {
            self.beyond_window += len;
        }
        Some(self.advance(now, len))
    }
}
