//! The receiving side: reassembly, acknowledgments, window, ECN echo, teardown.

mod ecn;
mod reassembly;
mod stamp;
mod teardown;
#[cfg(test)]
mod tests;
mod window;

use crate::opt_seq::OptSeq;
use crate::segment::{Flags, Segment};
use crate::sender::Config;
use ecn::Echo;
use reassembly::Reassembly;
use sojourn_units::Time;
use stamp::Recent;
use std::sync::Arc;
use teardown::Stage;
use window::Window;

/// Receiver: the peer of a [`Sender`](crate::Sender), with the application that reads.
#[derive(Clone, Debug)]
pub struct Receiver {
    stage: Stage,
    arrived: Reassembly,
    /// `Last.ACK.sent`: number of the last ACK.
    acknowledged: u64,
    /// RMSS: largest payload seen, which counts as a full-sized segment.
    rmss: u16,
    echo: Echo,
    sack: bool,
    /// Retransmissions of our FIN.
    fin_retransmits: u8,
    /// Segments still to be acknowledged one by one.
    quick_acks: u16,
    /// Bytes that may wait for a delayed ACK.
    ack_above: u64,
    /// Time of the next ACK; NEVER if none is due.
    ack_due: Time,
    window: Window,
    recent: Recent,
    /// Sequence number of the sender's FIN.
    fin: OptSeq,
    /// Time of the next retransmission of our FIN.
    fin_due: Time,
    config: Arc<Config>,
}

impl Receiver {
    /// Creates a receiver before its first segment, for a sender of the same `config`.
    ///
    /// It agrees to SACK, timestamps and window scaling if the sender requests them, to the last if the profile has
    /// it. Flows of one kind may share their configuration.
    pub fn new(config: impl Into<Arc<Config>>) -> Receiver {
        let config = config.into();
        let profile = &config.profile;
        let mss = config.payload();
        let buffer = profile.receive_window.saturating_mul(u64::from(mss));
        Receiver {
            stage: Stage::Listen,
            arrived: Reassembly::new(),
            acknowledged: 0,
            rmss: 0,
            echo: Echo::new(config.ecn, config.cc.feedback(), profile.ect_on_retransmit),
            sack: false,
            fin_retransmits: 0,
            quick_acks: if profile.delayed_ack { profile.quick_acks as u16 } else { 0 },
            ack_above: 0,
            ack_due: Time::NEVER,
            window: Window::new(buffer, mss, config.reads),
            recent: Recent::default(),
            fin: OptSeq::NONE,
            fin_due: Time::NEVER,
            config,
        }
    }

    /// Processes a segment, returning an ACK to send now.
    ///
    /// If two ACKs are to be sent, the second is due at once.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        if self.is_expected(now, segment) {
            self.on_expected(now, segment)
        } else {
            self.on_slow_path(now, segment)
        }
    }

    /// Time of the next segment to send without an arrival.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        let usual = self.stage <= Stage::Ending && self.window.reads_immediately();
        let due = if usual { self.ack_due } else { self.due() };
        (due < Time::NEVER).then_some(due)
    }

    fn due(&self) -> Time {
        let next = self.arrived.next;
        match self.stage {
            Stage::LastAck => self.fin_due,
            Stage::CloseWait => self.window.read_at(next, next),
            _ => self.ack_due.min(self.window.update_due_at(next)),
        }
    }

    /// Handles the expiry of [`next_timeout`](Self::next_timeout).
    pub fn on_timeout(&mut self, now: Time) -> Option<Segment> {
        self.next_timeout().filter(|due| *due <= now)?;
        match self.stage {
            Stage::LastAck => self.retransmit_fin(now),
            Stage::CloseWait => Some(self.close(now)),
            _ => Some(self.acknowledge(now, None)),
        }
    }

    /// Reads a word of every cache line that a segment needs, as a prefetch.
    #[doc(hidden)]
    #[inline]
    pub fn nearby(&self) -> u64 {
        self.arrived.next ^ self.window.edge ^ self.fin_due.nanos() ^ u64::from(self.rmss)
    }

    /// Bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.arrived.next
    }

    /// Bytes received in order that the application has read by `now`; None if it reads at once.
    pub fn read_by(&self, now: Time) -> Option<u64> {
        self.config.reads.map(|_| self.window.read(now, self.arrived.next))
    }

    /// Stops the application from reading, other than by [`read`](Self::read).
    pub fn stop_reading(&mut self, now: Time) {
        self.window.read_more(now, self.arrived.next, 0);
    }

    /// Reads `bytes` of the data received, and stops reading until called again; returns a window update to send now.
    pub fn read(&mut self, now: Time, bytes: u64) -> Option<Segment> {
        let next = self.arrived.next;
        self.window.read_more(now, next, bytes);
        match self.stage {
            Stage::CloseWait if self.window.read(now, next) == next => Some(self.close(now)),
            Stage::Established | Stage::Ending if self.window.update_due(now, next) => {
                Some(self.acknowledge(now, None))
            }
            _ => None,
        }
    }
}

