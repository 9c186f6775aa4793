//! Acknowledgments, and what a timeout does.

use super::rack::Heard;
use super::{Progress, Repair, Scheme, Sender};
use crate::cc::{AckSample, CongestionControl, Curve, Signal};
use crate::mark::Mark;
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Bytes, Span, Time};

/// What an ACK of new data does beside moving on.
pub(super) struct Effect {
    /// The timer starts again.
    pub(super) restart: bool,
    /// The window grows.
    pub(super) grow: bool,
}

/// What an ACK of new data tells the congestion control.
pub(super) struct AckNews {
    pub(super) now: Time,
    pub(super) acked: u64,
    pub(super) sample: Option<Span>,
    pub(super) marked: bool,
    /// Bytes that were outstanding before it.
    pub(super) before: u64,
}

impl Sender {
    pub(super) fn on_ack(&mut self, now: Time, segment: &Segment) -> Progress {
        if segment.flags.has(Flags::FIN) {
            self.on_fin();
        }
        let ack = segment.ack;
        if ack > self.max {
            self.accept_probe(ack);
        }
        if ack < self.una || ack > self.max {
            return Progress::default();
        }
        let same_window = !self.note_window(segment);
        let echo = self.ecn.agreed && self.note_echo(now, segment);
        let acked = ack - self.una;
        let rtt = match self.scheme {
            Scheme::Rack => self.on_ack_with_rack(now, segment, echo),
            Scheme::Selective | Scheme::Counted => self.on_ack_with_blocks(now, segment, echo),
            Scheme::Fast => self.on_plain_ack(now, segment, echo, same_window),
        };
        self.arm_persist(now);
        if self.una == self.end_of_stream {
            self.rest();
        }
        Progress { acked, rtt }
    }

    /// All that there is has arrived: what is held on the heap for the next loss is given up.
    #[cold]
    fn rest(&mut self) {
        self.history.trim();
        self.board.trim();
        self.rack.trim();
        self.repair.trim();
        if self.closing {
            // No window matters any more.
            self.undo.clear();
        }
        self.undo.trim();
    }

    /// RFC 9293, section 3.10.7.4: how far the receiver has room; says whether that is news.
    fn note_window(&mut self, segment: &Segment) -> bool {
        let edge = segment.ack.saturating_add(segment.window.into());
        // The window on a SYN is not scaled: the first one after it is no news.
        let moved = self.heard && edge - segment.ack != self.edge.saturating_sub(self.una);
        self.heard = true;
        self.edge = edge;
        self.persist.widest = self.persist.widest.max(segment.window);
        moved
    }

    /// Without SACK.
    fn on_plain_ack(&mut self, now: Time, segment: &Segment, echo: bool, same_window: bool) -> Option<Span> {
        let duplicate = segment.ack == self.una && self.una < self.max && same_window;
        let mut rtt = None;
        if segment.ack > self.una {
            rtt = self.on_new_ack(now, segment, echo);
        } else if duplicate && !self.look_for_spurious(now, segment, &Heard::default(), 0) {
            self.on_duplicate_ack(now);
        }
        rtt
    }

    /// With SACK, but without RACK.
    fn on_ack_with_blocks(&mut self, now: Time, segment: &Segment, echo: bool) -> Option<Span> {
        let before = self.arrived();
        let news = self.note_sack(segment);
        let duplicate = segment.ack == self.una && self.una < self.max;
        let mut rtt = None;
        if segment.ack > self.una {
            rtt = self.on_new_ack(now, segment, echo);
        } else if (duplicate && news) || segment.sack.duplicate(segment.ack).is_some() {
            self.look_for_spurious(now, segment, &Heard::default(), 0);
        }
        if news || self.repair.is_some() {
            self.on_sack(now, news, duplicate, self.arrived() - before);
        }
        rtt
    }

    /// Bytes that have arrived. What an ACK adds is `DeliveredData` of RFC 9937: where the receiver has thrown away
    /// what it had SACKed, less than nothing.
    pub(super) fn arrived(&self) -> i64 {
        (self.una + self.board.bytes()) as i64
    }

    #[expect(clippy::inline_always, reason = "every ACK calls it once")]
    #[inline(always)]
    fn on_new_ack(&mut self, now: Time, segment: &Segment, echo: bool) -> Option<Span> {
        let acked = segment.ack - self.una;
        let before = self.flight();
        let rtt = self.measure(now, segment, None);
        self.advance_una(segment.ack);
        self.notice_reneging();
        let undone = self.look_for_spurious(now, segment, &Heard::default(), acked);
        let Effect { restart, grow } = match self.repair.get() {
            None if self.config.profile.hole_hides_ack && self.tells_of_hole() => {
                Effect { restart: false, grow: false }
            }
            None => Effect { restart: true, grow: !undone },
            Some(&Repair::Fast(fast)) => self.new_ack_in_fast_recovery(fast, acked),
            Some(&Repair::Sack(sack)) => self.new_ack_in_sack_recovery(sack),
            Some(&Repair::Counted(counted)) => self.new_ack_in_counted_recovery(counted),
            Some(Repair::Rack(_)) => Effect { restart: true, grow: false },
        };
        if self.ecn.agreed || (grow && !echo) {
            self.tell_of_ack(&AckNews { now, acked, sample: rtt, marked: echo, before }, grow && !echo);
        }
        if restart || self.una == self.max {
            self.restart_timer(now);
        }
        rtt
    }

