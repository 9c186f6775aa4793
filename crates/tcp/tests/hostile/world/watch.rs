//! Invariants of a sender and of a receiver.

use super::journal::Journal;
use super::setup::Setup;
use sojourn_tcp::{EcnAtOne, Flags, Prr, Receiver, Segment, Sender, Snapshot};
use sojourn_units::{Ecn, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Sender under check.
///
/// - It sends only supplied data, within the receiver's window, and finitely much at every instant.
/// - Its window is at least a segment, unless its profile lets ECN echoes reduce it further;
///   FlightSize is at most the data sent.
/// - No loss, mark or timeout raises its window above a segment: the sender asserts this at reductions.
/// - Its memory is bounded by the number of outstanding segments, whatever it receives.
/// - The pipe grows up to the window, except as the RFCs allow.
/// - It waits for ACKs only while data is outstanding, or an ECN echo forbids sending.
/// - While it waits, a timer runs that expires within the longest timeout, and not in the past.
/// - A copy with the same inputs has the same outputs.
pub struct WatchedSender {
    sender: Sender,
    copy: Option<Sender>,
    mss: u64,
    longest: Span,
    /// PRR sends more than is delivered, as ns-3's.
    overshoots: bool,
    /// Rounding of PRR to whole segments, bytes.
    rounding: u64,
    /// Echoes reduce the window below a segment, as in ns-2.
    falls_below_one: bool,
    now: Time,
    opened: bool,
    /// End of the data to send.
    supply: u64,
    /// FIN follows the data.
    closing: bool,
    /// End of the data sent, FIN included.
    sent: u64,
    /// End of the data acknowledged.
    una: u64,
    /// Right edge of the receiver's window.
    edge: u64,
    /// End of a window probe, whose byte counts as sent only if it is taken.
    probe: Option<u64>,
    /// An ACK is due.
    owes_ack: bool,
    /// Retransmitted data segments.
    retransmissions: u64,
    /// A timer has expired since the last call for segments.
    timed_out: bool,
    /// Ends of the outstanding segments, as first sent.
    ends: VecDeque<u64>,
    /// Pipe, outstanding and delivered bytes when nothing was left to send.
    pipe: u64,
    outstanding: u64,
    arrived: u64,
    /// Largest window since the pipe last fitted into it.
    widest: u64,
}

/// Events.
impl WatchedSender {
    pub fn new(setup: &Setup) -> WatchedSender {
        let sender = setup.sender();
        WatchedSender {
            mss: u64::from(sender.mss()),
            sender,
            copy: None,
            longest: setup.profile.max_rto,
            rounding: if setup.profile.prr == Prr::Off { 0 } else { u64::from(setup.mss) - 1 },
            overshoots: setup.profile.prr == Prr::Rfc6937 && setup.profile.prr_counts_twice,
            falls_below_one: setup.requests_ecn && setup.profile.ecn_at_one == EcnAtOne::BackOff,
            now: Time::ZERO,
            opened: false,
            supply: 0,
            closing: false,
            sent: 0,
            una: 0,
            edge: 0,
            probe: None,
            owes_ack: false,
            retransmissions: 0,
            timed_out: false,
            ends: VecDeque::new(),
            pipe: 0,
            outstanding: 0,
            arrived: 0,
            widest: 0,
        }
    }

    /// Continues with a copy as well.
    pub fn part(&mut self, journal: &mut Journal) {
        journal.notes(format_args!("a copy starts here"));
        self.copy = Some(self.sender.clone());
    }

    pub fn open(&mut self, now: Time, journal: &mut Journal) {
        journal.does(now, format_args!("connect"));
        self.opened = true;
        self.both(now, Sender::open);
    }

    /// Supplies more data, unless FIN is to follow.
    pub fn supply(&mut self, now: Time, more: u64, journal: &mut Journal) {
        if self.closing {
            return;
        }
        journal.does(now, format_args!("write {more}"));
        self.supply += more;
        let end = self.supply;
        self.both(now, |sender| sender.supply(end));
    }

    pub fn stop(&mut self, now: Time, teardown: bool, journal: &mut Journal) {
        journal.notes(format_args!("nothing more to send than was sent"));
        self.supply = self.supply.min(self.sent.max(self.probe.unwrap_or(0)));
        self.closing |= teardown;
        self.both(now, Sender::stop);
    }

    pub fn close(&mut self, now: Time, journal: &mut Journal) {
        journal.does(now, format_args!("close"));
        self.closing = true;
        self.both(now, Sender::close);
    }

    pub fn receive(&mut self, now: Time, segment: &Segment, journal: &mut Journal) {
        journal.receive(now, segment);
        let (before, up) = (self.una, self.sender.is_established());
        let progress = self.both(now, |sender| sender.on_segment(now, segment));
        let una = self.sender.acknowledged();
        assert_eq!(progress.acked, una - before, "reported and actual progress");
        assert!(una == before || una == segment.ack, "una is that of the ACK, or unchanged");
        self.sent = self.sent.max(una.min(self.probe.unwrap_or(0)));
        assert!(una <= self.sent, "acknowledged {una}, sent {}", self.sent);
        self.una = una;
        self.ends.drain(..self.ends.partition_point(|end| *end <= una));
        let is_ack = segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN);
        if !up && self.sender.is_established() {
            self.edge = u64::from(segment.window);
            self.owes_ack = true;
        } else if up && is_ack {
            self.owes_ack |= segment.flags.has(Flags::FIN);
            if (before..=self.sent).contains(&segment.ack) {
                self.edge = segment.ack + u64::from(segment.window);
            }
        }
    }

    pub fn next_timeout(&self) -> Option<Time> {
        self.sender.next_timeout()
    }

    pub fn time_out(&mut self, now: Time) {
        self.timed_out = true;
        self.both(now, |sender| sender.on_timeout(now));
    }

    /// Takes everything that it sends at this instant.
    pub fn send(&mut self, now: Time, journal: &mut Journal) -> Vec<Segment> {
        // The receiver's window limits first transmissions and retransmissions.
        let room = (self.edge.max(self.sent) - self.una).div_ceil(self.mss);
        let most = 64 + 2 * (room + self.ends.len() as u64);
        let (mut all, before, retransmitted) =
            (Vec::new(), self.sender.snapshot().pipe, self.retransmissions);
        while let Some(segment) = self.both(now, |sender| sender.poll_transmit(now)) {
            journal.sends(now, &segment);
            self.check_segment(&segment);
            all.push(segment);
            assert!(all.len() as u64 <= most, "more than {most} segments at one instant");
        }
        self.check_pipe(before, self.retransmissions > retransmitted);
        self.check_rest(now);
        all
    }

    pub fn acknowledged(&self) -> u64 {
        self.una
    }

    /// Returns whether everything was acknowledged, FIN included.
    pub fn is_done(&self) -> bool {
        self.una == self.end()
    }

    /// Returns whether both directions are closed.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// End of the data sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Number of retransmitted data segments.
    pub fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    pub fn mss(&self) -> u64 {
        self.mss
    }

    fn both<T: PartialEq + std::fmt::Debug>(&mut self, now: Time, act: impl Fn(&mut Sender) -> T) -> T {
        assert!(now >= self.now, "the world's own time runs back");
        self.now = now;
        let answer = act(&mut self.sender);
        if let Some(copy) = &mut self.copy {
            assert_eq!(act(copy), answer, "a copy differs");
            assert_eq!(copy.next_timeout(), self.sender.next_timeout(), "the timer of a copy differs");
        }
        answer
    }
}

