//! Optional sequence numbers.

/// Optional sequence number in the size of a number, of which a flow holds many; `u64::MAX` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptSeq(u64);

impl OptSeq {
    pub(crate) const NONE: OptSeq = OptSeq(u64::MAX);

    pub(crate) fn some(seq: u64) -> OptSeq {
        OptSeq(seq)
    }

    pub(crate) fn get(self) -> Option<u64> {
        (self.0 < u64::MAX).then_some(self.0)
    }

    pub(crate) fn is_none(self) -> bool {
        self == OptSeq::NONE
    }
}

impl Default for OptSeq {
    fn default() -> OptSeq {
        OptSeq::NONE
    }
}
