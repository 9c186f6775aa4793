//! SACK-based loss recovery: RFC 6675.
//!
//! The scoreboard determines what is lost and how much is in flight (`pipe`). While that leaves room in the window,
//! `NextSeg` selects the next segment: a lost one, new data, one that may be lost, or a rescue retransmission that
//! keeps the ACK clock running. The timer is RFC 6298's (section 6, first choice).

use super::acknowledge::Effect;
use super::prr::{Before, Delivery, PrrState};
use super::{DUP_THRESH, RecoveryState, Sender};
use crate::cc::Curve;
use crate::profile::{Halving, Pipe};
use crate::segment::{MAX_BLOCKS, Segment};
use sojourn_units::Time;

/// State of SACK recovery. Sequence numbers are those following the RFC's last octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct SackRecovery {
    /// `RecoveryPoint`: recovery ends when everything below is acknowledged.
    recovery_point: u64,
    /// `HighRxt`: holes below have been retransmitted.
    high_rxt: u64,
    /// `RescueRxt`: an ACK above allows the one rescue retransmission.
    rescue_rxt: u64,
    /// Pipe, bytes.
    pub(super) pipe: u64,
    /// Missing data below is known to be lost.
    judged: u64,
    /// PRR; without it, the window limits the pipe.
    pub(super) prr: Option<PrrState>,
}

/// Selection of `NextSeg`.
enum NextSeg {
    /// Retransmission from this byte on.
    Again(u64),
    /// New data.
    New,
    /// Rescue retransmission that ends at this byte.
    Rescue(u64),
}

/// Processing of ACKs.
impl Sender {
    /// `Update`: adds the blocks of an ACK, returning whether they are new.
    ///
    /// New information makes an ACK a duplicate (section 2).
    pub(super) fn update_scoreboard(&mut self, segment: &Segment) -> bool {
        let mut news = false;
        for (from, to) in self.sacked(segment) {
            news |= self.board.insert(from, to);
        }
        news
    }

    /// Valid blocks of an ACK, in ascending order.
    ///
    /// SACKed data is whole segments (RFC 2018, section 5): partial ones are ignored. The scoreboard therefore never
    /// exceeds the number of segments sent, however the receiver cuts its blocks, and retransmissions are not
    /// fragmented.
    pub(super) fn sacked(&self, segment: &Segment) -> impl Iterator<Item = (u64, u64)> + use<> {
        let there = segment.sack.iter(segment.ack).filter(|&(from, to)| from > segment.ack && to <= self.max);
        let whole = there.filter_map(|(from, to)| self.history.segments(from, to, self.mss));
        let mut blocks = [(0, 0); MAX_BLOCKS];
        blocks.iter_mut().zip(whole).for_each(|(place, block)| *place = block);
        blocks.sort_unstable();
        blocks.into_iter().filter(|(_, to)| *to > 0)
    }

    /// Applies section 5 to an ACK: (B.2) in recovery, steps (1), (2) and (4) outside.
    ///
    /// `duplicate`: the ACK acknowledges no new data; `delivered`: bytes newly delivered.
    #[inline(never)]
    pub(super) fn on_sack(&mut self, now: Time, news: bool, duplicate: bool, delivered: i64) {
        if self.config.profile.pipe == Pipe::Counted {
            if news && duplicate {
                self.on_counted_duplicate(now);
            }
            return;
        }
        let flight = self.unsacked_before(delivered);
        if let Some(RecoveryState::Sack(sack)) = self.recovery.get_mut() {
            sack.pipe = self.board.pipe(self.una, self.max, sack.high_rxt, self.mss);
            let lost_below = self.board.lost_below(self.mss);
            let more_lost = self.board.next_hole(sack.judged.max(self.una)) < lost_below;
            sack.judged = sack.judged.max(lost_below);
            if let Some(prr) = &mut sack.prr {
                let is_safe = !duplicate && !more_lost;
                prr.reduce_to(self.cwnd, flight);
                prr.on_ack(Delivery { data: delivered, pipe: sack.pipe, is_safe }, self.mss);
            }
        } else if news {
            self.dup_acks += 1;
            let lost = self.dup_acks >= DUP_THRESH || self.una < self.board.lost_below(self.mss);
            // Section 5.1: not for data that a timeout has retransmitted.
            if lost && self.recovery_point.get().is_none_or(|point| self.una >= point) {
                self.start_sack_recovery(now, delivered);
            }
        }
    }