/// Checks.
impl WatchedSender {
    /// End of the sequence numbers.
    fn end(&self) -> u64 {
        self.supply + u64::from(self.closing)
    }

    fn check_segment(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            assert!(!self.sender.is_established(), "a SYN on an established connection");
            assert!(segment.len == 0 && segment.ecn == Ecn::NotEct, "RFC 3168, section 6.1.1");
            return;
        }
        assert!(self.sender.is_established(), "data before the handshake is over");
        let owed = std::mem::take(&mut self.owes_ack);
        let end = segment.end();
        if end == segment.seq {
            assert!(owed, "an ACK that is not due");
            assert!(segment.seq == self.sent && segment.ecn == Ecn::NotEct);
            return;
        }
        assert!(u64::from(segment.len) <= self.mss, "{} bytes are more than a segment", segment.len);
        assert!(segment.seq >= self.una, "{}: everything below {} is acknowledged", segment.seq, self.una);
        assert!(segment.seq <= self.sent, "{}: nothing was sent from {} on", segment.seq, self.sent);
        assert!(end <= self.end().max(self.sent), "{end}: there is nothing beyond {}", self.end());
        let last = self.closing && end == self.end();
        assert!(segment.flags.has(Flags::FIN) == last, "FIN takes number {}", self.supply);
        if self.edge <= self.sent && segment.seq == self.sent && end == self.sent + 1 {
            self.probe = Some(end);
            return;
        }
        assert!(end <= self.edge.max(self.sent), "{end}: the receiver has room up to {}", self.edge);
        self.retransmissions += u64::from(segment.seq < self.sent);
        if end > self.sent {
            self.ends.push_back(end);
            self.sent = end;
        }
    }

    /// Checks when nothing is left to send at this instant.
    fn check_rest(&self, now: Time) {
        let window = self.sender.window().get();
        assert!(
            window >= self.mss || self.falls_below_one,
            "a window of {window}, a segment is {}",
            self.mss
        );
        let (flight, outstanding) = (self.sender.flight(), self.sent - self.una);
        assert!(flight <= outstanding, "{flight} counted in flight, {outstanding} outstanding");
        self.check_snapshot(outstanding);
        let due = self.sender.next_timeout();
        let waits = self.opened && (!self.sender.is_established() || self.una < self.end().max(self.sent));
        assert!(!waits || due.is_some(), "it waits, and no timer runs");
        if let Some(due) = due {
            assert!(due >= now, "the timer should have expired {} before", Seconds(now.since(due)));
            let ahead = due.since(now);
            assert!(ahead <= self.longest, "the timer is {} ahead", Seconds(ahead));
        }
    }

    /// The pipe grows up to the window, or to its value before it shrank, except for two segments of limited transmit
    /// (RFC 3042), and, each time, a probe (RFC 8985, section 9.3), the retransmission at the start of a recovery or
    /// after a timeout, and two segments of F-RTO (RFC 5682). PRR rounds up to whole segments. Data no longer marked
    /// lost was in flight all the time.
    fn check_pipe(&mut self, before: u64, retransmitted: bool) {
        let Snapshot { pipe, in_frto, sacked, .. } = self.sender.snapshot();
        let window = self.sender.window().get();
        let arrived = self.una + sacked;
        if before + arrived.saturating_sub(self.arrived) > self.pipe {
            self.widest = self.widest.max(self.outstanding).max(before);
        }
        self.widest = if pipe <= window { window } else { self.widest.max(window) };
        let timed_out = std::mem::take(&mut self.timed_out);
        let at_once = self.mss * (u64::from(retransmitted) + u64::from(timed_out) + 2 * u64::from(in_frto));
        if at_once > 0 {
            self.widest = self.widest.max((before + at_once).saturating_sub(EXCEPTIONS * self.mss));
        }
        (self.pipe, self.outstanding, self.arrived) = (pipe, self.sent - self.una, arrived);
        let most = self.widest + EXCEPTIONS * self.mss + self.rounding;
        assert!(
            self.overshoots || pipe <= most,
            "{pipe} are in flight, the window is {window} and was {}",
            self.widest
        );
    }

    /// Checks its memory and its timers.
    fn check_snapshot(&self, outstanding: u64) {
        let snapshot = self.sender.snapshot();
        let segments = self.ends.len();
        assert!(2 * snapshot.blocks <= segments, "{segments} segments are outstanding: {snapshot:?}");
        assert!(snapshot.runs <= segments, "{segments} segments are outstanding: {snapshot:?}");
        assert!(
            // The two: an ACK within a segment shifts retransmissions against the originals.
            snapshot.retransmitted.max(snapshot.lost) <= 2 * segments + 2,
            "{segments} segments are outstanding: {snapshot:?}"
        );
        if self.sender.is_established() && outstanding == 0 {
            assert!(!snapshot.rto_armed || snapshot.on_hold, "the timer runs with nothing outstanding");
            assert!(!snapshot.rack_armed, "loss detection with nothing outstanding");
        }
    }
}

