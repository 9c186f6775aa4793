//! The lines of a trace: JSON with its keys in a fixed order.

use super::{Answer, Call, Header, VerdictTrace};
use serde_json::{Map, Value as Json, json};
use sojourn_aqm::{Arrival, Backlog, Departure, FlowId, LawSpec, LinkContext, Observation, Verdict};
use sojourn_params::{Given, Value};
use sojourn_units::{Ecn, Prob, Rate, Span, Time};
use std::fmt;

/// The text of a trace, which [`VerdictTrace::parse`] reads back to the last bit.
impl fmt::Display for VerdictTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { about, clause, qdisc, context } = &self.header;
        let mut head = vec![
            ("trace", json!(VERSION)),
            ("law", qdisc.law().into()),
            ("params", table(qdisc.given())),
            ("about", about.clone().into()),
        ];
        head.extend(clause.iter().map(|clause| ("clause", clause.clone().into())));
        // The context is a nested object: its text is inserted by hand.
        let (head, place) = (line(&head), line(&place(context)));
        writeln!(f, "{},\"link\":{place}}}", &head[..head.len() - 1])?;
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
            Call::SetParams(now, given, context) => vec![
                ("call", "set_params".into()),
                ("now_ns", now.nanos().into()),
                ("params", table(given)),
                ("link", place(context).into_iter().map(|(key, value)| (key.to_string(), value)).collect()),
            ],
            Call::Update(due, observed) => {
                let mut pairs = vec![
                    ("call", "update".into()),
                    ("now_ns", observed.now.nanos().into()),
                    ("due_ns", due.nanos().into()),
                ];
                pairs.extend(COUNTS.iter().map(|(key, of)| (*key, of(observed).into())));
                pairs.push(("capacity_bps", json!(observed.capacity.map(Rate::bits_per_second))));
                pairs.push(("base_rtt_ns", json!(observed.base_rtt.map(Span::nanos))));
                pairs.push(("mean_packet_bytes", observed.mean_packet.into()));
                pairs.push(("limit_packets", finite(observed.limit)));
                pairs.push(("applied", observed.applied.get().into()));
                pairs
            }
        }
    }
}

