//! Phrases and lists shared by the parts of a description.

use sojourn_aqm::Limit;
use sojourn_scenario::{Flows, Scenario};

/// A scenario to describe.
pub(crate) struct Description<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Label and parameters of a custom law, in place of those of the file.
    pub(crate) own: Option<(&'a str, &'a str)>,
}

/// Number of entries listed: all up to [`MANY`], else `first`.
pub(crate) fn shown(all: usize, first: usize) -> usize {
    if all <= MANY { all } else { first }
}

/// Number and noun, such as `1 source` and `50 sources`.
fn counted(count: u32, noun: &str) -> String {
    format!("{count} {}", plural(count as usize, noun))
}

/// The noun for so many, such as `sources`, `classes`, `pairs of nodes`.
fn plural(count: usize, noun: &str) -> String {
    let (word, rest) = noun.split_at(noun.find(' ').unwrap_or(noun.len()));
    let ending = match word {
        _ if count == 1 => "",
        _ if word.ends_with('s') => "es",
        _ => "s",
    };
    format!("{word}{ending}{rest}")
}

/// A line that counts the entries not listed, if any; `noun` is the singular.
pub(crate) fn more(all: usize, shown: usize, noun: &str, indent: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        rest => format!("{indent}and {rest} more {}\n", plural(rest, noun)),
    }
}

/// The buffer in words.
pub(crate) fn buffer_in_words(buffer: Option<Limit>) -> String {
    match buffer.unwrap_or(Limit::Unlimited) {
        Limit::Packets(most) => counted(most, "packet"),
        limit => limit.to_string(),
    }
}

/// Number of flows; of a class with arrivals, the most at a time.
pub(crate) fn flow_count(group: &Flows) -> String {
    let most = if group.arrivals.is_some() { "at most " } else { "" };
    format!("{most}{}", group.count)
}

/// Names, of many the first.
pub(crate) fn listed(names: &[&str]) -> String {
    let shown = names.len().min(MOST_NAMES);
    let rest = names.len() - shown;
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", names[..shown].join(", "))
}

/// Entries up to which lists are complete.
pub(crate) const MANY: usize = 20;

/// Classes listed if there are more than [`MANY`].
pub(crate) const MOST_GROUPS: usize = 8;

/// Names in a list.
pub(crate) const MOST_NAMES: usize = 6;
