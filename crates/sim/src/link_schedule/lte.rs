//! A cellular link: its rate wanders, with outages.
//!
//! The model that Sprout infers from (K. Winstein, A. Sivaraman, H. Balakrishnan, "Stochastic forecasts achieve high
//! throughput and low delay over cellular networks", NSDI 2013, section 3.1): opportunities are a Poisson process whose
//! rate wanders as Brownian motion, and stays at zero for a while after reaching it. Sprout has 200 packets/s per
//! square root of a second, below 1000 packets/s, and leaves an outage once a second: these are the defaults. This
//! generator adds two rules that an inference does not need: the rate after an outage is a quarter of the highest one
//! (from almost zero the next outage would follow at once), and the highest rate follows from the mean.
//!
//! The rate has `LEVELS` levels above zero, a step of D apart, and jumps to each neighbour q times a second:
//!
//! ```text
//! q = s^2 / (2 D^2)    for Brownian motion with s = volatility x highest rate
//! P(outage) = c T,     P(level i) = c min(i, k) / q,     c = 1 / (T + k (N - (k - 1) / 2) / q)
//! ```
//!
//! with N levels and outages of mean T that end at level k: the flux up from there returns through level 1, and above
//! level k upward and downward flux are equal. The mean rate follows.

use sojourn_random::Stream;
use sojourn_scenario::links::{self, OPPORTUNITY};
use sojourn_units::{Span, Time};

/// Draws the opportunities.
#[derive(Clone, Debug)]
pub(super) struct Lte {
    chain: Chain,
    /// Level of the rate, of `LEVELS`; 0: an outage.
    level: u32,
    /// End of its stay there.
    until: Time,
    now: Time,
    draws: Stream,
}

/// The rates of the chain.
#[derive(Clone, Copy, Debug)]
struct Chain {
    /// Opportunities per second, a level.
    step: f64,
    /// Jumps to one neighbour, per second.
    jumps: f64,
    /// The mean outage, s.
    outage: f64,
}

impl Chain {
    fn new(plan: &links::Lte) -> Chain {
        let levels = f64::from(LEVELS);
        let jumps = plan.volatility * plan.volatility * levels * levels / 2.0;
        let mut chain = Chain { step: 1.0, jumps, outage: plan.outage.seconds() };
        let opportunities = plan.mean.packets_per_second(OPPORTUNITY.into());
        chain.step =
            opportunities / (1..=LEVELS).map(|level| f64::from(level) * chain.share(level)).sum::<f64>();
        chain
    }

    /// The share of time at a level, in the long run.
    fn share(&self, level: u32) -> f64 {
        let (levels, after) = (f64::from(LEVELS), f64::from(AFTER_OUTAGE));
        let up = after * (levels - (after - 1.0) / 2.0) / self.jumps;
        let time = if level == 0 { self.outage } else { f64::from(level.min(AFTER_OUTAGE)) / self.jumps };
        time / (self.outage + up)
    }
}

impl Lte {
    pub(super) fn new(plan: &links::Lte, mut draws: Stream) -> Lte {
        let chain = Chain::new(plan);
        // The first level is drawn from the stationary distribution.
        let mut left = draws.uniform();
        let level = (0..LEVELS).find(|level| {
            left -= chain.share(*level);
            left < 0.0
        });
        let mut lte =
            Lte { chain, level: level.unwrap_or(LEVELS), until: Time::ZERO, now: Time::ZERO, draws };
        lte.stay();
        lte
    }

    /// The next opportunity.
    pub(super) fn next(&mut self) -> (Time, u64) {
        loop {
            // A Poisson process has no memory: after a jump the gap is drawn anew.
            if self.level > 0 {
                let rate = f64::from(self.level) * self.chain.step;
                let next = self.now + Span::from_seconds(self.draws.exponential(1.0 / rate));
                if next <= self.until {
                    self.now = next;
                    return (next, 1);
                }
            }
            self.now = self.until;
            self.jump();
            self.stay();
        }
    }

    /// To another level.
    fn jump(&mut self) {
        self.level = match self.level {
            0 => AFTER_OUTAGE,
            LEVELS => LEVELS - 1,
            level if self.draws.uniform() < 0.5 => level - 1,
            level => level + 1,
        };
    }

    /// Draws the stay at the present level.
    fn stay(&mut self) {
        let mean = match self.level {
            0 => self.chain.outage,
            LEVELS => 1.0 / self.chain.jumps,
            _ => 0.5 / self.chain.jumps,
        };
        // At least a nanosecond, so that time advances.
        let stay = Span::from_seconds(self.draws.exponential(mean)).max(Span::from_nanos(1));
        self.until = self.now + stay;
    }
}

