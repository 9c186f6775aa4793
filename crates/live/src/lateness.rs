//! Lateness: the time from the nominal departure of a packet to its write.

use sojourn_units::Span;
use std::fmt;

/// Lateness of the packets of a run: a histogram with sixteen bins an octave, so that quantiles are at most 7 % too large.
#[derive(Clone)]
pub struct Lateness {
    counts: Vec<u64>,
    most: Span,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: vec![0; 64 * SUB as usize], most: Span::ZERO }
    }
}

impl fmt::Debug for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99] = [0.5, 0.99].map(|share| self.quantile(share));
        f.debug_struct("Lateness")
            .field("p50", &p50)
            .field("p99", &p99)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

/// Parts of an octave.
const SUB: u64 = 16;

impl Lateness {
    /// A packet was written so late.
    pub fn add(&mut self, late: Span) {
        self.most = self.most.max(late);
        self.counts[place(late.nanos())] += 1;
    }

    /// The lateness that a share of the packets does not exceed; None: none was written.
    pub fn quantile(&self, share: f64) -> Option<Span> {
        let total: u64 = self.counts.iter().sum();
        let wanted = ((share * total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let place = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(Span::from_nanos(upper_end(place)).min(self.most))
    }

    /// The largest.
    pub fn most(&self) -> Span {
        self.most
    }
}

/// The bin of a value: exact below 16, then 16 bins an octave.
fn place(nanos: u64) -> usize {
    if nanos < SUB {
        return nanos as usize;
    }
    let octave = nanos.ilog2() - SUB.ilog2();
    (u64::from(octave) * SUB + (nanos >> octave)) as usize
}

/// The largest value of a bin.
fn upper_end(place: usize) -> u64 {
    let place = place as u64;
    if place < 2 * SUB {
        return place;
    }
    let octave = place / SUB - 1;
    ((place - octave * SUB + 1) << octave) - 1
}
