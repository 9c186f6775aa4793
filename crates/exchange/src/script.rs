//! A script as data: its head, its options, its events in order.
//!
//! `docs/howto/exchange-scripts.md` describes the form. Sequence numbers are relative, as in packetdrill: SYN is number
//! 0, and the first byte of data number 1. What is written in segments (`data 1..8`, `ack 3`) is turned into bytes
//! here, and what stands for several segments into one event for each.

mod segment;

use crate::setup::Setup;
use sojourn_tcp::Flags;
use sojourn_units::{Ecn, Span, Time};
use std::fmt;

/// A script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The first comment line.
    pub title: String,
    /// The RFCs and sections that it encodes: the second comment line.
    pub source: String,
    /// The host that it is for.
    pub setup: Setup,
    /// What happens, in order.
    pub events: Vec<Event>,
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The script's line, from 1. Segments of one line come or go together.
    pub line: usize,
    /// The one backend that it is for, where they differ; docs/deviations says why.
    pub only: Option<Backend>,
    /// Its time.
    pub when: When,
    /// What it is.
    pub what: What,
}

/// What a script is played to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// `ours:`, this project's TCP.
    Ours,
    /// `kernel:`, the TCP of the machine.
    Kernel,
}

/// When something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So long after the event before.
    After(Span),
    /// So long after the event before: between these two.
    AfterAbout(Span, Span),
    /// At this time.
    At(Time),
    /// Between these two times.
    Between(Time, Time),
    /// At any time; for what the host sends.
    Any,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// `> …`: the host sends this.
    Sends(Packet),
    /// `< …`: this comes to the host.
    Hears(Packet),
    /// The host's application acts.
    Acts(Act),
    /// `connect rtt 100ms`: the host opens, and the answer takes this time.
    Connect(Span),
    /// `accept`: the script opens, and the host answers.
    Accept,
    /// `nothing`: the host has sent nothing up to here.
    Nothing,
    /// `%{ assert … }%`.
    Assert(Vec<Assertion>),
}

/// What an application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// `connect`: it opens the connection.
    Open,
    /// `write 10000`: it has so many more bytes to send; `write forever`: more than will ever be sent.
    Write(u64),
    /// `close`: nothing comes behind what it has written.
    Close,
    /// `stop_reading`: what arrives stays in the receive buffer.
    StopReading,
    /// `read 5000`: it takes so many bytes out of the receive buffer.
    Read(u64),
}

/// A segment as a script writes it: to the host as it is, from the host as a pattern.
///
/// What a script leaves out is None: in a pattern anything will do, towards the host it is the usual.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// SYN, FIN, ACK, ECE and CWR.
    pub flags: Flags,
    /// Number of its first byte, or of its SYN or FIN where it has no bytes.
    pub seq: u64,
    /// Payload, bytes.
    pub len: u64,
    /// With ACK: the number expected next.
    pub ack: u64,
    /// The receive window.
    pub window: Option<Window>,
    /// The ECN bits of the IP header.
    pub ecn: Option<Ecn>,
    /// SACK blocks in their order. An empty list in a pattern means that there are none.
    pub sack: Vec<(u64, u64)>,
    /// The timestamps option.
    pub stamp: Option<Stamps>,
    /// What a SYN offers.
    pub offer: Option<Offer>,
}

/// The receive window of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// `win 1000`: the header's field, unscaled.
    Field(u64),
    /// `room 4`: so many bytes (4 segments), whatever the scale.
    Room(u64),
    /// What a host sent: the field, and what it means.
    Seen {
        /// The header's field.
        field: u64,
        /// Bytes.
        bytes: u64,
    },
}

/// The timestamps option, milliseconds since the start of the script.
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
    /// What is compared.
    pub quantity: Quantity,
    /// How.
    pub relation: Relation,
    /// With what.
    pub value: f64,
}

/// What a script can ask a host for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The congestion window, segments.
    Cwnd,
    /// The slow-start threshold, segments.
    Ssthresh,
    /// What is outstanding, segments.
    Flight,
    /// The retransmission timeout in force, milliseconds.
    Rto,
    /// The smoothed round-trip time, milliseconds.
    Srtt,
}

/// A comparison.
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

