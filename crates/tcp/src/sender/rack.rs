//! RACK, time-based loss detection: RFC 8985, section 6.
//!
//! A segment is lost if one sent later has been delivered, and the time allowed for reordering has passed. A lost
//! retransmission is therefore detected like any other loss.
//!
//! The RFC keeps a time for each segment and visits all of them at each ACK. Two facts avoid that. Segments sent once
//! are ordered by time, so that one boundary (`frontier`) separates those already judged from the rest.
//! Retransmissions are in a list of their own (`retransmitted`).

use super::acknowledge::NewAck;
use super::history::{History, Run};
use super::min_rtt::MinRtt;
use super::prr::{Before, Delivery, PrrState};
use super::retransmitted::Retransmitted;
use super::{DUP_THRESH, RecoveryState, Sender};
use crate::opt_seq::OptSeq;
use crate::ranges::Ranges;
use crate::scoreboard::Scoreboard;
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Span, Time};

/// State of RACK (section 5.3).
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Retransmitted data not yet delivered.
    retransmitted: Retransmitted,
    /// Lost data not yet retransmitted.
    pub(super) lost: Ranges,
    /// Data sent once below this is delivered, lost, or retransmitted.
    frontier: u64,
    /// `RACK.xmit_ts` and `RACK.end_seq`: of the delivered segment that was sent last.
    xmit: (Time, u64),
    /// `RACK.rtt`.
    rtt: Span,
    /// `RACK.min_RTT`.
    min_rtt: MinRtt,
    /// `RACK.fack`: end of the highest byte delivered.
    fack: u64,
    /// `RACK.reordering_seen`.
    reordering_seen: bool,
    /// `RACK.dsack_round`.
    dsack_round: OptSeq,
    /// `RACK.reo_wnd_mult`.
    reo_wnd_mult: u16,
    /// `RACK.reo_wnd_persist`.
    reo_wnd_persist: u8,
}

/// State of RACK recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct RackRecovery {
    /// `RecoveryPoint`: recovery ends when everything below is acknowledged.
    recovery_point: u64,
    /// PRR; without it, the window limits the pipe.
    pub(super) prr: Option<PrrState>,
    /// Time of the last reduction.
    pub(super) reduced_at: Time,
}

/// Time of an ACK, and the timestamp it echoes.
#[derive(Clone, Copy)]
struct Arrival {
    now: Time,
    echo: Option<Stamp>,
}

/// Data newly delivered by an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NewlyDelivered {
    /// Bytes.
    pub(super) bytes: u64,
    /// Transmission time of the earliest data sent once.
    pub(super) oldest: Option<Time>,
    /// Transmission time of the latest data sent once.
    pub(super) newest: Option<Time>,
    /// Some was retransmitted: the rest may have been delivered long before this ACK.
    pub(super) retransmitted: bool,
    /// Transmission time and end of the data sent last, excluding retransmissions that may be spurious.
    latest: Option<(Time, u64)>,
}

impl Rack {
    pub(super) fn new() -> Rack {
        Rack {
            retransmitted: Retransmitted::default(),
            lost: Ranges::default(),
            frontier: 0,
            xmit: (Time::ZERO, 0),
            rtt: Span::ZERO,
            min_rtt: MinRtt::new(),
            fack: 0,
            reordering_seen: false,
            dsack_round: OptSeq::NONE,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
        }
    }

    /// Takes in delivered bytes (section 6.2, steps 2 and 3).
    fn deliver(
        &mut self,
        history: &History,
        (from, to): (u64, u64),
        arrival: Arrival,
        newly: &mut NewlyDelivered,
    ) {
        newly.bytes += to - from;
        if self.retransmitted.is_empty() {
            self.deliver_unretransmitted(history, (from, to), newly);
        } else {
            self.deliver_mixed(history, (from, to), arrival, newly);
        }
        if !self.lost.is_empty() {
            self.lost.remove(from, to);
        }
        self.fack = self.fack.max(to);
    }

