//! What a law that counts in samples does where there are none, or none that tell anything.

use crate::law::Observation;

/// The samples of the periods that went by, the present one last. As a rule that is one; where the host has
/// stalled, those it missed lie on a straight line from the last one. At most 1000 are gone through.
pub fn samples(last: f64, now: f64, elapsed: f64, period: f64) -> impl Iterator<Item = f64> {
    let periods = (elapsed / period).round().clamp(1.0, MOST);
    (1..=periods as u32).map(move |k| last + (now - last) * (f64::from(k) / periods))
}

/// Whether the link has no rate: then the backlog tells nothing of the load.
pub fn stands_still(seen: &Observation) -> bool {
    seen.capacity.is_some_and(|rate| rate.bits_per_second() <= 0.0)
}

/// Periods of a stall that are gone through: a law has come to rest long before.
const MOST: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_a_line_and_every_other_time_the_sample_itself() {
        let of = |elapsed| samples(100.0, 140.0, elapsed, 0.05).collect::<Vec<_>>();
        assert_eq!(of(0.05), [140.0]);
        assert_eq!(of(0.0), [140.0]);
        assert_eq!(of(0.2), [110.0, 120.0, 130.0, 140.0]);
        assert_eq!(of(1e9).len(), 1000);
    }
}
