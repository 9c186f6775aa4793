//! Traces of whole qdiscs: packets in, packets out.
//!
//! The first line names the qdisc as a SPEC, its link and the classes of the flows; every other line is an arrival, a
//! dequeue or an update, and the answer lists the packets that were sent, dropped and marked. `u` are the draws that the
//! qdisc has made for the verdicts of the call, a pair for each: with them an implementation in any language does the same.

use crate::lines::{Object, ecn_word};
use serde_json::{Value as Json, json};
use sojourn_aqm::{Cause, FlowId, FlowTag, Limit, Packet, Place, Qdisc, QdiscSpec, Sink};
use sojourn_random::Stream;
use sojourn_units::{Ecn, Rate, Time};

/// A qdisc from its start, called step by step.
pub struct TracedQdisc {
    qdisc: Box<dyn Qdisc<Numbered>>,
    /// A copy of the qdisc's own draws.
    draws: Stream,
    /// Arrivals have verdicts, too.
    judges_arrivals: bool,
}

/// A packet by its number.
#[derive(Clone, Copy)]
struct Numbered {
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
    /// The qdisc of the first line: `qdisc`, `link`; `classes`, the number of classes, where flow k is the only one of class k;
    /// `seed` of the draws.
    pub fn parse(line: &str) -> Result<TracedQdisc, String> {
        let header = Object::read(line)?;
        let classes = header.optional("classes", Object::small)?.unwrap_or(0);
        if classes > MOST_CLASSES {
            return Err(format!("classes: {classes} is too many; expected at most {MOST_CLASSES}"));
        }
        let names: Vec<String> = (0..classes).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let spec =
            QdiscSpec::parse(header.text("qdisc")?).map_err(|errors| format!("qdisc: {}", errors.first()))?;
        let context = header.context()?;
        let limit =
            if context.limit.is_finite() { Limit::Packets(context.limit as u32) } else { Limit::Unlimited };
        // The dual queue judges departures alone.
        let judges_arrivals = spec.name() != "dual";
        let has_hash = spec.given().params.all_keys().contains(&"buckets");
        let designed = spec.at(&Place { context, classes: &names });
        let designed = designed.map_err(|error| format!("qdisc: {error}"))?;
        let seed = header.optional("seed", Object::whole)?.unwrap_or(0);
        let mut draws = Stream::named(seed, "trace");
        let mut qdisc = designed.build(limit, draws.clone());
        for class in 0..classes {
            qdisc.flow_joined(FlowId(class), FlowTag { class, ..FlowTag::default() });
        }
        if has_hash {
            // The key of the hash.
            draws.bits();
            draws.bits();
        }
        Ok(TracedQdisc { qdisc, draws, judges_arrivals })
    }

    /// Makes a call; returns its answer, a JSON object.
    pub fn answer(&mut self, line: &str) -> Result<Json, String> {
        let call = Object::read(line)?;
        let now = Time::from_nanos(call.whole("now_ns")?);
        let mut fates = Fates::default();
        let (mut answer, judged) = match call.text("call")? {
            "enqueue" => {
                let (id, len, flow) = (call.whole("id")?, call.small("len")?, call.small("flow")?);
                self.qdisc.enqueue(now, Numbered { id, len, ecn: call.ecn()?, flow }, &mut fates);
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
                due.ok_or("update: none is due")?;
                self.qdisc.on_update(due.unwrap_or(now), now);
                (json!({}), 0)
            }
            "rate" => {
                self.qdisc.link_changed(now, Rate::from_bits_per_second(call.number("rate_bps")?));
                (json!({}), 0)
            }
            other => return Err(format!("call: \"{other}\" is not enqueue, dequeue, update or rate")),
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

const MOST_CLASSES: u32 = 65_536;
