//! What changes during a run, and what is in force when.

use crate::scenario::Scenario;
use sojourn_units::spec::plain;
use sojourn_units::{Fault, Rate, Span, Value};
use std::collections::BTreeSet;
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
        let of_law = |change: &Change| matches!(change.set, Setting::Law(of, _) if of == link);
        let laws: Vec<usize> = (0..self.at.len()).filter(|number| of_law(&self.at[*number])).collect();
        let rates: Vec<usize> = (0..self.at.len())
            .filter(|number| matches!(&self.at[*number].set, Setting::Rate(of, _) if of.contains(&link)))
            .collect();
        let mut seen = BTreeSet::new();
        for (from, to) in self.windows(&laws, &rates) {
            for number in &laws {
                let mut next = self.at[*number].next(from, to);
                while let Some(time) = next {
                    *work += laws.len() + rates.len();
                    if *work > MOST_WORK {
                        return Some((*number, Fault::new("", TOO_MANY)));
                    }
                    let (order, rate) = self.in_force((time, *number), &laws, &rates);
                    if seen.insert((order.clone(), rate))
                        && let Some(fault) = self.refused(link, &order, rate)
                    {
                        return Some((*number, fault));
                    }
                    next = self.at[*number].next(time + Span::from_nanos(1), to);
                }
            }
        }
        None
    }

    /// Stretches of the run after which nothing new can come: from each change of the pattern on for two of the
    /// patterns' common period, or until the next one.
    fn windows(&self, laws: &[usize], rates: &[usize]) -> Vec<(Span, Span)> {
        let changes = || laws.iter().chain(rates).map(|number| &self.at[*number]);
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

    /// What is in force for a law when the change `(time, number)` happens: the changes of its parameters in the order
    /// in which they came last, and the last change of the rate.
    fn in_force(
        &self,
        (time, number): (Span, usize),
        laws: &[usize],
        rates: &[usize],
    ) -> (Vec<usize>, Option<usize>) {
        let last = |other: &usize| {
            // Of the same instant those before it.
            let by =
                if *other <= number { Some(time) } else { time.nanos().checked_sub(1).map(Span::from_nanos) };
            by.and_then(|by| self.at[*other].last(by)).map(|last| (last, *other))
        };
        let mut order: Vec<(Span, usize)> = laws.iter().filter_map(last).collect();
        order.sort_unstable();
        let rate = rates.iter().filter_map(last).max().map(|(_, rate)| rate);
        (order.into_iter().map(|(_, number)| number).collect(), rate)
    }

    /// Why the law cannot stand under the parameters of these changes, one after the other, at this rate.
    fn refused(&self, link: usize, order: &[usize], rate: Option<usize>) -> Option<Fault> {
        let mut disc = self.topology.links[link].disc.clone()?;
        let mut site = self.site(link);
        if let Some(Setting::Rate(_, rate)) = rate.map(|number| &self.at[number].set) {
            site.rate = *rate;
        }
        for number in order {
            let Setting::Law(_, given) = &self.at[*number].set else { continue };
            for (key, value) in given {
                match disc.params.iter_mut().find(|(known, _)| known == key) {
                    Some((_, old)) => old.clone_from(value),
                    None => disc.params.push((key.clone(), value.clone())),
                }
            }
        }
        disc.law_at(&site).err()
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
