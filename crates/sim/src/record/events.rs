//! Events of a flow at its sender, as qlog; `docs/howto/record-a-run.md` defines them.

use super::rows::Gauges;
use super::stream::{Sink, Stream, Unwritten};
use crate::tap::{Contents, SenderEvent, Sight};
use sojourn_tcp::{Flags, Segment, Sender};
use sojourn_trace::qlog::{self, Header};
use sojourn_units::{Ecn, Span, Time};

/// URI of the schema of the events.
pub(super) const SCHEMA: &str = "https://github.com/sojourn-aqm/sojourn/112026/sojourn-tcp";

/// The log of a flow.
pub(super) struct EventLog {
    stream: Stream,
    end: Time,
    last: Option<Gauges>,
}

impl EventLog {
    pub(super) fn new(name: String, flow: &str, end: Time, sink: Sink) -> EventLog {
        let mut stream = Stream::new(name, sink);
        let header = Header { title: flow, vantage_point: "sender", event_schema: SCHEMA };
        stream.append(|out| qlog::header(out, &header));
        EventLog { stream, end, last: None }
    }

    pub(super) fn failure(&self) -> Option<&Unwritten> {
        self.stream.failure()
    }

    pub(super) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub(super) fn send(&mut self, at: Time, packet: Sight<'_>, again: bool) {
        let trigger = if again { ",\"trigger\":\"retransmission\"" } else { "" };
        self.segment(at, Direction::Sent, packet, trigger);
    }

    pub(super) fn come_back(&mut self, at: Time, packet: Sight<'_>) {
        self.segment(at, Direction::Received, packet, "");
    }

    fn segment(&mut self, at: Time, direction: Direction, packet: Sight<'_>, more: &str) {
        let Contents::Segment { segment, connection, .. } = packet.contents else { return };
        if at <= self.end {
            let ecn = ecn(packet.ecn);
            let (name, header) = (direction.event(), header(segment, connection, direction));
            let (len, size) = (segment.len, packet.size);
            let data = format!(
                "\"header\":{{{header}}},\"ecn\":\"{ecn}\",\"raw\":{{\"length\":{size},\"payload_length\":{len}}}{more}"
            );
            self.stream.append(|out| qlog::event(out, at, name, &data));
        }
    }

    pub(super) fn process(&mut self, at: Time, event: SenderEvent, sender: &Sender) {
        if at > self.end {
            return;
        }
        if event == SenderEvent::Timer {
            self.stream.append(|out| qlog::event(out, at, "sojourn-tcp:timer_expired", ""));
        }
        let now = Gauges::of(sender);
        let before = self.last.replace(now);
        let is_new = |same: &dyn Fn(&Gauges) -> bool| !before.as_ref().is_some_and(same);
        let mut data = Vec::new();
        if is_new(&|before| before.cwnd == now.cwnd) {
            data.push(format!("\"congestion_window\":{}", now.cwnd));
        }
        if is_new(&|before| before.flight == now.flight) {
            data.push(format!("\"bytes_in_flight\":{}", now.flight));
        }
        if let Some(ssthresh) = now.ssthresh.filter(|_| is_new(&|before| before.ssthresh == now.ssthresh)) {
            data.push(format!("\"ssthresh\":{ssthresh}"));
        }
        if let Some(srtt) = now.srtt.filter(|_| is_new(&|before| before.srtt == now.srtt)) {
            data.push(format!("\"smoothed_rtt\":{}", millis(srtt)));
        }
        if is_new(&|before| before.timeout == now.timeout) {
            data.push(format!("\"rto\":{}", millis(now.timeout)));
        }
        if let Some(rate) = now.pacing.filter(|_| is_new(&|before| before.pacing == now.pacing)) {
            data.push(format!("\"pacing_rate\":{}", rate.round() as u64));
        }
        if !data.is_empty() {
            let data = data.join(",");
            self.stream.append(|out| qlog::event(out, at, "sojourn-tcp:metrics_updated", &data));
        }
    }
}

/// Direction of a segment, as the sender of data has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Sent,
    Received,
}

impl Direction {
    fn event(self) -> &'static str {
        match self {
            Direction::Sent => "sojourn-tcp:segment_sent",
            Direction::Received => "sojourn-tcp:segment_received",
        }
    }
}

/// Members of a segment's header.
fn header(segment: &Segment, connection: u16, direction: Direction) -> String {
    let names = [
        (Flags::SYN, "syn"),
        (Flags::ACK, "ack"),
        (Flags::FIN, "fin"),
        (Flags::ECE, "ece"),
        (Flags::CWR, "cwr"),
    ];
    let set = names.iter().filter(|(flag, _)| segment.flags.has(*flag));
    let flags: Vec<String> = set.map(|(_, name)| format!("\"{name}\"")).collect();
    let mut header =
        format!("\"connection\":{connection},\"flags\":[{}],\"seq\":{}", flags.join(","), segment.seq);
    if segment.flags.has(Flags::ACK) {
        header += &format!(",\"ack\":{}", segment.ack);
    }
    // Nothing is sent into the window of the sender.
    if direction == Direction::Received {
        header += &format!(",\"window\":{}", segment.window);
    }
    let blocks: Vec<String> =
        segment.sack.iter(segment.ack).map(|(from, to)| format!("[{from},{to}]")).collect();
    if !blocks.is_empty() {
        header += &format!(",\"sack\":[{}]", blocks.join(","));
    }
    header
}

/// Names of qlog's QUIC events for codepoints.
fn ecn(codepoint: Ecn) -> &'static str {
    match codepoint {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ce => "CE",
    }
}

fn millis(span: Span) -> String {
    format!("{}.{:06}", span.nanos() / 1_000_000, span.nanos() % 1_000_000)
}
