//! Every key of a scenario file, in one table.
//!
//! Reading, defaults, the JSON schema and the help all follow from [`KEYS`]. Those of `[flows.tcp]` are the settings of
//! `sojourn_tcp`, defined there.

mod key;
mod kinds;
mod rows;

pub use key::{Key, Preset};
pub(crate) use kinds::{AppName, Name, Names, Paper, ProfileName, StreamName, Title};
pub(crate) use rows::LONGEST_DELAY;

use crate::app::{App, TCP_KEYS, is_of_an_app};
use crate::sessions::RRUL;
use Preset::{Required, Words};
use rows::{LINK, ROWS};
use sojourn_tcp::settings::{SETTINGS, Setting, setting};
use std::sync::LazyLock;

/// All keys of a scenario file, in the order of the documentation.
pub fn explain() -> &'static [Key] {
    &KEYS
}

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let rows = |table: &'static str| ROWS.iter().filter(move |key| key.table == table).copied();
    let mut keys: Vec<Key> = rows("").collect();
    for (table, role) in DIRECTIONS {
        let link = LINK.iter().map(|key| key.in_direction(table, *role));
        // The ends of a link precede its properties.
        let (ends, more): (Vec<Key>, Vec<Key>) = rows(table).partition(|key| key.preset == Required);
        keys.extend(ends.into_iter().chain(link).chain(more));
    }
    keys.extend(rows("home"));
    keys.extend(rows("flows"));
    keys.extend(SHORT.iter().filter_map(|name| setting(name)).map(|setting| of_setting("flows", setting)));
    keys.extend(rows("flows.access"));
    keys.extend(SETTINGS.iter().map(|setting| of_setting("flows.tcp", setting)));
    keys.extend(["at", "at.set"].into_iter().flat_map(rows));
    keys
});

/// Role of a link direction, which decides the defaults of its keys.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// The congested link.
    Congested,
    /// A link of a graph.
    Any,
    /// The other direction of a link.
    Back,
}

/// The tables of one direction of a link, which have the keys of [`LINK`].
static DIRECTIONS: &[(&str, Role)] = &[
    ("bottleneck", Role::Congested),
    ("bottleneck.back", Role::Back),
    ("parking_lot", Role::Congested),
    ("parking_lot.back", Role::Back),
    ("two_bottlenecks", Role::Congested),
    ("two_bottlenecks.back", Role::Back),
    ("home.up", Role::Congested),
    ("home.down", Role::Congested),
    ("links", Role::Any),
    ("links.back", Role::Back),
];

/// The key of a setting of TCP.
fn of_setting(table: &'static str, setting: &'static Setting) -> Key {
    Key {
        table,
        name: setting.name,
        preset: Preset::Profile(setting),
        rule: setting.rule,
        about: setting.about,
        source: setting.source,
        bounds: setting.bounds,
        kind: setting.kind,
        in_range: setting.in_range,
    }
}

/// Settings of TCP that may be given in the group of flows itself: those changed most often.
pub const SHORT: &[&str] = &["sack", "timestamps", "initial_window", "delayed_ack", "min_rto"];

impl Key {
    /// The key as in a table of one direction of a link.
    fn in_direction(self, table: &'static str, role: Role) -> Key {
        let preset = match (role, self.name) {
            (Role::Any, "qdisc") => {
                Words("none; tail_drop where there is a buffer, which --qdisc leaves alone")
            }
            (Role::Back, "qdisc") => Words("none"),
            (Role::Back, "rate" | "delay" | "framing") => Words("as the other direction"),
            _ => self.preset,
        };
        Key { table, preset, ..self }
    }

    /// True for keys that every direction of a link has.
    pub fn is_of_a_link(&self) -> bool {
        DIRECTIONS.iter().any(|(table, _)| *table == self.table)
            && LINK.iter().any(|key| key.name == self.name)
    }
}

/// Tables of a network, one per file.
pub(crate) const NETWORKS: &[&str] = &["bottleneck", "parking_lot", "two_bottlenecks", "home", "links"];

impl App {
    /// The keys that it adds to its group of flows, required ones first: `"rate (required)"`.
    pub fn keys(name: &str) -> Vec<String> {
        if !App::NAMES.contains(&name) {
            return Vec::new();
        }
        let is_for_it = |key: &&str| {
            let own = if is_of_an_app(key) {
                App::has_key(name, key)
            } else {
                App::is_tcp_named(name) || !is_of_tcp(key)
            };
            let of_rrul = |word: &str| name == RRUL.stem && *key == word;
            own && (!ANY_APP.contains(key) || of_rrul("count")) && !of_rrul("arrivals")
        };
        let (first, rest): (Vec<&str>, Vec<&str>) =
            keys_of("flows").map(|key| key.name).filter(is_for_it).partition(|key| App::requires(name, key));
        let first = first.into_iter().map(|key| format!("{key} (required)"));
        first.chain(rest.into_iter().map(String::from)).collect()
    }
}

fn is_of_tcp(key: &str) -> bool {
    TCP_KEYS.contains(&key) || SHORT.contains(&key)
}

/// Keys of a group of flows that do not depend on its application.
const ANY_APP: &[&str] = &["name", "stream", "from", "to", "route", "back", "app", "count", "access"];

/// The keys of one table of the file.
pub fn keys_of(table: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.table == table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_params::Kind;

    #[test]
    fn every_default_is_in_range() {
        for key in explain() {
            if let Some(value) = key.preset.value() {
                assert_eq!(key.check(&value), Ok(()), "{}", key.path());
            }
        }
    }

    #[test]
    fn every_table_is_a_key_of_another() {
        for key in KEYS.iter().filter(|key| !key.table.is_empty()) {
            let parent = KEYS.iter().find(|parent| parent.path() == key.table).expect(key.table);
            assert!(matches!(parent.kind(), Kind::Table | Kind::Tables), "{}", parent.path());
        }
    }

    #[test]
    fn apps_over_udp_have_a_rate_and_no_key_of_tcp() {
        for name in ["cbr", "poisson"] {
            assert_eq!(
                App::keys(name).join(", "),
                "rate (required), size, ecn, segment, start, arrivals, lifetime, stop"
            );
        }
        assert!(App::keys("rrul").contains(&"count".to_string()));
        assert_eq!(App::keys("ping").join(", "), "size, every, ecn, start, arrivals, lifetime, stop");
        let bulk = App::keys("bulk");
        assert!(bulk.contains(&"cc".to_string()) && !bulk.iter().any(|key| key.starts_with("rate")));
    }

    #[test]
    fn apps_that_await_answers_do_not_read_slowly() {
        let with_it = App::NAMES.iter().filter(|name| App::keys(name).contains(&"reads".to_string()));
        assert_eq!(with_it.collect::<Vec<_>>(), [&"bulk", &"rrul"]);
    }
}
