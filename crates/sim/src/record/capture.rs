//! Captures of links as an interface sees them.

use super::headers::{Ends, Frame, MAX_HEADERS};
use super::stream::{Sink, Stream, Unwritten};
use crate::tap::Sight;
use sojourn_trace::pcapng::{self, CapturedPacket, Direction, Interface};
use sojourn_units::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A capture to make.
pub struct CapturePlan {
    /// The name of its record, for errors.
    pub name: String,
    /// The name of the link.
    pub link: String,
    /// Rate of the link, bits/s.
    pub speed: f64,
    /// The number of the link.
    pub number: u32,
    /// The number of its other direction; None: it has none.
    pub back: Option<u32>,
    /// Place of the capture.
    pub point: CapturePoint,
    /// Receives the file.
    pub sink: Sink,
}

/// Place of a capture at the near end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePoint {
    /// Behind the qdisc: packets that the link begins to send.
    Sent,
    /// In front of the qdisc: packets that arrive there, dropped ones too.
    Arriving,
}

/// A capture at the node where a link begins: packets that leave over it, and those that its other direction brings.
pub(super) struct Capture {
    number: u32,
    back: Option<u32>,
    point: CapturePoint,
    stream: Stream,
    /// Packets of which earlier ones may still be missing.
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Packets so far, by direction.
    numbers: [u64; 2],
    /// Packets captured, and those without legible contents.
    seen: u64,
    damaged: u64,
}

/// A packet in its place: by time, then direction, then number.
struct Waiting {
    key: (Time, Direction, u64),
    frame: Frame,
}

impl Capture {
    pub(super) fn new(plan: CapturePlan) -> Capture {
        let CapturePlan { name, link, speed, number, back, point, sink } = plan;
        let mut stream = Stream::new(name, sink);
        let description = match point {
            CapturePoint::Sent => "near end, behind the qdisc",
            CapturePoint::Arriving => "near end, in front of the qdisc",
        };
        let speed = (speed.is_finite() && speed < u64::MAX as f64).then_some(speed as u64);
        stream.append(|out| {
            pcapng::section(out, "Sojourn");
            let snap_len = MAX_HEADERS as u32;
            pcapng::interface(out, &Interface { name: &link, description, snap_len, speed });
        });
        let waiting = BinaryHeap::new();
        Capture { number, back, point, stream, waiting, numbers: [0; 2], seen: 0, damaged: 0 }
    }

    pub(super) fn links(&self) -> impl Iterator<Item = u32> {
        [Some(self.number), self.back].into_iter().flatten()
    }

    pub(super) fn failure(&self) -> Option<&Unwritten> {
        self.stream.failure()
    }

    pub(super) fn offered(&mut self, now: Time, link: u32, packet: Sight<'_>, ends: &Ends) {
        if link == self.number && self.point == CapturePoint::Arriving {
            self.capture(now, Direction::Outbound, packet, ends);
        }
    }

    pub(super) fn transmitted(
        &mut self,
        now: Time,
        link: u32,
        packet: Sight<'_>,
        arrival: Option<Time>,
        ends: &Ends,
    ) {
        if link == self.number && self.point == CapturePoint::Sent {
            self.capture(now, Direction::Outbound, packet, ends);
        }
        if let Some(at) = arrival {
            self.crossed(at, link, packet, ends);
        }
    }

    pub(super) fn crossed(&mut self, at: Time, link: u32, packet: Sight<'_>, ends: &Ends) {
        if Some(link) == self.back {
            self.capture(at, Direction::Inbound, packet, ends);
        }
    }

    fn capture(&mut self, at: Time, direction: Direction, packet: Sight<'_>, ends: &Ends) {
        let Some(frame) = ends.frame(packet) else {
            self.damaged += 1;
            return;
        };
        let number = &mut self.numbers[usize::from(direction == Direction::Outbound)];
        *number += 1;
        self.waiting.push(Reverse(Waiting { key: (at, direction, *number), frame }));
    }

    /// Writes the packets up to `until`: all of these are known.
    pub(super) fn settle(&mut self, until: Time) {
        while let Some(Reverse(next)) = self.waiting.peek()
            && next.key.0 <= until
        {
            let Some(Reverse(Waiting { key: (at, direction, _), frame })) = self.waiting.pop() else {
                return;
            };
            self.seen += 1;
            let (bytes, len) = (frame.headers(), u32::from(frame.len));
            let packet = CapturedPacket { interface: 0, at, bytes, len, direction };
            self.stream.append(|out| pcapng::packet(out, &packet));
        }
    }

    pub(super) fn finish(&mut self, end: Time) {
        self.settle(end);
        let counts = [self.seen + self.damaged, self.damaged];
        self.stream.append(|out| pcapng::statistics(out, 0, end, counts));
        self.stream.flush();
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.key == other.key
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        self.key.cmp(&other.key)
    }
}