/// Receiver under check.
///
/// - It delivers received data only, in order, each byte once.
/// - Its ACKs cover the data delivered, their blocks the data above, and the advertised window does not shrink.
/// - Unacknowledged data has a timer that expires within the longest delay.
/// - A copy with the same inputs has the same outputs.
pub struct WatchedReceiver {
    receiver: Receiver,
    copy: Option<Receiver>,
    longest: Span,
    now: Time,
    /// Data received, with FIN: starts and ends, ordered, disjoint.
    received: BTreeMap<u64, u64>,
    /// Possible sequence numbers of a FIN.
    fins: BTreeSet<u64>,
    delivered: u64,
    /// Number of the last ACK.
    acknowledged: u64,
    /// Right edge of the advertised window.
    edge: u64,
    /// Window scale shift count.
    scale: u8,
}

/// Events.
impl WatchedReceiver {
    pub fn new(setup: &Setup) -> WatchedReceiver {
        WatchedReceiver {
            receiver: setup.receiver(),
            copy: None,
            longest: setup.profile.ack_delay,
            now: Time::ZERO,
            received: BTreeMap::new(),
            fins: BTreeSet::new(),
            delivered: 0,
            acknowledged: 0,
            edge: 0,
            scale: 0,
        }
    }

    /// Continues with a copy as well.
    pub fn part(&mut self, journal: &mut Journal) {
        journal.notes(format_args!("a copy starts here"));
        self.copy = Some(self.receiver.clone());
    }

