//! Plays a script to a host.

use crate::script::{
    Act, Assertion, Backend, Event, EventKind, EventTime, Offer, Packet, Quantity, Relation, Script, Stamps,
    Window,
};
use crate::setup::Setup;
use sojourn_tcp::Flags;
use sojourn_units::{Span, Time};

/// A TCP under test: one side of one connection.
///
/// Time is the script's, from zero at its first event; it never decreases. Failures outside the exchange (of a device,
/// for instance) are an `Err`, and end the script.
pub trait Host {
    /// Kind of the host.
    fn backend(&self) -> Backend;
    /// Performs an action of the application.
    fn act(&mut self, now: Time, act: Act) -> Result<(), String>;
    /// Delivers a segment.
    fn receive(&mut self, now: Time, packet: &Packet) -> Result<(), String>;
    /// Returns the next segment that the host sends up to `until`, and its time; None if there is none.
    ///
    /// All fields of the packet are set, except those unknown to the host. The ACK that ends the opening of a
    /// connection is left out: data may take its place.
    fn transmit(&mut self, until: Time) -> Result<Option<(Time, Packet)>, String>;
    /// Returns a quantity; None if the host does not expose it.
    fn measure(&self, quantity: Quantity) -> Option<f64>;
    /// Tolerance of a time after a wait of this length: zero for simulated time.
    fn slack(&self, wait: Span) -> Span;
    /// Returns whether an input was later than in the script, so that the output may not be an answer to it.
    fn late(&self) -> bool;
}

/// Tolerance of a kernel's times after a wait: its timers have ticks of up to 10 ms, the machine has other load, and its
/// timer wheel is coarse at a distance, by up to an eighth of the wait.
pub(crate) fn slack_of_kernels(wait: Span) -> Span {
    Span::from_millis(25) + Span::from_nanos(wait.nanos() / 8)
}

/// Segment received or sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Passed {
    /// Time.
    pub at: Time,
    /// The host sent it.
    pub sent: bool,
    /// Segment.
    pub packet: Packet,
}

/// Difference between host and script.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Line of the script.
    pub line: usize,
    /// Expected event.
    pub expected: String,
    /// Actual event.
    pub seen: String,
    /// Lateness that may explain it.
    pub late: Option<Late>,
    /// All segments up to there.
    pub passed: Vec<Passed>,
}

/// Kind of lateness when an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The expected segment.
    Host,
    /// The script itself ([`Host::late`]): the host's output may not be an answer to it.
    Script,
}

/// Plays a script to a host in its initial state.
pub fn play(script: &Script, host: &mut dyn Host) -> Result<Vec<Passed>, Failure> {
    let backend = host.backend();
    let mut player = Player {
        host,
        setup: &script.setup,
        now: Time::ZERO,
        ideal: Time::ZERO,
        line: 0,
        passed: Vec::new(),
    };
    let played = script
        .events
        .iter()
        .filter(|event| event.only.is_none_or(|only| only == backend))
        .try_for_each(|event| player.event(event))
        .and_then(|()| player.quiet(player.now));
    let Player { host, line, passed, .. } = player;
    match played {
        Ok(()) => Ok(passed),
        Err(Mismatch { expected, seen, late }) => {
            let late = if host.late() { Some(Late::Script) } else { late.then_some(Late::Host) };
            Err(Failure { line, expected, seen, late, passed })
        }
    }
}

struct Player<'a> {
    host: &'a mut dyn Host,
    setup: &'a Setup,
    now: Time,
    /// Time as it would be without lateness of the host, to which the script's timestamps refer.
    ideal: Time,
    line: usize,
    passed: Vec<Passed>,
}

/// Expected and actual event.
struct Mismatch {
    expected: String,
    seen: String,
    /// Lateness, if the event is right but for its time.
    late: bool,
}

impl Mismatch {
    fn new(expected: String, seen: String) -> Mismatch {
        Mismatch { expected, seen, late: false }
    }
}

/// Failure of the host itself.
impl From<String> for Mismatch {
    fn from(seen: String) -> Mismatch {
        Mismatch::new("a host that works".into(), seen)
    }
}

