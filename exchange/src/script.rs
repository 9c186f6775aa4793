//! Scripts: head, options, and events in order.
//!
//! `docs/howto/exchange-scripts.md` describes the syntax. Sequence numbers are relative, as in packetdrill: SYN has
//! number 0, and the first byte of data number 1. Numbers in segments (`data 1..8`, `ack 3`) are converted to bytes
//! here, and a line for several segments to one event for each.

mod segment;

use crate::setup::Setup;
use sojourn_tcp::Flags;
use sojourn_units::{Ecn, Span, Time};
use std::fmt;

/// Script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Title: the first comment line.
    pub title: String,
    /// Source: the RFCs and sections of the second comment line.
    pub source: String,
    /// Host that it is for.
    pub setup: Setup,
    /// Events in order.
    pub events: Vec<Event>,
}

/// Event of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Line of the script, from 1. Segments of one line are simultaneous.
    pub line: usize,
    /// Backend to which it is limited, if they differ; docs/deviations gives the reason.
    pub only: Option<Backend>,
    /// Time.
    pub time: EventTime,
    /// Kind.
    pub kind: EventKind,
}

/// Host that a script is played to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// `ours:`, this project's TCP.
    Ours,
    /// `kernel:`, the TCP of this machine.
    Kernel,
}

/// Time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTime {
    /// Delay after the event before.
    After(Span),
    /// Range of delays after the event before.
    AfterAbout(Span, Span),
    /// Absolute time.
    At(Time),
    /// Range of absolute times.
    Between(Time, Time),
    /// Any time; for segments that the host sends.
    Any,
}

/// Kind of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// `> …`: the host sends this.
    Sends(Packet),
    /// `< …`: the host receives this.
    Receives(Packet),
    /// Action of the host's application.
    Acts(Act),
    /// `connect rtt 100ms`: the host opens the connection, with this RTT of the handshake.
    Connect(Span),
    /// `accept`: the script opens the connection, and the host answers.
    Accept,
    /// `nothing`: the host has sent nothing so far.
    Nothing,
    /// `%{ assert … }%`.
    Assert(Vec<Assertion>),
}

/// Action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// `connect`: opens the connection.
    Open,
    /// `write 10000`: writes bytes to send; `write forever`: more than will ever be sent.
    Write(u64),
    /// `close`: ends the data.
    Close,
    /// `stop_reading`: leaves arriving data in the receive buffer.
    StopReading,
    /// `read 5000`: reads bytes from the receive buffer.
    Read(u64),
}

/// Segment of a script: literal towards the host, a pattern from the host.
///
/// Fields left out are None: a pattern then matches anything, and a literal takes the usual value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// SYN, FIN, ACK, ECE and CWR.
    pub flags: Flags,
    /// Number of the first byte, or of SYN or FIN without data.
    pub seq: u64,
    /// Payload, bytes.
    pub len: u64,
    /// With ACK: next number expected.
    pub ack: u64,
    /// The receive window.
    pub window: Option<Window>,
    /// ECN field of the IP header.
    pub ecn: Option<Ecn>,
    /// SACK blocks in order. An empty list in a pattern matches no blocks.
    pub sack: Vec<(u64, u64)>,
    /// The timestamps option.
    pub stamp: Option<Stamps>,
    /// Options of a SYN.
    pub offer: Option<Offer>,
}

/// Receive window of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// `win 1000`: field of the header, unscaled.
    Field(u64),
    /// `room 4`: bytes (here 4 segments), whatever the scale.
    Room(u64),
    /// Window that a host sent: field and bytes.
    Seen {
        /// Field of the header.
        field: u64,
        /// Bytes.
        bytes: u64,
    },
}

/// Timestamps option, milliseconds since the start of the script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// TSval.
    pub value: Option<u64>,
    /// TSecr.
    pub echo: Option<u64>,
}

/// The options of a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// `mss`.
    pub mss: Option<u64>,
    /// `sackOK`.
    pub sack: bool,
    /// `wscale`.
    pub scale: Option<u8>,
}

/// `cwnd >= 10`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assertion {
    /// Quantity.
    pub quantity: Quantity,
    /// Comparison.
    pub relation: Relation,
    /// Value to compare with.
    pub value: f64,
}

