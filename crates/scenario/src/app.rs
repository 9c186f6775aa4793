//! What flows send.

use crate::keys::{SHORT, keys_of, word};
use crate::read::TCP_KEYS;
use crate::sessions::{self, Session};
use crate::udp::{self, Datagrams};
use sojourn_units::param::{Kind, Quantity};
use sojourn_units::{Page, Value};

/// What flows send, and how fast where they do not ask the network.
#[derive(Clone, Debug, PartialEq)]
pub enum App {
    /// TCP: there is always data to send.
    Bulk,
    /// TCP: there is something to send now and then.
    Session(Session),
    /// UDP: datagrams that do not respond to congestion.
    Datagrams(Datagrams),
}

/// What is to be known of an application by its name.
struct Row {
    page: Page,
    is_tcp: bool,
    /// Keys that its group of flows has because of it and must have.
    required: &'static [&'static str],
    /// Those that it may have, beside those that every group has.
    keys: &'static [&'static str],
}

/// All applications, in the order in which they are told.
static ROWS: [Row; 13] = [
    tcp(BULK, &[], &["segment"]),
    tcp(sessions::TRANSFER, &["size"], &["segment"]),
    tcp(sessions::MICE, &[], &["size", "idle", "preset", "segment"]),
    tcp(sessions::WEB, &[], &["size", "idle", "objects", "connections", "request", "segment"]),
    tcp(sessions::VIDEO, &[], &["ladder", "chunk", "reservoir", "cushion", "request", "segment"]),
    tcp(sessions::GAME, &[], &["size", "request", "every", "segment"]),
    tcp(sessions::RRUL, &[], &["segment"]),
    udp(udp::CBR, &["rate"], &["size", "segment"]),
    udp(udp::POISSON, &["rate"], &["size", "segment"]),
    udp(udp::ON_OFF, &["rate"], &["size", "on", "off", "segment"]),
    udp(udp::LRD, &["rate"], &["size", "on", "off", "hurst", "sources", "segment"]),
    udp(udp::VOIP, &[], &["spurts"]),
    udp(udp::PING, &[], &["size", "every"]),
];

const fn tcp(page: Page, required: &'static [&'static str], keys: &'static [&'static str]) -> Row {
    Row { page, is_tcp: true, required, keys }
}

const fn udp(page: Page, required: &'static [&'static str], keys: &'static [&'static str]) -> Row {
    Row { page, is_tcp: false, required, keys }
}

impl Row {
    fn has(&self, key: &str) -> bool {
        self.required.contains(&key) || self.keys.contains(&key)
    }
}

fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.page.stem == name)
}

impl App {
    /// All applications.
    pub const PAGES: &[Page] = &{
        let mut pages = [BULK; ROWS.len()];
        let mut place = 0;
        while place < ROWS.len() {
            pages[place] = ROWS[place].page;
            place += 1;
        }
        pages
    };
    /// Their names.
    pub const NAMES: &[&'static str] = &{
        let mut names = [""; ROWS.len()];
        let mut place = 0;
        while place < ROWS.len() {
            names[place] = ROWS[place].page.stem;
            place += 1;
        }
        names
    };

    /// The keys that its group of flows has because of it, what must be given first: `"rate (required)"`.
    pub fn keys(name: &str) -> Vec<String> {
        let Some(row) = row(name) else { return Vec::new() };
        let is_for_it = |key: &&str| {
            let own = if is_of_an_app(key) { row.has(key) } else { row.is_tcp || !is_of_tcp(key) };
            let of_rrul = |word: &str| name == sessions::RRUL.stem && *key == word;
            own && (!ANY_APP.contains(key) || of_rrul("count")) && !of_rrul("arrivals")
        };
        let (first, rest): (Vec<&str>, Vec<&str>) = keys_of("flows")
            .map(|key| key.name)
            .filter(is_for_it)
            .partition(|key| row.required.contains(key));
        let first = first.into_iter().map(|key| format!("{key} (required)"));
        first.chain(rest.into_iter().map(String::from)).collect()
    }

    /// Whether the application called so is carried by TCP.
    pub(crate) fn is_tcp_named(name: &str) -> bool {
        row(name).is_some_and(|row| row.is_tcp)
    }

    /// Whether the application called so is, or is made of, flows that always have data.
    pub(crate) fn is_greedy_named(name: &str) -> bool {
        [BULK.stem, sessions::RRUL.stem].contains(&name)
    }

    /// Whether nothing is sent back where the application is called so.
    pub(crate) fn is_one_way(name: &str) -> bool {
        !App::is_tcp_named(name) && name != udp::PING.stem
    }

    /// Whether the application called so has this key.
    pub(crate) fn has_key(name: &str, key: &str) -> bool {
        row(name).is_some_and(|row| row.has(key))
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            App::Bulk => "bulk",
            App::Session(session) => session.name(),
            App::Datagrams(datagrams) => datagrams.name(),
        }
    }

    /// How many flows so many of a class are, where each connection and each source of datagrams counts as one.
    pub(crate) fn flows(&self, count: u32) -> u64 {
        let each = match self {
            App::Session(Session::Web(web)) => web.connections,
            App::Datagrams(Datagrams { source: udp::Source::Lrd(lrd), .. }) => lrd.sources,
            _ => 1,
        };
        u64::from(count) * u64::from(each)
    }

    /// What it sends over UDP; None where TCP decides.
    pub fn datagrams(&self) -> Option<&Datagrams> {
        match self {
            App::Bulk | App::Session(_) => None,
            App::Datagrams(datagrams) => Some(datagrams),
        }
    }

    /// Whether it is carried by TCP.
    pub fn is_tcp(&self) -> bool {
        self.datagrams().is_none()
    }
}

fn is_of_tcp(key: &str) -> bool {
    TCP_KEYS.contains(&key) || SHORT.contains(&key)
}

/// The names of the applications that have a key.
pub(crate) fn apps_with(key: &str) -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(|row| row.has(key)).map(|row| row.page.stem)
}

/// Whether some applications have a key and others do not.
pub(crate) fn is_of_an_app(key: &str) -> bool {
    apps_with(key).next().is_some()
}

/// Keys of a group of flows that say nothing of what it sends.
const ANY_APP: &[&str] = &["name", "stream", "from", "to", "route", "back", "app", "count", "access"];

const BULK: Page = Page {
    stem: "bulk",
    summary: "always has data to send, over TCP, from its start to its stop",
    idea: "The sender is never without data: what it sends is decided by its window alone.",
    equation: "",
    source: "RFC 7928, section 5.1",
    fields: Vec::new,
};

/// The name of an application.
pub(crate) struct AppName(pub(crate) &'static str);

impl Quantity for AppName {
    fn kind() -> Kind {
        Kind::Word(App::NAMES)
    }
    fn read(value: &Value) -> Result<AppName, String> {
        word(value, "application", App::NAMES).map(AppName)
    }
    fn write(&self) -> Value {
        Value::Text(self.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_tcp_has_a_rate_and_no_key_of_tcp() {
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
}
