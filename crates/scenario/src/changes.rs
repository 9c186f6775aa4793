//! What changes during a run, and what is in force when.

use crate::scenario::Scenario;
use sojourn_aqm::Site;
use sojourn_units::spec::plain;
use sojourn_units::{Fault, Rate, Span, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Something that changes during the run, once or again and again.
///
/// At one instant the changes happen in their order in [`Scenario::at`].
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When, for the first time, from the start of the run.
    pub time: Span,
    /// How long from each time to the next; None: it happens once.
    pub every: Option<Span>,
    /// The last time that it may happen; None: the end of the run.
    pub until: Option<Span>,
    /// What it sets: `"bottleneck"`, `"r1-r2.back"`, `"bulk"`.
    pub name: String,
    /// What.
    pub set: Setting,
}

/// What can be changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// The rate of these links: one, or both directions.
    Rate(Vec<usize>, Rate),
    /// The propagation delay of these links.
    Delay(Vec<usize>, Span),
    /// Parameters of a link's law, at least one; those that it does not name stay.
    Law(usize, Vec<(String, Value)>),
    /// The flows of a class.
    Count(usize, u32),
}

impl Change {
    /// Its keys with their values, as they are written.
    pub fn keys(&self) -> Vec<(String, Value)> {
        let one = |key: &str, value: Value| vec![(format!("{}.{key}", self.name), value)];
        match &self.set {
            Setting::Rate(_, rate) => one("rate", Value::Text(rate.to_string())),
            Setting::Delay(_, delay) => one("delay", Value::Text(delay.to_string())),
            Setting::Count(_, count) => one("count", Value::Whole(i64::from(*count))),
            Setting::Law(_, given) => given
                .iter()
                .map(|(key, value)| (format!("{}.disc.{key}", self.name), value.clone()))
                .collect(),
        }
    }

    /// The first time from `from` on; None where there is none by `end`.
    fn next(&self, from: Span, end: Span) -> Option<Span> {
        let end = self.until.map_or(end, |until| until.min(end));
        let next = match self.every {
            _ if from <= self.time => self.time,
            Some(every) => {
                let steps = (from - self.time).nanos().div_ceil(every.nanos());
                self.time + every.saturating_mul(steps)
            }
            None => return None,
        };
        (next <= end).then_some(next)
    }

    /// The last time up to `by`.
    fn last(&self, by: Span) -> Option<Span> {
        let by = self.until.map_or(by, |until| until.min(by));
        let after = by.nanos().checked_sub(self.time.nanos())?;
        let steps = self.every.map_or(0, |every| after / every.nanos());
        Some(self.time + self.every.map_or(Span::ZERO, |every| every.saturating_mul(steps)))
    }
}

impl Scenario {
    /// The times at which something changes, in order, each once; the first `most` of them.
    pub fn change_times(&self, most: usize) -> Vec<Span> {
        let times: BTreeSet<Span> =
            self.at.iter().flat_map(|change| self.times_of(change).take(most)).collect();
        times.into_iter().take(most).collect()
    }

    /// What changes during the run, in the order in which it happens; what comes again stands there each time.
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

    /// What becomes of the number of flows of a class, in order of time.
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

    /// Whether this change of a class comes too often.
    pub(crate) fn is_restless(&self, change: &Change) -> bool {
        matches!(change.set, Setting::Count(..)) && self.times_of(change).nth(MOST_COUNTS).is_some()
    }