/// Quantity of a host's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Congestion window, segments.
    Cwnd,
    /// Slow-start threshold, segments.
    Ssthresh,
    /// Data outstanding, segments.
    Flight,
    /// Retransmission timeout in force, milliseconds.
    Rto,
    /// Smoothed round-trip time, milliseconds.
    Srtt,
}

/// Comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    Different,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

/// Error in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Line, from 1; 0 for the whole script.
    pub line: usize,
    /// Message.
    pub message: String,
}

impl Script {
    /// Reads a script.
    pub fn read(text: &str) -> Result<Script, ScriptError> {
        let lines = || text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let mut head = lines().map_while(|(_, line)| comment(line));
        let title = head.next().ok_or_else(|| script_error(0, "the first line is a comment, the title"))?;
        let source = head.next().filter(|line| cites(line));
        let source = source
            .ok_or_else(|| script_error(2, "the second line is a comment that cites an RFC and a section"))?;
        let rest =
            || lines().map(|(at, line)| (at, without_comment(line))).filter(|(_, line)| !line.is_empty());
        let options: Vec<_> = rest().filter(|(_, line)| line.starts_with("--")).collect();
        let setup = Setup::read(&options).map_err(|(line, message)| ScriptError { line, message })?;
        let mut events = Vec::new();
        for (line, text) in rest().filter(|(_, line)| !line.starts_with("--")) {
            read_event(line, text, u64::from(setup.mss), &mut events)
                .map_err(|message| ScriptError { line, message })?;
            if events.len() > MOST_EVENTS {
                return Err(script_error(line, "more segments than a script may have, which is 100000"));
            }
        }
        if events.is_empty() {
            return Err(script_error(0, "no events"));
        }
        Ok(Script { title: title.into(), source: source.into(), setup, events })
    }
}

fn script_error(line: usize, message: &str) -> ScriptError {
    ScriptError { line, message: message.into() }
}

fn comment(line: &str) -> Option<&str> {
    line.strip_prefix("//").or_else(|| line.strip_prefix('#')).map(str::trim)
}

/// Removes a comment at the end of a line.
fn without_comment(line: &str) -> &str {
    if comment(line).is_some() {
        return "";
    }
    line.split(" //").next().unwrap_or("").trim()
}

/// Returns whether a line cites an RFC by number, and a section, an appendix or an equation.
fn cites(line: &str) -> bool {
    let numbered =
        line.split("RFC ").skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    numbered && ["section", "appendix", "equation"].iter().any(|word| line.contains(word))
}

/// Reads one line, which may be several events.
fn read_event(line: usize, text: &str, mss: u64, events: &mut Vec<Event>) -> Result<(), String> {
    let (only, text) = read_backend(text);
    if text.starts_with("%{") {
        let kind = EventKind::Assert(assertions(text)?);
        events.push(Event { line, only, time: EventTime::After(Span::ZERO), kind });
        return Ok(());
    }
    let (time, rest) = text.split_once(' ').ok_or("expected a time and an event")?;
    let time = read_time(time)?;
    for (index, kind) in read_events(rest.trim(), mss)?.into_iter().enumerate() {
        let at_once = index > 0 && time != EventTime::Any;
        events.push(Event {
            line,
            only,
            time: if at_once { EventTime::After(Span::ZERO) } else { time },
            kind,
        });
    }
    let waits = matches!(time, EventTime::Any | EventTime::Between(..) | EventTime::AfterAbout(..));
    if waits && !matches!(events.last(), Some(Event { kind: EventKind::Sends(_), .. })) {
        return Err("only segments that the host sends may have an unknown time".into());
    }
    Ok(())
}

fn read_backend(text: &str) -> (Option<Backend>, &str) {
    for (prefix, backend) in [("ours:", Backend::Ours), ("kernel:", Backend::Kernel)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            return (Some(backend), rest.trim());
        }
    }
    (None, text)
}

fn read_time(text: &str) -> Result<EventTime, String> {
    if text == "*" {
        return Ok(EventTime::Any);
    }
    let relative = text.starts_with('+');
    let (from, to) = text.split_once('~').unwrap_or((text, text));
    let (from, to) = (span(from.trim_start_matches('+'))?, span(to.trim_start_matches('+'))?);
    if from > to {
        return Err(format!("\"{text}\" ends before it begins"));
    }
    Ok(match (relative, from == to) {
        (true, true) => EventTime::After(from),
        (true, false) => EventTime::AfterAbout(from, to),
        (false, true) => EventTime::At(Time::ZERO + from),
        (false, false) => EventTime::Between(Time::ZERO + from, Time::ZERO + to),
    })
}

