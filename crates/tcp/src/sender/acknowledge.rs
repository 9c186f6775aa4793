//! Acknowledgments and the timer.

use super::{Progress, Repair, Sender};
use crate::cc::{AckSample, CongestionControl, Recovery, Signal};
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
struct AckNews {
    now: Time,
    acked: u64,
    sample: Option<Span>,
    marked: bool,
}

impl Sender {
    pub(super) fn on_ack(&mut self, now: Time, segment: &Segment) -> Progress {
        let ack = segment.ack;
        if ack < self.una || ack > self.max {
            return Progress::default();
        }
        let echo = self.ecn.agreed && self.note_echo(now, segment);
        let news = self.recovery == Recovery::Sack && self.note_sack(segment);
        let duplicate = ack == self.una && self.una < self.max;
        let progress = if ack > self.una { self.on_new_ack(now, segment, echo) } else { Progress::default() };
        match self.recovery {
            Recovery::Sack if news || self.repair.is_some() => self.on_sack(now, news, duplicate),
            Recovery::Reno | Recovery::NewReno if duplicate => self.on_duplicate_ack(now),
            Recovery::Sack | Recovery::Reno | Recovery::NewReno => {}
        }
        progress
    }

    fn on_new_ack(&mut self, now: Time, segment: &Segment, echo: bool) -> Progress {
        let ack = segment.ack;
        let acked = ack - self.una;
        let rtt = self.measure(now, segment);
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed_out_at = None;
        if !self.board.is_empty() {
            self.board.advance(ack);
        }
        let Effect { restart, grow } = match self.repair {
            None => Effect { restart: true, grow: true },
            Some(Repair::Fast(fast)) => self.new_ack_in_fast_recovery(fast, acked),
            Some(Repair::Sack(sack)) => self.new_ack_in_sack_recovery(sack),
            Some(Repair::Counted(counted)) => self.new_ack_in_counted_recovery(counted),
        };
        if self.ecn.agreed || (grow && !echo) {
            self.tell_of_ack(AckNews { now, acked, sample: rtt, marked: echo }, grow && !echo);
        }
        if restart || self.una == self.max {
            self.restart_timer(now);
        }
        Progress { acked, rtt }
    }

    /// Tells the congestion control of an ACK of new data.
    fn tell_of_ack(&mut self, news: AckNews, grow: bool) {
        let AckNews { now, acked, sample, marked } = news;
        let (flight, una, sent) = (self.flight(), self.una, self.max);
        let ack = AckSample { now, acked, flight, rtt: &self.rtt, sample, una, sent, marked };
        if self.ecn.agreed {
            self.cc.on_feedback(&ack);
        }
        // A window that the receiver cannot use says nothing of the network.
        if grow && self.window < self.room {
            self.cc.on_ack(&ack);
            self.window = self.cc.window().get();
        }
    }

    /// Sets the window, for a reason that is not the congestion control's.
    pub(super) fn set_window(&mut self, window: u64) {
        self.cc.set_window(Bytes::new(window));
        self.window = self.cc.window().get();
    }

    /// Tells the congestion control.
    pub(super) fn tell(&mut self, signal: &Signal) {
        self.cc.on_signal(signal);
        self.window = self.cc.window().get();
    }

    /// A segment is taken for lost: the window is reduced, once for all losses in it.
    pub(super) fn reduce_for_loss(&mut self) {
        // A window that ECN has reduced already is not reduced again for a loss in it. The segment
        // that starts at the point carries CWR: its loss is a new instance (RFC 3168, section 6.1.2).
        if self.ecn.point.is_none_or(|point| self.una >= point) {
            self.tell(&Signal::Loss { flight: self.flight() - self.beyond_window });
            self.ecn.cwr_due = self.ecn.agreed;
            self.ecn.timeout_last = false;
        }
        self.loss_point = Some(self.max);
        self.resend = true;
        self.timed = None;
    }

    fn measure(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        if self.timestamps {
            return self.measure_by_stamp(now, segment);
        }
        // RFC 6298, section 3: one segment is timed at a time, never one that was sent twice (Karn).
        let (_, sent) = self.timed.take_if(|(end, _)| *end <= segment.ack)?;
        let rtt = now.since(sent);
        self.rtt.sample(rtt);
        Some(rtt)
    }

    /// RFC 7323, section 4.1: every ACK for new data is a sample, retransmissions too.
    fn measure_by_stamp(&mut self, now: Time, segment: &Segment) -> Option<Span> {
        if !segment.flags.has(Flags::TIMESTAMP) {
            return None;
        }
        let rtt = Span::from_nanos(Stamp::at(now).nanos_since(segment.stamp));
        let expected = self.flight().div_ceil(2 * self.mss).max(1);
        self.rtt.sample_one_of(expected as f64, rtt);
        Some(rtt)
    }

    fn restart_timer(&mut self, now: Time) {
        let running = self.una < self.max || self.ecn.hold;
        self.deadline = running.then(|| now + self.rtt.timeout());
    }

    /// RFC 6298, (5.4) to (5.6), and RFC 5681, section 3.1: start again from one segment.
    pub(super) fn retransmit_all(&mut self, now: Time) {
        let reduced = self.ecn.point.is_some_and(|point| self.una < point) && !self.ecn.timeout_last;
        let again = self.timed_out_at == Some(self.una) || reduced;
        // RFC 5681, equation (4), says "no more than": a retransmission that is lost stops the ACKs, not
        // the duplicates, and for each of them a new segment was sent. Those of them have left the network.
        let most = if self.repair.is_some() { self.window } else { u64::MAX };
        self.tell(&Signal::Timeout { flight: self.flight().min(most), again });
        self.ecn.cwr_due = self.ecn.agreed;
        self.ecn.hold = false;
        self.ecn.timeout_last = true;
        self.timed_out_at = Some(self.una);
        self.loss_point = Some(self.max);
        self.repair = None;
        self.board.clear();
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed = None;
        self.nxt = self.una;
        self.rtt.back_off();
        self.deadline = Some(now + self.rtt.timeout());
    }
}