/// Processing of segments.
impl Receiver {
    #[cold]
    fn on_slow_path(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        if segment.flags.has(Flags::SYN) {
            return Some(self.on_syn(now, segment));
        }
        if !self.advance_stage(segment) {
            return None;
        }
        if segment.end() == segment.seq {
            return self.on_bare(now, segment);
        }
        if self.recent.misses(segment) {
            return None;
        }
        if self.is_expected(now, segment) {
            // The first data.
            return self.on_expected(now, segment);
        }
        Some(self.on_out_of_order(now, segment))
    }

    fn on_syn(&mut self, now: Time, syn: &Segment) -> Segment {
        if !matches!(self.stage, Stage::Listen | Stage::SynReceived) {
            // An old SYN: RFC 9293, section 3.10.7.4, fourth.
            return self.acknowledge(now, None);
        }
        self.stage = Stage::SynReceived;
        self.echo.agreed &= syn.flags.has(Flags::ECE | Flags::CWR);
        self.sack = syn.flags.has(Flags::SACK);
        self.recent = Recent::of_syn(now, syn);
        let scaled = self.config.profile.window_scaling && syn.flags.has(Flags::SCALE);
        let (window, scale) = self.window.agree(scaled);
        let flags = (Flags::SYN | Flags::ACK)
            .with(Flags::ECE, self.echo.agreed)
            .with(Flags::SACK, self.sack)
            .with(Flags::TIMESTAMP, self.recent.agreed)
            .with(Flags::SCALE, scaled);
        Segment { flags, stamp: self.recent.stamp, window, scale, ..Segment::default() }
    }

    /// Advances the stage of the connection, returning whether to process the segment further.
    fn advance_stage(&mut self, segment: &Segment) -> bool {
        match self.stage {
            Stage::SynReceived => self.stage = Stage::Established,
            Stage::LastAck if segment.flags.has(Flags::ACK) && segment.ack == AFTER_FIN => {
                self.stage = Stage::Closed;
            }
            _ => {}
        }
        self.stage != Stage::Listen
    }

    /// Answers a segment without sequence numbers only if it is unacceptable (RFC 9293, section 3.10.7.4, first).
    fn on_bare(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        let in_place = (self.expected()..=self.window.edge.max(self.expected())).contains(&segment.seq);
        (!in_place).then(|| self.acknowledge(now, None))
    }

    /// Common case: expected data, no gap behind it, and nothing else.
    fn is_expected(&self, now: Time, segment: &Segment) -> bool {
        segment.seq == self.arrived.next
            && self.stage == Stage::Established
            && self.arrived.is_in_order()
            && segment.len > 0
            && segment.end() <= self.window.edge
            && !(segment.flags.has(Flags::SYN) || segment.flags.has(Flags::FIN))
            && !(self.recent.agreed && (self.recent.misses(segment) || self.recent.outdates(now, segment)))
    }

    #[inline]
    fn on_expected(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        if self.echo.changes(segment) {
            return Some(self.on_ce_change(now, segment));
        }
        self.take_next(now, segment);
        // RFC 5681, section 4.2: an ACK for every second full-sized segment. Full-sized is the largest segment seen;
        // if the sender sends less for want of data, an ACK covers more than one of them.
        let waiting = self.arrived.next - self.acknowledged;
        let quick = self.quick_acks > 0;
        self.quick_acks = self.quick_acks.saturating_sub(1);
        if quick || waiting > self.ack_above || self.window.update_due(now, self.arrived.next) {
            return Some(self.acknowledge(now, None));
        }
        // The delay counts from the arrival of the first unacknowledged segment.
        if self.ack_due == Time::NEVER {
            self.ack_due = now + self.config.profile.ack_delay;
        }
        None
    }