/// Reads a time in seconds, or with a unit.
fn span(text: &str) -> Result<Span, String> {
    let bare = text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    Span::parse(&if bare { format!("{text} s") } else { text.into() }).map_err(|error| error.to_string())
}

fn read_events(text: &str, mss: u64) -> Result<Vec<EventKind>, String> {
    if let Some(segment) = text.strip_prefix('>') {
        return Ok(segment::read(segment, mss)?.into_iter().map(EventKind::Sends).collect());
    }
    if let Some(segment) = text.strip_prefix('<') {
        return Ok(segment::read(segment, mss)?.into_iter().map(EventKind::Receives).collect());
    }
    if text.starts_with("%{") {
        return Ok(vec![EventKind::Assert(assertions(text)?)]);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(vec![match words[..] {
        ["connect"] => EventKind::Acts(Act::Open),
        ["connect", "rtt", rtt] => EventKind::Connect(span(rtt)?),
        ["accept"] => EventKind::Accept,
        ["nothing"] => EventKind::Nothing,
        ["write", "forever"] => EventKind::Acts(Act::Write(FOREVER)),
        ["write", bytes] => EventKind::Acts(Act::Write(amount(bytes, 1)?)),
        ["write", segments, "segments"] => EventKind::Acts(Act::Write(amount(segments, mss)?)),
        ["close"] => EventKind::Acts(Act::Close),
        ["stop_reading"] => EventKind::Acts(Act::StopReading),
        ["read", bytes] => EventKind::Acts(Act::Read(amount(bytes, 1)?)),
        ["read", segments, "segments"] => EventKind::Acts(Act::Read(amount(segments, mss)?)),
        _ => {
            return Err(format!(
                "\"{text}\" is no event; expected > SEGMENT, < SEGMENT, connect, accept, write, close, \
                 stop_reading, read, nothing or %{{ assert ... }}%"
            ));
        }
    }])
}

/// `%{ assert cwnd == 10, ssthresh >= 5 }%`.
fn assertions(text: &str) -> Result<Vec<Assertion>, String> {
    let inner = text.strip_prefix("%{").and_then(|rest| rest.strip_suffix("}%"));
    let inner = inner.and_then(|inner| inner.trim().strip_prefix("assert "));
    inner.ok_or("%{ assert QUANTITY == VALUE, … }%")?.split(',').map(assertion).collect()
}

fn assertion(text: &str) -> Result<Assertion, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [quantity, relation, value] = words[..] else {
        return Err(format!("\"{text}\" is not QUANTITY == VALUE"));
    };
    let quantity = QUANTITIES.iter().find(|(name, _)| *name == quantity);
    let relation = RELATIONS.iter().find(|(sign, _)| *sign == relation);
    let (Some((_, quantity)), Some((_, relation))) = (quantity, relation) else {
        return Err(format!(
            "\"{text}\" has an unknown quantity; expected cwnd, ssthresh, flight, rto_ms or srtt_ms"
        ));
    };
    let value = value.parse().map_err(|_| format!("\"{value}\" is not a number"))?;
    Ok(Assertion { quantity: *quantity, relation: *relation, value })
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a whole number"))
}

/// `count` times `each` bytes.
fn amount(text: &str, each: u64) -> Result<u64, String> {
    let bytes = number(text)?.checked_mul(each).filter(|bytes| *bytes <= FOREVER);
    bytes.ok_or_else(|| format!("\"{text}\" is too much; expected \"forever\" at most"))
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quantity =
            QUANTITIES.iter().find(|(_, quantity)| *quantity == self.quantity).map_or("", |found| found.0);
        let relation =
            RELATIONS.iter().find(|(_, relation)| *relation == self.relation).map_or("", |found| found.0);
        write!(f, "{quantity} {relation} {}", self.value)
    }
}

/// Unlimited data, bytes.
pub const FOREVER: u64 = 1 << 50;
/// Most events of a script.
const MOST_EVENTS: usize = 100_000;

const QUANTITIES: &[(&str, Quantity)] = &[
    ("cwnd", Quantity::Cwnd),
    ("ssthresh", Quantity::Ssthresh),
    ("flight", Quantity::Flight),
    ("rto_ms", Quantity::Rto),
    ("srtt_ms", Quantity::Srtt),
];

