//! Traces of whole qdiscs: packets in, packets out.
//!
//! The first line names the qdisc as a SPEC, its link and the flows; every other line is an arrival, a dequeue, an update, or
//! a change of the rate or of parameters, and the answer lists the packets that were sent, dropped and marked. `u` are the draws
//! that the qdisc has made for the verdicts of the call, a pair for each: with them an implementation in any language does
//! the same. `vectors/README.md` specifies the lines.

use crate::lines::{Object, ecn_word};
use serde_json::{Value as Json, json};
use sojourn_aqm::{
    Cause, FlowClass, FlowId, FlowTag, Limit, LinkContext, Packet, Place, Qdisc, QdiscSpec, Sink,
};
use sojourn_params::{Quantity, Value};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Span, Time};

/// A qdisc from its start, called step by step.
pub struct TracedQdisc {
    qdisc: Box<dyn Qdisc<Numbered>>,
    /// The qdisc as named, for changes of its parameters; None: one of the caller.
    spec: Option<QdiscSpec>,
    /// A copy of the qdisc's own draws.
    draws: Stream,
    /// Arrivals have verdicts, too.
    judges_arrivals: bool,
}

/// What a qdisc of the caller is built from: its buffer, its link, the names of the classes and its draws.
pub struct TracePlace {
    /// Buffer.
    pub limit: Limit,
    /// Link and traffic.
    pub context: LinkContext,
    /// Names of the classes of flows.
    pub classes: Vec<String>,
    /// Its random stream.
    pub draws: Stream,
}

/// A packet by its number.
#[derive(Clone, Copy)]
pub struct Numbered {
    id: u64,
    len: u32,
    ecn: Ecn,
    flow: u32,
}

impl Packet for Numbered {
    fn len(&self) -> u32 {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> FlowId {
        FlowId(self.flow)
    }
}

/// The packets that a call has dropped and marked.
#[derive(Default)]
struct Fates {
    dropped: Vec<u64>,
    by_law: usize,
    marked: Vec<u64>,
}

impl Sink<Numbered> for Fates {
    fn dropped(&mut self, _now: Time, packet: Numbered, cause: Cause) {
        self.dropped.push(packet.id);
        self.by_law += usize::from(cause == Cause::Law);
    }
    fn marked(&mut self, _now: Time, packet: &Numbered) {
        self.marked.push(packet.id);
    }
}

impl TracedQdisc {
    /// The qdisc of the first line: `qdisc`, `link`; `flows`, a list of their tags, or `classes`, the number of classes, of which
    /// each has one flow; `seed` of the draws.
    pub fn parse(line: &str) -> Result<TracedQdisc, String> {
        let header = Object::read(line)?;
        let TracePlace { mut draws, .. } = header.place()?;
        let (qdisc, spec) = TracedQdisc::in_place(line, None)?;
        for _ in 0..bits_at_start(&spec) {
            draws.bits();
        }
        // The dual queue judges departures alone.
        let judges_arrivals = spec.name() != "dual";
        Ok(TracedQdisc { qdisc, spec: Some(spec), draws, judges_arrivals })
    }

    /// The qdisc of the first line, or that of a SPEC in its place, with the flows of the line.
    pub(crate) fn in_place(
        line: &str,
        spec: Option<&str>,
    ) -> Result<(Box<dyn Qdisc<Numbered>>, QdiscSpec), String> {
        let header = Object::read(line)?;
        let spec = spec.map_or_else(|| header.text("qdisc"), Ok)?;
        let spec = QdiscSpec::parse(spec).map_err(|errors| format!("qdisc: {}", errors.first()))?;
        let TracePlace { limit, context, classes, draws } = header.place()?;
        let classes: Vec<FlowClass<'_>> = classes.iter().map(|name| FlowClass::of_one_flow(name)).collect();
        let designed = spec.clone().at(&Place { context, classes: &classes });
        let designed = designed.map_err(|error| format!("qdisc: {error}"))?;
        let mut qdisc = designed.build(limit, draws);
        for (flow, tag) in header.flows()?.1.into_iter().enumerate() {
            qdisc.flow_joined(FlowId(flow as u32), tag);
        }
        Ok((qdisc, spec))
    }