    pub fn receive(&mut self, now: Time, segment: &Segment, journal: &mut Journal) -> Option<Segment> {
        journal.receive(now, segment);
        if segment.end() > segment.seq && !segment.flags.has(Flags::SYN) {
            self.take(segment.seq, segment.end());
            if segment.flags.has(Flags::FIN) {
                self.fins.insert(segment.end() - 1);
            }
        }
        self.act(now, journal, |receiver| receiver.on_segment(now, segment))
    }

    pub fn time_out(&mut self, now: Time, journal: &mut Journal) -> Option<Segment> {
        self.act(now, journal, |receiver| receiver.on_timeout(now))
    }

    /// The application reads so many bytes; up to the first call it reads at once.
    pub fn read(&mut self, now: Time, bytes: u64, journal: &mut Journal) -> Option<Segment> {
        journal.does(now, format_args!("read {bytes}"));
        self.act(now, journal, |receiver| receiver.read(now, bytes))
    }

    pub fn stop_reading(&mut self, now: Time, journal: &mut Journal) {
        journal.does(now, format_args!("stop_reading"));
        self.act(now, journal, |receiver| {
            receiver.stop_reading(now);
            None
        });
    }

    pub fn next_timeout(&self) -> Option<Time> {
        self.receiver.next_timeout()
    }

    pub fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    pub fn is_closed(&self) -> bool {
        self.receiver.closed()
    }

