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

impl App {
    /// All applications.
    pub const PAGES: &[Page] = &[
        Page {
            stem: "bulk",
            summary: "always has data to send, over TCP, from its start to its stop",
            idea: "The sender is never without data: what it sends is decided by its window alone.",
            equation: "",
            source: "RFC 7928, section 5.1",
            fields: Vec::new,
        },
        sessions::TRANSFER,
        sessions::MICE,
        sessions::WEB,
        sessions::VIDEO,
        sessions::GAME,
        sessions::RRUL,
        udp::CBR,
        udp::POISSON,
        udp::ON_OFF,
        udp::LRD,
        udp::VOIP,
        udp::PING,
    ];
    /// Their names.
    pub const NAMES: &[&'static str] = &[
        "bulk", "transfer", "mice", "web", "video", "game", "rrul", "cbr", "poisson", "on_off", "lrd",
        "voip", "ping",
    ];

    /// The keys that its group of flows has because of it, what must be given first: `"rate (required)"`.
    pub fn keys(name: &str) -> Vec<String> {
        let is_for_it = |key: &str| KEYS.iter().all(|(of, apps)| *of != key || apps.contains(&name));
        let must = |key: &str| REQUIRED.iter().any(|(app, of)| *app == name && *of == key);
        let is_own = |key: &str| !ANY_APP.contains(&key) || (name, key) == ("rrul", "count");
        let own = keys_of("flows")
            .map(|key| key.name)
            .filter(|key| is_own(key) && is_for_it(key) && (App::is_tcp_named(name) || !is_of_tcp(key)));
        let (first, rest): (Vec<&str>, Vec<&str>) = own.partition(|key| must(key));
        let first = first.into_iter().map(|key| format!("{key} (required)"));
        first.chain(rest.into_iter().map(String::from)).collect()
    }

    /// Whether the application called so is carried by TCP.
    pub(crate) fn is_tcp_named(name: &str) -> bool {
        ["bulk", "transfer", "mice", "web", "video", "game", "rrul"].contains(&name)
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            App::Bulk => "bulk",
            App::Session(session) => session.name(),
            App::Datagrams(datagrams) => datagrams.name(),
        }
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

/// The applications that have a key.
pub(crate) fn apps_with(key: &str) -> &'static [&'static str] {
    KEYS.iter().find(|(name, _)| *name == key).map_or(&[], |(_, apps)| apps)
}

/// Which applications have which of the keys that not all applications have.
pub(crate) const KEYS: &[(&str, &[&str])] = &[
    ("rate", &["cbr", "poisson", "on_off", "lrd"]),
    ("size", &["transfer", "mice", "web", "game", "cbr", "poisson", "on_off", "lrd", "ping"]),
    (
        "segment",
        &["bulk", "transfer", "mice", "web", "video", "game", "rrul", "cbr", "poisson", "on_off", "lrd"],
    ),
    ("idle", &["mice", "web"]),
    ("preset", &["mice"]),
    ("objects", &["web"]),
    ("connections", &["web"]),
    ("ladder", &["video"]),
    ("chunk", &["video"]),
    ("reservoir", &["video"]),
    ("cushion", &["video"]),
    ("request", &["web", "video", "game"]),
    ("on", &["on_off", "lrd"]),
    ("off", &["on_off", "lrd"]),
    ("hurst", &["lrd"]),
    ("sources", &["lrd"]),
    ("spurts", &["voip"]),
    ("every", &["game", "ping"]),
];
/// What must be given of which application.
const REQUIRED: &[(&str, &str)] =
    &[("transfer", "size"), ("cbr", "rate"), ("poisson", "rate"), ("on_off", "rate"), ("lrd", "rate")];
/// Keys of a group of flows that say nothing of what it sends.
const ANY_APP: &[&str] = &["name", "from", "to", "route", "back", "app", "count", "access"];

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
    fn the_applications_and_their_names_agree() {
        let names: Vec<&str> = App::PAGES.iter().map(|page| page.stem).collect();
        assert_eq!(names, App::NAMES);
    }

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
