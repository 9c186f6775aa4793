//! What must be true of a sender and of a receiver, whatever happens.

use super::journal::Journal;
use super::setup::Setup;
use sojourn_tcp::{Flags, Profile, Receiver, Segment, Sender};
use sojourn_units::{Ecn, Span, Time};
use std::collections::BTreeMap;

/// A sender under watch.
///
/// - It sends only what it was given, within what the receiver has had room for, and ends at every instant.
/// - Its window is at least a segment; what it counts as outstanding is at most what was sent.
/// - While it has something to wait for, a timer runs, at most the longest timeout ahead, and never behind.
/// - A copy that is told the same does the same.
pub struct WatchedSender {
    sender: Sender,
    twin: Option<Sender>,
    mss: u64,
    longest: Span,
    now: Time,
    opened: bool,
    answered: bool,
    /// End of what there is to send.
    supply: u64,
    /// End of what was sent.
    sent: u64,
    /// End of what was acknowledged.
    una: u64,
    /// End of what the receiver has had room for.
    edge: u64,
    room: u64,
    /// Data segments sent again.
    again: u64,
    /// Blocks that it has heard of: each may cut a segment in two.
    blocks: u64,
}

/// What makes it act.
impl WatchedSender {
    pub fn new(setup: &Setup) -> WatchedSender {
        let sender = setup.sender();
        let mss = u64::from(sender.mss());
        let room = setup.profile.receive_window * mss;
        WatchedSender {
            sender,
            twin: None,
            mss,
            longest: setup.profile.max_rto,
            now: Time::ZERO,
            opened: false,
            answered: false,
            supply: 0,
            sent: 0,
            una: 0,
            edge: room,
            room,
            again: 0,
            blocks: 0,
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

    pub fn supply(&mut self, now: Time, more: u64, journal: &mut Journal) {
        journal.does(now, format_args!("write {more}"));
        self.supply += more;
        let end = self.supply;
        self.both(now, |sender| sender.supply(end));
    }

    pub fn stop(&mut self, now: Time, journal: &mut Journal) {
        journal.notes(format_args!("nothing more to send"));
        self.supply = self.sent;
        self.both(now, Sender::stop);
    }

    pub fn hear(&mut self, now: Time, segment: &Segment, journal: &mut Journal) {
        journal.hears(now, segment);
        self.answered |= self.opened && segment.flags.has(Flags::SYN | Flags::ACK);
        self.blocks += segment.sack.iter(segment.ack).count() as u64;
        let before = self.una;
        let progress = self.both(now, |sender| sender.on_segment(now, segment));
        let una = self.sender.acknowledged();
        assert_eq!(progress.acked, una - before, "what it says of an ACK is how far it went");
        assert!(una == before || una == segment.ack, "it goes where the ACK says, or nowhere");
        assert!(una <= self.sent, "acknowledged {una}, sent {}", self.sent);
        self.una = una;
        self.edge = self.edge.max(una + self.room);
    }

    pub fn next_timeout(&self) -> Option<Time> {
        self.sender.next_timeout()
    }

    pub fn time_out(&mut self, now: Time) {
        self.both(now, |sender| sender.on_timeout(now));
    }

    /// Everything that it sends at this instant.
    pub fn send(&mut self, now: Time, journal: &mut Journal) -> Vec<Segment> {
        // What the receiver has room for, sent for the first time and again, in pieces between the blocks.
        let most = 64 + 2 * (self.edge - self.una).div_ceil(self.mss) + 2 * self.blocks;
        let mut all = Vec::new();
        while let Some(segment) = self.both(now, |sender| sender.poll_transmit(now)) {
            journal.sends(now, &segment);
            self.check_segment(&segment);
            all.push(segment);
            assert!(all.len() as u64 <= most, "more than {most} segments at one instant");
        }
        self.check_rest(now);
        all
    }

    pub fn acknowledged(&self) -> u64 {
        self.una
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
    fn check_segment(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            assert!(!self.answered, "a SYN on a connection that stands");
            assert!(segment.len == 0 && segment.ecn == Ecn::NotEct, "RFC 3168, section 6.1.1");
            return;
        }
        let end = segment.seq + u64::from(segment.len);
        assert!(self.answered, "data before the handshake is over");
        assert!(segment.len > 0, "a segment without a byte");
        assert!(u64::from(segment.len) <= self.mss, "{} bytes are more than a segment", segment.len);
        assert!(segment.seq >= self.una, "{}: everything below {} is acknowledged", segment.seq, self.una);
        assert!(segment.seq <= self.sent, "{}: nothing was sent from {} on", segment.seq, self.sent);
        assert!(end <= self.supply.max(self.sent), "{end}: there is nothing beyond {}", self.supply);
        assert!(end <= self.edge, "{end}: the receiver has room up to {}", self.edge);
        self.again += u64::from(segment.seq < self.sent);
        self.sent = self.sent.max(end);
    }

    /// What holds when there is nothing to send at this instant.
    fn check_rest(&self, now: Time) {
        let window = self.sender.window().get();
        assert!(window >= self.mss, "a window of {window}, a segment is {}", self.mss);
        let (flight, outstanding) = (self.sender.flight(), self.sent - self.una);
        assert!(flight <= outstanding, "{flight} counted in flight, {outstanding} outstanding");
        let due = self.sender.next_timeout();
        let waits = self.opened && (!self.answered || self.una < self.supply.max(self.sent));
        assert!(!waits || due.is_some(), "it waits for something, and no timer runs");
        if let Some(due) = due {
            assert!(due >= now, "the timer should have gone off {} before", Seconds(now.since(due)));
            let ahead = due.since(now);
            assert!(ahead <= self.longest, "the timer is {} ahead", Seconds(ahead));
        }
    }
}

/// A receiver under watch.
///
/// - It delivers exactly what came, in order, each byte once.
/// - Its ACKs are for what it delivered, their blocks for what came beyond that.
/// - What is not acknowledged yet has a timer, at most the longest delay ahead.
/// - A copy that is told the same does the same.
pub struct WatchedReceiver {
    receiver: Receiver,
    twin: Option<Receiver>,
    longest: Span,
    now: Time,
    /// What came: starts and ends, in order and apart.
    came: BTreeMap<u64, u64>,
    /// Whether anything came since the last ACK.
    unacknowledged: bool,
}

/// What makes it act.
impl WatchedReceiver {
    pub fn new(profile: &Profile, ecn: bool) -> WatchedReceiver {
        WatchedReceiver {
            receiver: Receiver::new(profile, ecn),
            twin: None,
            longest: profile.ack_delay,
            now: Time::ZERO,
            came: BTreeMap::new(),
            unacknowledged: false,
        }
    }

    /// From now on a copy goes the same way.
    pub fn part(&mut self, journal: &mut Journal) {
        journal.notes(format_args!("a copy starts here"));
        self.twin = Some(self.receiver.clone());
    }

    pub fn hear(&mut self, now: Time, segment: &Segment, journal: &mut Journal) -> Option<Segment> {
        journal.hears(now, segment);
        if segment.len > 0 && !segment.flags.has(Flags::SYN) {
            self.take(segment.seq, segment.seq + u64::from(segment.len));
            self.unacknowledged = true;
        }
        let answer = self.both(now, |receiver| receiver.on_segment(now, segment));
        self.check(now, answer.as_ref(), journal);
        answer
    }

    pub fn next_timeout(&self) -> Option<Time> {
        self.receiver.next_timeout()
    }

    pub fn time_out(&mut self, now: Time, journal: &mut Journal) -> Option<Segment> {
        let answer = self.both(now, |receiver| receiver.on_timeout(now));
        self.check(now, answer.as_ref(), journal);
        answer
    }

    pub fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    fn both<T: PartialEq + std::fmt::Debug>(&mut self, now: Time, act: impl Fn(&mut Receiver) -> T) -> T {
        assert!(now >= self.now, "the world's own time runs back");
        self.now = now;
        let answer = act(&mut self.receiver);
        if let Some(twin) = &mut self.twin {
            assert_eq!(act(twin), answer, "a copy does something else");
            assert_eq!(twin.next_timeout(), self.receiver.next_timeout(), "a copy waits for something else");
        }
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

    fn check(&mut self, now: Time, answer: Option<&Segment>, journal: &mut Journal) {
        let whole = self.came.get(&0).copied().unwrap_or(0);
        assert_eq!(self.delivered(), whole, "delivered, and what came in order");
        if let Some(ack) = answer {
            journal.sends(now, ack);
            self.check_ack(ack, whole);
            self.unacknowledged &= ack.flags.has(Flags::SYN);
        }
        let due = self.next_timeout();
        assert!(!self.unacknowledged || due.is_some(), "something waits for its ACK, and no timer runs");
        if let Some(due) = due {
            assert!(due >= now, "an ACK should have left {} before", Seconds(now.since(due)));
            let ahead = due.since(now);
            assert!(ahead <= self.longest, "an ACK waits for {}", Seconds(ahead));
        }
    }

    fn check_ack(&self, ack: &Segment, whole: u64) {
        assert!(ack.flags.has(Flags::ACK) && ack.len == 0 && ack.ecn == Ecn::NotEct);
        assert_eq!(ack.ack, whole, "RFC 9293, section 3.4: the next byte expected");
        let twice = ack.sack.duplicate(ack.ack);
        for (place, (from, to)) in ack.sack.iter(ack.ack).enumerate() {
            assert!(from < to && self.has(from, to), "{from}..{to} did not come (RFC 2018, section 3)");
            let told_twice = place == 0 && twice.is_some();
            assert!(told_twice || from > ack.ack, "{from}..{to} is acknowledged below {}", ack.ack);
        }
    }
}

/// A duration for a message.
struct Seconds(Span);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} s", self.0.seconds())
    }
}