/// Counters of an observation, by key.
type Counted = (&'static str, fn(&Observation) -> f64);
const COUNTS: [Counted; 11] = [
    ("elapsed_s", |observed| observed.elapsed),
    ("backlog_packets", |observed| observed.backlog_packets),
    ("backlog_bytes", |observed| observed.backlog_bytes),
    ("head_sojourn_s", |observed| observed.head_sojourn),
    ("arrived_packets", |observed| observed.arrived_packets),
    ("arrived_bytes", |observed| observed.arrived_bytes),
    ("departed_packets", |observed| observed.departed_packets),
    ("departed_bytes", |observed| observed.departed_bytes),
    ("dropped_packets", |observed| observed.dropped_packets),
    ("marked_packets", |observed| observed.marked_packets),
    ("busy_s", |observed| observed.busy),
];

impl Answer {
    /// Keys and values, in order.
    fn pairs(&self, call: &Call) -> Vec<(&'static str, Json)> {
        match call {
            Call::Arrival(_) | Call::Departure(_) => vec![("verdict", json!(self.verdict.map(verdict_word)))],
            Call::Update(..) | Call::SetParams(..) => {
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
            return Err(format!("trace: is not {VERSION}, the supported version"));
        }
        let qdisc =
            LawSpec::new(self.text("law")?, &self.params()?).map_err(|errors| errors.first().to_string())?;
        let context = self.context()?;
        let clause = self.optional("clause", |object, key| object.text(key).map(String::from))?;
        Ok(Header { about: self.text("about")?.into(), clause, qdisc, context })
    }

    pub(super) fn params(&self) -> Result<Vec<(String, Value)>, String> {
        let params = self.object("params")?.0;
        params.into_iter().map(|(key, value)| Ok((key, value_of(value)?))).collect()
    }

    pub(super) fn context(&self) -> Result<LinkContext, String> {
        let context = self.object("link")?;
        Ok(LinkContext {
            rate: Rate::from_bits_per_second(context.number("rate_bps")?),
            packet: context.number("packet_bytes")?,
            limit: context.optional("limit_packets", Object::number)?.unwrap_or(f64::INFINITY),
            flows: context.optional("flows", Object::number)?,
            base_rtt: context.optional("base_rtt_ns", Object::whole)?.map(Span::from_nanos),
        })
    }

    pub(super) fn call(&self, qdisc: &LawSpec) -> Result<Call, String> {
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
            "set_params" => {
                let change = qdisc.change(&self.params()?);
                let change = change.map_err(|errors| format!("params: {}", errors.first()))?;
                Call::SetParams(now, change, self.context()?)
            }
            "update" => Call::Update(Time::from_nanos(self.whole("due_ns")?), self.observation(now)?),
            other => {
                let expected = "arrival, departure, overflow, idle, rate, set_params, update";
                return Err(format!("call: \"{other}\" is not a call; expected {expected}"));
            }
        })
    }

    pub(super) fn answer(&self, call: &Call) -> Result<Answer, String> {
        let mut answer = Answer::default();
        match call {
            Call::Arrival(_) | Call::Departure(_) => answer.verdict = Some(self.verdict()?),
            Call::Update(..) | Call::SetParams(..) => {
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

    pub(super) fn ecn(&self) -> Result<Ecn, String> {
        let word = self.text("ecn")?;
        let known = ECN.iter().find(|(known, _)| *known == word).map(|(_, ecn)| *ecn);
        known.ok_or_else(|| format!("ecn: \"{word}\" is not a codepoint; expected not_ect, ect0, ect1, ce"))
    }

    fn verdict(&self) -> Result<Verdict, String> {
        let word = self.text("verdict")?;
        let known = VERDICTS.iter().find(|(known, _)| *known == word).map(|(_, verdict)| *verdict);
        known.ok_or_else(|| format!("verdict: \"{word}\" is not a verdict; expected pass, mark, drop"))
    }

    fn object(&self, key: &str) -> Result<Object, String> {
        let object = self.0.get(key).and_then(Json::as_object);
        object.cloned().map(Object).ok_or_else(|| format!("{key}: is not an object"))
    }

    /// Objects of a list that may be missing.
    pub(super) fn objects(&self, key: &str) -> Result<Vec<Object>, String> {
        let Some(list) = self.0.get(key) else { return Ok(Vec::new()) };
        let objects =
            list.as_array().map(|list| list.iter().map(|item| item.as_object().cloned().map(Object)));
        let objects = objects.and_then(Iterator::collect);
        objects.ok_or_else(|| format!("{key}: is not a list of objects"))
    }

    pub(super) fn value(&self, key: &str) -> Option<&Json> {
        self.0.get(key)
    }

    pub(super) fn text(&self, key: &str) -> Result<&str, String> {
        self.0.get(key).and_then(Json::as_str).ok_or_else(|| format!("{key}: is not text"))
    }

    pub(super) fn number(&self, key: &str) -> Result<f64, String> {
        self.0.get(key).and_then(Json::as_f64).ok_or_else(|| format!("{key}: is not a number"))
    }

    pub(super) fn whole(&self, key: &str) -> Result<u64, String> {
        self.0.get(key).and_then(Json::as_u64).ok_or_else(|| format!("{key}: is not a whole number"))
    }

    pub(super) fn small(&self, key: &str) -> Result<u32, String> {
        let number = self.whole(key)?;
        u32::try_from(number).map_err(|_| format!("{key}: {number} is more than {}", u32::MAX))
    }

    /// A value that may be null or missing.
    pub(super) fn optional<T>(
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

/// Given parameters as an object.
fn table(given: &Given) -> Json {
    given.values().map(|(key, value)| (key.into(), json!(value))).collect::<Map<_, _>>().into()
}

/// Context of a law, in order.
fn place(context: &LinkContext) -> [(&'static str, Json); 5] {
    [
        ("rate_bps", context.rate.bits_per_second().into()),
        ("packet_bytes", context.packet.into()),
        ("limit_packets", finite(context.limit)),
        ("flows", json!(context.flows)),
        ("base_rtt_ns", json!(context.base_rtt.map(Span::nanos))),
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
            (None, None) => return Err(format!("params: {number} is not a number of 64 bits")),
        },
        Json::Array(items) => Value::List(items.into_iter().map(value_of).collect::<Result<_, _>>()?),
        other => return Err(format!("params: {other} is not a value of a parameter")),
    })
}

pub(super) fn ecn_word(ecn: Ecn) -> &'static str {
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
