//! Packets that come twice.
//!
//! The copy comes at once behind the packet, as it is by then: damaged, bleached or late as that one.

use sojourn_units::{Prob, Stream};

/// Doubles each packet with one probability.
#[derive(Clone, Debug)]
pub(crate) struct Duplicate {
    probability: Prob,
    draws: Stream,
}

impl Duplicate {
    pub(crate) fn new(probability: Prob, draws: Stream) -> Duplicate {
        Duplicate { probability, draws }
    }

    /// Whether it doubles the next packet.
    pub(crate) fn doubles(&mut self) -> bool {
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
            let mut wire = Duplicate::new(Prob::clamped(p), Stream::named(1, "duplicate"));
            let count = (0..100_000).filter(|_| wire.doubles()).count();
            assert_binomial(count, 100_000, p);
        }
    }
}
