//! Independent impairments with one probability: loss, damage, bleaching or duplication.

use sojourn_random::Stream;
use sojourn_units::Prob;

/// A probability and the draws of one impairment.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    probability: Prob,
    draws: Stream,
}

impl Chance {
    pub(crate) fn new(probability: Prob, draws: Stream) -> Chance {
        Chance { probability, draws }
    }

    /// Draws for the next packet.
    pub(crate) fn happens(&mut self) -> bool {
        self.probability.happens(self.draws.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairments::theory::assert_binomial;

    #[test]
    fn the_count_is_binomial() {
        for p in [0.001, 0.03, 0.5, 1.0] {
            let mut wire = Chance::new(Prob::clamped(p), Stream::named(1, "chance"));
            let count = (0..100_000).filter(|_| wire.happens()).count();
            assert_binomial(count, 100_000, p);
        }
    }
}
