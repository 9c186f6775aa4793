//! Named streams of random numbers.
//!
//! A run has one seed; every consumer of randomness has a stream named by its place, `"bottleneck/disc"` or `"flow
//! 7/start"`. The name alone determines the stream, so an added component does not change other draws, and two laws
//! under one seed see the same arrivals (common random numbers).

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sojourn_units::math;

/// A stream of independent random numbers (xoshiro256++, Blackman and Vigna 2019).
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream called `name` of the run with this seed.
    pub fn named(seed: u64, name: &str) -> Stream {
        // FNV-1a over the seed and the name; the generator's own SplitMix64
        // seeding then spreads the 64 bits over its state.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in seed.to_le_bytes().into_iter().chain(name.bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Stream(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A draw from [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A draw from the exponential distribution with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * math::ln(1.0 - self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_its_seed_and_its_name() {
        let draws = |seed, name| {
            let mut stream = Stream::named(seed, name);
            [stream.uniform(), stream.uniform(), stream.uniform()]
        };
        assert_eq!(draws(1, "a"), draws(1, "a"));
        assert_ne!(draws(1, "a"), draws(1, "b"));
        assert_ne!(draws(1, "a"), draws(2, "a"));
    }

    #[test]
    fn the_first_draws_are_the_published_generators() {
        // A change of library must not change results. The numbers come from a Python transcription of the published
        // generators (FNV-1a, SplitMix64, xoshiro256++).
        let mut stream = Stream::named(1, "bottleneck/disc");
        let draws: Vec<u64> = (0..3).map(|_| (stream.uniform() * (1_u64 << 53) as f64) as u64).collect();
        assert_eq!(draws, [1109358413458719, 449714880973362, 3794240973916466]);
    }

    #[test]
    fn moments_are_right() {
        let mut stream = Stream::named(3, "moments");
        let n = 200_000;
        let mean = (0..n).map(|_| stream.uniform()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 4.0 / (12.0 * f64::from(n)).sqrt());
        let mean = (0..n).map(|_| stream.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 3.0).abs() < 4.0 * 3.0 / f64::from(n).sqrt());
    }
}
