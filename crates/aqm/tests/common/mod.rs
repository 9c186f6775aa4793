//! Common parts of tests of qdiscs.

#[allow(dead_code)] // of the ordeals alone
pub(crate) mod drawn;

use siphasher::sip::SipHasher13;
use sojourn_aqm::{FlowId, Packet};
use sojourn_units::Ecn;

/// Flows that meet in one of 1024 buckets under the hash without a key, as an attacker may choose them.
#[allow(dead_code)] // of some tests alone
pub(crate) fn meeting() -> Vec<u32> {
    let bucket = |flow: u32| SipHasher13::new().hash(&flow.to_le_bytes()) % 1024;
    (0..100_000).filter(|flow| bucket(*flow) == 7).take(64).collect()
}

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
