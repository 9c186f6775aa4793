//! Bursts of losses: the Gilbert-Elliott chain.
//!
//! The wire is good or bad; each packet is lost with the probability of the state, and then the state may change.
//! Gilbert's model is bad = 1 - h and good = 0 (E. N. Gilbert, "Capacity of a burst-noise channel", Bell System
//! Technical Journal 39, 1960; E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", ibid. 42,
//! 1963). The chain takes a step per packet, as RFC 6534 counts loss episodes, not per second.
//!
//! ```text
//! share of bad packets = enter / (enter + leave),   mean stay in bad = 1 / leave packets
//! ```
//!
//! The first state is drawn from the stationary distribution.

use sojourn_random::Stream;
use sojourn_scenario::links;

/// Loses packets in bursts.
#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    plan: links::Bursts,
    is_bad: bool,
    draws: Stream,
}

impl Bursts {
    pub(crate) fn new(plan: links::Bursts, mut draws: Stream) -> Bursts {
        let is_bad = draws.uniform() < plan.share_bad();
        Bursts { plan, is_bad, draws }
    }

    /// Draws the loss of the next packet.
    pub(crate) fn loses(&mut self) -> bool {
        let loss = if self.is_bad { self.plan.bad } else { self.plan.good };
        let turn = if self.is_bad { self.plan.leave } else { self.plan.enter };
        let lost = loss.happens(self.draws.uniform());
        self.is_bad ^= turn.happens(self.draws.uniform());
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairments::theory::{assert_binomial, assert_mean};
    use sojourn_units::Prob;
    use sojourn_units::math::pow_int;

    fn bursts(enter: f64, leave: f64, good: f64, bad: f64, seed: u64) -> Bursts {
        let [enter, leave, good, bad] = [enter, leave, good, bad].map(Prob::clamped);
        let [enter, leave] = [enter, leave];
        Bursts::new(links::Bursts { enter, leave, good, bad }, Stream::named(seed, "bursts"))
    }

    /// The variance of the mean of n draws of a chain exceeds that of independent draws by (1 + c) / (1 - c), where c
    /// is the correlation of consecutive states, 1 - enter - leave.
    #[test]
    fn the_mean_loss_is_that_of_the_two_states() {
        let n = 400_000;
        for (enter, leave, good, bad) in
            [(0.01, 0.25, 0.0, 1.0), (0.002, 0.05, 0.001, 0.6), (0.5, 0.5, 0.1, 0.3), (0.9, 0.8, 0.0, 1.0)]
        {
            let mut wire = bursts(enter, leave, good, bad, 1);
            let expected = wire.plan.mean_loss();
            let lost = (0..n).filter(|_| wire.loses()).count() as f64 / f64::from(n);
            let c: f64 = 1.0 - enter - leave;
            let share = enter / (enter + leave);
            let states = (bad - good) * (bad - good) * share * (1.0 - share) * ((1.0 + c) / (1.0 - c));
            let each = (1.0 - share) * good * (1.0 - good) + share * bad * (1.0 - bad);
            assert_mean(lost, expected, (states + each).sqrt(), n as usize);
        }
    }

    /// With bad = 1 and good = 0, a burst is a stay in the bad state: geometric, 1 / leave packets on average; a gap
    /// 1 / enter. These are the loss episodes of RFC 6534 and their frequency.
    #[test]
    fn bursts_and_the_gaps_between_them_are_geometric() {
        let (enter, leave) = (0.02, 0.2);
        let mut wire = bursts(enter, leave, 0.0, 1.0, 2);
        let (mut runs, mut last) = ([Vec::new(), Vec::new()], (wire.loses(), 1_u32));
        for _ in 0..500_000 {
            let lost = wire.loses();
            if lost == last.0 {
                last.1 += 1;
            } else {
                runs[usize::from(last.0)].push(last.1);
                last = (lost, 1);
            }
        }
        for (lengths, turn) in runs.iter().zip([enter, leave]) {
            let n = lengths.len();
            let mean = lengths.iter().map(|length| f64::from(*length)).sum::<f64>() / n as f64;
            assert_mean(mean, 1.0 / turn, (1.0_f64 - turn).sqrt() / turn, n);
            for longer in [1_u32, 3, 10] {
                let count = lengths.iter().filter(|length| **length > longer).count();
                assert_binomial(count, n, pow_int(1.0 - turn, longer.into()));
            }
        }
    }

    /// Over many seeds the first packet is lost as often as any.
    #[test]
    fn the_first_state_is_stationary() {
        let lost = (0..20_000).filter(|seed| bursts(0.01, 0.03, 0.0, 1.0, *seed).loses()).count();
        assert_binomial(lost, 20_000, 0.25);
    }
}