/// What is wrong with a script, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1; 0 where it is the whole script.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl Script {
    /// Reads a script.
    pub fn read(text: &str) -> Result<Script, Fault> {
        let lines = || text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let mut head = lines().map_while(|(_, line)| comment(line));
        let title = head.next().ok_or_else(|| fault(0, "the first line is a comment, the title"))?;
        let source = head.next().filter(|line| cites(line));
        let source =
            source.ok_or_else(|| fault(2, "the second line is a comment that cites an RFC and a section"))?;
        let rest =
            || lines().map(|(at, line)| (at, without_comment(line))).filter(|(_, line)| !line.is_empty());
        let options: Vec<_> = rest().filter(|(_, line)| line.starts_with("--")).collect();
        let setup = Setup::read(&options).map_err(|(line, message)| Fault { line, message })?;
        let mut events = Vec::new();
        for (line, text) in rest().filter(|(_, line)| !line.starts_with("--")) {
            read_event(line, text, u64::from(setup.mss), &mut events)
                .map_err(|message| Fault { line, message })?;
            if events.len() > MOST_EVENTS {
                return Err(fault(line, "more segments than a script may have, which is 100000"));
            }
        }
        if events.is_empty() {
            return Err(fault(0, "nothing happens in it"));
        }
        Ok(Script { title: title.into(), source: source.into(), setup, events })
    }
}

fn fault(line: usize, message: &str) -> Fault {
    Fault { line, message: message.into() }
}

fn comment(line: &str) -> Option<&str> {
    line.strip_prefix("//").or_else(|| line.strip_prefix('#')).map(str::trim)
}

/// The line up to a comment at its end.
fn without_comment(line: &str) -> &str {
    if comment(line).is_some() {
        return "";
    }
    line.split(" //").next().unwrap_or("").trim()
}

/// Whether a line names an RFC by number, and a section, an appendix or an equation.
fn cites(line: &str) -> bool {
    let numbered =
        line.split("RFC ").skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    numbered && ["section", "appendix", "equation"].iter().any(|word| line.contains(word))
}

