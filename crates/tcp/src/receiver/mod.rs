//! The receiving side: reassembly, acknowledgments, the window, the echo of congestion, the end.

mod ecn;
mod reassembly;
mod stamp;
mod teardown;
#[cfg(test)]
mod tests;
mod window;

use crate::mark::Mark;
use crate::segment::{Flags, Segment};
use crate::sender::Config;
use ecn::Echo;
use reassembly::Reassembly;
use sojourn_units::Time;
use stamp::Recent;
use std::sync::Arc;
use teardown::Stage;
use window::Window;

/// A receiver: the other end of a [`Sender`](crate::Sender)'s connection, and the application that reads.
#[derive(Clone, Debug)]
pub struct Receiver {
    stage: Stage,
    arrived: Reassembly,
    /// `Last.ACK.sent`: what the last ACK was for.
    acknowledged: u64,
    /// The largest payload seen: a full-sized segment.
    full: u16,
    echo: Echo,
    sack: bool,
    /// How often our FIN was sent again.
    fin_again: u8,
    /// So many bytes may wait for their ACK.
    ack_above: u64,
    /// When an ACK is due; NEVER where none is.
    ack_due: Time,
    window: Window,
    recent: Recent,
    /// The number of the sender's FIN, once one came.
    fin: Mark,
    /// When our FIN will be sent once more.
    fin_due: Time,
    config: Arc<Config>,
}

impl Receiver {
    /// A receiver before the first segment, for what a sender of the same `config` sends.
    ///
    /// To SACK, timestamps and scaled windows it agrees where the sender asks, to the latter if the profile has them.
    /// Flows of one kind may share their configuration.
    pub fn new(config: impl Into<Arc<Config>>) -> Receiver {
        let config = config.into();
        let profile = &config.profile;
        let mss = config.payload();
        let buffer = profile.receive_window.saturating_mul(u64::from(mss));
        Receiver {
            stage: Stage::Listen,
            arrived: Reassembly::new(),
            acknowledged: 0,
            full: 0,
            echo: Echo::new(config.ecn, config.cc.feedback(), profile.ect_on_retransmit),
            sack: false,
            fin_again: 0,
            ack_above: 0,
            ack_due: Time::NEVER,
            window: Window::new(buffer, mss, config.reads),
            recent: Recent::default(),
            fin: Mark::NONE,
            fin_due: Time::NEVER,
            config,
        }
    }

    /// A segment arrives; the answer is an ACK to send now.
    ///
    /// Where two ACKs are to be sent, the other one is due at once.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        if self.is_next(now, segment) { self.on_next(now, segment) } else { self.on_unusual(now, segment) }
    }

    /// When something must be sent by itself.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        let usual = self.stage <= Stage::Ending && self.window.is_read_at_once();
        let due = if usual { self.ack_due } else { self.due() };
        (due < Time::NEVER).then_some(due)
    }

    fn due(&self) -> Time {
        let next = self.arrived.next;
        match self.stage {
            Stage::LastAck => self.fin_due,
            Stage::CloseWait => self.window.read_at(next, next),
            _ => self.ack_due.min(self.window.wants_telling_at(next)),
        }
    }

    /// The time of [`next_timeout`](Self::next_timeout) has come.
    pub fn on_timeout(&mut self, now: Time) -> Option<Segment> {
        self.next_timeout().filter(|due| *due <= now)?;
        match self.stage {
            Stage::LastAck => self.repeat_fin(now),
            Stage::CloseWait => Some(self.close(now)),
            _ => Some(self.acknowledge(now, None)),
        }
    }

    /// Something of every cache line that a segment needs: whoever reads it has them brought near.
    #[doc(hidden)]
    #[inline]
    pub fn nearby(&self) -> u64 {
        self.arrived.next ^ self.window.edge ^ self.fin_due.nanos() ^ u64::from(self.full)
    }

    /// Bytes received in order since the start.
    pub fn delivered(&self) -> u64 {
        self.arrived.next
    }

    /// Bytes that the application has read at `now` since the start, of those that are there; None where it reads what
    /// comes at once.
    pub fn read_by(&self, now: Time) -> Option<u64> {
        self.config.reads.map(|_| self.window.read(now, self.arrived.next))
    }

    /// From now on the application reads only what it is told to.
    pub fn stop_reading(&mut self, now: Time) {
        self.window.read_more(now, self.arrived.next, 0);
    }

    /// The application reads `bytes` of what came, and nothing more until it is told to; the answer is an ACK to send
    /// now, of the room that is made.
    pub fn read(&mut self, now: Time, bytes: u64) -> Option<Segment> {
        let next = self.arrived.next;
        self.window.read_more(now, next, bytes);
        match self.stage {
            Stage::CloseWait if self.window.read(now, next) == next => Some(self.close(now)),
            Stage::Established | Stage::Ending if self.window.wants_telling(now, next) => {
                Some(self.acknowledge(now, None))
            }
            _ => None,
        }
    }
}

