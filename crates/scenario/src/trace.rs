//! A trace: what a law was told, and what it answered, as JSON lines.
//!
//! The first line says which law at which place; every other line is one call
//! of it, in order of time. Nothing else reaches a law, so whoever answers the
//! same calls in the same way, in whatever language, has the same law. Times are
//! in nanoseconds, sizes in bytes; what a line means is told in
//! `vectors/README.md`.

use crate::disc::DiscSpec;
use crate::json::of_value;
use serde_json::{Map, Value as Json, json};
use sojourn_aqm::{Arrival, Backlog, Departure, FlowId, Gauges, Law, Observation, Site, Verdict};
use sojourn_units::{Ecn, Fault, Prob, Rate, Span, Time, Value};
use std::fmt;

/// A law at its place, and what it was told and answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Which law, where.
    pub header: Header,
    /// Every call with its answer.
    pub calls: Vec<(Call, Answer)>,
}

/// The first line of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// What the trace shows, in a sentence.
    pub about: String,
    /// The clause of the law's source that decides in it, where it was made for one.
    pub clause: Option<String>,
    /// The law and its given parameters.
    pub disc: DiscSpec,
    /// Its place.
    pub site: Site,
}

/// One call of a law.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// A packet asks to be let in.
    Arrival(Arrival),
    /// A packet is about to leave.
    Departure(Departure),
    /// The packet just judged did not fit.
    Overflow(Time),
    /// The link asked for a packet and there was none.
    Idle(Time),
    /// The link has a new rate.
    Rate(Time, Rate),
    /// It stands under other parameters, and its place as it is now.
    Retune(Time, Vec<(String, Value)>, Site),
    /// An update and when it was due.
    Update(Time, Observation),
}

/// What a law answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// To an arrival or a departure.
    pub verdict: Option<Verdict>,
    /// After an update or other parameters: the probability in force, where the law shows one.
    pub p: Option<f64>,
    /// After an update or other parameters: when the law wants the next update.
    pub next: Option<Time>,
}

impl Trace {
    /// Reads a trace; a refusal names its line.
    pub fn parse(text: &str) -> Result<Trace, String> {
        let mut lines = text.lines().enumerate().map(|(place, line)| (place + 1, line));
        let numbered = |(number, line): (usize, &str)| {
            let object = Object::read(line).map_err(|what| format!("line {number}: {what}"))?;
            Ok::<_, String>((number, object))
        };
        let (_, first) = numbered(lines.next().ok_or("line 1: is missing; legal: the header of a trace")?)?;
        let header = first.header().map_err(|what| format!("line 1: {what}"))?;
        let calls = lines.map(|line| {
            let (number, object) = numbered(line)?;
            let read = object.call().and_then(|call| object.answer(&call).map(|answer| (call, answer)));
            read.map_err(|what| format!("line {number}: {what}"))
        });
        Ok(Trace { header, calls: calls.collect::<Result<_, _>>()? })
    }

    /// Plays the calls to a new law of its kind; the first answer that differs is told by its line.
    pub fn replay(&self) -> Result<(), String> {
        let mut law = self.header.law().map_err(|fault| format!("line 1: {fault}"))?;
        for (place, (call, expected)) in self.calls.iter().enumerate() {
            let answer = call.put_to(law.as_mut());
            if answer != *expected {
                let clause =
                    self.header.clause.as_ref().map_or(String::new(), |clause| format!(" ({clause})"));
                return Err(format!("line {}: answers {answer}, expected {expected}{clause}", place + 2));
            }
        }
        Ok(())
    }
}

impl Header {
    /// Reads the first line of a trace.
    pub fn parse(line: &str) -> Result<Header, String> {
        Object::read(line)?.header()
    }

    /// The law, new.
    pub fn law(&self) -> Result<Box<dyn Law>, Fault> {
        self.disc.law_at(&self.site)
    }
}

impl Call {
    /// Reads a line of a trace; an answer that stands in it is passed over.
    pub fn parse(line: &str) -> Result<Call, String> {
        Object::read(line)?.call()
    }

