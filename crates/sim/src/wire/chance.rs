//! What happens to each packet by itself, with one probability: it is lost, damaged, bleached or doubled.

use sojourn_units::{Prob, Stream};

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

    /// Whether it happens to the next packet.
    pub(crate) fn happens(&mut self) -> bool {
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
            let mut wire = Chance::new(Prob::clamped(p), Stream::named(1, "chance"));
            let count = (0..100_000).filter(|_| wire.happens()).count();
            assert_binomial(count, 100_000, p);
        }
    }
}