impl Player<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Mismatch> {
        let together = event.line == self.line && matches!(event.kind, EventKind::Receives(_));
        self.line = event.line;
        let (from, to) = self.bounds(event.time);
        if let EventKind::Sends(pattern) = &event.kind {
            return self.expect(pattern, from, to).map(|_| ());
        }
        if from < self.now {
            return Err(Mismatch::new(format!("an event at {from}"), format!("it is {} already", self.now)));
        }
        // Inputs and assertions precede segments that the host sends at the same instant.
        let asserts = matches!(event.kind, EventKind::Assert(_)) && from == self.now;
        if !together && !asserts {
            let before = Time::from_nanos(from.nanos().saturating_sub(1));
            self.quiet(if event.kind == EventKind::Nothing { from } else { before.max(self.now) })?;
        }
        self.pass(from, from);
        match &event.kind {
            EventKind::Receives(packet) => self.receive(packet),
            EventKind::Acts(act) => Ok(self.host.act(self.now, *act)?),
            EventKind::Connect(rtt) => self.connect(*rtt),
            EventKind::Accept => self.accept(),
            EventKind::Assert(assertions) => {
                assertions.iter().try_for_each(|assertion| self.check(assertion))
            }
            EventKind::Nothing | EventKind::Sends(_) => Ok(()),
        }
    }

    /// Sets the time to `now`, for an event due at `wanted`.
    fn pass(&mut self, wanted: Time, now: Time) {
        self.ideal += wanted.since(self.now);
        self.now = now;
    }

    /// First and last acceptable time.
    fn bounds(&self, when: EventTime) -> (Time, Time) {
        match when {
            EventTime::After(span) => (self.now + span, self.now + span),
            EventTime::AfterAbout(from, to) => (self.now + from, self.now + to),
            EventTime::At(time) => (time, time),
            EventTime::Between(from, to) => (from, to),
            EventTime::Any => (self.now, self.now + A_LONG_TIME),
        }
    }

    /// Checks a segment that the host sends now.
    fn expect(&mut self, pattern: &Packet, from: Time, to: Time) -> Result<Packet, Mismatch> {
        let slack = self.host.slack(to.since(self.now));
        let mismatch = |seen: String, late: bool| {
            let time = if from == to { format!("at {from}") } else { format!("from {from} to {to}") };
            Mismatch { expected: format!("{} {time}", pattern.text()), seen, late }
        };
        let limit = to + slack;
        let mut sent = self.host.transmit(limit)?;
        if sent.is_none() && slack > Span::ZERO {
            sent = self.host.transmit(limit + GRACE)?;
        }
        let Some((at, packet)) = sent else {
            return Err(mismatch(format!("nothing up to {limit}"), false));
        };
        self.passed.push(Passed { at, sent: true, packet: packet.clone() });
        let on_time = from <= at + slack && at <= limit;
        let seen = at.max(self.now);
        self.pass(seen.clamp(from, to), seen);
        let right = pattern
            .allows(&packet, Slip::new(self.ideal, self.now, if slack == Span::ZERO { slack } else { TICK }));
        if !on_time || !right {
            return Err(mismatch(format!("{} at {at}", packet.text()), right && at > limit));
        }
        Ok(packet)
    }

    /// Checks that the host sends nothing up to `until`.
    fn quiet(&mut self, until: Time) -> Result<(), Mismatch> {
        let Some((at, packet)) = self.host.transmit(until)? else { return Ok(()) };
        let seen = format!("{} at {at}", packet.text());
        self.passed.push(Passed { at, sent: true, packet });
        Err(Mismatch::new(format!("nothing up to {until}"), seen))
    }

    fn receive(&mut self, packet: &Packet) -> Result<(), Mismatch> {
        self.passed.push(Passed { at: self.now, sent: false, packet: packet.clone() });
        Ok(self.host.receive(self.now, packet)?)
    }

    fn check(&self, assertion: &Assertion) -> Result<(), Mismatch> {
        let expected = assertion.to_string();
        match self.host.measure(assertion.quantity) {
            Some(value) if self.holds(assertion, value) => Ok(()),
            Some(value) => Err(Mismatch::new(expected, value.to_string())),
            None => Err(Mismatch::new(expected, "a host that does not expose it".into())),
        }
    }

    /// Compares with a tolerance for rounding: windows are whole bytes, and times whole microseconds or ticks of the
    /// host's clock.
    fn holds(&self, assertion: &Assertion, value: f64) -> bool {
        let slack = self.host.slack(Span::ZERO).seconds() * 1000.0;
        let fineness = match assertion.quantity {
            Quantity::Cwnd | Quantity::Ssthresh | Quantity::Flight => 1.0 / f64::from(self.setup.mss),
            Quantity::Rto | Quantity::Srtt => slack.max(0.001),
        };
        let same = (value - assertion.value).abs() <= fineness * 1.001;
        match assertion.relation {
            Relation::Equal => same,
            Relation::Different => !same,
            Relation::Less => value < assertion.value && !same,
            Relation::AtMost => value < assertion.value || same,
            Relation::More => value > assertion.value && !same,
            Relation::AtLeast => value > assertion.value || same,
        }
    }

    /// The usual opening of a sender: everything that its SYN offers is accepted.
    fn connect(&mut self, rtt: Span) -> Result<(), Mismatch> {
        self.host.act(self.now, Act::Open)?;
        let ecn = Flags::NONE.with(Flags::ECE | Flags::CWR, self.setup.ecn);
        let syn = Packet { flags: Flags::SYN | ecn, ..Packet::default() };
        let syn = self.expect(&syn, self.now, self.now)?;
        let answer = Packet {
            flags: (Flags::SYN | Flags::ACK).with(Flags::ECE, self.setup.ecn),
            ack: 1,
            stamp: syn.stamp.map(|stamp| Stamps { value: stamp.value, echo: stamp.value }),
            offer: syn.offer.map(|offer| Offer { scale: offer.scale.and(Some(SHIFT)), ..offer }),
            ..Packet::default()
        };
        let answered = self.now + rtt;
        self.quiet(Time::from_nanos(answered.nanos().saturating_sub(1)).max(self.now))?;
        self.pass(answered, answered);
        self.receive(&answer)
    }

    /// The usual opening towards a receiver: everything is offered that the script's options enable.
    fn accept(&mut self) -> Result<(), Mismatch> {
        let Setup { profile, mss, ecn, .. } = self.setup;
        let now = Some(self.now.nanos() / NANOS_PER_MILLI);
        let stamp = profile.timestamps.then_some(Stamps { value: now, echo: Some(0) });
        let scale = profile.window_scaling.then_some(SHIFT);
        let offer = Offer { mss: Some(u64::from(*mss)), sack: profile.sack != Some(false), scale };
        let flags = Flags::SYN.with(Flags::ECE | Flags::CWR, *ecn);
        self.receive(&Packet { flags, stamp, offer: Some(offer), ..Packet::default() })?;
        let flags = (Flags::SYN | Flags::ACK).with(Flags::ECE, *ecn);
        self.expect(&Packet { flags, ack: 1, ..Packet::default() }, self.now, self.now)?;
        self.receive(&Packet { flags: Flags::ACK, seq: 1, ack: 1, stamp, ..Packet::default() })
    }
}