const RELATIONS: &[(&str, Relation)] = &[
    ("==", Relation::Equal),
    ("!=", Relation::Different),
    ("<", Relation::Less),
    ("<=", Relation::AtMost),
    (">", Relation::More),
    (">=", Relation::AtLeast),
];

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "// A title\n// RFC 5681, section 3.1\n";

    fn events(body: &str) -> Result<Vec<Event>, ScriptError> {
        Script::read(&format!("{HEAD}{body}")).map(|script| script.events)
    }

    #[test]
    fn a_head_is_a_title_and_a_source() {
        let script =
            Script::read(&format!("{HEAD}--mss=500 // small\n+0 write 3 segments // all of it\n")).unwrap();
        assert_eq!((script.title.as_str(), script.source.as_str()), ("A title", "RFC 5681, section 3.1"));
        assert_eq!(script.events[0].kind, EventKind::Acts(Act::Write(1500)));
        assert_eq!(script.events[0].line, 4);
        assert_eq!(Script::read("// A title\n// somewhere\n+0 nothing").unwrap_err().line, 2);
        assert_eq!(Script::read("+0 nothing").unwrap_err().line, 0);
    }

    #[test]
    fn times_are_packetdrills() {
        let ms = Span::from_millis;
        for (text, when) in [
            ("+0.1", EventTime::After(ms(100))),
            ("+25ms", EventTime::After(ms(25))),
            ("1.5", EventTime::At(Time::ZERO + ms(1500))),
            ("+0.1~+0.2", EventTime::AfterAbout(ms(100), ms(200))),
            ("0.2~0.3", EventTime::Between(Time::ZERO + ms(200), Time::ZERO + ms(300))),
            ("*", EventTime::Any),
        ] {
            assert_eq!(read_time(text), Ok(when), "{text}");
        }
        assert!(events("+0.3~+0.2 > data 1").unwrap_err().message.contains("before it begins"));
        assert!(events("* < ack 1").unwrap_err().message.contains("only segments that the host sends"));
    }

    #[test]
    fn a_range_is_an_event_for_each_segment() {
        let numbers = |text: &str| {
            let events = events(text).unwrap();
            let seqs = events.iter().map(|event| match &event.kind {
                EventKind::Sends(packet) => packet.seq,
                EventKind::Receives(packet) => packet.ack,
                other => panic!("{other:?}"),
            });
            seqs.zip(events.iter().map(|event| event.time)).collect::<Vec<_>>()
        };
        let (first, then) = (EventTime::After(Span::from_millis(100)), EventTime::After(Span::ZERO));
        assert_eq!(numbers("+0.1 > data 1..3"), [(1, first), (1001, then), (2001, then)]);
        assert_eq!(numbers("+0.1 < ack 4..5"), [(4001, first), (5001, then)]);
        assert_eq!(numbers("+0.1 < ack 4 times 2"), [(4001, first), (4001, then)]);
    }

    #[test]
    fn a_line_may_be_for_one_backend() {
        let events = events("kernel: +0 > data 1\nours: %{ assert cwnd == 1 }%\n+0 nothing").unwrap();
        let only: Vec<_> = events.iter().map(|event| event.only).collect();
        assert_eq!(only, [Some(Backend::Kernel), Some(Backend::Ours), None]);
    }

    #[test]
    fn assertions_compare_known_quantities() {
        let [Event { kind: EventKind::Assert(list), .. }] =
            &events("%{ assert cwnd == 10, rto_ms <= 300 }%").unwrap()[..]
        else {
            panic!("one event")
        };
        assert_eq!(list.iter().map(ToString::to_string).collect::<Vec<_>>(), ["cwnd == 10", "rto_ms <= 300"]);
        assert!(events("%{ assert color == 3 }%").unwrap_err().message.contains("color"));
        assert!(events("%{ print 3 }%").is_err());
    }

    #[test]
    fn an_invalid_line_is_reported_by_its_number() {
        for body in
            ["+0 fly", "0.5", "later > data 1", "+0 write many", "+0 > data 0", "+0 < ack 1 sock 2..3"]
        {
            let ScriptError { line, message } = events(&format!("\n{body}")).unwrap_err();
            assert!(line == 4 && !message.is_empty(), "{body}");
        }
        assert!(events("").is_err());
    }
}
