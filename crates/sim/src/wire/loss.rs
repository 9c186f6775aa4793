//! Packets that are lost, each by itself.

use sojourn_units::{Prob, Stream};

/// Loses each packet with one probability.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    probability: Prob,
    draws: Stream,
}

impl Loss {
    pub(crate) fn new(probability: Prob, draws: Stream) -> Loss {
        Loss { probability, draws }
    }

    /// Whether it loses the next packet.
    pub(crate) fn loses(&mut self) -> bool {
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
            let mut wire = Loss::new(Prob::clamped(p), Stream::named(1, "loss"));
            let count = (0..100_000).filter(|_| wire.loses()).count();
            assert_binomial(count, 100_000, p);
        }
    }
}