impl Packet {
    /// Checks `seen`, which is off its time by `slip`, against this pattern.
    pub fn allows(&self, seen: &Packet, slip: Slip) -> bool {
        let stamps = |pattern: Stamps, seen: Stamps| {
            pattern.value.is_none_or(|value| seen.value.is_none_or(|seen| slip.allows(value, seen)))
                && agrees(pattern.echo, seen.echo)
        };
        // The announced segment size is a property of the path, not of the exchange.
        let offers = |pattern: Offer, seen: Offer| pattern.sack == seen.sack && pattern.scale == seen.scale;
        (self.flags, self.seq, self.len) == (seen.flags, seen.seq, seen.len)
            && (self.ack == seen.ack || !self.flags.has(Flags::ACK))
            && self.window.is_none_or(|pattern| seen.window.is_none_or(|seen| pattern.allows(seen)))
            && agrees(self.ecn, seen.ecn)
            && self.sack == seen.sack
            && self.stamp.is_none_or(|pattern| seen.stamp.is_some_and(|seen| stamps(pattern, seen)))
            && self.offer.is_none_or(|pattern| seen.offer.is_some_and(|seen| offers(pattern, seen)))
    }

    /// Text in the syntax of scripts, in bytes.
    pub fn text(&self) -> String {
        let flags: String =
            [('S', Flags::SYN), ('F', Flags::FIN), ('E', Flags::ECE), ('W', Flags::CWR), ('.', Flags::ACK)]
                .into_iter()
                .filter_map(|(letter, flag)| self.flags.has(flag).then_some(letter))
                .collect();
        let mut text = String::new();
        if let Some(ecn) = self.ecn {
            text += &format!("[{}] ", ["noecn", "ect0", "ect1", "ce"][ecn as usize]);
        }
        text += &format!("{flags} {}:{}({})", self.seq, self.seq + self.len, self.len);
        if self.flags.has(Flags::ACK) {
            text += &format!(" ack {}", self.ack);
        }
        match self.window {
            Some(Window::Field(field)) => text += &format!(" win {field}"),
            Some(Window::Seen { field, bytes }) if field == bytes => text += &format!(" win {field}"),
            Some(Window::Seen { field, bytes }) => text += &format!(" win {field} ({bytes} bytes)"),
            Some(Window::Room(bytes)) => text += &format!(" room for {bytes} bytes"),
            None => {}
        }
        let options = self.options_text();
        if options.is_empty() { text } else { format!("{text} <{}>", options.join(",")) }
    }

