//! Missing samples: stalls of the host, and links without a rate.

use crate::law::Observation;

/// Samples of the elapsed periods, the present one last: one, unless the host has stalled. Missed samples are
/// interpolated linearly from the last one; at most 1000 are returned.
pub fn samples(last: f64, now: f64, elapsed: f64, period: f64) -> impl Iterator<Item = f64> {
    let periods = (elapsed / period).round().clamp(1.0, MOST);
    (1..=periods as u32).map(move |k| last + (now - last) * (f64::from(k) / periods))
}

/// True if the link has no rate; the backlog then has no information on the load.
pub fn has_no_rate(observed: &Observation) -> bool {
    observed.capacity.is_some_and(|rate| rate.bits_per_second() <= 0.0)
}

/// Largest number of periods of a stall to replay; a law settles long before.
const MOST: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_samples_are_interpolated() {
        let of = |elapsed| samples(100.0, 140.0, elapsed, 0.05).collect::<Vec<_>>();
        assert_eq!(of(0.05), [140.0]);
        assert_eq!(of(0.0), [140.0]);
        assert_eq!(of(0.2), [110.0, 120.0, 130.0, 140.0]);
        assert_eq!(of(1e9).len(), 1000);
    }
}
