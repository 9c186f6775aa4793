//! Recovery that goes by time: RACK, RFC 8985, section 6.
//!
//! A segment is lost when one that was sent later has arrived, and the time for
//! which packets may overtake each other (the reordering window) has passed. So
//! a lost retransmission shows as any other loss does.
//!
//! The RFC keeps a time for each segment and looks at all of them at each ACK.
//! Here two facts save the looking. What was sent once lies in the order of its
//! times: one boundary (`frontier`) parts what has been judged from the rest. What
//! was sent again stands in a list of its own (`again`).

use super::acknowledge::AckNews;
use super::again::Again;
use super::history::{History, Run};
use super::min_rtt::MinRtt;
use super::prr::{Delivery, PrrState};
use super::{DUP_THRESHOLD, Repair, Sender};
use crate::mark::Mark;
use crate::ranges::Ranges;
use crate::scoreboard::Scoreboard;
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Span, Time};

/// What RACK knows of a connection (section 5.3).
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// What was sent again and has not arrived.
    again: Again,
    /// What is taken for lost and has not been sent again since.
    pub(super) lost: Ranges,
    /// What was sent once below this has arrived, is lost, or was sent again.
    frontier: u64,
    /// `RACK.xmit_ts` and `RACK.end_seq`: what was sent last of all that has arrived.
    latest: (Time, u64),
    /// `RACK.rtt`.
    rtt: Span,
    /// `RACK.min_RTT`.
    min_rtt: MinRtt,
    /// `RACK.fack`: the end of the highest byte that has arrived.
    highest: u64,
    /// `RACK.reordering_seen`.
    reordering: bool,
    /// `RACK.dsack_round`.
    dsack_round: Mark,
    /// `RACK.reo_wnd_mult`.
    multiplier: u16,
    /// `RACK.reo_wnd_persist`.
    recoveries_left: u8,
}

/// Recovery in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct RackRecovery {
    /// It ends when everything below this is acknowledged.
    until: u64,
    /// What each ACK lets out; without, what the window has room for.
    pub(super) prr: Option<PrrState>,
    /// When the window was reduced last.
    pub(super) answered: Time,
}

/// When an ACK came, and which stamp it echoes.
#[derive(Clone, Copy)]
struct Seen {
    now: Time,
    echo: Option<Stamp>,
}

/// What an ACK says has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// Bytes.
    pub(super) delivered: u64,
    /// When the earliest of those that were sent once was sent.
    pub(super) oldest: Option<Time>,
    /// And the latest.
    pub(super) newest: Option<Time>,
    /// Whether any had been sent again: the rest may have arrived long before this ACK.
    pub(super) again: bool,
    /// What was sent last, and when; unless it may have been a spurious retransmission.
    latest: Option<(Time, u64)>,
}

impl Rack {
    pub(super) fn new() -> Rack {
        Rack {
            again: Again::default(),
            lost: Ranges::default(),
            frontier: 0,
            latest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            min_rtt: MinRtt::new(),
            highest: 0,
            reordering: false,
            dsack_round: Mark::NONE,
            multiplier: 1,
            recoveries_left: 0,
        }
    }

    /// Bytes that have arrived: sections 6.2, steps 2 and 3.
    fn deliver(&mut self, history: &History, (from, to): (u64, u64), seen: Seen, heard: &mut Heard) {
        heard.delivered += to - from;
        if self.again.is_empty() {
            self.deliver_first(history, (from, to), heard);
        } else {
            self.deliver_mixed(history, (from, to), seen, heard);
        }
        if !self.lost.is_empty() {
            self.lost.remove(from, to);
        }
        self.highest = self.highest.max(to);
    }

    /// Bytes that were sent once.
    fn deliver_first(&mut self, history: &History, (from, to): (u64, u64), heard: &mut Heard) {
        self.reordering |= from < self.highest;
        let sent = |seq| history.run_of(seq).map(|run: Run| run.at);
        let (Some(oldest), Some(newest)) = (sent(from), sent(to - 1)) else { return };
        heard.oldest = Some(heard.oldest.map_or(oldest, |time| time.min(oldest)));
        heard.newest = heard.newest.max(Some(newest));
        heard.latest = heard.latest.max(Some((newest, to)));
    }

