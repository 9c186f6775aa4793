//! Reordering: packets are held back, so that later ones overtake them.
//!
//! A packet is held back with one probability, for a time that may be drawn. Later packets that are not held back and
//! arrive within that time overtake it: it is reordered in the sense of RFC 4737 (section 3). With probability 1 and
//! drawn times this is a jitter that does not keep the order.

use super::shorter_than_an_hour;
use sojourn_random::Stream;
use sojourn_scenario::links;
use sojourn_units::Time;

/// Holds packets back.
#[derive(Clone, Debug)]
pub(crate) struct Reorder {
    plan: links::Reorder,
    draws: Stream,
}

impl Reorder {
    pub(crate) fn new(plan: links::Reorder, draws: Stream) -> Reorder {
        Reorder { plan, draws }
    }

    /// Arrival time of the next packet, due at `at`.
    pub(crate) fn hold_back(&mut self, at: Time) -> Time {
        let is_late = self.plan.probability.happens(self.draws.uniform());
        if is_late { at + shorter_than_an_hour(self.plan.late.sample(&mut self.draws)) } else { at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairments::theory::assert_binomial;
    use sojourn_params::TimeDraw;
    use sojourn_random::Draw;
    use sojourn_units::math::pow_int;
    use sojourn_units::{Prob, Span};

    const N: usize = 200_000;

    /// Numbers of packets sent a millisecond apart, in the order of arrival.
    fn order(probability: f64, late: Span) -> Vec<usize> {
        let late = TimeDraw::of_seconds(Draw::constant(late.seconds()).unwrap());
        let probability = Prob::clamped(probability);
        let plan = links::Reorder { probability, late };
        let mut wire = Reorder::new(plan, Stream::named(1, "reorder"));
        let at = |number| Time::ZERO + Span::from_millis(number as u64);
        let mut come: Vec<(Time, usize)> =
            (0..N).map(|number| (wire.hold_back(at(number)), number)).collect();
        come.sort();
        come.into_iter().map(|(_, number)| number).collect()
    }

    /// The extents of the reordered packets (RFC 4737, sections 3 and 4.2): distance to the first packet that arrived
    /// before it and was sent after it.
    fn extents(order: &[usize]) -> Vec<usize> {
        let mut next = 0;
        let mut extents = Vec::new();
        for (place, number) in order.iter().enumerate() {
            if *number >= next {
                next = number + 1;
            } else {
                let before = &order[place.saturating_sub(100)..place];
                let run = before.iter().rev().take_while(|earlier| **earlier != number + 1).count();
                let first = before.iter().position(|earlier| earlier > number).unwrap_or(before.len() - run);
                extents.push(before.len() - first);
            }
        }
        extents
    }

    /// A packet that is 4.5 ms late is overtaken by those of the next four that are not late too: reordered with
    /// probability p (1 - p^4).
    #[test]
    fn the_share_of_reordered_packets() {
        for p in [0.01_f64, 0.2, 0.6] {
            let extents = extents(&order(p, Span::from_micros(4500)));
            // Neighbouring packets are correlated, over four places at most.
            let (share, deviation) = (p * (1.0 - pow_int(p, 4)), (9.0 * p).sqrt());
            crate::impairments::theory::assert_mean(extents.len() as f64 / N as f64, share, deviation, N);
        }
    }

    /// With few late packets the extent is four: the tail ends at the delay.
    #[test]
    fn the_tail_of_the_extents() {
        let p = 0.001_f64;
        let extents = extents(&order(p, Span::from_micros(4500)));
        assert!(extents.iter().all(|extent| *extent <= 8), "no packet is later than it is held back");
        // One of four packets before is late too, or one of four behind.
        let four = extents.iter().filter(|extent| **extent == 4).count();
        assert_binomial(four, extents.len(), pow_int(1.0 - p, 8));
    }

    #[test]
    fn a_packet_held_back_for_less_than_the_spacing_is_not_overtaken() {
        assert_eq!(extents(&order(0.3, Span::from_micros(900))), [0; 0]);
    }
}