    /// Asks the law.
    pub fn put_to(&self, law: &mut dyn Law) -> Answer {
        let mut answer = Answer::default();
        match self {
            Call::Arrival(arrival) => answer.verdict = Some(law.on_arrival(arrival)),
            Call::Departure(departure) => answer.verdict = Some(law.on_departure(departure)),
            Call::Overflow(now) => law.on_overflow(*now),
            Call::Idle(now) => law.on_idle(*now),
            Call::Rate(now, rate) => law.on_link_change(*now, *rate),
            Call::Retune(now, given, site) => {
                // A law that refuses has nothing to say.
                if law.retune(*now, given, site).is_ok() {
                    answer.follow(law);
                }
            }
            Call::Update(due, seen) => {
                law.on_update(*due, seen);
                answer.follow(law);
            }
        }
        answer
    }

    /// The line of a call without its answer: keys and values, in order.
    fn pairs(&self) -> Vec<(&'static str, Json)> {
        match self {
            Call::Arrival(a) => {
                let Backlog { packets, bytes } = a.backlog;
                let mut pairs = vec![
                    ("call", "arrival".into()),
                    ("now_ns", a.now.nanos().into()),
                    ("len", a.len.into()),
                    ("ecn", ecn_word(a.ecn).into()),
                    ("flow", a.flow.0.into()),
                    ("backlog_packets", packets.into()),
                    ("backlog_bytes", bytes.into()),
                ];
                pairs.extend(a.victim.map(|flow| ("victim", flow.0.into())));
                pairs.push(("u", json!(a.u)));
                pairs
            }
            Call::Departure(d) => {
                let Backlog { packets, bytes } = d.backlog;
                vec![
                    ("call", "departure".into()),
                    ("now_ns", d.now.nanos().into()),
                    ("len", d.len.into()),
                    ("ecn", ecn_word(d.ecn).into()),
                    ("flow", d.flow.0.into()),
                    ("sojourn_ns", d.sojourn.nanos().into()),
                    ("backlog_packets", packets.into()),
                    ("backlog_bytes", bytes.into()),
                    ("u", json!(d.u)),
                ]
            }
            Call::Overflow(now) => vec![("call", "overflow".into()), ("now_ns", now.nanos().into())],
            Call::Idle(now) => vec![("call", "idle".into()), ("now_ns", now.nanos().into())],
            Call::Rate(now, rate) => vec![
                ("call", "rate".into()),
                ("now_ns", now.nanos().into()),
                ("rate_bps", rate.bits_per_second().into()),
            ],
            Call::Retune(now, given, site) => vec![
                ("call", "retune".into()),
                ("now_ns", now.nanos().into()),
                ("params", table(given)),
                ("site", place(site).into_iter().map(|(key, value)| (key.to_string(), value)).collect()),
            ],
            Call::Update(due, seen) => {
                let mut pairs = vec![
                    ("call", "update".into()),
                    ("now_ns", seen.now.nanos().into()),
                    ("due_ns", due.nanos().into()),
                ];
                pairs.extend(COUNTS.iter().map(|(key, of)| (*key, of(seen).into())));
                pairs.push(("capacity_bps", json!(seen.capacity.map(Rate::bits_per_second))));
                pairs.push(("base_rtt_ns", json!(seen.base_rtt.map(Span::nanos))));
                pairs.push(("mean_packet_bytes", seen.mean_packet.into()));
                pairs.push(("limit_packets", finite(seen.limit)));
                pairs.push(("applied", seen.applied.get().into()));
                pairs
            }
        }
    }
}