/// One line, which may be several events.
fn read_event(line: usize, text: &str, mss: u64, events: &mut Vec<Event>) -> Result<(), String> {
    let (only, text) = read_backend(text);
    if text.starts_with("%{") {
        let what = What::Assert(assertions(text)?);
        events.push(Event { line, only, when: When::After(Span::ZERO), what });
        return Ok(());
    }
    let (time, rest) = text.split_once(' ').ok_or("a time, and what happens then")?;
    let when = read_time(time)?;
    for (index, what) in read_what(rest.trim(), mss)?.into_iter().enumerate() {
        let at_once = index > 0 && when != When::Any;
        events.push(Event { line, only, when: if at_once { When::After(Span::ZERO) } else { when }, what });
    }
    let waits = matches!(when, When::Any | When::Between(..) | When::AfterAbout(..));
    if waits && !matches!(events.last(), Some(Event { what: What::Sends(_), .. })) {
        return Err("only what the host sends may come at a time that is not known".into());
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

fn read_time(text: &str) -> Result<When, String> {
    if text == "*" {
        return Ok(When::Any);
    }
    let relative = text.starts_with('+');
    let (from, to) = text.split_once('~').unwrap_or((text, text));
    let (from, to) = (span(from.trim_start_matches('+'))?, span(to.trim_start_matches('+'))?);
    if from > to {
        return Err(format!("\"{text}\" ends before it begins"));
    }
    Ok(match (relative, from == to) {
        (true, true) => When::After(from),
        (true, false) => When::AfterAbout(from, to),
        (false, true) => When::At(Time::ZERO + from),
        (false, false) => When::Between(Time::ZERO + from, Time::ZERO + to),
    })
}

/// A time in seconds, or with its unit.
fn span(text: &str) -> Result<Span, String> {
    let bare = text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    Span::parse(&if bare { format!("{text} s") } else { text.into() })
}

fn read_what(text: &str, mss: u64) -> Result<Vec<What>, String> {
    if let Some(segment) = text.strip_prefix('>') {
        return Ok(segment::read(segment, mss)?.into_iter().map(What::Sends).collect());
    }
    if let Some(segment) = text.strip_prefix('<') {
        return Ok(segment::read(segment, mss)?.into_iter().map(What::Hears).collect());
    }
    if text.starts_with("%{") {
        return Ok(vec![What::Assert(assertions(text)?)]);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(vec![match words[..] {
        ["connect"] => What::Acts(Act::Open),
        ["connect", "rtt", rtt] => What::Connect(span(rtt)?),
        ["accept"] => What::Accept,
        ["nothing"] => What::Nothing,
        ["write", "forever"] => What::Acts(Act::Write(FOREVER)),
        ["write", bytes] => What::Acts(Act::Write(amount(bytes, 1)?)),
        ["write", segments, "segments"] => What::Acts(Act::Write(amount(segments, mss)?)),
        ["close"] => What::Acts(Act::Close),
        ["stop_reading"] => What::Acts(Act::StopReading),
        ["read", bytes] => What::Acts(Act::Read(amount(bytes, 1)?)),
        ["read", segments, "segments"] => What::Acts(Act::Read(amount(segments, mss)?)),
        _ => {
            return Err(format!(
                "\"{text}\" is nothing that can happen; that is > SEGMENT, < SEGMENT, connect, accept, write, close, \
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
        return Err(format!("\"{text}\" compares nothing known: cwnd, ssthresh, flight, rto_ms, srtt_ms"));
    };
    let value = value.parse().map_err(|_| format!("\"{value}\" is not a number"))?;
    Ok(Assertion { quantity: *quantity, relation: *relation, value })
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a whole number"))
}

/// So many times `each` bytes.
fn amount(text: &str, each: u64) -> Result<u64, String> {
    let bytes = number(text)?.checked_mul(each).filter(|bytes| *bytes <= FOREVER);
    bytes.ok_or_else(|| format!("\"{text}\" is too much; \"forever\" is the most that can be written"))
}

impl fmt::Display for Fault {
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

/// Bytes that never run out.
pub const FOREVER: u64 = 1 << 50;
/// Events in a script at the most.
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

    fn events(body: &str) -> Result<Vec<Event>, Fault> {
        Script::read(&format!("{HEAD}{body}")).map(|script| script.events)
    }

    #[test]
    fn a_head_is_a_title_and_a_source() {
        let script =
            Script::read(&format!("{HEAD}--mss=500 // small\n+0 write 3 segments // all of it\n")).unwrap();
        assert_eq!((script.title.as_str(), script.source.as_str()), ("A title", "RFC 5681, section 3.1"));
        assert_eq!(script.events[0].what, What::Acts(Act::Write(1500)));
        assert_eq!(script.events[0].line, 4);
        assert_eq!(Script::read("// A title\n// somewhere\n+0 nothing").unwrap_err().line, 2);
        assert_eq!(Script::read("+0 nothing").unwrap_err().line, 0);
    }

    #[test]
    fn times_are_packetdrills() {
        let ms = Span::from_millis;
        for (text, when) in [
            ("+0.1", When::After(ms(100))),
            ("+25ms", When::After(ms(25))),
            ("1.5", When::At(Time::ZERO + ms(1500))),
            ("+0.1~+0.2", When::AfterAbout(ms(100), ms(200))),
            ("0.2~0.3", When::Between(Time::ZERO + ms(200), Time::ZERO + ms(300))),
            ("*", When::Any),
        ] {
            assert_eq!(read_time(text), Ok(when), "{text}");
        }
        assert!(events("+0.3~+0.2 > data 1").unwrap_err().message.contains("before it begins"));
        assert!(events("* < ack 1").unwrap_err().message.contains("only what the host sends"));
    }

    #[test]
    fn a_range_is_an_event_for_each_segment() {
        let numbers = |text: &str| {
            let events = events(text).unwrap();
            let seqs = events.iter().map(|event| match &event.what {
                What::Sends(packet) => packet.seq,
                What::Hears(packet) => packet.ack,
                other => panic!("{other:?}"),
            });
            seqs.zip(events.iter().map(|event| event.when)).collect::<Vec<_>>()
        };
        let (first, then) = (When::After(Span::from_millis(100)), When::After(Span::ZERO));
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
    fn assertions_compare_what_is_known() {
        let [Event { what: What::Assert(list), .. }] =
            &events("%{ assert cwnd == 10, rto_ms <= 300 }%").unwrap()[..]
        else {
            panic!("one event")
        };
        assert_eq!(list.iter().map(ToString::to_string).collect::<Vec<_>>(), ["cwnd == 10", "rto_ms <= 300"]);
        assert!(events("%{ assert color == 3 }%").unwrap_err().message.contains("color"));
        assert!(events("%{ print 3 }%").is_err());
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for body in
            ["+0 fly", "0.5", "later > data 1", "+0 write many", "+0 > data 0", "+0 < ack 1 sock 2..3"]
        {
            let Fault { line, message } = events(&format!("\n{body}")).unwrap_err();
            assert!(line == 4 && !message.is_empty(), "{body}");
        }
        assert!(events("").is_err());
    }
}
