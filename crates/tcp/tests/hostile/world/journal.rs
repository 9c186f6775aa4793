//! A run recorded as a packet exchange, in the form of the exchange scripts.

use super::setup::Setup;
use sojourn_tcp::{Flags, Segment, Stamp};
use sojourn_units::{Ecn, Time};
use std::fmt::Write;

/// Events, one line each; nothing if recording is off.
#[derive(Default)]
pub struct Journal {
    text: Option<String>,
    last: Time,
}

impl Journal {
    /// Records everything.
    pub fn on() -> Journal {
        Journal { text: Some(String::new()), last: Time::ZERO }
    }

    /// Records nothing.
    pub fn off() -> Journal {
        Journal::default()
    }

    /// Text of the record.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Records the options of the connection.
    pub fn set_up(&mut self, setup: &Setup, role: &str) {
        let Some(text) = &mut self.text else { return };
        let Setup { base, profile, cc, mss, requests_ecn, agrees_ecn, reads } = setup;
        let _ = writeln!(text, "--cc={cc}\n--profile={base}\n--mss={mss}\n--role={role}");
        if if role == "sender" { *requests_ecn } else { *agrees_ecn } {
            text.push_str("--ecn\n");
        }
        if let Some(rate) = reads {
            let _ = writeln!(text, "// the application reads {rate}");
        }
        for setting in profile.changes_from(base) {
            let _ = writeln!(text, "--set {}={}", setting.key, profile.text(&setting));
        }
    }

    /// Records a segment sent by the endpoint.
    pub fn sends(&mut self, now: Time, segment: &Segment) {
        if self.text.is_some() {
            self.line(now, &format!("> {}", Written(segment)));
        }
    }

    /// Records a segment that arrives at the endpoint.
    pub fn receive(&mut self, now: Time, segment: &Segment) {
        if self.text.is_some() {
            self.line(now, &format!("< {}", Written(segment)));
        }
    }

    /// Records another event of the endpoint, such as `write 1000`.
    pub fn does(&mut self, now: Time, line: std::fmt::Arguments<'_>) {
        if self.text.is_some() {
            self.line(now, &line.to_string());
        }
    }

    /// Records an event that scripts cannot express.
    pub fn notes(&mut self, line: std::fmt::Arguments<'_>) {
        if let Some(text) = &mut self.text {
            let _ = writeln!(text, "// {line}");
        }
    }

    fn line(&mut self, now: Time, line: &str) {
        let Some(text) = &mut self.text else { return };
        let nanos = now.since(self.last).nanos();
        let seconds = format!("{}.{:09}", nanos / NANOS, nanos % NANOS);
        let seconds = seconds.trim_end_matches('0').trim_end_matches('.');
        let _ = writeln!(text, "+{seconds} {line}");
        self.last = now;
    }
}

/// A segment as scripts write it: the SYN takes number 0, so that data starts at 1.
struct Written<'a>(&'a Segment);

impl std::fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Written(segment) = self;
        let has = |flag| segment.flags.has(flag);
        f.write_str(match segment.ecn {
            Ecn::NotEct => "",
            Ecn::Ect0 => "[ect0] ",
            Ecn::Ect1 => "[ect1] ",
            Ecn::Ce => "[ce] ",
        })?;
        let letters = [(Flags::SYN, 'S'), (Flags::FIN, 'F'), (Flags::ECE, 'E'), (Flags::CWR, 'W')];
        let mut letters: String =
            letters.into_iter().filter(|(flag, _)| has(*flag)).map(|(_, letter)| letter).collect();
        if has(Flags::ACK) || letters.is_empty() {
            letters.push('.');
        }
        f.write_str(&letters)?;
        let from = if has(Flags::SYN) { 0 } else { segment.seq + 1 };
        write!(f, " {from}:{}({})", from + u64::from(segment.len), segment.len)?;
        if has(Flags::ACK) {
            write!(f, " ack {} win {}", segment.ack + 1, segment.window)?;
        }
        let options = options(segment);
        if options.is_empty() { Ok(()) } else { write!(f, " <{}>", options.join(",")) }
    }
}

fn options(segment: &Segment) -> Vec<String> {
    let has = |flag| segment.flags.has(flag);
    let mut options = Vec::new();
    if has(Flags::SYN | Flags::SACK) {
        options.push("sackOK".to_string());
    }
    let mut blocks = segment.sack.iter(segment.ack).peekable();
    if blocks.peek().is_some() {
        let blocks: Vec<String> = blocks.map(|(from, to)| format!("{}:{}", from + 1, to + 1)).collect();
        options.push(format!("sack {}", blocks.join(" ")));
    }
    if has(Flags::TIMESTAMP) {
        let ticks = segment.stamp.nanos_since(Stamp::default()) / 1000;
        let (value, echo) = if has(Flags::ACK) && segment.len == 0 { (0, ticks) } else { (ticks, 0) };
        options.push(format!("TS val {value} ecr {echo}"));
    }
    if has(Flags::SYN | Flags::SCALE) {
        options.push(format!("wscale {}", segment.scale));
    }
    options
}

const NANOS: u64 = 1_000_000_000;