    /// When a change happens during the run.
    fn times_of<'a>(&self, change: &'a Change) -> impl Iterator<Item = Span> + 'a {
        let end = self.duration;
        std::iter::successors(change.next(Span::ZERO, end), move |time| {
            change.next(*time + Span::from_nanos(1), end)
        })
    }

    /// What the law of a link refuses to be given during the run, at its place as it is then: the number of the
    /// change, and why.
    ///
    /// `work` counts what that costs, over all links.
    pub(crate) fn refused_change(&self, link: usize, work: &mut usize) -> Option<(usize, Fault)> {
        let (laws, rates, keys) = self.tracks(link);
        let tracks: Vec<&Track> = keys.values().chain([&rates]).collect();
        let keys: Vec<&str> = keys.keys().copied().collect();
        let each = tracks.iter().map(|track| 1 + track.again.len()).sum::<usize>();
        let (mut seen, site) = (BTreeSet::new(), self.site(link));
        for (from, to) in self.windows(&laws, &rates) {
            *work += laws.again.len() + rates.again.len();
            for number in laws.within(from, to) {
                let mut next = self.at[number].next(from, to);
                while let Some(time) = next {
                    *work += each;
                    if *work > MOST_WORK {
                        return Some((number, Fault::new("", TOO_MANY)));
                    }
                    let in_force: Vec<Option<usize>> =
                        tracks.iter().map(|track| track.last(&self.at, (time, number))).collect();
                    if !seen.contains(&in_force) {
                        if let Some(fault) = self.refused(link, site, &keys, &in_force) {
                            return Some((number, fault));
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
    fn tracks(&self, link: usize) -> (Track, Track, BTreeMap<&str, Track>) {
        let (mut laws, mut rates, mut keys) = (Track::default(), Track::default(), BTreeMap::new());
        for (number, change) in self.at.iter().enumerate() {
            match &change.set {
                Setting::Rate(of, _) if of.contains(&link) => rates.add(number, change),
                Setting::Law(of, given) if *of == link => {
                    laws.add(number, change);
                    for (key, _) in given {
                        keys.entry(key.as_str()).or_insert_with(Track::default).add(number, change);
                    }
                }
                _ => {}
            }
        }
        (laws, rates, keys)
    }

    /// Stretches of the run after which nothing new can come: from each change of the pattern on for two of the
    /// patterns' common period, or until the next one.
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

    /// Why the law cannot stand under the parameters that these changes set, at the rate that the last one sets.
    fn refused(
        &self,
        link: usize,
        mut site: Site,
        keys: &[&str],
        in_force: &[Option<usize>],
    ) -> Option<Fault> {
        let mut disc = self.topology.links[link].disc.clone()?;
        let set = |number: &Option<usize>| number.map(|number| &self.at[number].set);
        for (key, number) in keys.iter().zip(in_force) {
            let Some(Setting::Law(_, given)) = set(number) else { continue };
            let Some((key, value)) = given.iter().find(|(given, _)| given == key) else { continue };
            match disc.params.iter_mut().find(|(known, _)| known == key) {
                Some((_, old)) => old.clone_from(value),
                None => disc.params.push((key.clone(), value.clone())),
            }
        }
        if let Some(Setting::Rate(_, rate)) = in_force.last().and_then(set) {
            site.rate = *rate;
        }
        disc.law_at(&site).err()
    }
}

/// Changes of one thing, by number: those that come once, in the order in which they happen, and those that come again.
#[derive(Default)]
struct Track {
    once: Vec<(Span, usize)>,
    again: Vec<usize>,
}

impl Track {
    /// Takes in a change; they come in the order of their first times.
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

    /// The last that has happened when the change `now` has.
    fn last(&self, at: &[Change], now: (Span, usize)) -> Option<usize> {
        let once = self.once[..self.once.partition_point(|one| *one <= now)].last().copied();
        let again = self.again.iter().filter_map(|number| {
            // Of the same instant those before it.
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

/// When, and what: `"at 40 s: bottleneck.rate = 6 Mbit/s"`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}", self.time)?;
        if let Some(every) = self.every {
            write!(f, " and every {every}")?;
        }
        if let Some(until) = self.until {
            write!(f, " until {until}")?;
        }
        let keys: Vec<String> =
            self.keys().iter().map(|(key, value)| format!("{key} = {}", plain(value))).collect();
        write!(f, ": {}", keys.join(", "))
    }
}

/// How often an entry of the schedule may change a class: unlike links and laws, each time is kept.
pub(crate) const MOST_COUNTS: usize = 100_000;
/// How many comparisons it may cost to see whether a law takes all that comes.
const MOST_WORK: usize = 10_000_000;
/// What is said where that does not do.
const TOO_MANY: &str = "changes the law too often, with periods that never meet, to be checked; legal: fewer changes, or \
                        periods that are multiples of each other";
