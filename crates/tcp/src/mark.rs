//! A place among the sequence numbers, where there is one.

/// A sequence number or none, in the room of a number: a flow holds many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u64);

impl Mark {
    pub(crate) const NONE: Mark = Mark(u64::MAX);

    pub(crate) fn at(seq: u64) -> Mark {
        Mark(seq)
    }

    pub(crate) fn get(self) -> Option<u64> {
        (self.0 < u64::MAX).then_some(self.0)
    }

    pub(crate) fn is_none(self) -> bool {
        self == Mark::NONE
    }
}

impl Default for Mark {
    fn default() -> Mark {
        Mark::NONE
    }
}