/// What an observation counts, by key.
type Counted = (&'static str, fn(&Observation) -> f64);
const COUNTS: [Counted; 11] = [
    ("elapsed_s", |seen| seen.elapsed),
    ("backlog_packets", |seen| seen.backlog_packets),
    ("backlog_bytes", |seen| seen.backlog_bytes),
    ("head_sojourn_s", |seen| seen.head_sojourn),
    ("arrived_packets", |seen| seen.arrived_packets),
    ("arrived_bytes", |seen| seen.arrived_bytes),
    ("departed_packets", |seen| seen.departed_packets),
    ("departed_bytes", |seen| seen.departed_bytes),
    ("dropped_packets", |seen| seen.dropped_packets),
    ("marked_packets", |seen| seen.marked_packets),
    ("busy_s", |seen| seen.busy),
];

impl Answer {
    /// What the law shows after a call that it does not answer itself.
    fn follow(&mut self, law: &dyn Law) {
        self.next = law.next_update();
        let mut p = Probability(None);
        law.gauges(&mut p);
        self.p = p.0;
    }

    /// Keys and values, in order.
    fn pairs(&self, call: &Call) -> Vec<(&'static str, Json)> {
        match call {
            Call::Arrival(_) | Call::Departure(_) => vec![("verdict", json!(self.verdict.map(verdict_word)))],
            Call::Update(..) | Call::Retune(..) => {
                vec![("p", json!(self.p)), ("next_ns", json!(self.next.map(Time::nanos)))]
            }
            Call::Overflow(_) | Call::Idle(_) | Call::Rate(..) => Vec::new(),
        }
    }

    /// The answer alone, as JSON.
    pub fn to_json(&self, call: &Call) -> Json {
        self.pairs(call)
            .into_iter()
            .map(|(key, value)| (key.to_string(), value))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// The text of a trace, which [`Trace::parse`] reads back to the last bit.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { about, clause, disc, site } = &self.header;
        let mut head = vec![
            ("trace", json!(VERSION)),
            ("law", disc.law.clone().into()),
            ("params", table(&disc.params)),
            ("about", about.clone().into()),
        ];
        head.extend(clause.iter().map(|clause| ("clause", clause.clone().into())));
        // The place is an object of its own, so its text is put in by hand.
        let (head, place) = (line(&head), line(&place(site)));
        writeln!(f, "{},\"site\":{place}}}", &head[..head.len() - 1])?;
        for (call, answer) in &self.calls {
            let mut pairs = call.pairs();
            pairs.extend(answer.pairs(call));
            writeln!(f, "{}", line(&pairs))?;
        }
        Ok(())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.verdict, self.p, self.next) {
            (Some(verdict), ..) => f.write_str(verdict_word(verdict)),
            (None, None, None) => f.write_str("nothing"),
            (None, p, next) => {
                let p = p.map_or("none".into(), |p| p.to_string());
                let next = next.map_or("never".into(), |next| next.to_string());
                write!(f, "p {p}, next update {next}")
            }
        }
    }
}

/// A line of a trace.
struct Object(Map<String, Json>);

impl Object {
    fn read(line: &str) -> Result<Object, String> {
        match serde_json::from_str(line) {
            Ok(Json::Object(object)) => Ok(Object(object)),
            Ok(_) => Err("is not a JSON object".into()),
            Err(error) => Err(format!("is not JSON: {error}")),
        }
    }

    fn header(&self) -> Result<Header, String> {
        if self.0.get("trace") != Some(&json!(VERSION)) {
            return Err(format!("trace: is not {VERSION}, the version of traces that is read here"));
        }
        let disc = DiscSpec::new(self.text("law")?, self.params()?).map_err(|fault| fault.to_string())?;
        let site = self.site()?;
        let clause = self.optional("clause", |object, key| object.text(key).map(String::from))?;
        Ok(Header { about: self.text("about")?.into(), clause, disc, site })
    }

    fn params(&self) -> Result<Vec<(String, Value)>, String> {
        let params = self.object("params")?.0;
        params.into_iter().map(|(key, value)| Ok((key, value_of(value)?))).collect()
    }

    fn site(&self) -> Result<Site, String> {
        let site = self.object("site")?;
        Ok(Site {
            rate: Rate::from_bits_per_second(site.number("rate_bps")?),
            packet: site.number("packet_bytes")?,
            limit: site.optional("limit_packets", Object::number)?.unwrap_or(f64::INFINITY),
            flows: site.optional("flows", Object::number)?,
            base_rtt: site.optional("base_rtt_ns", Object::whole)?.map(Span::from_nanos),
        })
    }

