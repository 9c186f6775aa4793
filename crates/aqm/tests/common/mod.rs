//! Common parts of tests of qdiscs.

#[allow(dead_code)] // of the ordeals alone
pub(crate) mod drawn;

use sojourn_aqm::{FlowId, Packet};
use sojourn_units::Ecn;

/// A numbered packet; marking one that is not ECN-capable is a failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parcel {
    pub(crate) number: u64,
    pub(crate) len: u32,
    pub(crate) ecn: Ecn,
    pub(crate) flow: u32,
}

impl Packet for Parcel {
    fn len(&self) -> u32 {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        assert!(self.ecn.is_capable(), "marked a packet that is not ECN-capable");
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> FlowId {
        FlowId(self.flow)
    }
}
