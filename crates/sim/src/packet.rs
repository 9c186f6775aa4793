//! What travels on links.

use sojourn_aqm::{self as aqm, FlowId};
use sojourn_tcp::Segment;
use sojourn_units::Ecn;

/// A packet on its way along the route of its flow.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The segment it carries; a datagram's is empty but for the ECN bits.
    pub segment: Segment,
    /// Its flow.
    pub flow: FlowId,
    /// Size on the wire, bytes.
    pub len: u32,
    /// The leg of its route that it is on.
    pub(crate) leg: u32,
}

impl Packet {
    pub(crate) fn of_segment(segment: Segment, flow: FlowId, leg: u32) -> Packet {
        Packet { segment, flow, len: segment.wire_len(), leg }
    }

    pub(crate) fn on_next_leg(self) -> Packet {
        Packet { leg: self.leg + 1, ..self }
    }
}

impl aqm::Packet for Packet {
    fn len(&self) -> u32 {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.segment.ecn
    }
    fn set_ce(&mut self) {
        self.segment.ecn = Ecn::Ce;
    }
    fn flow(&self) -> FlowId {
        self.flow
    }
}