/// Segments as they come.
impl Receiver {
    #[cold]
    fn on_unusual(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        if segment.flags.has(Flags::SYN) {
            return Some(self.on_syn(now, segment));
        }
        if !self.moves_on(segment) {
            return None;
        }
        if segment.end() == segment.seq {
            return self.on_bare(now, segment);
        }
        if self.recent.misses(segment) {
            return None;
        }
        if self.is_next(now, segment) {
            // The first data of all.
            return self.on_next(now, segment);
        }
        Some(self.on_other(now, segment))
    }

    fn on_syn(&mut self, now: Time, syn: &Segment) -> Segment {
        if !matches!(self.stage, Stage::Listen | Stage::SynReceived) {
            // An old one: RFC 9293, section 3.10.7.4, fourth.
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

    /// What a segment means at the start and the end; says whether to look further.
    fn moves_on(&mut self, segment: &Segment) -> bool {
        match self.stage {
            Stage::SynReceived => self.stage = Stage::Established,
            Stage::LastAck if segment.flags.has(Flags::ACK) && segment.ack == AFTER_FIN => {
                self.stage = Stage::Closed;
            }
            _ => {}
        }
        self.stage != Stage::Listen
    }

    /// A segment that takes no number is answered only where it is out of place (RFC 9293, section 3.10.7.4, first).
    fn on_bare(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        let in_place = (self.expected()..=self.window.edge.max(self.expected())).contains(&segment.seq);
        (!in_place).then(|| self.acknowledge(now, None))
    }

    /// The usual case: whether these are the data that were expected, with no gap behind them, and nothing else.
    fn is_next(&self, now: Time, segment: &Segment) -> bool {
        segment.seq == self.arrived.next
            && self.stage == Stage::Established
            && self.arrived.has_no_gap()
            && segment.len > 0
            && segment.end() <= self.window.edge
            && !(segment.flags.has(Flags::SYN) || segment.flags.has(Flags::FIN))
            && !(self.recent.agreed && (self.recent.misses(segment) || self.recent.outdates(now, segment)))
    }

    #[inline]
    fn on_next(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        if self.echo.turns(segment) {
            return Some(self.on_turn(now, segment));
        }
        self.take_next(now, segment);
        // RFC 5681, section 4.2: for every second full-sized segment. What is full-sized for the sender shows in what
        // it sends; where it sends less for want of data, an ACK comes for more than one such segment.
        let waiting = self.arrived.next - self.acknowledged;
        if waiting > self.ack_above || self.window.wants_telling(now, self.arrived.next) {
            return Some(self.acknowledge(now, None));
        }
        // Within so much of the arrival of the first that is not acknowledged.
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

    /// What accepted data say beside themselves.
    #[inline]
    fn take_in(&mut self, now: Time, segment: &Segment) {
        self.echo.note(segment);
        if self.recent.agreed {
            self.recent.note(now, segment, self.acknowledged);
        }
        self.window.settle(now, self.arrived.next);
        if segment.len > self.full {
            self.full = segment.len;
            self.ack_above = u64::from(self.config.profile.segments_per_ack() - 1) * u64::from(self.full);
        }
    }

    /// RFC 8257, section 3.2: where marking begins or ends, an ACK at once; and another one for what came before,
    /// in its state, if one is owed.
    #[cold]
    fn on_turn(&mut self, now: Time, segment: &Segment) -> Segment {
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

    /// What is out of order, fills a gap, came before, finds no room or ends everything is acknowledged at once
    /// (RFC 5681, section 4.2; RFC 9293, section 3.10.7.4).
    #[cold]
    fn on_other(&mut self, now: Time, segment: &Segment) -> Segment {
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

    /// Whether anything of a segment lies in the window (RFC 9293, section 3.10.7.4, table 6).
    fn accepts(&self, segment: &Segment) -> bool {
        let (next, edge) = (self.arrived.next, self.window.edge);
        self.stage <= Stage::Ending && segment.seq < edge && next < edge.min(segment.end())
    }

    /// What of a segment came before; the first run of it.
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
    /// The next number expected: the FIN has one, too.
    fn expected(&self) -> u64 {
        self.arrived.next + u64::from(self.stage >= Stage::CloseWait)
    }

    /// An ACK for everything that came, with what the segment it answers brought a second time.
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
        if self.sack && (duplicate.is_some() || !self.arrived.has_no_gap()) {
            ack.sack = self.arrived.report(next, duplicate);
            ack.flags = ack.flags.with(Flags::SACK, self.config.profile.sack_takes_room);
        }
        if self.stage >= Stage::LastAck {
            ack.seq = AFTER_FIN;
        }
        ack
    }
}

/// What comes behind our FIN, whose number is 0.
const AFTER_FIN: u64 = 1;
