//! The two ECN bits of an IP header (RFC 3168, section 5).

/// The codepoint of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable: may only be dropped.
    #[default]
    NotEct,
    /// ECN-capable transport, codepoint ECT(0).
    Ect0,
    /// ECN-capable transport, codepoint ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// True if a queue may mark the packet instead of dropping it.
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }
}