    fn call(&self) -> Result<Call, String> {
        let now = Time::from_nanos(self.whole("now_ns")?);
        Ok(match self.text("call")? {
            "arrival" => {
                let (len, ecn, flow) = (self.small("len")?, self.ecn()?, FlowId(self.small("flow")?));
                let victim = self.optional("victim", Object::small)?.map(FlowId);
                let (backlog, u) = (self.backlog()?, self.draws()?);
                Call::Arrival(Arrival { now, len, ecn, flow, backlog, victim, u })
            }
            "departure" => {
                let (len, ecn, flow) = (self.small("len")?, self.ecn()?, FlowId(self.small("flow")?));
                let sojourn = Span::from_nanos(self.whole("sojourn_ns")?);
                let (backlog, u) = (self.backlog()?, self.draws()?);
                Call::Departure(Departure { now, len, ecn, flow, sojourn, backlog, u })
            }
            "overflow" => Call::Overflow(now),
            "idle" => Call::Idle(now),
            "rate" => Call::Rate(now, Rate::from_bits_per_second(self.number("rate_bps")?)),
            "retune" => Call::Retune(now, self.params()?, self.site()?),
            "update" => Call::Update(Time::from_nanos(self.whole("due_ns")?), self.observation(now)?),
            other => {
                let legal = "arrival, departure, overflow, idle, rate, retune, update";
                return Err(format!("call: \"{other}\" is no call; legal: {legal}"));
            }
        })
    }

    fn answer(&self, call: &Call) -> Result<Answer, String> {
        let mut answer = Answer::default();
        match call {
            Call::Arrival(_) | Call::Departure(_) => answer.verdict = Some(self.verdict()?),
            Call::Update(..) | Call::Retune(..) => {
                answer.p = self.optional("p", Object::number)?;
                answer.next = self.optional("next_ns", Object::whole)?.map(Time::from_nanos);
            }
            Call::Overflow(_) | Call::Idle(_) | Call::Rate(..) => {}
        }
        Ok(answer)
    }

    fn observation(&self, now: Time) -> Result<Observation, String> {
        Ok(Observation {
            now,
            elapsed: self.number("elapsed_s")?,
            backlog_packets: self.number("backlog_packets")?,
            backlog_bytes: self.number("backlog_bytes")?,
            head_sojourn: self.number("head_sojourn_s")?,
            arrived_packets: self.number("arrived_packets")?,
            arrived_bytes: self.number("arrived_bytes")?,
            departed_packets: self.number("departed_packets")?,
            departed_bytes: self.number("departed_bytes")?,
            dropped_packets: self.number("dropped_packets")?,
            marked_packets: self.number("marked_packets")?,
            busy: self.number("busy_s")?,
            capacity: self.optional("capacity_bps", Object::number)?.map(Rate::from_bits_per_second),
            base_rtt: self.optional("base_rtt_ns", Object::whole)?.map(Span::from_nanos),
            mean_packet: self.number("mean_packet_bytes")?,
            limit: self.optional("limit_packets", Object::number)?.unwrap_or(f64::INFINITY),
            applied: Prob::clamped(self.number("applied")?),
        })
    }

    fn backlog(&self) -> Result<Backlog, String> {
        Ok(Backlog { packets: self.small("backlog_packets")?, bytes: self.whole("backlog_bytes")? })
    }

    fn draws(&self) -> Result<[f64; 2], String> {
        let draws = self.0.get("u").and_then(Json::as_array).map(Vec::as_slice);
        match draws {
            Some([first, second]) => first.as_f64().zip(second.as_f64()).map(<[f64; 2]>::from),
            _ => None,
        }
        .ok_or_else(|| "u: is not two numbers".into())
    }

    fn ecn(&self) -> Result<Ecn, String> {
        let word = self.text("ecn")?;
        let known = ECN.iter().find(|(known, _)| *known == word).map(|(_, ecn)| *ecn);
        known.ok_or_else(|| format!("ecn: \"{word}\" is none; legal: not_ect, ect0, ect1, ce"))
    }

    fn verdict(&self) -> Result<Verdict, String> {
        let word = self.text("verdict")?;
        let known = VERDICTS.iter().find(|(known, _)| *known == word).map(|(_, verdict)| *verdict);
        known.ok_or_else(|| format!("verdict: \"{word}\" is none; legal: pass, mark, drop"))
    }

    fn object(&self, key: &str) -> Result<Object, String> {
        let object = self.0.get(key).and_then(Json::as_object);
        object.cloned().map(Object).ok_or_else(|| format!("{key}: is not an object"))
    }

