//! Recorded opportunities, repeated.

use sojourn_scenario::links::Recording;
use sojourn_units::Time;

/// The opportunities of a recording, repeated from its last stamp on.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    recording: Recording,
    /// The place of the next stamp.
    place: usize,
    /// Start of the present repetition, ms.
    base: u64,
}

impl Recorded {
    pub(super) fn new(recording: &Recording) -> Recorded {
        Recorded { recording: recording.clone(), place: 0, base: 0 }
    }

    /// The next time and its number of stamps.
    pub(super) fn next(&mut self) -> (Time, u64) {
        let stamps = self.recording.stamps();
        let stamp = stamps[self.place];
        let alike = stamps[self.place..].iter().take_while(|other| **other == stamp).count();
        let time = Time::from_nanos((self.base + u64::from(stamp)).saturating_mul(NANOS_PER_MILLI));
        self.place += alike;
        if self.place == stamps.len() {
            (self.place, self.base) = (0, self.base + u64::from(self.recording.period()));
        }
        (time, alike as u64)
    }
}

const NANOS_PER_MILLI: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wraps_round_at_its_last_stamp() {
        let recording = Recording::parse("x", b"0\n2\n2\n7\n").unwrap();
        let mut recorded = Recorded::new(&recording);
        let seen: Vec<(u64, u64)> = (0..7)
            .map(|_| recorded.next())
            .map(|(time, count)| (time.nanos() / NANOS_PER_MILLI, count))
            .collect();
        assert_eq!(seen, [(0, 1), (2, 2), (7, 1), (7, 1), (9, 2), (14, 1), (14, 1)]);
    }
}