    /// Bytes of which some were sent again.
    #[cold]
    fn deliver_mixed(&mut self, history: &History, (from, to): (u64, u64), seen: Seen, heard: &mut Heard) {
        for again in self.again.within(from, to) {
            heard.again = true;
            let spurious = seen.echo.is_some_and(|echo| !echo.is_at_or_after(Stamp::at(again.at)))
                || self.min_rtt.is_above(seen.now, seen.now.since(again.at));
            if !spurious {
                heard.latest = heard.latest.max(Some((again.at, again.to.min(to))));
            }
        }
        let mut at = from;
        while let Some(piece) = self.again.first_gap(at, to) {
            self.deliver_first(history, piece, heard);
            at = piece.1;
        }
        self.again.forget(from, to);
    }

    /// The end of section 6.2, step 2.
    fn note_latest(&mut self, heard: &Heard, now: Time) {
        if let Some(newest) = heard.newest {
            self.min_rtt.sample(now, now.since(newest));
        }
        if let Some(latest) = heard.latest {
            self.rtt = now.since(latest.0);
            self.latest = self.latest.max(latest);
        }
    }

    /// `RACK_update_reo_wnd`, first half.
    fn note_duplicate(&mut self, una: u64, next: u64) {
        if self.dsack_round.get().is_none_or(|round| una >= round) {
            self.dsack_round = Mark::at(next);
            self.multiplier = self.multiplier.saturating_add(1);
            self.recoveries_left = RECOVERIES_KEPT;
        }
    }

    /// Gives up the memory of lists that are empty.
    pub(super) fn trim(&mut self) {
        self.again.trim();
        self.lost.trim();
    }

    /// Nothing was lost after all: what was taken for the ACK of a retransmission was one of the first sending.
    pub(super) fn forget_losses(&mut self, una: u64, heard: &Heard) {
        if let Some(latest) = heard.latest.filter(|(at, _)| heard.newest == Some(*at)) {
            self.latest = latest;
        }
        self.lost.clear();
        self.again.forget_losses();
        self.frontier = una;
    }

    fn recovery_ended(&mut self) {
        self.recoveries_left = self.recoveries_left.saturating_sub(1);
        if self.recoveries_left == 0 {
            self.multiplier = 1;
        }
    }

    /// `RACK_update_reo_wnd`, second half: the reordering window.
    fn window(&self, recovering: bool, sacked: u64, smoothed: Span, mss: u64) -> Span {
        let many = sacked > u64::from(DUP_THRESHOLD - 1) * mss;
        if !self.reordering && (recovering || many) {
            return Span::ZERO;
        }
        let quarter = self.min_rtt.get().nanos() / 4;
        Span::from_nanos(quarter.saturating_mul(self.multiplier.into())).min(smoothed)
    }

    /// Whether the segment at `seq` was sent again and has not arrived.
    pub(super) fn was_sent_again(&self, seq: u64) -> bool {
        self.again.within(seq, seq + 1).next().is_some()
    }

    /// Pieces that were sent again and have not arrived.
    pub(super) fn pieces_sent_again(&self) -> usize {
        self.again.len()
    }

    /// The usual case: all has arrived in the order in which it was sent.
    fn nothing_overtaken(&self, history: &History, board: &Scoreboard) -> bool {
        let in_order = board.is_empty() && self.again.is_empty() && self.lost.is_empty();
        in_order && history.first().is_none_or(|run| run.at > self.latest.0)
    }

    /// How long what was overtaken may take: some time in any case, as nothing is overtaken at the instant of its sending.
    fn patience(&self, window: Span) -> Span {
        (self.rtt + window).max(Span::from_nanos(1))
    }

    /// `RACK_detect_loss`: marks what is lost.
    fn detect(&mut self, now: Time, window: Span, places: &Places<'_>) -> Verdict {
        self.frontier = self.frontier.max(places.una);
        let wait = self.patience(window);
        let due = |sent: Time| sent + wait <= now;
        let mut lost_again = None;
        while let Some(piece) = self.again.lose_overdue(self.latest, due) {
            lost_again = Some(piece.at);
            self.lost.insert(piece.from, piece.to);
        }
        let overtaken = places.history.sent_before(self.latest);
        self.advance_frontier(self.frontier, overtaken, due, places);
        let late = self.again.last_before(self.latest).max(self.last_missing(overtaken, places));
        Verdict { look_again: late.map_or(Time::NEVER, |sent| sent + wait), lost_again }
    }