    fn text(&self, key: &str) -> Result<&str, String> {
        self.0.get(key).and_then(Json::as_str).ok_or_else(|| format!("{key}: is not text"))
    }

    fn number(&self, key: &str) -> Result<f64, String> {
        self.0.get(key).and_then(Json::as_f64).ok_or_else(|| format!("{key}: is not a number"))
    }

    fn whole(&self, key: &str) -> Result<u64, String> {
        self.0.get(key).and_then(Json::as_u64).ok_or_else(|| format!("{key}: is not a whole number"))
    }

    fn small(&self, key: &str) -> Result<u32, String> {
        let number = self.whole(key)?;
        u32::try_from(number).map_err(|_| format!("{key}: {number} is more than {}", u32::MAX))
    }

    /// A value that may be null or missing.
    fn optional<T>(
        &self,
        key: &str,
        read: fn(&Object, &str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        match self.0.get(key) {
            None | Some(Json::Null) => Ok(None),
            Some(_) => read(self, key).map(Some),
        }
    }
}

/// The gauge called p.
struct Probability(Option<f64>);

impl Gauges for Probability {
    fn gauge(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        if name == "p" {
            self.0 = Some(value);
        }
    }
}

/// Parameters as an object.
fn table(given: &[(String, Value)]) -> Json {
    given.iter().map(|(key, value)| (key.clone(), of_value(value))).collect::<Map<_, _>>().into()
}

/// What a law may know of its place, in order.
fn place(site: &Site) -> [(&'static str, Json); 5] {
    [
        ("rate_bps", site.rate.bits_per_second().into()),
        ("packet_bytes", site.packet.into()),
        ("limit_packets", finite(site.limit)),
        ("flows", json!(site.flows)),
        ("base_rtt_ns", json!(site.base_rtt.map(Span::nanos))),
    ]
}

/// One line of JSON with its keys in the order given.
fn line(pairs: &[(&str, Json)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", pairs.join(","))
}

/// A number, or null for infinity.
fn finite(number: f64) -> Json {
    if number.is_finite() { number.into() } else { Json::Null }
}

fn value_of(json: Json) -> Result<Value, String> {
    Ok(match json {
        Json::String(text) => Value::Text(text),
        Json::Bool(flag) => Value::Flag(flag),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Whole(whole),
            (None, Some(number)) => Value::Number(number),
            (None, None) => return Err(format!("params: {number} is no number of 64 bits")),
        },
        Json::Array(items) => Value::List(items.into_iter().map(value_of).collect::<Result<_, _>>()?),
        other => return Err(format!("params: {other} is no value of a parameter")),
    })
}

fn ecn_word(ecn: Ecn) -> &'static str {
    ECN.iter().find(|(_, known)| *known == ecn).map_or("", |(word, _)| word)
}

fn verdict_word(verdict: Verdict) -> &'static str {
    VERDICTS.iter().find(|(_, known)| *known == verdict).map_or("", |(word, _)| word)
}

