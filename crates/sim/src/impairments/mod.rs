//! Impairments: effects of a wire on packets that have been sent.
//!
//! A packet has used queue and capacity of its link by then. A [`Wire`] has some of these, always in this order:
//!
//! 1. loss: independent for each packet
//! 2. [`bursts`]: bursts of losses
//! 3. corrupt: one bit error; further links carry the packet as any other, and its receiver discards it: the checksum
//!    of IP, TCP or UDP (RFC 791, RFC 9293, RFC 768) fails
//! 4. bleach: both ECN bits are cleared, ECT and CE alike (RFC 3168, section 18.1); a mark is lost with them, and later
//!    queues may only drop the packet
//! 5. [`jitter`]: delays, in order
//! 6. [`reorder`]: held back, so that others overtake it
//! 7. duplicate: a copy follows at once, damaged, bleached or late as the packet is by then
//!
//! Loss, corrupt, bleach and duplicate are each a [`chance`].
//!
//! Each draws from the stream `"LINK/loss"`, `"LINK/bursts"` and so on, for every packet, lost ones too: its effect
//! depends on the packet's number on the link alone, and adding one impairment changes no other.

pub(crate) mod bursts;
pub(crate) mod chance;
pub(crate) mod jitter;
pub(crate) mod reorder;

use bursts::Bursts;
use chance::Chance;
use jitter::Jitter;
use reorder::Reorder;
use sojourn_random::Stream;
use sojourn_scenario::links::Impairments;
use sojourn_units::{Prob, Span, Time};

/// The impairments of one direction of a link.
#[derive(Clone, Debug)]
pub struct Wire {
    loss: Option<Chance>,
    bursts: Option<Bursts>,
    corrupt: Option<Chance>,
    bleach: Option<Chance>,
    jitter: Option<Jitter>,
    reorder: Option<Reorder>,
    duplicate: Option<Chance>,
}

/// Effects on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Arrival time at the far end, lost or not.
    pub at: Time,
    /// It is lost; the rest is void then.
    pub lost: bool,
    /// Its receiver will discard it.
    pub corrupt: bool,
    /// Its ECN bits are cleared.
    pub bleached: bool,
    /// It arrives twice.
    pub twice: bool,
}

impl Wire {
    /// The wire of the link called `link` under this seed.
    pub fn new(plan: &Impairments, seed: u64, link: &str) -> Wire {
        let draws = |name: &str| Stream::named(seed, &format!("{link}/{name}"));
        let chance = |probability: Prob, name: &str| {
            (probability > Prob::ZERO).then(|| Chance::new(probability, draws(name)))
        };
        Wire {
            loss: chance(plan.loss, "loss"),
            bursts: plan.bursts.map(|plan| Bursts::new(plan, draws("bursts"))),
            corrupt: chance(plan.corrupt, "corrupt"),
            bleach: chance(plan.bleach, "bleach"),
            jitter: plan.jitter.as_ref().map(|jitter| Jitter::new(jitter.0.clone(), draws("jitter"))),
            reorder: plan.reorder.clone().map(|plan| Reorder::new(plan, draws("reorder"))),
            duplicate: chance(plan.duplicate, "duplicate"),
        }
    }

    /// Packets may arrive in another order than they were sent.
    pub fn reorders(&self) -> bool {
        self.reorder.is_some()
    }

    /// Effects on the next packet, due at the far end at `at`, not before the last one.
    pub fn carry(&mut self, at: Time) -> Fate {
        let lost = self.loss.as_mut().is_some_and(Chance::happens);
        let lost = self.bursts.as_mut().is_some_and(Bursts::loses) || lost;
        let corrupt = self.corrupt.as_mut().is_some_and(Chance::happens);
        let bleached = self.bleach.as_mut().is_some_and(Chance::happens);
        let at = self.jitter.as_mut().map_or(at, |jitter| jitter.delay(at));
        let at = self.reorder.as_mut().map_or(at, |reorder| reorder.hold_back(at));
        let twice = self.duplicate.as_mut().is_some_and(Chance::happens);
        Fate { at, lost, corrupt, bleached, twice }
    }
}

