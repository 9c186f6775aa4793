//! The schedule of a scenario: times of its changes, and the changes that a law rejects.

use crate::changes::{Change, MOST_COUNTS, Setting};
use crate::scenario::Scenario;
use sojourn_params::{ErrorKind, InputError};
use sojourn_units::Span;
use std::collections::BTreeSet;

impl Scenario {
    /// The first `most` distinct times of changes, in order.
    pub fn change_times(&self, most: usize) -> Vec<Span> {
        let times: BTreeSet<Span> =
            self.at.iter().flat_map(|change| self.times_of(change).take(most)).collect();
        times.into_iter().take(most).collect()
    }

    /// Changes of the run in order of time; a periodic change appears each time.
    pub fn happenings(&self) -> impl Iterator<Item = (Span, &Change)> {
        let end = self.duration;
        let first = |(number, change): (usize, &Change)| Some((change.next(Span::ZERO, end)?, number));
        let mut next: BTreeSet<(Span, usize)> = self.at.iter().enumerate().filter_map(first).collect();
        std::iter::from_fn(move || {
            let (time, number) = next.pop_first()?;
            let change = &self.at[number];
            next.extend(change.next(time + Span::from_nanos(1), end).map(|again| (again, number)));
            Some((time, change))
        })
    }

    /// Numbers of flows of a class over time.
    pub fn counts(&self, class: usize) -> Vec<(Span, u32)> {
        let mut counts: Vec<(Span, usize, u32)> = Vec::new();
        for (number, change) in self.at.iter().enumerate() {
            if let Setting::Count(of, count) = change.set
                && of == class
            {
                counts.extend(self.times_of(change).take(MOST_COUNTS).map(|time| (time, number, count)));
            }
        }
        counts.sort_unstable();
        counts.into_iter().map(|(time, _, count)| (time, count)).collect()
    }

    /// True for a change of a class that repeats too often.
    pub(crate) fn repeats_too_often(&self, change: &Change) -> bool {
        matches!(change.set, Setting::Count(..)) && self.times_of(change).nth(MOST_COUNTS).is_some()
    }

    /// Times of a change during the run.
    fn times_of<'a>(&self, change: &'a Change) -> impl Iterator<Item = Span> + 'a {
        let end = self.duration;
        std::iter::successors(change.next(Span::ZERO, end), move |time| {
            change.next(*time + Span::from_nanos(1), end)
        })
    }

    /// First change during the run that the qdisc of a link rejects in its context at that time: the number of the
    /// change, and why.
    ///
    /// A qdisc without packets takes the changes in the order of the run. Two common periods after a start or an end
    /// each of them has followed each one that it ever follows; then whole common periods are skipped, after which the
    /// qdisc has the same parameters. `work` counts the steps, over all links.
    pub(crate) fn refused_change(&self, link: usize, work: &mut usize) -> Option<(usize, InputError)> {
        let mut qdisc = self.topology.links[link].qdisc.as_ref()?.dry_run();
        let changes: Vec<(usize, &Change)> =
            self.at.iter().enumerate().filter(|(_, at)| at.is_of(link)).collect();
        let common = changes
            .iter()
            .filter_map(|(_, change)| change.every)
            .fold(1, |common, every| (every.nanos() / divisor(common, every.nanos())).saturating_mul(common));
        let mut starts: BTreeSet<Span> =
            changes.iter().flat_map(|(_, change)| [Some(change.time), change.until]).flatten().collect();
        let mut settled = Span::ZERO;
        let mut queue: BTreeSet<(Span, usize)> = changes
            .iter()
            .filter_map(|(number, at)| Some((at.next(Span::ZERO, self.duration)?, *number)))
            .collect();
        while let Some((time, number)) = queue.pop_first() {
            while starts.first().is_some_and(|start| *start <= time) {
                settled = starts.pop_first()? + Span::from_nanos(common.saturating_mul(2));
            }
            *work += 1;
            let next = starts.first().unwrap_or(&self.duration);
            let resumed = settled + whole_periods(settled, *next, common);
            let change = &self.at[number];
            let is_skipped = time > settled && time <= resumed;
            let from = if is_skipped { resumed } else { time } + Span::from_nanos(1);
            queue.extend(change.next(from, self.duration).map(|again| (again, number)));
            if is_skipped {
                continue;
            }
            match &change.set {
                Setting::Law(_, change) => {
                    *work += WORK_TO_SET;
                    if let Err(error) = qdisc.set_params(change) {
                        return Some((number, error));
                    }
                }
                Setting::Rate(_, rate) => qdisc.link_changed(*rate),
                Setting::Delay(..) | Setting::Count(..) => {}
            }
            if *work > MOST_WORK {
                return Some((number, too_many()));
            }
        }
        None
    }
}

/// As many whole periods as end before the next start.
fn whole_periods(since: Span, next: Span, period: u64) -> Span {
    let between = next.nanos().saturating_sub(since.nanos()).saturating_sub(1);
    Span::from_nanos(between - between % period)
}

/// The greatest common divisor.
fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// Limit of the steps to check the changes of laws.
const MOST_WORK: usize = 10_000_000;
/// Steps for which a qdisc with new parameters counts: its laws are designed anew.
const WORK_TO_SET: usize = 20;

/// Error beyond that limit.
fn too_many() -> InputError {
    let problem = "changes the law too often, with periods that never meet, to be checked";
    InputError::new(ErrorKind::Range, problem, "fewer changes, or periods that are multiples of each other")
}