const ECN: [(&str, Ecn); 4] =
    [("not_ect", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];
const VERDICTS: [(&str, Verdict); 4] = [
    ("pass", Verdict::Pass),
    ("mark", Verdict::Mark),
    ("drop", Verdict::Drop),
    ("drop_both", Verdict::DropBoth),
];

/// Version of the format.
const VERSION: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let rate = Rate::from_bits_per_second(8e6);
        let base_rtt = Some(Span::from_millis(100));
        let site = Site { rate, packet: 1000.0, limit: f64::INFINITY, flows: Some(10.0), base_rtt };
        let disc = DiscSpec::parse("pi:target=20packets,a=0.002,b=0.001,rate=100Hz").unwrap();
        let header = Header { about: "made up".into(), clause: None, disc, site };
        let mut law = header.law().unwrap();
        let now = Time::from_nanos(10_000_000);
        let seen = Observation {
            now,
            elapsed: 0.01,
            backlog_packets: 170.0,
            capacity: Some(site.rate),
            mean_packet: 1000.0,
            limit: f64::INFINITY,
            applied: Prob::clamped(0.1),
            ..Observation::default()
        };
        let backlog = Backlog { packets: 170, bytes: 170_000 };
        let arrival = |u, ecn| Arrival {
            now,
            len: 1000,
            ecn,
            flow: FlowId(3),
            backlog,
            victim: (u > 0.2).then_some(FlowId(9)),
            u: [u, 0.1],
        };
        let sojourn = Span::from_millis(170);
        let (ecn, flow, u) = (Ecn::Ce, FlowId(3), [0.1 + 0.2, 1e-17]);
        let calls = [
            Call::Update(now, seen),
            Call::Arrival(arrival(0.3, Ecn::Ect0)),
            Call::Arrival(arrival(0.3, Ecn::NotEct)),
            Call::Overflow(now),
            Call::Arrival(arrival(0.4, Ecn::Ect1)),
            Call::Departure(Departure { now, len: 1000, ecn, flow, sojourn, backlog, u }),
            Call::Rate(now, Rate::from_bits_per_second(1.0 / 3.0)),
            Call::Idle(now),
            Call::Retune(now, vec![("rate".into(), Value::Text("200 Hz".into()))], site),
        ];
        let calls = calls.map(|call| {
            let answer = call.put_to(law.as_mut());
            (call, answer)
        });
        Trace { header, calls: calls.into() }
    }

    #[test]
    fn a_trace_is_read_back_to_the_last_bit_and_replays() {
        let trace = trace();
        assert_eq!(Trace::parse(&trace.to_string()), Ok(trace.clone()));
        assert_eq!(trace.replay(), Ok(()));
        let verdicts: Vec<_> = trace.calls.iter().filter_map(|(_, answer)| answer.verdict).collect();
        assert_eq!(verdicts, [Verdict::Mark, Verdict::Drop, Verdict::Pass, Verdict::Pass]);
        // After the update at 10 ms the next one was due at 20 ms; twice as often it is due at 15 ms.
        let (_, last) = trace.calls.last().unwrap();
        assert_eq!((last.p, last.next), (Some(0.32), Some(Time::from_nanos(15_000_000))));
    }

    #[test]
    fn an_answer_that_differs_is_told_by_its_line() {
        let mut trace = trace();
        trace.calls[1].1.verdict = Some(Verdict::Pass);
        assert_eq!(trace.replay(), Err("line 3: answers mark, expected pass".into()));
        trace.calls[0].1.p = Some(0.5);
        let told = trace.replay().unwrap_err();
        assert_eq!(told, "line 2: answers p 0.32, next update 20 ms, expected p 0.5, next update 20 ms");
    }

    #[test]
    fn the_clause_that_decides_is_read_back_and_told() {
        let mut trace = trace();
        trace.header.clause = Some("RFC 0, section 0: marks".into());
        assert_eq!(Trace::parse(&trace.to_string()), Ok(trace.clone()));
        trace.calls[1].1.verdict = Some(Verdict::Pass);
        let told = trace.replay().unwrap_err();
        assert_eq!(told, "line 3: answers mark, expected pass (RFC 0, section 0: marks)");
    }

    #[test]
    fn what_is_no_trace_is_refused_by_its_line() {
        let text = trace().to_string();
        for (from, to, told) in [
            ("\"trace\":1", "\"trace\":2", "line 1: trace: is not 1"),
            ("\"law\":\"pi\"", "\"law\":\"pj\"", "line 1: law: \"pj\" is not a law; did you mean \"pi\"?"),
            ("\"call\":\"idle\"", "\"call\":\"ilde\"", "line 9: call: \"ilde\" is no call; legal: arrival"),
            ("\"ecn\":\"ce\"", "\"ecn\":\"cf\"", "line 7: ecn: \"cf\" is none; legal: not_ect"),
            ("\"u\":[0.3,0.1]", "\"u\":[0.3]", "line 3: u: is not two numbers"),
            ("\"verdict\":\"drop\"", "\"verdict\":1", "line 4: verdict: is not text"),
            ("\"flow\":3", "\"flow\":4294967296", "line 3: flow: 4294967296 is more than"),
        ] {
            let refused = Trace::parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(refused.starts_with(told), "{refused}");
        }
        assert!(Trace::parse("").unwrap_err().starts_with("line 1: is missing"));
        assert!(Trace::parse("[]").unwrap_err().starts_with("line 1: is not a JSON object"));
    }
}