    /// What was sent once between `from` and `end`, is due and has not come is lost.
    fn advance_frontier(&mut self, from: u64, end: u64, due: impl Fn(Time) -> bool, places: &Places<'_>) {
        let &Places { history, board, max, .. } = places;
        let mut at = board.next_hole(from);
        while at < end.min(max)
            && let Some(run) = history.run_of(at).filter(|run| due(run.at))
        {
            let to = board.hole_end(at, max).min(run.end).min(end);
            self.lose_first(at, to);
            at = board.next_hole(to);
        }
        self.frontier = at;
    }

    /// When the last byte below `end` was sent that has not been judged, was sent once, and is missing.
    fn last_missing(&self, end: u64, places: &Places<'_>) -> Option<Time> {
        let &Places { history, board, max, .. } = places;
        let mut end = end.min(max);
        loop {
            let (from, to) = board.last_hole(self.frontier, end)?;
            if let Some(missing) = self.again.last_gap_end(from, to) {
                return history.run_of(missing - 1).map(|run| run.at);
            }
            end = from;
        }
    }

    /// Bytes that were sent once are lost, but for those that were sent again.
    fn lose_first(&mut self, from: u64, to: u64) {
        let mut at = from;
        while let Some(piece) = self.again.first_gap(at, to) {
            self.lost.insert(piece.0, piece.1);
            at = piece.1;
        }
    }

    /// Section 6.3: at a timeout the first segment is lost, and all that was sent long ago.
    fn lose_at_timeout(&mut self, now: Time, first: (u64, u64), window: Span, places: &Places<'_>) {
        let wait = self.patience(window);
        let due = |sent: Time| sent + wait <= now;
        while let Some(piece) = self.again.lose_overdue(EVER, due) {
            self.lost.insert(piece.from, piece.to);
        }
        while let Some(piece) = self.again.lose_within(first.0, first.1) {
            self.lost.insert(piece.from, piece.to);
        }
        self.lose_first(first.0, first.1);
        self.advance_frontier(self.frontier.max(first.1), places.max, due, places);
    }
}

/// What is found when the time has come to look.
struct Verdict {
    /// When to look again.
    look_again: Time,
    /// When the latest of the retransmissions that are found lost was sent.
    lost_again: Option<Time>,
}

/// Where things are.
struct Places<'a> {
    history: &'a History,
    board: &'a Scoreboard,
    una: u64,
    max: u64,
}

/// What ACKs say.
impl Sender {
    /// An ACK on a connection with RACK: section 6.2, and what recovery makes of it.
    pub(super) fn on_ack_with_rack(&mut self, now: Time, segment: &Segment, echo: bool) -> Option<Span> {
        let acked = segment.ack - self.una;
        let arrived = self.arrived();
        let heard = self.hear(now, segment);
        let twice = segment.sack.duplicate(segment.ack);
        let rtt = self.measure(now, segment, Some(&heard));
        let before = self.flight();
        let recovering = self.repair.is_some();
        if acked > 0 {
            self.advance_una(segment.ack);
        }
        self.notice_reneging();
        let undone = self.look_for_spurious(now, segment, &heard, acked);
        self.on_ack_of_probe(segment, twice, acked == 0);
        if twice.is_some() {
            self.rack.note_duplicate(self.una, self.max);
        }
        self.end_rack_recovery();
        if acked > 0 {
            let news = AckNews {
                now,
                acked,
                sample: heard.newest.map(|sent| now.since(sent)),
                marked: echo,
                before,
            };
            self.tell_of_ack(&news, !recovering && !undone && !echo);
            self.restart_timer(now);
        }
        let delivered = self.arrived() - arrived;
        let more_lost = self.look_for_losses(now, delivered);
        if self.repair.is_some() {
            self.reduce_by_ack(delivered, acked > 0 && !more_lost);
        }
        self.arm_probe(now, acked > 0);
        rtt
    }

    /// In recovery: what an ACK lets out.
    #[cold]
    fn reduce_by_ack(&mut self, data: i64, is_safe: bool) {
        let (pipe, flight) = (self.pipe(), self.unsacked_before(data));
        if let Some(Repair::Rack(RackRecovery { prr: Some(prr), .. })) = self.repair.get_mut() {
            prr.aim_at(self.window, flight);
            prr.on_ack(Delivery { data, pipe, is_safe }, self.mss);
        }
    }

