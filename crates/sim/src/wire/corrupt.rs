//! Packets that arrive damaged.
//!
//! One bit is wrong: links carry the packet on as they would, it takes queue and capacity to its very end, and there
//! the checksum of IP, TCP or UDP (RFC 791, RFC 9293, RFC 768) gives it away. It is never taken for a whole one.

use sojourn_units::{Prob, Stream};

/// Damages each packet with one probability.
#[derive(Clone, Debug)]
pub(crate) struct Corrupt {
    probability: Prob,
    draws: Stream,
}

impl Corrupt {
    pub(crate) fn new(probability: Prob, draws: Stream) -> Corrupt {
        Corrupt { probability, draws }
    }

    /// Whether it damages the next packet.
    pub(crate) fn damages(&mut self) -> bool {
        self.probability.happens(self.draws.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::theory::assert_binomial;

    #[test]
    fn as_many_as_should_be() {
        for p in [0.001, 0.03, 0.5, 1.0] {
            let mut wire = Corrupt::new(Prob::clamped(p), Stream::named(1, "corrupt"));
            let count = (0..100_000).filter(|_| wire.damages()).count();
            assert_binomial(count, 100_000, p);
        }
    }
}
