//! Processing of ACKs, and of retransmission timeouts.

use super::rack::NewlyDelivered;
use super::{Progress, RecoveryState, Scheme, Sender};
use crate::cc::{AckSample, CongestionControl, Curve, Signal};
use crate::opt_seq::OptSeq;
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Bytes, Span, Time};

/// Consequences of an ACK of new data.
pub(super) struct Effect {
    /// Restart the retransmission timer.
    pub(super) restart: bool,
    /// Grow the window.
    pub(super) grow: bool,
}

/// Input of the congestion control from an ACK of new data.
pub(super) struct NewAck {
    pub(super) now: Time,
    pub(super) acked: u64,
    pub(super) sample: Option<Span>,
    pub(super) marked: bool,
    /// FlightSize before the ACK, bytes.
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
        let same_window = !self.update_send_window(segment);
        let echo = self.ecn.agreed && self.on_ecn_feedback(now, segment);
        let (acked, before) = (ack - self.una, self.arrived());
        let rtt = match self.scheme {
            Scheme::Rack => self.on_ack_with_rack(now, segment, echo),
            Scheme::Selective | Scheme::Counted => self.on_ack_with_blocks(now, segment, echo),
            Scheme::Fast => self.on_plain_ack(now, segment, echo, same_window),
        };
        if self.ecn_prr().is_some() {
            self.reduce_evenly(self.arrived() - before, acked > 0);
        }
        self.arm_persist(now);
        if self.una == self.end_of_stream {
            self.release_memory();
        }
        Progress { acked, rtt }
    }

    /// All data acknowledged: free the recovery state.
    #[cold]
    fn release_memory(&mut self) {
        self.history.trim();
        self.board.trim();
        self.rack.trim();
        self.recovery.trim();
        if self.closing {
            // The window no longer matters.
            self.undo.clear();
        }
        self.undo.trim();
    }

    /// Updates the send window (RFC 9293, section 3.10.7.4), returning whether it has changed.
    fn update_send_window(&mut self, segment: &Segment) -> bool {
        let snd_edge = segment.ack.saturating_add(segment.window.into());
        // The window on a SYN is not scaled, so the first one after it does not count as a change.
        let moved = self.ack_seen && snd_edge - segment.ack != self.snd_edge.saturating_sub(self.una);
        self.ack_seen = true;
        self.snd_edge = snd_edge;
        self.persist.widest = self.persist.widest.max(segment.window);
        moved
    }

    /// Processes an ACK without SACK.
    fn on_plain_ack(&mut self, now: Time, segment: &Segment, echo: bool, same_window: bool) -> Option<Span> {
        let duplicate = segment.ack == self.una && self.una < self.max && same_window;
        let mut rtt = None;
        if segment.ack > self.una {
            rtt = self.on_new_ack(now, segment, echo);
        } else if duplicate && !self.detect_spurious(now, segment, &NewlyDelivered::default(), 0) {
            self.on_duplicate_ack(now);
        }
        rtt
    }

    /// Processes an ACK with SACK, but without RACK.
    fn on_ack_with_blocks(&mut self, now: Time, segment: &Segment, echo: bool) -> Option<Span> {
        let before = self.arrived();
        let news = self.update_scoreboard(segment);
        let duplicate = segment.ack == self.una && self.una < self.max;
        let mut rtt = None;
        if segment.ack > self.una {
            rtt = self.on_new_ack(now, segment, echo);
        } else if (duplicate && news) || segment.sack.duplicate(segment.ack).is_some() {
            self.detect_spurious(now, segment, &NewlyDelivered::default(), 0);
        }
        if news || self.recovery.is_some() {
            self.on_sack(now, news, duplicate, self.arrived() - before);
        }
        rtt
    }

    /// Bytes delivered. The increase by an ACK is `DeliveredData` of RFC 9937, negative if the receiver has discarded
    /// SACKed data.
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
        self.detect_reneging();
        let undone = self.detect_spurious(now, segment, &NewlyDelivered::default(), acked);
        let Effect { restart, grow } = match self.recovery.get() {
            None if self.config.profile.hole_hides_ack && self.reports_new_hole() => {
                Effect { restart: false, grow: false }
            }
            None => Effect { restart: true, grow: !undone },
            Some(&RecoveryState::Fast(fast)) => self.new_ack_in_fast_recovery(fast, acked),
            Some(&RecoveryState::Sack(sack)) => self.new_ack_in_sack_recovery(sack),
            Some(&RecoveryState::Counted(counted)) => self.new_ack_in_counted_recovery(counted),
            Some(RecoveryState::Rack(_)) => Effect { restart: true, grow: false },
        };
        if self.ecn.agreed || (grow && !echo) {
            self.update_cwnd(&NewAck { now, acked, sample: rtt, marked: echo, before }, grow && !echo);
        }
        if restart || self.una == self.max {
            self.restart_timer(now);
        }
        rtt
    }

    /// Returns whether the ACK shows a hole that no timeout has answered yet.
    fn reports_new_hole(&self) -> bool {
        !self.board.is_empty() && self.recovery_point.get().is_none_or(|point| self.una >= point)
    }

    /// Advances SND.UNA to `ack`.
    #[expect(clippy::inline_always, reason = "every ACK calls it once")]
    #[inline(always)]
    pub(super) fn advance_una(&mut self, ack: u64) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.resend = false;
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed_out_at = OptSeq::NONE;
        self.history.forget_below(ack);
        if !self.board.is_empty() {
            self.board.remove_below(ack);
        }
    }

    /// Passes an ACK of new data to the congestion control, and takes its window.
    #[expect(clippy::inline_always, reason = "every ACK calls it once")]
    #[inline(always)]
    pub(super) fn update_cwnd(&mut self, news: &NewAck, grow: bool) {
        let NewAck { now, acked, sample, marked, before } = *news;
        let grow = grow && !self.is_reducing_for_ecn();
        if grow && self.pipe_ack().is_some() {
            self.sample_pipe_ack(now);
        }
        let (flight, una, sent) = (self.flight(), self.una, self.max);
        let ack = AckSample { now, acked, flight, rtt: &self.rtt, sample, una, sent, marked };
        if self.ecn.agreed {
            self.cc.on_feedback(&ack);
            self.cwnd = self.cc.window().get();
        }
        if grow {
            // A window beyond the receiver's carries no information on the network.
            let is_used = self.cwnd < self.snd_edge.saturating_sub(self.una) && self.is_cwnd_limited(before);
            self.cwnd = self.cc.window_after(&ack, is_used).get();
        }
    }

    /// Passes a congestion signal to the congestion control and takes its window; a control of the catalogue never
    /// raises it.
    ///
    /// A window below a segment becomes one segment at a loss or a timeout (RFC 5681, section 3.1, the loss window).
    pub(super) fn signal(&mut self, signal: &Signal) {
        let most = self.cwnd.max(self.mss);
        self.cc.on_signal(signal);
        self.cwnd = self.cc.window().get();
        let is_custom = matches!(self.cc, Curve::Custom(_));
        debug_assert!(self.cwnd <= most || is_custom, "{signal:?}: {} B, {most} B before", self.cwnd);
    }

    /// Sets the window from outside the congestion control.
    pub(super) fn set_window(&mut self, window: u64) {
        let waited = self.awaits_timer();
        self.cc.set_window(Bytes::new(window));
        self.cwnd = self.cc.window().get();
        if waited && !self.awaits_timer() && self.una == self.max {
            // The window allows sending again, and no ACK is outstanding that could be missed.
            self.timers.retransmit = Time::NEVER;
        }
    }

    /// Takes the RTT sample of an ACK; `newly`: data delivered by it, from RACK.
    #[expect(clippy::inline_always, reason = "every ACK calls it once")]
    #[inline(always)]
    pub(super) fn measure(
        &mut self,
        now: Time,
        segment: &Segment,
        newly: Option<&NewlyDelivered>,
    ) -> Option<Span> {
        if self.timestamps {
            return self.measure_by_stamp(now, segment);
        }
        if self.times_all {
            let oldest = match newly {
                Some(newly) => newly.oldest.filter(|_| !newly.retransmitted),
                // Karn: the ACK of a retransmitted segment is ambiguous.
                None if self.una >= self.retransmitted_below => {
                    self.history.run_of(self.una).map(|run| run.at)
                }
                None => None,
            };
            let rtt = now.since(oldest?);
            self.take_sample(now, segment.ack, rtt);
            return Some(rtt);
        }
        // RFC 6298, section 3: one segment is timed at a time, never a retransmitted one (Karn).
        self.timed.get().filter(|end| *end <= segment.ack)?;
        self.timed = OptSeq::NONE;
        let rtt = now.since(self.timed_at);
        self.rtt.sample(&self.config.profile, now, rtt);
        self.adapt_rto_after_spurious(segment.ack, rtt);
        Some(rtt)
    }

    /// Takes a sample from each ACK of new data, retransmissions included (RFC 7323, section 4.1).
    fn measure_by_stamp(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        if !segment.flags.has(Flags::TIMESTAMP) || segment.ack == self.una {
            return None;
        }
        let rtt = Span::from_nanos(Stamp::at(now).nanos_since(segment.stamp));
        self.take_sample(now, segment.ack, rtt);
        Some(rtt)
    }

    /// Adds a sample, with the weight of one of many in a round trip (RFC 7323, appendix G) or its own.
    fn take_sample(&mut self, now: Time, ack: u64, rtt: Span) {
        let shared = self.config.profile.rtt_weight_shared;
        let expected = if shared { self.flight().div_ceil(2 * self.mss).max(1) } else { 1 };
        self.rtt.sample_one_of(expected as f64, &self.config.profile, now, rtt);
        self.probe.measured();
        self.adapt_rto_after_spurious(ack, rtt);
    }

    pub(super) fn restart_timer(&mut self, now: Time) {
        let running = self.una < self.max || self.awaits_timer();
        self.timers.retransmit = if running { now + self.rtt.timeout() } else { Time::NEVER };
    }

    /// Restarts from one segment after a timeout (RFC 6298, 5.4 to 5.6; RFC 5681, section 3.1).
    pub(super) fn retransmit_all(&mut self, now: Time) {
        self.start_frto();
        self.reduce_for_timeout();
        self.ecn.hold = false;
        self.end_ecn_prr();
        self.timed_out_at = OptSeq::some(self.una);
        self.recovery_point = OptSeq::some(self.max);
        self.recovery.clear();
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed = OptSeq::NONE;
        if self.scheme == Scheme::Rack {
            self.mark_lost_at_timeout(now);
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
