//! The lines of a trace: JSON with its keys in a fixed order.

use super::{Answer, Call, Header, VerdictTrace};
use crate::disc::DiscSpec;
use crate::json::of_value;
use serde_json::{Map, Value as Json, json};
use sojourn_aqm::{Arrival, Backlog, Departure, FlowId, Observation, Site, Verdict};
use sojourn_units::{Ecn, Prob, Rate, Span, Time, Value};
use std::fmt;

/// The text of a trace, which [`VerdictTrace::parse`] reads back to the last bit.
impl fmt::Display for VerdictTrace {
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

impl Call {
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

/// A line of a trace.
pub(super) struct Object(Map<String, Json>);

impl Object {
    pub(super) fn read(line: &str) -> Result<Object, String> {
        match serde_json::from_str(line) {
            Ok(Json::Object(object)) => Ok(Object(object)),
            Ok(_) => Err("is not a JSON object".into()),
            Err(error) => Err(format!("is not JSON: {error}")),
        }
    }

    pub(super) fn header(&self) -> Result<Header, String> {
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

    pub(super) fn call(&self) -> Result<Call, String> {
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

    pub(super) fn answer(&self, call: &Call) -> Result<Answer, String> {
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

pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
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