    fn act(
        &mut self,
        now: Time,
        journal: &mut Journal,
        act: impl Fn(&mut Receiver) -> Option<Segment>,
    ) -> Option<Segment> {
        assert!(now >= self.now, "the world's own time runs back");
        self.now = now;
        let answer = act(&mut self.receiver);
        if let Some(copy) = &mut self.copy {
            assert_eq!(act(copy), answer, "a copy differs");
            assert_eq!(copy.next_timeout(), self.receiver.next_timeout(), "the timer of a copy differs");
        }
        if let Some(ack) = &answer {
            journal.sends(now, ack);
            self.check_ack(ack);
        }
        self.check_rest(now);
        answer
    }
}

/// Checks.
impl WatchedReceiver {
    /// Adds the bytes `from..to`.
    fn take(&mut self, mut from: u64, mut to: u64) {
        let joined: Vec<(u64, u64)> = self
            .received
            .range(..=to)
            .map(|(start, end)| (*start, *end))
            .filter(|(_, end)| *end >= from)
            .collect();
        for (start, end) in joined {
            self.received.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.received.insert(from, to);
    }

    /// Returns whether all bytes `from..to` were received.
    fn has(&self, from: u64, to: u64) -> bool {
        self.received.range(..=from).next_back().is_some_and(|(_, end)| *end >= to)
    }

    fn check_ack(&mut self, ack: &Segment) {
        assert!(ack.flags.has(Flags::ACK) && ack.len == 0 && ack.ecn == Ecn::NotEct);
        let delivered = self.delivered();
        let ended = ack.ack == delivered + 1 && self.fins.contains(&delivered);
        // RFC 8257, section 3.2: an ACK for the data before a change of CE, the next one at once.
        let first_of_two = (self.acknowledged + 1..delivered).contains(&ack.ack);
        let first_of_two = first_of_two && self.next_timeout() == Some(self.now);
        assert!(
            ack.ack == delivered || ended || first_of_two,
            "{}: RFC 9293, section 3.4: the next byte expected",
            ack.ack
        );
        assert!(ended || !ack.flags.has(Flags::FIN), "it closes before the sender does");
        let twice = ack.sack.duplicate(ack.ack);
        for (place, (from, to)) in ack.sack.iter(ack.ack).enumerate() {
            assert!(from < to && self.has(from, to), "{from}..{to} was not received (RFC 2018, section 3)");
            let is_duplicate = place == 0 && twice.is_some();
            assert!(is_duplicate || from > ack.ack, "{from}..{to} is acknowledged below {}", ack.ack);
        }
        if ack.flags.has(Flags::SYN) {
            self.scale = ack.scale;
            self.edge = u64::from(ack.window);
            return;
        }
        // RFC 9293, section 3.8.6: it should not shrink, except by the granularity of the field (RFC 7323, section
        // 2.4).
        let edge = ack.ack + u64::from(ack.window);
        assert!(edge + (1 << self.scale) > self.edge, "room up to {}, then up to {edge}", self.edge);
        assert!(ack.window.trailing_zeros() >= u32::from(self.scale), "{} << {}", ack.window, self.scale);
        self.edge = self.edge.max(edge);
        self.acknowledged = ack.ack;
    }

    fn check_rest(&mut self, now: Time) {
        let delivered = self.delivered();
        let whole = self.received.get(&0).copied().unwrap_or(0);
        assert!(
            self.delivered <= delivered && delivered <= whole,
            "delivered {delivered}, {whole} came in order"
        );
        self.delivered = delivered;
        let due = self.next_timeout();
        assert!(due.is_none_or(|due| due >= now), "its timer should have expired before");
        let waits = delivered > self.acknowledged;
        let soon = due.is_some_and(|due| due.since(now) <= self.longest);
        assert!(!waits || soon, "data waits for its ACK longer than {}", Seconds(self.longest));
    }
}

/// Duration for a message.
struct Seconds(Span);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} s", self.0.seconds())
    }
}

/// Segments that may be in flight beyond the window.
const EXCEPTIONS: u64 = 3;
