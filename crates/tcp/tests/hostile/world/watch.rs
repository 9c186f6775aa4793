//! What must be true of a sender and of a receiver, whatever happens.

use super::journal::Journal;
use super::setup::Setup;
use sojourn_tcp::{Account, EcnAtOne, Flags, Prr, Receiver, Segment, Sender};
use sojourn_units::{Ecn, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A sender under watch.
///
/// - It sends only what it was given, within what the receiver has had room for, and ends at every instant.
/// - Its window is at least a segment, unless its profile lets echoes of congestion reduce it further; what it counts as outstanding is at most what was sent.
/// - No loss, mark or timeout raises its window above a segment: the sender asserts that where it reduces it.
/// - It keeps no more than a few things for each segment outstanding, whatever it hears.
/// - What is under way grows up to the window, and no further than the exceptions of the RFCs go.
/// - It waits for ACKs only while something is outstanding, or an echo of congestion forbids it to send.
/// - While it has something to wait for, a timer runs, at most the longest timeout ahead, and never behind.
/// - A copy that is told the same does the same.
pub struct WatchedSender {
    sender: Sender,
    twin: Option<Sender>,
    mss: u64,
    longest: Span,
    /// Whether recovery lets out more than arrives, as ns-3's.
    overshoots: bool,
    /// What PRR may add to a share to make whole segments of it, bytes.
    rounding: u64,
    /// Whether echoes reduce the window below a segment, as ns-2's.
    falls_below_one: bool,
    now: Time,
    opened: bool,
    /// End of the bytes there are to send.
    supply: u64,
    /// FIN follows them.
    closing: bool,
    /// End of what was sent: bytes, and FIN.
    sent: u64,
    /// End of what was acknowledged.
    una: u64,
    /// End of what the receiver has room for, as it said last.
    edge: u64,
    /// End of a probe of a closed window, which was sent only if it is taken.
    probe: Option<u64>,
    /// There is something to acknowledge.
    owes_ack: bool,
    /// Data segments sent again.
    again: u64,
    /// Whether a timer has expired since it was asked last for what it sends.
    timed_out: bool,
    /// Where the segments end that are outstanding, as they were sent first.
    ends: VecDeque<u64>,
    /// What was under way when there was nothing to send, what was outstanding, and what had arrived, bytes.
    pipe: u64,
    outstanding: u64,
    arrived: u64,
    /// The largest window since that last fitted into it.
    widest: u64,
}

/// What makes it act.
impl WatchedSender {
    pub fn new(setup: &Setup) -> WatchedSender {
        let sender = setup.sender();
        WatchedSender {
            mss: u64::from(sender.mss()),
            sender,
            twin: None,
            longest: setup.profile.max_rto,
            rounding: if setup.profile.prr == Prr::Off { 0 } else { u64::from(setup.mss) - 1 },
            overshoots: setup.profile.prr == Prr::Rfc6937 && setup.profile.prr_counts_twice,
            falls_below_one: setup.asks_ecn && setup.profile.ecn_at_one == EcnAtOne::BackOff,
            now: Time::ZERO,
            opened: false,
            supply: 0,
            closing: false,
            sent: 0,
            una: 0,
            edge: 0,
            probe: None,
            owes_ack: false,
            again: 0,
            timed_out: false,
            ends: VecDeque::new(),
            pipe: 0,
            outstanding: 0,
            arrived: 0,
            widest: 0,
        }
    }

    /// From now on a copy goes the same way.
    pub fn part(&mut self, journal: &mut Journal) {
        journal.notes(format_args!("a copy starts here"));
        self.twin = Some(self.sender.clone());
    }

    pub fn open(&mut self, now: Time, journal: &mut Journal) {
        journal.does(now, format_args!("connect"));
        self.opened = true;
        self.both(now, Sender::open);
    }

    /// More to send; nothing where FIN is to follow what there is.
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

    pub fn hear(&mut self, now: Time, segment: &Segment, journal: &mut Journal) {
        journal.hears(now, segment);
        let (before, up) = (self.una, self.sender.is_established());
        let progress = self.both(now, |sender| sender.on_segment(now, segment));
        let una = self.sender.acknowledged();
        assert_eq!(progress.acked, una - before, "what it says of an ACK is how far it went");
        assert!(una == before || una == segment.ack, "it goes where the ACK says, or nowhere");
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

    /// Everything that it sends at this instant.
    pub fn send(&mut self, now: Time, journal: &mut Journal) -> Vec<Segment> {
        // What the receiver has room for, sent for the first time and again.
        let room = (self.edge.max(self.sent) - self.una).div_ceil(self.mss);
        let most = 64 + 2 * (room + self.ends.len() as u64);
        let (mut all, before, again) = (Vec::new(), self.sender.account().pipe, self.again);
        while let Some(segment) = self.both(now, |sender| sender.poll_transmit(now)) {
            journal.sends(now, &segment);
            self.check_segment(&segment);
            all.push(segment);
            assert!(all.len() as u64 <= most, "more than {most} segments at one instant");
        }
        self.check_pipe(before, self.again > again);
        self.check_rest(now);
        all
    }

    pub fn acknowledged(&self) -> u64 {
        self.una
    }

    /// Whether everything was acknowledged, FIN too.
    pub fn is_done(&self) -> bool {
        self.una == self.end()
    }

    /// Whether both directions are closed.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// End of what was sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// How many data segments it sent again.
    pub fn again(&self) -> u64 {
        self.again
    }

    pub fn mss(&self) -> u64 {
        self.mss
    }

    fn both<T: PartialEq + std::fmt::Debug>(&mut self, now: Time, act: impl Fn(&mut Sender) -> T) -> T {
        assert!(now >= self.now, "the world's own time runs back");
        self.now = now;
        let answer = act(&mut self.sender);
        if let Some(twin) = &mut self.twin {
            assert_eq!(act(twin), answer, "a copy does something else");
            assert_eq!(twin.next_timeout(), self.sender.next_timeout(), "a copy waits for something else");
        }
        answer
    }
}

/// What is checked.
impl WatchedSender {
    /// Where the sequence numbers end.
    fn end(&self) -> u64 {
        self.supply + u64::from(self.closing)
    }

    fn check_segment(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            assert!(!self.sender.is_established(), "a SYN on a connection that stands");
            assert!(segment.len == 0 && segment.ecn == Ecn::NotEct, "RFC 3168, section 6.1.1");
            return;
        }
        assert!(self.sender.is_established(), "data before the handshake is over");
        let owed = std::mem::take(&mut self.owes_ack);
        let end = segment.end();
        if end == segment.seq {
            assert!(owed, "an ACK alone that is for nothing");
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
        self.again += u64::from(segment.seq < self.sent);
        if end > self.sent {
            self.ends.push_back(end);
            self.sent = end;
        }
    }

    /// What holds when there is nothing to send at this instant.
    fn check_rest(&self, now: Time) {
        let window = self.sender.window().get();
        assert!(
            window >= self.mss || self.falls_below_one,
            "a window of {window}, a segment is {}",
            self.mss
        );
        let (flight, outstanding) = (self.sender.flight(), self.sent - self.una);
        assert!(flight <= outstanding, "{flight} counted in flight, {outstanding} outstanding");
        self.check_account(outstanding);
        let due = self.sender.next_timeout();
        let waits = self.opened && (!self.sender.is_established() || self.una < self.end().max(self.sent));
        assert!(!waits || due.is_some(), "it waits for something, and no timer runs");
        if let Some(due) = due {
            assert!(due >= now, "the timer should have gone off {} before", Seconds(now.since(due)));
            let ahead = due.since(now);
            assert!(ahead <= self.longest, "the timer is {} ahead", Seconds(ahead));
        }
    }

    /// What is under way grows up to the window, or to what that was before it shrank, but for: two segments of limited
    /// transmit (RFC 3042), and, each time, a probe (RFC 8985, section 9.3), one that is sent again at once when a recovery
    /// or a timeout begins, and two of F-RTO (RFC 5682). PRR rounds up to whole segments. Where what was taken for lost is
    /// not, it was under way all the time.
    fn check_pipe(&mut self, before: u64, again: bool) {
        let Account { pipe, doubts, sacked, .. } = self.sender.account();
        let window = self.sender.window().get();
        let arrived = self.una + sacked;
        if before + arrived.saturating_sub(self.arrived) > self.pipe {
            self.widest = self.widest.max(self.outstanding).max(before);
        }
        self.widest = if pipe <= window { window } else { self.widest.max(window) };
        let timed_out = std::mem::take(&mut self.timed_out);
        let at_once = self.mss * (u64::from(again) + u64::from(timed_out) + 2 * u64::from(doubts));
        if at_once > 0 {
            self.widest = self.widest.max((before + at_once).saturating_sub(EXCEPTIONS * self.mss));
        }
        (self.pipe, self.outstanding, self.arrived) = (pipe, self.sent - self.una, arrived);
        let most = self.widest + EXCEPTIONS * self.mss + self.rounding;
        assert!(
            self.overshoots || pipe <= most,
            "{pipe} are under way, the window is {window} and was {}",
            self.widest
        );
    }

    /// What it keeps, and what it waits for.
    fn check_account(&self, outstanding: u64) {
        let account = self.sender.account();
        let segments = self.ends.len();
        assert!(2 * account.blocks <= segments, "{segments} segments are outstanding: {account:?}");
        assert!(account.runs <= segments, "{segments} segments are outstanding: {account:?}");
        assert!(
            // The two: an ACK within a segment shifts what is sent again after it against what was before.
            account.again.max(account.lost) <= 2 * segments + 2,
            "{segments} segments are outstanding: {account:?}"
        );
        if self.sender.is_established() && outstanding == 0 {
            assert!(!account.retransmits || account.holds, "it waits for an ACK of nothing");
            assert!(!account.probes, "it looks for losses among nothing");
        }
    }
}

/// A receiver under watch.
///
/// - It delivers nothing but what came, in order, each byte once.
/// - Its ACKs are for what it delivered, their blocks for what came beyond that, and what they promise room for stays promised.
/// - What is not acknowledged yet has a timer, at most the longest delay ahead.
/// - A copy that is told the same does the same.
pub struct WatchedReceiver {
    receiver: Receiver,
    twin: Option<Receiver>,
    longest: Span,
    now: Time,
    /// What came, bytes and FIN: starts and ends, in order and apart.
    came: BTreeMap<u64, u64>,
    /// Where a FIN may have been.
    fins: BTreeSet<u64>,
    delivered: u64,
    /// What the last ACK was for.
    acknowledged: u64,
    /// Where the promised room ends.
    edge: u64,
    /// By how many bits windows are shifted.
    scale: u8,
}

/// What makes it act.
impl WatchedReceiver {
    pub fn new(setup: &Setup) -> WatchedReceiver {
        WatchedReceiver {
            receiver: setup.receiver(),
            twin: None,
            longest: setup.profile.ack_delay,
            now: Time::ZERO,
            came: BTreeMap::new(),
            fins: BTreeSet::new(),
            delivered: 0,
            acknowledged: 0,
            edge: 0,
            scale: 0,
        }
    }

    /// From now on a copy goes the same way.
    pub fn part(&mut self, journal: &mut Journal) {
        journal.notes(format_args!("a copy starts here"));
        self.twin = Some(self.receiver.clone());
    }

    pub fn hear(&mut self, now: Time, segment: &Segment, journal: &mut Journal) -> Option<Segment> {
        journal.hears(now, segment);
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

    /// The application reads so many bytes; the first time, it has read everything until now.
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
        if let Some(twin) = &mut self.twin {
            assert_eq!(act(twin), answer, "a copy does something else");
            assert_eq!(twin.next_timeout(), self.receiver.next_timeout(), "a copy waits for something else");
        }
        if let Some(ack) = &answer {
            journal.sends(now, ack);
            self.check_ack(ack);
        }
        self.check_rest(now);
        answer
    }
}

/// What is checked.
impl WatchedReceiver {
    /// The bytes `from..to` came.
    fn take(&mut self, mut from: u64, mut to: u64) {
        let joined: Vec<(u64, u64)> = self
            .came
            .range(..=to)
            .map(|(start, end)| (*start, *end))
            .filter(|(_, end)| *end >= from)
            .collect();
        for (start, end) in joined {
            self.came.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.came.insert(from, to);
    }

    /// Whether all bytes `from..to` came.
    fn has(&self, from: u64, to: u64) -> bool {
        self.came.range(..=from).next_back().is_some_and(|(_, end)| *end >= to)
    }

    fn check_ack(&mut self, ack: &Segment) {
        assert!(ack.flags.has(Flags::ACK) && ack.len == 0 && ack.ecn == Ecn::NotEct);
        let delivered = self.delivered();
        let ended = ack.ack == delivered + 1 && self.fins.contains(&delivered);
        // RFC 8257, section 3.2: one for what came before a change of marks, the other one at once behind it.
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
            assert!(from < to && self.has(from, to), "{from}..{to} did not come (RFC 2018, section 3)");
            let told_twice = place == 0 && twice.is_some();
            assert!(told_twice || from > ack.ack, "{from}..{to} is acknowledged below {}", ack.ack);
        }
        if ack.flags.has(Flags::SYN) {
            self.scale = ack.scale;
            self.edge = u64::from(ack.window);
            return;
        }
        // RFC 9293, section 3.8.6: it should not shrink, but for what the field cannot say (RFC 7323, section 2.4).
        let edge = ack.ack + u64::from(ack.window);
        assert!(edge + (1 << self.scale) > self.edge, "room up to {}, then up to {edge}", self.edge);
        assert!(ack.window.trailing_zeros() >= u32::from(self.scale), "{} << {}", ack.window, self.scale);
        self.edge = self.edge.max(edge);
        self.acknowledged = ack.ack;
    }

    fn check_rest(&mut self, now: Time) {
        let delivered = self.delivered();
        let whole = self.came.get(&0).copied().unwrap_or(0);
        assert!(
            self.delivered <= delivered && delivered <= whole,
            "delivered {delivered}, {whole} came in order"
        );
        self.delivered = delivered;
        let due = self.next_timeout();
        assert!(due.is_none_or(|due| due >= now), "its timer should have gone off before");
        let waits = delivered > self.acknowledged;
        let soon = due.is_some_and(|due| due.since(now) <= self.longest);
        assert!(!waits || soon, "something waits for its ACK longer than {}", Seconds(self.longest));
    }
}

/// A duration for a message.
struct Seconds(Span);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} s", self.0.seconds())
    }
}

/// Segments that may be under way beyond the window.
const EXCEPTIONS: u64 = 3;