    /// Takes in delivered bytes that were sent once.
    fn deliver_unretransmitted(
        &mut self,
        history: &History,
        (from, to): (u64, u64),
        newly: &mut NewlyDelivered,
    ) {
        self.reordering_seen |= from < self.fack;
        let sent = |seq| history.run_of(seq).map(|run: Run| run.at);
        let (Some(oldest), Some(newest)) = (sent(from), sent(to - 1)) else { return };
        newly.oldest = Some(newly.oldest.map_or(oldest, |time| time.min(oldest)));
        newly.newest = newly.newest.max(Some(newest));
        newly.latest = newly.latest.max(Some((newest, to)));
    }

    /// Takes in delivered bytes of which some were retransmitted.
    #[cold]
    fn deliver_mixed(
        &mut self,
        history: &History,
        (from, to): (u64, u64),
        arrival: Arrival,
        newly: &mut NewlyDelivered,
    ) {
        for piece in self.retransmitted.within(from, to) {
            newly.retransmitted = true;
            let spurious = arrival.echo.is_some_and(|echo| !echo.is_at_or_after(Stamp::at(piece.at)))
                || self.min_rtt.is_above(arrival.now, arrival.now.since(piece.at));
            if !spurious {
                newly.latest = newly.latest.max(Some((piece.at, piece.to.min(to))));
            }
        }
        let mut at = from;
        while let Some(piece) = self.retransmitted.first_gap(at, to) {
            self.deliver_unretransmitted(history, piece, newly);
            at = piece.1;
        }
        self.retransmitted.forget(from, to);
    }

    /// Updates `RACK.xmit_ts`, `RACK.rtt` and `RACK.min_RTT` (end of section 6.2, step 2).
    fn update_xmit(&mut self, newly: &NewlyDelivered, now: Time) {
        if let Some(newest) = newly.newest {
            self.min_rtt.sample(now, now.since(newest));
        }
        if let Some(latest) = newly.latest {
            self.rtt = now.since(latest.0);
            self.xmit = self.xmit.max(latest);
        }
    }

    /// `RACK_update_reo_wnd`, first half: widens the window on a D-SACK.
    fn on_dsack(&mut self, una: u64, next: u64) {
        if self.dsack_round.get().is_none_or(|round| una >= round) {
            self.dsack_round = OptSeq::some(next);
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = REO_WND_PERSIST;
        }
    }

    /// Frees the memory of empty lists.
    pub(super) fn trim(&mut self) {
        self.retransmitted.trim();
        self.lost.trim();
    }

    /// Clears the losses after a spurious one: the ACK was for the original transmission, not for the retransmission.
    pub(super) fn clear_losses(&mut self, una: u64, newly: &NewlyDelivered) {
        if let Some(latest) = newly.latest.filter(|(at, _)| newly.newest == Some(*at)) {
            self.xmit = latest;
        }
        self.lost.clear();
        self.retransmitted.clear_losses();
        self.frontier = una;
    }

