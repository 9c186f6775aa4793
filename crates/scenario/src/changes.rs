//! Changes during a run.

use sojourn_params::spec::plain;
use sojourn_params::{Given, Value};
use sojourn_units::{Rate, Span};
use std::fmt;

/// A change during the run, once or periodic.
///
/// At one instant the changes happen in their order in [`Scenario::at`](crate::Scenario::at).
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// First time, from the start of the run.
    pub time: Span,
    /// Period; None: once.
    pub every: Option<Span>,
    /// Last time at most; None: the end of the run.
    pub until: Option<Span>,
    /// Target: `"bottleneck"`, `"r1-r2.back"`, `"bulk"`.
    pub name: String,
    /// New value.
    pub set: Setting,
}

/// A setting that a change replaces.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// The rate of these links: one, or both directions.
    Rate(Vec<usize>, Rate),
    /// The propagation delay of these links.
    Delay(Vec<usize>, Span),
    /// The parameters of a link's law that this gives, at least one; the others stay.
    Law(usize, Given),
    /// The flows of a class.
    Count(usize, u32),
}

impl Change {
    /// Its keys and values, as in a file.
    pub fn keys(&self) -> Vec<(String, Value)> {
        let one = |key: &str, value: Value| vec![(format!("{}.{key}", self.name), value)];
        match &self.set {
            Setting::Rate(_, rate) => one("rate", Value::Text(rate.to_string())),
            Setting::Delay(_, delay) => one("delay", Value::Text(delay.to_string())),
            Setting::Count(_, count) => one("count", Value::Whole(i64::from(*count))),
            Setting::Law(_, change) => {
                change.values().map(|(key, value)| (format!("{}.qdisc.{key}", self.name), value)).collect()
            }
        }
    }

    /// The first time from `from` on; None where there is none by `end`.
    pub(crate) fn next(&self, from: Span, end: Span) -> Option<Span> {
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

    /// True for a change of the law of a link, or of the rate that the law has as context.
    pub(crate) fn is_of(&self, link: usize) -> bool {
        match &self.set {
            Setting::Rate(links, _) => links.contains(&link),
            Setting::Law(of, _) => *of == link,
            Setting::Delay(..) | Setting::Count(..) => false,
        }
    }
}

/// Time and settings: `"at 40 s: bottleneck.rate = 6 Mbit/s"`.
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

/// Limit of the changes of a class by one entry of the schedule: unlike links and laws, each time is stored.
pub(crate) const MOST_COUNTS: usize = 100_000;