    #[inline]
    fn take_next(&mut self, now: Time, segment: &Segment) {
        self.take_in(now, segment);
        self.arrived.next = segment.end();
    }

    /// Takes in the other fields of a segment whose data is accepted.
    #[inline]
    fn take_in(&mut self, now: Time, segment: &Segment) {
        self.echo.note(segment);
        if self.recent.agreed {
            self.recent.note(now, segment, self.acknowledged);
        }
        self.window.settle(now, self.arrived.next);
        if segment.len > self.rmss {
            self.rmss = segment.len;
            self.ack_above = u64::from(self.config.profile.segments_per_ack() - 1) * u64::from(self.rmss);
        }
    }

    /// Sends an ACK at once when CE begins or ends, and another for earlier data in its state if one is due (RFC 8257,
    /// section 3.2).
    #[cold]
    fn on_ce_change(&mut self, now: Time, segment: &Segment) -> Segment {
        let earlier = (self.arrived.next > self.acknowledged).then(|| self.acknowledge(now, None));
        self.take_next(now, segment);
        match earlier {
            Some(earlier) => {
                self.ack_due = now;
                earlier
            }
            None => self.acknowledge(now, None),
        }
    }

    /// Acknowledges at once data that is out of order, fills a gap, is duplicate, finds no room or ends the stream
    /// (RFC 5681, section 4.2; RFC 9293, section 3.10.7.4).
    #[cold]
    fn on_out_of_order(&mut self, now: Time, segment: &Segment) -> Segment {
        let duplicate = self.duplicate(segment);
        if !self.accepts(segment) || (self.recent.agreed && self.recent.outdates(now, segment)) {
            // RFC 3168, section 6.1.6: a mark on a window probe counts.
            let probe = segment.seq == self.expected() && segment.seq == self.window.edge;
            self.echo.note_outside(segment, probe);
            return self.acknowledge(now, duplicate);
        }
        self.take_in(now, segment);
        let end = self.fin.get().unwrap_or(u64::MAX).min(self.window.edge);
        let to = end.min(segment.seq + u64::from(segment.len));
        if segment.flags.has(Flags::FIN) {
            self.note_fin(segment);
        }
        if segment.seq < to {
            self.arrived.insert(segment.seq, to, self.config.profile.receive_window);
        }
        if self.is_complete() { self.close(now) } else { self.acknowledge(now, duplicate) }
    }

    /// Returns whether a part of the segment lies in the window (RFC 9293, section 3.10.7.4, table 6).
    fn accepts(&self, segment: &Segment) -> bool {
        let (next, edge) = (self.arrived.next, self.window.edge);
        self.stage <= Stage::Ending && segment.seq < edge && next < edge.min(segment.end())
    }

    /// First run of duplicate bytes of a segment.
    fn duplicate(&self, segment: &Segment) -> Option<(u64, u64)> {
        let (from, expected) = (segment.seq, self.expected());
        if from < expected {
            return Some((from, segment.end().min(expected)));
        }
        self.arrived.held(from, from.saturating_add(u64::from(segment.len)))
    }
}

/// Acknowledgments.
impl Receiver {
    /// RCV.NXT: next sequence number expected, FIN included.
    fn expected(&self) -> u64 {
        self.arrived.next + u64::from(self.stage >= Stage::CloseWait)
    }

    /// Builds an ACK, with the duplicate data of the segment that it answers.
    #[inline]
    fn acknowledge(&mut self, now: Time, duplicate: Option<(u64, u64)>) -> Segment {
        self.ack_due = Time::NEVER;
        let next = self.expected();
        self.acknowledged = next;
        let mut ack = Segment {
            ack: next,
            window: self.window.advertise(now, next),
            flags: Flags::ACK.with(Flags::ECE, self.echo.take()),
            ..Segment::default()
        };
        if self.recent.agreed {
            ack.stamp = self.recent.stamp;
            ack.flags = ack.flags | Flags::TIMESTAMP;
        }
        let duplicate = duplicate.filter(|_| self.config.profile.dsack);
        if self.sack && (duplicate.is_some() || !self.arrived.is_in_order()) {
            ack.sack = self.arrived.report(next, duplicate);
            ack.flags = ack.flags.with(Flags::SACK, self.config.profile.sack_takes_room);
        }
        if self.stage >= Stage::LastAck {
            ack.seq = AFTER_FIN;
        }
        ack
    }
}

/// Sequence number after our FIN, whose number is 0.
const AFTER_FIN: u64 = 1;
