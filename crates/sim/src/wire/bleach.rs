//! Packets that come without their ECN bits.
//!
//! Somebody on the way clears the two bits, ECT and CE alike (RFC 3168, section 18.1). What was a mark is lost with
//! them, and queues behind may only drop the packet.

use sojourn_units::{Prob, Stream};

/// Bleaches each packet with one probability.
#[derive(Clone, Debug)]
pub(crate) struct Bleach {
    probability: Prob,
    draws: Stream,
}

impl Bleach {
    pub(crate) fn new(probability: Prob, draws: Stream) -> Bleach {
        Bleach { probability, draws }
    }

    /// Whether it bleaches the next packet.
    pub(crate) fn bleaches(&mut self) -> bool {
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
            let mut wire = Bleach::new(Prob::clamped(p), Stream::named(1, "bleach"));
            let count = (0..100_000).filter(|_| wire.bleaches()).count();
            assert_binomial(count, 100_000, p);
        }
    }
}
