//! Rows of tables: packets of a link, connections, and gauges of a flow.
//!
//! A row has a fixed length, and integers are little-endian. `sojourn.simulate.records` has the same layouts and makes
//! tables of them.

use super::headers::Ends;
use super::stream::{Sink, Stream, Unwritten};
use crate::tap::{Contents, Joined, SenderEvent, Sight};
use sojourn_aqm::Cause;
use sojourn_tcp::{Flags, Sender};
use sojourn_units::{Ecn, Span, Time};

/// The rows of packets at a link, each when it leaves the queue.
pub(super) struct PacketRows {
    link: u32,
    stream: Stream,
}

/// End of a packet's stay in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Sent(Span),
    Dropped(Cause),
}

impl PacketRows {
    pub(super) fn new(name: String, link: u32, sink: Sink) -> PacketRows {
        PacketRows { link, stream: Stream::new(name, sink) }
    }

    pub(super) fn link(&self) -> u32 {
        self.link
    }

    pub(super) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub(super) fn failure(&self) -> Option<&Unwritten> {
        self.stream.failure()
    }

    pub(super) fn add(&mut self, now: Time, link: u32, packet: Sight<'_>, fate: Fate, ends: &Ends) {
        if link != self.link {
            return;
        }
        let (kind, connection, segment) = match packet.contents {
            Contents::Segment { segment, connection, .. } => (0, connection, *segment),
            Contents::Request(connection) => (1, connection, sojourn_tcp::Segment::default()),
            Contents::Datagram => (2, 0, sojourn_tcp::Segment::default()),
            Contents::Damaged => (3, 0, sojourn_tcp::Segment::default()),
        };
        let sojourn = match fate {
            Fate::Sent(sojourn) => sojourn.nanos(),
            Fate::Dropped(_) => u64::MAX,
        };
        let fate = match fate {
            Fate::Sent(_) => 0,
            Fate::Dropped(Cause::Law) => 1,
            Fate::Dropped(Cause::Overflow) => 2,
            Fate::Dropped(Cause::AckFilter) => 3,
        };
        let ecn = match packet.ecn {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        };
        let flags = [Flags::SYN, Flags::ACK, Flags::FIN, Flags::ECE, Flags::CWR];
        let flags =
            flags.iter().zip(0..).map(|(flag, bit)| u16::from(segment.flags.has(*flag)) << bit).sum::<u16>();
        let forward = ends.is_forward(packet);
        let again = ends.is_retransmission(packet);
        let class = ends.class(packet.flow);
        self.stream.append(|out| {
            for word in [now.nanos(), sojourn, segment.seq, segment.ack] {
                out.extend(word.to_le_bytes());
            }
            for word in [packet.flow, class] {
                out.extend(word.to_le_bytes());
            }
            for word in [connection, packet.size as u16, segment.len, flags] {
                out.extend(word.to_le_bytes());
            }
            out.extend([kind, u8::from(forward), ecn, fate, u8::from(again), 0, 0, 0]);
        });
    }
}

/// The rows of connections, each when the next one of its flow begins or at the end.
pub(super) struct FlowRows {
    stream: Stream,
    end: Time,
    flows: Vec<FlowRow>,
}

/// A connection as its sender sees it; a source of datagrams is one connection.
#[derive(Clone, Copy, Default)]
struct FlowRow {
    flow: u32,
    class: u32,
    connection: u64,
    first: u64,
    last: u64,
    packets: u64,
    bytes: u64,
    retransmitted: u64,
    retransmitted_bytes: u64,
    acked: u64,
    acks: u64,
    echoes: u64,
    timers: u64,
}

impl FlowRows {
    pub(super) fn new(name: String, end: Time, sink: Sink) -> FlowRows {
        FlowRows { stream: Stream::new(name, sink), end, flows: Vec::new() }
    }

    pub(super) fn failure(&self) -> Option<&Unwritten> {
        self.stream.failure()
    }

    pub(super) fn join(&mut self, of: Joined) {
        self.flows.push(FlowRow { flow: of.flow, class: of.class, ..FlowRow::default() });
    }