/// Bound of delays, for draws from heavy tails.
fn shorter_than_an_hour(time: Span) -> Span {
    time.min(Span::from_secs(3600))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_params::TimeDraw;
    use sojourn_random::Draw;
    use sojourn_scenario::links;
    use sojourn_units::QuantityError;

    fn times(draw: Result<Draw, QuantityError>) -> TimeDraw {
        TimeDraw::of_seconds(draw.unwrap())
    }

    fn all() -> Impairments {
        Impairments {
            loss: Prob::clamped(0.1),
            bursts: Some(links::Bursts {
                enter: Prob::clamped(0.05),
                leave: Prob::clamped(0.4),
                good: Prob::clamped(0.02),
                bad: Prob::clamped(0.8),
            }),
            corrupt: Prob::clamped(0.2),
            bleach: Prob::clamped(0.3),
            jitter: Some(links::Jitter(times(Draw::uniform(0.0, 0.003)))),
            reorder: Some(links::Reorder {
                probability: Prob::clamped(0.1),
                late: times(Draw::constant(0.007)),
            }),
            duplicate: Prob::clamped(0.15),
        }
    }

    fn fates(plan: &Impairments, seed: u64) -> Vec<Fate> {
        let mut wire = Wire::new(plan, seed, "link");
        (0..2000).map(|number| wire.carry(Time::from_nanos(number * 1_000_000))).collect()
    }

    /// The effects of each impairment are the same with and without the others.
    #[test]
    fn adding_one_changes_nothing_of_another() {
        let (all, none) = (all(), Impairments::default);
        let together = fates(&all, 7);
        let alone = |plan: Impairments| fates(&plan, 7);
        let same = |one: &[Fate], of: fn(&Fate) -> bool| {
            one.iter().zip(&together).all(|(one, all)| of(one) == of(all))
        };
        assert!(same(&alone(Impairments { corrupt: all.corrupt, ..none() }), |fate| fate.corrupt));
        assert!(same(&alone(Impairments { bleach: all.bleach, ..none() }), |fate| fate.bleached));
        assert!(same(&alone(Impairments { duplicate: all.duplicate, ..none() }), |fate| fate.twice));
        let losses = [Impairments { loss: all.loss, ..none() }, Impairments { bursts: all.bursts, ..none() }]
            .map(alone);
        let either = losses[0].iter().zip(&losses[1]).map(|(one, other)| one.lost || other.lost);
        assert!(either.eq(together.iter().map(|fate| fate.lost)));
        let times = [
            alone(Impairments { jitter: all.jitter.clone(), ..none() }),
            alone(Impairments { reorder: all.reorder.clone(), ..none() }),
        ];
        for (number, fate) in together.iter().enumerate() {
            let sent = Time::from_nanos(number as u64 * 1_000_000);
            let [jitter, late] = [&times[0], &times[1]].map(|fates| fates[number].at.since(sent));
            assert_eq!(fate.at, sent + jitter + late);
        }
    }

    #[test]
    fn a_wire_is_its_plan_its_seed_and_its_name() {
        assert_eq!(fates(&all(), 7), fates(&all(), 7));
        assert_ne!(fates(&all(), 7), fates(&all(), 8));
        let other: Vec<Fate> = {
            let mut wire = Wire::new(&all(), 7, "other");
            (0..2000).map(|number| wire.carry(Time::from_nanos(number * 1_000_000))).collect()
        };
        assert_ne!(fates(&all(), 7), other);
    }

    #[test]
    fn a_wire_without_impairments_has_no_effect() {
        let mut wire = Wire::new(&Impairments::default(), 1, "link");
        let at = Time::from_nanos(5);
        let fate = Fate { at, lost: false, corrupt: false, bleached: false, twice: false };
        assert_eq!(wire.carry(at), fate);
        assert!(!wire.reorders());
    }
}

/// Counts against their expectations.
#[cfg(test)]
pub(crate) mod theory {
    /// Asserts that the successes of `n` independent trials with probability `p` are within four standard deviations,
    /// exceeded by one run in sixteen thousand.
    pub(crate) fn assert_binomial(count: usize, n: usize, p: f64) {
        assert_mean(count as f64 / n as f64, p, (p * (1.0 - p)).sqrt(), n);
    }

    /// Asserts that the mean of `n` independent draws with this standard deviation is within four of its own.
    pub(crate) fn assert_mean(mean: f64, expected: f64, deviation: f64, n: usize) {
        let allowed = 4.0 * deviation / (n as f64).sqrt();
        assert!((mean - expected).abs() <= allowed, "{mean}, expected {expected} within {allowed}");
    }
}
