//! What travels on links.

use sojourn_aqm::{self as aqm, FlowId};
use sojourn_tcp::Segment;
use sojourn_units::Ecn;

/// A packet on its way along the route of its flow: what links and discs must know of it.
///
/// What it carries stays in a pool until it arrives. Sixteen bytes, so that it travels in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    flow: FlowId,
    /// The leg of its route that it is on.
    pub(crate) leg: u32,
    place: u32,
    len: u16,
    ecn: Ecn,
}

/// The segments of all packets on their way.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    segments: Vec<Segment>,
    /// Places that hold nothing.
    free: Vec<u32>,
}

impl Packet {
    /// The same packet on the next leg of its route.
    pub(crate) fn on_next_leg(self) -> Packet {
        Packet { leg: self.leg + 1, ..self }
    }

    /// Size on the wire, bytes.
    pub(crate) fn size(&self) -> u32 {
        u32::from(self.len)
    }

    /// The number of its flow.
    pub(crate) fn flow_number(&self) -> u32 {
        self.flow.0
    }
}

impl Pool {
    /// A packet that carries a segment, on the leg where its route begins.
    pub(crate) fn of_segment(&mut self, segment: Segment, flow: u32, leg: u32) -> Packet {
        let place = self.free.pop().unwrap_or(self.segments.len() as u32);
        if let Some(at) = self.segments.get_mut(place as usize) {
            *at = segment;
        } else {
            self.segments.push(segment);
        }
        Packet { flow: FlowId(flow), leg, place, len: segment.wire_len() as u16, ecn: segment.ecn }
    }

    /// A datagram, which carries nothing that anybody would ask for.
    pub(crate) fn datagram(flow: u32, len: u16, ecn: Ecn, leg: u32) -> Packet {
        Packet { flow: FlowId(flow), leg, place: NOWHERE, len, ecn }
    }

    /// Ends the way of a packet with a segment; gives that, with the ECN bits that the packet has now.
    pub(crate) fn take(&mut self, packet: Packet) -> &Segment {
        self.free(packet);
        let segment = &mut self.segments[packet.place as usize];
        segment.ecn = packet.ecn;
        segment
    }

    /// Where the payload of a packet's segment begins; 0 without one.
    pub(crate) fn begins(&self, packet: Packet) -> u64 {
        self.segments.get(packet.place as usize).map_or(0, |segment| segment.seq)
    }

    /// Ends a packet's way.
    pub(crate) fn free(&mut self, packet: Packet) {
        if packet.place != NOWHERE {
            self.free.push(packet.place);
        }
    }
}

impl aqm::Packet for Packet {
    fn len(&self) -> u32 {
        self.size()
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> FlowId {
        self.flow
    }
}

/// The place of a packet without a segment.
const NOWHERE: u32 = u32::MAX;
