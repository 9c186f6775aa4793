//! The arrivals of a trace through a qdisc and its link: the one of the trace, or another one in its place.
//!
//! Arrivals stay what they were: senders do not answer to the other qdisc's drops and marks.

use crate::lines::Object;
use crate::qdisc::{Numbered, TracedQdisc};
use sojourn_aqm::{Cause, FlowId, Qdisc, Sink};
use sojourn_units::{Bytes, Rate, Span, Time};

/// Counts and sojourn times of the packets of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage {
    /// Packets that arrived.
    pub offered: u64,
    /// Packets that the link took.
    pub delivered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Sojourn times of those delivered, s, in ascending order.
    pub sojourns_s: Vec<f64>,
}

impl Passage {
    /// Mean sojourn time, s; None: no packet was delivered.
    pub fn mean_s(&self) -> Option<f64> {
        let number = self.sojourns_s.len();
        (number > 0).then(|| self.sojourns_s.iter().sum::<f64>() / number as f64)
    }

    /// The sojourn time that a share of the packets does not exceed, s.
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        let number = self.sojourns_s.len();
        let place = (share * number as f64).ceil() as usize;
        self.sojourns_s.get(place.saturating_sub(1)).copied()
    }
}

/// Passes the arrivals of a trace through its qdisc, or through the one of a SPEC.
pub fn passage(text: &str, spec: Option<&str>) -> Result<Passage, String> {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let header = Object::read(first).map_err(|message| format!("line 1: {message}"))?;
    let context = header.context().map_err(|message| format!("line 1: {message}"))?;
    let (qdisc, _) = TracedQdisc::in_place(first, spec).map_err(|message| format!("line 1: {message}"))?;
    let mut link =
        Link { qdisc, rate: context.rate, free: Time::ZERO, next: None, passage: Passage::default() };
    let mut end = Time::ZERO;
    for (line, number) in lines.zip(2..) {
        end = link.take(line).map_err(|message| format!("line {number}: {message}"))?.unwrap_or(end);
    }
    link.advance(end);
    link.passage.sojourns_s.sort_by(f64::total_cmp);
    Ok(link.passage)
}

/// A qdisc and the link behind it.
struct Link {
    qdisc: Box<dyn Qdisc<Numbered>>,
    rate: Rate,
    free: Time,
    /// The next dequeue.
    next: Option<Time>,
    passage: Passage,
}

impl Sink<Numbered> for Passage {
    fn dropped(&mut self, _now: Time, _packet: Numbered, _cause: Cause) {
        self.dropped += 1;
    }
    fn marked(&mut self, _now: Time, _packet: &Numbered) {
        self.marked += 1;
    }
}

impl Link {
    /// Takes a line of the trace; the time of an event from outside.
    fn take(&mut self, line: &str) -> Result<Option<Time>, String> {
        let call = Object::read(line)?;
        let now = Time::from_nanos(call.whole("now_ns")?);
        match call.text("call")? {
            "enqueue" => {
                let packet = call.packet()?;
                self.advance(now);
                self.passage.offered += 1;
                self.qdisc.enqueue(now, packet, &mut self.passage);
                self.schedule(now);
            }
            "rate" => {
                self.advance(now);
                self.rate = Rate::from_bits_per_second(call.number("rate_bps")?);
                self.qdisc.link_changed(now, self.rate);
            }
            "connection" => {
                self.advance(now);
                self.qdisc.connection_began(now, FlowId(call.small("flow")?));
            }
            // The qdisc's own calls follow from its link.
            "dequeue" | "update" => return Ok(Some(now)),
            other => return Err(format!("call: \"{other}\" cannot reach another qdisc")),
        }
        Ok(Some(now))
    }

    /// Everything of the qdisc up to `now`: updates before departures.
    fn advance(&mut self, now: Time) {
        loop {
            let update = self.qdisc.next_update().filter(|at| *at <= now);
            let departure = self.next.filter(|at| *at <= now);
            match (update, departure) {
                (Some(at), departure) if departure.is_none_or(|departs| at <= departs) => {
                    self.qdisc.on_update(at, at);
                }
                (_, Some(at)) => self.depart(at),
                _ => return,
            }
        }
    }

    fn depart(&mut self, now: Time) {
        let Some((packet, sojourn)) = self.qdisc.dequeue(now, &mut self.passage) else {
            let not_before = self.qdisc.not_before();
            self.next = (not_before > now && self.qdisc.backlog().packets > 0).then_some(not_before);
            return;
        };
        let len = sojourn_aqm::Packet::len(&packet);
        self.passage.delivered += 1;
        self.passage.sojourns_s.push(Span::seconds(sojourn));
        self.free = now + self.rate.time_for(Bytes::new(len.into()));
        self.schedule(now);
    }

    fn schedule(&mut self, now: Time) {
        let is_empty = self.qdisc.backlog().packets == 0;
        self.next = (!is_empty).then(|| self.free.max(self.qdisc.not_before()).max(now));
    }
}
