//! Records of a run: captures of links, rows of tables and events of flows, for other tools to read.
//!
//! [`Records`] is a [`Tap`]. It streams: what a record holds back is what may still be out of order, since flows are
//! computed ahead of their time ([`Tap::settled`]). The caller opens the files.

mod capture;
mod events;
mod headers;
mod rows;
mod stream;

use crate::tap::{Joined, SenderEvent, Sight, Tap};
use capture::Capture;
pub use capture::{CapturePlan, CapturePoint};
use events::EventLog;
use headers::Ends;
use rows::{Fate, FlowRows, GaugeRows, PacketRows};
use sojourn_aqm::Cause;
use sojourn_tcp::Sender;
use sojourn_units::{Span, Time};
pub use stream::{Sink, Unwritten};

/// A record to make, other than a capture: the name of its file, for errors, and what receives it.
pub struct RecordPlan {
    /// The name.
    pub name: String,
    /// Its subject.
    pub subject: Subject,
    /// Receives the file.
    pub sink: Sink,
}

/// Subject of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A row for each packet at the link with this number.
    Packets(u32),
    /// A row for each connection.
    Flows,
    /// A row for each change of the gauges of a flow.
    Gauges(FlowOfClass),
    /// The events of a flow at its sender, under this title.
    Events(FlowOfClass, String),
}

/// A flow by the numbers of its class and of itself in it, in the order in which they join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowOfClass {
    /// The number of the class.
    pub class: u32,
    /// Its number there.
    pub number: u32,
}

/// Records of a run.
pub struct Records {
    ends: Ends,
    captures: Vec<Capture>,
    packets: Vec<PacketRows>,
    flows: Vec<FlowRows>,
    gauges: Vec<OfFlow<GaugeRows>>,
    events: Vec<OfFlow<EventLog>>,
    /// Flows so far, by class.
    joined: Vec<u32>,
}

/// A record of one flow.
struct OfFlow<R> {
    place: FlowOfClass,
    /// Its number in the simulation, once it has joined.
    flow: Option<u32>,
    record: R,
}

impl Records {
    /// Records of a run that ends at `end`.
    pub fn new(end: Time, captures: Vec<CapturePlan>, others: Vec<RecordPlan>) -> Records {
        let mut records = Records {
            ends: Ends::default(),
            captures: captures.into_iter().map(Capture::new).collect(),
            packets: Vec::new(),
            flows: Vec::new(),
            gauges: Vec::new(),
            events: Vec::new(),
            joined: Vec::new(),
        };
        for RecordPlan { name, subject, sink } in others {
            match subject {
                Subject::Packets(link) => records.packets.push(PacketRows::new(name, link, sink)),
                Subject::Flows => records.flows.push(FlowRows::new(name, end, sink)),
                Subject::Gauges(place) => {
                    let record = GaugeRows::new(name, end, sink);
                    records.gauges.push(OfFlow { place, flow: None, record });
                }
                Subject::Events(place, title) => {
                    let record = EventLog::new(name, &title, end, sink);
                    records.events.push(OfFlow { place, flow: None, record });
                }
            }
        }
        records
    }

    /// The first record that could not be written, and why; it ends where it was whole last.
    pub fn failure(&self) -> Option<&Unwritten> {
        let captures = self.captures.iter().find_map(Capture::failure);
        let rows = || self.packets.iter().find_map(PacketRows::failure);
        let flows = || self.flows.iter().find_map(FlowRows::failure);
        let gauges = || self.gauges.iter().find_map(|one| one.record.failure());
        let events = || self.events.iter().find_map(|one| one.record.failure());
        captures.or_else(rows).or_else(flows).or_else(gauges).or_else(events)
    }

    /// Writes what is left at the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.captures.iter_mut().for_each(|capture| capture.finish(end));
        self.packets.iter_mut().for_each(|rows| rows.stream().flush());
        self.flows.iter_mut().for_each(FlowRows::finish);
        self.gauges.iter_mut().for_each(|one| one.record.stream().flush());
        self.events.iter_mut().for_each(|one| one.record.stream().flush());
    }
}

/// Records of this flow.
fn of<R>(records: &mut [OfFlow<R>], flow: u32) -> impl Iterator<Item = &mut R> {
    records.iter_mut().filter(move |one| one.flow == Some(flow)).map(|one| &mut one.record)
}

impl Tap for Records {
    fn links(&self) -> Vec<u32> {
        let captured = self.captures.iter().flat_map(Capture::links);
        captured.chain(self.packets.iter().map(PacketRows::link)).collect()
    }

    fn joined(&mut self, flow: Joined) {
        self.ends.join(flow);
        self.flows.iter_mut().for_each(|rows| rows.join(flow));
        let class = flow.class as usize;
        self.joined.resize(self.joined.len().max(class + 1), 0);
        let place = FlowOfClass { class: flow.class, number: self.joined[class] };
        self.joined[class] += 1;
        for one in self.gauges.iter_mut().filter(|one| one.place == place) {
            one.flow = Some(flow.flow);
        }
        for one in self.events.iter_mut().filter(|one| one.place == place) {
            one.flow = Some(flow.flow);
        }
    }

    fn sent(&mut self, at: Time, packet: Sight<'_>) {
        self.ends.send(at, packet);
        if self.ends.is_forward(packet) {
            let again = self.ends.is_retransmission(packet);
            self.flows.iter_mut().for_each(|rows| rows.send(at, packet, again));
            of(&mut self.events, packet.flow).for_each(|log| log.send(at, packet, again));
        }
    }

    fn copied(&mut self, from: u32, to: u32) {
        self.ends.copy(from, to);
    }

    fn came_back(&mut self, at: Time, packet: Sight<'_>) {
        self.ends.come_back(packet);
        self.flows.iter_mut().for_each(|rows| rows.come_back(at, packet));
        of(&mut self.events, packet.flow).for_each(|log| log.come_back(at, packet));
    }

    fn offered(&mut self, now: Time, link: u32, packet: Sight<'_>) {
        for capture in &mut self.captures {
            capture.offered(now, link, packet, &self.ends);
        }
    }

    fn dropped(&mut self, now: Time, link: u32, packet: Sight<'_>, cause: Cause) {
        for rows in &mut self.packets {
            rows.add(now, link, packet, Fate::Dropped(cause), &self.ends);
        }
    }

    fn transmitted(&mut self, now: Time, link: u32, packet: Sight<'_>, sojourn: Span, arrival: Option<Time>) {
        for capture in &mut self.captures {
            capture.transmitted(now, link, packet, arrival, &self.ends);
        }
        for rows in &mut self.packets {
            rows.add(now, link, packet, Fate::Sent(sojourn), &self.ends);
        }
    }

    fn crossed(&mut self, at: Time, link: u32, packet: Sight<'_>) {
        for capture in &mut self.captures {
            capture.crossed(at, link, packet, &self.ends);
        }
    }

    fn settled(&mut self, until: Time) {
        self.captures.iter_mut().for_each(|capture| capture.settle(until));
    }

    fn sender(&mut self, at: Time, flow: u32, event: SenderEvent, sender: &Sender) {
        self.flows.iter_mut().for_each(|rows| rows.process(at, flow, event));
        of(&mut self.gauges, flow).for_each(|rows| rows.process(at, sender));
        of(&mut self.events, flow).for_each(|log| log.process(at, event, sender));
    }
}