    /// Starts recovery (section 5, step 4).
    fn start_sack_recovery(&mut self, now: Time, delivered: i64) {
        let before = self.pipe_before_retransmission();
        let flight = if self.config.profile.halving == Halving::Pipe { before } else { self.flight() };
        let reduced = Before { flight, cwnd: self.cwnd };
        self.enter_loss_recovery();
        let high_rxt = self.una + self.first_hole();
        let pipe = self.board.pipe(self.una, self.max, high_rxt, self.mss);
        let rescue_rxt = high_rxt;
        let mut prr = self.start_prr(reduced, delivered);
        if let Some(prr) = &mut prr {
            prr.on_ack(Delivery { data: delivered, pipe: before, is_safe: false }, self.mss);
        }
        let (recovery_point, judged) = (self.max, self.board.lost_below(self.mss).max(high_rxt));
        self.recovery.set(RecoveryState::Sack(SackRecovery {
            recovery_point,
            high_rxt,
            rescue_rxt,
            pipe,
            judged,
            prr,
        }));
        if self.config.profile.recovery_restarts_timer {
            self.timers.retransmit = now + self.rtt.timeout();
        }
    }

    /// Pipe before any retransmission, bytes.
    pub(super) fn pipe_before_retransmission(&self) -> u64 {
        self.board.pipe(self.una, self.max, self.una, self.mss)
    }

    /// Returns whether a loss halves the pipe. CUBIC reduces to its share of the flight all the same, as in ns-3.
    pub(super) fn halves_pipe(&self) -> bool {
        self.config.profile.halving == Halving::Pipe && !matches!(self.cc, Curve::Cubic(_))
    }

    /// Ends recovery (section 5, A).
    pub(super) fn new_ack_in_sack_recovery(&mut self, sack: SackRecovery) -> Effect {
        let ends = self.una >= sack.recovery_point;
        if ends {
            self.recovery.clear();
            self.end_loss_accounting();
        }
        Effect { restart: true, grow: ends && self.config.profile.grow_on_exit }
    }
}

/// Sending.
impl Sender {
    /// Counts the first retransmission of a recovery in `prr_out`.
    pub(super) fn count_in_prr_sack(&mut self, len: u64) {
        if let Some(RecoveryState::Sack(SackRecovery { prr: Some(prr), .. })) = self.recovery.get_mut() {
            prr.sent(len);
        }
    }

    /// Returns the next segment while the pipe leaves room (section 5, C).
    pub(super) fn next_in_sack_recovery(&mut self, now: Time, mut sack: SackRecovery) -> Option<Segment> {
        let allowed = sack.prr.map_or(sack.pipe + self.mss <= self.cwnd, |prr| prr.allows(self.mss));
        if !allowed || self.ecn.hold {
            return None;
        }
        let segment = match self.next_seg(&sack)? {
            NextSeg::New => self.advance(now, self.new_data()),
            NextSeg::Again(from) => {
                let len = self.mss.min(self.board.hole_end(from, self.max) - from);
                sack.high_rxt = from + len;
                self.data(now, from, len)
            }
            NextSeg::Rescue(end) => {
                sack.rescue_rxt = sack.recovery_point;
                let from = end.saturating_sub(self.mss).max(self.una);
                self.data(now, from, end - from)
            }
        };
        sack.pipe += u64::from(segment.len);
        if let Some(prr) = &mut sack.prr {
            prr.sent(segment.len.into());
        }
        self.recovery.set(RecoveryState::Sack(sack));
        Some(segment)
    }

    /// Section 4, `NextSeg`, rules (1) to (4) in turn.
    fn next_seg(&self, sack: &SackRecovery) -> Option<NextSeg> {
        let hole = self.board.next_hole(sack.high_rxt.max(self.una));
        let below_sacked = hole < self.board.highest();
        if below_sacked && hole < self.board.lost_below(self.mss) {
            return Some(NextSeg::Again(hole));
        }
        if self.new_data() > 0 {
            return Some(NextSeg::New);
        }
        if below_sacked {
            return Some(NextSeg::Again(hole));
        }
        let rescue = self.una > sack.rescue_rxt && self.una < self.max;
        rescue.then(|| NextSeg::Rescue(self.board.last_hole_end(self.max)))
    }

    /// Sends outside recovery: limited transmit before it (section 5, step 3), and the holes after a timeout.
    ///
    /// SACKed data is not in flight, and not retransmitted (section 5.1).
    pub(super) fn next_outside_recovery(&mut self, now: Time) -> Option<Segment> {
        self.nxt = self.board.next_hole(self.nxt);
        let len = self.new_data().min(self.board.hole_end(self.nxt, u64::MAX) - self.nxt);
        let pipe = self.nxt - self.una - self.board.bytes_below(self.nxt);
        if len == 0 || pipe + len > self.cwnd || self.ecn.hold {
            return None;
        }
        if self.dup_acks > 0 {
            self.beyond_window += len;
        }
        Some(self.advance(now, len))
    }
}