    fn recovery_ended(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// `RACK_update_reo_wnd`, second half: returns the reordering window.
    fn reo_wnd(&self, recovering: bool, sacked: u64, smoothed: Span, mss: u64) -> Span {
        let many = sacked > u64::from(DUP_THRESH - 1) * mss;
        if !self.reordering_seen && (recovering || many) {
            return Span::ZERO;
        }
        let quarter = self.min_rtt.get().nanos() / 4;
        Span::from_nanos(quarter.saturating_mul(self.reo_wnd_mult.into())).min(smoothed)
    }

    /// Returns whether the segment at `seq` was retransmitted and is not delivered.
    pub(super) fn was_retransmitted(&self, seq: u64) -> bool {
        self.retransmitted.within(seq, seq + 1).next().is_some()
    }

    /// Number of retransmitted pieces not delivered.
    pub(super) fn outstanding_retransmissions(&self) -> usize {
        self.retransmitted.len()
    }

    /// Common case: everything was delivered in the order of transmission.
    fn all_in_order(&self, history: &History, board: &Scoreboard) -> bool {
        let in_order = board.is_empty() && self.retransmitted.is_empty() && self.lost.is_empty();
        in_order && history.first().is_none_or(|run| run.at > self.xmit.0)
    }

    /// Time after which an overtaken segment is lost; positive, as no segment is overtaken at the instant of its
    /// transmission.
    fn loss_delay(&self, reo_wnd: Span) -> Span {
        (self.rtt + reo_wnd).max(Span::from_nanos(1))
    }

    /// `RACK_detect_loss`: marks lost data.
    fn detect(&mut self, now: Time, reo_wnd: Span, state: &SendState<'_>) -> Detection {
        self.frontier = self.frontier.max(state.una);
        let wait = self.loss_delay(reo_wnd);
        let due = |sent: Time| sent + wait <= now;
        let mut lost_retransmission = None;
        while let Some(piece) = self.retransmitted.mark_overdue_lost(self.xmit, due) {
            lost_retransmission = Some(piece.at);
            self.lost.insert(piece.from, piece.to);
        }
        let overtaken = state.history.sent_before(self.xmit);
        self.advance_frontier(self.frontier, overtaken, due, state);
        let late = self.retransmitted.last_before(self.xmit).max(self.last_missing(overtaken, state));
        Detection { recheck_at: late.map_or(Time::NEVER, |sent| sent + wait), lost_retransmission }
    }

    /// Marks overdue data between `from` and `end` that was sent once.
    fn advance_frontier(&mut self, from: u64, end: u64, due: impl Fn(Time) -> bool, state: &SendState<'_>) {
        let &SendState { history, board, max, .. } = state;
        let mut at = board.next_hole(from);
        while at < end.min(max)
            && let Some(run) = history.run_of(at).filter(|run| due(run.at))
        {
            let to = board.hole_end(at, max).min(run.end).min(end);
            self.mark_unretransmitted_lost(at, to);
            at = board.next_hole(to);
        }
        self.frontier = at;
    }

    /// Transmission time of the last missing byte below `end` that was sent once and is not judged yet.
    fn last_missing(&self, end: u64, state: &SendState<'_>) -> Option<Time> {
        let &SendState { history, board, max, .. } = state;
        let mut end = end.min(max);
        loop {
            let (from, to) = board.last_hole(self.frontier, end)?;
            if let Some(missing) = self.retransmitted.last_gap_end(from, to) {
                return history.run_of(missing - 1).map(|run| run.at);
            }
            end = from;
        }
    }

    /// Marks bytes as lost, except those that were retransmitted.
    fn mark_unretransmitted_lost(&mut self, from: u64, to: u64) {
        let mut at = from;
        while let Some(piece) = self.retransmitted.first_gap(at, to) {
            self.lost.insert(piece.0, piece.1);
            at = piece.1;
        }
    }

    /// Marks the first segment, and all overdue data, as lost at a timeout (section 6.3).
    fn mark_lost_at_timeout(&mut self, now: Time, first: (u64, u64), reo_wnd: Span, state: &SendState<'_>) {
        let wait = self.loss_delay(reo_wnd);
        let due = |sent: Time| sent + wait <= now;
        while let Some(piece) = self.retransmitted.mark_overdue_lost(LATEST, due) {
            self.lost.insert(piece.from, piece.to);
        }
        while let Some(piece) = self.retransmitted.mark_lost_within(first.0, first.1) {
            self.lost.insert(piece.from, piece.to);
        }
        self.mark_unretransmitted_lost(first.0, first.1);
        self.advance_frontier(self.frontier.max(first.1), state.max, due, state);
    }
}

/// Result of loss detection.
struct Detection {
    /// Time of the next check; NEVER if none.
    recheck_at: Time,
    /// Latest transmission time of the lost retransmissions.
    lost_retransmission: Option<Time>,
}

/// View of the sender's state.
struct SendState<'a> {
    history: &'a History,
    board: &'a Scoreboard,
    una: u64,
    max: u64,
}