    /// Something is missing, and no timeout has said so before.
    fn tells_of_hole(&self) -> bool {
        !self.board.is_empty() && self.loss_point.get().is_none_or(|point| self.una >= point)
    }

    /// Everything below `ack` has arrived.
    #[expect(clippy::inline_always, reason = "every ACK calls it once")]
    #[inline(always)]
    pub(super) fn advance_una(&mut self, ack: u64) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.resend = false;
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed_out_at = Mark::NONE;
        self.history.forget_below(ack);
        if !self.board.is_empty() {
            self.board.remove_below(ack);
        }
    }

    /// Tells the congestion control of an ACK of new data.
    #[expect(clippy::inline_always, reason = "every ACK calls it once")]
    #[inline(always)]
    pub(super) fn tell_of_ack(&mut self, news: &AckNews, grow: bool) {
        let AckNews { now, acked, sample, marked, before } = *news;
        if grow && self.usage.is_some() {
            self.note_usage(now);
        }
        let (flight, una, sent) = (self.flight(), self.una, self.max);
        let ack = AckSample { now, acked, flight, rtt: &self.rtt, sample, una, sent, marked };
        if self.ecn.agreed {
            self.cc.on_feedback(&ack);
            self.window = self.cc.window().get();
        }
        if grow {
            // A window that the receiver cannot use says nothing of the network.
            let is_used = self.window < self.edge.saturating_sub(self.una) && self.window_is_used(before);
            self.window = self.cc.window_after(&ack, is_used).get();
        }
    }

    /// Tells the congestion control to reduce the window, which congestion never raises.
    ///
    /// A window below a segment becomes one at a loss or a timeout (RFC 5681, section 3.1, the loss window).
    pub(super) fn tell(&mut self, signal: &Signal) {
        let most = self.window.max(self.mss);
        self.cc.on_signal(signal);
        self.window = self.cc.window().get();
        let of_guest = matches!(self.cc, Curve::Guest(_));
        debug_assert!(self.window <= most || of_guest, "{signal:?}: {} B, {most} B before", self.window);
    }

    /// Sets the window, for a reason that is not the congestion control's.
    pub(super) fn set_window(&mut self, window: u64) {
        let waited = self.waits_for_timer();
        self.cc.set_window(Bytes::new(window));
        self.window = self.cc.window().get();
        if waited && !self.waits_for_timer() && self.una == self.max {
            // There is enough again to send with, and nothing that an ACK could be missing of.
            self.timers.retransmit = Time::NEVER;
        }
    }

    /// The round-trip time that an ACK shows; `heard`: what RACK made of it.
    #[expect(clippy::inline_always, reason = "every ACK calls it once")]
    #[inline(always)]
    pub(super) fn measure(&mut self, now: Time, segment: &Segment, heard: Option<&Heard>) -> Option<Span> {
        if self.timestamps {
            return self.measure_by_stamp(now, segment);
        }
        if self.times_all {
            let oldest = match heard {
                Some(heard) => heard.oldest.filter(|_| !heard.again),
                // Karn: the ACK of a segment sent twice could be for either.
                None if self.una >= self.resent_below => self.history.run_of(self.una).map(|run| run.at),
                None => None,
            };
            let rtt = now.since(oldest?);
            self.take_sample(now, segment.ack, rtt);
            return Some(rtt);
        }
        // RFC 6298, section 3: one segment is timed at a time, never one that was sent twice (Karn).
        self.timed.get().filter(|end| *end <= segment.ack)?;
        self.timed = Mark::NONE;
        let rtt = now.since(self.timed_at);
        self.rtt.sample(&self.config.profile, now, rtt);
        self.adapt_after_spike(segment.ack, rtt);
        Some(rtt)
    }

    /// RFC 7323, section 4.1: every ACK for new data is a sample, retransmissions too.
    fn measure_by_stamp(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        if !segment.flags.has(Flags::TIMESTAMP) || segment.ack == self.una {
            return None;
        }
        let rtt = Span::from_nanos(Stamp::at(now).nanos_since(segment.stamp));
        self.take_sample(now, segment.ack, rtt);
        Some(rtt)
    }

    /// One of many samples in a round trip (RFC 7323, appendix G), or each for itself.
    fn take_sample(&mut self, now: Time, ack: u64, rtt: Span) {
        let shared = self.config.profile.rtt_weight_shared;
        let expected = if shared { self.flight().div_ceil(2 * self.mss).max(1) } else { 1 };
        self.rtt.sample_one_of(expected as f64, &self.config.profile, now, rtt);
        self.probe.measured();
        self.adapt_after_spike(ack, rtt);
    }

    pub(super) fn restart_timer(&mut self, now: Time) {
        let running = self.una < self.max || self.waits_for_timer();
        self.timers.retransmit = if running { now + self.rtt.timeout() } else { Time::NEVER };
    }

    /// RFC 6298, (5.4) to (5.6), and RFC 5681, section 3.1: start again from one segment.
    pub(super) fn retransmit_all(&mut self, now: Time) {
        self.start_frto();
        self.answer_timeout();
        self.ecn.hold = false;
        self.timed_out_at = Mark::at(self.una);
        self.loss_point = Mark::at(self.max);
        self.repair.clear();
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed = Mark::NONE;
        if self.scheme == Scheme::Rack {
            self.lose_at_timeout(now);
        } else {
            if self.config.profile.timeout_forgets_sack {
                self.board.clear();
            }
            self.nxt = self.una;
        }
        self.rtt.back_off(&self.config.profile);
        self.timers.retransmit = now + self.rtt.timeout();
    }
}