    fn options_text(&self) -> Vec<String> {
        let mut options = Vec::new();
        if let Some(Offer { mss, sack, scale }) = self.offer {
            options.extend(mss.map(|mss| format!("mss {mss}")));
            options.extend(sack.then(|| "sackOK".into()));
            options.extend(scale.map(|scale| format!("wscale {scale}")));
        }
        let number = |value: Option<u64>| value.map_or("?".into(), |value| value.to_string());
        options.extend(
            self.stamp.map(|stamp| format!("TS val {} ecr {}", number(stamp.value), number(stamp.echo))),
        );
        if !self.sack.is_empty() {
            let blocks: Vec<_> = self.sack.iter().map(|(from, to)| format!("{from}:{to}")).collect();
            options.push(format!("sack {}", blocks.join(" ")));
        }
        options
    }
}

impl Window {
    fn allows(self, seen: Window) -> bool {
        match (self, seen) {
            (Window::Field(expected), Window::Seen { field, .. }) => expected == field,
            (Window::Room(expected), Window::Seen { bytes, .. }) => expected == bytes,
            _ => self == seen,
        }
    }
}

/// Tolerance of a timestamp, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slip {
    before: u64,
    behind: u64,
}

impl Slip {
    /// A stamp is a reading of the clock: it may deviate by as much as its segment does, and by the clock's ticks.
    fn new(ideal: Time, now: Time, tick: Span) -> Slip {
        let millis = |slip: Span| (slip + tick).nanos().div_ceil(NANOS_PER_MILLI);
        Slip { before: millis(ideal.since(now)), behind: millis(now.since(ideal)) }
    }

    fn allows(self, wanted: u64, seen: u64) -> bool {
        (wanted.saturating_sub(self.before)..=wanted.saturating_add(self.behind)).contains(&seen)
    }
}

/// Returns whether a pattern leaves the value open, the host does not expose it, or the two are equal.
fn agrees<T: Copy + PartialEq>(pattern: Option<T>, seen: Option<T>) -> bool {
    pattern.is_none() || seen.is_none() || pattern == seen
}

/// Window scale of the script's side in the usual opening.
const SHIFT: u8 = 0;
const NANOS_PER_MILLI: u64 = 1_000_000;
/// Tick of a timestamp clock, and as much for reading it.
const TICK: Span = Span::from_millis(2);
/// Largest lateness at which a segment counts as late instead of missing.
const GRACE: Span = Span::from_millis(250);
/// Longer than any wait of a host.
const A_LONG_TIME: Span = Span::from_secs(1000);