/// Processing of ACKs.
impl Sender {
    /// Processes an ACK on a connection with RACK (section 6.2).
    pub(super) fn on_ack_with_rack(&mut self, now: Time, segment: &Segment, echo: bool) -> Option<Span> {
        let acked = segment.ack - self.una;
        let arrived = self.arrived();
        let newly = self.process_delivery(now, segment);
        let twice = segment.sack.duplicate(segment.ack);
        let rtt = self.measure(now, segment, Some(&newly));
        let before = self.flight();
        let recovering = self.recovery.is_some();
        if acked > 0 {
            self.advance_una(segment.ack);
        }
        self.detect_reneging();
        let undone = self.detect_spurious(now, segment, &newly, acked);
        self.on_ack_of_probe(segment, twice, acked == 0);
        if twice.is_some() {
            self.rack.on_dsack(self.una, self.max);
        }
        self.end_rack_recovery();
        if acked > 0 {
            let news =
                NewAck { now, acked, sample: newly.newest.map(|sent| now.since(sent)), marked: echo, before };
            self.update_cwnd(&news, !recovering && !undone && !echo);
            self.restart_timer(now);
        }
        let delivered = self.arrived() - arrived;
        let more_lost = self.detect_losses(now, delivered);
        if self.recovery.is_some() {
            self.update_prr(delivered, acked > 0 && !more_lost);
        }
        self.arm_probe(now, acked > 0);
        rtt
    }

    /// Updates PRR on an ACK in recovery.
    #[cold]
    fn update_prr(&mut self, data: i64, is_safe: bool) {
        let (pipe, flight) = (self.pipe(), self.unsacked_before(data));
        if let Some(RecoveryState::Rack(RackRecovery { prr: Some(prr), .. })) = self.recovery.get_mut() {
            prr.reduce_to(self.cwnd, flight);
            prr.on_ack(Delivery { data, pipe, is_safe }, self.mss);
        }
    }

    /// Collects the data delivered by an ACK (section 6.2, steps 1 to 3).
    fn process_delivery(&mut self, now: Time, segment: &Segment) -> NewlyDelivered {
        let mut newly = NewlyDelivered::default();
        let echo = segment.flags.has(Flags::TIMESTAMP).then_some(segment.stamp);
        let arrival = Arrival { now, echo: echo.filter(|_| self.timestamps) };
        let Sender { rack, history, board, una, .. } = self;
        if let Some(echo) = arrival.echo.filter(|_| segment.ack > *una) {
            // Step 1, by RFC 7323: retransmissions provide samples as well.
            rack.min_rtt.sample(now, Span::from_nanos(Stamp::at(now).nanos_since(echo)));
        }
        for hole in board.holes(*una, segment.ack) {
            rack.deliver(history, hole, arrival, &mut newly);
        }
        if !segment.sack.is_empty() {
            self.process_sack(segment, arrival, &mut newly);
        }
        self.rack.update_xmit(&newly, now);
        newly
    }

    /// Collects the data delivered by the SACK blocks of an ACK.
    fn process_sack(&mut self, segment: &Segment, arrival: Arrival, newly: &mut NewlyDelivered) {
        let blocks = self.sacked(segment);
        let Sender { rack, history, board, .. } = self;
        // In ascending order, as step 3 requires.
        for (from, to) in blocks {
            for hole in board.holes(from, to) {
                rack.deliver(history, hole, arrival, newly);
            }
            board.insert(from, to);
        }
    }

    /// Clears the scoreboard if SACKed data is now the next expected: the receiver has discarded it (RFC 2018, section
    /// 8).
    pub(super) fn detect_reneging(&mut self) {
        if self.board.first().is_some_and(|(from, _)| from <= self.una) {
            self.board.clear();
            self.rack.frontier = self.una;
            self.rack.fack = self.una;
        }
    }

    fn end_rack_recovery(&mut self) {
        let fast =
            matches!(self.recovery.get(), Some(RecoveryState::Rack(rack)) if self.una >= rack.recovery_point);
        let slow =
            self.recovery.is_none() && self.recovery_point.get().is_some_and(|point| self.una >= point);
        if fast {
            self.recovery.clear();
            self.end_loss_accounting();
        }
        if fast || slow {
            self.rack.recovery_ended();
            self.recovery_point = OptSeq::NONE;
        }
    }