/// Levels above zero.
const LEVELS: u32 = 20;
/// Level at the end of an outage.
const AFTER_OUTAGE: u32 = LEVELS / 4;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Rate;

    fn plan(volatility: f64, outage: Span) -> links::Lte {
        let mean = Rate::from_bits_per_second(12e6);
        links::Lte { mean, volatility, outage }
    }

    /// Opportunities in each of so many stretches of `width`.
    fn counts(plan: &links::Lte, seed: u64, stretches: usize, width: Span) -> Vec<f64> {
        let mut lte = Lte::new(plan, Stream::named(seed, "trace"));
        let mut counts = vec![0.0; stretches];
        loop {
            let stretch = lte.next().0.nanos() / width.nanos();
            let Some(count) = counts.get_mut(stretch as usize) else { return counts };
            *count += 1.0;
        }
    }

    /// The shares are a distribution, and inflow equals outflow at every level.
    #[test]
    fn the_shares_balance() {
        for chain in [plan(0.2, Span::from_secs(1)), plan(1.0, Span::ZERO)].map(|plan| Chain::new(&plan)) {
            let share: Vec<f64> = (0..=LEVELS).map(|level| chain.share(level)).collect();
            assert!((share.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let back = share[1] * chain.jumps;
            for level in 1..=LEVELS as usize {
                let neighbours = if level == LEVELS as usize { 1.0 } else { 2.0 };
                let below = if level == 1 { 0.0 } else { share[level - 1] };
                let above = share.get(level + 1).copied().unwrap_or(0.0);
                let out = if level == AFTER_OUTAGE as usize { back } else { 0.0 };
                let balance = (below + above - neighbours * share[level]) * chain.jumps + out;
                assert!(balance.abs() < 1e-12, "level {level}: {balance}");
            }
            assert!((share[0] - back * chain.outage).abs() < 1e-12);
        }
    }

    /// Over 40 runs of 100 s the mean rate is that of the plan, and the share of outages follows from it; within
    /// Student's t (39 degrees of freedom, 99.9 %).
    #[test]
    fn the_mean_is_that_of_the_plan() {
        let plan = plan(0.6, Span::from_seconds(0.5));
        let share = Chain::new(&plan).share(0);
        let runs: Vec<[f64; 2]> = (0..40)
            .map(|seed| {
                let counts = counts(&plan, seed, 1000, Span::from_millis(100));
                let quiet = counts.iter().filter(|count| **count == 0.0).count() as f64;
                [counts.iter().sum::<f64>() / 100.0, quiet / 1000.0]
            })
            .collect();
        let student = |of: usize| {
            let mean = runs.iter().map(|run| run[of]).sum::<f64>() / 40.0;
            let variance = runs.iter().map(|run| (run[of] - mean) * (run[of] - mean)).sum::<f64>() / 39.0;
            (mean, 3.558 * (variance / 40.0).sqrt())
        };
        let (mean, doubt) = student(0);
        let expected = 12e6 / (1504.0 * 8.0);
        assert!((mean - expected).abs() < doubt && doubt < 0.1 * expected, "{mean} +- {doubt}, {expected}");
        // A tenth of a second without opportunities most often lies in an outage.
        let (quiet, _) = student(1);
        assert!(quiet > 0.7 * share && quiet < 1.1 * share, "{quiet}, {share}");
    }

    /// At a constant rate counts are Poisson: over 10 ms their variance is their mean plus the little that the rate has
    /// moved between two stretches.
    #[test]
    fn at_one_rate_it_is_a_poisson_process() {
        let counts = counts(&plan(0.01, Span::ZERO), 3, 2000, Span::from_millis(10));
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let differences = counts.windows(2).map(|two| (two[1] - two[0]) * (two[1] - two[0]));
        let variance = differences.sum::<f64>() / (2.0 * (n - 1.0));
        assert!((variance / mean - 1.0).abs() < 4.0 * (3.0 / n).sqrt(), "{variance}, {mean}");
    }

    /// Brownian motion: over a short time the rate's variance grows by s^2 a second.
    #[test]
    fn the_rate_varies_with_the_volatility_of_the_plan() {
        let plan = plan(0.2, Span::from_secs(1));
        let highest = Chain::new(&plan).step * f64::from(LEVELS);
        let (mut sum, mut n) = (0.0, 0.0);
        for seed in 0..3000 {
            let mut lte = Lte::new(&plan, Stream::named(seed, "trace"));
            let from = lte.level;
            if !(8..=12).contains(&from) {
                continue;
            }
            while lte.until < Time::from_nanos(100_000_000) {
                lte.now = lte.until;
                lte.jump();
                lte.stay();
            }
            let wandered = (f64::from(lte.level) - f64::from(from)) * lte.chain.step / highest;
            (sum, n) = (sum + wandered * wandered, n + 1.0);
        }
        let (variance, expected) = (sum / n, 0.2 * 0.2 * 0.1);
        // About one step: the fourth moment is that of a Poisson number of steps, 3 m^2 + m.
        let (steps, step) = (expected * 400.0, 1.0 / 400.0);
        let doubt = 4.0 * step * ((2.0 * steps * steps + steps) / n).sqrt();
        assert!((variance - expected).abs() < doubt, "{variance}, {expected} within {doubt}");
    }
}