    /// Section 6.2, steps 1 to 3: what has arrived.
    fn hear(&mut self, now: Time, segment: &Segment) -> Heard {
        let mut heard = Heard::default();
        let echo = segment.flags.has(Flags::TIMESTAMP).then_some(segment.stamp);
        let seen = Seen { now, echo: echo.filter(|_| self.timestamps) };
        let Sender { rack, history, board, una, .. } = self;
        if let Some(echo) = seen.echo.filter(|_| segment.ack > *una) {
            // Step 1: by RFC 7323, so that a retransmission measures, too.
            rack.min_rtt.sample(now, Span::from_nanos(Stamp::at(now).nanos_since(echo)));
        }
        for hole in board.holes(*una, segment.ack) {
            rack.deliver(history, hole, seen, &mut heard);
        }
        if !segment.sack.is_empty() {
            self.hear_blocks(segment, seen, &mut heard);
        }
        self.rack.note_latest(&heard, now);
        heard
    }

    /// What an ACK says beyond its number.
    fn hear_blocks(&mut self, segment: &Segment, seen: Seen, heard: &mut Heard) {
        let blocks = self.sacked(segment);
        let Sender { rack, history, board, .. } = self;
        // In ascending order, as step 3 asks.
        for (from, to) in blocks {
            for hole in board.holes(from, to) {
                rack.deliver(history, hole, seen, heard);
            }
            board.insert(from, to);
        }
    }

    /// What was SACKed can only be acknowledged next if the receiver has thrown it away (RFC 2018, section 8).
    pub(super) fn notice_reneging(&mut self) {
        if self.board.first().is_some_and(|(from, _)| from <= self.una) {
            self.board.clear();
            self.rack.frontier = self.una;
            self.rack.highest = self.una;
        }
    }

    fn end_rack_recovery(&mut self) {
        let fast = matches!(self.repair.get(), Some(Repair::Rack(rack)) if self.una >= rack.until);
        let slow = self.repair.is_none() && self.loss_point.get().is_some_and(|point| self.una >= point);
        if fast {
            self.repair.clear();
            self.settle_after_recovery();
        }
        if fast || slow {
            self.rack.recovery_ended();
            self.loss_point = Mark::NONE;
        }
    }

    /// Section 6.2, steps 4 and 5, after an ACK of `delivered` bytes, or none; whether more is lost than was.
    pub(super) fn look_for_losses(&mut self, now: Time, delivered: i64) -> bool {
        if self.rack.nothing_overtaken(&self.history, &self.board) {
            self.timers.reorder = Time::NEVER;
            return false;
        }
        let lost = self.rack.lost.bytes();
        let window = self.reordering_window();
        let Sender { rack, history, board, una, max, .. } = self;
        let places = Places { history, board, una: *una, max: *max };
        let Verdict { look_again, lost_again } = rack.detect(now, window, &places);
        self.timers.reorder = look_again;
        if !self.rack.lost.is_empty() && self.repair.is_none() && self.loss_point.is_none() {
            self.start_rack_recovery(now, delivered);
        } else if let Some(sent) = lost_again {
            self.answer_lost_retransmission(now, sent);
        }
        self.rack.lost.bytes() > lost
    }

    fn reordering_window(&self) -> Span {
        let recovering = self.repair.is_some() || !self.loss_point.is_none();
        let smoothed = self.rtt.smoothed_s().map_or(Span::ZERO, Span::from_seconds);
        self.rack.window(recovering, self.board.bytes(), smoothed, self.mss)
    }

    fn start_rack_recovery(&mut self, now: Time, delivered: i64) {
        let flight = self.flight();
        self.reduce_for_loss();
        let prr = self.start_prr(flight, delivered);
        self.repair.set(Repair::Rack(RackRecovery { until: self.max, prr, answered: now }));
        self.probe.forget();
        self.timers.probe = Time::NEVER;
        self.timers.retransmit = now + self.rtt.timeout();
    }

    /// Section 6.3.
    pub(super) fn lose_at_timeout(&mut self, now: Time) {
        let window = self.reordering_window();
        let first = (self.una, self.una + self.first_hole());
        let Sender { rack, history, board, una, max, .. } = self;
        rack.lose_at_timeout(now, first, window, &Places { history, board, una: *una, max: *max });
        self.timers.reorder = Time::NEVER;
        self.probe.forget();
        self.timers.probe = Time::NEVER;
        self.resend = true;
    }
}