    /// Detects losses after an ACK of `delivered` bytes, or without one (section 6.2, steps 4 and 5), returning
    /// whether there are more.
    pub(super) fn detect_losses(&mut self, now: Time, delivered: i64) -> bool {
        if self.rack.all_in_order(&self.history, &self.board) {
            self.timers.reorder = Time::NEVER;
            return false;
        }
        let lost = self.rack.lost.bytes();
        let reo_wnd = self.reo_wnd();
        let Sender { rack, history, board, una, max, .. } = self;
        let state = SendState { history, board, una: *una, max: *max };
        let Detection { recheck_at, lost_retransmission } = rack.detect(now, reo_wnd, &state);
        self.timers.reorder = recheck_at;
        if !self.rack.lost.is_empty() && self.recovery.is_none() && self.recovery_point.is_none() {
            self.start_rack_recovery(now, delivered);
        } else if let Some(sent) = lost_retransmission {
            self.reduce_for_lost_retransmission(now, sent);
        }
        self.rack.lost.bytes() > lost
    }

    fn reo_wnd(&self) -> Span {
        let recovering = self.recovery.is_some() || !self.recovery_point.is_none();
        let smoothed = self.rtt.smoothed_s().map_or(Span::ZERO, Span::from_seconds);
        self.rack.reo_wnd(recovering, self.board.bytes(), smoothed, self.mss)
    }

    fn start_rack_recovery(&mut self, now: Time, delivered: i64) {
        let before = Before { flight: self.flight(), cwnd: self.cwnd };
        self.enter_loss_recovery();
        let prr = self.start_prr(before, delivered);
        self.recovery.set(RecoveryState::Rack(RackRecovery {
            recovery_point: self.max,
            prr,
            reduced_at: now,
        }));
        self.probe.forget();
        self.timers.probe = Time::NEVER;
        self.timers.retransmit = now + self.rtt.timeout();
    }

    /// Marks losses at a timeout (section 6.3).
    pub(super) fn mark_lost_at_timeout(&mut self, now: Time) {
        let reo_wnd = self.reo_wnd();
        let first = (self.una, self.una + self.first_hole());
        let Sender { rack, history, board, una, max, .. } = self;
        rack.mark_lost_at_timeout(now, first, reo_wnd, &SendState { history, board, una: *una, max: *max });
        self.timers.reorder = Time::NEVER;
        self.probe.forget();
        self.timers.probe = Time::NEVER;
        self.resend = true;
    }
}

/// Sending.
impl Sender {
    /// Pipe, bytes: outstanding, neither delivered nor lost.
    pub(super) fn pipe(&self) -> u64 {
        self.max - self.una - self.board.bytes() - self.rack.lost.bytes()
    }

    /// Sends lost data first, then new data, as PRR or the window allows.
    pub(super) fn next_with_rack(&mut self, now: Time) -> Option<Segment> {
        if self.ecn.hold {
            return None;
        }
        let hole = self.rack.lost.first();
        let len = hole.map_or_else(|| self.new_data(), |(from, to)| self.mss.min(to - from));
        if len == 0 || !self.rack_allows(len) {
            return None;
        }
        if let Some((from, _)) = hole {
            return Some(self.resend(now, from, len));
        }
        self.count_in_prr(len);
        Some(self.advance(now, len))
    }

    fn rack_allows(&self, len: u64) -> bool {
        match self.recovery.get() {
            Some(RecoveryState::Rack(RackRecovery { prr: Some(prr), .. })) => prr.allows(len),
            _ => self.pipe() + len <= self.cwnd,
        }
    }

    fn count_in_prr(&mut self, len: u64) {
        if let Some(RecoveryState::Rack(RackRecovery { prr: Some(prr), .. })) = self.recovery.get_mut() {
            prr.sent(len);
        }
    }