    /// A qdisc of the caller in the place of the one that the first line names.
    pub fn custom<E>(
        line: &str,
        build: impl FnOnce(TracePlace) -> Result<Box<dyn Qdisc<Numbered>>, E>,
    ) -> Result<Result<TracedQdisc, E>, String> {
        let header = Object::read(line)?;
        let place = header.place()?;
        let draws = place.draws.clone();
        let qdisc = match build(place) {
            Ok(qdisc) => qdisc,
            Err(error) => return Ok(Err(error)),
        };
        // The draws are those of arrivals; its own code uses them when it likes.
        TracedQdisc { qdisc, spec: None, draws, judges_arrivals: true }.with_flows(&header).map(Ok)
    }

    /// Introduces the flows of the first line.
    fn with_flows(mut self, header: &Object) -> Result<TracedQdisc, String> {
        for (flow, tag) in header.flows()?.1.into_iter().enumerate() {
            self.qdisc.flow_joined(FlowId(flow as u32), tag);
        }
        Ok(self)
    }

    /// Time of the next update.
    pub fn next_update(&self) -> Option<Time> {
        self.qdisc.next_update()
    }

    /// Makes a call; returns its line in a trace: the call, its draws and its answer.
    pub fn traced(&mut self, call: &str) -> Result<String, String> {
        let answer = self.answer(call)?;
        let waits = answer["sent"].is_null() && answer["packets"] != 0;
        let keys: &[&str] = match Object::read(call)?.text("call")? {
            "enqueue" => &["u", "dropped", "marked"],
            "dequeue" if waits => &["u", "sent", "dropped", "marked", "not_before_ns"],
            "dequeue" => &["u", "sent", "dropped", "marked"],
            "rate" | "connection" => &[],
            _ => &["update_ns"],
        };
        let answers: String = keys.iter().map(|key| format!(",\"{key}\":{}", answer[*key])).collect();
        let call = call.trim_end();
        Ok(format!("{}{answers}}}", call.strip_suffix('}').unwrap_or(call)))
    }

    /// Makes a call; returns its answer, a JSON object.
    pub fn answer(&mut self, line: &str) -> Result<Json, String> {
        let call = Object::read(line)?;
        let now = Time::from_nanos(call.whole("now_ns")?);
        let mut fates = Fates::default();
        let (mut answer, judged) = match call.text("call")? {
            "enqueue" => {
                self.qdisc.enqueue(now, call.packet()?, &mut fates);
                (json!({}), usize::from(self.judges_arrivals))
            }
            "dequeue" => {
                let sent = self.qdisc.dequeue(now, &mut fates);
                let judged = fates.by_law + usize::from(sent.is_some());
                let (id, ecn) = sent.map_or((Json::Null, Json::Null), |(packet, _)| {
                    (packet.id.into(), ecn_word(packet.ecn).into())
                });
                (json!({ "sent": id, "ecn": ecn }), judged)
            }
            "update" => {
                let due = self.qdisc.next_update().filter(|due| *due <= now);
                if self.spec.is_some() {
                    due.ok_or("update: none is due")?;
                }
                if let Some(due) = due {
                    self.qdisc.on_update(due, now);
                }
                (json!({}), 0)
            }
            "rate" => {
                self.qdisc.link_changed(now, Rate::from_bits_per_second(call.number("rate_bps")?));
                (json!({}), 0)
            }
            "connection" => {
                self.qdisc.connection_began(now, FlowId(call.small("flow")?));
                (json!({}), 0)
            }
            "set_params" => {
                self.set_params(now, &call.params()?)?;
                (json!({}), 0)
            }
            other => {
                let expected = "enqueue, dequeue, update, rate, connection or set_params";
                return Err(format!("call: \"{other}\" is not {expected}"));
            }
        };
        let u: Vec<[f64; 2]> = (0..judged).map(|_| [self.draws.uniform(), self.draws.uniform()]).collect();
        answer["dropped"] = json!(fates.dropped);
        answer["marked"] = json!(fates.marked);
        answer["u"] = json!(u);
        answer["packets"] = json!(self.qdisc.backlog().packets);
        answer["not_before_ns"] = json!(self.qdisc.not_before().nanos());
        answer["update_ns"] = json!(self.qdisc.next_update().map(Time::nanos));
        Ok(answer)
    }
}

impl TracedQdisc {
    /// Sets parameters, as a schedule does.
    fn set_params(&mut self, now: Time, params: &[(String, Value)]) -> Result<(), String> {
        let spec = self.spec.as_ref().ok_or("set_params: the qdisc has no parameters in the catalogue")?;
        let change = spec.change(params).map_err(|errors| format!("params: {}", errors.first()))?;
        self.qdisc.set_params(now, &change).map_err(|error| format!("params: {error}"))
    }
}

impl Object {
    /// What a qdisc is built from.
    fn place(&self) -> Result<TracePlace, String> {
        let context = self.context()?;
        let limit = match self.optional("limit_bytes", Object::whole)? {
            Some(bytes) => Limit::Bytes(bytes),
            None if context.limit.is_finite() => Limit::Packets(context.limit as u32),
            None => Limit::Unlimited,
        };
        let (classes, _) = self.flows()?;
        let seed = self.optional("seed", Object::whole)?.unwrap_or(0);
        let stream = self.optional("stream", |object, key| object.text(key).map(String::from))?;
        let draws = Stream::named(seed, stream.as_deref().unwrap_or("trace"));
        Ok(TracePlace { limit, context, classes, draws })
    }

