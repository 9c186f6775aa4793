//! Acknowledgments, and what a timeout does.

use super::rack::Heard;
use super::{Progress, Repair, Scheme, Sender};
use crate::cc::{AckSample, CongestionControl, Signal};
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
        Progress { acked, rtt }
    }

    /// RFC 9293, section 3.10.7.4: how far the receiver has room; says whether that is news.
    fn note_window(&mut self, segment: &Segment) -> bool {
        let edge = segment.ack.saturating_add(segment.window.into());
        // The window on a SYN is not scaled: the first one after it is no news.
        let moved = self.heard && edge - segment.ack != self.edge.saturating_sub(self.una);
        self.heard = true;
        self.edge = edge;
        moved
    }

    /// Without SACK.
    fn on_plain_ack(&mut self, now: Time, segment: &Segment, echo: bool, same_window: bool) -> Option<Span> {
        let duplicate = segment.ack == self.una && self.una < self.max && same_window;
        let mut rtt = None;
        if segment.ack > self.una {
            rtt = self.on_new_ack(now, segment, echo);
        } else if duplicate && !self.look_for_spurious(now, segment, &Heard::default(), 0, echo) {
            self.on_duplicate_ack(now);
        }
        rtt
    }

    /// With SACK, but without RACK.
    fn on_ack_with_blocks(&mut self, now: Time, segment: &Segment, echo: bool) -> Option<Span> {
        let sacked = self.board.bytes();
        let news = self.note_sack(segment);
        let arrived = self.board.bytes() - sacked;
        let duplicate = segment.ack == self.una && self.una < self.max;
        let mut rtt = None;
        // What the receiver had above is below the number now.
        let moved = (segment.ack - self.una) - self.board.bytes_below(segment.ack);
        if segment.ack > self.una {
            rtt = self.on_new_ack(now, segment, echo);
        } else if duplicate && news {
            self.look_for_spurious(now, segment, &Heard::default(), 0, echo);
        }
        if news || self.repair.is_some() {
            self.on_sack(now, news, duplicate, moved + arrived);
        }
        rtt
    }

    fn on_new_ack(&mut self, now: Time, segment: &Segment, echo: bool) -> Option<Span> {
        let acked = segment.ack - self.una;
        let before = self.flight();
        let rtt = self.measure(now, segment, None);
        self.advance_una(segment.ack);
        self.notice_reneging();
        let undone = self.look_for_spurious(now, segment, &Heard::default(), acked, echo);
        let Effect { restart, grow } = match self.repair {
            None if self.profile.hole_hides_ack && self.tells_of_hole() => {
                Effect { restart: false, grow: false }
            }
            None => Effect { restart: true, grow: !undone },
            Some(Repair::Fast(fast)) => self.new_ack_in_fast_recovery(fast, acked),
            Some(Repair::Sack(sack)) => self.new_ack_in_sack_recovery(sack),
            Some(Repair::Counted(counted)) => self.new_ack_in_counted_recovery(counted),
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
        !self.board.is_empty() && self.loss_point.is_none_or(|point| self.una >= point)
    }

    /// Everything below `ack` has arrived.
    pub(super) fn advance_una(&mut self, ack: u64) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.resend = false;
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed_out_at = None;
        if self.profile.time_all {
            self.history.forget_below(ack);
        }
        if !self.board.is_empty() {
            self.board.remove_below(ack);
        }
    }

    /// Tells the congestion control of an ACK of new data.
    pub(super) fn tell_of_ack(&mut self, news: &AckNews, grow: bool) {
        let AckNews { now, acked, sample, marked, before } = *news;
        if grow && self.usage.is_some() {
            self.note_usage(now);
        }
        let (flight, una, sent) = (self.flight(), self.una, self.max);
        let ack = AckSample { now, acked, flight, rtt: &self.rtt, sample, una, sent, marked };
        if self.ecn.agreed {
            self.cc.on_feedback(&ack);
        }
        if grow {
            // A window that the receiver cannot use says nothing of the network.
            if self.window < self.edge.saturating_sub(self.una) && self.window_is_used(before) {
                self.cc.on_ack(&ack);
            } else {
                self.cc.on_unused(&ack);
            }
            self.window = self.cc.window().get();
        }
    }

    /// Tells the congestion control.
    pub(super) fn tell(&mut self, signal: &Signal) {
        self.cc.on_signal(signal);
        self.window = self.cc.window().get();
    }

    /// Sets the window, for a reason that is not the congestion control's.
    pub(super) fn set_window(&mut self, window: u64) {
        self.cc.set_window(Bytes::new(window));
        self.window = self.cc.window().get();
    }

    /// A segment is taken for lost: the window is reduced, once for all losses in it.
    pub(super) fn reduce_for_loss(&mut self) {
        // A window that ECN has reduced already is not reduced again for a loss in it. The segment
        // that starts at the point carries CWR: its loss is a new instance (RFC 3168, section 6.1.2).
        if self.ecn.point.is_none_or(|point| self.una >= point) {
            self.save_for_undo(false);
            // RFC 5681, section 3.2, step 2: without what limited transmit sent.
            let flight = match self.scheme {
                Scheme::Rack => self.flight().min(self.window),
                Scheme::Selective if self.halves_pipe() => self.unrepaired_pipe(),
                _ => self.flight() - self.beyond_window,
            };
            self.tell(&Signal::Loss { flight });
            self.cut_unvalidated(flight);
            self.ecn.cwr_due = self.ecn.agreed;
            self.ecn.timeout_last = false;
        }
        self.loss_point = Some(self.max);
        self.resend = true;
        self.timed = None;
    }

    /// The round-trip time that an ACK shows; `heard`: what RACK made of it.
    pub(super) fn measure(&mut self, now: Time, segment: &Segment, heard: Option<&Heard>) -> Option<Span> {
        if self.timestamps {
            return self.measure_by_stamp(now, segment);
        }
        if self.profile.time_all {
            let oldest = match heard {
                Some(heard) => heard.oldest.filter(|_| !heard.again),
                // Karn: the ACK of a segment sent twice could be for either.
                None if self.una >= self.resent_below => self.history.run_of(self.una).map(|run| run.at),
                None => None,
            };
            let rtt = now.since(oldest?);
            self.take_sample(segment.ack, rtt);
            return Some(rtt);
        }
        // RFC 6298, section 3: one segment is timed at a time, never one that was sent twice (Karn).
        let (_, sent) = self.timed.take_if(|(end, _)| *end <= segment.ack)?;
        let rtt = now.since(sent);
        self.rtt.sample(rtt);
        self.adapt_after_spike(segment.ack, rtt);
        Some(rtt)
    }

    /// RFC 7323, section 4.1: every ACK for new data is a sample, retransmissions too.
    fn measure_by_stamp(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        if !segment.flags.has(Flags::TIMESTAMP) || segment.ack == self.una {
            return None;
        }
        let rtt = Span::from_nanos(Stamp::at(now).nanos_since(segment.stamp));
        self.take_sample(segment.ack, rtt);
        Some(rtt)
    }

    /// One of many samples in a round trip (RFC 7323, appendix G), or each for itself.
    fn take_sample(&mut self, ack: u64, rtt: Span) {
        let shared = self.profile.rtt_weight_shared;
        let expected = if shared { self.flight().div_ceil(2 * self.mss).max(1) } else { 1 };
        self.rtt.sample_one_of(expected as f64, rtt);
        self.probe.measured();
        self.adapt_after_spike(ack, rtt);
    }

    pub(super) fn restart_timer(&mut self, now: Time) {
        let running = self.una < self.max || self.ecn.hold;
        self.timers.retransmit = if running { now + self.rtt.timeout() } else { Time::NEVER };
    }

    /// RFC 6298, (5.4) to (5.6), and RFC 5681, section 3.1: start again from one segment.
    pub(super) fn retransmit_all(&mut self, now: Time) {
        let reduced = self.ecn.point.is_some_and(|point| self.una < point) && !self.ecn.timeout_last;
        let again = self.timed_out_at == Some(self.una) || reduced;
        self.start_frto();
        if self.repair.is_some() {
            self.forget_undo();
        } else if !again {
            self.save_for_undo(true);
        }
        // RFC 5681, equation (4), says "no more than": a retransmission that is lost stops the ACKs, not
        // the duplicates, and for each of them a new segment was sent. Those of them have left the network.
        let most = if self.repair.is_some() { self.window } else { u64::MAX };
        self.tell(&Signal::Timeout { flight: self.flight().min(most), again });
        self.settle_after_recovery();
        self.ecn.cwr_due = self.ecn.agreed;
        self.ecn.hold = false;
        self.ecn.timeout_last = true;
        self.timed_out_at = Some(self.una);
        self.loss_point = Some(self.max);
        self.repair = None;
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed = None;
        if self.scheme == Scheme::Rack {
            self.lose_at_timeout(now);
        } else {
            if self.profile.timeout_forgets_sack {
                self.board.clear();
            }
            self.nxt = self.una;
        }
        self.rtt.back_off();
        self.timers.retransmit = now + self.rtt.timeout();
    }
}