    /// Retransmits the first lost segment, regardless of the window.
    pub(super) fn resend_first_lost(&mut self, now: Time) -> Segment {
        let (from, to) = self.rack.lost.first().unwrap_or((self.una, self.una + self.first_hole()));
        self.resend(now, from, self.mss.min(to - from))
    }

    /// Retransmits `len` bytes from `from` (section 6.1).
    pub(super) fn resend(&mut self, now: Time, from: u64, len: u64) -> Segment {
        let to = from + len;
        self.count_in_prr(len);
        self.rack.lost.remove(from, to);
        self.rack.retransmitted.add(from, to, now);
        self.data(now, from, len)
    }
}

/// Recoveries for which a reordering window widened by D-SACKs persists (section 6.2, step 4).
const REO_WND_PERSIST: u8 = 16;
/// After every transmission.
const LATEST: (Time, u64) = (Time::NEVER, u64::MAX);

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;
    const WAIT: Span = Span::from_millis(10);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Four segments, sent one per millisecond, of which `arrived` are SACKed.
    fn sent(arrived: &[(u64, u64)]) -> (History, Scoreboard) {
        let (mut history, mut board) = (History::default(), Scoreboard::default());
        for place in 0..4 {
            history.push(place * MSS, (place + 1) * MSS, at(place), true);
        }
        for (from, to) in arrived {
            assert!(board.insert(from * MSS, to * MSS));
        }
        (history, board)
    }

    fn rack() -> Rack {
        Rack { rtt: WAIT, xmit: (at(3), 4 * MSS), ..Rack::new() }
    }

    #[test]
    fn the_last_overtaken_segment_sets_the_next_check() {
        let (history, board) = sent(&[(1, 2), (3, 4)]);
        let state = SendState { history: &history, board: &board, una: 0, max: 4 * MSS };
        let mut rack = rack();
        assert_eq!(rack.detect(at(9), Span::ZERO, &state).recheck_at, at(2) + WAIT);
        assert!(rack.lost.is_empty());
        assert_eq!(rack.detect(at(10), Span::ZERO, &state).recheck_at, at(2) + WAIT);
        assert_eq!(rack.lost.iter().collect::<Vec<_>>(), [(0, MSS)]);
        assert_eq!(rack.detect(at(12), Span::ZERO, &state).recheck_at, Time::NEVER);
        assert_eq!(rack.lost.bytes(), 2 * MSS);
    }

    /// A retransmission later than all delivered data is not overtaken, though its original was.
    #[test]
    fn a_retransmission_is_not_overtaken_with_its_original() {
        let (history, board) = sent(&[(1, 2), (3, 4)]);
        let state = SendState { history: &history, board: &board, una: 0, max: 4 * MSS };
        let mut rack = rack();
        rack.retransmitted.add(2 * MSS, 3 * MSS, at(4));
        assert_eq!(rack.detect(at(9), Span::ZERO, &state).recheck_at, at(0) + WAIT);
        rack.retransmitted.add(0, MSS, at(5));
        assert_eq!(rack.detect(at(9), Span::ZERO, &state).recheck_at, Time::NEVER);
        assert_eq!(rack.detect(at(20), Span::ZERO, &state).recheck_at, Time::NEVER);
        assert!(rack.lost.is_empty());
    }

    /// Section 6.3, with nothing delivered.
    #[test]
    fn a_timeout_marks_segments_older_than_a_round_trip_as_lost() {
        let (history, board) = sent(&[]);
        let state = SendState { history: &history, board: &board, una: 0, max: 4 * MSS };
        let mut rack = rack();
        rack.retransmitted.add(2 * MSS, 3 * MSS, at(9));
        rack.mark_lost_at_timeout(at(12), (0, MSS), Span::ZERO, &state);
        assert_eq!(rack.lost.iter().collect::<Vec<_>>(), [(0, 2 * MSS)]);
        rack.mark_lost_at_timeout(at(19), (0, MSS), Span::ZERO, &state);
        assert_eq!(rack.lost.iter().collect::<Vec<_>>(), [(0, 4 * MSS)]);
    }
}
