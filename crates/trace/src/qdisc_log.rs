//! Writes the trace of a qdisc while it runs: its calls in order, and its answers.

use crate::lines::ecn_word;
use serde_json::{Value as Json, json};
use sojourn_aqm::{FlowTag, LinkContext};
use sojourn_units::{Ecn, Rate, Span, Time};
use std::io::{self, Write};

/// The trace of a qdisc that runs.
pub struct QdiscLog {
    out: Box<dyn Write + Send>,
    failure: Option<io::Error>,
}

/// The first line of the trace of a qdisc.
pub struct QdiscHeader<'a> {
    /// The qdisc as a SPEC.
    pub qdisc: String,
    /// Subject of the trace, a sentence.
    pub about: String,
    /// Its link.
    pub context: LinkContext,
    /// Limit of its buffer in bytes, where that is its unit.
    pub limit_bytes: Option<u64>,
    /// Seed of the run, and the name of the qdisc's own random stream.
    pub draws: (u64, String),
    /// Its flows: names of their classes, and tags.
    pub flows: Vec<(&'a str, FlowTag)>,
}

impl QdiscLog {
    /// A trace with its first line.
    pub fn new(out: Box<dyn Write + Send>, header: QdiscHeader<'_>) -> QdiscLog {
        let QdiscHeader { qdisc, about, context, limit_bytes, draws: (seed, stream), flows } = header;
        let limit = context.limit.is_finite().then_some(context.limit);
        let flows: Vec<Json> = flows
            .into_iter()
            .map(|(class, tag)| {
                let FlowTag { dscp, from_host, to_host, base_rtt, .. } = tag;
                let base_rtt = base_rtt.map(Span::nanos);
                json!({ "class": class, "dscp": dscp, "from_host": from_host, "to_host": to_host, "base_rtt_ns": base_rtt })
            })
            .collect();
        let link = json!({
            "rate_bps": context.rate.bits_per_second(), "packet_bytes": context.packet, "limit_packets": limit,
            "flows": context.flows, "base_rtt_ns": context.base_rtt.map(Span::nanos),
        });
        let mut log = QdiscLog { out, failure: None };
        let [qdisc, about, stream] = [qdisc, about, stream].map(Json::from);
        let bytes = limit_bytes.map_or(String::new(), |bytes| format!(",\"limit_bytes\":{bytes}"));
        log.write(format_args!(
            "{{\"trace\":1,\"qdisc\":{qdisc},\"about\":{about},\"link\":{link}{bytes},\"seed\":{seed},\"stream\":{stream},\
             \"flows\":{}}}",
            Json::from(flows)
        ));
        log
    }

    /// A packet arrives: its number, its length, its ECN bits before, and its flow.
    pub fn enqueue(&mut self, now: Time, (id, len, ecn, flow): (u64, u32, Ecn, u32), fates: [&[u64]; 2]) {
        let (now, ecn, fates) = (now.nanos(), ecn_word(ecn), words(fates));
        self.write(format_args!(
            "{{\"call\":\"enqueue\",\"now_ns\":{now},\"id\":{id},\"len\":{len},\"ecn\":\"{ecn}\",\"flow\":{flow}{fates}}}"
        ));
    }

    /// The link is ready; the packet that it gets.
    pub fn dequeue(&mut self, now: Time, sent: Option<u64>, fates: [&[u64]; 2]) {
        let (now, sent, fates) = (now.nanos(), json!(sent), words(fates));
        self.write(format_args!("{{\"call\":\"dequeue\",\"now_ns\":{now},\"sent\":{sent}{fates}}}"));
    }

    /// The update that is due; the time of the next one.
    pub fn update(&mut self, now: Time, next: Option<Time>) {
        let (now, next) = (now.nanos(), json!(next.map(Time::nanos)));
        self.write(format_args!("{{\"call\":\"update\",\"now_ns\":{now},\"update_ns\":{next}}}"));
    }

    /// A new rate of the link.
    pub fn rate(&mut self, now: Time, rate: Rate) {
        let (now, rate) = (now.nanos(), json!(rate.bits_per_second()));
        self.write(format_args!("{{\"call\":\"rate\",\"now_ns\":{now},\"rate_bps\":{rate}}}"));
    }

    /// A flow begins a connection.
    pub fn connection(&mut self, now: Time, flow: u32) {
        let now = now.nanos();
        self.write(format_args!("{{\"call\":\"connection\",\"now_ns\":{now},\"flow\":{flow}}}"));
    }

    /// Completes the file; the first error counts.
    pub fn finish(mut self) -> io::Result<()> {
        self.failure.take().map_or_else(|| self.out.flush(), Err)
    }

    fn write(&mut self, line: std::fmt::Arguments<'_>) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{line}").err();
        }
    }
}

fn words([dropped, marked]: [&[u64]; 2]) -> String {
    format!(",\"dropped\":{},\"marked\":{}", json!(dropped), json!(marked))
}