    /// The sender of data sends a packet.
    pub(super) fn send(&mut self, at: Time, packet: Sight<'_>, again: bool) {
        if at > self.end {
            return;
        }
        let row = &mut self.flows[packet.flow as usize];
        let (connection, payload) = match packet.contents {
            Contents::Segment { segment, connection, .. } => (connection, u64::from(segment.len)),
            _ => (0, u64::from(packet.size)),
        };
        if row.packets > 0 && row.connection != u64::from(connection) {
            let done = *row;
            *row = FlowRow { flow: done.flow, class: done.class, ..FlowRow::default() };
            done.append(&mut self.stream);
        }
        let row = &mut self.flows[packet.flow as usize];
        if row.packets == 0 {
            (row.connection, row.first) = (connection.into(), at.nanos());
        }
        row.last = at.nanos();
        row.packets += 1;
        row.bytes += payload;
        if again {
            row.retransmitted += 1;
            row.retransmitted_bytes += payload;
        }
    }

    /// An acknowledgment arrives at the sender.
    pub(super) fn come_back(&mut self, at: Time, packet: Sight<'_>) {
        let Contents::Segment { segment, connection, .. } = packet.contents else { return };
        let row = &mut self.flows[packet.flow as usize];
        if at > self.end || row.connection != u64::from(connection) {
            return;
        }
        row.last = at.nanos();
        row.acks += 1;
        row.acked = row.acked.max(segment.ack);
        row.echoes += u64::from(segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::SYN));
    }

    pub(super) fn process(&mut self, at: Time, flow: u32, event: SenderEvent) {
        if at <= self.end && event == SenderEvent::Timer {
            self.flows[flow as usize].timers += 1;
        }
    }

    pub(super) fn finish(&mut self) {
        for row in std::mem::take(&mut self.flows) {
            if row.packets > 0 {
                row.append(&mut self.stream);
            }
        }
        self.stream.flush();
    }
}

impl FlowRow {
    fn append(&self, stream: &mut Stream) {
        stream.append(|out| {
            out.extend(self.flow.to_le_bytes());
            out.extend(self.class.to_le_bytes());
            for word in [
                self.connection,
                self.first,
                self.last,
                self.packets,
                self.bytes,
                self.retransmitted,
                self.retransmitted_bytes,
                self.acked,
                self.acks,
                self.echoes,
                self.timers,
            ] {
                out.extend(word.to_le_bytes());
            }
        });
    }
}

/// Gauges of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gauges {
    pub(super) cwnd: u64,
    pub(super) ssthresh: Option<u64>,
    pub(super) flight: u64,
    pub(super) srtt: Option<Span>,
    pub(super) timeout: Span,
    /// Bits/s; None: segments are not paced.
    pub(super) pacing: Option<f64>,
}

impl Gauges {
    pub(super) fn of(sender: &Sender) -> Gauges {
        let ssthresh = sender.ssthresh().get();
        Gauges {
            cwnd: sender.window().get(),
            ssthresh: (ssthresh < NO_THRESHOLD).then_some(ssthresh),
            flight: sender.flight(),
            srtt: sender.smoothed(),
            timeout: sender.timeout(),
            pacing: sender.pacing_rate(),
        }
    }
}

/// A slow-start threshold from which on it is none.
const NO_THRESHOLD: u64 = 1 << 40;

/// The rows of gauges of a flow, each when one has changed.
pub(super) struct GaugeRows {
    stream: Stream,
    end: Time,
    last: Option<Gauges>,
}

impl GaugeRows {
    pub(super) fn new(name: String, end: Time, sink: Sink) -> GaugeRows {
        GaugeRows { stream: Stream::new(name, sink), end, last: None }
    }

    pub(super) fn failure(&self) -> Option<&Unwritten> {
        self.stream.failure()
    }

    pub(super) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub(super) fn process(&mut self, at: Time, sender: &Sender) {
        let now = Gauges::of(sender);
        if at > self.end || self.last.replace(now) == Some(now) {
            return;
        }
        self.stream.append(|out| {
            let srtt = now.srtt.map_or(f64::NAN, Span::seconds);
            let ssthresh = now.ssthresh.map_or(f64::NAN, |bytes| bytes as f64);
            out.extend(at.nanos().to_le_bytes());
            for value in [
                now.cwnd as f64,
                ssthresh,
                now.flight as f64,
                srtt,
                now.timeout.seconds(),
                now.pacing.unwrap_or(f64::NAN),
            ] {
                out.extend(value.to_le_bytes());
            }
        });
    }
}