    /// The packet of a call.
    pub(crate) fn packet(&self) -> Result<Numbered, String> {
        let (id, len, flow) = (self.whole("id")?, self.small("len")?, self.small("flow")?);
        Ok(Numbered { id, len, ecn: self.ecn()?, flow })
    }

    /// Names of the classes, and the tags of the flows by number.
    fn flows(&self) -> Result<(Vec<String>, Vec<FlowTag>), String> {
        let classes = self.optional("classes", Object::small)?.unwrap_or(0);
        if classes > MOST_CLASSES {
            return Err(format!("classes: {classes} is too many; expected at most {MOST_CLASSES}"));
        }
        let mut names: Vec<String> = (0..classes).map(|number| number.to_string()).collect();
        let mut tags: Vec<FlowTag> =
            (0..classes).map(|class| FlowTag { class, ..FlowTag::default() }).collect();
        for flow in self.objects("flows")? {
            let name = flow.text("class")?;
            let class = names.iter().position(|known| known == name).unwrap_or(names.len());
            if class == names.len() {
                names.push(name.into());
            }
            let number = |key| Ok::<_, String>(flow.optional(key, Object::small)?.unwrap_or(0));
            let dscp = u8::try_from(number("dscp")?).ok().filter(|dscp| *dscp <= MOST_DSCP);
            let dscp = dscp.ok_or_else(|| format!("dscp: is above {MOST_DSCP}"))?;
            let (from_host, to_host) = (number("from_host")?, number("to_host")?);
            let base_rtt = flow.optional("base_rtt_ns", Object::whole)?.map(Span::from_nanos);
            tags.push(FlowTag { class: class as u32, from_host, to_host, dscp, base_rtt });
        }
        Ok((names, tags))
    }
}

/// Replays a trace on a new qdisc; an error names the line of the first answer that differs.
pub fn replay_qdisc(text: &str) -> Result<(), String> {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut qdisc = TracedQdisc::parse(first).map_err(|message| format!("line 1: {message}"))?;
    let clause = Object::read(first)?.optional("clause", |object, key| object.text(key).map(String::from))?;
    for (line, number) in lines.zip(2..) {
        let answer = qdisc.answer(line).map_err(|message| format!("line {number}: {message}"))?;
        let expected = Object::read(line)?;
        let differs = |key: &&&str| expected.value(key).is_some_and(|value| *value != answer[**key]);
        if let Some(key) = ANSWERS.iter().find(differs) {
            let (ours, theirs) = (&answer[*key], expected.value(key).unwrap_or(&Json::Null));
            let clause = clause.map_or(String::new(), |clause| format!(" ({clause})"));
            return Err(format!("line {number}: answers {key} {ours}, expected {theirs}{clause}"));
        }
    }
    Ok(())
}

/// Draws of whole numbers before the first packet: the key of a hash, two, and the seed of what cake rounds with; of
/// sqm the seed of what its finder draws.
fn bits_at_start(spec: &QdiscSpec) -> usize {
    let params = &spec.given().params;
    let keys = params.all_keys();
    if spec.name() == "cake" {
        return 3;
    }
    if spec.name() == "sqm" {
        return 1;
    }
    if keys.contains(&"buckets") {
        return 2;
    }
    let inner = keys.contains(&"qdisc").then(|| QdiscSpec::read(&params.value_of("qdisc")));
    inner.and_then(Result::ok).map_or(0, |inner| bits_at_start(&inner))
}

/// The parts of an answer that a trace may have.
const ANSWERS: [&str; 6] = ["u", "sent", "dropped", "marked", "update_ns", "not_before_ns"];
const MOST_CLASSES: u32 = 65_536;
const MOST_DSCP: u8 = 63;
