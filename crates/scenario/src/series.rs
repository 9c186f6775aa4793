//! Size of the results of a run: rows, and steps of the series.

use crate::scenario::Scenario;
use sojourn_units::Span;

impl Scenario {
    /// The step of the series: that of the file, else the shortest of 1, 2, 5, 10 ... ms within the bound of steps.
    pub fn step(&self) -> Span {
        self.sample.unwrap_or_else(|| {
            let most = MOST_STEPS.min(MOST_VALUES / self.columns()).max(1);
            nice_step(self.duration, most)
        })
    }

    /// Shortest step of the series.
    pub(crate) fn shortest_step(&self) -> Span {
        Span::from_nanos(self.duration.nanos().div_ceil((MOST_VALUES / self.columns()).max(1)))
    }

    /// Crossings of links with qdiscs by data of classes, each of which has a row.
    pub(crate) fn crossings(&self) -> usize {
        self.crossings_by_class().sum()
    }

    /// Upper bound of the columns of the series, over all links.
    fn columns(&self) -> u64 {
        let classes: usize = self.crossings_by_class().map(|crossings| crossings.max(1)).sum();
        (self.topology.managed().count() * COLUMNS + classes) as u64
    }

    fn crossings_by_class(&self) -> impl Iterator<Item = usize> + '_ {
        let is_managed = |link: &&usize| self.topology.links[**link].qdisc.is_some();
        self.flows.iter().map(move |flows| flows.route.iter().filter(is_managed).count())
    }
}

/// The shortest of 1, 2, 5, 10 ... ms with at most `most` steps in `duration`.
fn nice_step(duration: Span, most: u64) -> Span {
    let mut unit = Span::from_millis(1);
    loop {
        for factor in [1, 2, 5] {
            let step = unit.saturating_mul(factor);
            if step.saturating_mul(most) >= duration {
                return step;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

/// Steps of a series by default.
const MOST_STEPS: u64 = 2000;
/// Values of the series of a run, over all links: a few hundred megabytes.
const MOST_VALUES: u64 = 20_000_000;
/// Columns of a link without its classes, four single flows included.
const COLUMNS: usize = 15;
/// Most rows of classes at links.
pub(crate) const MOST_CROSSINGS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_has_at_most_2000_points() {
        assert_eq!(nice_step(Span::from_secs(100), MOST_STEPS), Span::from_millis(50));
        assert_eq!(nice_step(Span::from_secs(2), MOST_STEPS), Span::from_millis(1));
        assert_eq!(nice_step(Span::from_secs(3600), MOST_STEPS), Span::from_secs(2));
    }
}
