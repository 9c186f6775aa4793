//! The schedule of a scenario: times of its changes, and the changes that a law rejects.

use crate::changes::{Change, MOST_COUNTS, Setting};
use crate::scenario::Scenario;
use sojourn_aqm::{LinkContext, QdiscSpec};
use sojourn_params::{ErrorKind, InputError};
use sojourn_units::Span;
use std::collections::{BTreeMap, BTreeSet};

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
            let Setting::Count(_, count) = change.set else { continue };
            if change.set == Setting::Count(class, count) {
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

    /// First change during the run that the law of a link rejects in its context at that time: the number of the
    /// change, and why.
    ///
    /// `work` counts its cost, over all links.
    pub(crate) fn refused_change(&self, link: usize, work: &mut usize) -> Option<(usize, InputError)> {
        let (laws, rates, keys) = self.tracks(link);
        let tracks: Vec<&Track> = keys.values().chain([&rates]).collect();
        let keys: Vec<&'static str> = keys.keys().copied().collect();
        let each = tracks.iter().map(|track| 1 + track.again.len()).sum::<usize>();
        let (mut seen, context) = (BTreeSet::new(), self.context(link));
        for (from, to) in self.windows(&laws, &rates) {
            *work += laws.again.len() + rates.again.len();
            for number in laws.within(from, to) {
                let mut next = self.at[number].next(from, to);
                while let Some(time) = next {
                    *work += each;
                    if *work > MOST_WORK {
                        return Some((number, too_many()));
                    }
                    let in_force: Vec<Option<usize>> =
                        tracks.iter().map(|track| track.last(&self.at, (time, number))).collect();
                    if !seen.contains(&in_force) {
                        if let Some(error) = self.refused(link, context, &keys, &in_force) {
                            return Some((number, error));
                        }
                        seen.insert(in_force);
                    }
                    next = self.at[number].next(time + Span::from_nanos(1), to);
                }
            }
        }
        None
    }

    /// The changes of a link's law, those of its rate, and those of each parameter of the law.
    fn tracks(&self, link: usize) -> (Track, Track, BTreeMap<&'static str, Track>) {
        let (mut laws, mut rates, mut keys) = (Track::default(), Track::default(), BTreeMap::new());
        for (number, change) in self.at.iter().enumerate() {
            match &change.set {
                Setting::Rate(of, _) if of.contains(&link) => rates.add(number, change),
                Setting::Law(of, given) if *of == link => {
                    laws.add(number, change);
                    for key in &given.keys {
                        keys.entry(*key).or_insert_with(Track::default).add(number, change);
                    }
                }
                _ => {}
            }
        }
        (laws, rates, keys)
    }

    /// Stretches of the run that cover all combinations: from each change of the pattern on for two common periods of
    /// the patterns, or until the next one.
    fn windows(&self, laws: &Track, rates: &Track) -> Vec<(Span, Span)> {
        let changes = || laws.all().chain(rates.all()).map(|number| &self.at[number]);
        let common = changes()
            .filter_map(|change| change.every)
            .fold(1, |common, every| (every.nanos() / divisor(common, every.nanos())).saturating_mul(common));
        let starts: BTreeSet<Span> =
            changes().flat_map(|change| [Some(change.time), change.until]).flatten().collect();
        let ends = starts.iter().skip(1).copied().chain([self.duration]);
        let window = |(from, next): (&Span, Span)| {
            let end = *from + Span::from_nanos(common.saturating_mul(2));
            (*from, end.min(next).min(self.duration))
        };
        starts.iter().zip(ends).map(window).collect()
    }

    /// Error of the law under the parameters and the rate that these changes set.
    fn refused(
        &self,
        link: usize,
        mut context: LinkContext,
        keys: &[&'static str],
        in_force: &[Option<usize>],
    ) -> Option<InputError> {
        let mut qdisc = QdiscSpec::clone(self.topology.links[link].qdisc.as_ref()?);
        let set = |number: &Option<usize>| number.map(|number| &self.at[number].set);
        for (key, number) in keys.iter().zip(in_force) {
            if let Some(Setting::Law(_, change)) = set(number) {
                qdisc = match qdisc.with_one(change, key) {
                    Ok(qdisc) => qdisc,
                    Err(error) => return Some(error),
                };
            }
        }
        if let Some(Setting::Rate(_, rate)) = in_force.last().and_then(set) {
            context.rate = *rate;
        }
        qdisc.design(&context).err()
    }
}

/// Changes of one setting, by number: single ones in the order of time, and periodic ones.
#[derive(Default)]
struct Track {
    once: Vec<(Span, usize)>,
    again: Vec<usize>,
}

impl Track {
    /// Adds a change; in the order of first times.
    fn add(&mut self, number: usize, change: &Change) {
        match change.every {
            None => self.once.push((change.time, number)),
            Some(_) => self.again.push(number),
        }
    }

    fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.once.iter().map(|(_, number)| *number).chain(self.again.iter().copied())
    }

    /// Those that may happen in a stretch of time, both ends included.
    fn within(&self, from: Span, to: Span) -> Vec<usize> {
        let first = self.once.partition_point(|(time, _)| *time < from);
        let once = self.once[first..].iter().take_while(|(time, _)| *time <= to).map(|(_, number)| *number);
        let mut numbers: Vec<usize> = once.chain(self.again.iter().copied()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The last change at or before the change `now`.
    fn last(&self, at: &[Change], now: (Span, usize)) -> Option<usize> {
        let once = self.once[..self.once.partition_point(|one| *one <= now)].last().copied();
        let again = self.again.iter().filter_map(|number| {
            // At the same instant, the earlier entries.
            let (time, of) = now;
            let by =
                if *number <= of { Some(time) } else { time.nanos().checked_sub(1).map(Span::from_nanos) };
            by.and_then(|by| at[*number].last(by)).map(|last| (last, *number))
        });
        once.into_iter().chain(again).max().map(|(_, number)| number)
    }
}

/// The greatest common divisor.
fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// Limit of comparisons to check the changes of laws.
const MOST_WORK: usize = 10_000_000;

/// Error beyond that limit.
fn too_many() -> InputError {
    let problem = "changes the law too often, with periods that never meet, to be checked";
    InputError::new(ErrorKind::Range, problem, "fewer changes, or periods that are multiples of each other")
}
