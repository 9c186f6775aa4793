//! Windows of time.

use crate::scenario::Scenario;
use crate::tables::Windows;
use sojourn_units::Span;

/// A window of time with metrics of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowOfTime {
    /// Its place in the list of the file.
    pub entry: usize,
    /// Its start.
    pub from: Span,
    /// Its end, which it does not contain unless the run ends there.
    pub until: Span,
}

impl Scenario {
    /// The windows of a run, in the order of the file; those of an entry in the order of time. Phases begin at the first
    /// `changes` changes.
    pub fn windows_of_time(&self, changes: usize) -> Vec<WindowOfTime> {
        let all = |windows: &Windows| match *windows {
            Windows::Between(from, until) => vec![(from, until)],
            Windows::Run => vec![(Span::ZERO, self.duration)],
            Windows::Measured => vec![(self.warmup, self.duration)],
            Windows::Phases => {
                let starts = [Span::ZERO].into_iter().chain(self.change_times(changes));
                self.between(starts.filter(|time| *time < self.duration).collect())
            }
            Windows::Every(length) => {
                let starts = (0..).map(|place| length.saturating_mul(place));
                self.between(starts.take_while(|time| *time < self.duration).collect())
            }
        };
        let entries = self.windows.iter().enumerate();
        entries
            .flat_map(|(entry, windows)| {
                all(windows).into_iter().map(move |(from, until)| WindowOfTime { entry, from, until })
            })
            .collect()
    }

    /// Windows that begin at these times, one after the other up to the end.
    fn between(&self, mut starts: Vec<Span>) -> Vec<(Span, Span)> {
        starts.dedup();
        let ends = starts[1..].iter().copied().chain([self.duration]);
        starts.iter().copied().zip(ends).collect()
    }
}
