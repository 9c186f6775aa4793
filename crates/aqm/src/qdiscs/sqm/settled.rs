//! Flows that stay without a queue of their own: seen in the last period and in this one.

use crate::law::FlowId;
use crate::qdiscs::classifiers::FlowHash;
use sojourn_random::Stream;

/// A bit for each flow of two periods, by a keyed hash (linear counting: K. Whang, B. Vander-Zanden, H. Taylor, ACM
/// Transactions on Database Systems 15(2), 1990). Flows that share a bit are one.
pub(super) struct Settled {
    hash: FlowHash,
    last: Vec<u64>,
    present: Vec<u64>,
}

impl Settled {
    /// Nothing is seen yet; the key is drawn.
    pub(super) fn new(draws: &mut Stream) -> Settled {
        let bits = || vec![0; BITS as usize / 64];
        Settled { hash: FlowHash::new(BITS, draws), last: bits(), present: bits() }
    }

    /// A packet of a flow; true: it is the first in this period of one that was seen in the last.
    pub(super) fn packet(&mut self, flow: FlowId) -> bool {
        let bit = self.hash.bucket(flow.0);
        let (word, mask) = (bit as usize / 64, 1_u64 << (bit % 64));
        let is_first = self.present[word] & mask == 0;
        self.present[word] |= mask;
        is_first && self.last[word] & mask != 0
    }

    /// The period ends.
    pub(super) fn end_period(&mut self) {
        std::mem::swap(&mut self.last, &mut self.present);
        self.present.fill(0);
    }
}

const BITS: u32 = 1 << 15;