/// What is sent.
impl Sender {
    /// Bytes on their way: neither arrived nor lost.
    pub(super) fn pipe(&self) -> u64 {
        self.max - self.una - self.board.bytes() - self.rack.lost.bytes()
    }

    /// What is lost first, then new data, as recovery or the window allows.
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
        self.note_in_prr(len);
        Some(self.advance(now, len))
    }

    fn rack_allows(&self, len: u64) -> bool {
        match self.repair.get() {
            Some(Repair::Rack(RackRecovery { prr: Some(prr), .. })) => prr.allows(len),
            _ => self.pipe() + len <= self.window,
        }
    }

    fn note_in_prr(&mut self, len: u64) {
        if let Some(Repair::Rack(RackRecovery { prr: Some(prr), .. })) = self.repair.get_mut() {
            prr.sent(len);
        }
    }

    /// The first lost segment, whatever the window says.
    pub(super) fn resend_first_lost(&mut self, now: Time) -> Segment {
        let (from, to) = self.rack.lost.first().unwrap_or((self.una, self.una + self.first_hole()));
        self.resend(now, from, self.mss.min(to - from))
    }

    /// Bytes once more: section 6.1.
    pub(super) fn resend(&mut self, now: Time, from: u64, len: u64) -> Segment {
        let to = from + len;
        self.note_in_prr(len);
        self.rack.lost.remove(from, to);
        self.rack.again.add(from, to, now);
        self.data(now, from, len)
    }
}

/// Recoveries for which a window widened by D-SACKs is kept (section 6.2, step 4).
const RECOVERIES_KEPT: u8 = 16;
/// After everything that was sent.
const EVER: (Time, u64) = (Time::NEVER, u64::MAX);

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;
    const WAIT: Span = Span::from_millis(10);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Four segments, one each millisecond from the first on; what came of them is on the board.
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
        Rack { rtt: WAIT, latest: (at(3), 4 * MSS), ..Rack::new() }
    }

    #[test]
    fn what_was_overtaken_last_says_when_to_look_again() {
        let (history, board) = sent(&[(1, 2), (3, 4)]);
        let places = Places { history: &history, board: &board, una: 0, max: 4 * MSS };
        let mut rack = rack();
        assert_eq!(rack.detect(at(9), Span::ZERO, &places).look_again, at(2) + WAIT);
        assert!(rack.lost.is_empty());
        assert_eq!(rack.detect(at(10), Span::ZERO, &places).look_again, at(2) + WAIT);
        assert_eq!(rack.lost.iter().collect::<Vec<_>>(), [(0, MSS)]);
        assert_eq!(rack.detect(at(12), Span::ZERO, &places).look_again, Time::NEVER);
        assert_eq!(rack.lost.bytes(), 2 * MSS);
    }

    /// What was sent again after all that has arrived was not overtaken, though its first sending was.
    #[test]
    fn a_retransmission_is_not_waited_for_as_its_first_sending_is() {
        let (history, board) = sent(&[(1, 2), (3, 4)]);
        let places = Places { history: &history, board: &board, una: 0, max: 4 * MSS };
        let mut rack = rack();
        rack.again.add(2 * MSS, 3 * MSS, at(4));
        assert_eq!(rack.detect(at(9), Span::ZERO, &places).look_again, at(0) + WAIT);
        rack.again.add(0, MSS, at(5));
        assert_eq!(rack.detect(at(9), Span::ZERO, &places).look_again, Time::NEVER);
        assert_eq!(rack.detect(at(20), Span::ZERO, &places).look_again, Time::NEVER);
        assert!(rack.lost.is_empty());
    }

    /// Section 6.3: without anything that has arrived.
    #[test]
    fn a_timeout_takes_for_lost_what_is_older_than_a_round_trip() {
        let (history, board) = sent(&[]);
        let places = Places { history: &history, board: &board, una: 0, max: 4 * MSS };
        let mut rack = rack();
        rack.again.add(2 * MSS, 3 * MSS, at(9));
        rack.lose_at_timeout(at(12), (0, MSS), Span::ZERO, &places);
        assert_eq!(rack.lost.iter().collect::<Vec<_>>(), [(0, 2 * MSS)]);
        rack.lose_at_timeout(at(19), (0, MSS), Span::ZERO, &places);
        assert_eq!(rack.lost.iter().collect::<Vec<_>>(), [(0, 4 * MSS)]);
    }
}
