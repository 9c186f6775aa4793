//! Segments, as far as congestion and recovery are concerned.

use sojourn_units::Ecn;
use std::ops::BitOr;

/// Header bytes of every segment, IP and TCP without options.
pub const HEADER: u32 = 40;

/// A TCP segment. Sequence numbers count payload bytes from the start of the
/// stream, in 64 bits: SYN takes none, and nothing wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First byte of the payload.
    pub seq: u64,
    /// Next byte expected from the other side; with [`Flags::ACK`].
    pub ack: u64,
    /// Payload, bytes.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// The ECN bits of the IP header.
    pub ecn: Ecn,
}

/// Control bits (RFC 9293, section 3.1; ECE and CWR: RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Segment {
    /// Size on the wire, bytes.
    pub fn wire_len(&self) -> u32 {
        HEADER + self.len
    }
}

impl Flags {
    /// No control bits.
    pub const NONE: Flags = Flags(0);
    /// Opens the connection.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgment number counts.
    pub const ACK: Flags = Flags(2);
    /// Echo of congestion experienced.
    pub const ECE: Flags = Flags(4);
    /// The congestion window was reduced.
    pub const CWR: Flags = Flags(8);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These bits, and `other` where `condition` holds.
    pub fn with(self, other: Flags, condition: bool) -> Flags {
        if condition { self | other } else { self }
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}
